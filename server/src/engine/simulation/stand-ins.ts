// What simulated steps call instead of the world: providers that take everything unless a fault is set, HTTP addresses and
// applications that answer what the scenario says.
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { DeliveryError, statusError } from '../../providers/delivery-error.ts'
import type { HttpAnswer } from '../../providers/http-client.ts'
import type { Message } from '../../providers/provider.ts'
import type { CallTools } from '../../steps/contract/call-tools.ts'
import { failure, keptOf } from '../../steps/delivery/sandbox.ts'
import { examplePayload } from '../authoring/payload-example.ts'
import type { BridgeAnswer } from '../core/bridge.ts'
import type { CallHands } from '../runs/call.ts'
import type { JobState, RunState } from '../runs/run-state.ts'
import type { Kept, PlayRecord } from './record.ts'
import type { FaultInput, GivenAnswer } from './scenario.ts'

/** How long a provider hangs before the call is given up. */
const hangMs = 30_000
const host = 'simulation'

/** The faults that are set, the newest first. */
export class Faults {
  #faults: Array<FaultInput & { left: number }> = []

  /** One for the same messages is replaced. */
  set(fault: FaultInput): void {
    const isOther = (other: FaultInput) => narrowings.some((name) => other[name] !== fault[name])
    this.#faults = [{ ...fault, left: fault.count ?? Number.POSITIVE_INFINITY }, ...this.#faults.filter(isOther)]
  }

  /** Of several that apply, the narrowest, as the sandbox takes the channel's own before the one for all. */
  take({ channel, provider_id, identifier }: IntegrationRow, now: Date): FaultInput | undefined {
    const found = this.#faults
      .filter((fault) => fault.left > 0 && now.getTime() < (fault.until ?? Number.POSITIVE_INFINITY))
      .filter(({ channel: only }) => only === undefined || only === channel)
      .filter(({ providerId: only }) => only === undefined || only === provider_id)
      .filter(({ integrationIdentifier: only }) => only === undefined || only === identifier)
      .sort((a, b) => widthOf(a) - widthOf(b))[0]
    if (found) found.left -= 1
    return found
  }
}

const narrowings = ['channel', 'providerId', 'integrationIdentifier'] as const
const widthOf = (fault: FaultInput) => narrowings.filter((name) => fault[name] === undefined).length

interface Surroundings {
  now(): Date
  faults: Faults
  record: Pick<PlayRecord, 'attempt' | 'assumed'>
  answers: Record<string, GivenAnswer>
  /** Resolves when so much simulated time has passed. */
  sleep(ms: number): Promise<void>
}

/** What the calls of one step reach. */
export interface StandIns extends Pick<CallTools, 'delivery' | 'http'> {
  bridge: CallHands['bridge']
  /** What providers got in this call, by message. */
  taken: Map<string, { integrationId: string; kept: Kept }>
}

export function standIns(run: RunState, job: JobState, surroundings: Surroundings): StandIns {
  const taken: StandIns['taken'] = new Map()
  return {
    taken,
    delivery: {
      send(_provider, { id, start = atOnce }, message) {
        const integration = run.environment.integrations.find((row) => row.id === id)
        if (!integration) throw new DeliveryError('rejected', { host, says: 'There is no such integration' })
        // As every provider does: the suppression list is asked before the call.
        return start(() => {
          taken.set(message.id, { integrationId: integration.id, kept: keptOf(message) })
          return deliver(run, job, integration, message, surroundings)
        })
      },
    },
    http: httpFor(job, surroundings),
    bridge: {
      async execute(): Promise<BridgeAnswer> {
        const given = surroundings.answers[job.step.stepId]
        const isSkipped = given !== undefined && 'skip' in given
        const outputs = given !== undefined && 'outputs' in given ? given.outputs : {}
        return { outputs, providers: {}, options: { skip: isSkipped }, metadata: {} }
      },
    },
  }
}

const atOnce = <T>(request: () => Promise<T>) => request()

async function deliver(
  run: RunState,
  job: JobState,
  integration: IntegrationRow,
  message: Message,
  { now, faults, record, sleep }: Surroundings,
) {
  const attempt = {
    at: now(),
    call: message.attempt,
    integrationIdentifier: integration.identifier,
    providerId: integration.provider_id,
    outcome: 'sent',
    next: null,
    nextAt: null,
    messageId: message.id,
  }
  const fault = faults.take(integration, attempt.at)
  const error = fault && errorOf(fault)
  if (error) attempt.outcome = error.code
  record.attempt(run, job, attempt)
  if (fault?.fault === 'hang') await sleep(hangMs)
  if (error) throw error
  return { providerMessageId: `simulated-${message.id}` }
}

function errorOf({ fault, retryAfterSeconds }: FaultInput): DeliveryError {
  if (fault === 'outage') return new DeliveryError('connection_failed', { host, reason: 'ECONNREFUSED' })
  return failure(fault === 'hang' ? 'timeout' : fault, retryAfterSeconds)
}

function httpFor({ step }: JobState, { answers, record, now }: Surroundings): CallTools['http'] {
  const answer = (): HttpAnswer => {
    const given = answers[step.stepId]
    if (given && 'status' in given) return answered(given.status, given.body)
    record.assumed.add(step.stepId)
    const schema = (step.controlValues?.responseBodySchema ?? {}) as Record<string, unknown>
    return answered(200, Object.keys(schema).length > 0 ? examplePayload(schema, now()) : {})
  }
  return {
    exchange: async () => answer(),
    async post() {
      const got = answer()
      if (got.status >= 200 && got.status < 300) return got
      throw statusError(host, { status: got.status, retryAfter: undefined }, now())
    },
  }
}

function answered(status: number, body: unknown): HttpAnswer {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers: { 'content-type': 'application/json' }, text, json: body }
}
