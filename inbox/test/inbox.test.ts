// The inbox on pages of another site, in a real browser, against the real service.
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { useBrowser } from '../../server/test/browser.ts'
import { identifierOf, openInbox } from '../../server/test/inbox.ts'
import { inApp, makeWorkflow, pass, runOf, type Step, storyOf, trigger } from '../../server/test/runs.ts'
import { type Api, useServer } from '../../server/test/server.ts'
import { type HostPage, useHostSite } from './host-page.ts'

const server = useServer()
const browser = useBrowser()
const site = useHostSite(server, browser)
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
  await makeWorkflow(api, 'note', [inApp('{{payload.text}}', { subject: 'A note' })], {
    payloadSchema: { type: 'object', properties: { text: { type: 'string' } } },
  })
})

const send = async (text: string, workflow = 'note') => {
  const transactionId = await trigger(api, workflow, 'ada', { payload: { text } })
  await server.drain()
  server.clock.advance({ seconds: 1 })
  return transactionId
}
const sendAll = async (...texts: string[]) => {
  for (const text of texts) await send(text)
}

const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000, interval: 25 })

const bell = (page: Page) => page.getByRole('button', { name: /^Notifications/ })
const badge = (page: Page) => page.locator('.badge')
const rows = (page: Page) => page.getByRole('article')
const rowOf = (page: Page, text: string) => rows(page).filter({ hasText: text })
const bodies = (page: Page) => page.locator('.body').allTextContents()
const shows = (page: Page, texts: string[]) => eventually(async () => expect(await bodies(page)).toEqual(texts))
const badgeIs = (page: Page, text: string | undefined) =>
  eventually(async () => expect(await badge(page).allTextContents()).toEqual(text === undefined ? [] : [text]))
const choose = async (page: Page, trigger: string | RegExp, item: string) => {
  await page.getByRole('button', { name: trigger }).click()
  await page.getByRole('menu').getByText(item, { exact: true }).click()
}

async function openInboxPage(given: HostPage = {}): Promise<Page> {
  const page = await site.open(api, given)
  await bell(page).click()
  await page.getByRole('dialog').waitFor()
  return page
}

/** Adds an inbox to a page without one. */
async function addInbox(page: Page): Promise<void> {
  const identifier = await identifierOf(server, api)
  await page.evaluate(`(() => {
    const element = document.createElement('belfry-inbox')
    document.body.append(element)
    element.setAttribute('application-identifier', '${identifier}')
    element.setAttribute('subscriber-id', 'ada')
  })()`)
}

/** What the service has stored, as opposed to what the page shows. */
const stored = async (query = 'limit=100') => {
  const inbox = await openInbox(server, api, 'ada')
  const { body } = await inbox.get(`/notifications?${query}`)
  return body.data as Array<Record<string, any>>
}

describe('the bell', () => {
  test('counts arrivals without a reload, and starts with one request', async () => {
    const asked: string[] = []
    const page = await site.open(api)
    page.on('request', (request) => asked.push(request.method()))
    await bell(page).waitFor()
    await badgeIs(page, undefined)
    await send('Hello')
    await badgeIs(page, '1')
    await bell(page).and(page.getByLabel('Notifications, 1 unread')).waitFor()
    await send('Again')
    await badgeIs(page, '2')
    expect(asked.filter((method) => method === 'POST')).toEqual([])
  })

  test('says 99+ above that, and takes the colour of the highest severity', async () => {
    await makeWorkflow(api, 'alarm', [inApp('Fire')], { severity: 'high' })
    await send('x', 'alarm')
    const events = Array.from({ length: 99 }, () => ({ name: 'note', to: 'ada', payload: { text: 'Hello' } }))
    expect(await api.post('/v1/events/trigger/bulk', { events })).toMatchObject({ status: 201 })
    await server.drain()
    const page = await site.open(api)
    await badgeIs(page, '99+')
    expect(await bell(page).getAttribute('data-severity')).toBe('high')
  })
})

