import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openInbox } from '../../../test/inbox.ts'
import { expectErrorShape as expectShape, type Operation, operationsOf } from '../../../test/openapi.ts'
import { newSession, PersonApi, signInAs } from '../../../test/people.ts'
import { type Answer, useServer } from '../../../test/server.ts'
import { storedRows } from '../../../test/stored-rows.ts'

const server = useServer()
const json = { 'content-type': 'application/json' }

let operations: Operation[]
let token: string
let owner: PersonApi

beforeAll(async () => {
  operations = await operationsOf(server.api)
  token = (await openInbox(server, server.api, 'ada')).token
  owner = await signInAs(server, server.api, 'owner')
})
beforeEach(async () => {
  // Browsers have a rate limit.
  server.clock.advance({ minutes: 1 })
  // Who signed in long ago is asked again before the body is read.
  owner = new PersonApi(owner, { ...owner, token: await newSession(server, owner.id) })
})

/** Authenticated as the operation expects: an application with every right, a subscriber's browser, or a person. */
async function send({ method, path, security }: Operation, to: string, body: string | Uint8Array): Promise<Answer> {
  if (path.startsWith('/v1/auth/') || security?.some((way) => 'person' in way)) return owner.send(method, to, body)
  const own = path.startsWith('/v1/inbox/') ? { authorization: `Bearer ${token}` } : {}
  return server.wideApi.send(method, to, body, { ...json, ...own })
}

const withBody = () => operations.filter(({ body }) => body !== undefined)
/** The operation's path with a value for each parameter; environments, purposes and versions are looked at before the body is. */
const filled = ({ path }: Operation, value = 'x') =>
  path
    .replace('{purpose}', 'inbox')
    .replace('{version}', '1')
    .replace(/\{\w*[eE]nvironmentId\}/, server.api.environmentId)
    .replaceAll(/\{[^}]+\}/g, value)

/** Compared before and after, except when keys were used: that is written now and then. */
const everythingStored = () => storedRows(server.database.pool, { schemas: ['public'], without: ['api_key_uses'] })

const expectErrorShape = (answer: Answer, note: string) => expectShape(answer, server.clock.now(), note)

async function expectNothingStored(act: () => Promise<void>): Promise<void> {
  // The last-seen time is written now and then.
  await owner.get('/v1/auth/session')
  const before = await everythingStored()
  await act()
  expect(await everythingStored()).toEqual(before)
}

