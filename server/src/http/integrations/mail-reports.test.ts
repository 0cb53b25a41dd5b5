import { createHmac } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { describe, expect, test } from 'vitest'
import { makeWorkflow, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, secretKey, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { makeMailToken } from '../../db/core/link-tokens.ts'
import { Secrets } from '../../db/core/secrets.ts'

const inboundMail = { host: '127.0.0.1', port: 0, certificate: undefined, key: undefined }
const server = useServer({ allowPrivateAddresses: true, inboundMail })
const vendor = useVendor()
const domain = 'in.acme.example'
const step: Step = {
  type: 'email',
  controlValues: { subject: 'News', body: '<p>Hello</p>', editorType: 'html', layoutId: null },
}

async function prepared(): Promise<Api> {
  const api = await server.freshApi()
  vendor.plays(() => ({ body: {} }))
  await api.post('/v1/integrations', {
    ...{
      providerId: 'email-webhook',
      channel: 'email',
      name: 'Webhook',
      identifier: `mail-${api.environmentId}`,
      active: true,
    },
    credentials: { webhookUrl: `${vendor.url}/mails`, secretKey: 'key', from: 'news@acme.example' },
  })
  await api.put(`/v1/environments/${api.environmentId}`, { dns: { inboundParseDomain: domain } })
  await makeWorkflow(api, 'news', [step], { messageClass: 'commercial', consentCategory: 'offers' })
  return api
}

interface Sent {
  transactionId: string
  mailto: string
  mailId: string
  bounce: string
}

/** The addresses of one mail; the bounce address is what SMTP integrations use as the sender of the envelope. */
async function sendNews(api: Api, to = 'ada'): Promise<Sent> {
  const transactionId = await trigger(api, 'news', { subscriberId: to, email: `${to}@example.com` })
  await server.drain()
  const { headers } = JSON.parse(vendor.asked.findLast(({ path }) => path === '/mails')?.body ?? '{}')
  const mailto = /<mailto:([^?]+)\?subject=unsubscribe>/.exec(headers['List-Unsubscribe'])?.[1] ?? ''
  return { transactionId, mailto, mailId: headers['X-Belfry-Id'], bounce: await bounceOf(api, transactionId) }
}

async function bounceOf(api: Api, transactionId: string): Promise<string> {
  const { body } = await api.get(`/v1/messages?transactionId=${transactionId}`)
  const reference = { environmentId: api.environmentId, messageId: body.data[0]._id }
  return `bounce+${makeMailToken(new Secrets(secretKey), 'bounce', reference)}@${domain}`
}

async function deliver(to: string, raw: string): Promise<number> {
  const transport = createTransport({ host: '127.0.0.1', port: server.mailPort, secure: false, ignoreTLS: true })
  try {
    await transport.sendMail({ envelope: { from: '', to }, raw: raw.replace(/\n/g, '\r\n') })
    return 250
  } catch (error) {
    return (error as { responseCode?: number }).responseCode ?? 0
  } finally {
    transport.close()
  }
}

const plain = (id: string, more = '') => `From: ada@example.com
Message-ID: <${id}@example.com>
Subject: unsubscribe
${more}
Please
`

/** As in RFC 3464, appendix D. */
const bounced = (id: string, fields: string) => `From: MAILER-DAEMON@mx.example
Message-ID: <${id}@mx.example>
Subject: Undelivered Mail
MIME-Version: 1.0
Auto-Submitted: auto-replied
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

It could not be delivered.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example

${fields}

--b--
`

/** As in RFC 5965, appendix B. */
const feedback = (id: string, type: string, mailId: string, more = '') => `From: <abusedesk@example.net>
Message-ID: <${id}@example.net>
Subject: FW: News
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="b"

--b
Content-Type: text/plain

This is an abuse report.
--b
Content-Type: message/feedback-report

Feedback-Type: ${type}
User-Agent: SomeGenerator/1.0
Version: 1
${more}
--b
Content-Type: message/rfc822
Content-Disposition: inline

From: <news@acme.example>
Subject: News
X-Belfry-Id: ${mailId}

Hello
--b--
`

const recipient = (
  status: string,
  { action = 'failed', address = 'ada@example.com' } = {},
) => `Original-Recipient: rfc822;${address}
Final-Recipient: rfc822;${address}
Action: ${action}
Status: ${status}
Diagnostic-Code: smtp; 550 ${status} No`

const entries = async (api: Api) => (await api.get('/v1/suppressions')).body.data

/** What the server of the user's own tells; each of it is about a mail that is known. */
async function reportTo(api: Api): Promise<(...events: object[]) => Promise<void>> {
  const [integration] = (await api.get('/v1/integrations')).body.filter(
    ({ providerId }: { providerId: string }) => providerId === 'email-webhook',
  )
  await api.put(`/v1/integrations/${integration._id}`, { configurations: { inboundWebhookEnabled: true } })
  return async (...events) => {
    const text = JSON.stringify({ events })
    const signature = createHmac('sha256', 'key').update(text).digest('hex')
    const url = `/v2/inbound-webhooks/delivery-providers/${api.environmentId}/${integration._id}`
    const answer = await api.post(url, text, { authorization: '', 'x-svc-signature': signature })
    expect(answer, answer.text).toMatchObject({ status: 200 })
    expect(answer.body).toHaveLength(events.length)
  }
}

describe('mail to unsubscribe', () => {
  test('works as the link does, and a machine that answers changes nothing', async () => {
    const api = await prepared()
    const { mailto } = await sendNews(api)
    expect(mailto).toMatch(/^unsubscribe\+[a-z2-7]{50}@in\.acme\.example$/)
    expect(await deliver(mailto, plain('one', 'Auto-Submitted: auto-replied\n'))).toBe(250)
    expect(await entries(api)).toEqual([])
    expect(await deliver(mailto.toUpperCase(), plain('two'))).toBe(250)
    expect(await deliver(mailto, plain('two'))).toBe(250)
    expect(await entries(api)).toMatchObject([
      {
        ...{ reason: 'unsubscribe', source: 'mailto', address: 'ada@example.com', subscriberId: 'ada' },
        scope: { type: 'category', category: 'offers' },
      },
    ])
  })

  test('with a wrong token, or at another domain, is refused', async () => {
    const api = await prepared()
    const { mailto, bounce } = await sendNews(api)
    for (const address of [
      mailto.replace(/\+./, '+7'),
      mailto.replace('unsubscribe', 'bounce'),
      bounce.replace('bounce', 'unsubscribe'),
      mailto.replace('in.acme', 'in.other'),
    ])
      expect([address, await deliver(address, plain('wrong'))]).toEqual([address, 550])
    expect(await entries(api)).toEqual([])
  })
})

describe('a mail that bounced', () => {
  test.each(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'])('with %s is a hard bounce', async (status) => {
    const api = await prepared()
    const { bounce, transactionId } = await sendNews(api)
    const report = bounced(
      `hard-${status}`,
      `${recipient(status, { address: 'other@example.com' })}\n\n${recipient(status)}`,
    )
    expect([await deliver(bounce, report), await deliver(bounce, report)]).toEqual([250, 250])
    expect(await entries(api)).toMatchObject([{ reason: 'hard_bounce', source: 'dsn', scope: { type: 'all' } }])
    const story = storyOf(await runOf(api, transactionId))
    expect(story.filter((line: string) => line.includes('bounced'))).toHaveLength(1)
  })

  test('otherwise is counted; enough on different messages hold the address back for a while', async () => {
    const api = await prepared()
    await api.patch(`/v2/environments/${api.environmentId}/consent`, { softBounces: { count: 2, suppressDays: 3 } })
    const first = await sendNews(api)
    for (const id of ['one', 'again']) await deliver(first.bounce, bounced(id, recipient('4.2.2')))
    expect(await entries(api)).toEqual([])
    const second = await sendNews(api)
    await deliver(second.bounce, bounced('two', recipient('5.7.1')))
    const [entry] = await entries(api)
    expect(entry).toMatchObject({ reason: 'soft_bounces', source: 'dsn', scope: { type: 'all' } })
    expect(Date.parse(entry.expiresAt) - server.clock.now().getTime()).toBe(3 * 86_400_000)
  })

  test.each([
    ['delayed', bounced('x', recipient('4.4.7', { action: 'delayed' }))],
    ['delivered', bounced('x', recipient('2.0.0', { action: 'delivered' }))],
    ['relayed', bounced('x', recipient('2.0.0', { action: 'relayed' }))],
    ['about somebody else', bounced('x', recipient('5.1.1', { address: 'eve@example.com' }))],
    ['no report', plain('x')],
  ])('%s is taken without effect', async (_, raw) => {
    const api = await prepared()
    const { bounce } = await sendNews(api)
    expect(await deliver(bounce, raw)).toBe(250)
    expect(await entries(api)).toEqual([])
  })
})

