import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { examplePayload } from '../authoring/payload-example.ts'
import { checkPayload, payloadError } from './payload.ts'

const order = {
  type: 'object',
  properties: {
    orderId: { type: 'string' },
    total: { type: 'number', default: 0 },
    address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    email: { type: 'string', format: 'email' },
  },
  required: ['orderId'],
}

describe('the payload of a trigger', () => {
  test("that is valid gets the schema's defaults in a copy", () => {
    const payload = { orderId: 'a' }
    expect(checkPayload(order, payload)).toEqual({ payload: { orderId: 'a', total: 0 } })
    expect(payload).toEqual({ orderId: 'a' })
  })

  test('that is invalid reports all problems at once', () => {
    const payload = { total: 'x', address: {}, email: 'nobody' }
    expect(checkPayload(order, payload)).toEqual({
      problems: [
        {
          field: 'root.orderId',
          message: "must have required property 'orderId'",
          value: payload,
          schemaPath: '#/required',
        },
        { field: 'total', message: 'must be number', value: 'x', schemaPath: '#/properties/total/type' },
        {
          field: 'address.city',
          message: "must have required property 'city'",
          value: {},
          schemaPath: '#/properties/address/required',
        },
        {
          field: 'email',
          message: 'must match format "email"',
          value: 'nobody',
          schemaPath: '#/properties/email/format',
        },
      ],
    })
  })

  test('is never coerced', () => {
    expect(checkPayload(order, { orderId: 1 })).toMatchObject({
      problems: [{ field: 'orderId', message: 'must be string' }],
    })
  })

  test('is refused with the reason, the problems and the schema', () => {
    const check = checkPayload(order, { total: 'x' })
    const error = payloadError(order, 'problems' in check ? check.problems : [])
    expect(error.status).toBe(400)
    expect(error.message).toBe(
      "Payload validation failed: root.orderId: must have required property 'orderId'; total: must be number",
    )
    expect(error.ctx).toMatchObject({ type: 'PAYLOAD_VALIDATION_ERROR', schema: order, errors: [{}, { value: 'x' }] })
  })

  test('is refused if the check takes too long or the schema is unusable', () => {
    expect(checkPayload({ $ref: '#' }, {})).toMatchObject({
      problems: [{ field: 'root', message: 'cannot be checked with this schema: it recurses without end' }],
    })
    expect(checkPayload({ pattern: '(?=a)' }, {})).toMatchObject({ problems: [{ field: 'root' }] })
  })
})

