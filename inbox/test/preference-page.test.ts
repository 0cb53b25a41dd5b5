// The hosted page of preferences in a real browser: with JavaScript and without, checked by axe, wide and narrow.
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { useBrowser } from '../../server/test/browser.ts'
import { inApp, makeWorkflow, type Step } from '../../server/test/runs.ts'
import { type Api, useServer } from '../../server/test/server.ts'

const server = useServer()
const browser = useBrowser()
const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }
const narrow = { width: 360, height: 740 }

async function prepared(): Promise<{ api: Api; url: string }> {
  const { development: api } = await server.freshOrganization()
  await api.patch(`/v2/environments/${api.environmentId}/consent`, {
    brand: { name: 'Acme', primaryColor: '#ffcc00', postalAddress: '1 Main Street\nSpringfield' },
  })
  await makeWorkflow(api, 'receipt', [email], { name: 'Receipts' })
  await makeWorkflow(api, 'news', [email, inApp()], {
    ...{ name: 'News of the shop', messageClass: 'commercial', consentCategory: 'offers' },
  })
  await makeWorkflow(api, 'alarm', [email], {
    ...{ name: 'Alarms', preferences: { user: null, workflow: { all: { enabled: true, readOnly: true } } } },
  })
  await api.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
  const { body } = await api.post('/v2/subscribers/ada/preferences-link', {})
  return { api, url: server.url + new URL(body.url).pathname }
}

const entries = async (api: Api) => (await api.get('/v1/suppressions')).body.data

/** What axe finds on the whole page, by the rules of WCAG 2.2 AA. */
async function violations(page: Page): Promise<unknown> {
  await page.evaluate(axe.source)
  return page.evaluate(`(async () => {
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const { passes, violations } = await axe.run(document, { runOnly })
    if (passes.length < 10) return ['axe has not looked', passes.length]
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
  })()`)
}

const isWiderThanScreen = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

async function picture(page: Page, name: string): Promise<void> {
  const { SHOTS } = process.env
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true })
}

test('without JavaScript it is a form: choices are saved, everything refused, and taken back', async () => {
  const { api, url } = await prepared()
  const page = await browser.open(url, { javaScriptEnabled: false, viewport: narrow })
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
  const box = page.getByRole('checkbox', { name: 'News of the shop: Email' })
  expect(await box.isChecked()).toBe(true)
  const { width = 0, height = 0 } = (await box.boundingBox()) ?? {}
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(24)
  await box.uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('status').getByText('Saved').waitFor()
  expect(await box.isChecked()).toBe(false)
  expect(await page.getByText('1 Main Street').count()).toBe(1)
  expect(await page.getByText('Alarms').count()).toBe(1)
  expect(await page.getByRole('checkbox', { name: /Alarms/ }).count()).toBe(0)
  expect(await entries(api)).toMatchObject([{ reason: 'unsubscribe', source: 'page', scope: { workflowId: 'news' } }])
  await picture(page, 'preferences-plain')

  await page.locator('button[name=snooze][value="7"]').click()
  await page.locator('button[name=snooze][value="0"]').click()
  await page.locator('button[name=all][value=off]').click()
  await vi.waitFor(async () =>
    expect(await entries(api)).toContainEqual(expect.objectContaining({ scope: { type: 'commercial' } })),
  )
  await page.locator('button[name=all][value=on]').click()
  await vi.waitFor(async () =>
    expect(
      (await entries(api)).filter(({ scope }: { scope: { type: string } }) => scope.type === 'commercial'),
    ).toEqual([]),
  )
})

test('the form has no accessibility faults and fits 360 pixels, in a language from right to left too', async () => {
  const { url } = await prepared()
  // As where the scripts are blocked: the form stays.
  const page = await browser.open('about:blank', { viewport: narrow })
  await page.route('**/inbox.js', (route) => route.abort())
  await page.route('**/hosted-preferences.js', (route) => route.abort())
  await page.goto(url)
  expect(await page.locator('form fieldset').count()).toBe(2)
  expect(await violations(page)).toEqual([])
  expect(await isWiderThanScreen(page)).toBe(false)
  await page.goto(`${url}?lang=ar`)
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
  expect(await violations(page)).toEqual([])
  expect(await isWiderThanScreen(page)).toBe(false)
  // "1 Main Street" keeps its number in front, and stands where the Arabic lines begin.
  expect(
    await page.evaluate(`(() => {
      const line = document.querySelector('address').firstChild
      const placeOf = (at) => {
        const range = document.createRange()
        range.setStart(line, at)
        range.setEnd(line, at + 1)
        return range.getBoundingClientRect()
      }
      const { right } = document.querySelector('address').getBoundingClientRect()
      return [placeOf(0).left < placeOf(2).left, Math.round(right - placeOf('1 Main Stree'.length).right)]
    })()`),
  ).toEqual([true, 0])
  await picture(page, 'preferences-arabic')
})

