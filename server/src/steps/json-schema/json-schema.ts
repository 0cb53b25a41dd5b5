// JSON Schemas (draft 07, with the common keywords of 2020-12) written by callers, for payloads and for the controls of code-first steps. A schema becomes closures,
// and checking a value draws on a budget: no schema and no value can block the process. Ajv, which checks requests against our
// own schemas, needs 300 to 870 ms of CPU time for 54 KB of references, where these closures need 30 to 70; it has no limit for
// references that multiply, and would generate code from what callers send. A test compares the two.
import metaschema from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' }
import { Cache } from '../../render/cache.ts'
import { type Compile, keywords, pattern, type SchemaObject } from './keywords.ts'
import { type Check, fragmentOf, type JsonSchema, type Problem, Run, SchemaError } from './run.ts'

/** As JSON text. */
export const longestSchema = 64 * 1024
const mostSubschemas = 5_000
const mostPatterns = 200
const deepest = 64

/** Reports the problems of a value, at most 50. Writes the schema's defaults into the value. */
export type Checker = (value: unknown) => Problem[]

// Closures are some ten times as large as their source text.
const compiled = new Cache<Checker>(4 * 1024 * 1024)
const known = new WeakMap<object, Checker>()

/** Throws a SchemaError if it is not a schema, too large, or has a pattern that cannot run in linear time. */
export function compileSchema(schema: JsonSchema): Checker {
  const remembered = known.get(schema)
  if (remembered) return remembered
  const text = JSON.stringify(schema)
  if (text.length > longestSchema)
    throw new SchemaError(`it has ${text.length} characters; at most ${longestSchema} are allowed`)
  const checker = compiled.get(text, () => {
    const [wrong] = metaChecker()(schema)
    if (wrong) throw new SchemaError(`#${fragmentOf(wrong.path)} ${wrong.message}`)
    return compile(schema)
  })
  known.set(schema, checker)
  return checker
}

const own = new WeakMap<object, Checker>()

/** For schemas of this program. Does not change the value. */
export function compileOwnSchema(schema: JsonSchema): Checker {
  const checker = own.get(schema) ?? compile(schema, { isReadOnly: true })
  own.set(schema, checker)
  return checker
}

const metaChecker = (): Checker => compileOwnSchema(metaschema as JsonSchema)

function compile(root: JsonSchema, options = { isReadOnly: false }): Checker {
  const targets = new Map<string, Check>()
  const pending = new Map<string, JsonSchema | boolean>()
  const patterns = new Map<string, ReturnType<typeof pattern>>()
  let count = 0

  const compileAt: Compile = (schema, pointer, depth) => {
    count += 1
    if (count > mostSubschemas) throw new SchemaError(`it has more than ${mostSubschemas} subschemas`)
    if (depth > deepest) throw new SchemaError(`it is nested deeper than ${deepest} levels`)
    if (schema === true) return () => undefined
    if (schema === false)
      return (value, at, run) =>
        run.report(at, value, 'false schema', `${pointer}/false schema`, 'boolean schema is false')
    const object: SchemaObject = schema
    const surroundings = { pointer, depth, compile: compileAt, refer, matcher }
    const checks: Check[] = []
    for (const [name, keyword] of keywords) {
      const check = Object.hasOwn(object, name) ? keyword(object[name] as never, object, surroundings) : undefined
      if (check) checks.push(check)
    }
    return (value, at, run) => {
      run.enter()
      for (const check of checks) check(value, at, run)
      run.leave()
    }
  }

  /** The target is compiled later: it may be the schema being compiled. */
  const refer = (ref: string): Check => {
    const { schema, pointer } = resolve(root, ref)
    if (!targets.has(pointer)) pending.set(pointer, schema)
    return (value, at, run) => targets.get(pointer)?.(value, at, run)
  }

  const matcher = (source: string) => {
    const made = patterns.get(source) ?? pattern(source)
    patterns.set(source, made)
    if (patterns.size > mostPatterns) throw new SchemaError(`it has more than ${mostPatterns} patterns`)
    return made
  }

  const check = compileAt(root, '#', 0)
  targets.set('#', check)
  for (const [pointer, schema] of pending)
    if (!targets.has(pointer)) targets.set(pointer, compileAt(schema, pointer, 0))
  return (value) => {
    const run = new Run(options)
    check(value, undefined, run)
    return run.problems
  }
}

const single = new Set('additionalItems additionalProperties contains else if items not propertyNames then'.split(' '))
const lists = new Set('allOf anyOf items oneOf prefixItems'.split(' '))
const maps = new Set('$defs definitions dependencies dependentSchemas patternProperties properties'.split(' '))

/** The target of a `$ref`: only places that hold schemas, within this schema. */
export function resolve(root: JsonSchema, ref: string): { schema: JsonSchema | boolean; pointer: string } {
  const broken = new SchemaError(`the reference "${ref.slice(0, 200)}" does not resolve in this schema`)
  if (!ref.startsWith('#')) throw broken
  let segments: string[]
  try {
    segments = decodeURIComponent(ref.slice(1)).split('/').slice(1).map(unescapePointer)
  } catch {
    throw broken
  }
  let at: unknown = root
  for (let i = 0; i < segments.length; i += 1) {
    const keyword = segments[i] ?? ''
    at = memberOf(at, keyword)
    const isSchema = single.has(keyword) && !Array.isArray(at)
    if (isSchema) continue
    if (!maps.has(keyword) && !lists.has(keyword)) throw broken
    i += 1
    at = memberOf(at, segments[i] ?? '')
    if (Array.isArray(at)) throw broken
  }
  if (typeof at !== 'boolean' && (typeof at !== 'object' || at === null)) throw broken
  return { schema: at as JsonSchema | boolean, pointer: `#${fragmentOf(segments)}` }
}

/** The values of the enum that a problem is about, if few enough to read. */
export function allowedValues(root: JsonSchema, { schemaPath }: Pick<Problem, 'schemaPath'>): string | undefined {
  try {
    const { schema: at } = resolve(root, schemaPath.replace(/\/enum$/, ''))
    const values = typeof at === 'object' ? at.enum : undefined
    if (!Array.isArray(values) || values.length > 20) return undefined
    const text = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ')
    return text.length > 200 ? undefined : text
  } catch (error) {
    if (error instanceof SchemaError) return undefined
    throw error
  }
}

const memberOf = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null && Object.hasOwn(of, name) ? (of as SchemaObject)[name] : undefined

const unescapePointer = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~')
