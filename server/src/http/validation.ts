// Checks requests against their route's schema and words what is wrong with them.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { fail, type RequestError } from '../errors.ts'
import type { PerField, Texts } from './schema.ts'

const mostMessages = 50

const ajvOptions = {
  allErrors: true,
  useDefaults: true,
  removeAdditional: true,
  verbose: true,
  allowUnionTypes: true,
  keywords: ['texts', 'perField', 'zeroIsAbsent', 'example'],
}
const bodies = withFormats(new Ajv({ ...ajvOptions, useDefaults: false }))
// Query and path arrive as text: numbers are read from it, and a single value stands for a list of one.
const texts = withFormats(new Ajv({ ...ajvOptions, coerceTypes: 'array' }))

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return checker(bodies.compile(schema))
  const check = checker(texts.compile(schema))
  const properties = Object.entries((schema as { properties?: Record<string, Annotated> }).properties ?? {})
  const booleans = properties.filter(([, property]) => property.type === 'boolean').map(([name]) => name)
  const zeroable = properties.filter(([, property]) => property.zeroIsAbsent).map(([name]) => name)
  return (data: Record<string, unknown>) => {
    // Only the word `true` is true; any other value that is given is false.
    for (const name of booleans) if (data[name] !== undefined) data[name] = data[name] === 'true'
    for (const name of zeroable) if (data[name] === '0') delete data[name]
    return check(data)
  }
}

function checker(validate: ValidateFunction) {
  return (data: unknown) => (validate(data) ? { value: data } : { error: describe(validate.errors ?? [], data) })
}

/** All problems in one error: per field when the schema says so for each of them, else as one general list. */
function describe(errors: ErrorObject[], data: unknown): RequestError {
  const problems = errors
    .filter((error) => !isEcho(error, errors))
    .slice(0, mostMessages)
    .map(problemOf)
  const command = problems[0]?.command
  if (command !== undefined && problems.every((problem) => problem.command !== undefined)) {
    const fields: Record<string, string[]> = {}
    for (const { field, message } of problems) fields[field] = [...(fields[field] ?? []), message]
    return fieldError(command, fields, data)
  }
  return generalError([...new Set(problems.map((problem) => problem.message))])
}

/** A branch of a union that failed only repeats what the union itself reports. */
function isEcho(error: ErrorObject, all: ErrorObject[]): boolean {
  return all.some(
    (other) => other.keyword === 'anyOf' && other !== error && error.schemaPath.startsWith(`${other.schemaPath}/`),
  )
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
  command: string | undefined
}

function problemOf(error: ErrorObject): Problem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const rules = error.parentSchema as { properties?: Record<string, Annotated> } & Annotated
  const missing = error.keyword === 'required' ? String(error.params.missingProperty) : undefined
  const property: Annotated = missing === undefined ? rules : (rules.properties?.[missing] ?? {})
  const field = [...path, ...(missing === undefined ? [] : [missing])].join('.') || 'body'
  const own = property.texts?.[error.keyword as keyof Texts]
  // A sentence of its own starts with a capital; anything else continues "<field> …".
  const message =
    own === undefined ? `${field} ${ruleOf(error, property)}` : /^[A-Z]/.test(own) ? own : `${field} ${own}`
  const { perField } = property
  const command = perField && (perField.rules?.includes(error.keyword) ?? true) ? perField.command : undefined
  return { field, message, command }
}

interface Annotated {
  texts?: Texts
  perField?: PerField
  zeroIsAbsent?: boolean
  type?: string | string[]
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
}

function ruleOf(error: ErrorObject, property: Annotated): string {
  const { limit, type, allowedValues, format } = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required':
      return property.type === 'string' ? 'should not be empty' : 'should not be null or undefined'
    case 'type':
      return typeTexts[String([type].flat()[0])] ?? 'has a value of the wrong type'
    case 'enum':
      return `must be one of the following values: ${(allowedValues as unknown[]).join(', ')}`
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

function withFormats(ajv: Ajv): Ajv {
  const email = /^[^\s@"(),:;<>[\\\]]+@[^\s@.]+(\.[^\s@.]+)+$/
  ajv.addFormat('email', (value: string) => value.length <= 320 && email.test(value))
  ajv.addFormat('locale', isLocale)
  ajv.addFormat('timezone', isTimeZone)
  ajv.addFormat('hex-color', /^#?([0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})$/i)
  ajv.addFormat('date-time', (value: string) => !Number.isNaN(Date.parse(value)))
  return ajv
}

function isLocale(value: string): boolean {
  try {
    return /^[A-Za-z]{2,3}([_-]|$)/.test(value) && Intl.getCanonicalLocales(value.replaceAll('_', '-')).length === 1
  } catch {
    return false
  }
}

function isTimeZone(value: string): boolean {
  try {
    // Offsets such as +02:00 are taken by Intl too, but they are no zone.
    return (
      /^[A-Za-z]/.test(value) && new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
    )
  } catch {
    return false
  }
}
