import { beforeEach, describe, expect, test } from 'vitest'
import { useHttp, useVendor, type VendorReply } from '../../../test/vendor.ts'
import { findProvider } from '../catalog.ts'
import type { Credentials } from '../check.ts'
import { autoConfigure } from './auto-configure.ts'
import { checkEmail } from './check.ts'

const http = useHttp()
const vendor = useVendor()
/** On its own, since what it is asked may arrive after the caller has gone. */
const silent = useVendor()

/** Answers what is in the list, one after the other, then an empty object. */
function replies(...list: VendorReply[]) {
  vendor.plays(() => list.shift() ?? { body: {} })
}
beforeEach(() => replies())
const asked = () => vendor.asked.map(({ method, path }) => `${method} ${path}`)

function provider(id: string) {
  const found = findProvider(id)
  if (!found) throw new Error(`${id} is not in the catalogue`)
  return found
}
const check = (id: string, credentials: Credentials) =>
  checkEmail(http, provider(id), credentials, { urls: { [id]: `${vendor.url}/` } })
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

describe('checking the credentials of a vendor with an HTTP API', () => {
  test.each<[string, Credentials, string, Record<string, string>]>([
    ['sendgrid', { apiKey: 'SG.x' }, 'GET /v3/scopes', { authorization: 'Bearer SG.x' }],
    [
      'mailgun',
      { apiKey: 'key-x', user: 'api', domain: 'mg.example.com' },
      'GET /v3/domains/mg.example.com',
      { authorization: basic('api:key-x') },
    ],
    ['resend', { apiKey: 're_x' }, 'GET /domains', { authorization: 'Bearer re_x' }],
    ['mailersend', { apiKey: 'mlsn' }, 'GET /v1/api-quota', { authorization: 'Bearer mlsn' }],
    ['sparkpost', { apiKey: 'spark' }, 'GET /api/v1/account', { authorization: 'spark' }],
    [
      'mailjet',
      { apiKey: 'public', secretKey: 'private' },
      'GET /v3/REST/sender',
      { authorization: basic('public:private') },
    ],
    ['sendinblue', { apiKey: 'xkeysib' }, 'GET /v3/account', { 'api-key': 'xkeysib' }],
  ])('%s is asked once, and its word decides', async (id, credentials, request, headers) => {
    expect(await check(id, credentials)).toEqual({ ok: true })
    const [method, path] = request.split(' ')
    expect(vendor.asked).toMatchObject([{ method, path, headers, body: '' }])

    const { name } = provider(id)
    for (const status of [401, 403]) {
      replies({ status, body: { you: 'sent', what: credentials } })
      expect(await check(id, credentials)).toEqual({
        ok: false,
        reason: `${name} does not accept these credentials; it answered with HTTP status ${status}`,
      })
    }
    replies({ status: 500, body: 'out of order' })
    expect(await check(id, credentials)).toEqual({
      ok: false,
      reason: `${name} could not check the credentials; it answered with HTTP status 500`,
    })
  })

  test('a Resend key that may only send is a good key', async () => {
    replies({ status: 401, body: { name: 'restricted_api_key', message: 'only to send emails' } })
    expect(await check('resend', { apiKey: 're_x' })).toEqual({ ok: true })
  })

  test('redirects are not followed', async () => {
    replies({ status: 302, headers: { location: `${vendor.url}/elsewhere` }, body: {} })
    expect(await check('sendgrid', { apiKey: 'SG.x' })).toMatchObject({ ok: false })
    expect(vendor.asked).toHaveLength(1)
  })

  test('a vendor that hangs up could not be reached', async () => {
    vendor.plays(() => 'hang up')
    expect(await check('sendgrid', { apiKey: 'SG.x' })).toEqual({
      ok: false,
      reason: expect.stringMatching(/^SendGrid could not be reached: /),
    })
  })

  test('a vendor that does not answer is not waited for', async () => {
    silent.plays(() => undefined)
    const impatient = { urls: { sendgrid: silent.url }, timeoutMs: 1 }
    expect(await checkEmail(http, provider('sendgrid'), { apiKey: 'SG.x' }, impatient)).toEqual({
      ok: false,
      reason: 'SendGrid did not answer in time',
    })
  })

  test('nobody is asked while credentials are missing', async () => {
    expect(await check('mailgun', { apiKey: 'key-x' })).toEqual({
      ok: false,
      reason: 'Mailgun cannot be checked without these credentials: user, domain',
    })
    expect(vendor.asked).toEqual([])
  })

  test('a key that cannot stand in a header fails without being repeated', async () => {
    const result = await check('sparkpost', { apiKey: 'two\nlines' })
    expect(result).toMatchObject({ ok: false })
    expect(JSON.stringify(result)).not.toContain('lines')
  })

  test('an unknown host and a base that is no URL are named', async () => {
    const credentials = { apiKey: 'key-x', user: 'api', domain: 'mg.example.com' }
    expect(
      await checkEmail(http, provider('mailgun'), { ...credentials, baseUrl: 'http://no-such-host.invalid' }),
    ).toEqual({
      ok: false,
      reason: "Provider gateway can't resolve the host with the given hostname no-such-host.invalid",
    })
    expect(await checkEmail(http, provider('mailgun'), { ...credentials, baseUrl: 'ftp://example.com' })).toEqual({
      ok: false,
      reason: 'Mailgun could not be reached: "ftp://example.com/v3/domains/mg.example.com" is not an http(s) URL',
    })
  })

  test('a provider that cannot be asked passes', async () => {
    expect(await check('netcore', {})).toEqual({ ok: true })
    expect(await check('svc-email', {})).toEqual({ ok: true })
    expect(vendor.asked).toEqual([])
  })
})

