import { describe, expect, test } from 'vitest'
import { testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import type { SmsMessage } from '../provider.ts'
import { genericSms } from './generic-sms.ts'

const url = 'https://sms.example.com/send?tenant=1'
const headers = { 'x-api-key': 'api-key' }
const id = '6630a1b2c3d4e5f601020304'
const plain = { to: '+15550100', from: 'Acme', content: 'Hi', id, customData: {}, sender: 'Acme' }
const result = { providerMessageId: 'm-1', date: '2026-05-01' }
const byToken = {
  authenticateByToken: true,
  domain: 'https://sms.example.com/login',
  authenticationTokenKey: 'X-Token',
}
const credentials = {
  baseUrl: url,
  apiKeyRequestHeader: 'X-Api-Key',
  apiKey: 'api-key',
  idPath: 'data.id',
  datePath: 'data.date',
  from: 'Acme',
}

testProvider(genericSms, {
  credentials,
  accepted: { body: { data: { id: 'm-1', date: '2026-05-01' } } },
  errorBody: (message) => ({ message }),
  notJson: 'accepted',

  sends: [
    { title: 'with the key in its header', requests: [{ url, headers, json: plain }], result },
    {
      title: "with two keys, and members of the receiver's own",
      credentials: { secretKeyRequestHeader: 'X-Secret', secretKey: 'secret-key' },
      message: {
        from: 'Shop',
        customData: { a: 1 },
        providerData: { priority_level: 2, _passthrough: { headers: { 'X-Trace': 't' } } },
      },
      requests: [
        {
          url,
          headers: { ...headers, 'x-secret': 'secret-key', 'x-trace': 't' },
          json: { ...plain, from: 'Shop', sender: 'Shop', customData: { a: 1 }, priorityLevel: 2 },
        },
      ],
      result,
    },
    {
      title: 'after asking for a token, which then stands for the keys',
      credentials: byToken,
      replies: [{ body: { data: { 'X-Token': 'token-1' } } }, { body: { data: { id: 'm-1', date: '2026-05-01' } } }],
      requests: [
        { url: 'https://sms.example.com/login', headers },
        { url, headers: { 'x-token': 'token-1' }, json: plain },
      ],
      result,
    },
    {
      title: 'and its answer has nothing at the path: our id is stored',
      replies: [{ body: { id: 'm-1' } }],
      requests: [{ url, json: plain }],
      result: { providerMessageId: id },
    },
    {
      title: 'and its answer is read at the usual paths where none are set',
      credentials: { idPath: '', datePath: '' },
      replies: [{ body: { id: 7, date: '2026-05-02' } }],
      requests: [{ url, json: plain }],
      result: { providerMessageId: '7', date: '2026-05-02' },
    },
  ],

  refusals: [
    ['it says why in another way', { status: 422, body: { error: { message: 'no' } } }, { says: 'no' }],
    ['it says why in plain text', { status: 422, body: 'not like this' }, { says: 'not like this' }],
  ],
})

describe('the token of an SMS webhook', () => {
  const vendor = useVendor()
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })
  const message: SmsMessage = {
    ...{ channel: 'sms', id, attempt: 1, to: '+15550100', content: 'Hi', providerData: {}, customData: {} },
  }
  const send = (own: object) =>
    delivery.send(genericSms, { id: JSON.stringify(own), credentials: { ...credentials, ...byToken, ...own } }, message)

  test('is reused until it is refused, then fetched once more', async () => {
    let token = 0
    let good = 'token-1'
    vendor.plays(({ path, headers: { 'x-token': given } }) => {
      if (path === '/login') {
        token += 1
        return { body: { data: { 'X-Token': `token-${token}` } } }
      }
      return given === good ? { body: { data: { id: `by-${given}` } } } : { status: 401, body: {} }
    })
    expect((await send({})).providerMessageId).toBe('by-token-1')
    expect((await send({})).providerMessageId).toBe('by-token-1')
    good = 'token-2'
    expect((await send({})).providerMessageId).toBe('by-token-2')
    expect(vendor.asked.map(({ path }) => path)).toEqual(['/login', '/send', '/send', '/send', '/login', '/send'])
    good = 'token-9'
    await expect(send({})).rejects.toMatchObject({ code: 'unauthorized', kind: 'credentials' })
  })

  test('that cannot be fetched is a credentials error', async () => {
    vendor.plays(() => ({ body: { token: 'elsewhere' } }))
    await expect(send({ a: 1 })).rejects.toMatchObject({ code: 'unauthorized' })
    await expect(send({ domain: '' })).rejects.toMatchObject({ code: 'incomplete_credentials' })
    expect(vendor.asked).toHaveLength(1)
  })
})