describe('every operation refuses a body that is not valid JSON', () => {
  const deep = (open: string, close: string) => open.repeat(10_000) + close.repeat(10_000)
  /** By what is wrong with them. */
  const bad: Array<[code: string, bodies: Array<[what: string, body: string | Uint8Array]>]> = [
    [
      'malformed_json',
      [
        ['garbage', 'not json'],
        ['a truncated object', '{"subscriberId":"a'],
        ['a truncated escape', '{"subscriberId":"\\u00'],
        ['two values', '{} {}'],
        ['single quotes', "{'subscriberId':'a'}"],
        ['a trailing comma', '{"subscriberId":"a",}'],
        ['NaN', '{"data":{"n":NaN}}'],
        ['a raw NUL', '{"subscriberId":"a\0b"}'],
        ['a raw line break in a string', '{"subscriberId":"a\nb"}'],
      ],
    ],
    [
      'malformed_json',
      [
        ['bytes that are not UTF-8', Buffer.from('7b2261223a22ff227d', 'hex')],
        ['an overlong encoding', Buffer.from('7b2261223a22c0af227d', 'hex')],
        ['half a surrogate pair as bytes', Buffer.from('7b2261223a22eda080227d', 'hex')],
      ],
    ],
    [
      'malformed_json',
      [
        ['objects nested 10,000 deep', deep('{"a":', '}').replace('}', '1}')],
        ['lists nested 10,000 deep', deep('[', ']')],
        ['lists that are never closed', '['.repeat(50_000)],
      ],
    ],
    [
      'malformed_json',
      [
        ['a __proto__ member', '{"subscriberId":"a","__proto__":{"polluted":1}}'],
        ['a nested __proto__ member', '{"subscriberId":"a","data":{"x":{"__proto__":{"polluted":1}}}}'],
        ['a __proto__ member in disguise', '{"data":{"\\u005f_proto__":{"polluted":1}}}'],
        ['constructor.prototype', '{"data":{"constructor":{"prototype":{"polluted":1}}}}'],
      ],
    ],
    [
      'invalid_text',
      [
        ['an escaped NUL', '{"subscriberId":"a\\u0000b"}'],
        ['an escaped NUL in a name', '{"subscriberId":"a","data":{"a\\u0000":1}}'],
      ],
    ],
    [
      'invalid_text',
      [
        ['half a surrogate pair', '{"subscriberId":"a","firstName":"\\ud83d"}'],
        ['the other half', '{"subscriberId":"a","data":{"deep":[{"x":"\\uDE00\\uD83D"}]}}'],
        ['half a surrogate pair in a name', '{"subscriberId":"a","data":{"\\udfff":1}}'],
      ],
    ],
    [
      'invalid_text',
      [
        ['1e400', '{"subscriberId":"a","data":{"n":1e400}}'],
        ['-1E+999', '{"subscriberId":"a","data":{"n":[-1E+999]}}'],
        ['a number of 310 digits', `{"subscriberId":"a","data":{"n":${'9'.repeat(310)}}}`],
        ['250 digits and an exponent', `{"subscriberId":"a","data":{"n":${'9'.repeat(250)}e99}}`],
      ],
    ],
  ]
  const rows = bad.flatMap(([code, bodies]) =>
    bodies.map(([what, body], place) => ({
      what,
      body,
      code,
      isFor: (index: number) => index % bodies.length === place,
    })),
  )
  /** They read bodies in ways of their own. */
  const readsItself = ({ path }: Operation) => /^\/v1\/events\/trigger|\/import\/|^\/[al]\//.test(path)

  // All others share one parser: each of them meets every kind of mistake, and every mistake meets many of them.
  test.each(rows)('$what', async ({ body, code, isFor }) => {
    await expectNothingStored(async () => {
      for (const [index, operation] of withBody().entries()) {
        if (!isFor(index) && !readsItself(operation)) continue
        const answer = await send(operation, filled(operation), body)
        const note = `${operation.method} ${operation.path}`
        expect([note, answer.status, answer.body.code]).toEqual([note, 400, code])
        expectErrorShape(answer, note)
      }
    })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test.each(['null', '5', '-0.5', '"text"', 'true', '[]', '[{"subscriberId":"a"}]', '[[]]'])(
    'the JSON value %s instead of an object',
    async (body) => {
      await expectNothingStored(async () => {
        for (const operation of withBody()) {
          const answer = await send(operation, filled(operation), body)
          const note = `${operation.method} ${operation.path}`
          expect([note, answer.status]).toEqual([note, 422])
          expectErrorShape(answer, note)
          if (operation.body?.type === 'object')
            expect([note, answer.body.errors.general?.messages]).toEqual([note, ['body must be an object']])
        }
      })
    },
  )
})

describe('the kind and size of a body', () => {
  test('a body over 100 KB is too large, however it is sent', async () => {
    await expectNothingStored(async () => {
      const body = JSON.stringify({ type: 'a', id: 'b', data: { text: 'x'.repeat(100 * 1024) } })
      const whole = await server.api.post('/v2/contexts', body)
      expect(whole).toMatchObject({ status: 413, body: { message: 'Payload Too Large', code: 'body_too_large' } })
      expectErrorShape(whole, 'whole')
      const inPieces = await fetch(`${server.url}/v2/contexts`, {
        method: 'POST',
        headers: { ...json, authorization: `ApiKey ${server.api.key}` },
        body: new Blob([body]).stream(),
        duplex: 'half',
      })
      expect(inPieces.status).toBe(413)
      expect(await inPieces.json()).toMatchObject({ message: 'Payload Too Large' })
    })
    const form = await server.api.post('/v2/contexts', `type=a&id=${'x'.repeat(110_000)}`, {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(form.status).toBe(413)
  })

  test('exactly 100 KB are read', async () => {
    const frame = JSON.stringify({ type: 'a', id: 'b', ignored: '' }).length
    const body = JSON.stringify({ type: 'a', id: 'b', ignored: 'x'.repeat(100 * 1024 - frame) })
    expect((await server.api.post('/v2/contexts', body)).status).toBe(201)
    expect((await server.api.post('/v2/contexts', body.replace('x', 'xx'))).status).toBe(413)
    await server.api.delete('/v2/contexts/a/b')
  })

  test('a body without a content type is refused, and the answer says what is missing', async () => {
    await expectNothingStored(async () => {
      const answer = await fetch(`${server.url}/v2/subscribers`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${server.api.key}` },
        body: new Blob(['{"subscriberId":"a"}']),
      })
      expect(answer.status).toBe(415)
      expect(await answer.json()).toMatchObject({
        code: 'unsupported_media_type',
        message: 'The request has a body, but no Content-Type; send "Content-Type: application/json"',
      })
    })
  })

  test.each(['text/plain', 'text/xml', 'application/xml', 'multipart/form-data; boundary=x', 'nonsense', 'a/b; c'])(
    'content of type %s is refused',
    async (type) => {
      await expectNothingStored(async () => {
        const answer = await server.api.post('/v2/subscribers', '{"subscriberId":"a"}', { 'content-type': type })
        expect(answer).toMatchObject({
          status: 415,
          body: {
            message: `Unsupported content type "${type}"; send application/json`,
            code: 'unsupported_media_type',
          },
        })
        expectErrorShape(answer, type)
      })
    },
  )

  test('content without a type is refused', async () => {
    const response = await fetch(`${server.url}/v2/subscribers`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${server.api.key}` },
      body: Buffer.from('{"subscriberId":"a"}'),
    })
    expect(response.status).toBe(415)
  })

  test('the content type may have parameters', async () => {
    const api = await server.freshApi()
    for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON'])
      expect((await api.post('/v2/subscribers', '{"subscriberId":"a"}', { 'content-type': type })).status).toBe(201)
  })

  test('a missing body lacks the required members', async () => {
    await expectNothingStored(async () => {
      for (const headers of [json, {}]) {
        const answer = await server.api.send('POST', '/v2/subscribers', undefined, headers)
        expect(answer).toMatchObject({
          status: 422,
          body: { errors: { general: { messages: ['SubscriberId is required'] } } },
        })
      }
    })
  })

  test('URL-encoded bodies are read too', async () => {
    const api = await server.freshApi()
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await api.post('/v2/subscribers', 'subscriberId=ada&firstName=Ada+B%26C&lastName=%C3%BC&x=1', form)
    expect(answer).toMatchObject({
      status: 201,
      body: { subscriberId: 'ada', firstName: 'Ada B&C', lastName: 'ü' },
    })
    const bad: Array<[string, number]> = [
      ['subscriberId=a&subscriberId=b', 422],
      ['subscriberId=%00', 400],
      ['subscriberId=%', 400],
      ['subscriberId=%ff', 400],
      ['__proto__=x', 422],
      ['', 422],
    ]
    for (const [body, status] of bad) {
      const refused = await api.post('/v2/subscribers', body, form)
      expect([body, refused.status]).toEqual([body, status])
      expectErrorShape(refused, body)
    }
    expect((await api.get('/v2/subscribers')).body.totalCount).toBe(1)
  })
})

describe('unusual but valid input', () => {
  test('of two members with the same name the last one counts', async () => {
    const api = await server.freshApi()
    const answer = await api.post('/v2/subscribers', '{"subscriberId":"a","firstName":"x","firstName":"y"}')
    expect(answer).toMatchObject({ status: 201, body: { firstName: 'y' } })
  })

  test('every other character is stored and read back unchanged', async () => {
    const api = await server.freshApi()
    const text = '\u0001\t\n"\\ ü ✓ 😀 \u202e \ufeff \uffff 👩‍👩‍👧 \u2028 %00 \\u0000 constructor __proto__'
    const data = { [text]: [text, 1e300, 5e-324, -0.1, 123456789012345, { constructor: text, hasOwnProperty: 1 }] }
    const created = await api.post('/v2/subscribers', { subscriberId: text, firstName: text, data })
    expect(created.status).toBe(201)
    const found = await api.get(`/v2/subscribers/${encodeURIComponent(text)}`)
    expect(found.body).toMatchObject({ subscriberId: text, firstName: text, data })
    expect((await api.get(`/v2/subscribers?name=${encodeURIComponent(text)}`)).body.totalCount).toBe(1)
  })

  test('members named like those of Object.prototype do no harm', async () => {
    const api = await server.freshApi()
    const odd = '{"subscriberId":"a","constructor":"x","toString":1,"valueOf":null,"hasOwnProperty":[]}'
    expect((await api.post('/v2/subscribers', odd)).status).toBe(201)
    expect((await api.get('/v2/subscribers?__proto__=x&constructor=y&toString=z&limit=1')).status).toBe(200)
  })

  test('a hundred levels of nesting are allowed', async () => {
    const api = await server.freshApi()
    const nested = (levels: number) => `{"subscriberId":"a","data":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`
    expect((await api.post('/v2/subscribers', nested(99))).status).toBe(201)
    expect((await api.post('/v2/subscribers', nested(100))).status).toBe(400)
    // Brackets inside strings do not nest.
    const text = JSON.stringify({ subscriberId: 'a', firstName: `${'['.repeat(500)}"\\` })
    expect((await api.post('/v2/subscribers', text)).status).toBe(201)
  })
})

describe('the URL', () => {
  test.each([
    '/v2/subscribers/%',
    '/v2/subscribers/%zz',
    '/v2/subscribers/%ff',
    '/v2/subscribers/%c0%af',
    '/v2/subscribers/a%00b',
    '/v2/subscribers/%ed%a0%80',
    '/v2/subscribers?name=%',
    '/v2/subscribers?name=100%',
    '/v2/subscribers?name=%ff',
    '/v2/subscribers?name=a%00b',
    '/v2/subscribers?%00=a',
    '/v2/subscribers?after=%00',
  ])('%s is refused', async (path) => {
    const answer = await server.api.get(path)
    expect(answer.status).toBe(400)
    expect(['malformed_encoding', 'invalid_text']).toContain(answer.body.code)
    expectErrorShape(answer, path)
  })

  test('text is decoded once', async () => {
    const api = await server.freshApi()
    for (const subscriberId of ['100%', '%2500', '%00', 'a/b', 'a b', 'a+b', '?', '#', '..;', 'ü'])
      expect((await api.post('/v2/subscribers', { subscriberId })).body.subscriberId).toBe(subscriberId)
    for (const subscriberId of ['100%', '%2500', '%00', 'a/b', 'a b', 'a+b', '?', '#', '..;', 'ü']) {
      const encoded = encodeURIComponent(subscriberId)
      expect((await api.get(`/v2/subscribers/${encoded}`)).body.subscriberId).toBe(subscriberId)
      const { data } = (await api.get(`/v2/subscribers?subscriberId=${encoded}`)).body
      expect(data).toEqual([expect.objectContaining({ subscriberId })])
    }
  })

  test('an overlong path segment is refused with 414', async () => {
    expect((await server.api.get(`/v2/subscribers/${'x'.repeat(2_000)}`)).body.code).toBe('subscriber_not_found')
    const answer = await server.api.get(`/v2/subscribers/${'x'.repeat(2_001)}`)
    expect(answer).toMatchObject({ status: 414, body: { code: 'url_too_long' } })
    expectErrorShape(answer, 'long')
    expect((await server.api.get(`/v2/subscribers?name=${'x'.repeat(10_000)}`)).status).toBe(200)
  })

  test.each([
    ['limit=abc', 'limit must be a number conforming to the specified constraints'],
    ['limit=1.5', 'limit must be a number conforming to the specified constraints'],
    ['limit=', 'limit must be a number conforming to the specified constraints'],
    ['limit=true', 'limit must be a number conforming to the specified constraints'],
    ['limit=Infinity', 'limit must be a number conforming to the specified constraints'],
    ['limit=0x10', 'limit must be a number conforming to the specified constraints'],
    ['limit=1e400', 'limit must be a number conforming to the specified constraints'],
    ['limit=1&limit=2', 'limit must be a number conforming to the specified constraints'],
    ['limit=-1', 'limit must not be less than 1'],
    ['limit=101', 'limit must not be greater than 100'],
    [`limit=${'9'.repeat(400)}`, 'limit must be a number conforming to the specified constraints'],
    ['name=a&name=b', 'name must be a string'],
    ['after=a&after=b', 'after must be a string'],
  ])('the query %s is refused', async (query, message) => {
    const answer = await server.api.get(`/v2/subscribers?${query}`)
    expect(answer).toMatchObject({ status: 422, body: { path: `/v2/subscribers?${query}` } })
    expectErrorShape(answer, query)
    expect(Object.values<any>(answer.body.errors)[0].messages).toContain(message)
  })

  test.each([
    'limit=0',
    'limit=5&limit[]=7',
    'limit[gt]=5',
    'a[b][c][d][e][f][g]=1',
    'unknown=1',
    'orderBy=nonsense',
    'orderDirection=sideways',
    'includeCursor=maybe',
    'after=nonsense',
    'before=000000000000000000000000',
    `after=${'x'.repeat(5_000)}`,
    '&&&=&=&',
    'limit',
  ])('the query %s is tolerated', async (query) => {
    const answer = await server.api.get(`/v2/subscribers?${query}`)
    // A name without a value has an empty value, which is not a number.
    expect(answer.status).toBe(query === 'limit' ? 422 : 200)
    if (query.startsWith('after') || query.startsWith('before'))
      expect(answer.body).toEqual({ data: [], next: null, previous: null, totalCount: 0, totalCountCapped: false })
  })
})

describe('a validation error lists problems', () => {
  const messagesOf = (answer: Answer) =>
    Object.values<any>(answer.body.errors).flatMap((entry) => entry.messages as string[])

  test('all of it at once, with the path to each place', async () => {
    const answer = await server.api.post('/v2/subscribers', {
      subscriberId: '',
      firstName: 5,
      email: 'nobody',
      locale: 'nowhere',
      timezone: 'Mars/Olympus',
      data: [],
    })
    expect(messagesOf(answer).sort()).toEqual(
      [
        'SubscriberId is required',
        'firstName must be a string',
        'email must be an email',
        'locale must be locale',
        'timezone must be a valid IANA time-zone',
        'data must be an object',
      ].sort(),
    )
  })

  test('naming the list, when one of its items is wrong', async () => {
    const answer = await server.api.post('/v1/subscribers/bulk', { subscribers: ['a', 5, { subscriberId: 7 }] })
    expect(answer.status).toBe(422)
    expect(messagesOf(answer)).toEqual(
      expect.arrayContaining([
        'each value in subscribers must be an object',
        'subscribers.2.subscriberId must be a string',
      ]),
    )
  })

  test('up to a point: a long list of wrong items is answered briefly and at once', async () => {
    const items = (count: number, item: unknown) => ({ subscribers: Array.from({ length: count }, () => item) })
    for (const body of [items(20_000, 5), items(3_000, { subscriberId: 5, email: 5 }), items(400, { email: 'x' })]) {
      const answer = await server.api.post('/v1/subscribers/bulk', body)
      expect(answer.status).toBe(422)
      expect(messagesOf(answer).length).toBeLessThanOrEqual(50)
    }
  })

  test('identifiers too long for an index are refused by name', async () => {
    const long = 'x'.repeat(256)
    for (const [path, body, message] of [
      ['/v2/subscribers', { subscriberId: long }, 'subscriberId must be shorter than or equal to 255 characters'],
      ['/v2/contexts', { type: long, id: 'a' }, 'type must be shorter than or equal to 100 characters'],
    ] as const) {
      const answer = await server.api.post(path, body)
      expect(answer.status).toBe(422)
      expect(messagesOf(answer)).toContain(message)
    }
  })
})