describe('registering the inbound webhook', () => {
  const webhookUrl = 'https://belfry.example.com/v2/inbound-webhooks/delivery-providers/e/i'
  const configure = (id: string, credentials: Credentials) =>
    autoConfigure(http, provider(id), credentials, webhookUrl, { [id]: vendor.url })

  test('SendGrid gets the webhook and gives the key that signs it', async () => {
    replies(
      { body: { webhooks: [{ id: 'w0', url: 'https://other.example.com' }] } },
      { status: 201, body: { id: 'w1' } },
      { body: { public_key: 'MFkw' } },
    )
    expect(await configure('sendgrid', { apiKey: 'SG.x' })).toEqual({
      success: true,
      message: 'SendGrid webhook configured successfully with signature verification enabled',
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'MFkw' },
    })
    const settings = '/v3/user/webhooks/event/settings'
    expect(asked()).toEqual([`GET ${settings}/all`, `POST ${settings}`, `PATCH ${settings}/signed/w1`])
    expect(JSON.parse(vendor.asked[1]?.body ?? '')).toMatchObject({ enabled: true, url: webhookUrl, delivered: true })
  })

  test('a second time SendGrid keeps the webhook it has', async () => {
    replies({ body: { webhooks: [{ id: 'w1', url: webhookUrl }] } }, { body: { public_key: 'MFkw' } })
    expect(await configure('sendgrid', { apiKey: 'SG.x' })).toMatchObject({ success: true })
    expect(vendor.asked.map(({ method }) => method)).toEqual(['GET', 'PATCH'])
  })

  test('Mailgun gets one webhook per event, new or changed, and gives its signing key if it may', async () => {
    const credentials = { apiKey: 'key-x', user: 'api', domain: 'mg.example.com' }
    const webhook: VendorReply = { body: {} }
    replies(
      { body: { webhooks: { opened: { urls: ['https://old.example.com'] } } } },
      ...[webhook, webhook, webhook, webhook],
      { body: { http_signing_key: 'sign' } },
    )
    expect(await configure('mailgun', credentials)).toMatchObject({
      success: true,
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'sign' },
    })
    const webhooks = '/v3/domains/mg.example.com/webhooks'
    expect(vendor.asked.map(({ method, path, form }) => [`${method} ${path}`, form])).toEqual([
      [`GET ${webhooks}`, {}],
      [`POST ${webhooks}`, { id: 'delivered', url: webhookUrl }],
      [`PUT ${webhooks}/opened`, { url: webhookUrl }],
      [`POST ${webhooks}`, { id: 'clicked', url: webhookUrl }],
      [`POST ${webhooks}`, { id: 'permanent_fail', url: webhookUrl }],
      ['GET /v5/accounts/http_signing_key', {}],
    ])

    replies(...[webhook, webhook, webhook, webhook, webhook], { status: 403, body: {} })
    expect(await configure('mailgun', credentials)).toMatchObject({
      success: true,
      message: expect.stringContaining('by hand'),
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: '' },
    })
  })

  test('what goes wrong is told, not thrown', async () => {
    replies({ status: 401, body: {} })
    expect(await configure('sendgrid', { apiKey: 'SG.x' })).toEqual({
      success: false,
      message: 'SendGrid webhook configuration failed: it answered with HTTP status 401',
    })
    expect(await configure('resend', { apiKey: 're_x' })).toEqual({
      success: false,
      message:
        'Resend does not currently offer automatic inbound webhook configuration. Please configure your webhook manually.',
    })
  })
})
