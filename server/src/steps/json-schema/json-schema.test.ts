import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { names, schemas, values } from '../../../test/json-schemas.ts'
import { compileSchema } from './json-schema.ts'
import { type JsonSchema, type Problem, SchemaCostError, SchemaError } from './run.ts'

// One for all schemas: it compiles the schema of schemas once, which takes longer than all the others.
const library = addFormats.default(new Ajv({ strict: false, allErrors: true, useDefaults: true, logger: false }))

/** What each validator reports, in the same words, in any order; and the value afterwards. */
function judgements(schema: object | boolean, value: unknown) {
  const [mine, theirs] = [structuredClone(value), structuredClone(value)]
  const validate = library.compile(schema)
  validate(theirs)
  const words = (keyword: string, path: string, schemaPath: string, message: string) =>
    // Validators differ in which two of several equal items they name.
    [path, schemaPath, keyword === 'uniqueItems' ? keyword : message].join(' ')
  return {
    mine: {
      value: mine,
      problems: compileSchema(schema as JsonSchema)(mine)
        .map((problem: Problem) =>
          words(problem.keyword, problem.path.map((part) => `/${part}`).join(''), problem.schemaPath, problem.message),
        )
        .sort(),
    },
    theirs: {
      value: theirs,
      problems: (validate.errors ?? [])
        .map((error) => words(error.keyword, error.instancePath, error.schemaPath, error.message ?? ''))
        .sort(),
    },
  }
}

test('any schema finds the same problems in any value as Ajv, in the same words', () => {
  const definitions = {
    leaf: { type: ['string', 'number'] },
    other: { properties: { a: { type: 'string' } }, required: ['b'] },
  }
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      const { mine, theirs } = judgements({ ...schema, definitions }, value)
      expect(mine).toEqual(theirs)
    }),
    { numRuns: 100 },
  )
})

test.each([
  [{ type: 'strin' }, '#/type must be equal to one of the allowed values'],
  [{ properties: { a: 1 } }, '#/properties/a must be object,boolean'],
  [{ required: 'a' }, '#/required must be array'],
  [{ $ref: '#/definitions/a' }, 'the reference "#/definitions/a" does not resolve in this schema'],
  [
    { $ref: 'https://example.com/a.json' },
    'the reference "https://example.com/a.json" does not resolve in this schema',
  ],
  // References may point only to places that hold schemas.
  [{ $ref: '#/default', default: { $ref: '#/default' } }, 'the reference "#/default" does not resolve in this schema'],
  [{ $ref: '#/%E0%A4' }, 'the reference "#/%E0%A4" does not resolve in this schema'],
  [{ pattern: '(?=a)b' }, 'the pattern "(?=a)b" cannot be used; look-around and back-references are not supported'],
  [{ pattern: '(a)\\1' }, 'the pattern "(a)\\1" cannot be used; look-around and back-references are not supported'],
  [{ definitions: { a: { pattern: '(?=a)' } }, $ref: '#/definitions/a' }, /cannot be used/],
  [{ pattern: 'a'.repeat(1_001) }, 'a pattern has 1001 characters; at most 1000 are allowed'],
  [{ pattern: '(a{1,1000}){1,1000}' }, /cannot be used/],
  [{ enum: ['x'.repeat(65_536)] }, 'it has 65549 characters; at most 65536 are allowed'],
  [{ allOf: Array.from({ length: 5_001 }, () => true) }, 'it has more than 5000 subschemas'],
  [{ allOf: Array.from({ length: 201 }, (_, i) => ({ pattern: `a${i}` })) }, 'it has more than 200 patterns'],
  [nested(70), 'it is nested deeper than 64 levels'],
])('%j is refused', (schema, message) => {
  const error = catchError(() => compileSchema(schema as JsonSchema))
  expect(error).toBeInstanceOf(SchemaError)
  expect(error.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
})

function nested(levels: number): object {
  return levels === 0 ? {} : { items: nested(levels - 1) }
}

function catchError(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

test('keywords of other drafts and tools are ignored', () => {
  const check = compileSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://example.com/order',
    $async: true,
    type: 'object',
    properties: { a: { type: 'string', nullable: true, title: 'A', 'x-order': 1 } },
  })
  expect(check({ a: null })).toEqual([])
  expect(check({ a: 1 })).toMatchObject([{ path: ['a'], message: 'must be string' }])
})

test('a schema is compiled once, and checking does not change it', () => {
  const schema = { type: 'object', properties: { a: { default: { list: [1] } } } }
  const before = structuredClone(schema)
  expect(compileSchema(schema as JsonSchema)).toBe(compileSchema(structuredClone(schema)))
  const value: { a?: { list: number[] } } = {}
  compileSchema(schema)(value)
  value.a?.list.push(2)
  expect(schema).toEqual(before)
})

