// An example payload that fits a schema, for previews and first triggers. The same schema gives the same example, except for
// dates. It works within a budget: a schema may refer to itself or describe a million values.
import { resolve } from '../../steps/json-schema/json-schema.ts'
import { type JsonSchema, SchemaError } from '../../steps/json-schema/run.ts'

type Schema = JsonSchema | boolean
const mostValues = 2_000
const deepest = 12
const mostItems = 3
const longestText = 1_000

export function examplePayload(schema: JsonSchema, now: Date): Record<string, unknown> {
  const example = new Example(schema, now).of(schema, 'payload', 0)
  return isObject(example) ? example : {}
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

class Example {
  readonly #root: JsonSchema
  readonly #now: Date
  #left = mostValues

  constructor(root: JsonSchema, now: Date) {
    this.#root = root
    this.#now = now
  }

  /** Undefined if the schema says nothing, or the budget is used up. */
  of(given: Schema, name: string, depth: number): unknown {
    if (!isObject(given) || depth > deepest || this.#left <= 0) return undefined
    this.#left -= 1
    const chosen = chosenValue(given)
    if (chosen !== undefined) return structuredClone(chosen)
    const { $ref, anyOf, oneOf, allOf } = given
    if (typeof $ref === 'string') return this.#referred($ref, name, depth)
    const branches = [anyOf, oneOf].find(Array.isArray) as Schema[] | undefined
    if (branches) {
      const branch = branches.find((each) => isObject(each) && typeOf(each) !== 'null')
      return merge(this.#plain(given, name, depth), this.of(branch ?? false, name, depth + 1))
    }
    if (Array.isArray(allOf)) {
      const parts = allOf.map((part) => this.of(part, name, depth + 1))
      return [this.#plain(given, name, depth), ...parts].reduce(merge)
    }
    return this.#plain(given, name, depth)
  }

  #referred(ref: string, name: string, depth: number): unknown {
    try {
      return this.of(resolve(this.#root, ref).schema, name, depth + 1)
    } catch (error) {
      if (error instanceof SchemaError) return undefined
      throw error
    }
  }

  #plain(schema: JsonSchema, name: string, depth: number): unknown {
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return this.#array(schema, name, depth)
      case 'number':
      case 'integer':
        return exampleNumber(schema, name)
      case 'boolean':
        return !/disabled|deleted|archived|hidden/i.test(name)
      case 'null':
        return null
      case 'string':
        return exampleText(schema, name, this.#now)
      default:
        // Only other keywords describe it.
        return schema.anyOf || schema.oneOf || schema.allOf ? undefined : exampleText(schema, name, this.#now)
    }
  }

  #object({ properties }: JsonSchema, depth: number): Record<string, unknown> {
    const example: Record<string, unknown> = {}
    if (!isObject(properties)) return example
    for (const [name, schema] of Object.entries(properties)) {
      const value = this.of(schema as Schema, name, depth + 1)
      if (value !== undefined && name !== '__proto__') example[name] = value
    }
    return example
  }

  #array({ items, minItems }: JsonSchema, name: string, depth: number): unknown[] {
    const count = Math.min(Math.max(Number(minItems ?? 1) || 1, 1), mostItems)
    const schemas: Schema[] = Array.isArray(items)
      ? items.slice(0, mostItems)
      : Array.from({ length: count }, () => (items ?? {}) as Schema)
    return schemas.map((schema) => this.of(schema, name, depth + 1)).filter((value) => value !== undefined)
  }
}

/** What the schema itself suggests. */
function chosenValue(schema: JsonSchema): unknown {
  const { default: preset, examples, const: only, enum: values } = schema
  if (preset !== undefined) return preset
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (only !== undefined) return only
  return Array.isArray(values) ? (values.find((value) => value !== null) ?? null) : undefined
}

function typeOf(schema: JsonSchema): string | undefined {
  const types = [schema.type].flat().filter((type): type is string => typeof type === 'string')
  const type = types.find((each) => each !== 'null') ?? types[0]
  if (type !== undefined) return type
  if (isObject(schema.properties)) return 'object'
  return schema.items === undefined ? undefined : 'array'
}

function merge(first: unknown, second: unknown): unknown {
  if (isObject(first) && isObject(second)) return { ...first, ...second }
  return first === undefined || isObject(second) ? second : first
}

/** By a word in the property's name; the first match wins. */
const textsByName: [RegExp, string][] = [
  [/e-?mail/, 'user@example.com'],
  [/image|avatar|photo|picture|logo|icon/, 'https://example.com/image.png'],
  [/url|uri|link|site|domain|href/, 'https://example.com'],
  [/first_?name|given_?name/, 'John'],
  [/last_?name|sur_?name|family_?name/, 'Doe'],
  [/user_?name|login|handle/, 'john.doe'],
  [/job_?title|position|role/, 'Software Engineer'],
  [/address|street/, '123 Main Street'],
  [/city|town/, 'San Francisco'],
  [/country/, 'United States'],
  [/zip|postal|postcode/, '94105'],
  [/phone|mobile|fax/, '+1234567890'],
  [/company|organi[sz]ation|business/, 'Acme Inc.'],
  [/department|team/, 'Engineering'],
  [/description|summary|bio/, 'This is an example description'],
  [/message|body|text|content|comment|note/, 'This is an example message'],
  [/subject|title|headline/, 'Example title'],
  [/file|document|attachment/, 'document.pdf'],
  [/status/, 'active'],
  [/state|province|region/, 'California'],
  [/color|colour/, '#3366ff'],
  [/currency/, 'USD'],
  [/price|amount|cost|total/, '99.99'],
  [/language|locale/, 'en_US'],
  [/version/, '1.0.0'],
  [/timezone|time_zone/, 'America/New_York'],
  [/type|category|kind/, 'standard'],
  [/name/, 'John Doe'],
]

function exampleText(schema: JsonSchema, name: string, now: Date): string {
  const [day = '', time = ''] = now.toISOString().split('T')
  const byFormat: Record<string, string> = {
    email: 'user@example.com',
    uri: 'https://example.com',
    url: 'https://example.com',
    'uri-reference': '/example',
    hostname: 'example.com',
    ipv4: '192.0.2.1',
    ipv6: '2001:db8::1',
    'date-time': now.toISOString(),
    date: day,
    time,
    uuid: '123e4567-e89b-42d3-a456-426614174000',
  }
  const format = typeof schema.format === 'string' ? byFormat[schema.format] : undefined
  return format ?? ofLength(textByName(name.toLowerCase(), now), schema)
}

function textByName(name: string, now: Date): string {
  const known = textsByName.find(([words]) => words.test(name))?.[1]
  if (known !== undefined) return known
  if (/date|time|_at$|expir|deadline/.test(name)) return now.toISOString()
  return /id$|^id|key|token|code|number/.test(name) ? '123456' : 'example text'
}

function ofLength(text: string, { minLength, maxLength }: JsonSchema): string {
  const least = Math.min(Number(minLength ?? 0) || 0, longestText)
  const most = typeof maxLength === 'number' ? maxLength : longestText
  return text.padEnd(least, ` ${text}`).slice(0, Math.max(most, 0))
}

const numbersByName: [RegExp, number, number][] = [
  [/\bage\b|_age|^age/, 25, 25],
  [/percent|rate|discount/, 15, 15],
  [/count|quantity|qty/, 5, 5],
  [/price|amount|cost|total/, 99, 99.99],
  [/size|width|height|length|weight/, 100, 100.5],
]

function exampleNumber(schema: JsonSchema, name: string): number {
  const isInteger = typeOf(schema) === 'integer'
  const bound = (value: unknown) => (typeof value === 'number' ? value : undefined)
  const step = isInteger ? 1 : 0.5
  const least = bound(schema.minimum) ?? plus(bound(schema.exclusiveMinimum), step)
  const most = bound(schema.maximum) ?? plus(bound(schema.exclusiveMaximum), -step)
  const byName = numbersByName.find(([words]) => words.test(name.toLowerCase()))
  const usual = byName ? byName[isInteger ? 1 : 2] : isInteger ? 42 : 42.5
  const middle = least !== undefined && most !== undefined ? (least + most) / 2 : clamp(usual, least, most)
  const factor = bound(schema.multipleOf)
  const number = factor ? Math.ceil((least ?? 0) / factor) * factor || factor : isInteger ? Math.floor(middle) : middle
  return Number.isFinite(number) ? number : usual
}

const plus = (value: number | undefined, step: number) => (value === undefined ? undefined : value + step)
const clamp = (value: number, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY) =>
  Math.min(Math.max(value, least), most)