describe('a complaint', () => {
  test.each([
    ['abuse', { reason: 'complaint', scope: { type: 'all' } }],
    ['fraud', { reason: 'complaint', scope: { type: 'all' } }],
    ['virus', { reason: 'complaint', scope: { type: 'all' } }],
    ['opt-out', { reason: 'unsubscribe', scope: { type: 'commercial' } }],
    ['opt-out-list', { reason: 'unsubscribe', scope: { type: 'commercial' } }],
    ['not-spam', undefined],
  ])('of type %s', async (type, entry) => {
    const api = await prepared()
    const { mailId } = await sendNews(api)
    expect(await deliver(`feedback@${domain}`, feedback(type, type, mailId))).toBe(250)
    expect(await entries(api)).toMatchObject(
      entry ? [{ ...entry, source: 'feedback', address: 'ada@example.com' }] : [],
    )
  })

  test('without a genuine id of ours is refused', async () => {
    const api = await prepared()
    const { mailId } = await sendNews(api)
    const forged = mailId.replace(/^./, mailId.startsWith('a') ? 'b' : 'a')
    expect(await deliver(`abuse@${domain}`, feedback('forged', 'abuse', forged))).toBe(550)
    expect(await deliver(`abuse@${domain}`, plain('none'))).toBe(550)
    expect(await deliver('abuse@other.example', feedback('elsewhere', 'abuse', mailId))).toBe(550)
    expect(
      await deliver(`abuse@${domain}`, feedback('stranger', 'abuse', mailId, 'Original-Rcpt-To: <eve@example.com>\n')),
    ).toBe(250)
    expect(await entries(api)).toEqual([])
  })
})

