// Step filters: conditions on who receives a notification, in groups that all or any have to hold.
import { type Static, Type } from 'typebox'
import { fail } from '../errors.ts'
import { Enum } from './schema.ts'

const types = ['BOOLEAN', 'TEXT', 'DATE', 'NUMBER', 'STATEMENT', 'LIST', 'MULTI_LIST', 'GROUP'] as const
const joins = ['AND', 'OR'] as const
const operators = [
  ...(['LARGER', 'SMALLER', 'LARGER_EQUAL', 'SMALLER_EQUAL', 'EQUAL', 'NOT_EQUAL', 'ALL_IN', 'ANY_IN'] as const),
  ...(['NOT_IN', 'BETWEEN', 'NOT_BETWEEN', 'LIKE', 'NOT_LIKE', 'IN'] as const),
]
const subjects = ['subscriber', 'payload', 'tenant'] as const

export const StepFilter = Type.Object({
  isNegated: Type.Boolean(),
  type: Enum(types),
  value: Enum(joins),
  children: Type.Array(
    Type.Object({
      field: Type.Optional(Type.String()),
      value: Type.Optional(Type.Unknown()),
      operator: Type.Optional(Enum(operators)),
      on: Type.Optional(Enum(subjects)),
    }),
  ),
})
export type StepFilter = Static<typeof StepFilter>

/** In a request. What is inside is left to `readFilters`: a malformed filter is a bad request, not a list of problems. */
export const StepFilters = Type.Array(Type.Unknown(), {
  description: 'Each `{isNegated, type, value, children: [{field, value, operator, on}]}`, as in the answer',
})

type Members = Record<string, unknown>

/** Filters as they are stored. What a caller may leave out of a group reads: all its children hold. */
export function readFilters(given: unknown[]): StepFilter[] {
  return given.map((filter) => {
    const { isNegated = false, type = 'GROUP', value = 'AND', children } = membersOf(filter)
    if (typeof isNegated !== 'boolean' || !Array.isArray(children)) throw malformed()
    return { isNegated, type: oneOf(types, type), value: oneOf(joins, value), children: children.map(readChild) }
  })
}

function readChild(given: unknown): StepFilter['children'][number] {
  const { field, value, operator, on } = membersOf(given)
  if (field !== undefined && typeof field !== 'string') throw malformed()
  return {
    ...(field === undefined ? {} : { field }),
    ...(value === undefined ? {} : { value }),
    ...(operator === undefined ? {} : { operator: oneOf(operators, operator) }),
    ...(on === undefined ? {} : { on: oneOf(subjects, on) }),
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
