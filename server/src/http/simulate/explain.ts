// Explanations: "would she get it?", played in memory, and "why did she not?", from the record.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Tx } from '../../db/core/database.ts'
import { findWorkflow } from '../../db/queries/workflows.ts'
import type { Explaining } from '../../engine/simulation/explain.ts'
import { readPast, readSituation } from '../../engine/simulation/explain-reads.ts'
import { gateNames } from '../../engine/simulation/gates.ts'
import { MomentInvalid, momentMs } from '../../engine/simulation/moments.ts'
import type { GivenAnswer, Members, Scenario } from '../../engine/simulation/scenario.ts'
import type { Simulations } from '../../engine/simulation/simulations.ts'
import { inSnapshot } from '../../engine/simulation/snapshot.ts'
import type { Job } from '../../engine/simulation/thread.ts'
import type { Brand } from '../../engine/simulation/tools.ts'
import { fail } from '../../errors.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { App, Services } from '../edge/resource.ts'
import {
  Body,
  ContextPayload,
  Enum,
  FreeObject,
  Identifier,
  Nullable,
  NullableTimestamp,
  Timestamp,
} from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { generalError } from '../edge/validation.ts'
import { readTrigger } from '../triggers/events.ts'
import { StepPath } from '../workflows/tree.ts'
import { answerPlayed } from './playing.ts'

const dayMs = 86_400_000
/** As far as a wait can reach. */
const horizonMs = 366 * dayMs

const Gate = Type.Object(
  { gate: Enum(gateNames), passed: Nullable(Type.Boolean({ description: 'Null where only a call could tell' })) },
  { additionalProperties: true },
)

const Change = Type.Object({
  gate: Enum(gateNames),
  text: Type.String(),
  by: Enum(['time', 'subscriber', 'you']),
  wait: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'Until when, if time does it' }),
  request: Nullable(
    Type.Object(
      { method: Type.String(), path: Type.String(), body: Type.Optional(FreeObject) },
      { description: 'Can be sent as it is. Null if it needs a value that only a person knows' },
    ),
  ),
})

const Explanation = Type.Object({
  past: Type.Optional(Type.Boolean({ description: 'True if it tells what happened' })),
  transactionId: Type.Optional(Type.String()),
  notificationId: Type.Optional(Nullable(Type.String())),
  workflowId: Type.String(),
  workflowVersion: Type.Optional(Nullable(Type.Integer())),
  subscriberId: Type.String(),
  at: Timestamp,
  trigger: Type.String({ description: 'The status of the trigger; `payload_invalid` if its payload does not fit' }),
  problem: Type.Optional(Type.String({ description: 'Why the trigger would be refused' })),
  wouldGet: Type.Boolean({ description: 'Whether any message is sent' }),
  channels: Type.Record(
    Type.String(),
    Type.Object({
      wouldGet: Type.Boolean(),
      stepId: Type.String(),
      reason: Nullable(Type.String()),
      at: NullableTimestamp,
    }),
  ),
  steps: Type.Array(
    Type.Object({
      stepId: Type.String(),
      type: Type.String(),
      kind: Type.Optional(Type.String({ description: 'Of a kind such as `branch`' })),
      path: Type.Optional(StepPath),
      of: Type.Optional(Type.String({ description: 'Of a copy of a question to this person: the step that asks' })),
      verdict: Enum(['sends', 'waits', 'passes', 'held_back', 'fails', 'not_reached']),
      reason: Nullable(Type.String()),
      at: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'When its turn comes' }),
      until: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'Until when it waits' }),
      gates: Type.Array(Gate, { description: 'In the order in which they are asked' }),
      remedy: Nullable(
        Type.Object(
          { changes: Type.Array(Change) },
          { description: 'The fewest changes after which it sends. Null if it sends already, or nothing would help' },
        ),
      ),
    }),
  ),
  remedy: Nullable(
    Type.Object(
      { channel: Type.String(), changes: Type.Array(Change) },
      { description: 'The smallest of the steps. Null if something is sent already, or nothing would help' },
    ),
  ),
  passedOver: Type.Optional(
    Nullable(
      Type.Object(
        { reason: Type.String(), detail: Type.Optional(Type.String()) },
        { description: 'Why there is no run. Null if there may still be one' },
      ),
    ),
  ),
})

const asked = {
  workflowId: Type.Optional(Identifier({ description: 'To look ahead' })),
  transactionId: Type.Optional(Identifier({ description: 'To look back, instead of a workflow' })),
  subscriberId: Identifier(),
  tenant: Type.Optional(Identifier()),
  at: Type.Optional(Type.String({ description: 'When it would be triggered; without it, now' })),
}

const ExplainBody = Body(
  { ...asked, payload: Type.Optional(FreeObject), context: Type.Optional(ContextPayload()) },
  { examples: [{ workflowId: 'news', subscriberId: 'ada', payload: { title: 'Hello' } }] },
)
type Asked = Static<typeof ExplainBody>

