import { createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { insertMessage, insertRun } from '../../../test/activity.ts'
import { type Api, useServer } from '../../../test/server.ts'

const publicUrl = 'https://belfry.example'
const server = useServer({ publicUrl })

interface Wanted {
  providerId?: string
  channel?: string
  credentials?: object
  configurations?: object
}

async function integrationOf(api: Api, wanted: Wanted = {}): Promise<string> {
  const { providerId = 'sendgrid', channel = 'email', credentials = { apiKey: 'SG.key', from: 'a@b.c' } } = wanted
  const { configurations = { inboundWebhookEnabled: true } } = wanted
  const answer = await api.post('/v1/integrations', { providerId, channel, credentials, configurations, active: true })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body._id
}

/** A message sent by this integration. */
async function sentMessage(api: Api, integration_id: string, more: Parameters<typeof insertMessage>[2] = {}) {
  const run = await insertRun(server, api, 'ada', { jobs: [{ type: 'email', details: [{ detail: 'Message sent' }] }] })
  const identifier = `vendor-${run.id}`
  const given = { provider_id: 'sendgrid', delivered_at: null, integration_id, identifier }
  const id = await insertMessage(server, run, { channel: 'email', ...given, ...more })
  return { id, identifier, run }
}

const urlOf = (api: Api, integrationId: string) =>
  `/v2/inbound-webhooks/delivery-providers/${api.environmentId}/${integrationId}`
const report = (api: Api, integrationId: string, body: unknown, headers: Record<string, string> = {}) =>
  api.post(urlOf(api, integrationId), body, { authorization: '', ...headers })

const stateOf = (id: string) =>
  server.database.db
    .selectFrom('messages')
    .select(['status', 'error_id', 'error_text', 'seen', 'read', 'delivered_at', 'first_seen_at', 'last_read_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

async function linesOf(api: Api, notificationId: string) {
  const answer = await api.get(`/v1/notifications/${notificationId}`)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body.jobs[0].executionDetails
}

test('a delivery event updates the log of the step, the message and the state of the run', async () => {
  const api = await server.freshApi()
  const integrationId = await integrationOf(api)
  const { id, identifier, run } = await sentMessage(api, integrationId)
  const events = [
    { id: identifier, event: 'delivered', timestamp: 1777630000, sg_event_id: 'e1', response: '250 OK', attempt: '2' },
    { id: identifier, event: 'open', timestamp: 1777630060, sg_event_id: 'e2' },
    { id: identifier, event: 'click', timestamp: 1777630120, sg_event_id: 'e3' },
    { id: 'nobody knows it', event: 'delivered', timestamp: 1777630000, sg_event_id: 'e4' },
  ]

  const answer = await report(api, integrationId, events)
  expect(answer).toMatchObject({
    status: 200,
    body: [
      {
        id: identifier,
        event: {
          status: 'delivered',
          date: '2026-05-01T10:06:40.000Z',
          externalId: 'e1',
          attempts: 2,
          response: '250 OK',
          row: JSON.stringify(events[0]),
        },
      },
      { id: identifier, event: { status: 'opened', externalId: 'e2' } },
      { id: identifier, event: { status: 'clicked', externalId: 'e3' } },
    ],
  })
  expect(answer.body).toHaveLength(3)
  expect(await stateOf(id)).toEqual({
    status: 'sent',
    error_id: null,
    error_text: null,
    seen: true,
    read: true,
    delivered_at: [new Date(1777630000_000)],
    first_seen_at: new Date(1777630060_000),
    last_read_at: new Date(1777630120_000),
  })
  const lines = await linesOf(api, run.id)
  expect(lines).toMatchObject([
    { detail: 'Message sent' },
    { detail: 'Message delivered', status: 'Success', source: 'Webhook', webhookStatus: 'delivered' },
    { detail: 'Message opened', status: 'Success', source: 'Webhook', webhookStatus: 'opened' },
    { detail: 'Message clicked', status: 'Success', source: 'Webhook', providerId: 'sendgrid' },
  ])
  expect(JSON.parse(lines[1].raw)).toEqual(events[0])
  const activity = await api.get(`/v1/notifications/${run.id}`)
  expect(activity.body.deliveryLifecycle).toEqual({ status: 'interacted' })
})

test('repeating an event, even concurrently, changes nothing', async () => {
  const api = await server.freshApi()
  const integrationId = await integrationOf(api)
  const { id, identifier, run } = await sentMessage(api, integrationId)
  const delivered = { id: identifier, event: 'delivered', timestamp: 1777630000, sg_event_id: 'e1' }
  const undated = { id: identifier, event: 'open' }

  const answers = await Promise.all(Array.from({ length: 8 }, () => report(api, integrationId, [delivered, undated])))
  answers.push(await report(api, integrationId, [delivered, delivered, undated]))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 200))
  expect(answers.at(-1)?.body).toHaveLength(3)
  expect(await linesOf(api, run.id)).toHaveLength(3)
  expect((await stateOf(id)).delivered_at).toHaveLength(1)

  await report(api, integrationId, [{ ...delivered, sg_event_id: 'e9' }])
  expect((await stateOf(id)).delivered_at).toHaveLength(2)
})

test('two concurrent events about a message being stored count once', async () => {
  const api = await server.freshApi()
  const integrationId = await integrationOf(api)
  const { id, identifier, run } = await sentMessage(api, integrationId)
  const delivered = { id: identifier, event: 'delivered', timestamp: 1777630000, sg_event_id: 'e1' }
  const { pool } = server.database
  await pool.query('CREATE TABLE stored_later AS SELECT * FROM messages WHERE id = $1', [id])
  await pool.query('DELETE FROM messages WHERE id = $1', [id])
  const storing = await pool.connect()
  // Both have looked for the message in vain when they reach the log of its step.
  await storing.query('BEGIN; LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE')
  const reports = [report(api, integrationId, [delivered]), report(api, integrationId, [delivered])]
  await expect
    .poll(
      async () =>
        (await storing.query("SELECT FROM pg_locks WHERE relation = 'jobs'::regclass AND NOT granted")).rowCount,
      { timeout: 20_000, interval: 10 },
    )
    .toBe(2)
  await storing.query('INSERT INTO messages SELECT * FROM stored_later; COMMIT; DROP TABLE stored_later')
  storing.release()
  for (const answer of await Promise.all(reports)) expect(answer).toMatchObject({ status: 200 })
  // The provider retries, as it does for an unknown message.
  expect((await report(api, integrationId, [delivered])).body).toHaveLength(1)
  const told = (await linesOf(api, run.id)).filter(({ detail }: { detail: string }) => detail === 'Message delivered')
  expect(told).toHaveLength(1)
  expect((await stateOf(id)).delivered_at).toEqual([new Date(1777630000_000)])
})

test('a bounced message is an error, and one that is delivered after all is not', async () => {
  const api = await server.freshApi()
  const integrationId = await integrationOf(api)
  const { id, identifier, run } = await sentMessage(api, integrationId)
  const event = (name: string, timestamp: number, more: object = {}) => ({
    id: identifier,
    event: name,
    timestamp,
    ...more,
  })

  await report(api, integrationId, [event('bounce', 1777630100, { reason: '550 no such user' })])
  const bounced = { status: 'error', error_id: 'mail_unexpected_error', error_text: '550 no such user' }
  expect(await stateOf(id)).toMatchObject(bounced)
  expect(await linesOf(api, run.id)).toMatchObject([{}, { detail: 'Message bounced', status: 'Failed' }])

  await report(api, integrationId, [event('delivered', 1777630000)])
  expect(await stateOf(id), 'delivered before it came back').toMatchObject(bounced)

  await report(api, integrationId, [event('delivered', 1777630200)])
  expect(await stateOf(id)).toMatchObject({ status: 'sent', error_id: null, error_text: null })
})

test('a message in transit is neither an error nor delivered', async () => {
  const api = await server.freshApi()
  const mandrill = await integrationOf(api, { providerId: 'mandrill', credentials: { apiKey: 'k', from: 'a@b.c' } })
  const mail = await sentMessage(api, mandrill, { provider_id: 'mandrill' })
  const events = ['deferral', 'send'].map((event, n) => ({ event, ts: 1777630000 + n, _id: mail.identifier }))
  expect((await report(api, mandrill, events)).body).toHaveLength(2)
  expect(await linesOf(api, mail.run.id)).toMatchObject([
    {},
    { detail: 'Message deferred', status: 'Pending', webhookStatus: 'deferred' },
    { detail: 'Message sent', status: 'Success', webhookStatus: 'sent' },
  ])

  const telnyx = await integrationOf(api, {
    ...{ providerId: 'telnyx', channel: 'sms' },
    credentials: { apiKey: 'k', messageProfileId: 'm', from: '+1' },
  })
  const text = await sentMessage(api, telnyx, { channel: 'sms', provider_id: 'telnyx' })
  for (const status of ['queued', 'sending'])
    await report(api, telnyx, { data: { id: status, payload: { id: text.identifier, to: [{ status }] } } })
  expect(await linesOf(api, text.run.id)).toMatchObject([
    {},
    { detail: 'Message queued', status: 'Queued', webhookStatus: 'queued' },
    { detail: 'Message sending', status: 'Pending', webhookStatus: 'sending' },
  ])
  for (const { id } of [mail, text]) expect(await stateOf(id)).toMatchObject({ status: 'sent', delivered_at: null })
})

test('one request can have events of many messages', async () => {
  const api = await server.freshApi()
  const integrationId = await integrationOf(api)
  const messages = await Promise.all(Array.from({ length: 30 }, () => sentMessage(api, integrationId)))
  const answer = await report(
    api,
    integrationId,
    messages.flatMap(({ identifier }) => [
      { id: identifier, event: 'delivered', timestamp: 1777630000 },
      { id: identifier, event: 'dropped', timestamp: 1777630001 },
    ]),
  )
  expect(answer.body).toHaveLength(60)
  for (const { id } of messages)
    expect(await stateOf(id)).toMatchObject({ status: 'error', error_text: 'Message dropped' })
})

test('events cannot change messages of another integration or environment', async () => {
  const api = await server.freshApi()
  const other = await server.freshApi()
  const [integrationId, second] = [await integrationOf(api), await integrationOf(api)]
  const foreign = await integrationOf(other)
  const { id, identifier } = await sentMessage(api, integrationId)
  const body = [{ id: identifier, event: 'bounce' }]

  expect(await report(api, second, body)).toMatchObject({ status: 200, body: [] })
  expect(await report(other, foreign, body)).toMatchObject({ status: 200, body: [] })
  expect(await report(other, integrationId, body)).toMatchObject({
    status: 404,
    body: { message: `Integration ${integrationId} was not found in this environment` },
  })
  expect(await stateOf(id)).toMatchObject({ status: 'sent' })
})

test('an integration with inbound webhooks off refuses events, and says what to do', async () => {
  const api = await server.freshApi()
  const off = await integrationOf(api, { configurations: {} })
  const { id, identifier } = await sentMessage(api, off)
  expect(await report(api, off, [{ id: identifier, event: 'bounce' }])).toMatchObject({
    status: 400,
    body: { code: 'inbound_webhook_off', message: expect.stringContaining('inboundWebhookEnabled') },
  })
  expect(await stateOf(id)).toMatchObject({ status: 'sent' })

  const silent = await integrationOf(api, { providerId: 'nodemailer', credentials: { host: 'mail.example' } })
  expect(await report(api, silent, {})).toMatchObject({
    status: 404,
    body: { message: 'Provider nodemailer does not report delivery events' },
  })
  const bare = await integrationOf(api, { credentials: {} })
  expect(await report(api, bare, {})).toMatchObject({
    status: 400,
    body: { message: `Integration ${bare} doesn't have credentials set up` },
  })
  expect(await report(api, 'f'.repeat(24), {})).toMatchObject({ status: 404 })
})

test('a signature is checked over the raw bytes', async () => {
  const api = await server.freshApi()
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const inboundWebhookSigningKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  const integrationId = await integrationOf(api, {
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey },
  })
  const { id, identifier } = await sentMessage(api, integrationId)
  // Not as JSON.stringify would write it, and not only ASCII.
  const body = `[ {"event" :"bounce", "reason":"größer",\n"id":"${identifier}"} ]\r\n`
  const timestamp = '1777629600'
  const sign = (text: string) =>
    createSign('sha256')
      .update(timestamp + text)
      .sign(privateKey, 'base64')
  const headers = (text: string) => ({
    'x-twilio-email-event-webhook-signature': sign(text),
    'x-twilio-email-event-webhook-timestamp': timestamp,
  })

  const refused = { status: 401, body: { code: 'inbound_signature_invalid' } }
  expect(await report(api, integrationId, body)).toMatchObject(refused)
  expect(await report(api, integrationId, body, headers(body.replace('bounce', 'open')))).toMatchObject(refused)
  expect(await stateOf(id)).toMatchObject({ status: 'sent' })

  expect(await report(api, integrationId, body, headers(body))).toMatchObject({
    status: 200,
    body: [{ id: identifier }],
  })
  expect(await stateOf(id)).toMatchObject({ status: 'error', error_text: 'größer' })
})

