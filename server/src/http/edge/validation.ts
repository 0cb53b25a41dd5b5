// Validates requests against their route's schema, and words the problems.
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { subscriberFormats } from '../../db/core/subscriber-fields.ts'
import { fail, type RequestError } from '../../errors.ts'
import { supportedLocale } from './locales.ts'
import type { PerField, Texts } from './schema.ts'

const mostMessages = 50
const mostErrors = 1_000
/** For a request with more values than this only the first problem is reported: the whole list could fill the memory. */
const mostValues = 10_000

/** Schema keywords for this file only, left out of the API description. */
export const ownKeywords = ['texts', 'perField', 'zeroIsAbsent']

const ajvOptions = {
  verbose: true,
  allowUnionTypes: true,
  keywords: [...ownKeywords, 'example'],
}
const bodies = checks({})
const texts = checks({ useDefaults: true })

interface Checks {
  /** Stops at the first problem, so that refusing costs no more than accepting. Drops unknown members. */
  first: Ajv
  /** Finds all problems for the error. Drops nothing: a member unknown to one branch of a union may belong to another. */
  all: Ajv
}

function checks(options: Options): Checks {
  const all = new Ajv({ ...ajvOptions, allErrors: true })
  all.removeKeyword('additionalProperties').addKeyword('additionalProperties')
  return { first: withFormats(new Ajv({ ...ajvOptions, ...options, removeAdditional: true })), all: withFormats(all) }
}

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return checker(schema, bodies)
  const check = checker(schema, texts)
  const properties = Object.entries((schema as Annotated).properties ?? {})
  return (data: Record<string, unknown>) => {
    for (const [name, property] of properties) {
      if (data[name] === undefined) continue
      data[name] = readText(data[name], property)
      if (property.zeroIsAbsent && data[name] === 0) delete data[name]
    }
    return check(data)
  }
}

const decimal = /^-?\d{1,15}(\.\d{1,15})?$/

/** Parses query and path values, which arrive as text, by their schema's type. Unparsable text stays text. */
function readText(value: unknown, { type, items = {} }: Annotated): unknown {
  switch (type) {
    case 'boolean':
      // Only `true` is true; any other given value is false.
      return value === 'true'
    case 'integer':
    case 'number':
      return typeof value === 'string' && decimal.test(value) ? Number(value) : value
    case 'array':
      // A single value is a list of one.
      return [value].flat().map((item) => readText(item, items))
    default:
      return value
  }
}

function checker(schema: TSchema, { first, all }: Checks) {
  let isValid: ValidateFunction | undefined
  let findAll: ValidateFunction | undefined
  return (data: unknown) => {
    // Compiled when it is needed: all of them would be half of the start time.
    isValid ??= first.compile(schema)
    if (isValid(data)) return { value: data }
    const [problem] = isValid.errors ?? []
    if (problem && countValues(data, mostValues) >= mostValues) return { error: describe([problem], data) }
    findAll ??= all.compile(schema)
    findAll(data)
    return { error: describe(findAll.errors ?? isValid.errors ?? [], data) }
  }
}

/** Counts all values, up to `most`. */
function countValues(data: unknown, most: number): number {
  const found: unknown[] = [data]
  for (let i = 0; i < found.length && found.length < most; i += 1) {
    const value = found[i]
    if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) found.push(member)
  }
  return found.length
}

/** All problems in one error: per field when the schema says so for each of them, else as one general list. */
function describe(errors: ErrorObject[], data: unknown): RequestError {
  const problems = withoutEchoes(errors.slice(0, mostErrors)).map(problemOf)
  const perField = problems[0]?.perField
  if (perField !== undefined && problems.every((problem) => problem.perField !== undefined)) {
    const { command, under } = perField
    const fields = new Map<string, string[]>()
    for (const problem of problems) {
      const field = under === undefined ? problem.field : `${under}.${problem.field}`
      fields.set(field, [...(fields.get(field) ?? []), problem.message])
    }
    const listed = Object.fromEntries([...fields].slice(0, mostMessages))
    return fieldError(command, listed, under === undefined ? data : { [under]: data })
  }
  return generalError([...new Set(problems.map((problem) => problem.message))].slice(0, mostMessages))
}

/**
 * A failed union reports the problems of every branch and its own. If the value is clearly meant for one branch, keep that
 * branch's problems; otherwise only that it fits none.
 */
function withoutEchoes(errors: ErrorObject[]): ErrorObject[] {
  let kept = errors
  for (const union of errors.filter(({ keyword }) => keyword === 'anyOf')) {
    const inside = kept.filter((error) => isInside(error, union))
    const branchOf = ({ schemaPath }: ErrorObject) => schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0]
    const others = new Set(inside.filter((error) => isOtherKind(error, union)).map(branchOf))
    const meant = inside.filter((error) => !others.has(branchOf(error)))
    const isClear = new Set(meant.map(branchOf)).size === 1
    const dropped = new Set(isClear ? [union, ...inside.filter((error) => !meant.includes(error))] : inside)
    kept = kept.filter((error) => !dropped.has(error))
  }
  return kept
}

