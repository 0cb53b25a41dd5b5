// Simulations: a workflow tried in memory, over days in a moment. Nothing is stored or sent.
import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { findWorkflow } from '../../db/queries/workflows.ts'
import type { WorkflowVersion } from '../../engine/core/memory.ts'
import { refuseWithoutAnswers } from '../../engine/simulation/answers.ts'
import { type Scenario, SimulationRefused, type Snapshot } from '../../engine/simulation/scenario.ts'
import { builtThread, Simulations } from '../../engine/simulation/simulations.ts'
import { inSnapshot, Reading, startsIn } from '../../engine/simulation/snapshot.ts'
import { fail } from '../../errors.ts'
import { type Around, findIssues } from '../../steps/check/inspect.ts'
import type { Resource } from '../edge/resource.ts'
import { requireRoleIn } from '../edge/roles.ts'
import { FreeObject, Nullable, Timestamp } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { bytesOf } from '../triggers/events.ts'
import { readBody } from '../workflows/write.ts'
import { explain } from './explain.ts'
import { impact } from './impact.ts'
import { answerPlayed, refused } from './playing.ts'
import { draftOf, hasDraft, readScenario, ScenarioBody } from './scenario-body.ts'

const bodyLimit = 26 * 1024 * 1024
/** How often a workflow may be saved while a scenario is read; then it is read within the snapshot. */
const mostTries = 3

const Simulation = Type.Object({
  startAt: Timestamp,
  endAt: Timestamp,
  stoppedBy: Type.String({ description: '`nothing_left` or `horizon`' }),
  seed: Type.Integer(),
  workflow: Type.Object({
    workflowId: Type.String(),
    version: Nullable(Type.Integer({ description: 'Null for a draft' })),
    issues: Type.Integer(),
  }),
  triggers: Type.Array(FreeObject),
  runs: Type.Array(FreeObject),
  windows: Type.Array(FreeObject),
  messages: Type.Array(FreeObject),
  timeline: Type.Array(FreeObject),
  totals: FreeObject,
  waiting: Type.Array(FreeObject),
  assumed: Type.Array(FreeObject),
  expectations: Type.Array(FreeObject),
  passed: Type.Boolean({ description: 'Whether all expectations hold' }),
})

export const simulations: Resource = (app, services) => {
  const { db, secrets, brand, log, config } = services
  const threads = new Simulations(services.simulationThread ?? builtThread)
  app.addHook('onClose', () => threads.close())
  // What is not stored need not be encrypted.
  const reading = { brand, secrets: { encrypt: (clear: string) => clear } }
  const shownBrand = {
    word: brand.word,
    signatureHeader: `${brand.word}-signature`,
    publicUrl: config.publicUrl,
    receivesMail: config.inboundMail !== undefined,
  }

  app.post(
    '/v1/simulations',
    {
      bodyLimit,
      config: { role: 'viewer', leavesClock: true, refusals: [404, 429] },
      schema: {
        tags: ['Simulations'],
        summary: 'Play a scenario in memory',
        description: 'Nothing is stored or sent, and nobody is called. With a draft it needs the role editor.',
        body: ScenarioBody,
        response: { 200: Simulation },
      },
    },
    async (request, reply) => {
      const { body } = request
      const environmentId = request.environment.id
      if (hasDraft(body)) {
        requireRoleIn(request, environmentId, 'editor')
        if (request.key && !request.key.may('write:workflows'))
          throw fail('insufficient_scope', { needed: 'write:workflows' }, { ctx: { needed: 'write:workflows' } })
      }
      const { workflowId, draft: given, version } = body.workflow
      for (const draft of [given, ...body.inputs.map((input) => input.draft)]) {
        if (!draft) continue
        readBody(draft, config.limits)
      }
      const now = request.now()
      try {
        if (workflowId === undefined && given === undefined)
          throw missing('workflow', 'it must have a workflowId or a draft')
        if (given !== undefined && version !== undefined) throw missing('workflow', 'a draft has no version')
        return await answerPlayed({ threads, log }, reply, async () => {
          const find = (of: Db | Tx) => storedWorkflow(of, environmentId, workflowId)
          const readBy = (stored: WorkflowVersion | undefined) => {
            const draft = given && draftOf(given, { stored, now })
            return {
              ...{ stored, draft },
              scenario: readScenario(body, {
                ...{ ...reading, environmentId, now, stored, draft, bodyBytes: bytesOf(request) },
              }),
            }
          }
          // Reading a body of many megabytes takes a while, and no transaction waits for that.
          let read = readBy(await find(db))
          for (let tries = 1; ; tries += 1) {
            const found = await inSnapshot(db, async (tx) => {
              const current = await find(tx)
              if (!isDeepStrictEqual(current, read.stored)) {
                // Somebody has saved it since.
                if (tries < mostTries) return { current }
                read = readBy(current)
              }
              const { scenario, draft, stored } = read
              const from = new Reading(tx, environmentId, scenario)
              return {
                snapshot: await from.all({ secrets, activityDays: config.retention.activityDays }, draft ?? stored),
                envKeys: from.envKeys,
              }
            })
            if (!found.snapshot) {
              read = readBy(found.current)
              continue
            }
            const { snapshot, envKeys } = found
            const { scenario, draft } = read
            refuseUnanswered(scenario, snapshot)
            const { workflow } = snapshot
            const about = {
              workflowId: workflow.identifier,
              version: draft ? null : workflow.version,
              issues: issuesIn(workflow, {
                envKeys,
                rotas: snapshot.rotas.map(({ rota_id }) => rota_id),
              }),
            }
            return { scenario, snapshot, brand: shownBrand, expect: body.expect ?? [], about }
          }
        })
      } catch (error) {
        throw error instanceof SimulationRefused ? refused(error.refusal) : error
      }
    },
  )

  explain(app, services, { threads, brand: shownBrand })
  impact(app, services, { threads, brand: shownBrand })
}

const missing = (where: string, problem: string) =>
  new SimulationRefused({ code: 'simulation_invalid', params: { where, problem } })

async function storedWorkflow(
  of: Db | Tx,
  environmentId: string,
  workflowId: string | undefined,
): Promise<WorkflowVersion | undefined> {
  if (workflowId === undefined) return undefined
  const row = await findWorkflow(of, environmentId, workflowId, idIn(workflowId, 'wf'))
  if (!row) throw new SimulationRefused({ code: 'workflow_not_found', params: { workflowId } })
  return row as WorkflowVersion
}

/** Those that triggers or steps name. One that only a template names is refused once it is started. */
function refuseUnanswered({ answers, inputs }: Scenario, { workflow, others, versions }: Snapshot): void {
  const drafts = inputs.flatMap((input) => (input.type === 'workflow' ? (input.draft ?? []) : []))
  const triggered = new Set(inputs.flatMap((input) => (input.type === 'trigger' ? [input.request.name] : [])))
  const isTriggered = ({ identifier }: WorkflowVersion) => triggered.has(identifier)
  const named = new Set([workflow, ...versions, ...drafts, ...others.filter(isTriggered)])
  for (const each of named) {
    refuseWithoutAnswers(each, answers)
    // Those added here have their turn in this loop, too.
    const started = new Set(startsIn([each]).map(({ workflowId }) => workflowId))
    for (const other of others) if (started.has(other.identifier)) named.add(other)
  }
}

const issuesIn = (workflow: WorkflowVersion, around: Around): number =>
  [...findIssues(workflow as Parameters<typeof findIssues>[0], around).values()]
    .flatMap((step) => Object.values(step))
    .reduce((sum, list) => sum + list.length, 0)
