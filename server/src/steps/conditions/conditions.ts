// Conditions: JSON Logic that decides whether a step runs or a topic subscription lets a workflow through.
// A rule is translated once into plain operations on numbered parts, compiled by json-logic-engine and kept. None of the
// engine's own operators is used but `and`, `or` and `if`: ours know no inherited property, no clock and no endless loop.
import { defaultMethods, LogicEngine } from 'json-logic-engine'
import { Cache } from '../../render/cache.ts'
import { operatorNames, pathOf } from './check.ts'
import { ConditionError, refuseLarge, Work } from './limits.ts'
import { type Body, type Evaluation, isTrue, type Operator, operators, read, type Scope } from './operators.ts'

export interface ConditionInput {
  /** What `{"var": "…"}` reads: `{workflow, payload, subscriber, context, steps, env}` for a step. */
  data: unknown
  now: Date
  /** What the strings named by `templatesIn` came out as. They are values only, never rules. */
  rendered?: ReadonlyMap<string, string>
}

/** Whether it holds, by JSON Logic's idea of truth, and the value it came to. */
export type ConditionResult = { holds: boolean; value: unknown } | { error: ConditionError }

/** No rule, or an empty one, holds. */
export function evaluateCondition(rule: unknown, { data, now, rendered }: ConditionInput): ConditionResult {
  try {
    const program = compiled(rule)
    const run: Run = { program, bodies: program.bodies, now: now.getTime(), work: new Work(), rendered }
    const value = program.evaluate({ data, run })
    return { holds: isTrue(value), value }
  } catch (error) {
    return { error: asConditionError(error) }
  }
}

/** The strings of a rule that are templates. Whoever evaluates it renders them first. */
export function templatesIn(rule: unknown): readonly string[] {
  try {
    return compiled(rule).templates
  } catch {
    // What is wrong with the rule is told by evaluating it.
    return []
  }
}

function asConditionError(error: unknown): ConditionError {
  if (error instanceof ConditionError) return error
  const reason = error instanceof Error ? error.message : 'unknown'
  return new ConditionError('failed', `The condition could not be evaluated: ${reason}`, error)
}

/** Everything the operators of one rule refer to by number, so that evaluating it allocates next to nothing. */
interface Parts {
  bodies: Body[]
  paths: string[][]
  constants: unknown[]
  templates: string[]
}

interface Run extends Evaluation {
  program: Program
  rendered: ReadonlyMap<string, string> | undefined
}

interface Program extends Parts {
  evaluate(scope: Scope): unknown
}

/** By the text of the rule, as many as have this many characters in all: some thousands of usual ones. */
const byText = new Cache<Program | ConditionError>(1_000_000)
/** By the rule itself, for the many recipients of one workflow. Nobody changes a rule in place. */
const byRule = new WeakMap<object, Program | ConditionError>()

function compiled(rule: unknown): Program {
  const isRule = typeof rule === 'object' && rule !== null
  let program = isRule ? byRule.get(rule) : undefined
  if (program === undefined) {
    program = byText.get(JSON.stringify(rule) ?? '', () => {
      try {
        return compile(rule)
      } catch (error) {
        return asConditionError(error)
      }
    })
    if (isRule) byRule.set(rule, program)
  }
  if (program instanceof ConditionError) throw program
  return program
}

function compile(rule: unknown): Program {
  refuseLarge(rule)
  const parts: Parts = { bodies: [], paths: [], constants: [], templates: [] }
  const isEmpty = rule === undefined || rule === null || (isObject(rule) && Object.keys(rule).length === 0)
  return { ...parts, evaluate: isEmpty ? () => true : build(translate(rule, parts)) }
}

/** What the engine turns into code: no text a caller wrote is part of it, only names from our list and numbers. */
type Operation = number | boolean | null | { [operator: string]: Operation[] }

function translate(node: unknown, parts: Parts): Operation {
  if (Array.isArray(node) && !isConstant(node)) return { list: node.map((member) => translate(member, parts)) }
  if (isOperation(node)) return translateOperation(...(Object.entries(node)[0] as [string, unknown]), parts)
  return translateValue(node, parts)
}

/** An object of none or several members is no operation but a value, such as `{"amount": 3, "unit": "days"}`. */
function translateValue(node: unknown, parts: Parts): Operation {
  if (isTemplate(node)) return { rendered: [numberOf(parts.templates, node)] }
  if (typeof node === 'number' || typeof node === 'boolean' || node === null) return node
  if (typeof node !== 'object' || isConstant(node)) return constant(node, parts)
  const members = Object.values(node).map((member) => translateValue(member, parts))
  return Array.isArray(node) ? { list: members } : { object: [constant(Object.keys(node), parts), ...members] }
}

