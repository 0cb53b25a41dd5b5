// What every kind of step declares about itself. Shared code asks the declaration, never "is this an e-mail step?".
import type { EmailLayout } from '../../render/email.ts'
import type { Situation } from '../../render/liquid.ts'
import type { Translator } from '../../render/translations.ts'
import type { JsonSchema } from '../json-schema/run.ts'
import type { CallTools } from './call-tools.ts'
import type { Progress } from './need.ts'
import type { StepOutcome } from './outcome.ts'
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
export type StepType = (typeof stepTypes)[number]

/** How an editor shows a control, and what it suggests before anything is entered. */
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
  /** The channel a step of this kind delivers to; absent for steps that deliver nothing. */
  channel?: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
  /** It lets time or other runs decide when the run goes on. Held back it ends `skipped`, and a failure ends the run. */
  isWait?: boolean
  /** Other runs take part in it, and can hold this one up for a moment. */
  isShared?: boolean
  /** Nothing of it happens while the subscriber wants to be left alone. */
  obeysSchedule?: boolean
  /** Its wait can be drawn out until the subscriber is there again. */
  isExtendable?: boolean
  /** What it does where that needs nobody outside. */
  begin?(of: StepRun): StepOutcome | Progress<StepOutcome>
  /** What it does where somebody outside has to be asked. Called outside of any transaction, perhaps more than once. */
  call?(of: StepRun, tools: CallTools): Promise<StepOutcome>
  /** What it does when its wait is over. */
  wake?(of: StepRun): StepOutcome | Progress<StepOutcome>
  /** What later steps read while there is no result. */
  emptyResult?: ControlValues
  /** JSON Schema (draft 07) of its control values. */
  dataSchema: JsonSchema
  uiSchema?: UiSchema
  /** Control values as they are checked, shown and run: empty ones gone, one variant chosen. Never what is stored. */
  normalise(values: ControlValues): ControlValues
  /** The schema its issues are checked against, where that is narrower than `dataSchema` (the variant `normalise` chose). */
  variantSchema?(values: ControlValues): JsonSchema
  /** JSON Schema of what later steps read under `steps.<id>`. */
  resultSchema(values: ControlValues, payloadSchema: JsonSchema | undefined): JsonSchema
  /** A result for those who preview a later step, with what they say of it. Without this, one that fits `resultSchema`. */
  exampleResult?(given: ControlValues, payload: ControlValues, now: Date): ControlValues
  /** What normalised values look like when delivered. Without this, the values with their templates filled in. */
  preview?(values: ControlValues, rendering: Rendering): ControlValues
  /** Whether what it sends carries a signature of the environment. */
  isSigned?: boolean
  /** The time that normalised values say, of waiting or of counting: it has a limit. */
  waitOf?(values: ControlValues): Wait | undefined
  /** Control values as they are stored, where that is not just as they came. */
  toStored?(values: ControlValues): ControlValues
  /** What its templates can read beside what those of every kind can: described, and made of what earlier steps came to. */
  ownVariables?: { schema: Record<string, JsonSchema>; of(results: ControlValues): ControlValues }
  /** Whether `layoutId` in its values names a layout. */
  usesLayout?: boolean
  /** Members of the values that are no templates, whatever they contain. */
  literals?: readonly string[]
  /** What is said of a missing value instead of "<Field> is required". */
  missingTexts?: Readonly<Record<string, string>>
  /** What is said of an address that breaks the rules. */
  urlText?: string
}

/** What it takes to fill in the templates of a step. */
export interface Rendering {
  of: Situation
  translator: Translator
  /** What stands around it, where `usesLayout`. */
  layout: EmailLayout | null
  /** The mark of the service, where the channel carries one and the organization has not removed it. */
  branding: string | null
}

/** For an amount of time, or until a cron expression says so. Neither has been checked. */
export type Wait = { amount: unknown; unit: unknown } | { cron: unknown }

/** The run condition every kind has. Despite its name the step runs when it holds. */
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
/** Starts with an expression, or is absolute; expressions may stand anywhere in it. */
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

/** Only these members, and of those only what is not empty. */
export function pickFilled(values: ControlValues, names: readonly string[]): ControlValues {
  const picked: ControlValues = {}
  for (const name of names) {
    const value = values[name]
    if (value !== undefined && value !== null && value !== '') picked[name] = value
  }
  return picked
}

/** A whole number from a number or a text that holds one; undefined for anything else. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? Math.trunc(number) : undefined
}
