// A real browser for test files, with an empty profile for each page that is opened.
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterEach, beforeAll, expect } from 'vitest'
import { findChromium } from '../../scripts/chromium.mjs'

export interface TestBrowser {
  /** A page in a profile of its own, closed after the test. An error that nobody caught in it fails the test. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
}

/** All files of a worker use one browser: starting it takes longer than most tests. It ends with the worker's process. */
let shared: Promise<Browser> | undefined

async function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('No Chromium was found: `npm test` installs one, or name it with CHROMIUM_PATH.')
  const browser = await chromium.launch({
    executablePath,
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  })
  browser.on('disconnected', () => {
    shared = undefined
  })
  return browser
}

/** Has the browser started before the tests of a file, and closes after each what it opened. */
export function useBrowser(): TestBrowser {
  let browser: Browser
  const contexts: BrowserContext[] = []
  const errors: string[] = []

  beforeAll(async () => {
    shared ??= launch()
    browser = await shared
  })
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close()
    const uncaught = errors.splice(0)
    expect(uncaught).toEqual([])
  })

  return {
    async open(url, options = {}) {
      const context = await browser.newContext(options)
      contexts.push(context)
      const page = await context.newPage()
      page.on('pageerror', (error) => errors.push(String(error)))
      await page.goto(url)
      return page
    },
  }
}
