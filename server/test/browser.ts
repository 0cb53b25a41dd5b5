// A real browser for a test file, with an empty profile for each page that is opened.
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { findChromium } from '../../scripts/chromium.mjs'

export interface TestBrowser {
  /** A page in a profile of its own, closed after the test. An error that nobody caught in it fails the test. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
}

/** Starts the browser before the tests of a file and ends it after them. */
export function useBrowser(): TestBrowser {
  let browser: Browser
  const errors: string[] = []

  beforeAll(async () => {
    const executablePath = findChromium()
    if (!executablePath)
      throw new Error('No Chromium was found: `npm test` installs one, or name it with CHROMIUM_PATH.')
    browser = await chromium.launch({
      executablePath,
      args: [
        ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
        ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
      ],
    })
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
    const uncaught = errors.splice(0)
    expect(uncaught).toEqual([])
  })
  afterAll(() => browser?.close())

  return {
    async open(url, options = {}) {
      const context = await browser.newContext(options)
      const page = await context.newPage()
      page.on('pageerror', (error) => errors.push(String(error)))
      await page.goto(url)
      return page
    },
  }
}
