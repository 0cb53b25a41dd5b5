// What consent means beside its own tables: other channels, publishing, the audit log, a person's data.
import { describe, expect, test } from 'vitest'
import { openInbox } from '../../../test/inbox.ts'
import { makeWorkflow, prefer, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Answer, type Api, sendTo, useServer } from '../../../test/server.ts'
import { type ErrorCode, errorTable } from '../../errors.ts'

const server = useServer({ allowPrivateAddresses: true })
const ada = { subscriberId: 'ada', email: 'ada@example.com', phone: '+14155550123' }
const commercial = { messageClass: 'commercial' }
const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: '<p>Hello</p>', editorType: 'html' } }
const sms: Step = { type: 'sms', controlValues: { body: 'Off: {{unsubscribe_url}} or {{preferences_url}}' } }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const oneClick = 'List-Unsubscribe=One-Click'

/** With a sandbox. */
const fresh = async () => (await server.freshOrganization()).development
const entries = async (api: Api) => (await api.get('/v1/suppressions')).body.data
const inSandbox = async (api: Api) => (await api.get('/v1/sandbox/messages')).body.data
async function sent(api: Api, name: string, transactionId = name) {
  await trigger(api, name, ada, { transactionId })
  await server.drain()
  return runOf(api, transactionId)
}
async function unsubscribeLink(api: Api): Promise<string> {
  const [{ _id, id = _id }] = await inSandbox(api)
  const { headers } = (await api.get(`/v1/sandbox/messages/${id}`)).body
  return /<https?:\/\/[^/]*([^>]*)>/.exec(headers['List-Unsubscribe'])?.[1] ?? ''
}

describe('other channels', () => {
  test('a text message has links of its own; the one that unsubscribes is about its number', async () => {
    const api = await fresh()
    await makeWorkflow(api, 'news', [sms], commercial)
    await sent(api, 'news')
    const [{ text }] = await inSandbox(api)
    const [, off = '', choose = ''] =
      /Off: http[^/]*\/\/[^/]*(\/l\/u\/[\w-]+) or http[^/]*\/\/[^/]*(\/l\/p\/[\w-]+)/.exec(text) ?? []
    expect((await sendTo(server.url + choose, 'GET', undefined, { accept: 'text/html' })).status).toBe(200)
    expect((await sendTo(server.url + off, 'POST', oneClick, form)).status).toBe(200)
    expect(await entries(api)).toMatchObject([{ channel: 'sms', address: ada.phone, scope: { workflowId: 'news' } }])
    expect((await sent(api, 'news', 'again')).jobs[0]).toMatchObject({ status: 'canceled' })
  })

  test('chat and push steps know both links, in-app ones do not', async () => {
    const api = await fresh()
    const body = '{{unsubscribe_url}} {{preferences_url}}'
    for (const [type, issues] of [
      ['chat', undefined],
      ['push', undefined],
      ['in_app', expect.anything()],
    ] as const) {
      await makeWorkflow(api, type, [{ type, controlValues: { subject: 'Hi', body } }], commercial)
      const [step] = (await api.get(`/v2/workflows/${type}`)).body.steps
      expect([type, step.issues?.controls?.body]).toEqual([type, issues])
    }
  })

  test('a pause holds back SMS, chat and push as well, and leaves the inbox alone', async () => {
    const api = await fresh()
    await api.post('/v2/subscribers', ada)
    const snoozedUntil = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
    await api.patch('/v2/subscribers/ada/preferences', { snoozedUntil })
    const others = ['sms', 'chat', 'push'].map((type) => ({ type, controlValues: { subject: 'Hi', body: 'Hello' } }))
    await makeWorkflow(
      api,
      'news',
      [email, ...others, { type: 'in_app', controlValues: { body: 'Hello' } }],
      commercial,
    )
    const { jobs } = await sent(api, 'news')
    expect(jobs.map(({ status, reason }: { status: string; reason?: string }) => reason ?? status)).toEqual([
      ...['snoozed', 'snoozed', 'snoozed', 'snoozed', 'completed'],
    ])
  })

  test('a provider that takes no headers is named in the log; the footer still stands', async () => {
    const api = await server.freshApi()
    await api.post('/v1/integrations', {
      ...{
        providerId: 'netcore',
        channel: 'email',
        name: 'Netcore',
        active: true,
        identifier: `n-${api.environmentId}`,
      },
      credentials: { apiKey: 'x', from: 'a@acme.example', senderName: 'Acme' },
    })
    // Held back, so that the vendor is not called.
    await api.post('/v1/suppressions', { channel: 'email', address: ada.email })
    await makeWorkflow(api, 'news', [email], commercial)
    const { jobs } = await sent(api, 'news')
    expect(jobs[0].executionDetails).toContainEqual(
      expect.objectContaining({ detail: 'The provider takes no unsubscribe header', status: 'Warning' }),
    )
    const [{ content }] = (await api.get('/v1/messages?transactionId=news')).body.data
    expect(content).toContain('/l/u/')
  })

  test('a provider that takes no headers is named in the log when a message goes on to it', async () => {
    const api = await server.freshApi()
    // Neither has its key, so nobody is called.
    for (const [providerId, credentials] of [
      ['email-webhook', {}],
      ['netcore', {}],
    ] as const)
      await api.post('/v1/integrations', {
        ...{ providerId, channel: 'email', name: providerId, active: true },
        ...{ identifier: `${providerId}-${api.environmentId}`, credentials },
      })
    await makeWorkflow(api, 'news', [email], commercial)
    const { jobs } = await sent(api, 'news')
    const lines = jobs[0].executionDetails.map(({ detail }: { detail: string }) => detail)
    const warning = lines.indexOf('The provider takes no unsubscribe header')
    expect(warning).toBeGreaterThan(lines.indexOf('The message goes on to the next integration'))
    expect(lines.indexOf('The message goes on to the next integration')).toBeGreaterThan(0)
  })
})

