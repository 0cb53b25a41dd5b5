// The dashboard for a test file: a server, a browser and a signed-in user.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Page } from 'playwright-core'
import type { Config } from '../../server/src/config.ts'
import type { Role } from '../../server/src/db/core/tables.ts'
import { type Profile, type TestBrowser, useBrowser } from '../../server/test/browser.ts'
import { type PersonApi, signInAs } from '../../server/test/people.ts'
import { type Api, type TestServer, useServer } from '../../server/test/server.ts'

export interface Visit {
  /** The role of the signed-in user; `none` for no session. */
  role?: Role | 'none'
  /** The first page. */
  path?: string
  /** A key of the organization; by default the one from the first start. */
  api?: Api
  options?: Profile
}

export interface TestDashboard {
  server: TestServer
  browser: TestBrowser
  /** A dashboard page in an empty browser, and an API client with the same session. */
  open(visit?: Visit): Promise<{ page: Page; person: PersonApi }>
}

/**
 *     const { server, open } = useDashboard()
 *     test('…', async () => {
 *       const { page, person } = await open({ role: 'editor', path: '/topics' })
 */
export function useDashboard(config: Partial<Config> = {}): TestDashboard {
  // DASHBOARD_DIST names another build, so that several checkouts can be tested at once.
  const server = useServer({ dashboardDir: process.env.DASHBOARD_DIST, ...config })
  const browser = useBrowser()
  return {
    server,
    browser,
    async open({ role = 'owner', path: where = '/', api = server.api, options = {} } = {}) {
      const person = await signInAs(server, api, role === 'none' ? 'viewer' : role)
      const cookie = {
        ...{ name: 'belfry_session', value: person.token, domain: new URL(server.url).hostname, path: '/' },
        ...{ expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' as const },
      }
      const page = await browser.open(server.url + where, {
        viewport: desktop,
        reducedMotion: 'reduce',
        cookies: role === 'none' ? [] : [cookie],
        ...options,
      })
      page.setDefaultTimeout(30_000)
      return { page, person }
    },
  }
}

const desktop = { width: 1440, height: 900 }
const sizes = [desktop, { width: 1280, height: 800 }, { width: 820, height: 1180 }, { width: 390, height: 844 }]

/** The page as it is; only if SHOTS names a folder for it. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: path.join(folder, `${name}.png`) })
}

/** Screenshots on desktop and phone, light and dark; only if SHOTS names a folder for them. */
export async function takeScreenshots(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  const before = page.viewportSize() ?? desktop
  for (const size of sizes) {
    await page.setViewportSize(size)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: path.join(folder, `${name}-${size.width}-${colorScheme}.png`) })
    }
  }
  await page.setViewportSize(before)
  await page.emulateMedia({ colorScheme: 'light' })
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds wrong for people who cannot see or cannot use a mouse. Emails in frames are excluded: their authors decide. So is
 * the list of pages where nothing is counted in it, a third of what there is to look at: shell.test.ts looks at it on every page.
 * Axe is loaded once per document and describes only violations: both save processor time and change no finding.
 */
export const axeViolations = (page: Page): Promise<string[]> =>
  runAxe(page, "{ exclude: ['iframe', 'nav[aria-label=Pages]:not(:has(span))'] }")

/**
 * What axe finds wrong with anything but the colors, the list of pages included. Where the same elements are shown as at the last
 * look, whatever their places and sizes, only the one rule is left that goes by these.
 */
export async function newStructureViolations(page: Page): Promise<string[]> {
  const isNew = await page.evaluate<boolean>(`(() => {
    const shown = [...document.querySelectorAll('body *')].map((element) => (element.checkVisibility({ visibilityProperty: true }) ? 1 : 0))
    const before = window.structure
    window.structure = document.documentElement.outerHTML + shown.join('')
    return window.structure !== before
  })()`)
  const rules = isNew
    ? "{ rules: { 'color-contrast': { enabled: false } } }"
    : "{ runOnly: ['scrollable-region-focusable'] }"
  return runAxe(page, "{ exclude: ['iframe'] }", rules)
}

/**
 * Finds the texts that have not been there before in these colors, for `newColorViolations`. Another width shows and hides
 * texts, but gives those that stay no other color. @returns whether there are any
 */
