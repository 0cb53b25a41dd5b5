// The public client's components, unmodified, in a real browser: what people see after a trigger, a click, or some time.
import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { useBrowser } from './browser.ts'
import { identifierOf } from './inbox.ts'
import { addIntegration } from './integrations.ts'
import { usePage } from './page.ts'
import { inApp, makeWorkflow, pass, runOf, storyOf, trigger } from './runs.ts'
import { type Api, useServer } from './server.ts'
import { useVendor } from './vendor.ts'

const vendor = useVendor()
const server = useServer({
  ...{ brand: 'novu', extraProviders: ['telegram'], allowPrivateAddresses: true },
  get oauth() {
    return { slack: vendor.url, microsoftLogin: vendor.url, microsoftGraph: vendor.url }
  },
})
const browser = useBrowser()
const patience = { timeout: 30_000, interval: 20 }
let api: Api

beforeEach(async () => {
  // Browsers use the real clock, and compute snooze times by it.
  server.clock.advance({ ms: Date.now() - server.clock.now().getTime() })
  api = await server.freshApi()
})

const send = async (name: string, more: object = {}) => {
  const transactionId = await trigger(api, name, 'ada', more)
  await server.drain()
  return transactionId
}
const stored = () =>
  server.database.db
    .selectFrom('messages')
    .select(['seen', 'read', 'archived', 'snoozed_until', 'cta'])
    .where('environment_id', '=', api.environmentId)
    .execute()
const eventually = (expected: object[]) => expect.poll(stored, patience).toMatchObject(expected)
const connected = async () =>
  server.database.db.selectFrom('inbox_presence').selectAll().where('environment_id', '=', api.environmentId).execute()

