import { describe, expect, test } from 'vitest'
import { openInbox } from '../../../test/inbox.ts'
import { makeWorkflow, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Answer, type Api, sendTo, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const ada = { subscriberId: 'ada', email: 'ada@example.com', phone: '+14155550123', locale: 'de_DE' }
const links = '<a href="{{preferences_url}}">P</a> <a href="{{view_in_browser_url}}">V</a>'
const email: Step = {
  type: 'email',
  controlValues: { subject: 'Hi', body: `<p>Hello</p>${links}`, editorType: 'html' },
}
const inApp: Step = { type: 'in_app', controlValues: { body: 'Hi' } }
const readOnly = { user: null, workflow: { all: { enabled: true, readOnly: true } } }

async function prepared(): Promise<Api> {
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
  await api.post('/v2/subscribers', ada)
  await makeWorkflow(api, 'news', [email, inApp], { messageClass: 'commercial', consentCategory: 'offers' })
  await makeWorkflow(api, 'weekly', [email], { messageClass: 'commercial', consentCategory: 'offers' })
  await makeWorkflow(api, 'receipt', [email])
  await makeWorkflow(api, 'alarm', [email], { preferences: readOnly })
  vendor.plays(() => ({ body: {} }))
  return api
}

const linkFor = async (api: Api, body: object = {}) => {
  const answer = await api.post('/v2/subscribers/ada/preferences-link', body)
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return new URL(answer.body.url).pathname
}
const browse = (path: string, body?: string, headers: Record<string, string> = {}): Promise<Answer> =>
  sendTo(server.url + path, body === undefined ? 'GET' : 'POST', body, {
    ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    ...{ accept: 'text/html', ...headers },
  })
const entries = async (api: Api) => (await api.get('/v1/suppressions')).body.data
const wanted = async (api: Api, name: string) => {
  const { workflows } = (await api.get('/v2/subscribers/ada/preferences')).body
  return workflows.find(({ workflow }: { workflow: { identifier: string } }) => workflow.identifier === name).channels
}
const switches = ({ text }: Answer) => {
  const found = [...text.matchAll(/name="on" value="([^"]+)"( checked)?/g)]
  return Object.fromEntries(found.map(([, name, isOn]) => [name, isOn !== undefined]))
}
/** What a browser sends for a page, with these switches as they stand now. */
const formOf = ({ text }: Answer, moved: Record<string, boolean> = {}) => {
  const hidden = [...text.matchAll(/type="hidden" name="(\w+)" value="([^"]+)"/g)]
  const boxes = [...text.matchAll(/name="on" value="([^"]+)"( checked)?( disabled)?/g)]
  const isSent = (name: string, isOn: boolean, isFixed: boolean) => !isFixed && (moved[name] ?? isOn)
  return String(
    new URLSearchParams([
      ...hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
      ...boxes
        .filter(([, name = '', isOn, isFixed]) => isSent(name, isOn !== undefined, isFixed !== undefined))
        .map(([, name = '']): [string, string] => ['on', name]),
    ]),
  )
}
async function mailed(api: Api, name = 'news', more: object = {}): Promise<string> {
  await trigger(api, name, { subscriberId: 'ada' }, more)
  await server.drain()
  return JSON.parse(vendor.asked.findLast(({ path }) => path === '/')?.body ?? '{}').html
}

describe('the page of preferences', () => {
  test('shows commercial workflows by category, then others, and critical ones locked', async () => {
    const api = await prepared()
    const answer = await browse(await linkFor(api))
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('<html lang="de" dir="ltr">')
    expect(answer.text.match(/<h1>/g)).toHaveLength(1)
    expect([...answer.text.matchAll(/<legend>(.*?)<\/legend>/g)].map(([, name]) => name)).toEqual([
      'offers',
      'Andere Nachrichten',
    ])
    expect(switches(answer)).toEqual({
      'news:email': true,
      'news:in_app': true,
      'weekly:email': true,
      'receipt:email': true,
    })
    expect(answer.text).toContain('Diese Nachrichten erhalten Sie immer')
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(answer.text).not.toMatch(/<script>|onclick/)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test('saves what was shown and moved; switching a commercial workflow off unsubscribes', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    const shown = ['news:email', 'news:in_app', 'receipt:email', 'alarm:email', 'gone:email', 'news:sms']
    const body = new URLSearchParams([
      ...shown.map((name): [string, string] => ['shown', name]),
      ['on', 'news:in_app'],
      ['on', 'receipt:email'],
    ])
    const saved = await browse(path, String(body))
    expect(saved.text).toContain('<p role="status" class="status">Gespeichert</p>')
    expect(switches(saved)).toEqual({
      'news:email': false,
      'news:in_app': true,
      'weekly:email': true,
      'receipt:email': true,
    })
    expect(await entries(api)).toMatchObject([
      {
        ...{ channel: 'email', address: ada.email, reason: 'unsubscribe', source: 'page', subscriberId: 'ada' },
        scope: { type: 'workflow', workflowId: 'news' },
      },
    ])
    expect(await wanted(api, 'news')).toEqual({ email: false, in_app: true })
    const on = String(
      new URLSearchParams([
        ['shown', 'news:email'],
        ['on', 'news:email'],
      ]),
    )
    expect(switches(await browse(path, on))).toMatchObject({ 'news:email': true })
    expect(await entries(api)).toEqual([])
  })

  test('saves a multipart form as well, however many switches it has', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    const many = Array.from({ length: 30 }, (_, at) => `other${at}:email`)
    const fields = [...many, 'news:email', 'weekly:email', 'receipt:email'].map(
      (name) => `--x\r\ncontent-disposition: form-data; name="shown"\r\n\r\n${name}\r\n`,
    )
    const saved = await browse(path, `${fields.join('')}--x--\r\n`, {
      'content-type': 'multipart/form-data; boundary=x',
    })
    expect(saved.text).toContain('Gespeichert')
    expect(switches(saved)).toMatchObject({ 'news:email': false, 'weekly:email': false, 'receipt:email': false })
    expect(await entries(api)).toHaveLength(2)
  })

  test.each([
    ['{"all":"off"}', 'application/json'],
    ['all=off', 'text/plain'],
    ['', 'application/x-www-form-urlencoded'],
    ['all=OFF', 'application/x-www-form-urlencoded'],
    ['all=off&all=on&shown=news%3Aemail', 'application/x-www-form-urlencoded'],
    ['all=off', 'multipart/form-data; boundary=x'],
    ['all=off', 'multipart/form-data'],
  ])('refuses %j as %s: nothing is saved', async (body, contentType) => {
    const api = await prepared()
    const path = await linkFor(api)
    const headers = { 'content-type': contentType, accept: 'application/json' }
    expect(await browse(path, body, headers)).toMatchObject({
      status: 400,
      body: { code: 'preferences_body', message: 'To save preferences, post the form of the page' },
    })
    expect(await entries(api)).toEqual([])
    expect((await browse(path, body, { 'content-type': contentType })).text).not.toContain('Gespeichert')
  })

  test('refuses a request without a body', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    const answer = await fetch(server.url + path, { method: 'POST', headers: { accept: 'application/json' } })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'preferences_body' })
  })

  test('that has no switch has no button to save', async () => {
    const api = await prepared()
    await api.patch('/v2/workflows/receipt', { active: false })
    const path = await linkFor(api)
    expect((await browse(path)).text).toContain('id="save"')
    expect((await browse(path, 'all=off')).text).not.toContain('id="save"')
  })

  test('that has only switches which cannot be moved says why, and has no button to save', async () => {
    const api = await prepared()
    await api.patch('/v2/workflows/news', { active: false })
    await api.post('/v1/suppressions', { channel: 'email', address: ada.email, reason: 'hard_bounce' })
    const page = await browse(await linkFor(api))
    expect(page.text).toContain('name="on" value="receipt:email" disabled')
    expect(page.text).toContain('Was ausgegraut ist, ist für Ihre Adresse oder Nummer gesperrt.')
    expect(page.text).not.toContain('id="save"')
  })

  test('does not say that a critical message always reaches an address that bounced', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    expect((await browse(path)).text).toContain('id="always"')
    await api.post('/v1/suppressions', { channel: 'email', address: ada.email, reason: 'hard_bounce' })
    expect((await browse(path)).text).not.toContain('id="always"')
  })

  test('without any message to choose says so', async () => {
    const api = await prepared()
    for (const name of ['news', 'weekly', 'receipt', 'alarm'])
      await api.patch(`/v2/workflows/${name}`, { active: false })
    expect((await browse(await linkFor(api))).text).toContain('Zurzeit gibt es nichts auszuwählen.')
  })

  test('that was opened before another one moves only what its reader has moved', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    const old = await browse(path)
    await browse(path, formOf(old, { 'weekly:email': false }))
    expect(await entries(api)).toHaveLength(1)
    await browse(path, formOf(old, { 'receipt:email': false }))
    await browse(path, `${formOf(old)}&snooze=7`)
    expect(switches(await browse(path))).toMatchObject({
      'weekly:email': false,
      'receipt:email': false,
      'news:email': true,
    })
    expect(await entries(api)).toMatchObject([{ scope: { type: 'workflow', workflowId: 'weekly' } }])
  })

  test('that was opened while a number had sent STOP does not switch it off for good', async () => {
    const api = await prepared()
    await makeWorkflow(api, 'texts', [{ type: 'sms', controlValues: { body: 'Hi' } }], { messageClass: 'commercial' })
    const { body: stop } = await api.post('/v1/suppressions', { channel: 'sms', address: ada.phone, reason: 'stop' })
    const path = await linkFor(api)
    const old = await browse(path)
    await api.delete(`/v1/suppressions/${stop._id}`)
    await browse(path, formOf(old, { 'receipt:email': false }))
    expect(switches(await browse(path))).toMatchObject({ 'texts:sms': true, 'receipt:email': false })
    expect(await entries(api)).toEqual([])
  })

  test('ignores a language that is named twice', async () => {
    const api = await prepared()
    const path = `${await linkFor(api)}?lang=fr&lang=en`
    expect(await browse(path)).toMatchObject({ status: 200, text: expect.stringContaining('<html lang="de"') })
    expect((await browse(path, 'snooze=7')).text).toContain('Gespeichert')
  })

  test('is JSON for whoever asks for no page, and saved with the same form', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    const accept = { accept: 'application/json' }
    const seen = await browse(path, undefined, accept)
    expect(seen.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const workflow = (workflowId: string, more: object) =>
      expect.objectContaining({ workflowId, messageClass: 'commercial', category: 'offers', locked: false, ...more })
    const on = (channel: string) => ({ channel, on: true, fixed: false })
    expect(seen.body).toEqual({
      ...{ stopped: 'none', snoozedUntil: null, timezone: null, saved: false },
      brand: { name: null, logoUrl: null, primaryColor: null, postalAddress: null },
      workflows: expect.arrayContaining([
        workflow('news', { channels: expect.arrayContaining([on('email'), on('in_app')]) }),
        workflow('weekly', { channels: [on('email')] }),
        workflow('receipt', { messageClass: 'transactional', category: null }),
        workflow('alarm', { messageClass: 'transactional', category: null, locked: true }),
      ]),
    })
    const saved = await browse(path, 'shown=news:email&snooze=7', accept)
    expect(saved.body).toMatchObject({ saved: true, snoozedUntil: expect.stringMatching(/^\d{4}-.*Z$/) })
    expect(saved.body.workflows).toContainEqual(
      workflow('news', { channels: expect.arrayContaining([{ channel: 'email', on: false, fixed: false }]) }),
    )
    expect(await wanted(api, 'news')).toEqual({ email: false, in_app: true })
  })

  test('refuses everything commercial, and allows it again', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    const off = await browse(path, 'all=off')
    expect(switches(off)).toEqual({ 'receipt:email': true })
    const entry = { reason: 'unsubscribe', scope: { type: 'commercial' }, source: 'page' }
    expect(await entries(api)).toMatchObject([
      { ...entry, channel: 'sms' },
      { ...entry, channel: 'email' },
    ])
    await trigger(api, 'news', { subscriberId: 'ada' }, { transactionId: 'held' })
    await server.drain()
    expect((await runOf(api, 'held')).jobs[0]).toMatchObject({ reason: 'suppressed' })
    expect(switches(await browse(path, 'all=on'))).toMatchObject({ 'news:email': true })
    expect(await entries(api)).toEqual([])
  })

  test('says what each address refuses: one of two is not all', async () => {
    const api = await prepared()
    await makeWorkflow(api, 'texts', [{ type: 'sms', controlValues: { body: 'Hi' } }], { messageClass: 'commercial' })
    const path = await linkFor(api)
    const refusal = { reason: 'unsubscribe', scope: { type: 'commercial' } }
    await api.post('/v1/suppressions', { channel: 'email', address: ada.email, ...refusal })
    const some = await browse(path)
    expect(switches(some)).toMatchObject({ 'news:email': false, 'texts:sms': true, 'receipt:email': true })
    expect(some.text).toContain('name="on" value="news:email" disabled')
    expect(some.text).toContain('data-plain')
    expect([...some.text.matchAll(/name="all" value="(\w+)"/g)].map(([, value]) => value)).toEqual(['off', 'on'])
    // What a switch cannot end it does not pretend to.
    await browse(path, 'shown=news:email&on=news:email&shown=texts:sms&on=texts:sms')
    expect(await entries(api)).toHaveLength(1)
    expect(switches(await browse(path, 'all=on'))).toMatchObject({ 'news:email': true, 'texts:sms': true })
    expect(await entries(api)).toEqual([])
  })

  test('shows a number that sent STOP as off, and leaves it so', async () => {
    const api = await prepared()
    await makeWorkflow(api, 'texts', [{ type: 'sms', controlValues: { body: 'Hi' } }])
    await api.post('/v1/suppressions', { channel: 'sms', address: ada.phone, reason: 'stop' })
    const path = await linkFor(api)
    expect((await browse(path)).text).toContain('name="on" value="texts:sms" disabled')
    expect(switches(await browse(path, 'shown=texts:sms&on=texts:sms'))).toMatchObject({ 'texts:sms': false })
    expect(await entries(api)).toMatchObject([{ reason: 'stop' }])
  })

  test('of somebody without an address offers nothing that would not be kept', async () => {
    const api = await prepared()
    await api.patch('/v2/subscribers/ada', { email: null, phone: null })
    const path = await linkFor(api)
    expect((await browse(path)).text).not.toContain('value="off"')
    expect((await browse(path, 'all=off')).text).not.toContain('Gespeichert')
    expect((await browse(path, 'snooze=7')).text).toContain('Gespeichert')
  })

  test('pauses commercial messages for some days', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    expect((await browse(path, 'snooze=30')).text).toContain('name="snooze" value="0"')
    await trigger(api, 'news', { subscriberId: 'ada' }, { transactionId: 'paused' })
    await trigger(api, 'receipt', { subscriberId: 'ada' }, { transactionId: 'passes' })
    await server.drain()
    const { jobs } = await runOf(api, 'paused')
    expect(jobs).toMatchObject([
      { status: 'canceled', reason: 'snoozed' },
      { type: 'in_app', status: 'completed' },
    ])
    expect((await runOf(api, 'passes')).jobs).toMatchObject([{ status: 'completed' }])
    expect((await browse(path, 'snooze=0')).text).not.toContain('name="snooze" value="0"')
    await trigger(api, 'news', { subscriberId: 'ada' }, { transactionId: 'again' })
    await server.drain()
    expect((await runOf(api, 'again')).jobs[0]).toMatchObject({ status: 'completed' })
    expect(await browse(path, 'snooze=5', { accept: 'application/json' })).toMatchObject({
      status: 422,
      body: { code: 'snooze_invalid' },
    })
  })

  test('is one for each set of contexts', async () => {
    const api = await prepared()
    const path = await linkFor(api, { context: { tenant: 'acme', region: 'eu' } })
    await browse(path, 'shown=receipt%3Aemail')
    expect(await wanted(api, 'receipt')).toEqual({ email: true })
    const query = 'contextKeys=tenant:acme&contextKeys=region:eu'
    const { workflows } = (await api.get(`/v2/subscribers/ada/preferences?${query}`)).body
    expect(workflows).toContainEqual(expect.objectContaining({ channels: { email: false } }))
    const html = await mailed(api, 'news', { context: { tenant: 'acme', region: 'eu' } })
    const own = new URL(/href="([^"]*\/l\/p\/[^"]*)"/.exec(html)?.[1] ?? '').pathname
    expect(switches(await browse(own))).toMatchObject({ 'receipt:email': false })
  })

  test('expires, and closes when the subscriber has another address', async () => {
    const api = await prepared()
    const html = await mailed(api)
    const path = new URL(/href="([^"]*\/l\/p\/[^"]*)"/.exec(html)?.[1] ?? '').pathname
    expect((await browse(path)).status).toBe(200)
    await api.patch('/v2/subscribers/ada', { email: 'new@example.com' })
    expect(await browse(path, undefined, { accept: 'application/json' })).toMatchObject({
      status: 410,
      body: { code: 'link_expired' },
    })
    const brief = await linkFor(api, { expiresInDays: 1 })
    server.clock.advance({ hours: 25 })
    expect((await browse(brief)).status).toBe(410)
    expect((await browse(brief, 'all=off')).status).toBe(410)
    expect(await entries(api)).toEqual([])
    expect((await browse('/l/p/x')).status).toBe(404)
    expect(await api.post('/v2/subscribers/nobody/preferences-link', {})).toMatchObject({ status: 404 })
    expect(await api.post('/v2/subscribers/ada/preferences-link', { expiresInDays: 366 })).toMatchObject({
      status: 422,
    })
  })

  test('opens a session for preferences, schedule and time zone, and nothing else', async () => {
    const api = await prepared()
    const path = await linkFor(api)
    const { status, body } = await sendTo(`${server.url}${path}/session`, 'POST', undefined, {})
    expect([status, Object.keys(body)]).toEqual([201, ['token']])
    const headers = { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' }
    const call = (method: string, to: string, sent?: object) =>
      sendTo(`${server.url}/v1/inbox/${to}`, method, sent && JSON.stringify(sent), headers)
    expect(await call('GET', 'preferences')).toMatchObject({ status: 200 })
    expect(await call('PATCH', 'subscriber', { timezone: 'Europe/Berlin' })).toMatchObject({ status: 200 })
    expect(await call('PATCH', 'preferences/news', { email: false })).toMatchObject({ status: 200 })
    expect(await entries(api)).toMatchObject([{ source: 'page', scope: { type: 'workflow', workflowId: 'news' } }])
    for (const closed of ['notifications', 'notifications/count?filters=[]'])
      expect([closed, await call('GET', closed)]).toMatchObject([
        closed,
        { status: 403, body: { code: 'preferences_session' } },
      ])
  })
})

