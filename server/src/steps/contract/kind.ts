// What every kind of step declares about itself. Shared code asks the declaration, never "is this an email step?".
import type { EmailLayout } from '../../render/email.ts'
import type { Situation } from '../../render/liquid.ts'
import type { Translator } from '../../render/translations.ts'
import type { JsonSchema } from '../json-schema/run.ts'
import type { CallTools } from './call-tools.ts'
import type { HeardEvent, Progress } from './need.ts'
import type { Detail, StepOutcome } from './outcome.ts'
import type { GivenAnswer } from './question.ts'
import type { StepRun } from './step-run.ts'

export type ControlValues = Record<string, unknown>

export const stepTypes = [
  'in_app',
  'email',
  'sms',
  'chat',
  'push',
  'digest',
  'delay',
  'throttle',
  'custom',
  'http_request',
] as const
/** Kinds that public clients do not know by name: how answers tell of them is in wire.ts. */
export const extensionKinds = [
  'branch',
  'exit',
  'wait_for_event',
  'start_workflow',
  'update_subscriber',
  'ask',
] as const
export type ExtensionKind = (typeof extensionKinds)[number]
export type StepType = (typeof stepTypes)[number] | ExtensionKind

export const isExtension = (type: unknown): type is ExtensionKind => extensionKinds.some((kind) => kind === type)

/** How an editor shows a control, and its placeholder. */
interface UiProperty {
  component: string
  placeholder?: string | number | boolean | object
  properties?: Record<string, UiProperty>
}

export interface UiSchema {
  group: string
  properties: Record<string, UiProperty>
}

export interface StepKind {
  type: StepType
  /** The channel that it delivers to; absent if it delivers nothing. */
  channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
  /** Time or other runs decide when the run goes on. Held back it ends `skipped`, and a failure ends the run. */
  isWait?: boolean
  /** Runs share its state, so another run may hold its lock for a moment. */
  isShared?: boolean
  /** It writes more than rows of its run. */
  writesMore?: boolean
  /** Held back outside the subscriber's schedule. */
  obeysSchedule?: boolean
  /** Its wait can be extended to the next opening of the subscriber's schedule. */
  isExtendable?: boolean
  /** What it does if that needs no call. */
  begin?(of: StepRun): StepOutcome | Progress<StepOutcome>
  /** Makes its calls. Runs outside of any transaction, perhaps more than once. */
  call?(of: StepRun, tools: CallTools): Promise<StepOutcome>
  /** What it does when its wait is over. @param isEarly whether somebody ended it before its time */
  wake?(of: StepRun, isEarly: boolean): StepOutcome | Progress<StepOutcome>
  /** What it does about an event while it waits, or about messages of earlier steps that have changed. */
  hear?(of: StepRun, event: HeardEvent | undefined): Progress<Heard>
  /** What it does about an answer while it waits. */
  answer?(of: StepRun, given: GivenAnswer): StepOutcome
  /** What it does when copies of its question have ended. Nothing: it goes on waiting. */
  look?(of: StepRun): Progress<StepOutcome | undefined>
  /** What later steps read while there is no result. */
  emptyResult?: ControlValues
  /** JSON Schema (draft 07) of its control values. */
  dataSchema: JsonSchema
  uiSchema?: UiSchema
  /** Control values as they are checked, shown and run: without empty ones, with one variant chosen. Never stored. */
  normalise(values: ControlValues): ControlValues
  /** The schema for its issues, if narrower than `dataSchema` (the variant that `normalise` chose). */
  variantSchema?(values: ControlValues): JsonSchema
  /** JSON Schema of what later steps read under `steps.<id>`. */
  resultSchema(values: ControlValues, payloadSchema: JsonSchema | undefined): JsonSchema
  /** Its result for the preview of a later step, from what the caller gives. By default, an example of `resultSchema`. */
  exampleResult?(given: ControlValues, payload: ControlValues, now: Date): ControlValues
  /** How normalised values look when delivered. By default, the values with their templates rendered. */
  preview?(values: ControlValues, rendering: Rendering): ControlValues
  /** What else is wrong with normalised values, beside what their schema says. */
  issuesIn?(values: ControlValues): OwnIssue[]
  /** The wait or window in normalised values, which has a limit. */
  waitOf?(values: ControlValues): Wait | undefined
  /** Control values as they are stored, if not as they came. */
  toStored?(values: ControlValues): ControlValues
  /** Its conditions beside `skip`, by their paths in the values. */
  conditionsOf?(values: ControlValues): OwnCondition[]
  /** Variables that only those conditions have, as schemas. */
  conditionVariables?: Record<string, JsonSchema>
  /** The earlier steps whose messages it is about, by their paths in the values. */
  messagesOf?(values: ControlValues): Array<{ path: string; stepId: string }>
  /** Variables that only its templates have: their schema, and their values from the results of earlier steps. */
  ownVariables?: { schema: Record<string, JsonSchema>; of(results: ControlValues): ControlValues }
  /** The links to our pages that its texts can name. */
  links?: readonly string[]
  /** Whether `layoutId` in its values names a layout. */
  usesLayout?: boolean
  /** Members of the values that are never templates. */
  literals?: readonly string[]
  /** Instead of "<Field> is required" for a missing value. */
  missingTexts?: Readonly<Record<string, string>>
  /** The message for an invalid URL. */
  urlText?: string
}

