import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { useHttp, useVendor, WatchedHttp } from '../../../test/vendor.ts'
import { HttpClient } from '../../providers/http-client.ts'
import { RenderError } from '../../render/limits.ts'
import { situation } from '../../render/liquid.ts'
import type { ControlValues } from '../contract/kind.ts'
import { callAddress, RequestInvalid, resolveRequest } from './http-request-call.ts'

const now = new Date('2026-05-01T10:00:00.000Z')
const signing = { header: 'svc-signature', keys: ['the-key'], now }
const data = {
  payload: {
    id: 'o-1',
    n: 3,
    quote: 'say "hi", \\ and {{payload.id}}',
    attack: '","admin":true,"x":"',
    list: [1, 2],
    user: { name: 'Ann' },
  },
  env: { TOKEN: 's3cret' },
  subscriber: { subscriberId: 'u1' },
}
const resolve = (values: ControlValues) => resolveRequest(values, situation(data, now), signing)
const bodyOf = (body: unknown) => resolve({ method: 'POST', url: 'https://example.com', body }).body
const signed = (body: unknown) =>
  `t=1777629600000,v1=${createHmac('sha256', 'the-key')
    .update(`1777629600000.${JSON.stringify(body)}`)
    .digest('hex')}`

describe('the request', () => {
  test('has its templates rendered, in URL, headers and body', () => {
    expect(
      resolve({
        method: 'put',
        url: ' https://example.com/orders/{{payload.id}}?n={{payload.n}} ',
        headers: [
          { key: 'Authorization', value: 'Bearer {{env.TOKEN}}' },
          { key: 'X-{{subscriber.subscriberId}}', value: '{{payload.n}}' },
        ],
        body: '{"id":"{{payload.id}}","fixed":1}',
      }),
    ).toEqual({
      url: 'https://example.com/orders/o-1?n=3',
      method: 'PUT',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer s3cret',
        'x-u1': '3',
        'svc-signature': signed({ id: 'o-1', fixed: 1 }),
      },
      body: { id: 'o-1', fixed: 1 },
    })
  })

  test('is a POST by default', () => {
    expect(resolve({ url: 'https://example.com' })).toEqual({
      url: 'https://example.com',
      method: 'POST',
      headers: { 'svc-signature': signed({}) },
    })
  })

  test.each(['GET', 'DELETE', 'HEAD', 'OPTIONS'])(
    'carries no body as a %s, and is signed as if it were {}',
    (method) => {
      const request = resolve({ method, url: 'https://example.com', body: '{"a":1}' })
      expect(request).toEqual({ url: 'https://example.com', method, headers: { 'svc-signature': signed({}) } })
    },
  )

  test('cannot override the signature or headers that HTTP sets itself', () => {
    const names = ['SVC-Signature', 'Host', 'Content-Length', 'Transfer-Encoding', 'Connection', ' ', 'Content-Type']
    const headers = [...names.map((key) => ({ key, value: 'mine' })), null, { key: 'X-Empty' }]
    expect(resolve({ url: 'https://example.com', body: '{}', headers }).headers).toEqual({
      'content-type': 'mine',
      'x-empty': '',
      'svc-signature': signed({}),
    })
  })

  test.each([
    ['an object', '{"a":{"b":["{{payload.id}}"]}}', { a: { b: ['o-1'] } }],
    ['a list', '[1,"{{payload.id}}"]', [1, 'o-1']],
    ['names that are templates', '{"{{payload.id}}":true}', { 'o-1': true }],
    ['a text with quotes, which stay inside', '{"a":"{{payload.quote}}"}', { a: data.payload.quote }],
    ['a text that tries to break out', '{"a":"{{payload.attack}}"}', { a: data.payload.attack }],
    [
      'values without quotes',
      '{"n":{{payload.n}},"l":{{payload.list}},"u":{{payload.user}}}',
      {
        n: 3,
        l: [1, 2],
        u: { name: 'Ann' },
      },
    ],
    ['a loop', '[{% for i in payload.list %}{{i}}{% unless forloop.last %},{% endunless %}{% endfor %}]', [1, 2]],
    [
      'JSON that is nearly right',
      '{a: \'b\', "c": [1,2,], // note\n d: {{payload.id}}}',
      { a: 'b', c: [1, 2], d: 'o-1' },
    ],
    ['an older list of pairs', [{ key: 'a', value: '{{payload.id}}' }, { key: '', value: 'x' }, null], { a: 'o-1' }],
    ['an object as such', { a: '{{payload.n}}' }, { a: '3' }],
  ])('has a body of %s', (_, body, expected) => {
    expect(bodyOf(body)).toEqual(expected)
  })

  test.each([undefined, null, '', '  \n'])('has no body when that is %j', (body) => {
    expect(bodyOf(body)).toBeUndefined()
  })

  test.each([
    ['a text', '"text"', 'The body must be a JSON object or array'],
    ['a number', '7', 'The body must be a JSON object or array'],
    ['a word', 'hello', 'The body must be a JSON object or array'],
    ['beyond repair', '{"a":}}}{', 'The body is not valid JSON'],
    ['too long to be repaired', `[${'a,'.repeat(10_000)}`, 'The body is not valid JSON'],
    ['too deep', '['.repeat(5_000), 'The body is not valid JSON'],
  ])('is not sent with a body that is %s', (_, body, message) => {
    expect(() => bodyOf(body)).toThrow(new RequestInvalid(message))
  })

  test.each(['', 'example.com', '/path', 'ftp://example.com', '{{payload.missing}}', 'javascript:alert(1)'])(
    'is not sent to "%s"',
    (url) => {
      expect(() => resolve({ url })).toThrow(new RequestInvalid('The URL is not an absolute http(s) address'))
    },
  )

  test('is not sent with an unknown method', () => {
    expect(() => resolve({ method: 'BREW', url: 'https://example.com' })).toThrow(
      /^The method must be one of GET, POST/,
    )
  })

  test('is not sent if a template is broken', () => {
    for (const values of [{ url: 'https://x.com/{{' }, { url: 'https://x.com', body: '{"a":{% if %}}' }])
      expect(() => resolve(values)).toThrow(RenderError)
  })
})

