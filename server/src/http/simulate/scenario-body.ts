// The body of a simulation: its schema, and how it becomes the scenario that the engine plays.
import { type Static, Type } from 'typebox'
import { sha256 } from '../../db/core/secrets.ts'
import type { ChannelChoices } from '../../db/core/tables.ts'
import { isRefusable } from '../../db/queries/workflows.ts'
import type { WorkflowVersion } from '../../engine/core/memory.ts'
import { channelNames } from '../../engine/core/preferences.ts'
import { durationMs, MomentInvalid, momentMs } from '../../engine/simulation/moments.ts'
import {
  type FaultName,
  faultNames,
  type GivenAnswer,
  type Input,
  type InventedSubscriber,
  inputTypes,
  invalid,
  type Members,
  type Scenario,
} from '../../engine/simulation/scenario.ts'
import { fail, RequestError } from '../../errors.ts'
import { findProvider } from '../../providers/catalog.ts'
import { Body, Channel, FreeObject, Identifier, Nullable } from '../edge/schema.ts'
import { choices, readSchedule, readSnooze, Schedule } from '../subscribers/preferences.ts'
import { type Given, type Reading, readPerson, readTrigger, refuseLargePayload } from '../triggers/events.ts'
import { mostPayloadBytes as mostEventBytes } from '../triggers/posted-events.ts'
import { newWorkflowFields, OwnIdentifier, workflowFields } from '../workflows/shape.ts'
import { planSteps, storedValues } from '../workflows/steps.ts'
import { createdFields } from '../workflows/write.ts'