describe('the list', () => {
  test('opening it marks visible notifications as seen; a click marks one as read', async () => {
    await sendAll('First', 'Second')
    const page = await openInboxPage()
    await shows(page, ['Second', 'First'])
    await page.clock.runFor(2_000)
    await eventually(async () => expect((await stored()).map(({ isSeen }) => isSeen)).toEqual([true, true]))
    expect((await stored()).map(({ isRead }) => isRead)).toEqual([false, false])
    await rowOf(page, 'Second').click()
    await badgeIs(page, '1')
    await eventually(async () => expect((await stored()).map(({ isRead }) => isRead)).toEqual([true, false]))
    expect(await rowOf(page, 'First').locator('.dot').count()).toBe(1)
    expect(await rowOf(page, 'Second').locator('.dot').count()).toBe(0)
  })

  test('shows placeholders while it loads, without motion under reduced motion', async () => {
    await send('Hello')
    const page = await site.open(api)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/inbox\/notifications\?/, async (route) => {
      await held
      await route.continue()
    })
    await bell(page).click()
    await page.getByRole('status', { name: 'Loading' }).waitFor()
    const bone = page.locator('.skeleton .bone').first()
    const motion = () => bone.evaluate((element) => (globalThis as any).getComputedStyle(element).animationName)
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await motion()).toBe('breathe')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await motion()).toBe('none')
    release()
    await shows(page, ['Hello'])
    expect(await page.locator('.loading').count()).toBe(0)
  })

  test('shows the sender, by initials without a picture, and the severity', async () => {
    const avatar = 'https://example.com/gone.png'
    await makeWorkflow(api, 'alarm', [inApp('Fire', { subject: 'Smoke detector', avatar })], { severity: 'high' })
    await send('Hello')
    await send('', 'alarm')
    const page = await site.open(api)
    const asked: string[] = []
    await page.route(avatar, (route) => {
      asked.push(route.request().url())
      return route.abort()
    })
    await bell(page).click()
    await shows(page, ['Fire', 'Hello'])
    await eventually(() => expect(asked).toEqual([avatar]))
    const [alarm, note] = [rowOf(page, 'Fire'), rowOf(page, 'Hello')]
    await eventually(async () => expect(await alarm.locator('.avatar img').isVisible()).toBe(false))
    expect(await alarm.locator('.avatar').textContent()).toBe('SD')
    expect(await note.locator('.avatar').textContent()).toBe('AN')
    expect([await alarm.getAttribute('data-severity'), await note.getAttribute('data-severity')]).toEqual([
      'high',
      'none',
    ])
    expect([await alarm.locator('.bar').count(), await note.locator('.bar').count()]).toEqual([1, 0])

    // A redraw loads nothing again.
    await send('More')
    await page.getByRole('button', { name: '1 new' }).click()
    await shows(page, ['More', 'Fire', 'Hello'])
    expect(asked).toEqual([avatar])
  })

  test('arrivals during reading wait behind a button that covers and moves nothing', async () => {
    await sendAll('First', 'Second')
    const page = await openInboxPage()
    await shows(page, ['Second', 'First'])
    const before = await rowOf(page, 'Second').boundingBox()
    await sendAll('Third', 'Fourth')
    await page.getByRole('button', { name: '2 new' }).waitFor()
    expect(await bodies(page)).toEqual(['Second', 'First'])
    expect(await rowOf(page, 'Second').boundingBox()).toEqual(before)
    const pill = await page.getByRole('button', { name: '2 new' }).boundingBox()
    expect((pill?.y ?? 0) + (pill?.height ?? 0)).toBeLessThanOrEqual(before?.y ?? 0)
    await page.getByRole('button', { name: '2 new' }).click()
    await shows(page, ['Fourth', 'Third', 'Second', 'First'])
    await page.keyboard.press('Escape')
    await send('Fifth')
    await badgeIs(page, '5')
    await bell(page).click()
    await shows(page, ['Fifth', 'Fourth', 'Third', 'Second', 'First'])
  })

  test('loads page by page, with nothing missing and nothing twice, even if more arrive meanwhile', async () => {
    const texts = Array.from({ length: 35 }, (_, index) => `Number ${String(index).padStart(2, '0')}`)
    await sendAll(...texts)
    const page = await openInboxPage({ options: { viewport: { width: 500, height: 500 } } })
    await eventually(async () => expect(await rows(page).count()).toBeGreaterThanOrEqual(10))
    expect(await rows(page).count()).toBeLessThan(35)
    await send('In between')
    await eventually(async () => {
      await rows(page).last().scrollIntoViewIfNeeded()
      expect(await rows(page).count()).toBe(35)
    })
    await page.getByRole('button', { name: '1 new' }).click()
    await shows(page, ['In between', ...texts.toReversed()])
  })

  test('has tabs with counts; those that do not fit are in a menu', async () => {
    await makeWorkflow(api, 'mention', [inApp('Mentioned')], { tags: ['mention'] })
    await send('x', 'mention')
    await send('Hello')
    const labels = ['Mentions', 'Reviews', 'Deployments', 'Billing', 'Security', 'Everything else']
    const tabs = [
      { label: 'All' },
      ...labels.map((label) => ({ label, filter: { tags: [label.toLowerCase().replace(/s$/, '')] } })),
    ]
    const page = await openInboxPage({ attributes: `tabs='${JSON.stringify(tabs)}'` })
    const tab = (name: string) => page.getByRole('tab', { name })
    await eventually(async () => expect(await tab('All').textContent()).toBe('All2'))
    expect(await tab('Mentions').textContent()).toBe('Mentions1')
    await tab('Mentions').click()
    await shows(page, ['Mentioned'])
    await page.keyboard.press('ArrowRight')
    await page.getByText('You’re all caught up').waitFor()
    await choose(page, 'More categories', 'Security')
    await eventually(async () =>
      expect(await page.getByRole('button', { name: 'More categories' }).textContent()).toBe('Security'),
    )
    await tab('All').click()
    await shows(page, ['Hello', 'Mentioned'])
    await rowOf(page, 'Mentioned').click()
    await eventually(async () => expect(await tab('Mentions').textContent()).toBe('Mentions'))
  })

  test('shows text as text, whatever it contains, and only safe links', async () => {
    const nasty =
      '<img src=x onerror="window.hit=1"> **bold** [run](javascript:window.hit=1) [page](https://example.com/a)'
    await send(nasty)
    const page = await openInboxPage()
    await eventually(async () =>
      expect(await bodies(page)).toEqual(['<img src="x" /> bold [run](javascript:window.hit=1) page']),
    )
    expect(await rows(page).locator('strong').textContent()).toBe('bold')
    expect(
      await rows(page)
        .locator('.body a')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual(['https://example.com/a'])
    expect(await page.evaluate('window.hit')).toBeUndefined()
  })

  test('says when it cannot reach the service, and tries again', async () => {
    await send('Hello')
    const page = await site.open(api)
    await bell(page).waitFor()
    // Fails until the button is pressed: the list also retries by itself after each connect.
    let isBroken = true
    await page.exposeFunction('mend', () => {
      isBroken = false
    })
    await page.route('**/v1/inbox/notifications?*', (route) =>
      isBroken ? route.fulfill({ status: 500, json: { message: 'no' } }) : route.fallback(),
    )
    await bell(page).click()
    await page.getByText('Notifications could not be loaded').waitFor()
    await page.evaluate("document.addEventListener('click', () => window.mend(), true)")
    await page.getByRole('button', { name: 'Try again' }).click()
    await shows(page, ['Hello'])
  })

  test('follows a notification’s link, unless the page navigates itself', async () => {
    await makeWorkflow(api, 'linked', [inApp('Come', { redirect: { url: '/there', target: '_self' } })])
    await send('x', 'linked')
    const page = await openInboxPage()
    await page.evaluate(`document.addEventListener('belfry-navigate', (event) => {
      window.went = event.detail
      event.preventDefault()
    }, { once: true })`)
    await rowOf(page, 'Come').click()
    expect(await page.evaluate('window.went')).toEqual({ url: '/there', target: '_self' })
    await rowOf(page, 'Come').click()
    await page.waitForURL('**/there')
    expect(await stored()).toMatchObject([{ isRead: true }])
  })
})

