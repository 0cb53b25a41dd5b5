// Strict calls of the SQL functions: what the database itself judges, beside what the service would.
import fc from 'fast-check'
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { call, useRoles } from '../../../test/database-role.ts'
import { names, schemas, values } from '../../../test/json-schemas.ts'
import { inApp, makeWorkflow } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { checkPayload } from '../runs/payload.ts'

const server = useServer()
const roles = useRoles(() => server.database.url)
let owner: pg.Client

beforeAll(async () => {
  owner = await roles.owner()
})

/** Whether it fits; null where the database does not say. */
async function judged(schema: object, payload: object): Promise<{ fits: boolean | null; problem: string | null }> {
  const { rows } = await owner.query(
    `SELECT j.fits, belfry.misfit($1::jsonb, $2::jsonb) AS problem
     FROM belfry.judge($1::jsonb, $1::jsonb, $2::jsonb, 'payload', false, 0, 5000) j`,
    [JSON.stringify(schema), JSON.stringify(payload)],
  )
  return rows[0]
}
const problemIn = async (schema: object, payload: object): Promise<string | null> => {
  const values = [JSON.stringify(schema), JSON.stringify(payload)]
  return (await owner.query('SELECT belfry.misfit($1::jsonb, $2::jsonb) AS problem', values)).rows[0].problem
}
const isRefused = (schema: object, payload: object) =>
  'problems' in checkPayload(schema as Record<string, unknown>, payload as Record<string, unknown>)