const mostInputs = 1_000
const eventName = /^(?!message\.)[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/
const mostSubscribers = 1_000
const mostTopics = 100
const mostMembers = 1_000
const mostIntegrations = 100
const mostExpectations = 1_000
const longestHorizonDays = 366
const dayMs = 86_400_000

const upsert = workflowFields('SimulationCommand', 'workflow.draft')
const Draft = Body(
  {
    steps: upsert.steps,
    name: Type.Optional(upsert.name),
    workflowId: Type.Optional(OwnIdentifier),
    ...newWorkflowFields(upsert),
  },
  { description: 'The body of `POST /v2/workflows`, of which only `steps` is required. It is not saved' },
)
type Draft = Static<typeof Draft>

const Snooze = Nullable(
  Type.String({ description: 'A moment; commercial messages pause until then. Null ends the pause' }),
)
// `refuseOthers` refuses unknown members, so they are not dropped here.
const Preferences = Type.Object({
  channels: Type.Optional(Body(choices)),
  schedule: Type.Optional(Schedule),
  snoozedUntil: Type.Optional(Snooze),
  workflows: Type.Optional(Type.Record(Type.String(), Body({ channels: Body(choices) }))),
})

const Invented = Type.Unsafe<
  Members & { preferences?: Static<typeof Preferences>; snoozedUntil?: Static<typeof Snooze> }
>({
  type: 'object',
  properties: {
    ...{ subscriberId: Identifier(), base: { type: 'string', enum: ['stored'] }, preferences: Preferences },
    snoozedUntil: Snooze,
  },
  required: ['subscriberId'],
  additionalProperties: true,
})

const ScenarioInput = Type.Unsafe<
  Members & {
    type: string
    at: string
    draft?: Draft
    schedule?: Static<typeof Schedule>
    snoozedUntil?: Static<typeof Snooze>
  }
>({
  type: 'object',
  properties: {
    type: { type: 'string', description: `One of ${inputTypes.join(', ')}` },
    at: { type: 'string', description: '`+2h` from the start, ISO 8601, or `2026-03-29T02:30[Europe/Berlin]`' },
    draft: Draft,
    schedule: Schedule,
    snoozedUntil: Snooze,
  },
  required: ['type', 'at'],
  additionalProperties: true,
})

export const ScenarioBody = Body(
  {
    workflow: Body({
      workflowId: Type.Optional(Identifier()),
      version: Type.Optional(Type.Integer({ minimum: 1 })),
      draft: Type.Optional(Draft),
    }),
    startAt: Type.Optional(Type.String({ description: 'A moment; without it, now' })),
    horizon: Type.Optional(Type.String({ description: 'A duration up to `366d`; without it, `30d`' })),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
    subscribers: Type.Optional(Type.Array(Invented, { maxItems: mostSubscribers })),
    topics: Type.Optional(
      Type.Array(Body({ topicKey: Identifier(), subscriberIds: Type.Array(Identifier(), { maxItems: mostMembers }) }), {
        maxItems: mostTopics,
      }),
    ),
    integrations: Type.Optional(
      Type.Array(
        Body({
          identifier: Identifier(),
          channel: Channel,
          providerId: Identifier(),
          primary: Type.Optional(Type.Boolean()),
          priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
          conditions: Type.Optional(Type.Array(FreeObject, { maxItems: 100 })),
        }),
        { maxItems: mostIntegrations, description: "Instead of the environment's active ones, without credentials" },
      ),
    ),
    answers: Type.Optional(Type.Record(Type.String(), FreeObject)),
    inputs: Type.Array(ScenarioInput, { minItems: 1, maxItems: mostInputs }),
    expect: Type.Optional(Type.Array(FreeObject, { maxItems: mostExpectations })),
    details: Type.Optional(Type.Boolean({ description: 'Every step has its log' })),
  },
  {
    examples: [
      {
        workflow: { workflowId: 'comments' },
        startAt: '2026-05-01T10:00:00Z',
        inputs: [{ type: 'trigger', at: '+0s', to: 'ada', payload: { author: 'Bo' } }],
      },
    ],
  },
)
export type ScenarioBody = Static<typeof ScenarioBody>

/** Whether anything in it is a workflow that is not stored. */
export const hasDraft = ({ workflow, inputs }: ScenarioBody): boolean =>
  workflow.draft !== undefined || inputs.some(({ draft }) => draft !== undefined)

interface Surroundings extends Reading {
  environmentId: string
  /** Of the whole body. */
  bodyBytes: number
  now: Date
  /** The stored workflow, if one is named. */
  stored: WorkflowVersion | undefined
  /** What is played instead of it, or without it. */
  draft?: WorkflowVersion | undefined
}

/** The workflow that is played instead of the stored one. */
export function draftOf(draft: Draft, { stored, now }: Pick<Surroundings, 'stored' | 'now'>): WorkflowVersion {
  const { steps, workflowId, active, isTranslationEnabled } = draft
  const name = draft.name ?? stored?.name ?? 'Draft'
  const identifier = stored?.identifier ?? workflowId ?? 'draft'
  const hash = sha256(JSON.stringify(draft)).slice(0, 24)
  const fields = createdFields(identifier, { ...draft, name }, [], now)
  if (!isRefusable(fields)) throw fail('commercial_critical')
  return {
    ...fields,
    ...(stored ? { origin: stored.origin } : {}),
    ...(stored && isTranslationEnabled === undefined ? { is_translation_enabled: stored.is_translation_enabled } : {}),
    ...(stored && draft.journey === undefined ? { journey: stored.journey ?? null } : {}),
    brake: stored?.brake ?? null,
    // A draft is written to be tried.
    active: active ?? true,
    id: stored?.id ?? hash,
    version: 0,
    steps: planSteps(storedValues(steps), stored?.steps ?? [], now),
  }
}

export function readScenario(body: ScenarioBody, surroundings: Surroundings): Scenario {
  const { workflow, seed = 0, subscribers = [], topics = [], integrations, answers = {}, details = false } = body
  const { stored, draft, now } = surroundings
  const startAt = body.startAt === undefined ? now.getTime() : timed('startAt', () => momentMs(String(body.startAt)))
  const horizonMs = timed('horizon', () => durationMs(body.horizon ?? '30d'))
  if (horizonMs > longestHorizonDays * dayMs) throw invalid('horizon', `it is longer than ${longestHorizonDays}d`)
  const workflowId = stored?.identifier ?? workflow.draft?.workflowId ?? 'draft'
  const reading = {
    ...{ ...surroundings, startAt, endAt: startAt + horizonMs, workflowId, triggers: 0 },
    latest: draft ?? stored,
  }
  return {
    ...{ startAt, horizonMs, seed, workflowId, topics, hasDetails: details, needsAnswers: true },
    version: workflow.version,
    subscribers: subscribers.map((each, index) => readInvented(each, `subscribers[${index}]`, reading)),
    integrations:
      integrations?.map(({ identifier, channel, providerId, primary, priority, conditions }, index) => {
        const stored_id = surroundings.brand.toStored(providerId)
        if (findProvider(stored_id)?.channel !== channel)
          throw invalid(
            `integrations[${index}].providerId`,
            `${JSON.stringify(providerId)} is no provider of ${channel}`,
          )
        return {
          ...{ identifier, channel, provider_id: stored_id },
          ...{ is_primary: primary ?? false, priority: priority ?? 0, conditions: conditions ?? [] },
        }
      }) ?? null,
    answers: Object.fromEntries(Object.entries(answers).map(([stepId, given]) => [stepId, readAnswer(stepId, given)])),
    inputs: body.inputs.map((given, index) => readInput(given, `inputs[${index}]`, reading)),
  }
}

function timed(where: string, read: () => number): number {
  try {
    return read()
  } catch (error) {
    if (error instanceof MomentInvalid) throw invalid(where, error.message)
    throw error
  }
}

/** Says where what is no person, or no schedule, is wrong. */
function placed<T>(where: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const sentence = sentenceOf(error)
    const place = sentence.split(' ').find((word) => word.startsWith(where))
    if (place === undefined) throw invalid(where, sentence)
    throw invalid(place.replace(/\.(\d+)/g, '[$1]'), sentence.replace(place, 'it'))
  }
}

