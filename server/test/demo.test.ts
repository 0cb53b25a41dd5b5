// The demo page: what a newcomer can try in the first minute, and what it refuses to strangers.
import { createECDH, randomBytes } from 'node:crypto'
import { request as sendRaw } from 'node:http'
import * as ece from 'http_ece'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { signInAs } from './people.ts'
import { makeWorkflow, pass, trigger } from './runs.ts'
import { useServer } from './server.ts'
import { useVendor } from './vendor.ts'

const server = useServer()
const browser = useBrowser()
const vendor = useVendor()
const patience = { timeout: 30_000, interval: 20 }
const environment = { 'belfry-environment': '', 'content-type': 'application/json' }

/** A request from this machine, with any headers: `fetch` cannot set some of them. */
function ask(method: string, path: string, headers: Record<string, string> = environment) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const request = sendRaw(`${server.url}${path}`, { method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', reject).end(method === 'POST' ? '{}' : undefined)
  })
}
const demoWorkflows = async () =>
  server.database.db
    .selectFrom('workflows')
    .select(['identifier', 'name', 'version'])
    .where('identifier', 'like', 'demo-%')
    .orderBy('identifier')
    .execute()

describe('in a browser', () => {
  const open = async (options: Parameters<typeof browser.open>[1] = {}) => {
    const page = await browser.open('about:blank', options)
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    await page.goto(`${server.url}/demo`)
    return { page, complaints }
  }
  const press = async (page: Page, workflow: string) => {
    const answered = page.waitForResponse((response) => response.url().endsWith(`/v1/demo/${workflow}`))
    await page.locator(`[data-workflow=${workflow}]`).click()
    expect((await answered).status()).toBe(201)
    await server.drain()
  }

  test('each button makes a message arrive, in the list and on the bell', async () => {
    // Message times must match the browser's real clock.
    server.clock.advance({ ms: Date.now() - server.clock.now().getTime() })
    const { page, complaints } = await open({ viewport: { width: 1280, height: 860 } })
    page.setDefaultTimeout(patience.timeout)
    const list = page.locator('belfry-notifications')
    await expect
      .poll(() => server.database.db.selectFrom('inbox_presence').selectAll().execute(), patience)
      .not.toEqual([])
    await press(page, 'demo-comment')
    await list.getByText('commented on').waitFor()
    await page.getByText(/^Arrived after [\d.]+ m?s: .+ commented on/).waitFor()
    await page.getByText('<belfry-inbox').waitFor()
    expect(await page.getByRole('link', { name: 'Dashboard' }).getAttribute('href')).toBe(`${server.url}/`)
    expect(await page.getByRole('link', { name: 'Code for your page' }).getAttribute('href')).toBe(
      `${server.url}/inbox`,
    )
    await press(page, 'demo-invitation')
    await page.locator('.mail').getByText('Join ').waitFor()
    await press(page, 'demo-alert')
    for (let n = 0; n < 3; n += 1) await press(page, 'demo-digest')
    await pass(server, { seconds: 10 })
    const bell = page.locator('belfry-inbox').getByRole('button').first()
    await expect.poll(() => bell.getAttribute('aria-label'), patience).toMatch(/4/)
    await list.getByText('3 likes').waitFor()
    await list.getByText('Accept').waitFor()
    expect(complaints).toEqual([])
  })
})

test('a push message is encrypted for a browser that has registered on the page, and shown by our worker', async () => {
  // No push service can be reached here, and a headless browser has no notifications. So three things are replaced: where the
  // browser is told to be reached, the last hop, and the notification itself. The request and the worker are the real ones.
  const receiver = createECDH('prime256v1')
  receiver.generateKeys()
  const authSecret = randomBytes(16).toString('base64url')
  const keys = { p256dh: receiver.getPublicKey('base64url'), auth: authSecret }
  const registered = { endpoint: `${vendor.url}/push/secret`, expirationTime: null, keys }
  vendor.plays(() => ({ status: 201, body: '' }))
  const { origin } = new URL(server.url)
  const page = await browser.open('about:blank', { isFirstVisit: true })
  const context = page.context()
  await page.addInitScript(`
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' })
    Notification.requestPermission = async () => 'granted'
    Object.defineProperty(PushManager.prototype, 'subscribe', {
      value: async () => ({ toJSON: () => (${JSON.stringify(registered)}), unsubscribe: async () => true }),
    })`)
  const session = await context.newCDPSession(page)
  const registration = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const found = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin))
      if (found) resolve(found.registrationId)
    })
  })
  await session.send('ServiceWorker.enable')
  await page.goto(`${server.url}/demo`)
  await page.getByRole('button', { name: 'Notify me on this device' }).first().click()
  const { db } = server.database
  await expect.poll(() => db.selectFrom('push_subscriptions').select('id').execute(), patience).toHaveLength(1)
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'))
  expect(worker.url()).toBe(`${origin}/push-worker.js`)
  await worker.evaluate(
    'self.shown = []; registration.showNotification = async (...shown) => void self.shown.push(shown)',
  )

  const step = { type: 'push', controlValues: { subject: 'Your parcel', body: 'It is at the door' } }
  await makeWorkflow(server.api, 'parcel', [step])
  await trigger(server.api, 'parcel', 'demo', { overrides: { push: { url: `${origin}/demo?parcel=7` } } })
  await server.drain()
  const [asked] = vendor.asked
  expect(asked).toMatchObject({ method: 'POST', path: '/push/secret', headers: { 'content-encoding': 'aes128gcm' } })
  const text = ece
    .decrypt(asked?.bytes ?? Buffer.alloc(0), { version: 'aes128gcm', privateKey: receiver, authSecret })
    .toString()
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registration, data: text })
  await expect
    .poll(() => worker.evaluate('self.shown'), patience)
    .toMatchObject([
      [
        'Your parcel',
        {
          body: 'It is at the door',
          data: { messageId: expect.stringMatching(/^[0-9a-f]{24}$/), navigate: `${origin}/demo?parcel=7` },
        },
      ],
    ])
})