test('a message can be viewed in the browser, in a sandbox, while its content is kept', async () => {
  const api = await prepared()
  const html = await mailed(api)
  const path = new URL(/href="([^"]*\/l\/v\/[^"]*)"/.exec(html)?.[1] ?? '').pathname
  const answer = await browse(path)
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('<p>Hello</p>') })
  expect(answer.headers.get('content-security-policy')).toBe(
    "sandbox; default-src 'none'; img-src https: data:; style-src 'unsafe-inline'",
  )
  await server.database.db.updateTable('messages').set({ content: null }).execute()
  expect((await browse(path)).status).toBe(404)
  server.clock.advance({ days: 181 })
  expect((await browse(path)).status).toBe(410)
})

describe('a pause', () => {
  test('is set and ended through the API, up to a year', async () => {
    const api = await prepared()
    const until = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
    const answer = await api.patch('/v2/subscribers/ada/preferences', { snoozedUntil: until })
    expect(answer.body.global.snoozedUntil).toBe(until)
    expect((await api.get('/v2/subscribers/ada/preferences')).body.global.snoozedUntil).toBe(until)
    const path = '/v2/subscribers/ada/preferences'
    for (const snoozedUntil of ['2020-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z'])
      expect(await api.patch(path, { snoozedUntil })).toMatchObject({ status: 422, body: { code: 'snooze_invalid' } })
    const explained = await api.post('/v1/explain', { workflowId: 'news', subscriberId: 'ada' })
    expect(JSON.stringify(explained.body)).toContain('snooze')
    expect((await api.patch(path, { snoozedUntil: null })).body.global.snoozedUntil).toBeUndefined()
  })
})