test.each([
  ['postmark', 'email', { apiKey: 'k', from: 'a@b.c' }, { RecordType: 'Bounce' }, 'MessageID'],
  ['imedia', 'sms', { token: 't', from: '+1' }, { status: 'failed' }, 'referentId'],
  ['fcm', 'push', { serviceAccount: '{}' }, { eventType: 'failed' }, 'eventId'],
] as const)(
  '%s signs nothing: if a key is set, requests must carry it',
  async (providerId, channel, credentials, event, id) => {
    const api = await server.freshApi()
    const integrationId = await integrationOf(api, {
      ...{ providerId, channel, credentials },
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'key:that+was agreed' },
    })
    const sent = () => sentMessage(api, integrationId, { channel, provider_id: providerId })
    const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
    const told = async (query: string, headers: Record<string, string>) => {
      const message = await sent()
      const url = `${urlOf(api, integrationId)}${query}`
      const { status } = await api.post(url, { ...event, [id]: message.identifier }, { authorization: '', ...headers })
      return [status, (await stateOf(message.id)).status]
    }
    const refused: Array<[string, Record<string, string>]> = [
      ['', {}],
      ['?token=key', {}],
      ['', { authorization: 'Bearer guess' }],
      ['', basic('key:that+was agreed')],
      ['', basic('ada:guess')],
    ]
    for (const [query, headers] of refused) expect(await told(query, headers)).toEqual([401, 'sent'])
    const key = encodeURIComponent('key:that+was agreed')
    for (const query of [`?token=${key}`, `?key=${key}`]) expect(await told(query, {})).toEqual([200, 'error'])
    expect(await told('', basic('ada:key:that+was agreed'))).toEqual([200, 'error'])
    expect(JSON.stringify(server.logged)).not.toContain(key)
  },
)