describe('a mail that may have arrived, though its call was cut off', () => {
  /** The server takes the mail and hangs up. */
  async function cutOff() {
    const api = await prepared()
    await makeWorkflow(api, 'cut', [{ ...step, onUnknown: 'hold' }], { messageClass: 'commercial' })
    vendor.plays(() => 'hang up')
    const transactionId = await trigger(api, 'cut', { subscriberId: 'ada', email: 'ada@example.com' })
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', reason: 'outcome_unknown' })
    const { id, headers } = JSON.parse(vendor.asked.findLast(({ path }) => path === '/mails')?.body ?? '{}')
    return { api, id, mailId: headers['X-Belfry-Id'], bounce: await bounceOf(api, transactionId) }
  }

  test('can be complained about', async () => {
    const { api, mailId } = await cutOff()
    expect(await deliver(`feedback@${domain}`, feedback('cut', 'abuse', mailId))).toBe(250)
    expect(await entries(api)).toMatchObject([{ reason: 'complaint', source: 'feedback', address: 'ada@example.com' }])
  })

  test('can bounce', async () => {
    const { api, bounce } = await cutOff()
    expect(await deliver(bounce, bounced('cut', recipient('5.1.1')))).toBe(250)
    expect(await entries(api)).toMatchObject([{ reason: 'hard_bounce', source: 'dsn', address: 'ada@example.com' }])
  })

  test('can be reported on by a server of your own, which knows it by our id', async () => {
    const { api, id } = await cutOff()
    const report = await reportTo(api)
    await report({ id, status: 'complaint' })
    expect(await entries(api)).toMatchObject([{ reason: 'complaint', source: 'provider', address: 'ada@example.com' }])
  })
})

test('what the sandbox kept makes no entry, whatever is reported about it', async () => {
  const { development: api } = await server.freshOrganization()
  await api.put(`/v1/environments/${api.environmentId}`, { dns: { inboundParseDomain: 'in.sandbox.example' } })
  await makeWorkflow(api, 'news', [step], { messageClass: 'commercial' })
  const transactionId = await trigger(api, 'news', { subscriberId: 'ada', email: 'ada@example.com' })
  await server.drain()
  const [{ _id, id = _id }] = (await api.get('/v1/sandbox/messages')).body.data
  const { headers } = (await api.get(`/v1/sandbox/messages/${id}`)).body
  const bounce = (await bounceOf(api, transactionId)).replace(domain, 'in.sandbox.example')
  expect(await deliver(bounce, bounced('kept', recipient('5.1.1')))).toBe(250)
  expect(await deliver('abuse@in.sandbox.example', feedback('kept', 'abuse', headers['X-Belfry-Id']))).toBe(250)
  expect(await entries(api)).toEqual([])
})

