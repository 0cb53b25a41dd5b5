// The inbox behind a reverse proxy that serves it under a path.
import { Novu } from '@novu/js'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { useBrowser } from './browser.ts'
import { identifierOf, openInbox, useSockets } from './inbox.ts'
import { usePage } from './page.ts'
import { useProxy } from './proxy.ts'
import { inApp, makeWorkflow, trigger } from './runs.ts'
import { Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu' })
const browser = useBrowser()
const site = usePage('@novu/react')
const sockets = useSockets()
const prefix = '/notify'
const proxy = useProxy(prefix, () => server.url)
const patience = { timeout: 30_000, interval: 20 }
let api: Api
const opened: Novu[] = []

beforeAll(() => server.clock.advance({ ms: Date.now() - server.clock.now().getTime() }))
beforeEach(async () => {
  api = await server.freshApi()
  await makeWorkflow(api, 'hello', [inApp('Hello', { subject: 'Hi' })])
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.socket.disconnect()
})

const options = async () => ({
  applicationIdentifier: await identifierOf(server, api),
  subscriber: { subscriberId: 'ada' },
  backendUrl: `${proxy.url}${prefix}`,
  socketUrl: proxy.url,
  socketOptions: { path: `${prefix}/socket.io` },
})
const send = async () => {
  await trigger(new Api(`${proxy.url}${prefix}`, api.key, api.environmentId, api.organizationId), 'hello', 'ada')
  await server.drain()
}

describe('behind nginx, under a path', () => {
  test('the public client lists, changes and receives updates', async () => {
    const novu = new Novu({ ...(await options()), useCache: false })
    opened.push(novu)
    const heard: unknown[] = []
    novu.on('notifications.notification_received', ({ result }) => heard.push(result))
    const counts: unknown[] = []
    novu.on('notifications.unread_count_changed', ({ result }) => counts.push(result))
    await novu.socket.connect()
    await vi.waitFor(() => expect(counts).toHaveLength(1), patience)
    await send()
    await vi.waitFor(() => expect(heard).toMatchObject([{ subject: 'Hi' }]), patience)
    const { data } = await novu.notifications.list()
    expect(data?.notifications).toMatchObject([{ subject: 'Hi', isRead: false }])
    await novu.notifications.readAll()
    await vi.waitFor(() => expect(counts.at(-1)).toMatchObject({ total: 0 }), patience)
  })

  test('its component shows a message as soon as it arrives', async () => {
    const page = await browser.open(site.showing([['Inbox', await options()]]))
    const part = (name: string) => page.locator(`.nv-${name}`)
    await expect
      .poll(() => server.database.db.selectFrom('inbox_presence').selectAll().execute(), patience)
      .toMatchObject([{ environment_id: api.environmentId }])
    await send()
    await expect.poll(() => part('bellDot').count(), patience).toBe(1)
    await part('inbox__popoverTrigger').click()
    await expect.poll(() => part('notificationSubject').allTextContents(), patience).toEqual(['Hi'])
  })

  test('a browser without sockets falls back to polling', async () => {
    const inbox = await openInbox(server, api, 'ada')
    const socket = sockets.open(proxy.url, {
      path: `${prefix}/socket.io`,
      query: { token: inbox.token },
      transports: ['polling'],
    })
    await socket.hears('unread_count_changed')
    await send()
    await socket.hears('notification_received')
  })

  test('errors are JSON that pages of other origins may read', async () => {
    const answer = await fetch(`${proxy.url}${prefix}/v1/inbox/notifications`, {
      headers: { origin: 'https://app.example.com' },
    })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, '*'])
    expect(await answer.json()).toMatchObject({ statusCode: 401 })
  })
})
