// Every keyword of JSON Schema draft 07, and those of 2020-12 that people use: its check, and what that costs.
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { compilePattern, longestPattern, syntaxHint } from './pattern.ts'
import { type Check, fragmentOf, type JsonSchema, type Place, type Run, SchemaError } from './run.ts'

export type SchemaObject = Record<string, unknown>
type Schema = JsonSchema | boolean
export type Compile = (schema: Schema, pointer: string, depth: number) => Check
type Matcher = (text: string, run: Run) => boolean

interface Surroundings {
  pointer: string
  depth: number
  compile: Compile
  refer: (ref: string) => Check
  matcher: (source: string) => Matcher
}

/**
 * Gets its value, the schema around it, and the place; undefined if there is nothing to check. The metaschema has checked the
 * types.
 */
type Keyword = (rule: never, schema: SchemaObject, surroundings: Surroundings) => Check | undefined

const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A step of the engine costs a tenth of a unit of work. */
export function pattern(source: string): Matcher {
  if (source.length > longestPattern)
    throw new SchemaError(`a pattern has ${source.length} characters; at most ${longestPattern} are allowed`)
  try {
    const { stepsPerCharacter, test } = compilePattern(source)
    return (text, run) => {
      run.spend((text.length * stepsPerCharacter) / 10)
      return test(text)
    }
  } catch (cause) {
    throw new SchemaError(`the pattern "${source}" cannot be used; ${syntaxHint}`, { cause })
  }
}

/** The library's own expression takes quadratic time. */
const isUrl = (text: string) => /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text)

type FormatTest = { isNumber: boolean; test: (value: never) => boolean }
const formats = new Map<string, FormatTest>(
  Object.entries({ ...fullFormats, url: isUrl }).map(([name, format]) => {
    const rule = typeof format === 'object' && 'validate' in format ? format.validate : format
    const isNumber = typeof format === 'object' && 'type' in format && format.type === 'number'
    const test =
      typeof rule === 'function'
        ? (rule as (value: never) => boolean)
        : (value: string) => !(rule instanceof RegExp) || rule.test(value)
    return [name, { isNumber, test }]
  }),
)

const typeTests: Record<string, (value: unknown) => boolean> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  array: Array.isArray,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: Number.isInteger,
  string: (value) => typeof value === 'string',
}

/** The same text for equal values, whatever the order of their members. */
function canonical(value: unknown, run: Run): string {
  run.spend(1)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, run)).join(',')}]`
  if (!isObject(value)) {
    if (typeof value === 'string') run.spend(value.length / 16)
    return JSON.stringify(value) ?? 'null'
  }
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name], run)}`)
  return `{${members.join(',')}}`
}

const freely = { spend: () => undefined } as unknown as Run

/** A keyword with one rule for values of one type. */
function rule<V, R>(
  name: string,
  isMeant: (value: unknown) => boolean,
  holds: (value: V, rule: R, run: Run) => boolean,
  message: (rule: R) => string,
): [string, Keyword] {
  return [
    name,
    (wanted: R, _schema, { pointer }) => {
      const [path, text] = [`${pointer}/${name}`, message(wanted)]
      return (value, at, run) => {
        if (isMeant(value) && !holds(value as V, wanted, run)) run.report(at, value, name, path, text)
      }
    },
  ]
}

const isNumber = (value: unknown) => typeof value === 'number'
const isText = (value: unknown) => typeof value === 'string'

/** Code points, not UTF-16 units. */
function lengthOf(text: string, run: Run): number {
  run.spend(text.length / 16)
  let length = 0
  for (const _ of text) length += 1
  return length
}

const sizeOf = (object: SchemaObject, run: Run) => {
  const { length } = Object.keys(object)
  run.spend(length / 4)
  return length
}

const fewer = (what: string) => (limit: number) => `must NOT have fewer than ${limit} ${what}`
const more = (what: string) => (limit: number) => `must NOT have more than ${limit} ${what}`

const type: Keyword = (types: string | string[], schema, { pointer }) => {
  const names = [types].flat()
  const tests = names.map((name) => typeTests[name])
  if (schema.nullable === true) tests.push(typeTests.null)
  return (value, at, run) => {
    if (!tests.some((test) => test?.(value)))
      run.report(at, value, 'type', `${pointer}/type`, `must be ${names.join(',')}`)
  }
}

