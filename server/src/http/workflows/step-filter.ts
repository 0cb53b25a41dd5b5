// Step filters: conditions on who gets a message, in groups combined with AND or OR.
import { type Static, Type } from 'typebox'
import { fail } from '../../errors.ts'
import { Enum } from '../edge/schema.ts'

const types = ['BOOLEAN', 'TEXT', 'DATE', 'NUMBER', 'STATEMENT', 'LIST', 'MULTI_LIST', 'GROUP'] as const
const joins = ['AND', 'OR'] as const
const operators = [
  ...(['LARGER', 'SMALLER', 'LARGER_EQUAL', 'SMALLER_EQUAL', 'EQUAL', 'NOT_EQUAL', 'ALL_IN', 'ANY_IN'] as const),
  ...(['NOT_IN', 'BETWEEN', 'NOT_BETWEEN', 'LIKE', 'NOT_LIKE', 'IN'] as const),
]
const subjects = ['subscriber', 'payload', 'tenant'] as const
/** For steps only: the choice of an integration cannot wait for these. */
const subjectsOfSteps = [...subjects, 'webhook', 'isOnline', 'isOnlineInLast', 'previousStep'] as const
const times = ['minutes', 'hours', 'days'] as const
const becomings = ['seen', 'read', 'unseen', 'unread'] as const

const comparison = {
  field: Type.Optional(Type.String()),
  value: Type.Optional(Type.Unknown()),
  operator: Type.Optional(Enum(operators)),
}
const group = { isNegated: Type.Boolean(), type: Enum(types), value: Enum(joins) }

export const StepFilter = Type.Object({
  ...group,
  children: Type.Array(Type.Object({ ...comparison, on: Type.Optional(Enum(subjects)) })),
})
export type StepFilter = Static<typeof StepFilter>

export const OwnStepFilter = Type.Object({
  ...group,
  children: Type.Array(
    Type.Object({
      ...comparison,
      on: Type.Optional(Enum(subjectsOfSteps)),
      webhookUrl: Type.Optional(Type.String()),
      timeOperator: Type.Optional(Enum(times)),
      step: Type.Optional(Type.String()),
      stepType: Type.Optional(Enum(becomings)),
    }),
  ),
})
export type OwnStepFilter = Static<typeof OwnStepFilter>

/** In a request. `readFilters` checks the contents, since a malformed filter is a 400 and not a validation error. */
export const StepFilters = Type.Array(Type.Unknown(), {
  description: 'Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer',
})

type Members = Record<string, unknown>

/** Filters in stored form. By default all children of a group must hold. */
export const readFilters = (given: unknown[]): StepFilter[] => given.map((filter) => readGroup(filter, readChild))

/** The same for steps. */
export const readStepFilters = (given: unknown[]): OwnStepFilter[] =>
  given.map((filter) => readGroup(filter, readOwnChild))

function readGroup<Child>(filter: unknown, read: (child: unknown) => Child) {
  const { isNegated = false, type = 'GROUP', value = 'AND', children } = membersOf(filter)
  if (typeof isNegated !== 'boolean' || !Array.isArray(children)) throw malformed()
  return { isNegated, type: oneOf(types, type), value: oneOf(joins, value), children: children.map(read) }
}

function readChild(given: unknown): StepFilter['children'][number] {
  const { on } = membersOf(given)
  return { ...readComparison(given), ...(on === undefined ? {} : { on: oneOf(subjects, on) }) }
}

function readComparison(given: unknown) {
  const { field, value, operator } = membersOf(given)
  if (field !== undefined && typeof field !== 'string') throw malformed()
  return {
    ...(field === undefined ? {} : { field }),
    ...(value === undefined ? {} : { value }),
    ...(operator === undefined ? {} : { operator: oneOf(operators, operator) }),
  }
}

function readOwnChild(given: unknown): OwnStepFilter['children'][number] {
  const members = membersOf(given)
  const on = members.on === undefined ? undefined : oneOf(subjectsOfSteps, members.on)
  const asked = { ...readComparison(given), ...(on === undefined ? {} : { on }) }
  const { webhookUrl, timeOperator, step, stepType } = members
  switch (on) {
    case 'webhook':
      if (typeof webhookUrl !== 'string' || !/^https?:/i.test(webhookUrl) || !URL.canParse(webhookUrl))
        throw malformed()
      return { ...asked, webhookUrl }
    case 'isOnline':
      if (typeof asked.value !== 'boolean') throw malformed()
      return asked
    case 'isOnlineInLast':
      if (typeof asked.value !== 'number' || !(asked.value >= 0)) throw malformed()
      return { ...asked, timeOperator: oneOf(times, timeOperator) }
    case 'previousStep':
      if (typeof step !== 'string') throw malformed()
      return { ...asked, step, stepType: oneOf(becomings, stepType) }
    case 'subscriber':
    case 'payload':
    case 'tenant':
    case undefined:
      return asked
  }
}

function membersOf(given: unknown): Members {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw malformed()
  return given as Members
}

function oneOf<T>(allowed: readonly T[], given: unknown): T {
  const found = allowed.find((value) => value === given)
  if (found === undefined) throw malformed()
  return found
}

const malformed = () => fail('bad_request', { reason: 'Bad Request' })
