// A real browser for tests. Each page gets a profile without traces of earlier ones.
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Cookie,
  chromium,
  type Page,
} from 'playwright-core'
import { afterEach, beforeAll, expect } from 'vitest'
import { findChromium } from '../../scripts/chromium.mjs'

export interface Profile extends Omit<BrowserContextOptions, 'storageState'> {
  cookies?: Cookie[]
  /** Its timers are moved with `page.clock`, from the first page on. */
  hasOwnClock?: true
  /** The test fixes the time of each of its pages, before it shows anything. */
  hasFixedTime?: true
  /** Nothing is cached yet: its context is new, and nobody uses it again. */
  isFirstVisit?: true
}

export interface TestBrowser {
  /** Opens a page in its own profile, closed after the test. An uncaught error in it fails the test. */
  open(url: string, profile?: Profile): Promise<Page>
}

/**
 * Used by one test at a time. Its script cache stays: loading and compiling scripts again was a third of all browser time.
 */
interface Context {
  context: BrowserContext
  options: string
  isTaken: boolean
  /** Whether later tests may use it. */
  isKept: boolean
  /** Stays open: a context drops its cache with its last page. */
  keeper: Page
  /** The origins its pages have visited. */
  origins: Set<string>
}

/**
 * All files of a worker share one browser, because starting it takes longer than most tests. It ends with the worker
 * process.
 */
let shared: Promise<Browser> | undefined
let contexts: Context[] = []

async function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('No Chromium found. `npm test` installs one; or set CHROMIUM_PATH.')
  const browser = await chromium.launch({
    executablePath,
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
      // Pages share a process: one for each page has to be started and warmed up.
      '--renderer-process-limit=1',
      // A document lives for seconds, and compiling its hot functions well takes more processor time than they then save:
      // an eighth of what dashboard pages take. The young generation as in the workers (vitest.config.ts).
      '--js-flags=--no-maglev --no-turbofan --min-semi-space-size=16',
    ],
  })
  browser.on('disconnected', () => {
    shared = undefined
    contexts = []
  })
  return browser
}

/** Starts the browser before the tests of a file, and closes its pages after each test. */
export function useBrowser(): TestBrowser {
  let browser: Browser
  const taken: Context[] = []
  const errors: string[] = []
  /** Of the present test, with their requests without an answer. */
  const pages: Array<{ page: Page; open: Set<string> }> = []

  beforeAll(async () => {
    shared ??= launch()
    browser = await shared
  })
  afterEach(async ({ task }) => {
    const shown = task.result?.state === 'fail' ? await Promise.all(pages.map(shownBy)) : []
    pages.length = 0
    for (const context of taken.splice(0)) await release(context)
    const uncaught = errors.splice(0)
    // Thrown, so that it stands beside the failure and not far above it.
    if (shown.length > 0) throw new Error([...shown, ...uncaught].join('\n'))
    expect(uncaught).toEqual([])
  })

  return {
    async open(url, { cookies = [], ...asked } = {}) {
      // Each frame of an animation costs processor time. Tests of motion ask for it.
      const options = { reducedMotion: 'reduce' as const, ...asked }
      const free = await take(browser, options)
      taken.push(free)
      const page = await free.context.newPage()
      page.on('pageerror', (error) => errors.push(String(error)))
      pages.push({ page, open: watchRequests(page) })
      await free.context.addCookies(cookies)
      if (options.hasOwnClock) await page.clock.install({ time: Date.now() })
      await page.goto(url)
      return page
    },
  }
}

function watchRequests(page: Page): Set<string> {
  const open = new Set<string>()
  page.on('request', (request) => open.add(request.url()))
  page.on('requestfinished', (request) => open.delete(request.url()))
  page.on('requestfailed', (request) => open.delete(request.url()))
  return open
}

/** Of a test that failed: what its page shows. */
async function shownBy({ page, open }: { page: Page; open: Set<string> }): Promise<string> {
  if (page.isClosed()) return 'Its page is closed.'
  const shown = await page.evaluate<string>('document.body.innerText').catch(String)
  return `${page.url()} shows:\n${shown.slice(0, 4_000)}\nIts requests without an answer: ${[...open].join(' ')}`
}

async function take(browser: Browser, asked: Omit<Profile, 'cookies'>): Promise<Context> {
  const options = JSON.stringify(asked)
  const free = asked.isFirstVisit ? undefined : contexts.find((each) => !each.isTaken && each.options === options)
  if (free) {
    free.isTaken = true
    return free
  }
  const { hasOwnClock: _, hasFixedTime, isFirstVisit: __, ...known } = asked
  const context = await browser.newContext(known)
  const keeper = await context.newPage()
  const made = { context, options, keeper, isTaken: true, isKept: !asked.isFirstVisit, origins: new Set<string>() }
  context.on('page', (page) =>
    page.on('framenavigated', (frame) => {
      if (frame.url().startsWith('http')) made.origins.add(new URL(frame.url()).origin)
    }),
  )
  watchClock(context, (act) => {
    if (act !== 'setFixedTime' || !hasFixedTime) made.isKept = false
  })
  contexts.push(made)
  return made
}

/** A clock that was moved or stopped stays so for every later page of its context. */
function watchClock({ clock }: BrowserContext, onUse: (act: string) => void): void {
  for (const act of [
    'install',
    'fastForward',
    'runFor',
    'pauseAt',
    'resume',
    'setSystemTime',
    'setFixedTime',
  ] as const) {
    const use = clock[act].bind(clock) as (...given: unknown[]) => Promise<void>
    Object.assign(clock, {
      [act](...given: unknown[]) {
        onUse(act)
        return use(...given)
      },
    })
  }
}

/** Deletes what its pages have stored. */
async function clear({ context, keeper, origins }: Context): Promise<void> {
  const session = await context.newCDPSession(keeper)
  for (const origin of origins) await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
  origins.clear()
}

async function release(taken: Context): Promise<void> {
  const { context, keeper } = taken
  if (!taken.isKept) {
    contexts = contexts.filter((each) => each !== taken)
    return context.close()
  }
  for (const page of context.pages()) if (page !== keeper) await page.close()
  await clear(taken)
  await context.unrouteAll()
  await context.clearCookies()
  await context.clearPermissions()
  await context.setOffline(false)
  taken.isTaken = false
}