const preferencesInput = ['type', 'at', 'subscriberId', 'channels', 'schedule', 'snoozedUntil', 'workflowId'] as const

function refuseOthers(where: string, given: object, known: readonly string[]): void {
  const other = Object.keys(given).find((name) => !known.includes(name))
  if (other !== undefined) throw invalid(`${where}.${other}`, `it is not one of ${known.join(', ')}`)
}

function snoozeAt(
  where: string,
  given: string | null | undefined,
  { startAt, now }: { startAt: number; now: number },
): Date | null | undefined {
  if (given === undefined || given === null) return given
  const until = timed(where, () => momentMs(given, startAt))
  return placed(where, () => readSnooze(new Date(until).toISOString(), new Date(now)))
}

const scheduleAt = (where: string, given: Static<typeof Schedule>): Members =>
  placed(where, () => readSchedule(given) as object as Members)

const preferenceNames = ['channels', 'schedule', 'snoozedUntil', 'workflows'] as const

function readInvented(
  given: Static<typeof Invented>,
  where: string,
  reading: Reading & { startAt: number },
): InventedSubscriber {
  const { base, snoozedUntil: snooze, preferences = snooze === undefined ? undefined : {}, ...said } = given
  refuseOthers(`${where}.preferences`, preferences ?? {}, preferenceNames)
  const { subscriberId, channels, ...fields } = placed(where, () => readPerson(said, where, reading))
  const { schedule, snoozedUntil, ...choice } = preferences ?? {}
  const at = { startAt: reading.startAt, now: reading.startAt }
  const snoozed =
    snoozedUntil === undefined
      ? snoozeAt(`${where}.snoozedUntil`, snooze, at)
      : snoozeAt(`${where}.preferences.snoozedUntil`, snoozedUntil, at)
  return {
    ...fields,
    ...(channels ? { channels: channels as NonNullable<InventedSubscriber['channels']> } : {}),
    subscriberId,
    isBased: base === 'stored',
    ...(preferences
      ? {
          preferences: {
            ...choice,
            ...(schedule ? { schedule: scheduleAt(`${where}.preferences.schedule`, schedule) } : {}),
            snoozedUntil: snoozed,
          },
        }
      : {}),
  }
}

function readAnswer(stepId: string, given: Members): GivenAnswer {
  const where = `answers.${stepId}`
  if (given.skip === true) return { skip: true }
  if (isObject(given.outputs)) return { outputs: given.outputs }
  const { status = 200, body = {} } = given
  if (!('status' in given || 'body' in given))
    throw invalid(where, 'it must have a status and a body, outputs, or "skip": true')
  if (!(Number.isInteger(status) && Number(status) >= 100 && Number(status) <= 599))
    throw invalid(`${where}.status`, 'it must be an HTTP status')
  return { status: Number(status), body }
}

