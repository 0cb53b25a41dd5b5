// Conditions: JSON Logic that decides whether a step runs or a topic subscription lets a workflow through.
// A rule is translated once into plain operations on numbered parts, compiled by json-logic-engine and cached. Of the engine's
// own operators only `and`, `or` and `if` are used: ours see no inherited property, no clock and no endless loop.
import { defaultMethods, LogicEngine } from 'json-logic-engine'
import { Cache } from '../../render/cache.ts'
import { operatorNames, pathOf } from './check.ts'
import { ConditionError, refuseLarge, Work } from './limits.ts'
import { type Body, type Evaluation, isTrue, type Operator, operators, read, type Scope } from './operators.ts'

export interface ConditionInput {
  /** What `{"var": "…"}` reads: `{workflow, payload, subscriber, context, steps, env}` for a step. */
  data: unknown
  now: Date
  /** The strings from `templatesIn`, rendered. They are only values, never rules. */
  rendered?: ReadonlyMap<string, string>
}

/** Whether it holds, by JSON Logic's idea of truth, and its value. */
export type ConditionResult = { holds: boolean; value: unknown } | { error: ConditionError }

/** An empty rule holds. */
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

/** The strings of a rule that are templates. The caller renders them before evaluating it. */
export function templatesIn(rule: unknown): readonly string[] {
  try {
    return compiled(rule).templates
  } catch {
    // Evaluating the rule reports what is wrong with it.
    return []
  }
}

function asConditionError(error: unknown): ConditionError {
  if (error instanceof ConditionError) return error
  const reason = error instanceof Error ? error.message : 'unknown'
  return new ConditionError('failed', `The condition could not be evaluated: ${reason}`, error)
}

/** What the operators of one rule refer to by number, so that evaluating it allocates next to nothing. */
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

/** By the text of the rule, up to this many characters in all: some thousands of usual ones. */
const byText = new Cache<Program | ConditionError>(1_000_000)
/** By the rule itself, for the many recipients of one workflow. Rules are never changed in place. */
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

/** What the engine turns into code: it contains no text of a caller, only names from our list and numbers. */
type Operation = number | boolean | null | { [operator: string]: Operation[] }

function translate(node: unknown, parts: Parts): Operation {
  if (Array.isArray(node) && !isConstant(node)) return { list: node.map((member) => translate(member, parts)) }
  if (isOperation(node)) return translateOperation(...(Object.entries(node)[0] as [string, unknown]), parts)
  return translateValue(node, parts)
}

/** An object without exactly one member is a value, not an operation, such as `{"amount": 3, "unit": "days"}`. */
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
        throw new ConditionError('invalid_rule', `The operator "${operator}" needs a list and a rule for its items`)
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

/** No name, or an empty one, means all data. Anything else that is not a name leads nowhere. */
function toPath(name: unknown): string[] {
  if (name === '' || name === null) return []
  if (typeof name === 'string') return pathOf(name)
  return typeof name === 'number' || typeof name === 'boolean' ? [`${name}`] : ['']
}

const partOf =
  (choose: (run: Run, operands: unknown[], scope: Scope) => unknown): Operator =>
  (operands, scope) =>
    choose(scope.run as Run, operands, scope)

/** Not available to rules: `translate` accepts no operator with these names. */
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
// Without a prototype, so that `constructor` is not an operator either.
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