export const findNewTexts = (page: Page): Promise<boolean> =>
  page.evaluate(`(() => {
    const seen = (window.seenColors ??= new WeakMap())
    const backgrounds = new Map()
    const behind = (element) => {
      if (element === null) return ''
      if (!backgrounds.has(element)) {
        const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode } = getComputedStyle(element)
        const own = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode].join()
        backgrounds.set(element, own + '|' + behind(element.parentElement))
      }
      return backgrounds.get(element)
    }
    window.unseen = [...document.querySelectorAll('body *')].filter((element) => {
      // Axe looks at what a field holds, too.
      const hasText = element.matches('input, select, textarea') || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
      if (!hasText || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false
      const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element)
      const look = [element.textContent, color, fontSize, fontWeight, textShadow, behind(element)].join()
      const looks = seen.get(element) ?? new Set()
      seen.set(element, looks)
      return !looks.has(look) && looks.add(look)
    })
    return window.unseen.length > 0
  })()`)

/** What axe finds wrong with their colors. */
export const newColorViolations = (page: Page): Promise<string[]> =>
  runAxe(page, "{ include: window.unseen, exclude: ['iframe'] }", "{ runOnly: ['color-contrast'] }")

async function runAxe(page: Page, where: string, rules = '{}'): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe)
  return page.evaluate(`(async () => {
    const { violations } = await axe.run(${where}, { resultTypes: ['violations'], selectors: false, ...${rules} })
    return violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))
  })()`)
}

/**
 * Texts that are cut at the present width. An ellipsis may stand where the whole text is said to the pointer, which
 * `sayWholeTexts` does everywhere, as long as there is room for a few words; not in a heading without a title, and never in
 * a time.
 */
export const cutTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const leastPx = 56
    const found = []
    const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    const about = (element, what) =>
      found.push(what + ': <' + element.tagName.toLowerCase() + '> ' + element.innerText.trim().replace(/\\s+/g, ' ').slice(0, 60))
    for (const element of document.querySelectorAll('body *')) {
      if (element.closest('svg, iframe, .sr-only, [aria-hidden="true"], .cm-editor, [contenteditable="true"], textarea, input')) continue
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
      if (!hasText || !isShown(element)) continue
      // The nearest box that cuts.
      let box = element
      while (box && box !== document.body && getComputedStyle(box).overflowX === 'visible') box = box.parentElement
      if (!box || box === document.body) continue
      const style = getComputedStyle(box)
      if (style.overflowX === 'auto' || style.overflowX === 'scroll') continue
      const range = document.createRange()
      range.selectNodeContents(element)
      const [text, frame] = [range.getBoundingClientRect(), box.getBoundingClientRect()]
      const isCut = text.width > 1 && (text.right > frame.right + 1 || text.left < frame.left - 1) && box.scrollWidth > box.clientWidth + 1
      if (!isCut || frame.width < 2) continue
      if (element.closest('time')) about(element, 'time')
      else if (style.textOverflow !== 'ellipsis') about(element, 'cut')
      else if (element.closest('h1, h2, h3, h4') && !element.closest('[title]')) about(element, 'heading')
      else if (frame.width < leastPx) about(element, 'collapsed')
    }
    const page = document.documentElement
    if (page.scrollWidth > page.clientWidth) found.push('the page is ' + (page.scrollWidth - page.clientWidth) + ' px too wide')
    return [...new Set(found)]
  })()`)

/** Follows a link inside the dashboard: the router opens the path without loading the page again. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`)
}

const phone = { width: 360, height: 740 }

/** By how many pixels the page, or a part of it, is wider than a small phone. The page stays that narrow. */
export async function overflowOnPhone(page: Page, selector = 'html'): Promise<number> {
  await page.setViewportSize(phone)
  return page.locator(selector).evaluate((node) => {
    const { scrollWidth, clientWidth } = node as unknown as { scrollWidth: number; clientWidth: number }
    return scrollWidth - clientWidth
  })
}

/** Back to the size in which pages open. */
export const onDesktop = (page: Page): Promise<void> => page.setViewportSize(desktop)
