// Every operation is sent requests made up from its own schema, sound and unsound ones.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type InboxClient, openInbox } from '../../test/inbox.ts'
import { expectErrorShape, type JsonSchema, type Operation, operationsOf } from '../../test/openapi.ts'
import { type Api, useServer } from '../../test/server.ts'

const nowhere = 'http://127.0.0.1:1'
const server = useServer({ oauth: { slack: nowhere, microsoftLogin: nowhere, microsoftGraph: nowhere } })
const runs = Number(process.env.FUZZ_RUNS ?? 8)

test('the answer is never a fault of ours, and errors have their shape', async () => {
  const operations = await operationsOf(server.api)
  expect(operations.length).toBeGreaterThan(50)
  let { api, inbox } = await seeded()
  for (const operation of operations.filter(({ path }) => path.startsWith(process.env.FUZZ_PATH ?? ''))) {
    await fc.assert(
      fc.asyncProperty(requestFor(operation), async ({ method, url, body }) => {
        const text = body === undefined ? undefined : JSON.stringify(body)
        const ofInbox = url.startsWith('/v1/inbox/')
        const answer = await (ofInbox ? inbox.send(method, url.slice(9), text) : api.send(method, url, text))
        const note = `${method} ${url} ${JSON.stringify(body)}`
        if (answer.status >= 500) throw new Error(`${note} → ${answer.text} ${server.logged.at(-1)?.err?.stack}`)
        if (answer.status >= 400) expectErrorShape(answer, server.clock.now(), note)
        // What the database had to refuse, our own checks should have.
        expect([note, answer.body?.code]).not.toEqual([note, 'unstorable'])
        // The request may have replaced the key it came with.
        if (answer.status === 401 || url.includes('api-keys')) ({ api, inbox } = await seeded())
      }),
      { numRuns: runs },
    )
    if (operation.method === 'DELETE') ({ api, inbox } = await seeded())
  }
  expect(server.logged.filter((line) => line.level >= 50)).toEqual([])
}, 600_000)

/** A caller in an organization of its own, where `ada` is the name of one thing of every kind, and ada's browser. */
async function seeded(): Promise<{ api: Api; inbox: InboxClient }> {
  const { development: api } = await server.freshOrganization()
  const integrationIdentifier = 'ada'
  for (const [path, body] of [
    ['/v2/subscribers', { subscriberId: 'ada' }],
    ['/v2/contexts', { type: 'ada', id: 'ada' }],
    ['/v1/tenants', { identifier: 'ada', name: 'Ada' }],
    ['/v1/environment-variables', { key: 'ada', value: 'x' }],
    ['/v1/integrations', { providerId: 'slack', channel: 'chat', identifier: 'ada', name: 'Ada', active: true }],
    [
      '/v1/channel-connections',
      {
        integrationIdentifier,
        identifier: 'ada',
        subscriberId: 'ada',
        workspace: { id: 'T1', name: 'W' },
        auth: { accessToken: 'x' },
      },
    ],
    [
      '/v1/channel-endpoints',
      { integrationIdentifier, identifier: 'ada', subscriberId: 'ada', type: 'slack_user', endpoint: { userId: 'U1' } },
    ],
    ['/v2/topics', { key: 'ada' }],
    ['/v2/layouts', { layoutId: 'ada', name: 'Ada', isTranslationEnabled: true }],
    ['/v2/topics/ada/subscriptions', { subscriptions: [{ identifier: 'ada', subscriberId: 'ada' }] }],
  ] as const)
    expect(await api.post(path, body)).toMatchObject({ status: expect.toBeOneOf([200, 201]) })
  return { api, inbox: await openInbox(server, api, 'ada') }
}

const odd = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...['', ' ', 'a', 'x'.repeat(300), 'x'.repeat(1_900), '%', "'; DROP TABLE x", '\\', '../..', 'null', '{{x}}'],
      ...['0', '-1', '1e9', '9'.repeat(30), 'true', '😀', '\u202e', 'constructor', '[object Object]', 'a:b', 'ada:ada'],
      ...['65f0c0ffee65f0c0ffee65f0', '2026-05-01T10:00:00.000Z', 'javascript:alert(1)', 'https://example.com/x'],
    ),
  },
)
const name = fc.oneof({ weight: 5, arbitrary: fc.constant('ada') }, { weight: 3, arbitrary: odd })

const sound: Record<string, fc.Arbitrary<unknown>> = {
  email: fc.constantFrom('ada@example.com', 'ü@example.com'),
  locale: fc.constantFrom('en', 'en_US', 'zh-Hans-CN'),
  'supported-locale': fc.constantFrom('en_US', 'fr-FR'),
  timezone: fc.constantFrom('Europe/Berlin', 'utc'),
  'hex-color': fc.constantFrom('#fff', '#12345678'),
}

function requestFor({ method, path, parameters, body }: Operation) {
  const inPath = fc.tuple(...parameters.filter((p) => p.in === 'path').map((p) => fc.tuple(fc.constant(p.name), name)))
  const known = parameters
    .filter((p) => p.in === 'query')
    .map((p) => fc.tuple(fc.constant(p.name), fc.oneof(fitting(p.schema.items ?? p.schema), odd)))
  const query = fc.array(fc.oneof(...known, fc.tuple(odd, odd)), { maxLength: 4 })
  const url = fc.tuple(inPath, query).map(([names, asked]) => {
    const place = names.reduce((done, [key, value]) => done.replace(`{${key}}`, encodeURIComponent(value)), path)
    const pairs = asked.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`)
    return pairs.length === 0 ? place : `${place}?${pairs.join('&')}`
  })
  const sent =
    body === undefined ? fc.constant(undefined) : fc.oneof(fitting(body), spoilt(body), fc.constant(undefined))
  return fc.record({ method: fc.constant(method), url, body: sent })
}

/** What the schema asks for, as far as a schema can say. */
const fitting = (schema: JsonSchema) => valueFor(schema, fitting)

/** The same with anything at all in some places. */
function spoilt(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: valueFor(schema, spoilt) },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  )
}

type Maker = (schema: JsonSchema) => fc.Arbitrary<unknown>

function valueFor(schema: JsonSchema, inner: Maker): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(inner))
  const types = [schema.type ?? []].flat()
  return types.length === 0
    ? fc.jsonValue({ maxDepth: 3 })
    : fc.oneof(...types.map((type) => ofType(type, schema, inner)))
}

function ofType(type: string, schema: JsonSchema, inner: Maker): fc.Arbitrary<unknown> {
  const { minimum = -1e9, maximum = 1e9, minItems = 0, maxItems = 4 } = schema
  switch (type) {
    case 'string':
      return sound[schema.format ?? ''] ?? (schema.pattern === undefined ? name : fc.constantFrom('ada', 'bob', ID))
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
      return objectFor(schema, inner)
  }
}

const ID = '65f0c0ffee65f0c0ffee65f0'

function objectFor(schema: JsonSchema, inner: Maker): fc.Arbitrary<unknown> {
  const members = Object.entries(schema.properties ?? {}).map(([key, member]) => [key, inner(member)] as const)
  const options = inner === fitting ? { requiredKeys: schema.required ?? [] } : { requiredKeys: [] }
  const named = fc.record(Object.fromEntries(members), options as { requiredKeys: [] })
  if (schema.additionalProperties === false) return named
  const [others] = Object.values(schema.patternProperties ?? {})
  const more = fc.dictionary(name, others ? inner(others) : fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 })
  return fc.tuple(named, more).map(([own, extra]) => ({ ...extra, ...own }))
}