interface InputReading extends Surroundings {
  startAt: number
  endAt: number
  workflowId: string
  /** Counted, for their transaction ids. */
  triggers: number
  /** The workflow as the inputs so far have left it. */
  latest: WorkflowVersion | undefined
}

function readInput(given: ScenarioBody['inputs'][number], where: string, reading: InputReading): Input {
  const { type } = given
  const moment = (name: string, value: unknown) =>
    timed(`${where}.${name}`, () => momentMs(text(`${where}.${name}`, value), reading.startAt))
  const at = moment('at', given.at)
  if (at < reading.startAt) throw invalid(`${where}.at`, 'it is before startAt')
  if (at > reading.endAt) throw invalid(`${where}.at`, 'it is after the horizon')
  const member = (name: string) => text(`${where}.${name}`, given[name])
  const optional = (name: string) => (given[name] === undefined ? undefined : member(name))
  switch (type) {
    case 'trigger':
      return readTriggerInput(at, given, where, reading)
    case 'cancel':
      if ((given.transactionId === undefined) === (given.key === undefined))
        throw invalid(where, 'it must have either transactionId or key')
      return {
        ...{ at, type, transactionId: optional('transactionId') },
        ...{ key: optional('key'), subscriberId: given.key === undefined ? undefined : optional('subscriberId') },
      }
    case 'event': {
      const event = { name: member('name'), key: optional('key'), subscriberId: optional('subscriberId') }
      if (!eventName.test(event.name)) throw invalid(`${where}.name`, 'it cannot be the name of an event')
      if (event.key === undefined && event.subscriberId === undefined)
        throw invalid(where, 'it must have a subscriberId, a key, or both')
      const { payload = {} } = given
      if (!isObject(payload)) throw invalid(`${where}.payload`, 'it must be an object')
      if (reading.bodyBytes > mostEventBytes && Buffer.byteLength(JSON.stringify(payload)) > mostEventBytes)
        throw invalid(`${where}.payload`, `it has more than ${mostEventBytes} bytes`)
      return { at, type, ...event, id: optional('id'), payload }
    }
    case 'answer':
      return {
        ...{ at, type, subscriberId: member('subscriberId'), answer: member('answer'), text: optional('text') },
        ...{ transactionId: optional('transactionId'), stepId: optional('stepId') },
      }
    case 'seen':
    case 'read':
    case 'unread':
    case 'acted': {
      const action = optional('action')
      if (type === 'acted' && action !== 'primary' && action !== 'secondary')
        throw invalid(`${where}.action`, 'it must be primary or secondary')
      return {
        ...{ at, type, subscriberId: member('subscriberId'), transactionId: optional('transactionId') },
        ...{ stepId: optional('stepId'), ...(type === 'acted' ? { action: action as 'primary' | 'secondary' } : {}) },
      }
    }
    case 'preferences':
      refuseOthers(where, given, preferencesInput)
      return {
        ...{ at, type, subscriberId: member('subscriberId'), workflowId: optional('workflowId') },
        channels: given.channels === undefined ? undefined : readChoices(`${where}.channels`, given.channels),
        schedule: given.schedule && scheduleAt(`${where}.schedule`, given.schedule),
        snoozedUntil: snoozeAt(`${where}.snoozedUntil`, given.snoozedUntil, { startAt: reading.startAt, now: at }),
      }
    case 'subscriber': {
      const isDeleted = given.delete === true
      if (isDeleted === isObject(given.set)) throw invalid(where, 'it must have either set or "delete": true')
      const subscriberId = member('subscriberId')
      if (isDeleted) return { at, type, subscriberId, isDeleted }
      const { subscriberId: _, ...set } = placed(`${where}.set`, () =>
        readPerson({ ...(given.set as Members), subscriberId }, `${where}.set`, reading),
      )
      return { at, type, subscriberId, isDeleted, set }
    }
    case 'workflow': {
      const { draft, version, active } = given
      if ([draft, version, active].filter((each) => each !== undefined).length !== 1)
        throw invalid(where, 'it must have exactly one of draft, version and active')
      if (version !== undefined && !Number.isInteger(version))
        throw invalid(`${where}.version`, 'it must be a whole number')
      if (version !== undefined && !reading.stored) throw invalid(`${where}.version`, 'a draft has no versions')
      if (active !== undefined && typeof active !== 'boolean')
        throw invalid(`${where}.active`, 'it must be true or false')
      if (!draft) return { at, type, active, version: version as number | undefined }
      // A step that stays is the same step, with the same windows.
      reading.latest = draftOf(draft, { stored: reading.latest, now: reading.now })
      return { at, type, draft: reading.latest }
    }
    case 'fault':
      return { at, type, ...readFault(given, where, moment, reading) }
    default:
      throw invalid(`${where}.type`, `${JSON.stringify(type)} is not one of ${inputTypes.join(', ')}`)
  }
}