describe('changes at once', () => {
  test('are tried again after a deadlock, whoever makes them', async () => {
    const api = await prepared()
    const inbox = await openInbox(server, api, 'ada')
    const { pool } = server.database
    await pool.query(`
      CREATE SEQUENCE deadlocks;
      CREATE FUNCTION deadlock_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('deadlocks') % 2 = 1 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER deadlock_first BEFORE INSERT ON subscriber_preferences
        FOR EACH ROW EXECUTE FUNCTION deadlock_first()`)
    try {
      const choice = { workflowId: 'news', channels: { email: false } }
      const answers = [
        await api.patch('/v2/subscribers/ada/preferences', choice),
        await api.patch('/v2/subscribers/ada/preferences/bulk', { preferences: [choice] }),
        await inbox.patch('/preferences/news', { email: false }),
        await inbox.patch('/preferences/bulk', { preferences: [{ workflowId: 'news', email: false }] }),
        await inbox.patch('/preferences', { email: false }),
      ]
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    } finally {
      await pool.query(`
        DROP TRIGGER deadlock_first ON subscriber_preferences; DROP FUNCTION deadlock_first; DROP SEQUENCE deadlocks`)
    }
  })

  test('by the page, the link, the inbox and the API are all answered, and agree with the list', async () => {
    const api = await prepared()
    await mailed(api)
    const { headers } = JSON.parse(vendor.asked.findLast(({ path }) => path === '/')?.body ?? '{}')
    const unsubscribe = new URL(/<([^>]*)>/.exec(headers['List-Unsubscribe'])?.[1] ?? '').pathname
    const path = await linkFor(api)
    const inbox = await openInbox(server, api, 'ada')
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all([
        browse(path, 'shown=news:email'),
        browse(path, 'shown=weekly:email'),
        browse(unsubscribe, 'List-Unsubscribe=One-Click'),
        inbox.patch('/preferences/news', { email: true }),
        api.patch('/v2/subscribers/ada/preferences', { workflowId: 'weekly', channels: { email: true } }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    }
    await browse(unsubscribe, 'List-Unsubscribe=One-Click')
    expect([await wanted(api, 'news'), await wanted(api, 'weekly')]).toMatchObject([{ email: false }, { email: false }])
    expect(await entries(api)).toContainEqual(
      expect.objectContaining({ scope: { type: 'category', category: 'offers', except: [] } }),
    )
  })
})