test('forms, text and other bodies are parsed as the provider does', async () => {
  const api = await server.freshApi()
  const twilio = await integrationOf(api, {
    providerId: 'twilio',
    channel: 'sms',
    credentials: { accountSid: 'AC1', token: 'token', from: '+1' },
  })
  const { id, identifier } = await sentMessage(api, twilio, { channel: 'sms', provider_id: 'twilio' })
  const form = new URLSearchParams({ MessageSid: identifier, MessageStatus: 'undelivered' })
  // https://www.twilio.com/docs/usage/security: the URL, then each member in the order of the names.
  const signed = `${publicUrl}${urlOf(api, twilio)}MessageSid${identifier}MessageStatusundelivered`
  const answer = await report(api, twilio, form.toString(), {
    'content-type': 'application/x-www-form-urlencoded',
    'x-twilio-signature': createHmac('sha1', 'token').update(signed).digest('base64'),
  })
  expect(answer, answer.text).toMatchObject({ status: 200, body: [{ event: { status: 'undelivered' } }] })
  expect(await stateOf(id)).toMatchObject({ status: 'error', error_id: 'unexpected_sms_error' })

  const sendgrid = await integrationOf(api)
  for (const type of ['text/plain; charset=UTF-8', 'application/octet-stream']) {
    const { id, identifier } = await sentMessage(api, sendgrid)
    const body = Buffer.from(JSON.stringify([{ id: identifier, event: 'dropped' }]))
    expect(await report(api, sendgrid, body, { 'content-type': type })).toMatchObject({ status: 200 })
    expect(await stateOf(id), type).toMatchObject({ status: 'error' })
  }
  expect(await report(api, sendgrid, undefined)).toMatchObject({ status: 200, body: [] })
  expect(await report(api, sendgrid, 'not JSON')).toMatchObject({ status: 200, body: [] })
})

