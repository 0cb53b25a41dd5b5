// The single elements, the inbox in React, and the client without any elements.
import path from 'node:path'
import type { Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { useBrowser } from '../../server/test/browser.ts'
import { identifierOf, openInbox } from '../../server/test/inbox.ts'
import { inApp, makeWorkflow, trigger } from '../../server/test/runs.ts'
import { type Api, useServer } from '../../server/test/server.ts'
import { useVendor } from '../../server/test/vendor.ts'
import { useHostSite } from './host-page.ts'

const server = useServer({ extraProviders: ['telegram'], allowPrivateAddresses: true })
const browser = useBrowser()
const telegram = useVendor()
const site = useHostSite(server, browser)
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
  await makeWorkflow(api, 'note', [inApp('Hello **you**', { subject: 'A note' })])
})

const send = async () => {
  await trigger(api, 'note', 'ada')
  await server.drain()
}
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000, interval: 25 })
const bodies = (page: Page) => page.locator('.body').allTextContents()

describe('elements', () => {
  test('work alone and share one session, whichever of them names the subscriber', async () => {
    const sessions: string[] = []
    const page = await site.open(api, {
      body: `<belfry-bell></belfry-bell><belfry-notifications {settings}></belfry-notifications>
        <belfry-preferences></belfry-preferences>`,
    })
    page.on('request', (request) => {
      if (request.url().endsWith('/session') && request.method() === 'POST') sessions.push(request.url())
    })
    await page.reload()
    await page.getByText('You’re all caught up').waitFor()
    await eventually(async () =>
      expect(await page.evaluate("document.querySelector('belfry-notifications').inbox?.state.connection")).toBe(
        'online',
      ),
    )
    await send()
    await eventually(async () => expect(await page.locator('.badge').textContent()).toBe('1'))
    await eventually(async () => expect(await bodies(page)).toEqual(['Hello you']))
    await page.locator('belfry-preferences').getByRole('switch', { name: 'All notifications: In-app' }).waitFor()
    expect(sessions).toHaveLength(1)
  })

  test('toasts show arrivals, and close when dismissed or clicked', async () => {
    const page = await site.open(api, { body: '<belfry-toasts {settings} duration="60000"></belfry-toasts>' })
    await page.locator('belfry-toasts').waitFor({ state: 'attached' })
    await eventually(async () =>
      expect(await page.evaluate("document.querySelector('belfry-toasts').inbox?.state.connection")).toBe('online'),
    )
    await send()
    const toast = page.locator('.toast')
    await toast.getByText('Hello you').waitFor()
    await toast.getByRole('button', { name: 'Close' }).click()
    await eventually(async () => expect(await toast.count()).toBe(0))
    await send()
    await toast.getByText('A note').click()
    await eventually(async () => expect(await toast.count()).toBe(0))
    const inbox = await openInbox(server, api, 'ada')
    await eventually(async () => expect((await inbox.get('/notifications?read=true')).body.data).toHaveLength(1))
  })

  test('a topic is followed and unfollowed', async () => {
    await api.post('/v2/topics', { key: 'press', name: 'Press', joinableFromBrowser: true })
    const page = await site.open(api, {
      body: '<belfry-follow {settings} topic="press" topic-name="Press"></belfry-follow>',
    })
    await page.getByRole('button', { name: 'Follow', exact: true }).click()
    await page.getByRole('button', { name: 'Following' }).waitFor()
    await trigger(api, 'note', [{ type: 'Topic', topicKey: 'press' }])
    await server.drain()
    const inbox = await openInbox(server, api, 'ada')
    expect((await inbox.get('/notifications')).body.data).toHaveLength(1)
    await page.reload()
    await page.getByRole('button', { name: 'Following' }).click()
    await page.getByRole('button', { name: 'Follow', exact: true }).waitFor()
    expect((await inbox.get('/topics/press/subscriptions')).body.data).toEqual([])
  })

  test('a Teams tenant is connected the same way', async () => {
    const page = await site.open(api, {
      body: '<belfry-connect {settings} provider="msteams" integration="teams-1"></belfry-connect>',
    })
    const asked: unknown[] = []
    await page.route('**/channel-connections/oauth', (route) => {
      asked.push(route.request().postDataJSON())
      return route.fulfill({ status: 201, json: { data: { url: `${site.origin}/sign-in` } } })
    })
    const [opened] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Connect Microsoft Teams' }).click(),
    ])
    await opened.waitForURL('**/sign-in')
    await page.getByText('Waiting for Microsoft Teams').waitFor()
    expect(asked).toMatchObject([
      { integrationIdentifier: 'teams-1', connectionIdentifier: 'chconn-msteams-default-ada' },
    ])
  })

  test('a workspace is connected in another tab, and disconnected here', async () => {
    const page = await site.open(api, {
      body: '<belfry-connect {settings} provider="slack" integration="slack-1"></belfry-connect>',
    })
    const connection = { identifier: 'chconn-slack-default-ada', workspace: { id: 'T1', name: 'Acme' } }
    let isConnected = false
    await page.route(`**/channel-connections/${connection.identifier}*`, (route) => {
      if (route.request().method() === 'DELETE') {
        isConnected = false
        return route.fulfill({ status: 204 })
      }
      if (!isConnected) return route.fulfill({ status: 404, json: { message: 'none' } })
      return route.fulfill({ json: { ...connection, data: connection } })
    })
    await page.route('**/channel-connections/oauth', (route) =>
      route.fulfill({ status: 201, json: { data: { url: `${site.origin}/sign-in` } } }),
    )
    await page.reload()
    const [opened] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Connect Slack' }).click(),
    ])
    await opened.waitForURL('**/sign-in')
    expect(await opened.evaluate('window.opener')).toBeNull()
    await page.getByText('Waiting for Slack').waitFor()
    isConnected = true
    await page.getByText('Connected to Acme').waitFor()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('button', { name: 'Connect Slack' }).waitFor()
  })

  test('a Telegram chat is linked in another tab, and unlinked here', async () => {
    telegram.plays(({ path }) => ({
      body: { ok: true, result: path.endsWith('/getMe') ? { username: 'acme_bot' } : true },
    }))
    const credentials = { token: '110201543:AAHdqTcv', baseUrl: telegram.url }
    const integration = { providerId: 'telegram', channel: 'chat', identifier: 'bot', credentials, active: true }
    expect((await api.post('/v1/integrations', integration)).status).toBe(201)
    const page = await site.open(api, {
      body: '<belfry-connect {settings} provider="telegram" integration="bot"></belfry-connect>',
    })
    await page.context().route('https://t.me/**', (route) => route.fulfill({ body: 'Telegram' }))
    const [opened] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Connect Telegram' }).click(),
    ])
    await opened.waitForURL('https://t.me/acme_bot?start=*')
    await page.getByText('Waiting for Telegram').waitFor()
    // Ada presses Start in Telegram, and Telegram calls the webhook.
    const told = JSON.parse(telegram.asked.find(({ path }) => path.endsWith('/setWebhook'))?.body ?? '')
    const word = new URL(opened.url()).searchParams.get('start')
    const message = { text: `/start ${word}`, chat: { id: 7, type: 'private' }, from: { id: 7 } }
    const headers = { 'x-telegram-bot-api-secret-token': told.secret_token }
    expect((await api.post(new URL(told.url).pathname, { message }, headers)).status).toBe(200)
    await page.getByText('Connected to Telegram').waitFor()
    await page.reload()
    await page.getByText('Connected to Telegram').waitFor()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('button', { name: 'Connect Telegram' }).waitFor()
    const inbox = await openInbox(server, api, 'ada')
    expect((await inbox.get('/channel-endpoints')).body.data).toEqual([])
  })

  test('take their appearance from the page', async () => {
    const page = await site.open(api, { attributes: 'theme="dark" open' })
    await page.evaluate(`Object.assign(document.querySelector('belfry-inbox'), {
      appearance: {
        variables: { colorPrimary: 'rgb(1, 2, 3)', colorBackground: 'rgb(4, 5, 6)' },
        elements: { header: { backgroundColor: 'rgb(7, 8, 9)' } },
      },
      renderers: { subject: (item) => Object.assign(document.createElement('i'), { textContent: item.subject + '!' }) },
    })`)
    await send()
    await page.getByText('A note!').waitFor()
    const colour = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => (globalThis as any).getComputedStyle(element).backgroundColor)
    expect(await colour('.dot')).toBe('rgb(1, 2, 3)')
    expect(await colour('.panel')).toBe('rgb(4, 5, 6)')
    expect(await colour('header')).toBe('rgb(7, 8, 9)')
  })

  test('follow the page’s style sheets, and the reader’s light or dark theme', async () => {
    await send()
    const page = await site.open(api, { attributes: 'open' })
    await page.getByText('A note').waitFor()
    await page.evaluate(
      "document.querySelector('belfry-inbox').style.setProperty('--belfry-color-primary', 'rgb(9, 8, 7)')",
    )
    const colour = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => (globalThis as any).getComputedStyle(element).backgroundColor)
    expect(await colour('.dot')).toBe('rgb(9, 8, 7)')
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await colour('.panel')).toBe('rgb(255, 255, 255)')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await colour('.panel')).toBe('rgb(20, 20, 23)')
  })

  test('add nothing to the page but themselves and one global name', async () => {
    const page = await site.open(api)
    await page.addInitScript('globalThis.__before = Object.getOwnPropertyNames(globalThis)')
    await page.reload()
    await page.getByRole('button', { name: /^Notifications/ }).click()
    await page.getByRole('dialog').waitFor()
    const added = `Object.getOwnPropertyNames(globalThis).filter((name) => !__before.includes(name) && !name.startsWith('__'))`
    expect(await page.evaluate(added)).toEqual(['Belfry'])
    const left = `[...document.querySelectorAll('*')].map(({ localName }) => localName)`
    expect(await page.evaluate(left)).toEqual(['html', 'head', 'title', 'meta', 'script', 'body', 'belfry-inbox'])
    expect(await page.evaluate('[document.adoptedStyleSheets.length, document.styleSheets.length]')).toEqual([0, 0])
  })
})