describe('a link', () => {
  test('is posted from any origin, and keeps nobody from posting again', async () => {
    const api = await fresh()
    await makeWorkflow(api, 'news', [email], commercial)
    await sent(api, 'news')
    const path = await unsubscribeLink(api)
    const foreign = { ...form, origin: 'https://mail.example', 'sec-fetch-site': 'cross-site', cookie: 'session=x' }
    for (let i = 0; i < 2; i += 1)
      expect(await sendTo(server.url + path, 'POST', oneClick, foreign)).toMatchObject({ status: 200 })
    expect(await entries(api)).toHaveLength(1)
  })

  test('is limited by network address', async () => {
    const other = await server.startAnother({})
    const answers: Answer[] = []
    // Not more at once than any service takes.
    for (const size of [...Array<number>(20).fill(50), 1])
      answers.push(
        ...(await Promise.all(
          Array.from({ length: size }, () => sendTo(`${other.url}/l/whoami`, 'GET', undefined, {})),
        )),
      )
    const refused = answers.filter(({ status }) => status === 429)
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([1_000, 1])
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    expect((await sendTo(`${other.url}/l/o/x.gif`, 'GET', undefined, {})).status).toBe(429)
  })

  test('undone on the page leaves every other entry', async () => {
    const api = await fresh()
    await makeWorkflow(api, 'news', [email], commercial)
    await sent(api, 'news')
    const path = server.url + (await unsubscribeLink(api))
    const scopes = async () => (await entries(api)).map(({ scope }: { scope: { type: string } }) => scope.type)
    await api.post('/v1/suppressions', { channel: 'email', address: ada.email, scope: { type: 'commercial' } })
    await sendTo(path, 'POST', 'confirm=1', form)
    expect(await scopes()).toEqual(['workflow', 'commercial'])
    await sendTo(path, 'POST', 'undo=1', form)
    expect(await scopes()).toEqual(['commercial'])
  })

  test('undone of a category leaves what was refused before it', async () => {
    const api = await fresh()
    const offers = { ...commercial, consentCategory: 'offers' }
    for (const name of ['news', 'weekly', 'daily', 'hourly']) await makeWorkflow(api, name, [email], offers)
    await sent(api, 'news')
    const path = server.url + (await unsubscribeLink(api))
    const wanted = async () => {
      const { workflows } = (await api.get('/v2/subscribers/ada/preferences')).body
      return Object.fromEntries(
        workflows.map(
          ({ workflow, channels }: Record<string, { slug: string; email: boolean; identifier: string }>) => [
            workflow?.identifier,
            channels?.email,
          ],
        ),
      )
    }
    // Ada's own choices: by the API, and on the page, which makes an entry.
    await api.patch('/v2/subscribers/ada/preferences', { workflowId: 'weekly', channels: { email: false } })
    const { url } = (await api.post('/v2/subscribers/ada/preferences-link', {})).body
    await sendTo(server.url + new URL(url).pathname, 'POST', 'shown=daily:email', form)
    const before = { news: true, weekly: false, daily: false, hourly: true }
    expect(await wanted()).toEqual(before)
    for (let i = 0; i < 2; i += 1) await sendTo(path, 'POST', 'confirm=1', form)
    expect(await wanted()).toEqual({ news: false, weekly: false, daily: false, hourly: false })
    await sendTo(path, 'POST', 'undo=1', form)
    expect(await wanted()).toEqual(before)
    expect(await entries(api)).toMatchObject([{ scope: { type: 'workflow', workflowId: 'daily' } }])
  })

  test('is taken back by who switches the workflow on in the inbox', async () => {
    const api = await fresh()
    await makeWorkflow(api, 'news', [email], commercial)
    await sent(api, 'news')
    await sendTo(server.url + (await unsubscribeLink(api)), 'POST', oneClick, form)
    expect(await entries(api)).toHaveLength(1)
    const inbox = await openInbox(server, api, 'ada')
    expect((await inbox.patch('/preferences/news', { email: true })).status).toBe(200)
    expect(await entries(api)).toEqual([])
  })
})

