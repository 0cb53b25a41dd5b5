// Generates requests from an operation's schema: valid, nearly valid, and garbage.
import fc from 'fast-check'
import type { JsonSchema, Operation } from './openapi.ts'
import { knownFor, type Planted } from './planted.ts'

export interface MadeUp {
  url: string
  /** As sent; undefined means no body. */
  body: string | undefined
  headers: Record<string, string>
  /** An index into a list of callers; the first is the one the operation is for. */
  caller: number
}

/** Existing ids by parameter or member name. The names stay, the ids may change. */
type Known = () => Planted['ids']

const odd = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...['', ' ', 'a', 'x'.repeat(300), 'x'.repeat(1_900), '%', "'; DROP TABLE x", '\\', '../..', 'null', '{{x}}'],
      ...['0', '-1', '1e9', '9'.repeat(30), 'true', '😀', '\u202e', 'constructor', '[object Object]', 'a:b', 'ada:ada'],
      ...['65f0c0ffee65f0c0ffee65f0', '2026-05-01T10:00:00.000Z', 'javascript:alert(1)', '=1+1', 'a\r\nb: c'],
      ...['http://127.0.0.1:1/x', 'http://[::ffff:7f00:1]/', '{% for x in (1..9) %}{{x}}{% endfor %}', '__proto__'],
    ),
  },
)
/** Made once: that takes longer than to draw a value. */
const anything = fc.jsonValue({ maxDepth: 3 })
const wellKnown = ['ada', 'welcome', 'en_US', 'GREETING']
const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...wellKnown) }, { weight: 3, arbitrary: odd })

const sound: Record<string, fc.Arbitrary<unknown>> = {
  email: fc.constantFrom('ada@example.com', 'ü@example.com'),
  locale: fc.constantFrom('en', 'en_US', 'zh-Hans-CN'),
  'supported-locale': fc.constantFrom('en_US', 'fr-FR', 'de_DE'),
  timezone: fc.constantFrom('Europe/Berlin', 'utc'),
  'hex-color': fc.constantFrom('#fff', '#12345678'),
  'date-time': fc.constantFrom('2026-05-01T10:00:00.000Z', '2026-05-02', '2027-01-01T00:00:00+02:00'),
}