const isInside = ({ schemaPath, instancePath }: ErrorObject, union: ErrorObject) =>
  schemaPath.startsWith(`${union.schemaPath}/`) && `${instancePath}/`.startsWith(`${union.instancePath}/`)

/** The value has another type than this branch, or another of the constants that tell branches apart. */
function isOtherKind({ keyword, instancePath }: ErrorObject, union: ErrorObject): boolean {
  return keyword === 'const' || (keyword === 'type' && instancePath === union.instancePath)
}

export function generalError(messages: string[]): RequestError {
  return fail('validation', undefined, { ctx: { errors: { general: { messages, value: 'No Value Recorded' } } } })
}

export function fieldError(command: string, fields: Record<string, string[]>, data: unknown): RequestError {
  const errors: Record<string, unknown> = {}
  for (const [field, messages] of Object.entries(fields)) {
    const value = field
      .split('.')
      .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], data)
    errors[field] = { messages, value }
  }
  return fail('field_validation', { command, fields }, { ctx: { errors } })
}

interface Problem {
  field: string
  message: string
  perField: PerField | undefined
}

function problemOf(error: ErrorObject): Problem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const rules = error.parentSchema as Annotated
  const missing = error.keyword === 'required' ? String(error.params.missingProperty) : undefined
  const property: Annotated = missing === undefined ? rules : (rules.properties?.[missing] ?? {})
  if (missing !== undefined) path.push(missing)
  // A rule for all items is reported for the list.
  const isItem = missing === undefined && /(?<!\/properties)\/items\/[^/]+$/.test(error.schemaPath)
  const field = (isItem ? path.slice(0, -1) : path).join('.') || 'body'
  const subject = isItem ? `each value in ${field}` : field
  const own = property.texts?.[error.keyword as keyof Texts]
  // A message that starts with a capital stands alone; any other continues "<field> …".
  const message =
    own === undefined ? `${subject} ${ruleOf(error, property)}` : /^[A-Z]/.test(own) ? own : `${subject} ${own}`
  const { perField } = property
  return { field, message, perField: (perField?.rules?.includes(error.keyword) ?? true) ? perField : undefined }
}

interface Annotated {
  texts?: Texts
  perField?: PerField
  zeroIsAbsent?: boolean
  type?: string | string[]
  const?: unknown
  properties?: Record<string, Annotated>
  items?: Annotated
}

const typeTexts: Record<string, string> = {
  string: 'must be a string',
  number: 'must be a number conforming to the specified constraints',
  integer: 'must be a number conforming to the specified constraints',
  boolean: 'must be a boolean value',
  object: 'must be an object',
  array: 'must be an array',
}

const formatTexts: Record<string, string> = {
  email: 'must be an email',
  locale: 'must be locale',
  timezone: 'must be a valid IANA time-zone',
  'hex-color': 'must be a hexadecimal color',
  'date-time': 'must be a valid ISO 8601 date string',
}

function ruleOf(error: ErrorObject, property: Annotated): string {
  const { limit, type, allowedValues, format } = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required':
      return property.type === 'string' ? 'should not be empty' : 'should not be null or undefined'
    case 'type':
      return typeText(type as string | string[]) ?? 'has a value of the wrong type'
    case 'enum':
      return oneOf(allowedValues as unknown[])
    case 'anyOf':
      return unionText(error.schema as Annotated[])
    case 'format':
      return formatTexts[String(format)] ?? `must be a ${String(format)}`
    case 'minLength':
      return limit === 1 ? 'should not be empty' : `must be longer than or equal to ${String(limit)} characters`
    case 'maxLength':
      return `must be shorter than or equal to ${String(limit)} characters`
    case 'minItems':
      return limit === 1 ? 'should not be empty' : `must contain at least ${String(limit)} elements`
    case 'maxItems':
      return `must contain no more than ${String(limit)} elements`
    case 'minimum':
      return `must not be less than ${String(limit)}`
    case 'maximum':
      return `must not be greater than ${String(limit)}`
    case 'uniqueItems':
      return 'must contain no duplicates'
    default:
      return error.message ?? 'is invalid'
  }
}

const oneOf = (values: unknown[]) => `must be one of the following values: ${values.join(', ')}`

const typeText = (type: string | string[] | undefined) => typeTexts[String([type].flat()[0])]

function unionText(branches: Annotated[]): string {
  if (branches.every((branch) => branch.const !== undefined)) return oneOf(branches.map((branch) => branch.const))
  const kinds = branches.map(({ type }) => typeText(type)?.replace('must be ', '')).filter((kind) => kind !== undefined)
  return kinds.length === 0 ? 'has a value of the wrong type' : `must be ${[...new Set(kinds)].join(' or ')}`
}

function withFormats(ajv: Ajv): Ajv {
  ajv.addFormat('email', subscriberFormats.email)
  ajv.addFormat('locale', subscriberFormats.locale)
  ajv.addFormat('supported-locale', (value: string) => supportedLocale(value) !== undefined)
  ajv.addFormat('timezone', subscriberFormats.timezone)
  ajv.addFormat('hex-color', /^#?([0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})$/i)
  const isoDate = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/
  ajv.addFormat('date-time', (value: string) => isoDate.test(value) && !Number.isNaN(Date.parse(value)))
  return ajv
}