test('nothing is refused that the service would accept', async () => {
  const definitions = {
    leaf: { type: ['string', 'number'] },
    other: { properties: { a: { type: 'string' } }, required: ['b'] },
  }
  const payloads = fc.dictionary(names, values, { maxKeys: 3, noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(schemas, payloads, async (schema, payload) => {
      const whole = { ...schema, definitions }
      const problem = await problemIn(whole, payload)
      if (problem !== null) expect(isRefused(whole, payload), problem).toBe(true)
    }),
    { numRuns: Number(process.env.GENERATED ?? 300) },
  )
})

test('what has no defaults and is judged to fit is accepted by the service', async () => {
  const payloads = fc.dictionary(names, values, { maxKeys: 3, noNullPrototype: true })
  const definitions = { leaf: { type: 'string' }, other: { required: ['b'] } }
  await fc.assert(
    fc.asyncProperty(schemas, payloads, async (schema, payload) => {
      const whole = { ...schema, definitions }
      fc.pre(!JSON.stringify(whole).includes('"default"'))
      const { fits, problem } = await judged(whole, payload)
      expect(fits === false).toBe(problem !== null)
      if (fits) expect(isRefused(whole, payload)).toBe(false)
    }),
    { numRuns: Number(process.env.GENERATED ?? 300) },
  )
})

/** A rule for the member `a`, what fits it, what does not, and what is said. */
const a = (rule: object | boolean) => ({ properties: { a: rule } })
describe('each keyword is judged both ways', () => {
  test.each<[object, object, object, string]>([
    [{ required: ['a'] }, { a: null }, {}, "payload must have required property 'a'"],
    [a(false), {}, { a: 1 }, 'payload.a is not allowed'],
    [a({ type: 'string' }), { a: '' }, { a: 1 }, 'payload.a must be string'],
    [a({ type: ['integer', 'null'] }), { a: 1.0 }, { a: 1.5 }, 'payload.a must be integer or null'],
    [a({ type: 'string', nullable: true }), { a: null }, { a: 1 }, 'payload.a must be string'],
    [a({ const: { b: [1] } }), { a: { b: [1] } }, { a: { b: [1, 2] } }, 'payload.a must be equal to constant'],
    [a({ enum: ['x', null] }), { a: null }, { a: 'y' }, 'payload.a must be equal to one of the allowed values'],
    [a({ minimum: 1 }), { a: 1 }, { a: 0.9 }, 'payload.a must be >= 1'],
    [a({ maximum: 1 }), { a: 1 }, { a: 1.1 }, 'payload.a must be <= 1'],
    [a({ exclusiveMinimum: 1 }), { a: 1.1 }, { a: 1 }, 'payload.a must be > 1'],
    [a({ exclusiveMaximum: 1 }), { a: 0.9 }, { a: 1 }, 'payload.a must be < 1'],
    [a({ multipleOf: 0.5 }), { a: 1.5 }, { a: 1.6 }, 'payload.a must be multiple of 0.5'],
    [a({ minLength: 2 }), { a: '😀é' }, { a: '😀' }, 'payload.a must NOT have fewer than 2 characters'],
    [a({ maxLength: 1 }), { a: '😀' }, { a: 'ab' }, 'payload.a must NOT have more than 1 characters'],
    [a({ pattern: '^[A-Z]{2}-\\d+$' }), { a: 'AB-12' }, { a: 'AB-' }, 'payload.a must match pattern "^[A-Z]{2}-\\d+$"'],
    [a({ minItems: 1 }), { a: [1] }, { a: [] }, 'payload.a must NOT have fewer than 1 items'],
    [a({ maxItems: 1 }), { a: [1] }, { a: [1, 2] }, 'payload.a must NOT have more than 1 items'],
    [a({ uniqueItems: true }), { a: [1, 2] }, { a: [{ x: 1 }, { x: 1 }] }, 'payload.a must NOT have duplicate items'],
    [a({ items: { type: 'number' } }), { a: [1] }, { a: [1, 'x'] }, 'payload.a.1 must be number'],
    [a({ prefixItems: [true, { const: 1 }] }), { a: [2, 1] }, { a: [2, 2] }, 'payload.a.1 must be equal to constant'],
    [a({ contains: { const: 1 } }), { a: [2, 1] }, { a: [2] }, 'payload.a must contain at least 1 valid item'],
    [{ minProperties: 1 }, { a: 1 }, {}, 'payload must NOT have fewer than 1 properties'],
    [{ maxProperties: 1 }, { a: 1 }, { a: 1, b: 1 }, 'payload must NOT have more than 1 properties'],
    [{ ...a(true), additionalProperties: false }, { a: 1 }, { a: 1, b: 1 }, 'payload.b is not allowed'],
    [{ additionalProperties: { type: 'number' } }, { b: 1 }, { b: '1' }, 'payload.b must be number'],
    [{ propertyNames: { maxLength: 1 } }, { b: 1 }, { bb: 1 }, 'payload.bb must NOT have more than 1 characters'],
    [
      { dependentRequired: { a: ['b'] } },
      { a: 1, b: 1 },
      { a: 1 },
      'payload must have property b when property a is present',
    ],
    [
      { dependentSchemas: { a: { required: ['b'] } } },
      { a: 1, b: 1 },
      { a: 1 },
      "payload must have required property 'b'",
    ],
    [{ allOf: [a({ minimum: 1 }), a({ maximum: 2 })] }, { a: 1 }, { a: 3 }, 'payload.a must be <= 2'],
    [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { b: 1 }, { c: 1 }, 'payload must match a schema in anyOf'],
    [
      { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      { b: 1 },
      { a: 1, b: 1 },
      'payload must match exactly one schema in oneOf',
    ],
    [{ not: { required: ['a'] } }, {}, { a: 1 }, 'payload must NOT be valid'],
    [{ if: a({ const: 1 }), else: { required: ['b'] } }, { a: 1 }, { a: 2 }, "payload must have required property 'b'"],
    [
      { ...a({ $ref: '#/$defs/list' }), $defs: { list: { items: { $ref: '#/$defs/list' }, type: 'array' } } },
      { a: [[], [[]]] },
      { a: [[], [1]] },
      'payload.a.1.0 must be array',
    ],
    [
      { properties: { a: { default: {}, properties: { b: { default: 'x', type: 'number' } } } }, required: ['a'] },
      { a: { b: 1 } },
      {},
      'payload.a.b must be number',
    ],
  ])('%j', async (schema, fitting, wrong, problem) => {
    expect([isRefused(schema, fitting), isRefused(schema, wrong)]).toEqual([false, true])
    expect(await judged(schema, fitting)).toEqual({ fits: true, problem: null })
    expect(await judged(schema, wrong)).toEqual({ fits: false, problem })
  })
})

describe('where the database cannot judge as the service does, it leaves that to the service', () => {
  const doubling = {
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    ),
  }
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) })
  test.each<[string, object, object]>([
    ['a format', a({ format: 'email' }), { a: 'x' }],
    ['a pattern with look-ahead', a({ pattern: '^(?=a)' }), { a: 'x' }],
    ['a pattern with a class of Unicode', a({ pattern: '^\\p{L}+$' }), { a: '1' }],
    ['a pattern that PostgreSQL does not know', a({ pattern: '^a{300}$' }), { a: 'x' }],
    ['a text beyond ASCII', a({ pattern: '^[a-z]+$' }), { a: 'é' }],
    ['items by their place, as old drafts have them', a({ items: [{ type: 'string' }] }), { a: [1] }],
    ['a format of numbers', a({ format: 'int32' }), { a: 2 ** 40 }],
    ['dependencies, as old drafts have them', { dependencies: { a: ['b'] } }, { a: 1 }],
    ['a list with thousands of items', a({ items: { type: 'string' } }), { a: [...Array(6_000).fill('x'), 1] }],
    ['patterns for names', { patternProperties: { '^a': { type: 'string' } } }, { a: 1 }],
    ['defaults that another part may see', { allOf: [a({ default: 1 })], required: ['a'] }, {}],
    [
      'a keyword that the service does not support',
      { ...a({ type: 'string' }), unevaluatedProperties: false },
      { a: 1 },
    ],
    ['a reference to nowhere', a({ $ref: '#/$defs/none' }), { a: 1 }],
    ['a reference to itself', { $ref: '#' }, {}],
    ['references that multiply', { ...doubling, $ref: '#/$defs/d0' }, {}],
    ['a payload that is nested very deeply', { $ref: '#/$defs/d', $defs: { d: a({ $ref: '#/$defs/d' }) } }, deep(400)],
    ['a schema that is none', { required: 7, properties: [] }, { a: 1 }],
  ])('%s', async (_name, schema, payload) => {
    expect(await problemIn(schema, payload)).toBeNull()
  })
})