describe('a page can draw', () => {
  const answers = { primaryAction: { label: 'Yes' }, secondaryAction: { label: 'No' } }
  const el = `const el = (tag, text, more) => Object.assign(document.createElement(tag), { textContent: text, ...more })`
  /** The open inbox with these renderers and one message. */
  const openWith = async (renderers: string): Promise<Page> => {
    await makeWorkflow(api, 'offer', [inApp('Join **us**?', { subject: 'An **offer**', ...answers })])
    await trigger(api, 'offer', 'ada')
    await server.drain()
    // Already seen, so that looking at it changes nothing.
    const inbox = await openInbox(server, api, 'ada')
    expect(await inbox.post('/notifications/seen', {})).toMatchObject({ status: 204 })
    const page = await site.open(api, { attributes: 'open' })
    await page.evaluate(`(() => {
      const inbox = document.querySelector('belfry-inbox')
      ${el}
      inbox.renderers = ${renderers}
    })()`)
    await page.getByRole('article').waitFor()
    return page
  }
  const texts = (page: Page, selector: string) => page.getByRole('article').locator(selector).allTextContents()
  const usual = ['.avatar', '.subject', '.body', '.action', '.tools']
  /** The default parts that a notification still has. */
  const left = async (page: Page) => {
    const counts = await Promise.all(usual.map((part) => page.getByRole('article').locator(part).count()))
    return usual.filter((_, index) => counts[index])
  }

  test('the avatar', async () => {
    const page = await openWith("{ avatar: (item) => el('i', 'From ' + item.workflow.identifier) }")
    await eventually(async () => expect(await texts(page, '.card > i')).toEqual(['From offer']))
    expect(await left(page)).toEqual(['.subject', '.body', '.action', '.tools'])
  })

  test('the content', async () => {
    const page = await openWith("{ body: (item) => el('i', item.body.toUpperCase()) }")
    await eventually(async () => expect(await texts(page, '.body')).toEqual(['JOIN **US**?']))
    expect(await texts(page, '.body > i')).toEqual(['JOIN **US**?'])
    expect(await left(page)).toEqual(usual)
  })

  test('the action buttons, and they are told when one is completed', async () => {
    const page = await openWith(`{
      actions(item) {
        const answer = (type) => {
          const { label, isCompleted } = item[type + 'Action']
          return el('button', label + (isCompleted ? ', done' : '!'), { onclick: () => inbox.inbox.complete(item, type) })
        }
        const answers = document.createDocumentFragment()
        answers.append(answer('primary'), answer('secondary'))
        return answers
      },
    }`)
    await eventually(async () => expect(await texts(page, '.text > button')).toEqual(['Yes!', 'No!']))
    expect(await left(page)).toEqual(['.avatar', '.subject', '.body', '.tools'])
    await page.getByRole('button', { name: 'No!' }).focus()
    server.clock.advance({ seconds: 1 })
    await send()
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await texts(page, '.text > button')).toEqual(['Yes!', 'No, done']))
    const inbox = await openInbox(server, api, 'ada')
    await eventually(async () =>
      expect((await inbox.get('/notifications')).body.data).toContainEqual(
        expect.objectContaining({
          primaryAction: expect.objectContaining({ isCompleted: false }),
          secondaryAction: expect.objectContaining({ isCompleted: true }),
        }),
      ),
    )
  })

  test('a whole notification, except for its tools', async () => {
    const page = await openWith(`{
      notification(item) {
        const parts = document.createDocumentFragment()
        parts.append(el('b', item.subject), el('i', item.body), el('u', item.isRead ? 'read' : 'unread'))
        return parts
      },
    }`)
    const card = () =>
      page.locator('.card').evaluate(({ children }) => [...children].map((each) => each.className || each.textContent))
    await eventually(async () => expect(await card()).toEqual(['An **offer**', 'Join **us**?', 'unread', 'tools']))
    await page.getByText('Join **us**?').click()
    await eventually(async () => expect(await card()).toEqual(['An **offer**', 'Join **us**?', 'read', 'tools']))
    await page.getByRole('button', { name: 'Archive' }).click()
    await eventually(async () => expect(await page.getByRole('article').count()).toBe(0))
  })

  test('or keep the default parts by returning nothing', async () => {
    const nothing = ['notification', 'avatar', 'subject', 'body', 'actions'].map((name) => `${name}: ask('${name}')`)
    const page = await openWith(`(() => {
      window.asked = new Set()
      const ask = (name) => () => void window.asked.add(name)
      return { ${nothing.join()} }
    })()`)
    await eventually(async () => expect(await page.evaluate('window.asked.size')).toBe(nothing.length))
    expect(await left(page)).toEqual(usual)
    expect(await texts(page, 'strong')).toEqual(['offer', 'us'])
    expect(await texts(page, '.action')).toEqual(['Yes', 'No'])
  })

  test('the bell, the header and the empty state', async () => {
    const page = await site.open(api, { attributes: 'open' })
    await page.evaluate(`(() => {
      ${el}
      document.querySelector('belfry-inbox').renderers = {
        bell: ({ total }) => el('i', total + ' for you'),
        header: () => el('i', 'My news'),
        empty: (status) => el('i', 'Nothing in ' + status),
      }
    })()`)
    await page.locator('.bell').getByText('0 for you').waitFor()
    await page.locator('.header').getByText('My news').waitFor()
    await page.locator('.scroller').getByText('Nothing in default').waitFor()
  })

  test('the loading and error states', async () => {
    const page = await site.open(api)
    let refuse = () => {}
    const held = new Promise<void>((resolve) => {
      refuse = resolve
    })
    await page.route('**/v1/inbox/notifications?*', async (route) => {
      await held
      await route.fulfill({ status: 500, json: { message: 'Out of order' } })
    })
    await page.evaluate(`(() => {
      ${el}
      document.querySelector('belfry-inbox').renderers = {
        loading: () => el('i', 'A moment'),
        error: ({ message }) => el('i', 'We are sorry: ' + message),
      }
    })()`)
    await page.locator('.bell').click()
    await page.locator('.scroller').getByText('A moment').waitFor()
    refuse()
    // The list also retries by itself after each connect.
    await page.locator('.scroller').getByText('We are sorry: Out of order').waitFor()
  })
})

