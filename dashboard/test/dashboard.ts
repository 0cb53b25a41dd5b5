// The dashboard for a test file: a server, a browser, and somebody who is signed in.
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
  /** Of whom is signed in; nobody is with `none`. */
  role?: Role | 'none'
  /** Where to go first. */
  path?: string
  /** Whose organization; the one the first start made, when nothing is said. */
  api?: Api
  options?: Profile
}

export interface TestDashboard {
  server: TestServer
  browser: TestBrowser
  /** A page of the dashboard in an empty browser, and requests with the same session. */
  open(visit?: Visit): Promise<{ page: Page; person: PersonApi }>
}

/**
 *     const { server, open } = useDashboard()
 *     test('…', async () => {
 *       const { page, person } = await open({ role: 'editor', path: '/topics' })
 */
export function useDashboard(config: Partial<Config> = {}): TestDashboard {
  // Several who work on it at once each test a build of their own.
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
        viewport: { width: 1440, height: 900 },
        reducedMotion: 'reduce',
        cookies: role === 'none' ? [] : [cookie],
        ...options,
      })
      page.setDefaultTimeout(30_000)
      return { page, person }
    },
  }
}

const sizes = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

/** Pictures for people to look at, on a desk and on a phone, light and dark; only when SHOTS names a folder for them. */
export async function takePictures(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  const before = page.viewportSize() ?? { width: 1440, height: 900 }
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

/** What a person who cannot see, or cannot use a mouse, would stumble over. E-mails in frames are their authors' business. */
export async function obstacles(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(`(async () => {
    const { violations } = await axe.run({ exclude: ['iframe'] })
    return violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))
  })()`)
}