function readTriggerInput(at: number, given: Members, where: string, reading: InputReading): Input {
  reading.triggers += 1
  const isBroadcast = given.broadcast === true
  if (isBroadcast === (given.to !== undefined)) throw invalid(where, 'it must have either to or "broadcast": true')
  if (given.bridgeUrl !== undefined) throw invalid(`${where}.bridgeUrl`, 'applications are not called here')
  for (const name of ['payload', 'overrides', 'context'])
    if (given[name] !== undefined && !isObject(given[name])) throw invalid(`${where}.${name}`, 'it must be an object')
  for (const name of ['name', 'transactionId', 'cancellationKey'])
    if (given[name] !== undefined) text(`${where}.${name}`, given[name])
  const { to, payload, overrides, actor, tenant, context, cancellationKey } = given as Partial<Given>
  const name = (given.name ?? reading.workflowId) as string
  const transactionId = (given.transactionId as string | undefined) || `sim-${reading.triggers}`
  try {
    refuseLargePayload(payload, reading.bodyBytes)
    // All members by name: a scenario has a thousand of them, and a literal that begins with a spread takes 3 µs.
    const said = { name, transactionId, payload, overrides, actor, tenant, context, cancellationKey } as Given
    if (!isBroadcast) said.to = to
    return { at, type: 'trigger', isBroadcast, request: readTrigger(reading.environmentId, said, reading) }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { at, type: 'refused', transactionId, error: { code: error.code, message: sentenceOf(error) } }
  }
}

/** What is wrong, where the error itself only says that something is. */
function sentenceOf({ message, ctx }: RequestError): string {
  const { general } = (ctx?.errors ?? {}) as { general?: { messages: string[] } }
  return general ? general.messages.join('; ') : message
}

function readFault(
  given: Members,
  where: string,
  moment: (name: string, value: unknown) => number,
  { brand }: InputReading,
) {
  const fault = faultNames.find((name) => name === given.fault)
  if (!fault)
    throw invalid(`${where}.fault`, `${JSON.stringify(given.fault ?? null)} is not one of ${faultNames.join(', ')}`)
  const whole = (name: string, least: number, most: number) => {
    const value = given[name]
    if (value !== undefined && !(Number.isInteger(value) && Number(value) >= least && Number(value) <= most))
      throw invalid(`${where}.${name}`, `it must be a whole number from ${least} to ${most}`)
    return value as number | undefined
  }
  const optional = (name: string) => (given[name] === undefined ? undefined : text(`${where}.${name}`, given[name]))
  const channel = optional('channel')
  if (channel !== undefined && !channelNames.some((name) => name === channel))
    throw invalid(`${where}.channel`, `${JSON.stringify(channel)} is not one of ${channelNames.join(', ')}`)
  const providerId = optional('providerId')
  return {
    fault: fault satisfies FaultName,
    until: given.until === undefined ? undefined : moment('until', given.until),
    channel,
    providerId: providerId && brand.toStored(providerId),
    integrationIdentifier: optional('integrationIdentifier'),
    count: whole('count', 1, 1_000_000),
    retryAfterSeconds: whole('retryAfterSeconds', 0, 86_400),
  }
}

function readChoices(where: string, given: unknown): ChannelChoices {
  if (!isObject(given)) throw invalid(where, 'it must be an object')
  for (const [name, value] of Object.entries(given)) {
    if (!channelNames.some((each) => each === name))
      throw invalid(`${where}.${name}`, `it is not one of ${channelNames.join(', ')}`)
    if (typeof value !== 'boolean') throw invalid(`${where}.${name}`, 'it must be true or false')
  }
  return given as ChannelChoices
}

function text(where: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 255) return value
  throw invalid(where, 'it must be a text of 1 to 255 characters')
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
