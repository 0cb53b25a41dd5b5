import { createECDH, createPublicKey, verify } from 'node:crypto'
import * as ece from 'http_ece'
import { describe, expect, test } from 'vitest'
import { testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { isPoint, newVapidKeys } from '../../db/core/vapid.ts'
import { Delivery } from '../delivery.ts'
import type { PushMessage } from '../provider.ts'
import { noticeOf, webPushProvider } from './web-push.ts'

// RFC 8291, section 5 and appendix A.
const receiver = {
  privateKey: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  says: 'When I grow up, I want to be a watermelon',
}
const keyOf = (privateKey: string) => {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(Buffer.from(privateKey, 'base64url'))
  return pair
}
const open = (body: Buffer): string =>
  ece
    .decrypt(body, { version: 'aes128gcm', privateKey: keyOf(receiver.privateKey), authSecret: receiver.auth })
    .toString()

const keys = newVapidKeys()
const endpoint = 'https://push.example.net/send/very-secret'
const subscription = {
  ...{ endpoint, p256dh: receiver.p256dh, auth: receiver.auth },
  ...{ page: 'https://acme.example', contact: 'mailto:belfry@localhost' },
}
const message: PushMessage = {
  ...{ channel: 'push', id: 'm1', attempt: 1, target: 'browser-1', title: 'Hello', content: 'Hi', subscription },
  ...{ payload: {}, overrides: {}, subscriber: { locale: 'de_DE' }, providerData: {}, customData: {} },
  step: { digest: false, events: [], total_count: 0 },
}

// RFC 8292, section 2.4.
const example =
  'vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs'

/** What a push service reads in the header; throws unless the signature is that of the key. */
function claimsOf(authorization: string): Record<'key' | 'aud' | 'sub', string> & { exp: number } {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(\S+)$/.exec(authorization) ?? []
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const jwk = {
    ...{ kty: 'EC', crv: 'P-256' },
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  const publicKey = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const }
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ typ: 'JWT', alg: 'ES256' })
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  return { key, ...JSON.parse(Buffer.from(claims, 'base64url').toString()) }
}

testProvider(webPushProvider, {
  credentials: { applicationId: keys.publicKey, secretKey: keys.privateKey, from: 'mailto:ops@acme.example' },
  message: { subscription },
  accepted: { status: 201, body: '' },
  errorBody: (words) => words,
  notJson: 'accepted',
  sends: [
    {
      title: 'encrypted for the browser',
      requests: [
        {
          url: endpoint,
          headers: { 'content-encoding': 'aes128gcm', ttl: '86400', urgency: 'normal' },
          text: expect.any(String),
        },
      ],
      result: { providerMessageId: '6630a1b2c3d4e5f601020304', date: '2026-05-01T10:00:00.000Z' },
    },
  ],
  refusals: [
    ['a browser that is gone', { status: 410, body: 'gone' }, { code: 'recipient_refused', kind: 'address' }],
    ['an endpoint that is unknown', { status: 404, body: 'unknown' }, { code: 'recipient_refused', kind: 'address' }],
    ['too large', { status: 413, body: 'large' }, { code: 'message_refused', kind: 'never' }],
    ['a bad request', { status: 400, body: 'bad' }, { code: 'message_refused', kind: 'never' }],
    ['another key', { status: 403, body: 'no' }, { code: 'unauthorized', kind: 'credentials' }],
  ],
})