/** A request with one of the callers: the rightful one, a member, or a stranger. */
export function requestFor(operation: Operation, known: Known, callers: number): fc.Arbitrary<MadeUp> {
  const { path, parameters, body, form } = operation
  const schemas = new Schemas(known)
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const values = fc.tuple(...inPath.map((parameter) => schemas.place(path, parameter)))
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const asked = inQuery.map((parameter) => {
    const { items = parameter.schema } = parameter.schema
    const value = fc.oneof(
      { weight: 3, arbitrary: schemas.named(parameter.name, items, true) },
      { weight: 1, arbitrary: odd },
    )
    return fc.tuple(fc.constant(parameter.name), value)
  })
  const pairs = fc.array(
    fc.oneof({ weight: 1, arbitrary: fc.tuple(odd, odd) }, ...asked.map((one) => ({ weight: 4, arbitrary: one }))),
    { maxLength: 3 },
  )
  const query = fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 2, arbitrary: pairs })
  const url = fc.tuple(values, query).map(([given, list]) => {
    const place = inPath.reduce(
      (done, { name: key }, i) => done.replace(`{${key}}`, encodeURIComponent(given[i] ?? '')),
      path,
    )
    const text = list.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`)
    return text.length === 0 ? place : `${place}?${text.join('&')}`
  })
  const sent = form ? schemas.form(form) : body ? schemas.body(body) : fc.constant({ text: undefined, type: undefined })
  const others = fc.integer({ min: 1, max: callers - 1 })
  const caller = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: others })
  const key = fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('once', 'twice', 'k'.repeat(256)) },
  )
  return fc
    .record({ url, sent, caller, key })
    .map(({ url: to, sent: { text, type }, caller: by, key: idempotency }) => ({
      url: to,
      body: text,
      headers: {
        ...(text === undefined ? {} : { 'content-type': type ?? 'application/json' }),
        ...(idempotency === undefined ? {} : { 'idempotency-key': idempotency }),
      },
      caller: by,
    }))
}

/** Bodies that the schema accepts. */
export const bodyFor = ({ body = {} }: Operation, known: Known): fc.Arbitrary<unknown> =>
  new Schemas(known).fitting(body)

interface Sent {
  text: string | undefined
  type: string | undefined
}

type Maker = (schema: JsonSchema, name?: string) => fc.Arbitrary<unknown>

class Schemas {
  readonly #known: Known

  constructor(known: Known) {
    this.#known = known
  }

  /** An existing id for that name, if there is one. */
  #there(key: string, path = ''): fc.Arbitrary<string> | undefined {
    if (knownFor(this.#known(), path, key) === undefined) return undefined
    return fc.nat({ max: 999 }).map((index) => {
      const list = knownFor(this.#known(), path, key) ?? ['']
      return list[index % list.length] ?? list[0]
    })
  }

  /** For a path parameter: never empty, which would be another path. */
  place(path: string, { name: key, schema }: Operation['parameters'][number]): fc.Arbitrary<string> {
    const there = this.#there(key, path)
    const some = schema.enum ? fc.constantFrom(...schema.enum.map(String)) : name.filter((text) => text !== '')
    return there ? fc.oneof({ weight: 6, arbitrary: there }, { weight: 2, arbitrary: some }) : some
  }

  named(key: string, schema: JsonSchema, isSound: boolean): fc.Arbitrary<unknown> {
    const made = isSound ? this.fitting(schema) : this.spoilt(schema)
    const there = this.#there(key)
    const isText = (schema.anyOf ?? [schema]).some((each) => [each.type ?? []].flat().includes('string') && !each.enum)
    if (!there || !isText) return made
    return fc.oneof({ weight: 5, arbitrary: there }, { weight: 2, arbitrary: made })
  }

  body(schema: JsonSchema): fc.Arbitrary<Sent> {
    const asJson = (value: unknown): Sent => ({ text: JSON.stringify(value), type: 'application/json' })
    return fc.oneof(
      { weight: 8, arbitrary: this.fitting(schema).map(asJson) },
      { weight: 5, arbitrary: this.spoilt(schema).map(asJson) },
      { weight: 1, arbitrary: fc.constant({ text: undefined, type: undefined }) },
      { weight: 1, arbitrary: fc.tuple(rubbish, types).map(([text, type]) => ({ text, type })) },
    )
  }

  /** A form: its fields, and a file or two for each list. */
  form(schema: JsonSchema): fc.Arbitrary<Sent> {
    const boundary = 'f0r1m2'
    const part = (key: string, content: string, file?: string) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${key}"${file === undefined ? '' : `; filename="${file}"`}\r\n\r\n${content}\r\n`
    const fileName = fc.constantFrom(
      'en_US.json',
      'de_DE.json',
      'fr_FR.json',
      '../../etc/passwd',
      'x.json',
      'a\\b.json',
      '',
    )
    const content = fc.oneof(
      fc.constantFrom('{}', '{"a":"b"}', '{"__proto__":1}', 'no json', '[]'),
      fc.json({ maxDepth: 2 }),
    )
    const fields = Object.entries(schema.properties ?? {}).map(([key, member]) =>
      member.type === 'array' || member.format === 'binary'
        ? fc.tuple(fileName, content).map(([file, text]) => part(key, text, file))
        : this.named(key, member, true).map((value) => part(key, String(value))),
    )
    const whole = fc.tuple(...fields.map((field) => fc.option(field, { nil: '', freq: 8 })))
    return fc.oneof(
      {
        weight: 6,
        arbitrary: whole.map((parts) => ({
          text: `${parts.join('')}--${boundary}--\r\n`,
          type: `multipart/form-data; boundary=${boundary}`,
        })),
      },
      { weight: 1, arbitrary: fc.tuple(rubbish, types).map(([text, type]) => ({ text, type })) },
    )
  }

  /** Values that fit the schema. */
  fitting = (schema: JsonSchema): fc.Arbitrary<unknown> => this.#value(schema, true)

  /** The same with arbitrary values in some places. */
  spoilt = (schema: JsonSchema): fc.Arbitrary<unknown> =>
    fc.oneof(
      { weight: 8, arbitrary: this.#value(schema, false) },
      { weight: 1, arbitrary: odd },
      { weight: 1, arbitrary: anything },
    )

  #value(schema: JsonSchema, isSound: boolean): fc.Arbitrary<unknown> {
    const inner: Maker = (member, key) =>
      key !== undefined ? this.named(key, member, isSound) : isSound ? this.fitting(member) : this.spoilt(member)
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((branch) => inner(branch)))
    const types = [schema.type ?? []].flat()
    if (types.length === 0) return anything
    return fc.oneof(...types.map((type) => this.#ofType(type, schema, inner, isSound)))
  }

  #ofType(type: string, schema: JsonSchema, inner: Maker, isSound: boolean): fc.Arbitrary<unknown> {
    const { minimum = -1e9, maximum = 1e9, minItems = 0, maxItems = 4 } = schema
    switch (type) {
      case 'string':
        return sound[schema.format ?? ''] ?? (schema.pattern === undefined ? name : fc.constantFrom('ada', 'bob', anId))
      case 'integer':
        return fc.integer({ min: minimum, max: maximum })
      case 'number':
        return fc.double({ min: minimum, max: maximum, noNaN: true })
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'array':
        return fc.array(inner(schema.items ?? {}), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 4) })
      default:
        return this.#object(schema, inner, isSound)
    }
  }

  #object(schema: JsonSchema, inner: Maker, isSound: boolean): fc.Arbitrary<unknown> {
    const members = Object.entries(schema.properties ?? {}).map(([key, member]) => [key, inner(member, key)] as const)
    const requiredKeys = (isSound ? (schema.required ?? []) : []) as []
    const whole = fc.record(Object.fromEntries(members), { requiredKeys })
    // Half of the time only required members: one unusable member among many would spoil the request.
    const needed = fc.record(Object.fromEntries(members.filter(([key]) => schema.required?.includes(key))))
    const own = isSound ? fc.oneof(needed, whole) : whole
    if (schema.additionalProperties === false || schema.propertyNames) return own
    const [others] = Object.values(schema.patternProperties ?? {})
    const value = others ? inner(others) : anything
    const more = fc.dictionary(name, value, { maxKeys: 3 })
    // Not by assignment, which would not create a member `__proto__`.
    return fc.tuple(more, own).map((both) => Object.fromEntries(both.flatMap((each) => Object.entries(each as object))))
  }
}

const anId = '65f0c0ffee65f0c0ffee65f0'

const rubbish = fc.oneof(
  fc.constantFrom(
    '',
    '{',
    '[[[[',
    'null',
    '"text"',
    '{"a":1e999}',
    '{"__proto__":{}}',
    '{"a":"\\u0000"}',
    '{"a":"\\ud800"}',
  ),
  fc.constantFrom('['.repeat(5_000), `{"a":${'9'.repeat(400)}}`, `{"a":"${'x'.repeat(110_000)}"}`, 'a=b&a=c&%=%'),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const types = fc.constantFrom(
  ...['application/json', 'application/json', 'text/plain', 'application/x-www-form-urlencoded'],
  ...['multipart/form-data; boundary=f0r1m2', 'application/xml', 'x'],
)
