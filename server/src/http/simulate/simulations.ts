// Simulations: a workflow tried in memory, over days in a moment. Nothing is stored or sent.
import { Type } from 'typebox'
import { findWorkflow } from '../../db/queries/workflows.ts'
import type { WorkflowVersion } from '../../engine/core/memory.ts'
import { isActive } from '../../engine/runs/compose.ts'
import { checkExpectations } from '../../engine/simulation/expectations.ts'
import { type Scenario, SimulationRefused, type Snapshot } from '../../engine/simulation/scenario.ts'
import { builtThread, Simulations } from '../../engine/simulation/simulations.ts'
import { inSnapshot, Reading } from '../../engine/simulation/snapshot.ts'
import { fail } from '../../errors.ts'
import { type Around, findIssues } from '../../steps/check/inspect.ts'
import type { Resource } from '../edge/resource.ts'
import { requireRoleIn } from '../edge/roles.ts'
import { FreeObject, Nullable, Timestamp } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { readBody } from '../workflows/write.ts'
import { explain } from './explain.ts'
import { impact } from './impact.ts'
import { answerPlayed, refused } from './playing.ts'
import { draftOf, hasDraft, readScenario, ScenarioBody } from './scenario-body.ts'

const bodyLimit = 26 * 1024 * 1024

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
        return await answerPlayed({ threads, log }, reply, () =>
          inSnapshot(db, async (tx) => {
            const row =
              workflowId === undefined
                ? undefined
                : await findWorkflow(tx, environmentId, workflowId, idIn(workflowId, 'wf'))
            if (workflowId !== undefined && !row)
              throw new SimulationRefused({ code: 'workflow_not_found', params: { workflowId } })
            const stored = row as WorkflowVersion | undefined
            const draft = given && draftOf(given, { stored, now })
            const scenario = readScenario(body, { ...reading, environmentId, now, stored, draft })
            const expect = body.expect ?? []
            checkExpectations(expect, scenario.startAt)
            const read = new Reading(tx, environmentId, scenario)
            const snapshot = await read.all(secrets, draft ?? stored)
            refuseUnanswered(scenario, snapshot)
            const { workflow } = snapshot
            const about = {
              workflowId: workflow.identifier,
              version: draft ? null : workflow.version,
              issues: issuesIn(workflow, {
                envKeys: read.envKeys,
                rotas: snapshot.rotas.map(({ rota_id }) => rota_id),
              }),
            }
            return { scenario, snapshot, brand: shownBrand, expect, about }
          }),
        )
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

/** The user's code is not called, so each of its steps needs an answer. */
function refuseUnanswered({ answers, inputs }: Scenario, { workflow, others, versions }: Snapshot): void {
  const drafts = inputs.flatMap((input) => (input.type === 'workflow' ? (input.draft ?? []) : []))
  for (const { origin, identifier: workflowId, steps } of [workflow, ...others, ...versions, ...drafts]) {
    if (origin !== 'external') continue
    const isAnswered = (stepId: string) => {
      const given = answers[stepId]
      return given !== undefined && !('status' in given)
    }
    const unanswered = steps.filter((step) => isActive(step) && !isAnswered(step.stepId)).map(({ stepId }) => stepId)
    if (unanswered.length > 0)
      throw new SimulationRefused({ code: 'simulation_needs_answers', params: { workflowId, steps: unanswered } })
  }
}

const issuesIn = (workflow: WorkflowVersion, around: Around): number =>
  [...findIssues(workflow as Parameters<typeof findIssues>[0], around).values()]
    .flatMap((step) => Object.values(step))
    .reduce((sum, list) => sum + list.length, 0)