describe('actions', () => {
  test('action buttons are completed and reverted', async () => {
    await makeWorkflow(api, 'invite', [
      inApp('Join?', { primaryAction: { label: 'Accept' }, secondaryAction: { label: 'Decline' } }),
    ])
    await send('x', 'invite')
    const page = await openInboxPage()
    const button = (name: string) => page.getByRole('button', { name })
    const pressed = (accept: boolean, decline: boolean) =>
      eventually(async () => {
        expect(await button('Accept').getAttribute('aria-pressed')).toBe(String(accept))
        const [{ primaryAction, secondaryAction } = {}] = await stored()
        expect([primaryAction.isCompleted, secondaryAction.isCompleted]).toEqual([accept, decline])
      })
    await button('Accept').click()
    await pressed(true, false)
    await badgeIs(page, undefined)
    await button('Decline').click()
    await pressed(false, true)
    await button('Decline').click()
    await pressed(false, false)
  })

  test('a snoozed notification is hidden until its time, and can be unsnoozed before', async () => {
    await sendAll('First', 'Second')
    const page = await openInboxPage()
    await rowOf(page, 'First').hover()
    await rowOf(page, 'First').getByRole('button', { name: 'Snooze' }).click()
    await page.getByRole('menuitem', { name: 'In an hour' }).click()
    await shows(page, ['Second'])
    await badgeIs(page, '1')
    await choose(page, 'Show Inbox', 'Snoozed')
    await shows(page, ['First'])
    expect(await rowOf(page, 'First').locator('.note').textContent()).toMatch(/^Snoozed until /)
    await choose(page, 'Show Snoozed', 'Inbox')
    await shows(page, ['Second'])
    await pass(server, { minutes: 61 })
    await page.getByRole('button', { name: '1 new' }).click()
    await shows(page, ['First', 'Second'])
    await badgeIs(page, '2')
    await rowOf(page, 'Second').focus()
    await page.keyboard.press('s')
    await page.getByRole('menuitem', { name: 'Pick a time' }).click()
    const time = page.getByLabel('Pick a time')
    await time.fill('2026-04-01T10:00')
    await page.getByText('Pick a time at least 3 minutes from now').waitFor()
    await time.fill('2027-04-01T10:00')
    await page.getByText('Pick a time within the next 90 days').waitFor()
    await time.fill('2026-05-20T10:00')
    await page.getByRole('dialog', { name: 'Snooze' }).getByRole('button', { name: 'Snooze' }).click()
    await shows(page, ['First'])
    await eventually(async () =>
      expect(await stored('snoozed=true')).toMatchObject([{ snoozedUntil: '2026-05-20T08:00:00.000Z' }]),
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await shows(page, ['First', 'Second'])
  })

  test('archiving can be undone for a few seconds, and later from the archive', async () => {
    await sendAll('First', 'Second')
    const page = await openInboxPage()
    await rowOf(page, 'First').hover()
    await rowOf(page, 'First').getByRole('button', { name: 'Archive' }).click()
    // It stays while the pointer is on it.
    await page.getByRole('button', { name: 'Undo' }).hover()
    await shows(page, ['Second'])
    await badgeIs(page, '1')
    await eventually(async () => expect(await stored('archived=true')).toHaveLength(1))
    await page.getByRole('button', { name: 'Undo' }).click()
    await shows(page, ['Second', 'First'])
    await badgeIs(page, '2')
    await eventually(async () => expect(await stored('archived=false&read=false')).toHaveLength(2))
    await rowOf(page, 'First').focus()
    await page.keyboard.press('a')
    await choose(page, 'Show Inbox', 'Archived')
    await shows(page, ['First'])
    await rowOf(page, 'First').hover()
    await rowOf(page, 'First').getByRole('button', { name: 'Move to inbox' }).click()
    await shows(page, [])
    await choose(page, 'Show Archived', 'Inbox')
    await shows(page, ['Second', 'First'])
  })

  test('a deletion is sent once it can no longer be undone, or when the page is left', async () => {
    await sendAll('First', 'Second', 'Third')
    const page = await openInboxPage()
    await shows(page, ['Third', 'Second', 'First'])
    await rowOf(page, 'First').focus()
    await page.keyboard.press('Delete')
    await shows(page, ['Third', 'Second'])
    await badgeIs(page, '2')
    expect(await stored()).toHaveLength(3)
    await page.getByRole('button', { name: 'Undo' }).click()
    await shows(page, ['Third', 'Second', 'First'])
    await badgeIs(page, '3')
    await rowOf(page, 'First').focus()
    await page.keyboard.press('Delete')
    await page.keyboard.press('Delete')
    await shows(page, ['Third'])
    await eventually(async () => expect((await stored()).map(({ body }) => body)).toEqual(['Third', 'Second']))
    await badgeIs(page, '1')
    await page.goto('about:blank')
    await eventually(async () => expect((await stored()).map(({ body }) => body)).toEqual(['Third']))
  })

  test('a tab is marked as read, except for notifications that arrive during the undo time', async () => {
    await makeWorkflow(api, 'mention', [inApp('Mentioned')], { tags: ['mention'] })
    await sendAll('First', 'Second')
    await send('x', 'mention')
    const tabs = [{ label: 'Mentions', filter: { tags: ['mention'] } }, { label: 'All' }]
    const page = await openInboxPage({ attributes: `tabs='${JSON.stringify(tabs)}'` })
    await shows(page, ['Mentioned'])
    await choose(page, 'More actions', 'Mark all as read')
    await badgeIs(page, '2')
    expect(await stored('read=true')).toEqual([])
    await page.getByRole('button', { name: 'Undo' }).click()
    await badgeIs(page, '3')
    await page.getByRole('tab', { name: 'All' }).click()
    await shows(page, ['Mentioned', 'Second', 'First'])
    await choose(page, 'More actions', 'Mark all as read')
    await badgeIs(page, undefined)
    await send('Late')
    await badgeIs(page, '1')
    await page.clock.fastForward(5_000)
    await eventually(async () => expect(await stored('read=true')).toHaveLength(3))
    await badgeIs(page, '1')
    expect(await stored('read=false')).toMatchObject([{ body: 'Late' }])
    await choose(page, 'More actions', 'Archive read')
    await shows(page, [])
    await choose(page, 'More actions', 'Archive all')
    await eventually(async () => expect(await stored('archived=true')).toHaveLength(3))
  })

  test('a change that the service refuses is rolled back, and the page says so', async () => {
    await send('Hello')
    const page = await openInboxPage()
    await shows(page, ['Hello'])
    await page.route('**/archive', (route) => route.fulfill({ status: 503, json: { message: 'Later' } }))
    await rowOf(page, 'Hello').focus()
    await page.keyboard.press('a')
    await page.getByText('That could not be saved').waitFor()
    await shows(page, ['Hello'])
    await badgeIs(page, '1')
  })

  test('swiping right marks as read, swiping left archives', async () => {
    await sendAll('First', 'Second')
    const page = await openInboxPage({
      options: {
        ...{ hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } },
        reducedMotion: 'no-preference',
      },
    })
    await shows(page, ['Second', 'First'])
    const swipe = async (text: string, by: number) => {
      const box = await rowOf(page, text).boundingBox()
      const [x, y] = [(box?.x ?? 0) + 190, (box?.y ?? 0) + 20]
      const touch = await page.context().newCDPSession(page)
      const points = (at: number) => [{ x: x + at, y }]
      await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: points(0) })
      for (const at of [0.2, 0.5, 0.8, 1])
        await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: points(by * at) })
      await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    }
    await swipe('First', 130)
    await eventually(async () => expect(await stored('read=true')).toMatchObject([{ body: 'First' }]))
    await swipe('Second', 40)
    expect(await stored('read=false')).toHaveLength(1)
    await swipe('Second', -130)
    await shows(page, ['First'])
    // The browser may take a tap so soon after a swipe for a part of it.
    await eventually(async () => {
      await page.getByRole('button', { name: 'More actions' }).last().tap()
      await page.getByRole('menu').waitFor({ timeout: 1_000 })
    })
    await page.getByRole('menuitem', { name: 'Mark as unread' }).tap()
    await badgeIs(page, '1')
  })
})