test('a pause is set in the inbox, up to a year', async () => {
  const api = await fresh()
  const inbox = await openInbox(server, api, 'ada')
  const inDays = (days: number) => new Date(server.clock.now().getTime() + days * 86_400_000).toISOString()
  const snoozedUntil = inDays(365)
  expect(await inbox.patch('/preferences', { snoozedUntil })).toMatchObject({ status: 200 })
  expect((await api.get('/v2/subscribers/ada/preferences')).body.global).toMatchObject({ snoozedUntil })
  for (const wrong of [inDays(366), inDays(-1)])
    expect(await inbox.patch('/preferences', { snoozedUntil: wrong })).toMatchObject({
      ...{ status: 422, body: { code: 'snooze_invalid' } },
    })
})

test('the page of preferences shows the brand, in the language that is asked for', async () => {
  const api = await fresh()
  await makeWorkflow(api, 'news', [email], commercial)
  await api.post('/v2/subscribers', { ...ada, locale: 'de_DE' })
  const brand = {
    name: 'Acme & Sons',
    logoUrl: 'https://acme.example/l.png',
    primaryColor: '#ffcc00',
    postalAddress: '1 Main',
  }
  await server.database.db
    .updateTable('environments')
    .set({ consent: JSON.stringify({ brand }) })
    .where('id', '=', api.environmentId)
    .execute()
  const { url } = (await api.post('/v2/subscribers/ada/preferences-link', {})).body
  const page = async (query = '', headers = {}) =>
    (await sendTo(server.url + new URL(url).pathname + query, 'GET', undefined, { accept: 'text/html', ...headers }))
      .text
  const german = await page('', { 'accept-language': 'fr' })
  for (const part of [
    '<html lang="de" dir="ltr">',
    '<p class="brand">Acme &amp; Sons</p>',
    '<img src="https://acme.example/l.png" alt="Acme &amp; Sons">',
    'background: #ffcc00; color: #000000',
    '<address>1 Main</address>',
  ])
    expect(german).toContain(part)
  expect(await page('?lang=ar')).toContain('<html lang="ar" dir="rtl">')
  await api.patch('/v2/subscribers/ada', { locale: null })
  expect(await page('', { 'accept-language': 'fr-CH, de;q=0.5' })).toContain('<html lang="fr" dir="ltr">')
  expect(await page()).toContain('<html lang="en" dir="ltr">')
})

test('where a preference and the list both hold back, the preference is told', async () => {
  const api = await fresh()
  await makeWorkflow(api, 'news', [email], commercial)
  await api.post('/v2/subscribers', ada)
  await api.post('/v1/suppressions', { channel: 'email', address: ada.email })
  expect((await sent(api, 'news')).jobs[0]).toMatchObject({ reason: 'suppressed' })
  await prefer(api, 'ada', { workflowId: 'news', channels: { email: false } })
  expect((await sent(api, 'news', 'both')).jobs[0].reason).toBe('preference')
})

test('the list of workflows says their class, category and what is counted', async () => {
  const api = await fresh()
  const more = { ...commercial, consentCategory: 'offers', tracking: { opens: true } }
  await makeWorkflow(api, 'news', [email], more)
  expect((await api.get('/v2/workflows?query=news')).body.workflows).toMatchObject([
    { messageClass: 'commercial', consentCategory: 'offers', tracking: { opens: true, clicks: false } },
  ])
})