describe('strangers', () => {
  test('may load the page, which contains no data and has a strict content security policy', async () => {
    const answer = await fetch(`${server.url}/demo`, { headers: { 'x-forwarded-for': '192.0.2.1' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; connect-src 'self'/,
    )
    expect(await answer.text()).not.toContain(server.api.key)
  })

  test.each([
    ['through a proxy', { ...environment, 'x-forwarded-for': '127.0.0.1' }, 'demo_closed'],
    ['through a DNS name made to point here', { ...environment, host: 'evil.example:3000' }, 'demo_closed'],
    ['from a page of another site', { ...environment, origin: 'https://evil.example' }, 'cross_site_request'],
    ['from another site, as browsers say', { ...environment, 'sec-fetch-site': 'cross-site' }, 'cross_site_request'],
    ['by a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'cross_site_request'],
    ['with an invalid session', { ...environment, cookie: 'belfry_session=x' }, 'not_signed_in'],
  ])('get nothing %s', async (_, headers, code) => {
    for (const [method, path] of [
      ['POST', '/v1/demo'],
      ['POST', '/v1/demo/demo-alert'],
      ['GET', '/v1/demo/mails'],
    ] as const) {
      const { status, text } = await ask(method, path, headers)
      expect([path, status >= 400, text]).toEqual([path, true, expect.stringContaining(code)])
      expect(text).not.toContain(server.api.key)
    }
  })
})

describe('the demo', () => {
  test('creates its workflows once, and keeps later changes to them', async () => {
    await Promise.all(Array.from({ length: 4 }, () => ask('POST', '/v1/demo')))
    const names = ['demo-alert', 'demo-comment', 'demo-digest', 'demo-invitation']
    expect(await demoWorkflows()).toMatchObject(names.map((identifier) => ({ identifier, version: 1 })))
    await server.api.patch('/v2/workflows/demo-alert', { name: 'Mine' })
    await server.api.delete('/v2/workflows/demo-digest')
    const { status, text } = await ask('POST', '/v1/demo')
    expect(status).toBe(200)
    expect(text).not.toContain(server.api.key)
    expect((await demoWorkflows()).map(({ name }) => name)).toEqual([
      ...['Mine', 'Demo: a comment', 'Demo: likes, collected', 'Demo: an invitation'],
    ])
  })

  test('triggers only its own workflows', async () => {
    for (const path of ['/v1/demo/welcome', '/v1/demo/x%2Fy'])
      expect(await ask('POST', path)).toMatchObject({ status: 404 })
  })

  test('opens the inbox even if a subscriber hash is required', async () => {
    const { _id } = (await server.api.get('/v1/integrations')).body.find(
      ({ channel }: { channel: string }) => channel === 'in_app',
    )
    await server.api.put(`/v1/integrations/${_id}`, { credentials: { hmac: true } })
    const { applicationIdentifier, subscriberId, subscriberHash } = JSON.parse((await ask('POST', '/v1/demo')).text)
    const session = { applicationIdentifier, subscriber: subscriberId, subscriberHash }
    expect(await server.api.post('/v1/inbox/session', session)).toMatchObject({ status: 201 })
    await server.api.put(`/v1/integrations/${_id}`, { credentials: { hmac: false } })
  })

  test('also works for signed-in editors on other machines', async () => {
    const elsewhere = { 'x-forwarded-for': '192.0.2.1' }
    const [editor, viewer] = [
      await signInAs(server, server.api, 'editor'),
      await signInAs(server, server.api, 'viewer'),
    ]
    expect(await editor.post('/v1/demo', {}, elsewhere)).toMatchObject({ status: 200 })
    expect(await editor.post('/v1/demo/demo-comment', {}, elsewhere)).toMatchObject({ status: 201 })
    expect(await viewer.post('/v1/demo', {}, elsewhere)).toMatchObject({ status: 403 })
    expect(await viewer.get('/v1/demo/mails', elsewhere)).toMatchObject({ status: 403 })
  })

  test('does not exist without a Development environment', async () => {
    const types = (from: 'dev', to: 'prod') =>
      server.database.db.updateTable('environments').set({ type: to }).where('type', '=', from).execute()
    await types('dev', 'prod')
    expect(await ask('POST', '/v1/demo')).toMatchObject({ status: 404 })
  })
})