test('the page and what stands on it follow the reader’s colours, the brand’s where it can be read', async () => {
  const { url } = await prepared()
  const background = (page: Page, of: string) => page.evaluate(`getComputedStyle(${of}).backgroundColor`)
  for (const [colorScheme, card] of [
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(20, 20, 23)'],
  ] as const) {
    const page = await browser.open(url, { viewport: narrow, colorScheme })
    const element = page.locator('belfry-preferences')
    await element.getByText('News of the shop').first().waitFor()
    expect(await background(page, `document.querySelector('main')`)).toBe(card)
    const inside = `document.querySelector('belfry-preferences').shadowRoot.querySelector('.inline')`
    expect(await background(page, inside)).toBe(card)
    expect(await violations(page)).toEqual([])
    // Yellow can be read on black, not on white.
    const accent = await page.evaluate(
      `getComputedStyle(document.querySelector('belfry-preferences')).getPropertyValue('--belfry-color-primary')`,
    )
    expect(accent).toBe(colorScheme === 'dark' ? '#ffcc00' : '')
    await picture(page, `preferences-${colorScheme}`)
  }
})

test('with JavaScript each switch is saved as it is moved, by mouse or keyboard', async () => {
  const { api, url } = await prepared()
  const page = await browser.open(url, { viewport: narrow })
  const element = page.locator('belfry-preferences')
  await element.getByText('News of the shop').first().waitFor()
  expect(await page.locator('form fieldset').count()).toBe(0)
  // Those that nobody can switch off are listed once.
  expect(await page.getByText('Alarms', { exact: true }).count()).toBe(1)
  // Commercial ones first, though they were made later; and no switch for everything, which would unsubscribe from nothing.
  const names = await element.locator('[part=workflowLabel]').allTextContents()
  expect(names).toEqual(['News of the shop', 'Receipts', 'Alarms'])
  expect(await element.getByRole('heading', { level: 4 }).allTextContents()).toEqual([
    'offers',
    'Other messages',
    'These messages always reach you',
  ])
  expect(await element.getByRole('switch', { name: /^All notifications/ }).count()).toBe(0)
  expect(await violations(page)).toEqual([])
  expect(await isWiderThanScreen(page)).toBe(false)
  await picture(page, 'preferences-element')
  await element.getByText('News of the shop').first().click()
  const toggle = element.getByRole('switch', { name: 'News of the shop: Email' })
  await toggle.focus()
  await toggle.press('Space')
  await vi.waitFor(
    async () =>
      expect(await entries(api)).toMatchObject([
        { reason: 'unsubscribe', scope: { type: 'workflow', workflowId: 'news' } },
      ]),
    { timeout: 20_000 },
  )
  // What the element does not offer stays in the form.
  await page.locator('button[name=all][value=off]').click()
  await vi.waitFor(async () =>
    expect(await entries(api)).toContainEqual(expect.objectContaining({ scope: { type: 'commercial' } })),
  )
})

test('where the list holds something back, the form stays, which knows it', async () => {
  const { api, url } = await prepared()
  await api.post('/v1/suppressions', { channel: 'email', address: 'ada@example.com', reason: 'manual' })
  const page = await browser.open(url, { viewport: narrow })
  await page.waitForLoadState('networkidle')
  const box = page.getByRole('checkbox', { name: 'News of the shop: Email' })
  expect([await box.isChecked(), await box.isDisabled()]).toEqual([false, true])
  expect(await page.locator('belfry-preferences').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await picture(page, 'preferences-held-back')
})

test('the page that unsubscribes has one button, no faults, and works without JavaScript', async () => {
  const { api } = await prepared()
  await api.post('/v1/events/trigger', { name: 'news', to: 'ada', transactionId: 'one' })
  await server.drain()
  const { body } = await api.get('/v1/messages?transactionId=one&channel=email')
  const path = /\/l\/u\/[\w-]+/.exec(JSON.stringify(body))?.[0]
  if (path === undefined) throw new Error(`There is no link in ${JSON.stringify(body)}`)
  const looked = await browser.open(server.url + path, { viewport: narrow })
  expect(await violations(looked)).toEqual([])
  const page = await browser.open(server.url + path, { javaScriptEnabled: false, viewport: narrow })
  expect(await page.getByRole('button').count()).toBe(1)
  await page.getByRole('button', { name: 'Unsubscribe' }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  expect(await entries(api)).toHaveLength(1)
  await page.getByRole('button', { name: 'Undo' }).click()
  await vi.waitFor(async () => expect(await entries(api)).toEqual([]))
})
