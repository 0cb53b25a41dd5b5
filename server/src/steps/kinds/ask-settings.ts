// What a step that asks says: its schemas, and the settings in its values.
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { type ControlValues, objectSchema, skip, timeUnits } from '../contract/kind.ts'
import { detail, type StepOutcome } from '../contract/outcome.ts'
import { askChannels } from '../contract/question.ts'
import type { StepRun } from '../contract/step-run.ts'
import { DurationInvalid, durationMs, longestWaitDays, longestWaitMs } from './duration.ts'

const mostAnswers = 10
export const mostLevels = 20
/** Of a level that names them. */
export const mostPeople = 100

const text = { type: 'string', minLength: 1 }
const duration = objectSchema(
  { amount: { type: 'number', minimum: 1 }, unit: { type: 'string', enum: [...timeUnits] } },
  ['amount', 'unit'],
)
const oneOfThem = (name: string, level: object, otherwise: object) => ({
  if: { required: [name] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: level,
  else: otherwise,
})
const level = {
  type: 'object',
  ...oneOfThem(
    'rota',
    objectSchema({ rota: text }, ['rota']),
    oneOfThem(
      'topicKey',
      objectSchema({ topicKey: text, inOrder: { type: 'boolean' } }, ['topicKey']),
      oneOfThem(
        'subscriberIds',
        objectSchema({ subscriberIds: { type: 'array', minItems: 1, maxItems: mostPeople, items: text } }, [
          'subscriberIds',
        ]),
        objectSchema({ subscriberId: text }, ['subscriberId']),
      ),
    ),
  ),
}
const properties = {
  skip,
  question: text,
  details: text,
  subject: text,
  answers: {
    type: 'array',
    minItems: 1,
    maxItems: mostAnswers,
    items: objectSchema(
      { id: { type: 'string', pattern: '^[a-z0-9_-]{1,40}$' }, label: { type: 'string', minLength: 1, maxLength: 80 } },
      ['id', 'label'],
    ),
  },
  freeText: objectSchema({ label: text, required: { type: 'boolean' } }, ['label']),
  channels: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: [...askChannels] } },
  reminders: { type: 'array', maxItems: 5, items: duration },
  amount: { type: 'number', minimum: 1 },
  unit: { type: 'string', enum: [...timeUnits] },
  chain: { type: 'array', minItems: 1, maxItems: mostLevels, items: level },
  patience: duration,
  rounds: { type: 'integer', minimum: 1, maximum: 10 },
}
const required = ['question', 'answers', 'amount', 'unit']
export const simple = objectSchema(properties, required)
export const withPatience = objectSchema(properties, [...required, 'patience'])

/** As it is written. */
export interface GivenLevel {
  subscriberId?: string
  subscriberIds?: string[]
  topicKey?: string
  inOrder?: boolean
  rota?: string
}

/** The rotas that a step asks; none unless it is an `ask`. */
export const rotasOf = ({ type, controlValues }: Pick<WorkflowStep, 'type' | 'controlValues'>): string[] =>
  type === 'ask' && Array.isArray(controlValues?.chain)
    ? controlValues.chain.flatMap((level: { rota?: unknown } | null) =>
        typeof level?.rota === 'string' ? level.rota : [],
      )
    : []

export const hasSeveral = (chain: unknown): boolean =>
  Array.isArray(chain) &&
  (chain.length > 1 || chain.some((each: GivenLevel | null) => each?.topicKey !== undefined && each.inOrder === true))

export function settingsIn({ now, values }: StepRun) {
  const { answers, patience, rounds, reminders } = values
  if (typeof values.question !== 'string' || values.question === '') return invalid('There is no question')
  if (!Array.isArray(answers) || answers.length === 0 || answers.length > mostAnswers)
    return invalid(`A question has 1 to ${mostAnswers} answers`)
  const ids = answers.map((each: { id?: unknown } | null) => each?.id)
  if (ids.some((id) => typeof id !== 'string' || !/^[a-z0-9_-]{1,40}$/.test(id)))
    return invalid('An answer has an id of up to 40 lower-case letters, digits, hyphens and underscores')
  if (new Set(ids).size < ids.length) return invalid('Two answers have the same id')
  const ofDuration = (given: unknown) => {
    const { amount, unit } = (given ?? {}) as ControlValues
    return durationMs(amount, unit)
  }
  try {
    const delay = durationMs(values.amount, values.unit)
    if (delay > longestWaitMs)
      return {
        ...invalid(`The question is open for more than ${longestWaitDays} days`),
        ...{ reason: 'over_limit' as const, details: [detail('over_limit', { delay, limit: longestWaitMs })] },
      }
    const patienceMs = patience === undefined ? null : ofDuration(patience)
    if (patienceMs === null && hasSeveral(values.chain)) return invalid('A chain of several levels needs patience')
    return {
      deadline: new Date(now.getTime() + delay).toISOString(),
      patienceMs,
      rounds: patienceMs === null || typeof rounds !== 'number' ? 1 : Math.min(Math.max(rounds, 1), 10),
      reminders: (Array.isArray(reminders) ? reminders.slice(0, 5) : []).map(ofDuration).sort((a, b) => a - b),
    }
  } catch (error) {
    if (error instanceof DurationInvalid) return invalid(error.message)
    throw error
  }
}

const invalid = (error: string): StepOutcome & { kind: 'fail' } => ({
  kind: 'fail',
  reason: 'invalid_settings',
  error,
  stops: true,
  details: [detail('question_invalid', { error })],
})