test('an app reports on a push message by our own id', async () => {
  const api = await server.freshApi()
  const fcm = await integrationOf(api, { providerId: 'fcm', channel: 'push', credentials: { serviceAccount: '{}' } })
  const { id, identifier } = await sentMessage(api, fcm, { channel: 'push', provider_id: 'fcm' })
  expect(await report(api, fcm, { eventType: 'clicked', eventId: identifier })).toMatchObject({ status: 200 })
  expect(await stateOf(id)).toMatchObject({ seen: true, read: true })
})

test('the validation request of RingCentral is answered', async () => {
  const api = await server.freshApi()
  const integrationId = await integrationOf(api, {
    providerId: 'ring-central',
    channel: 'sms',
    credentials: { clientId: 'c', secretKey: 's', token: 't', from: '+1' },
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'agreed' },
  })
  const answer = await report(api, integrationId, undefined, { 'validation-token': 'shown-back' })
  expect(answer).toMatchObject({ status: 200, body: [] })
  expect(answer.headers.get('validation-token')).toBe('shown-back')
  expect(await report(api, integrationId, {})).toMatchObject({ status: 401 })
})

test('the legacy address accepts events too, with its own answers', async () => {
  const api = await server.freshApi()
  const integrationId = await integrationOf(api)
  const { id, identifier, run } = await sentMessage(api, integrationId)
  const base = `/webhooks/organizations/${api.organizationId}/environments/${api.environmentId}`
  const body = [{ id: identifier, event: 'bounce', reason: '550 gone' }]
  expect(await api.post(`${base}/email/sendgrid`, body, { authorization: '' })).toMatchObject({
    status: 200,
    body: [{}],
  })
  expect(await stateOf(id)).toMatchObject({ status: 'error' })
  expect(await linesOf(api, run.id)).toMatchObject([
    {},
    { detail: '550 gone - (bounced)', status: 'Failed', source: 'Webhook', webhookStatus: 'bounced' },
  ])
  expect(await api.post(`${base}/email/${integrationId}`, body, { authorization: '' })).toMatchObject({ status: 200 })

  expect(await api.post(`${base}/email/mailgun`, body)).toMatchObject({ status: 404 })
  expect(await api.post(`${base}/sms/sendgrid`, body)).toMatchObject({ status: 404 })
  expect(await api.post(`${base}/chat/sendgrid`, body)).toMatchObject({ status: 422 })
  const { development } = await server.freshOrganization()
  const foreign = `/webhooks/organizations/${development.organizationId}/environments/${api.environmentId}`
  expect(await api.post(`${foreign}/email/sendgrid`, body)).toMatchObject({ status: 404 })
})