/** What came of it. Without an outcome the step goes on waiting. */
export interface Heard {
  outcome: StepOutcome | undefined
  /** For its log, once each. */
  warnings: Detail[]
}

export interface OwnIssue {
  /** As in its issues, such as `answers.1.id`. */
  path: string
  issueType: 'MISSING_VALUE' | 'TIER_LIMIT_EXCEEDED'
  message: string
}

export interface OwnCondition {
  /** As in its issues, such as `arms.0.condition`. */
  path: string
  rule: unknown
  /** Whether leaving it out is an issue. */
  isRequired: boolean
}

/** What it takes to render a step's templates. */
export interface Rendering {
  of: Situation
  translator: Translator
  /** Around the content, for kinds with `usesLayout`. */
  layout: EmailLayout | null
  /** The service's branding, if the channel has one and the organization has not removed it. */
  branding: string | null
}

/** An amount of time, or a cron expression. Neither has been checked. */
export type Wait = { amount: unknown; unit: unknown } | { cron: unknown }

/** The run condition of every kind. Despite its name the step runs if it holds. */
export const skip = { type: 'object', properties: {}, required: [], additionalProperties: true } as const
export const skipUi = { skip: { component: 'QUERY_EDITOR' } } as const

export const openObject = { type: 'object', properties: {}, required: [], additionalProperties: true } as const
export const closedObject = { type: 'object', properties: {}, required: [], additionalProperties: false } as const

export function objectSchema(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

export const timeUnits = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months'] as const
const [minute, hour, day] = [60, 3_600, 86_400]
/** A month is 30 days. */
export const unitSeconds: Readonly<Record<(typeof timeUnits)[number], number>> = {
  seconds: 1,
  minutes: minute,
  hours: hour,
  days: day,
  weeks: 7 * day,
  months: 30 * day,
}

const expression = String.raw`\{\{[^{}]*\}\}`
const piece = String.raw`(?:[^\s{}]|${expression})`
/** Absolute, or begins with an expression; expressions may occur anywhere in it. */
export const absoluteUrlPattern = `^(?:${expression}${piece}*|https?://${piece}+)$`
/** As above, or a path on the reader's own site. */
export const urlPattern = `^(?:${expression}${piece}*|https?://${piece}+|/${piece}*)$`

/** Without members that are null or undefined, at any depth. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.filter((item) => item !== null && item !== undefined).map(withoutNulls) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutNulls(member)])) as T
}

/** Only these members, and only if not empty. */
export function pickFilled(values: ControlValues, names: readonly string[]): ControlValues {
  const picked: ControlValues = {}
  for (const name of names) {
    const value = values[name]
    if (value !== undefined && value !== null && value !== '') picked[name] = value
  }
  return picked
}

/** A number, also from numeric text; undefined for anything else. */
export function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