const format: Keyword = (name: string, _schema, { pointer }) => {
  const known = formats.get(name)
  if (!known) return undefined
  const message = `must match format "${name}"`
  return (value, at, run) => {
    if (typeof value !== (known.isNumber ? 'number' : 'string')) return
    if (typeof value === 'string') run.spend(value.length / 16)
    if (!known.test(value as never)) run.report(at, value, 'format', `${pointer}/format`, message)
  }
}

const matches: Keyword = (source: string, _schema, { pointer, matcher }) => {
  const test = matcher(source)
  const message = `must match pattern "${source}"`
  return (value, at, run) => {
    if (typeof value === 'string' && !test(value, run)) run.report(at, value, 'pattern', `${pointer}/pattern`, message)
  }
}

function oneOfValues(name: 'const' | 'enum', values: unknown[], pointer: string, message: string): Check {
  const allowed = new Set(values.map((value) => canonical(value, freely)))
  return (value, at, run) => {
    if (!allowed.has(canonical(value, run))) run.report(at, value, name, `${pointer}/${name}`, message)
  }
}

const constant: Keyword = (wanted: unknown, _schema, { pointer }) =>
  oneOfValues('const', [wanted], pointer, 'must be equal to constant')

const oneOfEnum: Keyword = (values: unknown[], _schema, { pointer }) =>
  oneOfValues('enum', values, pointer, 'must be equal to one of the allowed values')

/** The schemas in a list, each compiled. */
function each(name: string, schemas: Schema[], { pointer, depth, compile }: Surroundings): Check[] {
  return schemas.map((schema, i) => compile(schema, `${pointer}/${name}/${i}`, depth + 1))
}

const allOf: Keyword = (schemas: Schema[], _schema, surroundings) => {
  const checks = each('allOf', schemas, surroundings)
  return (value, at, run) => {
    for (const check of checks) check(value, at, run)
  }
}

const anyOf: Keyword = (schemas: Schema[], _schema, surroundings) => {
  const checks = each('anyOf', schemas, surroundings)
  const path = `${surroundings.pointer}/anyOf`
  return (value, at, run) => {
    const before = run.mark()
    if (checks.some((check) => run.passes(check, value, at))) run.forget(before)
    else run.report(at, value, 'anyOf', path, 'must match a schema in anyOf')
  }
}

const oneOf: Keyword = (schemas: Schema[], _schema, surroundings) => {
  const checks = each('oneOf', schemas, surroundings)
  const path = `${surroundings.pointer}/oneOf`
  return (value, at, run) => {
    const before = run.mark()
    const fitting = checks.filter((check) => run.passes(check, value, at)).length
    if (fitting === 1) run.forget(before)
    else run.report(at, value, 'oneOf', path, 'must match exactly one schema in oneOf')
  }
}

/** Whether a value is valid, without reporting problems. */
function fits(check: Check, value: unknown, at: Place, run: Run): boolean {
  const before = run.mark()
  const isFine = run.passes(check, value, at)
  run.forget(before)
  return isFine
}

const not: Keyword = (schema: Schema, _schema, { pointer, depth, compile }) => {
  const check = compile(schema, `${pointer}/not`, depth + 1)
  return (value, at, run) => {
    if (fits(check, value, at, run)) run.report(at, value, 'not', `${pointer}/not`, 'must NOT be valid')
  }
}

const conditional: Keyword = (condition: Schema, schema, { pointer, depth, compile }) => {
  const test = compile(condition, `${pointer}/if`, depth + 1)
  const branch = (name: 'then' | 'else') =>
    schema[name] === undefined ? undefined : compile(schema[name] as Schema, `${pointer}/${name}`, depth + 1)
  const [then, otherwise] = [branch('then'), branch('else')]
  if (!then && !otherwise) return undefined
  return (value, at, run) => {
    const isMet = fits(test, value, at, run)
    const before = run.mark()
    ;(isMet ? then : otherwise)?.(value, at, run)
    if (run.mark().failures > before.failures)
      run.report(at, value, 'if', `${pointer}/if`, `must match "${isMet ? 'then' : 'else'}" schema`)
  }
}

const reference: Keyword = (ref: string, _schema, { refer }) => refer(ref)