test('publishing carries class, category and tracking, but neither entries nor settings', async () => {
  const { development, production } = await server.freshOrganizationWide()
  const more = { ...commercial, consentCategory: 'offers', tracking: { opens: true, clicks: true } }
  await makeWorkflow(development, 'news', [email], more)
  await development.post('/v1/suppressions', { channel: 'email', address: ada.email })
  await development.patch(`/v2/environments/${development.environmentId}/consent`, { brand: { name: 'Acme' } })
  const published = await development.post(`/v2/environments/${production.environmentId}/publish`, {
    sourceEnvironmentId: development.environmentId,
  })
  expect(published, published.text).toMatchObject({ status: 200 })
  expect((await production.get('/v2/workflows/news')).body).toMatchObject(more)
  expect(await entries(production)).toEqual([])
  const { brand } = (await production.get(`/v2/environments/${production.environmentId}/consent`)).body
  expect(brand.name).toBeNull()
})

test('a change of the settings is in the audit log, and needs an admin', async () => {
  const { development: api } = await server.freshOrganizationWide()
  const path = `/v2/environments/${api.environmentId}/consent`
  expect((await api.patch(path, { footer: false })).status).toBe(200)
  const { data } = (await api.get('/v1/audit?action=environment.consent-changed')).body
  expect(data).toMatchObject([{ action: 'environment.consent-changed', target: { id: api.environmentId } }])
})