test('React: components, their events, and hooks', async () => {
  const identifier = await identifierOf(server, api)
  const options = { backendUrl: server.url, applicationIdentifier: identifier, subscriber: 'ada' }
  const program = `
    import { createElement as h, StrictMode, useState } from 'react'
    import { createRoot } from 'react-dom/client'
    import { Inbox, InboxProvider, useInbox, useNotifications } from '@belfry/inbox/react'
    function Mine() {
      const { state, client } = useInbox()
      const { items } = useNotifications()
      return h('ul', { id: 'mine' }, h('b', null, state.unread.total),
        items.map((item) => h('li', { key: item.id, onClick: () => client.read(item) }, item.body, item.isRead ? ' (read)' : '')))
    }
    function App() {
      const [clicked, setClicked] = useState('')
      const [theme, setTheme] = useState('light')
      return h('div', null,
        h(Inbox, { ...options, theme, onNotificationClick: ({ body }) => { setClicked(body); setTheme('dark') } }),
        h('p', { id: 'clicked' }, clicked),
        h(InboxProvider, options, h(Mine)))
    }
    const options = ${JSON.stringify(options)}
    createRoot(document.getElementById('app')).render(h(StrictMode, null, h(App)))`
  const folder = path.join(import.meta.dirname, '..')
  const bundle = await rolldown({
    input: 'program',
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [
      {
        name: 'program',
        resolveId: (id) =>
          id === 'program'
            ? path.join(folder, 'program.js')
            : id === '@belfry/inbox/react'
              ? path.join(folder, 'dist/inbox/react.js')
              : null,
        load: (id) => (id.endsWith('program.js') ? program : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'iife' })
  site.serve('/program.js', 'text/javascript', output[0].code)
  await send()
  const page = await site.open(api, {
    body: '<div id="app"></div><script src="/program.js"></script>',
    policy: '',
  })
  await eventually(async () => expect(await page.locator('#mine').textContent()).toBe('1Hello **you**'))
  await page.locator('.bell').click()
  await page.getByRole('article').click()
  await eventually(async () => expect(await page.locator('#clicked').textContent()).toBe('Hello **you**'))
  expect(await page.locator('belfry-inbox').getAttribute('theme')).toBe('dark')
  await eventually(async () => expect(await page.locator('#mine').textContent()).toBe('0Hello **you** (read)'))
  await send()
  await eventually(async () => expect(await page.locator('#mine b').textContent()).toBe('1'))
})

test('the client works without any element', async () => {
  await send()
  const identifier = await identifierOf(server, api)
  const page = await site.open(api, { body: '<p>Nothing of ours</p>' })
  await page.waitForFunction('window.Belfry')
  const options = { backendUrl: server.url, applicationIdentifier: identifier, subscriber: 'ada' }
  await page.evaluate(`(() => {
    const client = new Belfry.InboxClient(${JSON.stringify(options)})
    const list = client.list()
    client.start()
    Object.assign(window, { client, list, received: [] })
    client.on('received', (item) => window.received.push(item.body))
  })()`)
  const state = () => page.evaluate('[client.state.unread.total, list.state.items.length, received.length]')
  await eventually(async () => expect(await state()).toEqual([1, 1, 0]))
  await eventually(async () => expect(await page.evaluate('client.state.connection')).toBe('online'))
  await send()
  await eventually(async () => expect(await state()).toEqual([2, 2, 1]))
  expect(await page.evaluate('client.read(list.state.items[0]).then(({ isRead }) => isRead)')).toBe(true)
  expect(await page.evaluate("client.complete(list.state.items[0], 'primary').catch(({ status }) => status)")).toBe(400)
  await page.evaluate('client.readAll()')
  await eventually(async () => expect(await state()).toEqual([0, 2, 1]))
  await page.evaluate('client.close()')
  const inbox = await openInbox(server, api, 'ada')
  await eventually(async () => expect((await inbox.get('/notifications?read=true')).body.data).toHaveLength(2))
})