describe('a web push request', () => {
  const vendor = useVendor()
  const now = new Date()
  const delivery = new Delivery({ http: useHttpTo(vendor, now), clock: { now: () => now }, brand: 'acme' })
  const credentials = { applicationId: keys.publicKey, secretKey: keys.privateKey, from: 'https://acme.example' }
  const send = async (own: Partial<PushMessage> = {}) => {
    vendor.plays(() => ({ status: 201, body: '' }))
    await delivery.send(webPushProvider, { id: 'one', credentials }, { ...message, ...own })
    const asked = vendor.asked.at(-1)
    if (!asked) throw new Error('Nothing was asked.')
    return asked
  }

  test('decrypts to a declarative message, with a new salt and key each time', async () => {
    expect(open(Buffer.from(receiver.body, 'base64url'))).toBe(receiver.says)
    const [one, other] = [await send(), await send()]
    expect(JSON.parse(open(one.bytes))).toEqual({
      web_push: 8030,
      notification: {
        ...{ title: 'Hello', body: 'Hi', navigate: 'https://acme.example', lang: 'de-DE', dir: 'auto' },
        data: { messageId: 'm1' },
      },
    })
    expect(one.bytes.subarray(0, 86).equals(other.bytes.subarray(0, 86))).toBe(false)
  })

  test('is signed for the push service, with the key that browsers know', async () => {
    const { headers } = await send()
    expect(claimsOf(example)).toEqual({
      ...{ key: expect.stringMatching(/^BA1Hxzyi/), aud: 'https://push.example.net', exp: 1453523768 },
      sub: 'mailto:push@example.com',
    })
    const { key, aud, exp, sub } = claimsOf(String(headers.authorization))
    expect(key).toBe(keys.publicKey)
    expect([aud, sub]).toEqual(['https://push.example.net', 'https://acme.example'])
    expect(exp - now.getTime() / 1000).toBeLessThanOrEqual(86_400)
  })

  test('is signed once for each push service, and again if that refuses the signature', async () => {
    const at = (host: string) => ({ subscription: { ...subscription, endpoint: `https://${host}/send/one` } })
    const signatureOf = async (host: string) => (await send(at(host))).headers.authorization
    const first = await signatureOf('push-a.example')
    expect(await signatureOf('push-b.example')).not.toBe(first)
    expect(await signatureOf('push-a.example')).toBe(first)

    vendor.asked.length = 0
    vendor.plays(({ headers }) => ({ status: headers.authorization === first ? 403 : 201, body: '' }))
    await delivery.send(webPushProvider, { id: 'one', credentials }, { ...message, ...at('push-a.example') })
    const signatures = vendor.asked.map(({ headers }) => headers.authorization)
    expect(signatures).toEqual([first, await signatureOf('push-a.example')])

    // People choose their push services: the signatures that are kept have a bound.
    for (let n = 0; n < 50; n += 1) await send(at(`push-${n}.example`))
    expect(await signatureOf('push-a.example')).not.toBe(signatures[1])
  })

  test('says how long to keep it, how urgent it is, and what it replaces', async () => {
    const overrides = {
      ttl: 60,
      urgency: 'very-low',
      topic: 'order 7: a long text that is no token of the RFC',
      url: 'https://a.example/7',
    }
    const asked = await send({ overrides, severity: 'high' })
    expect(asked.headers).toMatchObject({ ttl: '60', urgency: 'very-low', topic: expect.stringMatching(/^[\w-]{32}$/) })
    expect(JSON.parse(open(asked.bytes)).notification.navigate).toBe('https://a.example/7')
    expect((await send({ overrides: { ttl: -1, topic: 'order-7' }, severity: 'high' })).headers).toMatchObject({
      ...{ ttl: '86400', urgency: 'high', topic: 'order-7' },
    })
    expect((await send({ severity: 'low' })).headers.urgency).toBe('low')
  })

  test('has at most 4,096 bytes: a longer text is cut', async () => {
    const { bytes } = await send({ content: '👋🏽é'.repeat(3_000) })
    expect(bytes.length).toBeLessThanOrEqual(4_096)
    expect(bytes.length).toBeGreaterThan(4_080)
    expect(JSON.parse(open(bytes)).notification.body).toMatch(/^(👋🏽é)+.*…$/u)
  })
})

test('a message in a language that is written from right to left says so', () => {
  const notice = noticeOf({ ...message, subscriber: { locale: 'ar' }, overrides: { silent: true, badge: 3, tag: 't' } })
  expect(JSON.parse(notice).notification).toMatchObject({ dir: 'rtl', silent: true, app_badge: '3', tag: 't' })
})

test('a key pair is a point on the curve', () => {
  const { publicKey, privateKey } = newVapidKeys()
  const bytes = Buffer.from(receiver.p256dh, 'base64url')
  const offCurve = Buffer.concat([bytes.subarray(0, 64), Buffer.of((bytes[64] ?? 0) ^ 1)]).toString('base64url')
  expect(keyOf(privateKey).getPublicKey('base64url')).toBe(publicKey)
  expect([publicKey, receiver.p256dh, offCurve, 'BA', ''].map(isPoint)).toEqual([...[true, true, false, false, false]])
})