describe('by keyboard', () => {
  test('everything can be reached and done, and the focus is never lost', async () => {
    await sendAll('First', 'Second', 'Third')
    const page = await site.open(api, { options: { reducedMotion: 'no-preference' } })
    await badgeIs(page, '3')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shows(page, ['Third', 'Second', 'First'])
    const focused = () =>
      page.evaluate(`(() => {
        const active = document.querySelector('belfry-inbox').shadowRoot.activeElement
        return active?.querySelector('.body')?.textContent ?? active?.getAttribute('aria-label')
      })()`)
    const focusIs = (name: string) => eventually(async () => expect(await focused()).toBe(name))
    await focusIs('Show Inbox')
    for (const name of ['More actions', 'Preferences', 'Third']) {
      await page.keyboard.press('Tab')
      await focusIs(name)
    }
    await page.keyboard.press('ArrowDown')
    await focusIs('Second')
    await page.keyboard.press('r')
    await badgeIs(page, '2')
    await page.keyboard.press('r')
    await badgeIs(page, '3')
    await page.keyboard.press('a')
    await shows(page, ['Third', 'First'])
    await focusIs('First')
    await page.keyboard.press('Home')
    await focusIs('Third')
    await page.keyboard.press('s')
    await page.getByRole('menu', { name: 'Snooze' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Escape')
    await focusIs('Third')
    await page.keyboard.press('Enter')
    await badgeIs(page, '1')
    await page.keyboard.press('Escape')
    await eventually(async () => expect(await page.getByRole('dialog').count()).toBe(0))
    await focusIs('Notifications, 1 unread')
  })

  test('screen readers hear the unread count', async () => {
    const page = await site.open(api)
    await bell(page).waitFor()
    await bell(page).click()
    await page.keyboard.press('Escape')
    await send('Hello')
    await eventually(async () =>
      expect(await page.locator('[aria-live=polite]').textContent()).toBe('Notifications, 1 unread'),
    )
  })
})

describe('preferences', () => {
  const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }
  const critical = { preferences: { user: null, workflow: { all: { enabled: true, readOnly: true } } } }
  const openPreferences = async (given: HostPage = {}) => {
    const page = await openInboxPage(given)
    await page.getByRole('button', { name: 'Preferences' }).click()
    await page.getByText('All notifications').waitFor()
    return page
  }
  const isOn = (page: Page, name: string) => page.getByRole('switch', { name }).getAttribute('aria-checked')

  test('decide what is delivered next', async () => {
    await makeWorkflow(api, 'news', [inApp('News'), email])
    const page = await openPreferences()
    await page.getByRole('button', { name: /^news/ }).click()
    await page.getByRole('switch', { name: 'news: In-app' }).click()
    await eventually(async () => expect(await isOn(page, 'news: In-app')).toBe('false'))
    const inbox = await openInbox(server, api, 'ada')
    await eventually(async () =>
      expect((await inbox.get('/preferences')).body.data).toContainEqual(
        expect.objectContaining({ channels: { in_app: false, email: true } }),
      ),
    )
    expect(storyOf(await runOf(api, await send('x', 'news')))[0]).toMatch(/^in_app canceled/)
    // Off and on again resets what was chosen for a single workflow.
    for (const isOnNow of [false, true]) {
      await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'PATCH'),
        page.getByRole('switch', { name: 'All notifications: In-app' }).click(),
      ])
      expect((await inbox.get('/preferences/global')).body.data.channels).toMatchObject({ in_app: isOnNow })
      expect(await isOn(page, 'news: In-app')).toBe(String(isOnNow))
    }
    await send('x', 'news')
    await page.getByRole('button', { name: 'Back' }).click()
    await shows(page, ['News'])
  })

  test('critical workflows are locked, and say why', async () => {
    await makeWorkflow(api, 'alarm', [email], critical)
    const page = await openPreferences()
    await page.getByRole('button', { name: /^alarm/ }).click()
    await page.getByText('Always on, because you would not want to miss it.').waitFor()
    expect(await page.getByRole('switch', { name: 'alarm: Email' }).isDisabled()).toBe(true)
  })

  test('can be searched when there are many, and switched in groups', async () => {
    for (let n = 0; n < 11; n += 1) await makeWorkflow(api, `digest-${n}`, [inApp(), email], { tags: ['digest'] })
    const page = await site.open(api)
    await page.evaluate(`document.querySelector('belfry-inbox').preferenceGroups =
      [{ name: 'Digests', filter: { tags: ['digest'] } }]`)
    await bell(page).click()
    await page.getByRole('button', { name: 'Preferences' }).click()
    await page.getByRole('button', { name: /^Digests/ }).click()
    await page.getByRole('switch', { name: 'Digests: Email' }).click()
    const inbox = await openInbox(server, api, 'ada')
    await eventually(async () => {
      const { body } = await inbox.get('/preferences?tags=digest')
      expect(body.data.slice(1).map(({ channels }: any) => channels.email)).toEqual(Array(11).fill(false))
    })
    await page.getByRole('searchbox', { name: 'Search' }).fill('note')
    await eventually(async () => expect(await page.locator('.fold').count()).toBe(1))
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing like it')
    await page.getByText('Nothing matches').waitFor()
  })

  test('have a schedule in a named time zone that can be changed', async () => {
    const inbox = await openInbox(server, api, 'ada', { subscriber: { subscriberId: 'ada', timezone: 'Asia/Tokyo' } })
    const page = await openPreferences()
    await page.getByRole('switch', { name: 'Schedule' }).click()
    await page.getByLabel('Monday: From').fill('10:30')
    await page.getByLabel('Monday: From').blur()
    await page.getByRole('switch', { name: 'Friday' }).click()
    const schedule = async () => (await inbox.get('/preferences/global')).body.data.schedule
    await eventually(async () =>
      expect(await schedule()).toMatchObject({
        isEnabled: true,
        weeklySchedule: {
          monday: { isEnabled: true, hours: [{ start: '10:30 AM', end: '05:00 PM' }] },
          friday: { isEnabled: false },
          sunday: { isEnabled: false },
        },
      }),
    )
    await page.getByRole('button', { name: 'Monday: Copy to all days' }).click()
    await eventually(async () =>
      expect((await schedule()).weeklySchedule.tuesday.hours).toEqual([{ start: '10:30 AM', end: '05:00 PM' }]),
    )
    expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Tokyo')
    await page.getByRole('button', { name: 'Use Europe/Berlin, as on this device' }).click()
    await eventually(async () => expect((await inbox.get('/subscriber')).body.data.timezone).toBe('Europe/Berlin'))
    expect(await page.getByLabel('Time zone').inputValue()).toBe('Europe/Berlin')
  })

  test('are rolled back if they cannot be saved', async () => {
    await makeWorkflow(api, 'news', [inApp('News'), email])
    const page = await openPreferences()
    await page.route('**/v1/inbox/preferences', (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 500, json: { message: 'no' } }) : route.continue(),
    )
    await page.getByRole('switch', { name: 'All notifications: Email' }).click()
    await page.getByText('That could not be saved').waitFor()
    expect(await isOn(page, 'All notifications: Email')).toBe('true')
  })
})