test('WhatsApp verifies the address with a GET, if the token is that of the integration', async () => {
  const api = await server.freshApi()
  const id = await integrationOf(api, {
    ...{ providerId: 'whatsapp-business', channel: 'chat' },
    credentials: { phoneNumberIdentification: '1', apiToken: 't' },
  })
  const { identifier } = (await api.get('/v1/integrations')).body.find(({ _id }: { _id: string }) => _id === id)
  const ask = (query: Record<string, string>, integrationId = id, of = api) =>
    of.get(`${urlOf(of, integrationId)}?${new URLSearchParams(query).toString()}`, { authorization: '' })
  const asked = { 'hub.mode': 'subscribe', 'hub.verify_token': identifier, 'hub.challenge': '1158201444<b>' }
  const answer = await ask(asked)
  expect([answer.status, answer.text]).toEqual([200, '1158201444<b>'])
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  for (const wrong of [{ 'hub.verify_token': 'guess' }, { 'hub.mode': 'unsubscribe' }])
    expect(await ask({ ...asked, ...wrong })).toMatchObject({
      status: 401,
      body: { code: 'inbound_signature_invalid' },
    })
  expect(await ask(asked, 'a'.repeat(24))).toMatchObject({ status: 404 })

  const agreed = await integrationOf(api, {
    ...{ providerId: 'whatsapp-business', channel: 'chat' },
    credentials: { phoneNumberIdentification: '1', apiToken: 't', token: 'agreed' },
  })
  const named = (await api.get('/v1/integrations')).body.find(({ _id }: { _id: string }) => _id === agreed)
  expect(await ask({ ...asked, 'hub.verify_token': 'agreed' }, agreed)).toMatchObject({ status: 200 })
  expect(await ask({ ...asked, 'hub.verify_token': named.identifier }, agreed)).toMatchObject({ status: 401 })
  expect(await ask(asked, id, await server.freshApi())).toMatchObject({ status: 404 })
  expect(await ask(asked, await integrationOf(api))).toMatchObject({ body: { code: 'inbound_events_not_offered' } })
})

