import { generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import { plainPush, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { fcm } from './fcm.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = {
  type: 'service_account',
  project_id: 'acme-app',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  client_email: 'push@acme-app.iam.gserviceaccount.com',
}
const credentials = { serviceAccount: JSON.stringify(account) }
const signedIn = { body: { access_token: 'ya29.token', expires_in: 3599, token_type: 'Bearer' } }
const accepted = { body: { name: 'projects/acme-app/messages/0:1500415314455276' } }
const result = { providerMessageId: 'projects/acme-app/messages/0:1500415314455276' }
const signIn = {
  url: 'https://oauth2.googleapis.com/token',
  form: {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: expect.stringMatching(/^ey[\w-]+\.[\w-]+\.[\w-]+$/) as string,
  },
}
const url = 'https://fcm.googleapis.com/v1/projects/acme-app/messages:send'
const headers = { authorization: 'Bearer ya29.token' }
const sends = (message: object) => [signIn, { url, headers, json: { message } }]
const refusal = (status: number, error: { status: string; message: string; errorCode?: string }) => ({
  status,
  body: {
    error: {
      code: status,
      message: error.message,
      status: error.status,
      details: error.errorCode
        ? [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: error.errorCode }]
        : [],
    },
  },
})

testProvider(fcm, {
  credentials,
  before: [signedIn],
  accepted,
  errorBody: (message) => ({ error: { code: 400, message, status: 'FAILED_PRECONDITION' } }),

  sends: [
    {
      title: 'for one device, without the payload',
      message: { payload: { order: 7, __nvMessageId: 'm1' } },
      requests: sends({
        token: 'device-token',
        notification: { title: 'Hello', body: 'Hi' },
        data: { __nvMessageId: 'm1' },
      }),
      result,
    },
    {
      title: 'with what the caller wishes in the words all push providers share',
      message: {
        overrides: {
          image: 'https://acme.example/a.png',
          icon: 'bell',
          sound: 'chime',
          channelId: 'orders',
          clickAction: 'OPEN',
          bodyLocKey: 'BODY',
          badge: 3,
          categoryId: 'invite',
          subtitle: 'Again',
          mutableContent: true,
          ttl: 60,
          collapseId: 'orders',
          data: { n: 1, text: 'two' },
          android: { priority: 'high', notification: { notificationCount: 3 } },
          apns: { headers: { 'apns-priority': '5' } },
          fcmOptions: { analyticsLabel: 'spring' },
          webPush: { headers: { TTL: '60' } },
        },
      },
      requests: sends({
        token: 'device-token',
        notification: { title: 'Hello', body: 'Hi', image: 'https://acme.example/a.png' },
        data: { n: '1', text: 'two' },
        android: {
          collapse_key: 'orders',
          ttl: '60s',
          priority: 'high',
          notification: {
            icon: 'bell',
            sound: 'chime',
            channel_id: 'orders',
            click_action: 'OPEN',
            body_loc_key: 'BODY',
            notificationCount: 3,
          },
        },
        apns: {
          headers: { 'apns-collapse-id': 'orders', 'apns-priority': '5' },
          payload: {
            aps: {
              alert: { title: 'Hello', subtitle: 'Again', body: 'Hi' },
              badge: 3,
              sound: 'chime',
              category: 'invite',
              'mutable-content': 1,
            },
          },
        },
        fcm_options: { analyticsLabel: 'spring' },
        webpush: { headers: { TTL: '60' } },
      }),
      result,
    },
    {
      title: 'as data only, all of them texts',
      message: { payload: { order: 7, items: ['a'] }, overrides: { type: 'data' } },
      requests: sends({
        token: 'device-token',
        data: { order: '7', items: '["a"]', title: 'Hello', body: 'Hi', message: 'Hi' },
      }),
      result,
    },
    {
      title: 'for a topic, in place of the device',
      message: { target: '', providerData: { topic: 'news', tokens: ['other'] } },
      requests: sends({ topic: 'news', notification: { title: 'Hello', body: 'Hi' } }),
      result,
    },
    {
      title: "with members of the vendor's own",
      message: {
        providerData: {
          android: { collapseKey: 'a' },
          data: { fooBar: 1 },
          _passthrough: { body: { data: { fooBar: 'kept' }, notification: { title: 'Mine' } } },
        },
      },
      requests: sends({
        token: 'device-token',
        notification: { title: 'Mine', body: 'Hi' },
        android: { collapse_key: 'a' },
        data: { foo_bar: '1', fooBar: 'kept' },
      }),
      result,
    },
  ],

  refusals: [
    [
      'the app was removed',
      refusal(404, { status: 'NOT_FOUND', message: 'Requested entity was not found.', errorCode: 'UNREGISTERED' }),
      { code: 'recipient_refused', kind: 'address', says: 'Requested entity was not found.' },
    ],
    [
      'the token is none',
      refusal(400, {
        status: 'INVALID_ARGUMENT',
        message: 'The registration token is not a valid FCM registration token',
        errorCode: 'INVALID_ARGUMENT',
      }),
      { code: 'recipient_refused', kind: 'address' },
    ],
    [
      'the message is not as it should be',
      refusal(400, { status: 'INVALID_ARGUMENT', message: 'Invalid data', errorCode: 'INVALID_ARGUMENT' }),
      { code: 'message_refused', kind: 'never' },
    ],
    [
      'the token is of another project, which is no reason to forget it',
      refusal(403, { status: 'PERMISSION_DENIED', message: 'SenderId mismatch', errorCode: 'SENDER_ID_MISMATCH' }),
      { code: 'rejected', kind: 'failover' },
    ],
    [
      'too many at once',
      refusal(429, { status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded', errorCode: 'QUOTA_EXCEEDED' }),
      { code: 'rate_limited', kind: 'later' },
    ],
    [
      'it is overloaded, and says when to come again',
      {
        ...refusal(503, { status: 'UNAVAILABLE', message: 'Try again', errorCode: 'UNAVAILABLE' }),
        headers: { 'Retry-After': '20' },
      },
      { code: 'unavailable', kind: 'later', afterSeconds: 20 },
    ],
  ],
})

describe('signing in with Google', () => {
  const vendor = useVendor()
  let now = new Date('2026-05-01T10:00:00.000Z')
  const delivery = new Delivery({ http: useHttpTo(vendor), clock: { now: () => now }, brand: 'acme' })
  let signIns = 0
  beforeEach(() => {
    signIns = 0
    vendor.plays(({ path }) => {
      if (path !== '/token') return accepted
      signIns += 1
      return { body: { access_token: `token-${signIns}`, expires_in: 3600 } }
    })
  })
  const send = (id: string, own: unknown = credentials.serviceAccount) =>
    delivery.send(fcm, { id, credentials: { serviceAccount: own } }, plainPush)

  test("uses a token signed with the service account's key", async () => {
    await send('signed')
    const { payload, protectedHeader } = await jwtVerify(vendor.asked[0]?.form.assertion ?? '', publicKey, {
      currentDate: now,
    })
    const iat = Math.floor(now.getTime() / 1000)
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT' })
    expect(payload).toEqual({
      iss: account.client_email,
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
      aud: 'https://oauth2.googleapis.com/token',
      iat,
      exp: iat + 3600,
    })
  })

  test('happens once an hour, for any number of messages', async () => {
    await Promise.all(Array.from({ length: 10 }, () => send('many')))
    expect(signIns).toBe(1)
    now = new Date(now.getTime() + 59 * 60_000)
    await send('many')
    expect(signIns).toBe(2)
  })

  test('happens again when a token is revoked early', async () => {
    await send('revoked')
    vendor.plays(({ path, headers: { authorization } }) => {
      if (path === '/token') return { body: { access_token: 'new', expires_in: 3600 } }
      return authorization === 'Bearer new' ? accepted : { status: 401, body: { error: { message: 'expired' } } }
    })
    expect(await send('revoked')).toEqual(result)
  })

  test('fails when the account was deleted', async () => {
    vendor.plays(() => ({ status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } }))
    await expect(send('gone')).rejects.toMatchObject({ kind: 'credentials', says: 'Invalid JWT Signature.' })
  })

  test.each([
    [
      'something that is not JSON',
      'my-key',
      'FCM credentials must be a valid JSON service account configuration. Received a non-JSON string instead.',
    ],
    [
      'only a part of it',
      '{"project_id":"a"}',
      'The service account needs the members project_id, client_email and private_key',
    ],
    [
      'a key that is none',
      JSON.stringify({ ...account, private_key: 'x' }),
      'The private_key of the service account is not a private key',
    ],
  ])('does not happen with %s', async (title, own, says) => {
    await expect(send(title, own)).rejects.toMatchObject({ code: 'incomplete_credentials', says })
    expect(vendor.asked).toEqual([])
  })

  test('takes a key whose line breaks were escaped', async () => {
    const joined = JSON.stringify({ ...account, private_key: account.private_key.replaceAll('\n', '\\n') })
    expect(await send('joined', joined)).toEqual(result)
  })
})