describe('the call', () => {
  const vendor = useVendor()
  const clock = { now: () => now }
  const http = useHttp()
  beforeEach(() => vendor.plays(() => ({ body: { ok: true } })))
  const call = (values: ControlValues = {}, client = http) => {
    const all = { method: 'POST', url: `${vendor.url}/hook`, ...values }
    return callAddress(client, resolve(all), all)
  }

  test('sends the rendered values, once, and returns the answer', async () => {
    vendor.plays(() => ({ status: 202, body: { id: 7 }, headers: { 'x-id': '7' } }))
    expect(await call({ body: '{"a":"{{payload.id}}"}', headers: [{ key: 'X-A', value: 'b' }] })).toEqual({
      outcome: 'done',
      statusCode: 202,
      headers: expect.objectContaining({ 'x-id': '7' }),
      body: { id: 7 },
      isObject: true,
    })
    expect(vendor.asked).toMatchObject([
      {
        method: 'POST',
        path: '/hook',
        body: '{"a":"o-1"}',
        headers: { 'x-a': 'b', 'content-type': 'application/json', 'svc-signature': signed({ a: 'o-1' }) },
      },
    ])
  })

  test.each([
    ['a list', '[1]', [1]],
    ['a text', '"a"', 'a'],
    ['null', 'null', null],
    ['no JSON', 'plain \0text', 'plain text'],
    ['nothing', '', ''],
    ['JSON that cannot be kept', '{"a":"\\u0000"}', '{"a":"\\u0000"}'],
  ])('accepts %s as an answer, though it is not an object', async (_, text, body) => {
    vendor.plays(() => ({ body: text }))
    expect(await call()).toMatchObject({ outcome: 'done', body, isObject: false })
  })

  test('follows a few redirects', async () => {
    vendor.plays(({ path }) =>
      path === '/hook' ? { status: 307, headers: { location: '/there' }, body: '' } : { body: { there: 1 } },
    )
    expect(await call({ body: '{"a":1}' })).toMatchObject({ body: { there: 1 } })
    expect(vendor.asked[1]).toMatchObject({ method: 'POST', path: '/there', body: '{"a":1}' })
  })

  test.each([400, 404, 500, 503, 302])('fails on status %i, without a retry', async (status) => {
    vendor.plays(() => ({ status, body: { reason: 'no' } }))
    expect(await call()).toMatchObject({
      outcome: 'failed',
      error: `HTTP status ${status}`,
      statusCode: status,
      body: { reason: 'no' },
    })
    expect(vendor.asked).toHaveLength(1)
  })

  test('fails when no answer comes within the timeout', async () => {
    vendor.plays(() => undefined)
    expect(await call({ timeout: 1 })).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('no complete answer before the timeout'),
      transport: { code: 'timeout' },
    })
  })

  test.each([
    ['by default', undefined, 5_000],
    ['below the minimum', 1, 100],
    ['above the maximum', 31_000, 30_000],
    ['within the limits', 12_000, 12_000],
  ])('%s: a timeout of %s waits %i ms', async (_, timeout, timeoutMs) => {
    const watched = new WatchedHttp({ clock, allowPrivateAddresses: true })
    vendor.plays(() => ({ body: {} }))
    await call({ timeout }, watched)
    expect(watched.timeouts).toEqual([timeoutMs])
    await watched.close()
  })

  test('fails on private addresses, unless those are allowed', async () => {
    const guarded = new HttpClient({ clock, allowPrivateAddresses: false })
    expect(await call({}, guarded)).toMatchObject({ outcome: 'failed', transport: { code: 'address_refused' } })
    expect(vendor.asked).toEqual([])
    await guarded.close()
  })

  describe('with a schema for the answer', () => {
    const responseBodySchema = { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] }

    test('fails if the answer must match and does not', async () => {
      vendor.plays(() => ({ body: { id: 'x' } }))
      expect(await call({ responseBodySchema, enforceSchemaValidation: true })).toEqual({
        outcome: 'failed',
        error: 'The answer does not match the response body schema',
        statusCode: 200,
        headers: expect.any(Object),
        body: { id: 'x' },
        schemaErrors: [{ path: '/id', message: 'must be number' }],
      })
      expect(await call({ responseBodySchema })).toMatchObject({ outcome: 'done' })
      vendor.plays(() => ({ body: { id: 1 } }))
      expect(await call({ responseBodySchema, enforceSchemaValidation: true })).toMatchObject({ outcome: 'done' })
    })

    test('leaves the answer unchanged', async () => {
      const schema = { type: 'object', properties: { n: { default: 5 } } }
      expect(await call({ responseBodySchema: schema, enforceSchemaValidation: true })).toMatchObject({
        body: { ok: true },
      })
    })

    test('that is unusable, fails; an empty one accepts everything', async () => {
      expect(await call({ responseBodySchema: { type: 'nonsense' }, enforceSchemaValidation: true })).toMatchObject({
        outcome: 'failed',
        schemaErrors: [{ path: '', message: expect.stringContaining('cannot be checked with this schema') }],
      })
      expect(await call({ responseBodySchema: {}, enforceSchemaValidation: true })).toMatchObject({ outcome: 'done' })
    })
  })
})
