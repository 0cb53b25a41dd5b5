import { describe, expect, test } from 'vitest'
import { makeWorkflow, prefer, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Answer, type Api, sendTo, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { textOn } from './page.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const ada = { subscriberId: 'ada', email: 'ada@example.com', locale: 'de_DE' }
const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: '<p>Hello</p>', editorType: 'html' } }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const oneClick = 'List-Unsubscribe=One-Click'

interface Mail {
  to: string[]
  cc: string[]
  bcc: string[]
  html: string
  text: string
  headers: Record<string, string>
}

async function prepared({
  more = {},
  base = '',
  step = email,
}: {
  more?: object
  base?: string
  step?: Step
} = {}): Promise<Api> {
  const api = await server.freshApi()
  const answer = await api.post('/v1/integrations', {
    ...{
      providerId: 'email-webhook',
      channel: 'email',
      name: 'mail',
      identifier: `mail-${api.environmentId}`,
      active: true,
    },
    credentials: { webhookUrl: vendor.url, secretKey: 'x', from: 'a@acme.example', senderName: 'Acme' },
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  if (base !== '') await setBrand(api, { linkBaseUrl: base, name: 'Acme', postalAddress: '1 Main Street' })
  await makeWorkflow(api, 'news', [step], { messageClass: 'commercial', ...more })
  vendor.plays(() => ({ body: {} }))
  return api
}

/** A public address cannot be reached from here. */
const setBrand = (api: Api, brand: object) =>
  server.database.db
    .updateTable('environments')
    .set({ consent: JSON.stringify({ brand }) })
    .where('id', '=', api.environmentId)
    .execute()

async function mailOf(api: Api, more: object = {}, name = 'news'): Promise<Mail> {
  await trigger(api, name, ada, more)
  await server.drain()
  return JSON.parse(vendor.asked.findLast(({ path }) => path === '/')?.body ?? '{}')
}
const linkIn = ({ headers }: Mail) => new URL(headers['List-Unsubscribe']?.replace(/^<|>$/g, '') ?? '').pathname
const browse = (path: string, method = 'GET', body?: string, headers: Record<string, string> = {}): Promise<Answer> =>
  sendTo(server.url + path, method, body, { ...(body === undefined ? {} : form), accept: 'text/html', ...headers })
const entries = async (api: Api) => (await api.get('/v1/suppressions')).body.data
const wanted = async (api: Api, name = 'news') => {
  const { workflows } = (await api.get('/v2/subscribers/ada/preferences')).body
  return workflows.find(({ workflow }: { workflow: { identifier: string } }) => workflow.identifier === name).channels
    .email
}

describe('commercial mail', () => {
  test('has both headers, a footer with the same link, and one recipient', async () => {
    const api = await prepared({ base: 'https://mail.acme.example' })
    const overrides = { email: { to: ['bob@example.com'], cc: ['cc@example.com'], bcc: ['bcc@example.com'] } }
    const mail = await mailOf(api, { overrides, transactionId: 'first' })
    const url = mail.headers['List-Unsubscribe']?.slice(1, -1) ?? ''
    expect(mail.headers).toEqual({
      'List-Unsubscribe': expect.stringMatching(/^<https:\/\/mail\.acme\.example\/l\/u\/[\w-]{1,220}>$/),
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'X-Belfry-Id': expect.stringMatching(/^[a-z2-7]{50}$/),
    })
    expect(mail).toMatchObject({ to: [ada.email], cc: [], bcc: [] })
    expect(mail.html).toContain(`Acme<br>1 Main Street<br><a href="${url}"`)
    expect(mail.html).toMatch(
      /Abmelden<\/a> · <a href="https:\/\/mail\.acme\.example\/l\/p\/[^>]*>Einstellungen<\/a><\/p>\s*<\/body>/,
    )
    expect(mail.text).toMatch(
      new RegExp(`Acme\\n1 Main Street\\nAbmelden: ${url}\\nEinstellungen: https://mail.acme.example/l/p/`),
    )
    const { jobs } = await runOf(api, 'first')
    const lines = jobs[0].executionDetails.map(({ detail }: { detail: string }) => detail)
    expect(lines).toContain('Commercial mail goes to one person; further recipients are left out')
    expect(lines).not.toContain('One-click unsubscribe needs an https address')
  })

  test('with a link of its own gets no footer, and none where that is switched off', async () => {
    const body = '<p>Hello</p><a href="{{unsubscribe_url}}">No more</a>'
    const step = { ...email, controlValues: { ...email.controlValues, body } }
    const api = await prepared({ base: 'https://mail.acme.example', step })
    const mail = await mailOf(api)
    expect(mail.html.match(/\/l\/u\//g)).toHaveLength(1)
    expect(mail.html).toContain(mail.headers['List-Unsubscribe']?.slice(1, -1))
    const other = await prepared()
    await other.patch(`/v2/environments/${other.environmentId}/consent`, { footer: false })
    expect((await mailOf(other)).html).not.toContain('/l/u/')
  })

  test('under an http address has no one-click header, and the log says so', async () => {
    const api = await prepared({ base: 'http://mail.acme.example' })
    const mail = await mailOf(api, { transactionId: 'http' })
    expect(Object.keys(mail.headers)).toEqual(['List-Unsubscribe', 'X-Belfry-Id'])
    const { jobs } = await runOf(api, 'http')
    expect(jobs[0].executionDetails).toContainEqual(
      expect.objectContaining({ detail: 'One-click unsubscribe needs an https address', status: 'Warning' }),
    )
  })

  test('with a header of the caller gets neither of ours', async () => {
    const api = await prepared({ base: 'https://mail.acme.example' })
    const headers = { 'list-unsubscribe': '<https://acme.example/out>' }
    const own = { ...headers, 'X-Belfry-Id': expect.any(String) }
    const sent = await mailOf(api, { overrides: { email: { headers: { ...headers, 'x-belfry-id': 'forged' } } } })
    expect(sent.headers).toEqual(own)
    // One that names only the second replaces nothing, and neither stands twice.
    const post = { 'list-unsubscribe-post': 'List-Unsubscribe=One-Click', 'X-Own': 'kept' }
    const once = await mailOf(api, { overrides: { email: { headers: post } } })
    expect(Object.keys(once.headers).sort()).toEqual([
      ...['List-Unsubscribe', 'List-Unsubscribe-Post', 'X-Belfry-Id', 'X-Own'],
    ])
  })

  test('is what a workflow sends from the moment it is commercial; transactional mail has neither header', async () => {
    const api = await prepared({ more: { messageClass: 'transactional' } })
    const mail = await mailOf(api)
    expect([Object.keys(mail.headers), mail.html.includes('/l/u/')]).toEqual([['X-Belfry-Id'], false])
    await api.post('/v1/suppressions', { channel: 'email', address: ada.email, scope: { type: 'commercial' } })
    await mailOf(api)
    expect(vendor.asked).toHaveLength(2)
    vendor.plays(() => ({ status: 503, body: {} }))
    await mailOf(api, { transactionId: 'waits' })
    expect(vendor.asked).toHaveLength(3)
    expect(await api.patch('/v2/workflows/news', { messageClass: 'commercial' })).toMatchObject({ status: 200 })
    server.clock.advance({ minutes: 5 })
    await server.drain()
    expect(vendor.asked).toHaveLength(3)
    expect((await runOf(api, 'waits')).jobs[0]).toMatchObject({ reason: 'suppressed' })
  })
})

describe('a link', () => {
  test('fetched by robots changes nothing', async () => {
    const body = '<p>Hello</p><a href="{{view_in_browser_url}}">View</a>'
    const api = await prepared({ step: { ...email, controlValues: { ...email.controlValues, body } } })
    const mail = await mailOf(api)
    const paths = [
      linkIn(mail),
      ...[...mail.html.matchAll(/href="[^"]*(\/l\/[uvp]\/[\w-]+)"/g)].map(([, path = '']) => path),
    ]
    expect([...new Set(paths.map((path) => path.slice(0, 4)))].sort()).toEqual(['/l/p', '/l/u', '/l/v'])
    for (const path of paths)
      for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) {
        const answer = await browse(path, method)
        expect([path, answer.status]).toEqual([path, 200])
        expect(answer.headers.get('cache-control')).toBe('no-store')
        expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
        expect(answer.headers.get('x-robots-tag')).toBe('noindex')
        expect(answer.headers.get('set-cookie')).toBeNull()
      }
    expect(await entries(api)).toEqual([])
    expect(await wanted(api)).toBe(true)
    await mailOf(api)
    expect(vendor.asked).toHaveLength(2)
  })

  test.each([
    ['a form', oneClick, form],
    [
      'a multipart form',
      '--x\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
      { 'content-type': 'multipart/form-data; boundary=x' },
    ],
  ])('posted by a mail program with %s unsubscribes, once', async (_, body, headers) => {
    const api = await prepared()
    await api.post('/v2/webhooks/endpoints', { url: `${vendor.url}/hook` })
    const path = linkIn(await mailOf(api))
    for (let i = 0; i < 2; i += 1) {
      const answer = await browse(path, 'POST', body, { ...headers, accept: '*/*' })
      expect(answer).toMatchObject({ status: 200, text: 'Unsubscribed\n' })
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    }
    expect(await entries(api)).toMatchObject([
      {
        ...{ channel: 'email', address: ada.email, reason: 'unsubscribe', source: 'header', subscriberId: 'ada' },
        scope: { type: 'workflow', workflowId: 'news' },
      },
    ])
    expect(await wanted(api)).toBe(false)
    const events = (await api.get('/v2/webhooks/events?limit=50')).body.data
    const types = events.map(({ type }: { type: string }) => type)
    expect(types.filter((type: string) => type === 'suppression.created')).toHaveLength(1)
    expect(types).toContain('preference.updated')
  })

  test('confirmed on the page unsubscribes, and can be taken back there', async () => {
    const api = await prepared({ base: 'https://mail.acme.example' })
    const path = linkIn(await mailOf(api))
    const page = await browse(path)
    expect(page.text).toContain('<html lang="de" dir="ltr">')
    expect(page.text).toContain('<button name="confirm" value="1" type="submit">Abmelden</button>')
    expect(page.text).toContain('<h1>Acme</h1>')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    const done = await browse(path, 'POST', 'confirm=1')
    expect(done.text).toContain('<p role="status">Sie sind abgemeldet')
    expect(await entries(api)).toMatchObject([{ source: 'page' }])
    const undone = await browse(path, 'POST', 'undo=1')
    expect(undone.text).toContain('Was Sie sonst abgelehnt haben, bleibt abgelehnt.')
    expect(await entries(api)).toEqual([])
    expect(await wanted(api)).toBe(true)
    expect((await browse(`${path}?lang=ar`)).text).toContain('<html lang="ar" dir="rtl">')
  })

  test('may show a logo from an http address, where one is taken', async () => {
    const api = await prepared()
    const images = async (path: string) =>
      (await browse(path)).headers.get('content-security-policy')?.match(/img-src ([^;]*)/)?.[1]
    const mail = await mailOf(api)
    const preferences = new URL(mail.text.match(/http:\S+\/l\/p\/\S+/)?.[0] ?? '').pathname
    for (const path of [linkIn(mail), preferences]) expect(await images(path)).toBe('https: data:')
    await setBrand(api, { logoUrl: 'http://127.0.0.1/logo.png' })
    for (const path of [linkIn(mail), preferences]) expect(await images(path)).toBe('https: http: data:')
  })

  test('is not in the log, whatever fails', async () => {
    const path = linkIn(await mailOf(await prepared()))
    const { pool } = server.database
    await pool.query('ALTER TABLE subscribers RENAME TO lost')
    try {
      expect(await browse(path)).toMatchObject({ status: 500 })
    } finally {
      await pool.query('ALTER TABLE lost RENAME TO subscribers')
    }
    const line = server.logged.find(({ msg }) => msg === 'request failed unexpectedly')
    expect(line).toMatchObject({ path: '/l/u/:token' })
    expect(JSON.stringify(server.logged)).not.toContain(path.split('/').at(-1))
  })

  test('has the usual language where one is named twice', async () => {
    const api = await prepared()
    const path = `${linkIn(await mailOf(api))}?lang=fr&lang=en`
    expect(await browse(path)).toMatchObject({ status: 200, text: expect.stringContaining('<html lang="de"') })
    const done = await browse(path, 'POST', 'confirm=1')
    expect(done).toMatchObject({ status: 200, text: expect.stringContaining('Sie sind abgemeldet') })
    for (const unknown of ['/l/u/x', '/l/p/x', '/l/v/x', '/l/c/x'])
      expect([unknown, (await browse(`${unknown}?lang=fr&lang=en&u=x`)).status]).toEqual([unknown, 404])
    expect((await browse('/l/preview?lang=fr&lang=en')).status).toBe(200)
  })

  test.each([
    ['', form],
    ['List-Unsubscribe=two', form],
    ['{"confirm":"1"}', { 'content-type': 'application/json' }],
  ])('posted with %j changes nothing', async (body, headers) => {
    const api = await prepared()
    const path = linkIn(await mailOf(api))
    expect(await browse(path, 'POST', body, { ...headers, accept: 'application/json' })).toMatchObject({
      status: 400,
      body: { code: 'unsubscribe_body', message: 'To unsubscribe, post List-Unsubscribe=One-Click' },
    })
    expect(await entries(api)).toEqual([])
  })

  test('that is not ours is not found: a page for people, JSON for others', async () => {
    expect(await browse('/l/u/x', 'GET', undefined, { accept: 'application/json' })).toMatchObject({
      status: 404,
      body: { code: 'link_unknown', message: 'This link is not one of ours' },
    })
    const page = await browse('/l/u/x', 'GET', undefined, { 'accept-language': 'fr' })
    expect(page).toMatchObject({ status: 404, text: expect.stringContaining('Ce lien n’est pas de nous') })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('is JSON for whoever asks for no page, and confirmed or taken back with the same forms', async () => {
    const api = await prepared({ base: 'https://mail.acme.example', more: { consentCategory: 'offers' } })
    const path = linkIn(await mailOf(api))
    const brand = { name: 'Acme', logoUrl: null, primaryColor: null, postalAddress: '1 Main Street' }
    for (const accept of ['application/json', '*/*']) {
      const answer = await browse(path, 'GET', undefined, { accept })
      expect(answer.body).toEqual({ state: 'question', channel: 'email', category: 'offers', brand })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
    expect(await entries(api)).toEqual([])
    const asked = { ...form, accept: 'application/json' }
    expect((await browse(path, 'POST', 'confirm=1', asked)).body).toMatchObject({ state: 'done' })
    expect(await entries(api)).toMatchObject([{ source: 'page', scope: { type: 'category', category: 'offers' } }])
    expect((await browse(path, 'POST', 'undo=1', asked)).body).toMatchObject({ state: 'undone' })
    expect(await entries(api)).toEqual([])
  })

  test('whose address has changed does not speak for the subscriber', async () => {
    const api = await prepared()
    const path = linkIn(await mailOf(api))
    await api.patch('/v2/subscribers/ada', { email: 'new@example.com' })
    expect(await browse(path, 'POST', oneClick)).toMatchObject({ status: 200 })
    expect(await entries(api)).toMatchObject([{ address: ada.email, subscriberId: null }])
    expect(await wanted(api)).toBe(true)
  })

  test('still works after an erasure, and after its workflow is gone', async () => {
    const api = await prepared()
    const path = linkIn(await mailOf(api))
    await api.post('/v2/subscribers/ada/erase')
    await server.drain()
    await api.delete('/v2/workflows/news')
    expect(await browse(path, 'POST', oneClick)).toMatchObject({ status: 200 })
    expect(await entries(api)).toMatchObject([
      { address: null, subscriberId: null, scope: { type: 'workflow', workflowId: 'news' } },
    ])
  })

  test('acts on the category it was signed for; a choice for one workflow makes an exception', async () => {
    const api = await prepared({ more: { consentCategory: 'offers' } })
    await makeWorkflow(api, 'weekly', [email], { messageClass: 'commercial', consentCategory: 'offers' })
    await makeWorkflow(api, 'other', [email], { messageClass: 'commercial' })
    const path = linkIn(await mailOf(api))
    await api.patch('/v2/workflows/news', { consentCategory: null })
    await browse(path, 'POST', oneClick)
    const scope = { type: 'category', category: 'offers', except: [] as string[] }
    expect(await entries(api)).toMatchObject([{ scope }])
    await api.patch('/v2/workflows/news', { consentCategory: 'offers' })
    expect([await wanted(api, 'weekly'), await wanted(api, 'other')]).toEqual([false, true])
    const before = vendor.asked.length
    await mailOf(api, {}, 'weekly')
    await mailOf(api, {}, 'other')
    expect(vendor.asked).toHaveLength(before + 1)
    await prefer(api, 'ada', { channels: { email: true } })
    expect(await entries(api)).toMatchObject([{ scope }])
    await prefer(api, 'ada', { workflowId: 'weekly', channels: { email: true } })
    expect(await entries(api)).toMatchObject([{ scope: { ...scope, except: ['weekly'] } }])
    await mailOf(api, {}, 'weekly')
    await mailOf(api)
    expect(vendor.asked).toHaveLength(before + 2)
  })

  test('is undone by an explicit choice for the workflow', async () => {
    const api = await prepared()
    await browse(linkIn(await mailOf(api)), 'POST', oneClick)
    await prefer(api, 'ada', { workflowId: 'news', channels: { email: true } })
    expect(await entries(api)).toEqual([])
    await mailOf(api)
    expect(vendor.asked).toHaveLength(2)
  })
})

describe('a workflow', () => {
  test('keeps its class and category in a PUT that does not name them; null resets', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [], { messageClass: 'commercial', consentCategory: 'offers' })
    const put = { name: 'News', steps: [], preferences: {}, origin: 'novu-cloud' }
    const shown = async () => {
      const { messageClass, consentCategory } = (await api.get('/v2/workflows/news')).body
      return [messageClass, consentCategory]
    }
    await api.put('/v2/workflows/news', { ...put, origin: (await api.get('/v2/workflows/news')).body.origin })
    expect(await shown()).toEqual(['commercial', 'offers'])
    await api.patch('/v2/workflows/news', { consentCategory: null })
    expect(await shown()).toEqual(['commercial', null])
    await api.patch('/v2/workflows/news', { messageClass: null })
    expect(await shown()).toEqual(['transactional', null])
    expect(await api.patch('/v2/workflows/news', { consentCategory: 'No spaces' })).toMatchObject({ status: 422 })
  })

  test('cannot be critical and commercial, whichever is set last', async () => {
    const api = await server.freshApi()
    const preferences = { user: null, workflow: { all: { enabled: true, readOnly: true } } }
    await makeWorkflow(api, 'alarm', [], { preferences })
    const refused = { status: 400, body: { code: 'commercial_critical' } }
    expect(await api.patch('/v2/workflows/alarm', { messageClass: 'commercial' })).toMatchObject(refused)
    await makeWorkflow(api, 'news', [], { messageClass: 'commercial' })
    const { origin } = (await api.get('/v2/workflows/news')).body
    expect(await api.put('/v2/workflows/news', { name: 'News', steps: [], preferences, origin })).toMatchObject(refused)
  })

  test('offers the link to email and SMS steps, unless it is critical', async () => {
    const api = await server.freshApi()
    const steps = [{ ...email, controlValues: { ...email.controlValues, body: '{{unsubscribe_url}}' } }]
    await makeWorkflow(api, 'news', steps)
    expect((await api.get('/v2/workflows/news')).body.steps[0].issues?.controls).toBeUndefined()
    const preferences = { user: null, workflow: { all: { enabled: true, readOnly: true } } }
    await makeWorkflow(api, 'alarm', steps, { preferences })
    expect((await api.get('/v2/workflows/alarm')).body.steps[0].issues.controls).toMatchObject({
      body: [{ issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE', variableName: 'unsubscribe_url' }],
    })
    const preview = await api.post('/v2/workflows/news/step/email-0/preview', {})
    expect(preview.body.result.preview.body).toContain('/l/preview')
    expect(await browse('/l/preview')).toMatchObject({ status: 200 })
  })
})

describe('settings', () => {
  test('are changed member by member, and null goes back', async () => {
    const { development: api } = await server.freshOrganization()
    const path = `/v2/environments/${api.environmentId}/consent`
    const usual = {
      brand: { name: null, logoUrl: null, primaryColor: null, postalAddress: null, linkBaseUrl: null },
      footer: true,
      softBounces: { count: 5, days: 14, suppressDays: 30 },
      sms: { keywords: true, scope: 'all', stopReply: null, startReply: null, helpReply: null, extraStopWords: [] },
      brakes: { enabled: true, bouncePercent: 5, complaintPercent: 0.3, minimum: 200, hours: 24 },
    }
    expect((await api.get(path)).body).toEqual(usual)
    await api.patch(path, { brand: { name: 'Acme', primaryColor: '#ff0000' }, footer: false })
    const linkBaseUrl = server.url
    const sms = { scope: 'commercial', extraStopWords: ['genug'] }
    await api.patch(path, { softBounces: { count: 2, days: 3 }, sms })
    await api.patch(path, { softBounces: { count: null } })
    expect((await api.patch(path, { brand: { primaryColor: null, linkBaseUrl } })).body).toEqual({
      ...usual,
      softBounces: { ...usual.softBounces, days: 3 },
      sms: { ...usual.sms, ...sms },
      brand: { ...usual.brand, name: 'Acme', linkBaseUrl },
      footer: false,
    })
    expect((await api.patch(path, { brand: null, footer: null, softBounces: null, sms: null })).body).toEqual(usual)
  })

  test('that cannot be are refused', async () => {
    const { development: api } = await server.freshOrganization()
    const path = `/v2/environments/${api.environmentId}/consent`
    for (const body of [
      { color: 'red' },
      { brand: { color: 'red' } },
      { brand: { primaryColor: 'red' } },
      { brand: { logoUrl: 'ftp://x' } },
      { brand: { linkBaseUrl: 'https://acme.example/path' } },
      { softBounces: { count: 0 } },
      { softBounces: { often: 1 } },
      { sms: { scope: 'some' } },
      { sms: { stopReply: 'x'.repeat(321) } },
      { brakes: { bouncePercent: 0 } },
      { brakes: { minimum: 9 } },
    ])
      expect([body, await api.patch(path, body)]).toMatchObject([body, { status: 422 }])
    vendor.plays(() => ({ body: {} }))
    expect(await api.patch(path, { brand: { linkBaseUrl: vendor.url } })).toMatchObject({
      status: 400,
      body: { code: 'link_base_unreachable' },
    })
  })
})

test.each([
  ['#ffffff', '#000000'],
  ['#000000', '#ffffff'],
  ['#1f4fd8', '#ffffff'],
  ['#ffcc00', '#000000'],
])('text on %s is %s', (color, text) => {
  expect(textOn(color)).toBe(text)
})

test('from one network address a thousand requests at once are answered, and the next one is told to wait', async () => {
  server.clock.advance({ minutes: 10 })
  const statuses: number[] = []
  for (let round = 0; round < 20; round += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => browse('/l/whoami')))
    statuses.push(...answers.map(({ status }) => status))
  }
  expect(new Set(statuses)).toEqual(new Set([200]))
  const refused = await browse('/l/whoami')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  server.clock.advance({ minutes: 10 })
  expect(await browse('/l/whoami')).toMatchObject({ status: 200, body: { service: 'belfry' } })
})