/** Draft 2020-12: the first items, each with a schema of its own; `items` is for the others. */
const prefixItems: Keyword = (rules: unknown, _schema, surroundings) => {
  if (!Array.isArray(rules)) throw new SchemaError(`${surroundings.pointer}/prefixItems must be an array`)
  const checks = each('prefixItems', rules.map(asSchema), surroundings)
  return (value, at, run) => {
    if (!Array.isArray(value)) return
    run.spend(checks.length / 4)
    for (const [i, check] of checks.entries()) if (i < value.length) check(value[i], { key: i, outer: at }, run)
  }
}

function asSchema(value: unknown): Schema {
  if (typeof value !== 'boolean' && !isObject(value)) throw new SchemaError('a schema must be an object or a boolean')
  return value as Schema
}

const items: Keyword = (rules: Schema | Schema[], schema, { pointer, depth, compile }) => {
  const path = `${pointer}/items`
  const { prefixItems } = schema
  const from = Array.isArray(prefixItems) && !Array.isArray(rules) ? prefixItems.length : 0
  if (from > 0 && rules === false)
    return (value, at, run) => {
      if (Array.isArray(value) && value.length > from) run.report(at, value, 'items', path, more('items')(from))
    }
  const first = Array.isArray(rules) ? rules.map((rule, i) => compile(rule, `${path}/${i}`, depth + 1)) : []
  const given = Array.isArray(rules) ? defaultsIn(Object.entries(rules)) : []
  const { additionalItems } = schema
  const rest = !Array.isArray(rules)
    ? compile(rules, path, depth + 1)
    : additionalItems === undefined || additionalItems === false
      ? undefined
      : compile(additionalItems as Schema, `${pointer}/additionalItems`, depth + 1)
  return (value, at, run) => {
    if (!Array.isArray(value)) return
    if (run.writesDefaults) writeDefaults(value, given, run)
    if (additionalItems === false && Array.isArray(rules) && value.length > rules.length)
      run.report(at, value, 'additionalItems', `${pointer}/additionalItems`, more('items')(rules.length))
    run.spend(value.length / 4)
    for (let i = from; i < value.length; i += 1) (first[i] ?? rest)?.(value[i], { key: i, outer: at }, run)
  }
}

const contains: Keyword = (schema: Schema, _schema, { pointer, depth, compile }) => {
  const check = compile(schema, `${pointer}/contains`, depth + 1)
  const message = 'must contain at least 1 valid item(s)'
  return (value, at, run) => {
    if (!Array.isArray(value)) return
    const before = run.mark()
    if (value.some((item, i) => run.passes(check, item, { key: i, outer: at }))) run.forget(before)
    else run.report(at, value, 'contains', `${pointer}/contains`, message)
  }
}