describe('the suppression list is fed by', () => {
  const listed = async (api: Api) => (await api.get('/v1/suppressions')).body.data
  const bounce = { event: 'bounce', type: 'bounce', email: 'Ada@example.com', timestamp: 1777630000 }

  test.each([
    ['a permanent bounce', bounce, { reason: 'hard_bounce', scope: { type: 'all' } }],
    ['a complaint', { ...bounce, event: 'spamreport' }, { reason: 'complaint', scope: { type: 'all' } }],
    [
      'an unsubscription',
      { ...bounce, event: 'unsubscribe' },
      { reason: 'unsubscribe', scope: { type: 'commercial' } },
    ],
  ])('%s, once', async (_, event, entry) => {
    const api = await server.freshApi()
    const integrationId = await integrationOf(api)
    const { id, identifier } = await sentMessage(api, integrationId, { email: 'ada@example.com' })
    for (let i = 0; i < 2; i += 1) await report(api, integrationId, [{ ...event, id: identifier, sg_event_id: 'e1' }])
    expect(await listed(api)).toMatchObject([
      {
        ...{ ...entry, channel: 'email', address: 'ada@example.com', source: 'provider' },
        ...{ subscriberId: 'ada', integrationId, messageId: id },
      },
    ])
  })

  test.each([
    ['a bounce that passes', { ...bounce, type: 'blocked' }],
    ['a bounce of somebody else', { ...bounce, email: 'cc@example.com' }],
    ['a delivery', { ...bounce, event: 'delivered' }],
  ])('but not by %s', async (_, event) => {
    const api = await server.freshApi()
    const integrationId = await integrationOf(api)
    const { identifier } = await sentMessage(api, integrationId, { email: 'ada@example.com' })
    await report(api, integrationId, [{ ...event, id: identifier, sg_event_id: 'e1' }])
    expect(await listed(api)).toEqual([])
  })

  test('nor by reports on messages that the integration did not send', async () => {
    const api = await server.freshApi()
    const [own, other] = [await integrationOf(api), await integrationOf(api)]
    const { identifier } = await sentMessage(api, own, { email: 'ada@example.com' })
    await report(api, other, [{ ...bounce, id: identifier, sg_event_id: 'e1' }])
    await report(api, own, [{ ...bounce, id: 'unknown', sg_event_id: 'e1' }])
    expect(await listed(api)).toEqual([])
  })
})