describe('lost and slow connections', () => {
  /** Records requests, and delays counts: either the request to the service, or its response. */
  async function holdCounts(page: Page, { isAnswered }: { isAnswered: boolean }) {
    const asked: string[] = []
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/v1/inbox/notifications/count?*', async (route) => {
      const answer = isAnswered ? { response: await route.fetch() } : undefined
      asked.push('count')
      await held
      await (answer ? route.fulfill(answer) : route.fallback())
    })
    await page.route('**/v1/inbox/notifications?*', async (route) => {
      asked.push('list')
      await route.fallback()
    })
    return { asked, release }
  }

  test('a refresh loads counts before lists, so that nothing is counted that no list contains', async () => {
    const page = await site.open(api, { body: '<p>Empty</p>' })
    const { asked, release } = await holdCounts(page, { isAnswered: false })
    await addInbox(page)
    await bell(page).click()
    // On connect it refreshes, for what arrived since the first list.
    await eventually(() => expect(asked).toContain('count'))
    await send('Hello')
    expect(asked.filter((what) => what === 'list')).toHaveLength(1)
    release()
    await eventually(() => expect(asked.filter((what) => what === 'list').length).toBeGreaterThan(1))
    await shows(page, ['Hello'])
    await badgeIs(page, '1')
  })

  test('counts that arrive late do not undo a newer push', async () => {
    const page = await site.open(api, { body: '<p>Empty</p>' })
    const { asked, release } = await holdCounts(page, { isAnswered: true })
    await addInbox(page)
    await bell(page).click()
    await eventually(() => expect(asked).toContain('count'))
    await send('Hello')
    await badgeIs(page, '1')
    release()
    // The list is requested once the counts have arrived.
    await eventually(() => expect(asked.at(-1)).toBe('list'))
    await badgeIs(page, '1')
  })

  test('a notification counted before it arrives is not counted twice, not even for a moment', async () => {
    const page = await site.open(api, { body: '<p>Empty</p>' })
    const held: Array<() => void> = []
    let isHeld = false
    await page.routeWebSocket('**/*', (socket) => {
      const service = socket.connectToServer()
      service.onMessage((message) => {
        if (isHeld) held.push(() => socket.send(message))
        else socket.send(message)
      })
    })
    const counted = () => page.waitForResponse(/\/notifications\/count\?/)
    const first = counted()
    await addInbox(page)
    await first
    isHeld = true
    await send('Hello')
    await eventually(() => expect(held.length).toBeGreaterThan(0))
    await page.evaluate("dispatchEvent(new Event('online'))")
    await badgeIs(page, '1')
    const again = counted()
    isHeld = false
    for (const pass of held.splice(0)) pass()
    // The sum differs from what the page knows, so it refreshes.
    await again
    // The text changes only when the count rises: a two, once announced, would still be there.
    expect(await page.locator('[aria-live=polite]').textContent()).toBe('Notifications, 1 unread')
  })

  test('offline the list stays; back online it has what arrived since, once', async () => {
    await sendAll('First', 'Second')
    const page = await openInboxPage()
    await shows(page, ['Second', 'First'])
    await page.context().setOffline(true)
    await page.getByText('You’re offline').waitFor()
    await sendAll('Third', 'Fourth')
    await rowOf(page, 'First').focus()
    await page.keyboard.press('r')
    await page.getByText('That could not be saved').waitFor()
    expect(await bodies(page)).toEqual(['Second', 'First'])
    await page.context().setOffline(false)
    await page.getByRole('button', { name: '2 new' }).click()
    await shows(page, ['Fourth', 'Third', 'Second', 'First'])
    await badgeIs(page, '4')
    await eventually(async () => expect(await page.getByText('You’re offline').count()).toBe(0))
    await send('Fifth')
    await page.getByRole('button', { name: '1 new' }).click()
    await shows(page, ['Fifth', 'Fourth', 'Third', 'Second', 'First'])
  })

  test('a page opened offline shows its inbox as soon as it is online', async () => {
    await send('Hello')
    const page = await site.open(api, { body: '<p>Empty</p>' })
    await page.context().setOffline(true)
    await addInbox(page)
    await bell(page).click()
    await page.getByText('Notifications could not be loaded').waitFor()
    await page.context().setOffline(false)
    await shows(page, ['Hello'])
    await badgeIs(page, '1')
  })

  test('updates arrive by long polling where a proxy blocks WebSockets', async () => {
    const page = await site.open(api, { body: '<p>Empty</p>' })
    await page.routeWebSocket(/socket\.io/, (socket) => socket.close())
    await page.reload()
    await addInbox(page)
    await bell(page).waitFor()
    const polled = page.waitForResponse(
      (response) => response.url().includes('transport=polling') && response.request().method() === 'POST',
    )
    await polled
    await send('Hello')
    await badgeIs(page, '1')
  })

  test('an expired token is renewed silently', async () => {
    await send('Hello')
    const page = await site.open(api)
    await badgeIs(page, '1')
    let refused = 0
    await page.route('**/v1/inbox/notifications?*', async (route) => {
      refused += 1
      if (refused > 1) return route.continue()
      return route.fulfill({ status: 401, json: { message: 'Unauthorized' } })
    })
    await bell(page).click()
    await shows(page, ['Hello'])
    expect(refused).toBeGreaterThan(1)
  })

  test('the tabs of a browser share one socket, and a change in one shows in the others', async () => {
    const sockets: string[] = []
    const first = await site.open(api)
    first.context().on('page', (page) => page.on('websocket', (socket) => sockets.push(socket.url())))
    await bell(first).waitFor()
    const second = await site.openBeside(first.context(), first.url())
    await bell(second).click()
    await sendAll('One', 'Two')
    for (const page of [first, second]) await badgeIs(page, '2')
    expect(sockets).toEqual([])
    await bell(first).click()
    await second.getByRole('button', { name: '1 new' }).click()
    await shows(second, ['Two', 'One'])
    await rowOf(first, 'One').focus()
    await first.keyboard.press('a')
    await shows(second, ['Two'])
    for (const page of [first, second]) await badgeIs(page, '1')
    await first.close()
    await eventually(() => expect(sockets).toHaveLength(1))
    await send('Three')
    await badgeIs(second, '2')
  })

  test('changes from another browser or the backend show too', async () => {
    await sendAll('First', 'Second')
    const page = await openInboxPage()
    await shows(page, ['Second', 'First'])
    const inbox = await openInbox(server, api, 'ada')
    const [{ id } = {}] = await stored()
    await inbox.patch(`/notifications/${id}/archive`)
    await shows(page, ['First'])
    await badgeIs(page, '1')
  })
})