function translateOperation(operator: string, given: unknown, parts: Parts): Operation {
  if (!operatorNames.has(operator))
    throw new ConditionError('unknown_operator', `The condition's operator "${operator}" is not supported`)
  const operands = Array.isArray(given) ? given : [given]
  switch (operator) {
    case 'var':
      return translateVariable(operands, parts)
    case 'if':
    case '?:':
      return translateChoice(operands.map((operand) => translate(operand, parts)))
    case 'map':
    case 'filter':
    case 'reduce':
    case 'all':
    case 'some':
    case 'none': {
      const [list, body, initial = null] = operands
      if (body === undefined)
        throw new ConditionError(
          'invalid_rule',
          `The operator "${operator}" needs a list and what to do with its items`,
        )
      const evaluate = build(translate(body, parts))
      const number = parts.bodies.push({ evaluate, size: refuseLarge(body) }) - 1
      return { [operator]: [translate(list, parts), number, translate(initial, parts)] }
    }
    default:
      return { [operator]: operands.map((operand) => translate(operand, parts)) }
  }
}

function translateVariable([name = '', otherwise = null]: unknown[], parts: Parts): Operation {
  const byDefault = translate(otherwise, parts)
  if (typeof name === 'object' || isTemplate(name)) return { lookup: [translate(name, parts), byDefault] }
  return { path: [parts.paths.push(toPath(name)) - 1, byDefault] }
}

/** `[if, then, if, then, …, else]`; the engine compiles only those with an else. */
function translateChoice(operands: Operation[]): Operation {
  if (operands.length < 2) return operands[0] ?? null
  return { if: operands.length % 2 === 1 ? operands : [...operands, null] }
}

function numberOf<T>(values: T[], value: T): number {
  const known = values.indexOf(value)
  return known >= 0 ? known : values.push(value) - 1
}

const constant = (value: unknown, parts: Parts): Operation => ({ constant: [numberOf(parts.constants, value)] })
const isTemplate = (value: unknown): value is string => typeof value === 'string' && /\{[{%]/.test(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isOperation = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && Object.keys(value).length === 1

/** Nothing in it has to be evaluated. */
function isConstant(node: unknown): boolean {
  if (isTemplate(node) || isOperation(node)) return false
  return typeof node !== 'object' || node === null || Object.values(node).every(isConstant)
}

/** No name, or an empty one, is everything. What is no name leads nowhere. */
function toPath(name: unknown): string[] {
  if (name === '' || name === null) return []
  if (typeof name === 'string') return pathOf(name)
  return typeof name === 'number' || typeof name === 'boolean' ? [`${name}`] : ['']
}

const partOf =
  (choose: (run: Run, operands: unknown[], scope: Scope) => unknown): Operator =>
  (operands, scope) =>
    choose(scope.run as Run, operands, scope)

/** What rules cannot say themselves, because `translate` takes no operator of these names. */
const internals: Record<string, Operator> = {
  path: partOf(
    ({ program }, [number, otherwise], { data }) => read(data, program.paths[number as number] ?? []) ?? otherwise,
  ),
  lookup: ([name, otherwise], { data, run }) => {
    if (typeof name === 'string') run.work.spend(name.length)
    return read(data, toPath(name)) ?? otherwise
  },
  constant: partOf(({ program }, [number]) => program.constants[number as number]),
  rendered: partOf(({ program, rendered }, [number]) => {
    const template = program.templates[number as number] ?? ''
    return rendered?.get(template) ?? template
  }),
  list: (operands) => operands,
  object: ([names, ...values]) => Object.fromEntries((names as string[]).map((name, i) => [name, values[i]])),
}

const engine = new LogicEngine({}, { disableInline: true })
// Without a prototype, so that `constructor` is no operator either.
engine.methods = Object.assign(Object.create(null), {
  and: defaultMethods.and,
  or: defaultMethods.or,
  if: defaultMethods.if,
  ...Object.fromEntries(
    Object.entries({ ...operators, ...internals }).map(([name, method]) => [name, { method, deterministic: false }]),
  ),
})
engine.truthy = isTrue

const build = (operation: Operation) => engine.build(operation) as (scope: Scope) => unknown