describe.each([
  ['3.19.2', '@novu/react'],
  ['3.16.0', 'novu-react-3.16'],
])('%s', (_version, library) => {
  const site = usePage(library)
  let page: Page
  const part = (name: string): Locator => page.locator(`.nv-${name}`)

  const options = async () => ({
    ...{ applicationIdentifier: await identifierOf(server, api), subscriber: 'ada' },
    ...{ backendUrl: server.url, socketUrl: server.url },
  })
  /** The page, connected. */
  const openInbox = async (more: object = {}) => {
    page = await browser.open(site.showing([['Inbox', { ...(await options()), ...more }]]))
    page.setDefaultTimeout(patience.timeout)
    await expect.poll(connected, patience).toHaveLength(1)
  }
  /** A single component on the page. */
  const openPart = async (name: string, props: object) => {
    const shown = site.showing([
      ['NovuProvider', await options()],
      [name, props],
    ])
    page = await browser.open(shown)
  }
  const openList = () => part('inbox__popoverTrigger').click()
  const view = async (name: string) => {
    await part('inboxStatus__dropdownTrigger').click()
    await part('inboxStatus__dropdownItem').getByText(name).click()
  }
  const subjects = () => part('notificationSubject').allTextContents()
  const showing = (expected: string[]) => expect.poll(subjects, patience).toEqual(expected)
  const present = (locator: Locator, count = 1) => expect.poll(() => locator.count(), patience).toBe(count)
  /** A row shows its actions while the pointer is on it. */
  const act = async (name: string) => {
    await part('notification').first().hover()
    await part(`notification${name}__button`).first().click()
  }

  test('a trigger makes the badge appear, opening marks as seen, clicking as read, and a button completes', async () => {
    await makeWorkflow(api, 'invite', [
      inApp('Join **us**?', {
        ...{ subject: 'An invitation', redirect: { url: '/#there', target: '_self' } },
        ...{ primaryAction: { label: 'Yes' }, secondaryAction: { label: 'No' } },
      }),
    ])
    await openInbox()
    await present(part('bellDot'), 0)
    await send('invite')
    await present(part('bellDot'))
    await eventually([{ seen: false }])
    await openList()
    await showing(['An invitation'])
    await eventually([{ seen: true, read: false }])
    await present(part('notificationDot'))
    await part('notificationSubject').click()
    await eventually([{ read: true }])
    await present(part('notificationDot'), 0)
    await present(part('bellDot'), 0)
    await part('notificationPrimaryAction__button').click()
    await eventually([{ cta: { action: { status: 'done', result: { type: 'primary' } } } }])
  })

  test('archiving and snoozing move a message; a snoozed one comes back as new', async () => {
    await makeWorkflow(api, 'a', [inApp('A', { subject: 'First' })])
    await makeWorkflow(api, 'b', [inApp('B', { subject: 'Second' })])
    await send('a')
    server.clock.advance({ seconds: 1 })
    await send('b')
    await openInbox()
    await openList()
    await showing(['Second', 'First'])
    await act('Archive')
    await showing(['First'])
    await act('Snooze')
    await page.getByText('An hour from now').click()
    await showing([])
    await view('Archived')
    await showing(['Second'])
    await act('Unarchive')
    await showing([])
    await view('Snoozed')
    await showing(['First'])
    await view('Unread & read')
    await showing(['Second'])
    await pass(server, { minutes: 61 })
    await present(part('bellDot'))
    await part('notificationListNewNotificationsNotice__button').click()
    await showing(['First', 'Second'])
    await present(part('notificationDeliveredAt__badge'))
  })

  test('preferences change what is delivered next, and the schedule is kept', async () => {
    const email = { type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }
    await makeWorkflow(api, 'news', [inApp('News'), email])
    await openInbox()
    await openList()
    await part('preferences__button').click()
    await part('workflowLabelContainer').filter({ hasText: 'news' }).click()
    const inAppSwitch = part('workflowContainer')
      .filter({ hasText: 'news' })
      .locator('.nv-channelContainer')
      .filter({ hasText: 'In-App' })
      .locator('.nv-channelSwitch')
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'PATCH'),
      inAppSwitch.click(),
    ])
    expect(await answer.json()).toMatchObject({ data: { channels: { in_app: false, email: true } } })
    const silent = await send('news')
    expect(storyOf(await runOf(api, silent))[0]).toMatch(/^in_app canceled/)
    expect(await stored()).toEqual([])

    const [scheduled] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'PATCH'),
      part('scheduleHeader').locator('.nv-channelSwitch').click(),
    ])
    expect(await scheduled.json()).toMatchObject({
      data: { schedule: { isEnabled: true, weeklySchedule: { monday: { isEnabled: true } } } },
    })
    const { body } = await api.get('/v2/subscribers/ada/preferences')
    expect(body.global.schedule).toMatchObject({ isEnabled: true })
  })

  test('each tab has its own count', async () => {
    await makeWorkflow(api, 'bill', [inApp('B', { subject: 'Bill', data: { plan: 'pro' } })], { tags: ['billing'] })
    await makeWorkflow(api, 'post', [inApp('P', { subject: 'Post' })], { tags: ['social'] })
    await openInbox({
      tabs: [
        { label: 'All', filter: {} },
        { label: 'Billing', filter: { tags: ['billing'] } },
        { label: 'Pro', filter: { data: { plan: 'pro' } } },
        { label: 'Nothing', filter: { tags: ['nothing'] } },
      ],
    })
    const counts = () => part('notificationsTabs__tabsTrigger').allTextContents()
    await send('bill')
    await send('post')
    await openList()
    await expect.poll(counts, patience).toEqual(['All2', 'Billing1', 'Pro1', 'Nothing'])
    await part('notificationsTabs__tabsTrigger').getByText('Billing').click()
    await showing(['Bill'])
    await act('Read')
    await expect.poll(counts, patience).toEqual(['All1', 'Billing', 'Pro', 'Nothing'])
    await send('bill')
    await expect.poll(counts, patience).toEqual(['All2', 'Billing1', 'Pro1', 'Nothing'])
  })

  test('scrolling loads everything, and arrivals wait behind a button', async () => {
    await makeWorkflow(api, 'count', [inApp('N', { subject: '{{payload.n}}' })])
    const numbers = Array.from({ length: 27 }, (_, n) => String(27 - n))
    for (const n of numbers.toReversed()) {
      server.clock.advance({ ms: 10 })
      await trigger(api, 'count', 'ada', { payload: { n } })
      await server.drain()
    }
    await openInbox()
    await openList()
    await present(part('notification'), 10)
    const list = part('notificationListContainer')
    await expect
      .poll(async () => {
        await list.evaluate((element) => {
          const scrolled = [element, ...element.querySelectorAll('*')].find(
            (each) => each.scrollHeight > each.clientHeight + 1,
          )
          scrolled?.scrollTo(0, scrolled.scrollHeight)
        })
        return subjects()
      }, patience)
      .toEqual(numbers)
    await send('count', { payload: { n: 'new' } })
    const notice = part('notificationListNewNotificationsNotice__button')
    await expect.poll(() => notice.textContent(), patience).toBe('1 new notification')
    expect(await subjects()).toEqual(numbers)
    await notice.click()
    await expect.poll(async () => (await subjects()).slice(0, 2), patience).toEqual(['new', '27'])
  })

  test('two tabs of a browser share one socket, and the second takes over when the first closes', async () => {
    await makeWorkflow(api, 'a', [inApp('A', { subject: 'First' })])
    await openInbox()
    const first = page
    const second = await first.context().newPage()
    const sockets: string[] = []
    second.on('websocket', (socket) => sockets.push(socket.url()))
    await second.goto(first.url())
    await present(second.locator('.nv-inbox__popoverTrigger'))
    await send('a')
    for (const each of [first, second]) await present(each.locator('.nv-bellDot'))
    expect(sockets).toEqual([])
    await first.close()
    await expect.poll(() => sockets, patience).toEqual([expect.stringContaining('/socket.io/')])
    await second.locator('.nv-inbox__popoverTrigger').click()
    await second.locator('.nv-notificationSubject').click()
    await present(second.locator('.nv-bellDot'), 0)
  })

  describe('chat', () => {
    const connections = async () => (await api.get('/v1/channel-connections')).body.data
    const endpoints = async () => (await api.get('/v1/channel-endpoints')).body.data
    const reads = (button: Locator, text: string) => expect.poll(() => button.textContent(), patience).toBe(text)
    const signedIn = (url: string) => {
      const signed = Buffer.from(new URL(url).searchParams.get('state') ?? '', 'base64url').toString()
      return JSON.parse(signed.slice(0, signed.lastIndexOf('.')))
    }
    beforeEach(async () => {
      await api.post('/v2/subscribers', { subscriberId: 'ada' })
      const credentials = { clientId: 'app-1', secretKey: 's', tenantId: 'tenant-1' }
      await addIntegration(server, api, { identifier: 'slack', provider: 'slack', credentials })
      await addIntegration(server, api, { identifier: 'teams', provider: 'msteams', credentials })
    })
    /** Connects Ada's own, under the identifier that the buttons use. */
    const connect = async (identifier: string, integrationIdentifier: string) => {
      const workspace = { id: 'T1', name: 'Acme' }
      const auth = { accessToken: 'x' }
      const body = { identifier, integrationIdentifier, subscriberId: 'ada', workspace, auth }
      expect(await api.post('/v1/channel-connections', body)).toMatchObject({ status: 201 })
    }
    /** The request of the button, and the popup it opens. */
    const press = async (button: Locator) => {
      // Buttons poll every few seconds.
      await page.clock.install()
      const [answer, popup] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'POST' && response.url().endsWith('/oauth')),
        page.context().waitForEvent('page'),
        button.click(),
      ])
      await popup.waitForURL(`${vendor.url}/**`)
      expect((await answer.json()).data.url).toBe(popup.url())
      return { popup, asked: answer.request().postDataJSON() }
    }
    const comeBack = (popup: Page, result: Record<string, string>) => {
      const state = new URL(popup.url()).searchParams.get('state') ?? ''
      return popup.goto(
        `${server.url}/v1/integrations/chat/oauth/callback?${new URLSearchParams({ ...result, state }).toString()}`,
      )
    }
    /** The popup says so and closes itself. */
    const finish = async (popup: Page) => {
      const closed = popup.waitForEvent('close')
      await comeBack(popup, { code: 'x' }).catch(() => undefined)
      await closed
      await page.clock.fastForward(3_000)
    }
    const microsoftPlays = () => {
      const claims = Buffer.from(JSON.stringify({ oid: 'person-1', aud: 'app-1' })).toString('base64url')
      vendor.plays(({ path }) => {
        if (path.endsWith('/token')) return { body: { access_token: 't', id_token: `h.${claims}.s` } }
        return path.endsWith('/teamsApps') ? { body: { value: [{ id: 'catalog-1' }] } } : { status: 201, body: '' }
      })
    }

    test('a button connects and disconnects a Slack workspace', async () => {
      const team = { id: 'T1', name: 'Acme' }
      vendor.plays(() => ({ body: { ok: true, access_token: 'xoxb-1', team, authed_user: { id: 'U1' } } }))
      await openPart('SlackConnectButton', { integrationIdentifier: 'slack' })
      const button = part('channelConnectButton')
      await reads(button, 'Connect Slack')
      const { popup, asked } = await press(button)
      expect(asked).toMatchObject({ integrationIdentifier: 'slack', subscriberId: 'ada' })
      await finish(popup)
      await reads(button, 'Connected')
      expect(await connections()).toMatchObject([{ subscriberId: 'ada', workspace: team }])
      await page.reload()
      await reads(button, 'Connected')
      await button.click()
      await reads(button, 'Connect Slack')
      expect(await connections()).toEqual([])
    })

    test('a button links a person to their Slack account, and unlinks it', async () => {
      await connect('chconn-slack-default-ada', 'slack')
      vendor.plays(() => ({ body: { ok: true, authed_user: { id: 'U1', access_token: 'xoxp-1' } } }))
      await openPart('SlackLinkUser', { integrationIdentifier: 'slack' })
      const button = part('linkSlackUserButton')
      await reads(button, 'Link User')
      const { popup, asked } = await press(button)
      expect(asked).toMatchObject({
        ...{ integrationIdentifier: 'slack', subscriberId: 'ada', userScope: ['identity.basic'] },
        connectionIdentifier: expect.stringMatching(/^chconn-slack-default/),
      })
      const opened = new URL(popup.url())
      expect(opened.pathname).toBe('/oauth/v2/authorize')
      expect(Object.fromEntries(opened.searchParams)).toMatchObject({
        client_id: 'app-1',
        user_scope: 'identity.basic',
      })
      expect(signedIn(popup.url())).toMatchObject({ mode: 'link_user', identifier: 'chconn-slack-default-ada' })
      await finish(popup)
      await reads(button, 'Unlink')
      expect(await endpoints()).toMatchObject([
        { type: 'slack_user', endpoint: { userId: 'U1' }, connectionIdentifier: 'chconn-slack-default-ada' },
      ])
      await page.reload()
      await reads(button, 'Unlink')
      await button.click()
      await reads(button, 'Link User')
      expect(await endpoints()).toEqual([])
    })

    // Older clients have no buttons for Teams and Telegram.
    if (library !== '@novu/react') return

    test('a button connects a Teams tenant, links the person who does it, and disconnects both', async () => {
      microsoftPlays()
      await openPart('MsTeamsConnectButton', { integrationIdentifier: 'teams' })
      const button = part('channelConnectButton')
      await reads(button, 'Connect MS Teams')
      const { popup, asked } = await press(button)
      const identifier = 'chconn-msteams-default-ada'
      expect(asked).toMatchObject({
        ...{ integrationIdentifier: 'teams', connectionIdentifier: identifier, subscriberId: 'ada' },
        ...{ connectionMode: 'subscriber', autoLinkUser: true },
      })
      expect(new URL(popup.url()).pathname).toBe('/organizations/v2.0/adminconsent')
      expect(signedIn(popup.url())).toMatchObject({ mode: 'connect', identifier, subscriberId: 'ada' })
      await comeBack(popup, { tenant: 'their-tenant', admin_consent: 'True' })
      await popup.waitForURL(`${vendor.url}/tenant-1/oauth2/v2.0/authorize?**`)
      expect(signedIn(popup.url())).toMatchObject({ mode: 'link_user', identifier, subscriberId: 'ada' })
      await finish(popup)
      await reads(button, 'Connected')
      expect(await connections()).toMatchObject([{ identifier, workspace: { id: 'their-tenant' } }])
      expect(await endpoints()).toMatchObject([{ type: 'ms_teams_user', connectionIdentifier: identifier }])
      await page.reload()
      await reads(button, 'Connected')
      await button.click()
      await reads(button, 'Connect MS Teams')
      expect(await connections()).toEqual([])
    })

    test('a button links a person to their Teams account, and unlinks it', async () => {
      const identifier = 'chconn-msteams-default-ada'
      await connect(identifier, 'teams')
      microsoftPlays()
      await openPart('MsTeamsLinkUser', { integrationIdentifier: 'teams' })
      const button = part('linkMsTeamsUserButton')
      await reads(button, 'Link Teams User')
      const { popup, asked } = await press(button)
      expect(asked).toMatchObject({
        ...{ integrationIdentifier: 'teams', connectionIdentifier: identifier, subscriberId: 'ada' },
      })
      const opened = new URL(popup.url())
      expect(opened.pathname).toBe('/tenant-1/oauth2/v2.0/authorize')
      expect(Object.fromEntries(opened.searchParams)).toMatchObject({ client_id: 'app-1', response_type: 'code' })
      expect(signedIn(popup.url())).toMatchObject({ mode: 'link_user', identifier, subscriberId: 'ada' })
      await finish(popup)
      await reads(button, 'Unlink')
      expect(await endpoints()).toMatchObject([{ type: 'ms_teams_user', endpoint: { userId: 'person-1' } }])
      await page.reload()
      await reads(button, 'Unlink')
      await button.click()
      await reads(button, 'Link Teams User')
      expect(await endpoints()).toEqual([])
    })

    test('a button links a person to their chat with a Telegram bot, and unlinks it', async () => {
      const token = '110201543:AAHdqTcv'
      const credentials = { token, baseUrl: vendor.url }
      const id = await addIntegration(server, api, { identifier: 'bot', provider: 'telegram', credentials })
      vendor.plays(({ path }) => ({
        body: { ok: true, result: path.endsWith('/getMe') ? { username: 'acme_bot' } : true },
      }))
      await openPart('TelegramConnectButton', { integrationIdentifier: 'bot' })
      const button = part('channelConnectButton')
      await reads(button, 'Connect Telegram')
      await page.clock.install()
      await page.context().route('https://t.me/**', (route) => route.fulfill({ body: 'Telegram' }))
      const [popup] = await Promise.all([page.context().waitForEvent('page'), button.click()])
      await popup.waitForURL('https://t.me/acme_bot?start=*')
      // Ada presses Start in Telegram, and Telegram calls the webhook.
      const word = new URL(popup.url()).searchParams.get('start') ?? ''
      const told = JSON.parse(vendor.asked.find(({ path }) => path.endsWith('/setWebhook'))?.body ?? '')
      expect(new URL(told.url).pathname).toBe(`/v2/inbound-webhooks/bots/${api.environmentId}/${id}`)
      const message = { text: `/start ${word}`, chat: { id: 7, type: 'private' }, from: { id: 7 } }
      const headers = { 'x-telegram-bot-api-secret-token': told.secret_token }
      expect(await api.post(new URL(told.url).pathname, { message }, headers)).toMatchObject({ status: 200 })
      await page.clock.fastForward(3_000)
      await reads(button, 'Connected to Telegram')
      expect(await endpoints()).toMatchObject([{ subscriberId: 'ada', endpoint: { channel: '7' } }])
      await page.reload()
      await reads(button, 'Connected to Telegram')
      await button.click()
      await reads(button, 'Connect Telegram')
      expect(await endpoints()).toEqual([])
    })
  })

  test('a button follows a topic, workflow by workflow and as a group', async () => {
    await makeWorkflow(api, 'news', [inApp('News')], { tags: ['press'] })
    await makeWorkflow(api, 'rumour', [inApp('Rumour')], { tags: ['press'] })
    await makeWorkflow(api, 'alert', [inApp('Alert')])
    const publish = async (name: string) => {
      await trigger(api, name, [{ type: 'Topic', topicKey: 'press' }])
      await server.drain()
      return (await stored()).length
    }
    await openPart('Subscription', {
      topicKey: 'press',
      preferences: [
        { workflowId: 'alert', label: 'Alerts' },
        { label: 'Press', filter: { tags: ['press'] } },
      ],
    })
    await part('subscriptionButton__button').click()
    await expect.poll(() => part('subscriptionButton__button').textContent(), patience).toBe('Unsubscribe')
    expect(await publish('news')).toBe(1)
    await part('subscription__popoverTrigger').click()
    const changed = () => page.waitForResponse((response) => response.request().method() === 'PATCH')
    const [one] = await Promise.all([
      changed(),
      part('subscriptionPreferenceRow').filter({ hasText: 'Alerts' }).locator('input').dispatchEvent('click'),
    ])
    expect(await one.json()).toMatchObject({ data: { enabled: false } })
    expect(await publish('alert')).toBe(1)
    const [group] = await Promise.all([
      changed(),
      part('subscriptionPreferenceGroupHeader').locator('input').dispatchEvent('click'),
    ])
    expect(await group.json()).toMatchObject({ data: [{ enabled: false }, { enabled: false }] })
    expect([await publish('news'), await publish('rumour')]).toEqual([1, 1])
    await part('subscriptionButton__button').click()
    await expect.poll(() => part('subscriptionButton__button').textContent(), patience).toBe('Subscribe')
  })
})