describe('a mail to several', () => {
  /** To Ada, with a copy to Bob and a blind one to Cleo; `report` is what the server of the user's own tells. */
  async function sendToAll() {
    const api = await prepared()
    await makeWorkflow(api, 'bill', [step])
    const overrides = { email: { cc: ['Bob@example.com'], bcc: ['cleo@example.com'] } }
    const transactionId = await trigger(api, 'bill', { subscriberId: 'ada', email: 'ada@example.com' }, { overrides })
    await server.drain()
    const { id, headers } = JSON.parse(vendor.asked.findLast(({ path }) => path === '/mails')?.body ?? '{}')
    const bounce = await bounceOf(api, transactionId)
    const told = await reportTo(api)
    const report = (...events: object[]) => told(...events.map((event) => ({ id, ...event })))
    return { api, bounce, mailId: headers['X-Belfry-Id'], report, transactionId }
  }
  const told = async (api: Api) =>
    (await entries(api)).map(({ address, reason, subscriberId }: Record<string, string>) => [
      address,
      reason,
      subscriberId,
    ])

  test('bounces for those whom the report names, whoever they are', async () => {
    const { api, bounce } = await sendToAll()
    const parts = ['cleo@example.com', 'bob@example.com', 'eve@example.com'].map((address) =>
      recipient('5.1.1', { address }),
    )
    const raw = bounced('several', parts.join('\n\n'))
    expect([await deliver(bounce, raw), await deliver(bounce, raw)]).toEqual([250, 250])
    expect((await told(api)).sort()).toEqual([
      ['bob@example.com', 'hard_bounce', null],
      ['cleo@example.com', 'hard_bounce', null],
    ])
  })

  test('is complained about by whom the report names; if it names nobody, nobody is held back', async () => {
    const { api, mailId } = await sendToAll()
    expect(await deliver(`feedback@${domain}`, feedback('nameless', 'abuse', mailId))).toBe(250)
    expect(await told(api)).toEqual([])
    const raw = feedback('named', 'abuse', mailId, 'Original-Rcpt-To: <bob@example.com>\n')
    expect(await deliver(`feedback@${domain}`, raw)).toBe(250)
    expect(await told(api)).toEqual([['bob@example.com', 'complaint', null]])
  })

  test('is told of by its provider: of each on its own, and of nobody where none is named', async () => {
    const { api, report } = await sendToAll()
    await report({ status: 'complaint' }, { status: 'bounced', permanent: true })
    expect(await told(api)).toEqual([])
    const at = '2026-05-01T10:00:00Z'
    for (const address of ['ada@example.com', 'bob@example.com', 'eve@example.com'])
      await report({ status: 'bounced', permanent: true, recipient: address, at })
    expect((await told(api)).sort()).toEqual([
      ['ada@example.com', 'hard_bounce', 'ada'],
      ['bob@example.com', 'hard_bounce', null],
    ])
  })

  test('a bounce that passed does not hide one for good at the same time, nor one of another with the same id', async () => {
    const { api, report } = await sendToAll()
    const at = '2026-05-01T10:00:00Z'
    await report({ status: 'bounced', recipient: 'ada@example.com', at })
    await report({ status: 'bounced', recipient: 'ada@example.com', at, permanent: true })
    await report({ status: 'bounced', recipient: 'bob@example.com', eventId: 'e', permanent: true })
    await report({ status: 'bounced', recipient: 'cleo@example.com', eventId: 'e', permanent: true })
    expect((await told(api)).map(([address]: string[]) => address).sort()).toEqual([
      'ada@example.com',
      'bob@example.com',
      'cleo@example.com',
    ])
  })

  test('a complaint counts, once, however often the mail was opened', async () => {
    const { api, report, transactionId } = await sendToAll()
    const opens = Array.from({ length: 600 }, (_, n) => ({ status: 'opened', eventId: `o${n}` }))
    await report(...opens)
    const complaint = { status: 'complaint', recipient: 'ada@example.com', eventId: 'c' }
    await report(complaint)
    const [entry] = await entries(api)
    expect(entry).toMatchObject({ reason: 'complaint', address: 'ada@example.com' })
    expect(await api.delete(`/v1/suppressions/${entry._id}?force=true`)).toMatchObject({ status: 204 })
    await report(complaint)
    expect(await entries(api)).toEqual([])
    const story = storyOf(await runOf(api, transactionId))
    expect(story.filter((line: string) => line.includes('Message complaint'))).toHaveLength(1)
  })
})
