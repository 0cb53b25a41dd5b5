import { generateKeyPairSync } from 'node:crypto'
import { connect } from 'node:net'
import { jwtVerify } from 'jose'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { plainPush, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { HttpClient } from '../http-client.ts'
import { apns } from './apns.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const secretKey = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const credentials = { secretKey, apiKey: 'KEY1234567', projectName: 'TEAM123456', applicationId: 'com.acme.app' }
const url = 'https://api.sandbox.push.apple.com/3/device/device-token'
const headers = {
  authorization: expect.stringMatching(/^bearer ey[\w-]+\.[\w-]+\.[\w-]{86}$/),
  'apns-topic': 'com.acme.app',
  'apns-push-type': 'alert',
  'apns-priority': '10',
  'apns-collapse-id': '6630a1b2c3d4e5f601020304',
  'apns-id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
}
const accepted = { headers: { 'apns-id': 'EC1BF194-B3B2-424A-89A9-5A918A6E6B5D' }, body: '' }
const result = { providerMessageId: 'EC1BF194-B3B2-424A-89A9-5A918A6E6B5D' }
const json = (value: unknown) => JSON.stringify(value)

testProvider(apns, {
  speaks: 'h2',
  credentials,
  accepted,
  errorBody: (reason) => ({ reason }),
  notJson: 'accepted',

  sends: [
    {
      title: "in Apple's sandbox, with the payload beside what is shown",
      message: { payload: { order: 7, __nvMessageId: 'm1' } },
      requests: [
        { url, headers, text: json({ order: 7, __nvMessageId: 'm1', aps: { alert: { title: 'Hello', body: 'Hi' } } }) },
      ],
      result,
    },
    {
      title: 'in production, with what the caller wishes in the words all push providers share',
      credentials: { secure: true },
      message: {
        overrides: {
          badge: 3,
          sound: 'chime.caf',
          categoryId: 'invite',
          subtitle: 'Again',
          mutableContent: true,
          ttl: 60,
          collapseId: 'orders',
          bodyLocKey: 'BODY',
          icon: 'for others',
        },
      },
      requests: [
        {
          url: 'https://api.push.apple.com/3/device/device-token',
          headers: { 'apns-collapse-id': 'orders', 'apns-expiration': '1777629660' },
          text: json({
            aps: {
              alert: { title: 'Hello', body: 'Hi', subtitle: 'Again', 'loc-key': 'BODY' },
              badge: 3,
              sound: 'chime.caf',
              category: 'invite',
              'mutable-content': 1,
            },
          }),
        },
      ],
      result,
    },
    {
      title: "with members of Apple's own",
      message: {
        overrides: { badge: 3 },
        providerData: {
          badge: 4,
          contentAvailable: true,
          threadId: 't',
          interruptionLevel: 'time-sensitive',
          titleLocKey: 'TITLE',
          expiry: 1800000000,
          priority: 5,
          payload: { extra: 1 },
          _passthrough: { body: { aps: { 'filter-criteria': 'work' } } },
        },
      },
      requests: [
        {
          url,
          headers: { 'apns-priority': '5', 'apns-expiration': '1800000000' },
          text: json({
            extra: 1,
            aps: {
              alert: { title: 'Hello', body: 'Hi', 'title-loc-key': 'TITLE' },
              badge: 4,
              'thread-id': 't',
              'content-available': 1,
              'interruption-level': 'time-sensitive',
              'filter-criteria': 'work',
            },
          }),
        },
      ],
      result,
    },
    {
      title: 'in the background, showing nothing',
      message: { providerData: { pushType: 'background', contentAvailable: 1 }, payload: { sync: true } },
      requests: [
        {
          url,
          headers: { 'apns-push-type': 'background', 'apns-priority': '5' },
          text: json({ sync: true, aps: { 'content-available': 1 } }),
        },
      ],
      result,
    },
    {
      title: 'as the caller wrote all of it',
      message: { providerData: { rawPayload: { aps: { alert: 'Mine' }, own: true } } },
      requests: [{ url, headers, text: json({ aps: { alert: 'Mine' }, own: true }) }],
      result,
    },
  ],

  refusals: [
    [
      'the app was removed',
      { status: 410, body: { reason: 'Unregistered', timestamp: 1777629600000 } },
      { code: 'recipient_refused', kind: 'address', says: 'Unregistered', status: 410 },
    ],
    [
      'the token is none',
      { status: 400, body: { reason: 'BadDeviceToken' } },
      { code: 'recipient_refused', kind: 'address' },
    ],
    ['the token is of another app', { status: 400, body: { reason: 'DeviceTokenNotForTopic' } }, { kind: 'address' }],
    [
      'the message is too large',
      { status: 413, body: { reason: 'PayloadTooLarge' } },
      { code: 'message_refused', kind: 'never' },
    ],
    ['the key is not good', { status: 403, body: { reason: 'InvalidProviderToken' } }, { code: 'unauthorized' }],
    ['the bundle is not ours', { status: 400, body: { reason: 'TopicDisallowed' } }, { kind: 'credentials' }],
    ['too many at once', { status: 429, body: { reason: 'TooManyRequests' } }, { code: 'rate_limited', kind: 'later' }],
    ['it is shutting down', { status: 503, body: { reason: 'Shutdown' } }, { code: 'unavailable', kind: 'later' }],
  ],
})

describe('when Apple accepts one request at a time', () => {
  const vendor = useVendor({ speaks: 'h2', atATime: 1 })
  const delivery = new Delivery({ http: useHttpTo(vendor), clock: { now: () => new Date() }, brand: 'acme' })
  afterAll(() => delivery.close())

  test('the others wait, and none is lost', async () => {
    vendor.plays(() => accepted)
    await Promise.all(Array.from({ length: 150 }, () => delivery.send(apns, { id: 'one', credentials }, plainPush)))
    expect(vendor.asked).toHaveLength(150)
    expect(vendor.taken.size).toBe(1)
  })
})

describe('a request to Apple', () => {
  const vendor = useVendor({ speaks: 'h2' })
  const http = useHttpTo(vendor)
  let now = new Date('2026-05-01T10:00:00.000Z')
  const delivery = new Delivery({ http, clock: { now: () => now }, brand: 'acme' })
  afterAll(() => delivery.close())

  let integrations = 0
  beforeEach(() => {
    integrations += 1
    vendor.taken.clear()
    vendor.plays(() => accepted)
  })
  const send = (own = credentials) => delivery.send(apns, { id: `i${integrations}`, credentials: own }, plainPush)
  const tokens = () => vendor.asked.map(({ headers }) => headers.authorization)

  test("is signed with the team's key", async () => {
    await send()
    const token = String(tokens()[0]).replace('bearer ', '')
    const { payload, protectedHeader } = await jwtVerify(token, publicKey, { algorithms: ['ES256'], currentDate: now })
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY1234567' })
    expect(payload).toEqual({ iss: 'TEAM123456', iat: Math.floor(now.getTime() / 1000) })
  })

  test('reuses one connection and one token, until the token expires', async () => {
    await Promise.all(Array.from({ length: 20 }, () => send()))
    expect(vendor.taken.size).toBe(1)
    expect(new Set(tokens()).size).toBe(1)
    now = new Date(now.getTime() + 50 * 60_000)
    await send()
    expect(vendor.taken.size).toBe(1)
    expect(new Set(tokens()).size).toBe(2)
  })

  test('a token that expired early is replaced', async () => {
    await send()
    now = new Date(now.getTime() + 60_000)
    const [old] = tokens()
    vendor.plays(({ headers }) =>
      headers.authorization === old ? { status: 403, body: { reason: 'ExpiredProviderToken' } } : accepted,
    )
    expect(await send()).toEqual(result)
    expect(vendor.asked).toHaveLength(3)
  })

  test('goes over a new connection when the old one was closed', async () => {
    await send()
    vendor.disconnect()
    // Either the client notices the closed connection, or this attempt fails and the next one reconnects.
    await send().catch(() => undefined)
    expect(await send()).toEqual(result)
    expect(vendor.taken.size).toBe(2)
  })

  test('goes over a new connection when the last request got no answer', async () => {
    const impatient = new Delivery({ http, clock: { now: () => now }, brand: 'acme', timeoutMs: 1_000 })
    const attempt = () => impatient.send(apns, { id: 'one', credentials }, plainPush)
    await attempt()
    vendor.plays(() => undefined)
    await expect(attempt()).rejects.toMatchObject({ code: 'timeout' })
    vendor.plays(() => accepted)
    expect(await attempt()).toEqual(result)
    expect(vendor.taken.size).toBe(2)
    await impatient.close()
  })

  test("is not sent to a server without Apple's certificate", async () => {
    const { port } = new URL(vendor.url)
    const doubtful = new HttpClient({
      clock: { now: () => now },
      allowPrivateAddresses: true,
      connect: (_, callback) => {
        const socket = connect(Number(port), '127.0.0.1', () => callback(null, socket))
      },
    })
    const careful = new Delivery({ http: doubtful, clock: { now: () => now }, brand: 'acme' })
    const attempt = careful.send(apns, { id: 'one', credentials }, plainPush)
    await expect(attempt).rejects.toMatchObject({ code: 'certificate_refused', mayHaveArrived: false })
    expect(vendor.asked).toEqual([])
    await careful.close()
  })

  test('is not sent without a valid private key', async () => {
    await expect(send({ ...credentials, secretKey: 'not a key' })).rejects.toMatchObject({
      code: 'incomplete_credentials',
      says: 'The private key is not the content of a .p8 file',
    })
    expect(vendor.asked).toEqual([])
  })
})