describe('languages', () => {
  test('the page chooses the language, and Arabic is written from right to left', async () => {
    await sendAll('First')
    const page = await site.open(api, { lang: 'ar' })
    await page.locator('.bell[aria-label^="الإشعارات"]').click()
    await rows(page).first().waitFor()
    expect(await page.locator('.belfry').getAttribute('dir')).toBe('rtl')
    const place = async (selector: string) => (await page.locator(selector).first().boundingBox())?.x ?? 0
    expect(await place('.avatar')).toBeGreaterThan(await place('.time'))
    expect(await page.locator('.title').textContent()).toBe('الوارد')
  })

  test('a page can use its own texts, under the keys it used before', async () => {
    const page = await site.open(api, { lang: 'de' })
    await page.evaluate(`document.querySelector('belfry-inbox').localization = {
      'inbox.filters.labels.default': 'Neues',
      'notifications.newNotifications': ({ notificationCount }) => 'Noch ' + notificationCount,
      dynamic: { note: 'Notizen' },
    }`)
    await page.getByRole('button', { name: 'Benachrichtigungen' }).click()
    await eventually(async () => expect(await page.locator('.title').textContent()).toBe('Neues'))
    await page.getByText('Alles erledigt').waitFor()
    await page.getByRole('button', { name: 'Einstellungen' }).click()
    await page.getByRole('button', { name: /^Notizen/ }).waitFor()
  })
})
