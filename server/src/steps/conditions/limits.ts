// What a condition may cost. Work is counted, not timed: the result is the same on a busy machine.

/** Operators, lists and values in one rule. */
const mostNodes = 2_000
const deepest = 50
/** Characters of all its strings and names together. */
const mostCharacters = 32 * 1024
/** Items visited times the size of the body, plus one for every 16 characters or list items handled. */
const mostWork = 100_000
/** For a string or a list that a rule builds. */
export const longestResult = 64 * 1024

export type ConditionErrorCode =
  | 'unknown_operator'
  | 'invalid_rule'
  | 'rule_too_large'
  | 'rule_too_deep'
  | 'too_much_work'
  | 'result_too_large'
  | 'failed'

/** Why a condition cannot be evaluated, in a sentence for its author. */
export class ConditionError extends Error {
  override readonly name = 'ConditionError'
  readonly code: ConditionErrorCode

  constructor(code: ConditionErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.code = code
  }
}

/** @returns how many nodes the rule has. Without recursion, so that deep nesting cannot exhaust the stack. */
export function refuseLarge(rule: unknown): number {
  let characters = 0
  let nodes = 0
  const open: Array<{ value: unknown; depth: number }> = [{ value: rule, depth: 1 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next
    nodes += 1
    if (depth > deepest)
      throw new ConditionError('rule_too_deep', `The condition is nested deeper than ${deepest} levels`)
    if (typeof value === 'string') characters += value.length
    else if (typeof value === 'object' && value !== null) {
      if (!Array.isArray(value)) for (const name of Object.keys(value)) characters += name.length
      for (const member of Object.values(value)) open.push({ value: member, depth: depth + 1 })
    }
    if (nodes + open.length > mostNodes || characters > mostCharacters)
      throw new ConditionError(
        'rule_too_large',
        `The condition is too large; at most ${mostNodes} values with ${mostCharacters} characters are allowed`,
      )
  }
  return nodes
}

/** The budget of one evaluation. */
export class Work {
  #left = mostWork

  spend(units: number) {
    // Written so that NaN fails too.
    if (!(units <= this.#left)) {
      this.#left = 0
      throw new ConditionError('too_much_work', 'The condition takes too long; use smaller lists or fewer loops')
    }
    this.#left -= units
  }
}
