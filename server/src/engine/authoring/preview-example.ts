// The data of a preview: an example of everything a template can read, overlaid with what the caller gives.

import type { Path } from '../../steps/check/templates.ts'
import { payloadVariables } from '../../steps/check/variables.ts'
import { type ControlValues, openObject, type StepType } from '../../steps/contract/kind.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { examplePayload } from './payload-example.ts'

type Members = Record<string, unknown>

/** What a caller may give. */
export interface PreviewPayload {
  payload?: Members
  subscriber?: Members
  context?: Members
  steps?: Members
  env?: Members
}

/** In the order in which it is shown. */
export interface PreviewData {
  payload: Members
  subscriber: Members
  context: Members
  steps: Members
  env: Members
}

const person = {
  subscriberId: '123456',
  firstName: 'John',
  lastName: 'Doe',
  email: 'user@example.com',
  phone: '+1234567890',
  avatar: 'https://www.example.com/avatar.png',
  locale: 'en_US',
  timezone: 'America/New_York',
  data: {},
}

interface Sources {
  payloadSchema: JsonSchema | null
  /** The paths that the workflow's templates read. */
  used: readonly Path[]
  /** The steps before the previewed one. */
  previous: ReadonlyArray<{ stepId: string; type: string; controlValues: ControlValues | null }>
  /** The environment's own. */
  env: Record<string, string>
  now: Date
  /** The payload is the caller's and nothing else. By default the example fills in what it lacks. */
  isExact?: boolean
}

export function previewData(given: PreviewPayload, sources: Sources): PreviewData {
  const { payloadSchema, used, previous, env, now, isExact = false } = sources
  const payload =
    isExact && given.payload ? given.payload : overlaid(payloadExample(payloadSchema, used, now), given.payload ?? {})
  const steps = previous.map(({ stepId, type, controlValues }) => {
    const kind = stepKinds[type as StepType] as (typeof stepKinds)[StepType] | undefined
    const said = membersOf(given.steps?.[stepId])
    if (kind?.exampleResult) return [stepId, kind.exampleResult(said, payload, now)]
    const schema = kind?.resultSchema(controlValues ?? {}, payloadSchema ?? undefined) ?? openObject
    return [stepId, { ...examplePayload(schema, now), ...said }]
  })
  return {
    payload,
    subscriber: { ...person, ...given.subscriber },
    context: contextOf(given.context ?? {}),
    steps: Object.fromEntries(steps),
    env: { ...env, ...given.env },
  }
}

/** Without a schema that lists them, the variables that templates read have their names as values. */
function payloadExample(schema: JsonSchema | null, used: readonly Path[], now: Date): Members {
  if (schema === null) return namesIn(payloadVariables(used))
  const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false
  return { ...(isOpen ? namesIn(payloadVariables(used)) : {}), ...examplePayload(schema, now) }
}

function namesIn({ properties }: JsonSchema, count = 2): Members {
  return Object.fromEntries(
    Object.entries(membersOf(properties)).map(([name, schema]) => [name, nameOf(name, membersOf(schema), count)]),
  )
}

/** Two items show the separator between them; inside items one is enough, or nested lists would grow without end. */
function nameOf(name: string, schema: JsonSchema, count: number): unknown {
  if (schema.items !== undefined) return Array.from({ length: count }, () => nameOf(name, membersOf(schema.items), 1))
  return schema.properties === undefined ? name : namesIn(schema, count)
}

/** The example with the caller's values. Members missing from the example are left out; lists replace as a whole. */
function overlaid(example: Members, given: Members): Members {
  const members = Object.entries(example).map(([name, value]) => {
    const wanted = Object.hasOwn(given, name) ? given[name] : undefined
    if (wanted === undefined) return [name, value]
    return [name, isObject(value) && isObject(wanted) ? overlaid(value, wanted) : wanted]
  })
  return Object.fromEntries(members)
}

/** A plain id is a context without data. */
function contextOf(given: Members): Members {
  const contexts = Object.entries(given).map(([type, context]) => [
    type,
    isObject(context) ? { data: {}, ...context } : { id: String(context), data: {} },
  ])
  return Object.fromEntries(contexts)
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const membersOf = (value: unknown): Members => (isObject(value) ? value : {})