describe('a strict call', () => {
  const payloadSchema = { type: 'object', required: ['id'], properties: { id: { type: 'number' } } }

  async function setUp(): Promise<{ api: Api; app: pg.Client }> {
    const api = await server.freshApi()
    const role = await roles.newRole()
    await owner.query('SELECT belfry.allow($1, $2)', [role, api.environmentId])
    return { api, app: await roles.as(role) }
  }
  const outcome = (work: Promise<unknown>) =>
    work.then(
      () => 'accepted',
      (error: unknown) => {
        const { code, message, detail, hint } = error as pg.DatabaseError
        return { code, message, detail, hint }
      },
    )
  const strict = { strict: true }

  test('fails for a payload that does not fit, and nothing of its transaction stays', async () => {
    const { api, app } = await setUp()
    await makeWorkflow(api, 'order', [inApp('Order {{payload.id}}')], { validatePayload: true, payloadSchema })
    await app.query('BEGIN')
    await call(app, 'order', 'ada', { id: 1 }, strict)
    expect(await outcome(call(app, 'order', 'ada', { id: 'x' }, strict))).toEqual({
      ...{ code: 'P0001', message: 'payload_invalid', detail: 'payload.id must be number' },
      hint: 'Correct the payload, or the schema of workflow "order"',
    })
    await app.query('COMMIT')
    expect(await server.database.pool.query('SELECT FROM belfry.outbox')).toMatchObject({ rowCount: 0 })
    expect(await outcome(call(app, 'order', 'ada', { id: 2 }, strict))).toBe('accepted')
    // One that is not strict is told later.
    expect(await outcome(call(app, 'order', 'ada', { id: 'x' }, { transactionId: 'later' }))).toBe('accepted')
    await server.drain()
    expect((await api.get('/v2/outbox/refused')).body.data).toMatchObject([
      { transactionId: 'later', code: 'payload_invalid' },
    ])
  })

  test('does not look at the schema of a workflow that does not ask for it', async () => {
    const { api, app } = await setUp()
    await makeWorkflow(api, 'free', [inApp()], { validatePayload: false, payloadSchema })
    await makeWorkflow(api, 'bare', [inApp()], { validatePayload: true })
    for (const workflow of ['free', 'bare'])
      expect(await outcome(call(app, workflow, 'ada', { id: 'x' }, strict))).toBe('accepted')
  })

  test('is told after the commit what only the service can judge', async () => {
    const { api, app } = await setUp()
    const properties = { at: { type: 'string', format: 'date-time' } }
    await makeWorkflow(api, 'timed', [inApp()], {
      validatePayload: true,
      payloadSchema: { type: 'object', properties },
    })
    const options = { ...strict, transactionId: 'format' }
    expect(await outcome(call(app, 'timed', 'ada', { at: 'noon' }, options))).toBe('accepted')
    await server.drain()
    expect((await api.get('/v2/outbox/refused')).body.data).toMatchObject([
      { transactionId: 'format', code: 'payload_invalid' },
    ])
  })

  test('looks at the workflow and the payload, and at nothing else', async () => {
    const { api, app } = await setUp()
    await makeWorkflow(api, 'order', [inApp()])
    for (const [transactionId, to, more] of [
      ['recipients', 'not a valid id!', {}],
      ['person', { subscriberId: 'ada', email: 'no address' }, {}],
      ['context', 'ada', { context: { region: { id: '' } } }],
    ] as const)
      expect(await outcome(call(app, 'order', to, {}, { ...strict, ...more, transactionId }))).toBe('accepted')
    await server.drain()
    const { data } = (await api.get('/v2/outbox/refused')).body
    expect(data.map((each: { transactionId: string }) => each.transactionId).sort()).toEqual([
      ...['context', 'person', 'recipients'],
    ])
  })

  test('counts what a tenant says of the workflow', async () => {
    const { api, app } = await setUp()
    await makeWorkflow(api, 'off', [inApp()], { active: false })
    await makeWorkflow(api, 'on', [inApp()])
    for (const [identifier, workflowId, active] of [
      ['acme', 'off', true],
      ['acme', 'on', false],
    ] as const) {
      await api.post('/v1/tenants', { identifier, name: identifier })
      const { _id } = (await api.get(`/v2/workflows/${workflowId}`)).body
      const tenant = (await api.get(`/v1/tenants/${identifier}`)).body
      const made = await api.post('/v1/workflow-overrides', { workflowId: _id, tenantId: tenant._id, active })
      expect(made, made.text).toMatchObject({ status: 201 })
    }
    for (const tenant of ['acme', { identifier: 'acme' }]) {
      expect(await outcome(call(app, 'off', 'ada', {}, { ...strict, tenant }))).toBe('accepted')
      expect(await outcome(call(app, 'on', 'ada', {}, { ...strict, tenant }))).toMatchObject({
        message: 'trigger_not_active',
      })
    }
    expect(await outcome(call(app, 'off', 'ada', {}, strict))).toMatchObject({ message: 'trigger_not_active' })
    expect(await outcome(call(app, 'on', 'ada', {}, strict))).toBe('accepted')
  })

  test('does not let a role call the parts', async () => {
    const { app } = await setUp()
    for (const text of [
      "SELECT belfry.misfit('{}', '{}')",
      "SELECT belfry.judge('{}', '{}', '{}', '', false, 0, 1)",
      "SELECT belfry.check_strictly('', '', '{}', '')",
    ])
      expect(await outcome(app.query(text))).toMatchObject({ code: '42501' })
  })
})
