import { type TSchema, Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { Body, Enum } from './schema.ts'
import { compileValidator } from './validation.ts'

function check(schema: TSchema, data: unknown, httpPart = 'body') {
  const validate = compileValidator({ schema, httpPart, method: 'POST', url: '/' })
  const { value, error } = validate(data) as { value?: unknown; error?: any }
  return { value, errors: error?.ctx.errors, messages: error?.ctx.errors.general?.messages as string[] | undefined }
}

describe('a union', () => {
  const Person = Body({ subscriberId: Type.String({ minLength: 1 }), email: Type.Optional(Type.String()) })
  const To = Body({ to: Type.Union([Type.String(), Person, Type.Array(Type.Union([Type.String(), Person]))]) })

  test('reports the problems of the branch that the value was meant for', () => {
    expect(check(To, { to: {} }).messages).toEqual(['to.subscriberId should not be empty'])
    expect(check(To, { to: { subscriberId: 'a', email: 5 } }).messages).toEqual(['to.email must be a string'])
    expect(check(To, { to: ['a', { subscriberId: '' }] }).messages).toEqual(['to.1.subscriberId should not be empty'])
  })

  test('lists what it accepts when the value is of another type', () => {
    expect(check(To, { to: 5 }).messages).toEqual(['to must be a string or an object or an array'])
    expect(check(To, { to: [5, true] }).messages).toEqual(['each value in to must be a string or an object'])
  })

  test('tells its branches apart by their constants', () => {
    const Step = Type.Union([
      Body({ type: Type.Literal('email'), subject: Type.String() }),
      Body({ type: Type.Literal('delay'), seconds: Type.Integer() }),
    ])
    const Steps = Body({ steps: Type.Array(Step) })
    expect(check(Steps, { steps: [{ type: 'delay', seconds: 'x' }, { type: 'email' }] }).messages).toEqual([
      'steps.0.seconds must be a number conforming to the specified constraints',
      'steps.1.subject should not be empty',
    ])
    expect(check(Steps, { steps: [{ type: 'fax' }] }).messages).toEqual(['each value in steps must be an object'])
  })

  test('of constants lists them', () => {
    const Mode = Body({ mode: Type.Union([Type.Literal('a'), Type.Literal('b')]) })
    expect(check(Mode, { mode: 'c' }).messages).toEqual(['mode must be one of the following values: a, b'])
  })

  test('keeps the members of the matching branch, even those unknown to an earlier branch', () => {
    const Target = Body({ at: Type.Union([Body({ url: Type.String() }), Body({ phone: Type.String() })]) })
    expect(check(Target, { at: { phone: '1', junk: 2 } }).value).toEqual({ at: { phone: '1' } })
  })
})

describe('wording', () => {
  test.each<[TSchema, unknown, string]>([
    [Type.String(), 5, 'must be a string'],
    [Type.Number(), 'x', 'must be a number conforming to the specified constraints'],
    [Type.Integer(), 1.5, 'must be a number conforming to the specified constraints'],
    [Type.Boolean(), 'true', 'must be a boolean value'],
    [Type.Array(Type.String()), {}, 'must be an array'],
    [Body({}), [], 'must be an object'],
    [Enum(['a', 'b']), 'c', 'must be one of the following values: a, b'],
    [Type.Integer({ minimum: 1 }), 0, 'must not be less than 1'],
    [Type.Integer({ maximum: 100 }), 101, 'must not be greater than 100'],
    [Type.String({ minLength: 1 }), '', 'should not be empty'],
    [Type.String({ minLength: 3 }), 'x', 'must be longer than or equal to 3 characters'],
    [Type.String({ maxLength: 3 }), '😀😀😀😀', 'must be shorter than or equal to 3 characters'],
    [Type.Array(Type.Any(), { minItems: 1 }), [], 'should not be empty'],
    [Type.Array(Type.Any(), { maxItems: 1 }), [1, 2], 'must contain no more than 1 elements'],
    [Type.String({ format: 'email' }), 'x', 'must be an email'],
    [Type.String({ format: 'locale' }), 'x', 'must be locale'],
    [Type.String({ format: 'timezone' }), '+02:00', 'must be a valid IANA time-zone'],
    [Type.String({ format: 'hex-color' }), 'red', 'must be a hexadecimal color'],
    [Type.String({ format: 'date-time' }), '1', 'must be a valid ISO 8601 date string'],
    [Type.String({ format: 'date-time' }), '2026-13-01', 'must be a valid ISO 8601 date string'],
  ])('%j refuses %j', (schema, value, text) => {
    expect(check(Body({ field: schema }), { field: value }).messages).toEqual([`field ${text}`])
    expect(check(Type.Array(schema), [value]).messages).toEqual([`each value in body ${text}`])
    expect(check(Body({ items: schema }), { items: value }).messages).toEqual([`items ${text}`])
  })

  test('the message for a missing member depends on its type', () => {
    const Both = Body({ name: Type.String(), data: Body({}), list: Type.Array(Body({ id: Type.String() })) })
    expect(check(Both, { list: [{}] }).messages).toEqual([
      'name should not be empty',
      'data should not be null or undefined',
      'list.0.id should not be empty',
    ])
  })

  test('a property may have its own messages', () => {
    const Own = Body({
      key: Type.String({ minLength: 1, texts: { required: 'Key is required', minLength: 'needs a letter' } }),
    })
    expect(check(Own, {}).messages).toEqual(['Key is required'])
    expect(check(Own, { key: '' }).messages).toEqual(['key needs a letter'])
  })

  test('is per field where every broken rule asks for it', () => {
    const perField = { command: 'DoCommand', rules: ['maximum'] }
    const Mixed = Body({ n: Type.Integer({ maximum: 5, perField }), s: Type.Optional(Type.String()) })
    expect(check(Mixed, { n: 6 }).errors).toEqual({ n: { messages: ['n must not be greater than 5'], value: 6 } })
    expect(check(Mixed, { n: 6, s: 1 }).messages).toEqual(['n must not be greater than 5', 's must be a string'])
  })

  test('names of Object.prototype members do no harm', () => {
    const Named = Type.Record(Type.String(), Type.Integer({ perField: { command: 'DoCommand' } }))
    const odd = JSON.parse('{"constructor":"x","toString":"y"}')
    expect(Object.keys(check(Named, odd).errors)).toEqual(['constructor', 'toString'])
  })
})

describe('many problems', () => {
  const List = Body({ list: Type.Array(Body({ id: Type.String(), n: Type.Integer() })) })

  test('are cut off after fifty', () => {
    const list = Array.from({ length: 1_000 }, () => ({ id: 1, n: 'x' }))
    expect(check(List, { list }).messages).toHaveLength(50)
  })

  test('in a very long value are reduced to the first', () => {
    const list = Array.from({ length: 100_000 }, () => ({ id: 1, n: 'x' }))
    expect(check(List, { list }).messages).toEqual(['list.0.id must be a string'])
  })
})

describe('query and path', () => {
  const Query = Type.Object({
    n: Type.Optional(Type.Integer({ zeroIsAbsent: true, default: 10 })),
    is: Type.Optional(Type.Boolean()),
    list: Type.Optional(Type.Array(Type.String())),
    numbers: Type.Optional(Type.Array(Type.Number())),
    text: Type.Optional(Type.String()),
  })
  const read = (data: Record<string, unknown>) => check(Query, data, 'querystring')

  test('numbers, booleans and lists are parsed from text', () => {
    expect(read({ n: '5', is: 'true', list: 'a', numbers: ['1.5', '-2'], text: '7', more: 'x' }).value).toEqual({
      n: 5,
      is: true,
      list: ['a'],
      numbers: [1.5, -2],
      text: '7',
      more: 'x',
    })
    expect(read({ n: '0', is: 'yes', list: '' }).value).toEqual({ n: 10, is: false, list: [''] })
    expect(read({ is: ['true', 'true'] }).value).toEqual({ n: 10, is: false })
  })

  test.each(['', ' ', 'x', '1e3', '0x10', 'Infinity', '1e400', '9'.repeat(16), '1.', '.5', '--1', '٣'])(
    '%j is not a number',
    (n) => {
      expect(read({ n }).messages).toEqual(['n must be a number conforming to the specified constraints'])
    },
  )
})
