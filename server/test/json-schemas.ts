// JSON Schemas with any keywords, and values for them.
import fc from 'fast-check'

export const names = fc.constantFrom('a', 'b', 'c')
export const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      1,
      2,
      2.5,
      -1,
      '',
      'a',
      'ab',
      'aé😀',
      'ada@example.com',
      '2026-01-01',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

export const schemas = fc.letrec<{ schema: object; sub: object | boolean }>((tie) => {
  const sub = tie('sub')
  const subs = fc.array(sub, { minLength: 1, maxLength: 2 })
  const small = fc.integer({ min: 0, max: 3 })
  const maps = { maxKeys: 2, noNullPrototype: true }
  const rules: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(
      fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array'),
      fc.uniqueArray(fc.constantFrom('string', 'number', 'null', 'object', 'array'), { minLength: 1 }),
    ),
    const: values,
    enum: fc.uniqueArray(values, { minLength: 1, maxLength: 3, selector: (value) => JSON.stringify(value) }),
    minimum: small,
    maximum: small,
    exclusiveMinimum: small,
    exclusiveMaximum: small,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minLength: small,
    maxLength: small,
    pattern: fc.constantFrom('^a', 'b$', '^[a-z]{1,2}$', 'é', '^.$'),
    format: fc.constantFrom('email', 'date', 'uuid', 'unheard-of'),
    items: fc.oneof(sub, subs),
    additionalItems: sub,
    minItems: small,
    maxItems: small,
    uniqueItems: fc.boolean(),
    contains: sub,
    minProperties: small,
    maxProperties: small,
    required: fc.uniqueArray(names, { maxLength: 2 }),
    properties: fc.dictionary(names, sub, maps),
    patternProperties: fc.dictionary(fc.constantFrom('^a', '[bc]'), sub, maps),
    additionalProperties: sub,
    propertyNames: sub,
    dependencies: fc.dictionary(names, fc.oneof(sub, fc.uniqueArray(names, { minLength: 1, maxLength: 2 })), maps),
    if: sub,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: sub,
    else: sub,
    allOf: subs,
    anyOf: subs,
    oneOf: subs,
    not: sub,
    $ref: fc.constantFrom('#/definitions/leaf', '#/definitions/other'),
    default: values,
  }
  const keywords = Object.entries(rules).map(([name, rule]) => rule.map((value) => ({ [name]: value })))
  return {
    sub: fc.oneof({ maxDepth: 4, depthSize: 'small' }, fc.boolean(), tie('schema')),
    schema: fc.array(fc.oneof(...keywords), { maxLength: 4 }).map((parts) => Object.assign({}, ...parts)),
  }
}).schema