const uniqueItems: Keyword = (isWanted: boolean, _schema, { pointer }) => {
  if (!isWanted) return undefined
  return (value, at, run) => {
    if (!Array.isArray(value)) return
    const seen = new Map<string, number>()
    for (const [i, item] of value.entries()) {
      const text = canonical(item, run)
      const j = seen.get(text)
      seen.set(text, i)
      if (j === undefined) continue
      const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`
      run.report(at, value, 'uniqueItems', `${pointer}/uniqueItems`, message)
      return
    }
  }
}

const required: Keyword = (names: string[], _schema, { pointer }) => {
  return (value, at, run) => {
    if (!isObject(value)) return
    run.spend(names.length / 4)
    for (const name of names) {
      if (Object.hasOwn(value, name) && value[name] !== undefined) continue
      const message = `must have required property '${name}'`
      run.report(at, value, 'required', `${pointer}/required`, message, name)
    }
  }
}

const defaultOf = (schema: Schema): unknown => (isObject(schema) ? schema.default : undefined)

/** A default, and the cost of writing it. */
type Default = { name: string; value: unknown; cost: number }

const defaultsIn = (schemas: [string, Schema][]): Default[] =>
  schemas.flatMap(([name, schema]) => {
    const value = defaultOf(schema)
    return value === undefined ? [] : { name, value, cost: JSON.stringify(value).length / 4 }
  })

function writeDefaults(into: object, defaults: Default[], run: Run): void {
  const members = into as SchemaObject
  for (const { name, value, cost } of defaults) {
    if (Object.hasOwn(members, name) && members[name] !== undefined) continue
    run.spend(cost)
    const copy = typeof value === 'object' ? structuredClone(value) : value
    // Not by assignment: `__proto__` is a name like any other.
    Object.defineProperty(members, name, { value: copy, enumerable: true, writable: true, configurable: true })
  }
}

/** Before all other keywords: a property with a default is never missing. */
const defaults: Keyword = (rules: Record<string, Schema>) => {
  const given = defaultsIn(Object.entries(rules))
  if (given.length === 0) return undefined
  return (value, _at, run) => {
    if (isObject(value) && run.writesDefaults) writeDefaults(value, given, run)
  }
}

const properties: Keyword = (rules: Record<string, Schema>, _schema, { pointer, depth, compile }) => {
  const checks = new Map<string, Check>()
  for (const [name, schema] of Object.entries(rules))
    checks.set(name, compile(schema, `${pointer}/properties${fragmentOf([name])}`, depth + 1))
  return (value, at, run) => {
    if (!isObject(value)) return
    // Most objects have few of the properties that a schema knows.
    const names = Object.keys(value)
    run.spend(names.length / 4)
    for (const name of names)
      if (value[name] !== undefined) checks.get(name)?.(value[name], { key: name, outer: at }, run)
  }
}

const patternProperties: Keyword = (rules: Record<string, Schema>, _schema, { pointer, depth, compile, matcher }) => {
  const checks = Object.entries(rules).map(([source, schema]): [Matcher, Check] => [
    matcher(source),
    compile(schema, `${pointer}/patternProperties${fragmentOf([source])}`, depth + 1),
  ])
  return (value, at, run) => {
    if (!isObject(value)) return
    const names = Object.keys(value)
    run.spend((names.length * checks.length) / 4)
    for (const [test, check] of checks)
      for (const name of names) if (test(name, run)) check(value[name], { key: name, outer: at }, run)
  }
}

const additionalProperties: Keyword = (rule: Schema, schema, { pointer, depth, compile, matcher }) => {
  const named = new Set(Object.keys((schema.properties as object | undefined) ?? {}))
  const tests = Object.keys((schema.patternProperties as object | undefined) ?? {}).map(matcher)
  const path = `${pointer}/additionalProperties`
  const check = rule === false ? undefined : compile(rule, path, depth + 1)
  return (value, at, run) => {
    if (!isObject(value)) return
    const names = Object.keys(value)
    run.spend(names.length / 4)
    for (const name of names) {
      if (named.has(name) || tests.some((test) => test(name, run))) continue
      if (check) check(value[name], { key: name, outer: at }, run)
      else run.report(at, value, 'additionalProperties', path, 'must NOT have additional properties', name)
    }
  }
}

const propertyNames: Keyword = (schema: Schema, _schema, { pointer, depth, compile }) => {
  const path = `${pointer}/propertyNames`
  const check = compile(schema, path, depth + 1)
  return (value, at, run) => {
    if (!isObject(value)) return
    for (const name of Object.keys(value))
      if (!run.passes(check, name, at))
        run.report(at, value, 'propertyNames', path, 'property name must be valid', name)
  }
}

const dependencies: Keyword = (rules: Record<string, Schema | string[]>, _schema, { pointer, depth, compile }) => {
  const path = `${pointer}/dependencies`
  const checks = Object.entries(rules).map(([name, rule]): [string, Check] => [
    name,
    Array.isArray(rule)
      ? needs(name, rule, path, 'dependencies')
      : compile(rule, `${path}${fragmentOf([name])}`, depth + 1),
  ])
  return whereNamed(checks)
}

/** Draft 2020-12: one half of `dependencies`. */
const dependentRequired: Keyword = (rules: unknown, _schema, { pointer }) => {
  const path = `${pointer}/dependentRequired`
  const isList = (list: unknown) => Array.isArray(list) && list.every((each) => typeof each === 'string')
  if (!isObject(rules) || !Object.values(rules).every(isList))
    throw new SchemaError(`${path} must be an object of lists of names`)
  return whereNamed(
    Object.entries(rules).map(([name, others]) => [name, needs(name, others as string[], path, 'dependentRequired')]),
  )
}

/** The other half. */
const dependentSchemas: Keyword = (rules: unknown, _schema, { pointer, depth, compile }) => {
  const path = `${pointer}/dependentSchemas`
  if (!isObject(rules)) throw new SchemaError(`${path} must be an object of schemas`)
  return whereNamed(
    Object.entries(rules).map(([name, rule]) => [
      name,
      compile(asSchema(rule), `${path}${fragmentOf([name])}`, depth + 1),
    ]),
  )
}

/** Checks objects that have the named member. */
const whereNamed =
  (checks: [string, Check][]): Check =>
  (value, at, run) => {
    if (!isObject(value)) return
    run.spend(checks.length / 4)
    for (const [name, check] of checks)
      if (Object.hasOwn(value, name) && value[name] !== undefined) check(value, at, run)
  }

/** Of later drafts. Ignoring them would accept values that the author meant to refuse. */
const unsupported: Keyword = (_rule, _schema, { pointer }) => {
  throw new SchemaError(`${pointer} has a keyword of JSON Schema 2020-12 that is not supported: ${unsupportedNames}`)
}
const unsupportedNames =
  'minContains, maxContains, unevaluatedItems, unevaluatedProperties, $dynamicRef or $recursiveRef'

function needs(name: string, others: string[], path: string, keyword: string): Check {
  const list = others.join(', ')
  const message = `must have ${others.length === 1 ? 'property' : 'properties'} ${list} when property ${name} is present`
  return (value, at, run) => {
    const members = value as SchemaObject
    run.spend(others.length / 4)
    for (const other of others)
      if (!Object.hasOwn(members, other) || members[other] === undefined)
        run.report(at, value, keyword, path, message, other)
  }
}

/** In the order of checking. `defaults` handles the `default`s inside `properties`. */
export const keywords: readonly [string, Keyword][] = [
  ['properties', defaults],
  ['type', type],
  rule(
    'maximum',
    isNumber,
    (value: number, limit: number) => value <= limit,
    (limit) => `must be <= ${limit}`,
  ),
  rule(
    'minimum',
    isNumber,
    (value: number, limit: number) => value >= limit,
    (limit) => `must be >= ${limit}`,
  ),
  rule(
    'exclusiveMaximum',
    isNumber,
    (value: number, limit: number) => value < limit,
    (limit) => `must be < ${limit}`,
  ),
  rule(
    'exclusiveMinimum',
    isNumber,
    (value: number, limit: number) => value > limit,
    (limit) => `must be > ${limit}`,
  ),
  rule(
    'multipleOf',
    isNumber,
    (value: number, factor: number) => Number.isInteger(value / factor),
    (factor) => `must be multiple of ${factor}`,
  ),
  rule('maxLength', isText, (text: string, limit: number, run) => lengthOf(text, run) <= limit, more('characters')),
  rule('minLength', isText, (text: string, limit: number, run) => lengthOf(text, run) >= limit, fewer('characters')),
  ['pattern', matches],
  ['format', format],
  ['$ref', reference],
  ['const', constant],
  ['enum', oneOfEnum],
  ['not', not],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['allOf', allOf],
  ['if', conditional],
  rule('maxItems', Array.isArray, (list: unknown[], limit: number) => list.length <= limit, more('items')),
  rule('minItems', Array.isArray, (list: unknown[], limit: number) => list.length >= limit, fewer('items')),
  ['uniqueItems', uniqueItems],
  ['prefixItems', prefixItems],
  ['items', items],
  ['contains', contains],
  rule(
    'maxProperties',
    isObject,
    (of: SchemaObject, limit: number, run) => sizeOf(of, run) <= limit,
    more('properties'),
  ),
  rule(
    'minProperties',
    isObject,
    (of: SchemaObject, limit: number, run) => sizeOf(of, run) >= limit,
    fewer('properties'),
  ),
  ['required', required],
  ['propertyNames', propertyNames],
  ['additionalProperties', additionalProperties],
  ['dependencies', dependencies],
  ['dependentRequired', dependentRequired],
  ['dependentSchemas', dependentSchemas],
  ...unsupportedNames.split(/, | or /).map((name): [string, Keyword] => [name, unsupported]),
  ['properties', properties],
  ['patternProperties', patternProperties],
]