export function explain(
  app: App,
  services: Services,
  { threads, brand }: { threads: Simulations; brand: Brand },
): void {
  const { db, secrets, log } = services
  const means = { secrets, activityDays: services.config.retention.activityDays }
  const reading = { brand: services.brand, secrets: { encrypt: (clear: string) => clear } }

  const ahead = async (tx: Tx, here: Here, given: Asked & { workflowId: string }): Promise<Explaining> => {
    const { environmentId } = here
    const { workflowId, subscriberId, tenant, payload, context } = given
    const row = await findWorkflow(tx, environmentId, workflowId, idIn(workflowId, 'wf'))
    if (!row) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
    const startAt = momentOf(given.at, here.now)
    const trigger = { name: row.identifier, to: subscriberId, payload, context, tenant, transactionId: 'explain' }
    const request = readTrigger(
      environmentId,
      { ...trigger, overrides: {} } as Parameters<typeof readTrigger>[1],
      reading,
    )
    const scenario: Scenario = {
      ...{ startAt, horizonMs, seed: 0, workflowId: row.identifier, version: undefined, hasDetails: false },
      ...{ subscribers: [], topics: [], integrations: null, needsAnswers: false },
      answers: row.origin === 'external' ? answersFor(row.steps) : {},
      inputs: [{ at: startAt, type: 'trigger', isBroadcast: false, request }],
    }
    const found = await readSituation(tx, means, environmentId, scenario, {
      ...{ subscriberId, context: context as Members | undefined, tenant },
    })
    return { ...found, brand }
  }

  const back = async (tx: Tx, here: Here, given: { transactionId: string; subscriberId: string }): Promise<Job> => {
    const past = await readPast(tx, here.environmentId, given)
    if (!past) throw fail('transaction_not_found', { transactionId: given.transactionId })
    const { workflowId, subscriberId, payload, context, tenant, isStored } = past
    if (!isStored || !past.run) return { past, now: undefined, brand: brand.word }
    return {
      past,
      brand: brand.word,
      now: await ahead(tx, here, { workflowId, subscriberId, payload, context, tenant } as never),
    }
  }

  const job = async (here: Here, given: Asked): Promise<Job> => {
    const { workflowId, transactionId, subscriberId } = given
    if ((workflowId === undefined) === (transactionId === undefined))
      throw generalError(['either workflowId or transactionId is required'])
    if (transactionId !== undefined) return inSnapshot(db, (tx) => back(tx, here, { transactionId, subscriberId }))
    return { explaining: await inSnapshot(db, (tx) => ahead(tx, here, { ...given, workflowId: workflowId ?? '' })) }
  }

  const config = { role: 'viewer' as const, leavesClock: true, refusals: [404, 429] }
  const common = { tags: ['Simulations'], response: { 200: Explanation } }
  const description =
    'With `workflowId`, plays one trigger for this person, with the digests and throttles that are open; nothing is stored or sent. With `transactionId`, tells from the record what became of a trigger.'

  app.get(
    '/v1/explain',
    {
      config,
      schema: {
        ...common,
        summary: 'Explain whether somebody would get a notification, or why not',
        description,
        querystring: Type.Object({
          ...asked,
          payload: Type.Optional(Type.String({ description: 'JSON' })),
          context: Type.Optional(Type.String({ description: 'JSON' })),
        }),
      },
    },
    async (request, reply) => {
      const { payload, context, ...rest } = request.query
      const given = { ...rest, payload: objectIn('payload', payload), context: objectIn('context', context) } as Asked
      return answerPlayed({ threads, log }, reply, () => job(hereOf(request), given)) as never
    },
  )

  app.post(
    '/v1/explain',
    {
      config,
      schema: {
        ...common,
        summary: 'Explain whether somebody would get a notification, or why not, with a body',
        description,
        body: ExplainBody,
      },
    },
    async (request, reply) => answerPlayed({ threads, log }, reply, () => job(hereOf(request), request.body)) as never,
  )
}

/** Where and when it is asked. */
interface Here {
  environmentId: string
  now: Date
}

const hereOf = (request: FastifyRequest): Here => ({ environmentId: request.environment.id, now: request.now() })

function momentOf(at: string | undefined, now: Date): number {
  if (at === undefined) return now.getTime()
  try {
    return momentMs(at, now.getTime())
  } catch (error) {
    if (error instanceof MomentInvalid) throw generalError([`at: ${error.message}`])
    throw error
  }
}

function objectIn(name: string, text: string | undefined): Members | undefined {
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw generalError([`${name} must be JSON`])
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw generalError([`${name} must be a JSON object`])
  return value as Members
}

/** The user's code is not called: its messages are taken to have some text, its waits to be skipped. */
const answersFor = (steps: ReadonlyArray<{ stepId: string; type: string }>): Record<string, GivenAnswer> =>
  Object.fromEntries(
    steps.map(({ stepId, type }): [string, GivenAnswer] => [
      stepId,
      stepKinds[type as keyof typeof stepKinds]?.isWait ? { skip: true } : { outputs: { subject: '…', body: '…' } },
    ]),
  )