describe('an example', () => {
  const now = new Date('2026-05-01T10:00:00.000Z')
  const of = (properties: object) => examplePayload({ type: 'object', properties }, now)

  test('uses what the schema suggests before all else', () => {
    expect(
      of({
        a: { type: 'string', default: 'preset' },
        b: { type: 'string', examples: ['first', 'second'] },
        c: { enum: [null, 'one', 'two'] },
        d: { const: 7 },
      }),
    ).toEqual({ a: 'preset', b: 'first', c: 'one', d: 7 })
  })

  test('guesses texts by format, then by name', () => {
    const text = { type: 'string' }
    expect(
      of({
        a: { ...text, format: 'email' },
        b: { ...text, format: 'uri' },
        c: { ...text, format: 'date-time' },
        d: { ...text, format: 'date' },
        e: { ...text, format: 'uuid' },
        userEmail: text,
        profileUrl: text,
        firstName: text,
        lastName: text,
        phoneNumber: text,
        orderId: text,
        city: text,
        createdDate: text,
        x: text,
      }),
    ).toEqual({
      a: 'user@example.com',
      b: 'https://example.com',
      c: '2026-05-01T10:00:00.000Z',
      d: '2026-05-01',
      e: '123e4567-e89b-42d3-a456-426614174000',
      userEmail: 'user@example.com',
      profileUrl: 'https://example.com',
      firstName: 'John',
      lastName: 'Doe',
      phoneNumber: '+1234567890',
      orderId: '123456',
      city: 'San Francisco',
      createdDate: '2026-05-01T10:00:00.000Z',
      x: 'example text',
    })
  })

  test.each<[names: string, value: string]>([
    ['email workEmail', 'user@example.com'],
    ['url websiteLink site domain', 'https://example.com'],
    ['fullName name', 'John Doe'],
    ['jobTitle', 'Software Engineer'],
    ['address streetAddress', '123 Main Street'],
    ['city', 'San Francisco'],
    ['state', 'California'],
    ['country', 'United States'],
    ['zip zipCode', '94105'],
    ['phone', '+1234567890'],
    ['company', 'Acme Inc.'],
    ['department', 'Engineering'],
    ['id userId apiKey', '123456'],
    ['description', 'This is an example description'],
    ['message body text', 'This is an example message'],
    ['subject title', 'Example title'],
    ['date time startTime', '2026-05-01T10:00:00.000Z'],
    ['color', '#3366ff'],
    ['price amount', '99.99'],
    ['currency', 'USD'],
    ['status', 'active'],
    ['type', 'standard'],
    ['language locale', 'en_US'],
    ['version', '1.0.0'],
    ['file fileName', 'document.pdf'],
    ['x', 'example text'],
  ])('of texts called %s is %s', (names, value) => {
    for (const name of names.split(' ')) expect(of({ [name]: { type: 'string' } })).toEqual({ [name]: value })
  })

  test('is false for names that sound negative, in any case', () => {
    const names = ['disabled', 'isDeleted', 'ARCHIVED', 'hidden', 'active']
    expect(of(Object.fromEntries(names.map((name) => [name, { type: 'boolean' }])))).toEqual({
      ...{ disabled: false, isDeleted: false, ARCHIVED: false, hidden: false, active: true },
    })
  })

  test('chooses numbers by name, integer or not', () => {
    const both = (name: string) => [of({ [name]: { type: 'integer' } })[name], of({ [name]: { type: 'number' } })[name]]
    expect(both('age')).toEqual([25, 25])
    expect(both('itemCount')).toEqual([5, 5])
    expect(both('price')).toEqual([99, 99.99])
    expect(both('percent')).toEqual([15, 15])
    expect(both('size')).toEqual([100, 100.5])
    expect(both('other')).toEqual([42, 42.5])
  })

  test('keeps lengths and bounds', () => {
    expect(of({ a: { type: 'string', minLength: 20, maxLength: 25 }, b: { type: 'string', maxLength: 3 } })).toEqual({
      a: expect.stringMatching(/^.{20,25}$/),
      b: 'exa',
    })
    expect(
      of({
        middle: { type: 'number', minimum: 10, maximum: 20 },
        low: { type: 'integer', maximum: 7 },
        high: { type: 'integer', exclusiveMinimum: 100 },
        step: { type: 'integer', multipleOf: 5, minimum: 12 },
        plain: { type: 'integer' },
        half: { type: 'number' },
        age: { type: 'integer' },
        count: { type: 'integer' },
        price: { type: 'number' },
        discountPercent: { type: 'integer' },
      }),
    ).toEqual({
      middle: 15,
      low: 7,
      high: 101,
      step: 15,
      plain: 42,
      half: 42.5,
      age: 25,
      count: 5,
      price: 99.99,
      discountPercent: 15,
    })
  })

  test('fills objects, lists and alternatives, without null', () => {
    expect(
      of({
        user: { type: 'object', properties: { name: { type: ['null', 'string'] } } },
        items: { type: 'array', minItems: 2, items: { type: 'object', properties: { sku: { type: 'string' } } } },
        pair: { type: 'array', items: [{ type: 'integer' }, { type: 'boolean' }] },
        either: { anyOf: [{ type: 'null' }, { type: 'integer' }] },
        both: { allOf: [{ properties: { a: { type: 'integer' } } }, { properties: { b: { type: 'boolean' } } }] },
        isActive: { type: 'boolean' },
        isArchived: { type: 'boolean' },
        anything: {},
      }),
    ).toEqual({
      user: { name: 'John Doe' },
      items: [{ sku: 'example text' }, { sku: 'example text' }],
      pair: [42, true],
      either: 42,
      both: { a: 42, b: true },
      isActive: true,
      isArchived: false,
      anything: 'example text',
    })
  })

  test('follows references, and stops where they never end', () => {
    const tree = {
      definitions: {
        node: { type: 'object', properties: { label: { type: 'string' }, child: { $ref: '#/definitions/node' } } },
      },
      type: 'object',
      properties: { root: { $ref: '#/definitions/node' }, lost: { $ref: '#/definitions/lost' } },
    }
    const example = examplePayload(tree, now) as any
    expect(example.root.child.label).toBe('example text')
    expect(example).not.toHaveProperty('lost')
    const wide = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, { $ref: '#' }])),
    }
    expect(JSON.stringify(examplePayload(wide, now)).length).toBeLessThan(100_000)
    expect(examplePayload({ $ref: '#' }, now)).toEqual({})
  })

  test('is an object, whatever the schema says', () => {
    expect(examplePayload({ type: 'string' }, now)).toEqual({})
    fc.assert(
      fc.property(
        fc.object({
          key: fc.constantFrom(
            'type',
            'properties',
            'items',
            'anyOf',
            'minItems',
            'minLength',
            'minimum',
            'multipleOf',
            'a',
          ),
        }),
        (schema) => {
          expect(examplePayload(schema as Record<string, unknown>, now)).toBeTypeOf('object')
        },
      ),
    )
  })
})
