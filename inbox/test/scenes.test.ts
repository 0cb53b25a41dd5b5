// The inbox inside a site, checked by axe in both themes. With PICTURES=docs/images it also takes the screenshots of the
// documentation: `PICTURES=docs/images npx vitest run inbox/test/scenes.test.ts`
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { useBrowser } from '../../server/test/browser.ts'
import { openInbox } from '../../server/test/inbox.ts'
import { makeWorkflow } from '../../server/test/runs.ts'
import { type Api, useServer } from '../../server/test/server.ts'
import { useHostSite } from './host-page.ts'
import { shrink } from './png.ts'
import { arabicStories, face, host, hostStyles, stories, tabs, tell } from './scenes.ts'

const server = useServer()
const browser = useBrowser()
const site = useHostSite(server, browser)
const { PICTURES: pictures } = process.env
let api: Api

// Axe takes a while on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  site.serve('/priya.svg', 'image/svg+xml', face('#c68642', '#2b1b12', '#fde68a'))
  site.serve('/marcus.svg', 'image/svg+xml', face('#8d5524', '#111827', '#bfdbfe'))
})
beforeEach(async () => {
  api = await server.freshApi()
})

const english = host({
  app: 'Lumen',
  nav: ['Projects', 'Documents', 'People', 'Insights'],
  title: 'Projects',
  rows: [
    'Offline mode',
    'Usage-based pricing',
    'Onboarding, second try',
    'Design tokens',
    'Search that finds',
    'Audit log',
    'Mobile app',
    'Import from anywhere',
  ],
})
const arabic = host({
  app: 'لومن',
  nav: ['المشاريع', 'المستندات', 'الأشخاص'],
  title: 'المشاريع',
  rows: [
    'وضع عدم الاتصال',
    'التسعير حسب الاستخدام',
    'تجربة البدء',
    'رموز التصميم',
    'بحث يجد',
    'سجل التدقيق',
    'تطبيق الجوال',
  ],
})
const labels = ['All', 'Mentions', 'Deployments', 'Billing', 'Digests']

interface Scene {
  theme?: 'light' | 'dark'
  lang?: string
  body?: string
  tabLabels?: string[]
  size?: { width: number; height: number }
}

async function show({ theme = 'light', lang = 'en', body = english, tabLabels = labels, size }: Scene): Promise<Page> {
  const page = await site.open(api, {
    ...{ lang, body, attributes: `tabs='${tabs(tabLabels)}'` },
    head: hostStyles + (lang === 'ar' ? '<script>document.documentElement.dir = "rtl"</script>' : ''),
    policy: '',
    options: {
      viewport: size ?? { width: 880, height: 700 },
      deviceScaleFactor: pictures ? 2 : 1,
      colorScheme: theme,
      reducedMotion: 'reduce',
    },
  })
  await page.locator('.bell').click()
  await page.locator('.panel').waitFor()
  return page
}

const hours = [{ start: '08:30 AM', end: '06:00 PM' }]
const week = Object.fromEntries(
  ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'].map((day) => [day, { isEnabled: true, hours }]),
)

/** No axe violations inside our elements. */
async function check(page: Page, selector = 'belfry-inbox'): Promise<void> {
  await page.evaluate(axe.source)
  const violations = await page.evaluate(async (within) => {
    const options = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }
    const results = await (globalThis as any).axe.run(within, options)
    const looked = results.passes.find(({ id }: any) => id === 'color-contrast')?.nodes.length ?? 0
    if (looked < 3) return ['axe has not looked inside', looked]
    return results.violations.map(({ id, nodes }: any) => [
      id,
      nodes.map(({ html, any }: any) => [html, any[0]?.message]),
    ])
  }, selector)
  expect(violations).toEqual([])
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures) writeFileSync(path.join(pictures, `inbox-${name}.png`), shrink(await page.screenshot()))
}

/** Accepts the invitation and reads the old notifications. */
async function live(): Promise<void> {
  const inbox = await openInbox(server, api, 'ada')
  const { body } = await inbox.get('/notifications?limit=20')
  for (const { id, workflow } of body.data) {
    if (['sign-in', 'weekly-digest', 'digest'].includes(workflow.identifier))
      await inbox.patch(`/notifications/${id}/read`)
    if (workflow.identifier === 'invitation')
      await inbox.patch(`/notifications/${id}/complete`, { actionType: 'primary' })
  }
}

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  test('the list', async () => {
    await tell(server, api, stories(site.origin))
    await live()
    const page = await show({ theme })
    await page.getByText('Payment failed').waitFor()
    await page.getByText('Mentions').first().waitFor()
    await page.mouse.move(10, 600)
    await check(page)
    await picture(page, theme)
    await page.getByRole('article').nth(1).hover()
    await page.getByRole('article').nth(1).getByRole('button', { name: 'Snooze' }).click()
    await page.getByRole('menu').waitFor()
    await check(page)
    if (theme === 'light') await picture(page, 'snooze')
    await page.keyboard.press('Escape')
    await page.keyboard.press('a')
    await page.getByText('Undo').waitFor()
    await check(page)
  })

  test('the preferences', async () => {
    await tell(server, api, stories(site.origin))
    const inbox = await openInbox(server, api, 'ada')
    await inbox.patch('/subscriber', { timezone: 'Europe/Lisbon' })
    await inbox.patch('/preferences', {
      schedule: {
        isEnabled: true,
        weeklySchedule: week,
      },
    })
    const page = await show({ theme })
    await page.getByRole('button', { name: 'Preferences' }).click()
    await page.getByRole('button', { name: /^Sign-in alerts/ }).click()
    await page.getByText('Always on').waitFor()
    await check(page)
    await inbox.patch('/preferences', { schedule: { isEnabled: false } })
    await inbox.patch('/preferences/weekly-digest', { email: false })
    const second = await show({ theme })
    await second.getByRole('button', { name: 'Preferences' }).click()
    await second.getByRole('button', { name: /^Sign-in alerts/ }).click()
    await second.getByText('Always on').waitFor()
    await second.mouse.move(10, 600)
    await picture(second, theme === 'light' ? 'preferences' : 'preferences-dark')
    if (theme === 'dark') return
    await page.mouse.move(10, 600)
    await page.locator('.schedule').evaluate((section) => section.scrollIntoView())
    await picture(page, 'schedule')
  })

  test('the empty list, online and offline', async () => {
    await makeWorkflow(api, 'mention', [{ type: 'in_app', controlValues: { body: 'Hello' } }])
    const page = await show({ theme })
    await page.getByText('You’re all caught up').waitFor()
    await check(page)
    if (theme === 'light') await picture(page, 'empty')
    await page.context().setOffline(true)
    await page.getByText('You’re offline').waitFor()
    await check(page)
  })
})

test('right to left', async () => {
  await tell(server, api, arabicStories(site.origin))
  await live()
  const page = await show({ lang: 'ar', body: arabic, tabLabels: ['الكل', 'الإشارات', 'النشر', 'الفوترة'] })
  await page.getByText('INV-2041').waitFor()
  await page.locator('.title', { hasText: 'الوارد' }).waitFor()
  await page.mouse.move(870, 600)
  await check(page)
  await picture(page, 'right-to-left')
})

test('on a phone', async () => {
  await tell(server, api, stories(site.origin))
  await live()
  const page = await show({ size: { width: 390, height: 844 } })
  await page.getByText('Payment failed').waitFor()
  expect(await page.locator('.panel').boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 })
  await check(page)
  await picture(page, 'phone')
})
