// Triggers with a bridge URL: they run the workflow that the application declares now, whatever is stored here. The library
// for code-first workflows sends these during development.
import { findEnvironmentAccess } from '../../db/core/environment-access.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { Bridge, targetIn } from '../../engine/core/bridge.ts'
import type { BridgedWorkflow } from '../../engine/runs/trigger-request.ts'
import { fail } from '../../errors.ts'
import type { Services } from '../edge/resource.ts'
import { worded } from '../workflows/bridge.ts'
import { fieldsOfDiscovered, readDiscovered } from '../workflows/bridge-sync.ts'

/** The additional members of such a trigger. */
export interface BridgedTrigger {
  name: string
  bridgeUrl: string
  /** Control values of its steps: `{steps: {<stepId>: {…}}}`. */
  controls?: Record<string, unknown> | undefined
}

/** For one request: asks each application once, however many triggers name it. */
export class TriggerBridges {
  readonly #services: Services
  readonly #bridge: Bridge
  readonly #environmentId: string
  readonly #discovered = new Map<string, Promise<unknown[]>>()

  constructor(services: Services, environmentId: string) {
    const { http, clock, brand } = services
    this.#services = services
    this.#bridge = new Bridge({ http, clock, signatureHeader: `${brand.word}-signature` })
    this.#environmentId = environmentId
  }

  async find({ name, bridgeUrl, controls }: BridgedTrigger): Promise<BridgedWorkflow> {
    const all = await this.#discover(bridgeUrl)
    const declared = all.filter((each) => (each as { workflowId?: unknown } | null)?.workflowId === name)
    const [found] = readDiscovered(declared, this.#services.config.limits.steps)
    if (!found) throw fail('unknown_trigger')
    // A stable id for the same code, so that digests and throttles group its runs.
    const id = sha256(JSON.stringify([this.#environmentId, bridgeUrl, name])).slice(0, 24)
    const fields = fieldsOfDiscovered(found)
    const values = membersOf(membersOf(controls).steps)
    const steps = fields.steps.map((step) => ({
      ...step,
      _id: sha256(`${id} ${step.stepId}`).slice(0, 24),
      controlValues: Object.hasOwn(values, step.stepId) ? membersOf(values[step.stepId]) : null,
    }))
    return { ...fields, id, steps, bridge_url: bridgeUrl }
  }

  #discover(bridgeUrl: string): Promise<unknown[]> {
    const known = this.#discovered.get(bridgeUrl)
    if (known) return known
    const asking = this.#ask(bridgeUrl)
    this.#discovered.set(bridgeUrl, asking)
    return asking
  }

  async #ask(bridgeUrl: string): Promise<unknown[]> {
    const { db, secrets } = this.#services
    const access = await findEnvironmentAccess(db, secrets, this.#environmentId)
    // The environment was deleted after the key was checked.
    if (!access) throw fail('api_key_not_found')
    return worded(this.#bridge.discover(targetIn(access, bridgeUrl)))
  }
}

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