describe('checks that would never end', () => {
  const doubling = {
    definitions: Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `d${i}`,
        i === 59 ? {} : { allOf: [{ $ref: `#/definitions/d${i + 1}` }, { $ref: `#/definitions/d${i + 1}` }] },
      ]),
    ),
    $ref: '#/definitions/d0',
  }
  const chain = (depth: number): object => (depth === 0 ? {} : { next: chain(depth - 1) })
  const spaces = ' '.repeat(500_000)

  test.each<[string, object, unknown]>([
    ['a schema that is itself', { $ref: '#' }, {}],
    [
      'circular references',
      { definitions: { a: { $ref: '#/definitions/b' }, b: { $ref: '#/definitions/a' } }, $ref: '#/definitions/a' },
      {},
    ],
    ['references that double sixty times', doubling, {}],
    [
      'references that double with every level of the value',
      { properties: { next: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } },
      chain(100),
    ],
    [
      'many schemas for many items',
      { allOf: Array.from({ length: 2_000 }, () => ({ items: { minLength: 1 } })) },
      Array.from({ length: 50_000 }, () => ''),
    ],
    ['a long pattern on a long text', { pattern: '(a?){500}a{500}' }, 'a'.repeat(500_000)],
    [
      'many patterns on a long text',
      { allOf: Array.from({ length: 200 }, (_, i) => ({ pattern: `\\s+${i}$` })) },
      spaces,
    ],
  ])('%s is stopped', (_name, schema, value) => {
    expect(catchError(() => compileSchema(schema as JsonSchema)(value))).toBeInstanceOf(SchemaCostError)
  })

  test.each<[string, object, unknown]>([
    ['an exponential pattern', { pattern: '^(a+)+$' }, `${'a'.repeat(100_000)}!`],
    ['a quadratic pattern', { pattern: '\\s+$' }, `${' '.repeat(100_000)}x`],
    [
      'one item twice among many',
      { uniqueItems: true },
      [...Array.from({ length: 50_000 }, (_, i) => ({ i })), { i: 7 }],
    ],
  ])('%s is answered', (_name, schema, value) => {
    expect(compileSchema(schema as JsonSchema)(value)).toHaveLength(1)
  })

  test('no format is slow on any long string', () => {
    const formats =
      'date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 regex uuid json-pointer json-pointer-uri-fragment relative-json-pointer byte'
    const pieces = [
      'a',
      '1',
      ' ',
      ':',
      '/',
      '-',
      '.',
      'a.',
      'a-',
      '0:',
      '%41',
      '{a}',
      '(',
      '[',
      '=',
      '~0',
      'é',
      '\n',
      '@',
      'T',
    ]
    const starts = ['', 'a@', 'http://', 'http://a:', 'P', '2026-01-01T', 'http://[', '/', '{']
    for (const format of formats.split(' '))
      for (const start of starts)
        for (const piece of pieces) compileSchema({ format })(`${start}${piece.repeat(20_000 / piece.length)}\0`)
  })
})

describe('of JSON Schema 2020-12', () => {
  const library2020 = new Ajv2020({ strict: false, allErrors: true, logger: false })

  /** As the library judges it by that draft. */
  function byLibrary(schema: object, value: unknown): string[] {
    const validate = library2020.compile(schema)
    validate(structuredClone(value))
    return (validate.errors ?? []).map(
      ({ instancePath, schemaPath, message }) => `${instancePath} ${schemaPath} ${message}`,
    )
  }
  const byUs = (schema: object, value: unknown) =>
    compileSchema(schema as JsonSchema)(structuredClone(value)).map(
      ({ path, schemaPath, message }) => `${path.map((part) => `/${part}`).join('')} ${schemaPath} ${message}`,
    )

  test('prefixItems, dependentRequired and dependentSchemas hold, as in the library', () => {
    const sub = fc.constantFrom<object | boolean>(true, false, { type: 'string' }, { required: ['b'] }, { minimum: 1 })
    const schema = fc.record(
      {
        prefixItems: fc.array(sub, { minLength: 1, maxLength: 2 }),
        items: sub,
        dependentRequired: fc.dictionary(names, fc.uniqueArray(names, { maxLength: 2 }), {
          maxKeys: 2,
          noNullPrototype: true,
        }),
        dependentSchemas: fc.dictionary(names, sub, { maxKeys: 2, noNullPrototype: true }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(schema, values, (given, value) => {
        expect(byUs(given, value).sort()).toEqual(byLibrary(given, value).sort())
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    'minContains',
    'maxContains',
    'unevaluatedItems',
    'unevaluatedProperties',
    '$dynamicRef',
    '$recursiveRef',
  ])('%s is refused by name', (name) => {
    const inside = { properties: { list: { [name]: name.startsWith('$') ? '#' : 1 } } }
    expect(() => compileSchema(inside)).toThrow(SchemaError)
    expect(() => compileSchema(inside)).toThrow(name)
    // As the name of a property it means nothing.
    expect(compileSchema({ properties: { [name]: { type: 'string' } } })({ [name]: 'fine' })).toEqual([])
  })

  test.each([{ prefixItems: {} }, { prefixItems: [1] }, { dependentRequired: { a: 'b' } }, { dependentSchemas: [] }])(
    '%j is not a schema',
    (schema) => {
      expect(() => compileSchema(schema as JsonSchema)).toThrow(SchemaError)
    },
  )
})