test('settings beyond their limits are refused, those at the limits are taken', async () => {
  const { development: api } = await server.freshOrganizationWide()
  const path = `/v2/environments/${api.environmentId}/consent`
  const limits: Array<[section: string, member: string, least: number, most: number]> = [
    ['softBounces', 'count', 1, 100],
    ['softBounces', 'days', 1, 90],
    ['softBounces', 'suppressDays', 1, 365],
    ['brakes', 'bouncePercent', 0.01, 100],
    ['brakes', 'complaintPercent', 0.01, 100],
    ['brakes', 'minimum', 10, 1_000_000],
    ['brakes', 'hours', 1, 168],
  ]
  for (const [section, member, least, most] of limits)
    for (const [value, status] of [
      [least, 200],
      [most, 200],
      [least - 1, 422],
      [most + 1, 422],
    ] as const)
      expect([member, value, (await api.patch(path, { [section]: { [member]: value } })).status]).toEqual([
        ...[member, value, status],
      ])
  const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`)
  for (const [body, status] of [
    [{ sms: { helpReply: 'x'.repeat(320) } }, 200],
    [{ sms: { helpReply: 'x'.repeat(321) } }, 422],
    [{ sms: { extraStopWords: words(50) } }, 200],
    [{ sms: { extraStopWords: words(51) } }, 422],
    [{ brand: { logoUrl: 'https://acme.example/logo.png' } }, 200],
    // This machine may be called.
    [{ brand: { logoUrl: 'http://127.0.0.1/logo.png' } }, 200],
    [{ brand: { primaryColor: '#12345' } }, 422],
  ] as const)
    expect([body, (await api.patch(path, body)).status]).toEqual([body, status])
})

test('an extra stop word that starts messages, asks for help or matches no text is refused', async () => {
  const { development: api } = await server.freshOrganizationWide()
  const path = `/v2/environments/${api.environmentId}/consent`
  const extraStopWords = ['genug', 'YES', 'INFO', '!!!']
  expect(await api.patch(path, { sms: { extraStopWords } })).toMatchObject({
    status: 422,
    body: {
      errors: {
        'sms.extraStopWords': {
          value: extraStopWords,
          messages: [
            '"YES" starts messages again and cannot stop them',
            '"INFO" asks for help and cannot stop messages',
            '"!!!" has no letter or digit, so no text would match it',
          ],
        },
      },
    },
  })
  expect((await api.get(path)).body.sms.extraStopWords).toEqual([])
  expect((await api.patch(path, { sms: { extraStopWords: null } })).status).toBe(200)
})

test('http addresses are refused where this machine may not be called', async () => {
  const careful = await server.startAnother({ allowPrivateAddresses: false, allowLoopbackInDevelopment: false })
  const { development: api } = await server.freshOrganizationWide()
  const path = `${careful.url}/v2/environments/${api.environmentId}/consent`
  const headers = {
    authorization: `ApiKey ${api.key}`,
    'belfry-environment': api.environmentId,
    'content-type': 'application/json',
  }
  for (const name of ['logoUrl', 'linkBaseUrl']) {
    const answer = await sendTo(path, 'PATCH', JSON.stringify({ brand: { [name]: 'http://127.0.0.1:4000' } }), headers)
    expect([name, answer.status]).toEqual([name, 422])
  }
})

test('deleting a subscriber leaves entries; an export has entries and the pause, an erasure leaves the hash alone', async () => {
  const api = await fresh()
  await api.post('/v2/subscribers', ada)
  await api.post('/v1/suppressions', { channel: 'email', address: ada.email, subscriberId: 'ada', note: 'By phone' })
  const snoozedUntil = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
  await api.patch('/v2/subscribers/ada/preferences', { snoozedUntil })
  const { data } = (await api.get('/v2/subscribers/ada/export')).body
  expect(data.suppressions).toMatchObject([{ address: ada.email, note: 'By phone' }])
  expect(data.subscribers).toMatchObject([{ snoozedUntil }])
  expect(data.pushSubscriptions).toEqual([])
  await api.delete('/v2/subscribers/ada')
  expect(await entries(api)).toMatchObject([{ address: ada.email }])
  await api.post('/v2/subscribers', ada)
  await api.post('/v2/subscribers/ada/erase')
  await server.drain()
  expect(await entries(api)).toMatchObject([
    {
      address: null,
      subscriberId: null,
      note: null,
      messageId: null,
      addressHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ])
  const check = { channel: 'email', address: ada.email }
  expect((await api.post('/v1/suppressions/check', check)).body).toMatchObject({ suppressed: true })
})

test('an entry made while a person is erased loses its address too', async () => {
  const api = await fresh()
  await makeWorkflow(api, 'news', [email], commercial)
  await sent(api, 'news')
  const path = server.url + (await unsubscribeLink(api))
  await api.post('/v2/subscribers/ada/erase')
  // The message is still there, and knows the address.
  expect((await sendTo(path, 'POST', oneClick, form)).status).toBe(200)
  expect(await entries(api)).toMatchObject([{ address: ada.email }])
  await server.drain()
  expect(await entries(api)).toMatchObject([{ address: null, messageId: null }])
})

test.each<[ErrorCode, number, object, string]>([
  ['suppression_not_found', 404, { id: 'x' }, 'There is no suppression x'],
  ['suppression_address_invalid', 422, { address: 'x', channel: 'sms' }, '"x" is no address for sms'],
  ['suppression_workflow_unknown', 422, { workflowId: 'x' }, 'There is no workflow x'],
  ['suppression_expired', 422, {}, 'expiresAt lies in the past, leave it out to suppress for ever'],
  ['suppression_protected', 409, {}, 'Somebody has complained; to write to this address again, say force=true'],
  ['csv_invalid', 400, { reason: 'x' }, 'The file cannot be read: x'],
  ['too_many_rows', 413, { limit: 9 }, 'At most 9 rows are taken at once'],
  ['unsubscribe_body', 400, {}, 'To unsubscribe, post List-Unsubscribe=One-Click'],
  ['link_unknown', 404, {}, 'This link is not one of ours'],
  ['link_expired', 410, {}, 'This link has expired: use the one in a newer message'],
  ['link_base_unreachable', 400, { url: 'x', reason: 'y' }, 'x does not lead to this service (y)'],
  ['preferences_session', 403, {}, 'This token opens preferences only'],
  ['commercial_critical', 400, {}, 'A critical workflow cannot be commercial: people could not refuse it'],
  ['deliverability_not_offered', 400, {}, 'Only e-mail integrations have a domain to check'],
  ['deliverability_no_sender', 400, {}, 'The integration has no From address: name a domain'],
  ['snooze_invalid', 422, { days: 365 }, 'A pause ends in the future, and within 365 days'],
  ['web_push_off', 404, {}, 'Web push is switched off in this environment'],
  ['push_subscription_invalid', 422, { reason: 'x' }, 'The push subscription cannot be used: x'],
])('%s is %i with the words that were promised', (code, status, params, message) => {
  const kind = errorTable[code] as { status: number; message: (params: object) => string }
  expect([kind.status, kind.message(params)]).toEqual([status, message])
})
