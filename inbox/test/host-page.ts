// Pages of another site that embed the inbox: on their own origin, with a content security policy that allows only what they
// need.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { Profile, TestBrowser } from '../../server/test/browser.ts'
import { identifierOf } from '../../server/test/inbox.ts'
import type { Api, TestServer } from '../../server/test/server.ts'

export interface HostPage {
  /** The body, instead of a single inbox. */
  body?: string
  /** More attributes for the inbox. */
  attributes?: string
  head?: string
  lang?: string
  subscriberId?: string
  /** The content security policy. Defaults to the strictest one under which an inbox works. */
  policy?: string
  options?: Profile
}

export interface HostSite {
  readonly origin: string
  /** Serves the site's own images and scripts. */
  serve(address: string, type: string, content: string): void
  open(api: Api, page?: HostPage): Promise<Page>
  /** Opens another tab in the same browser. */
  openBeside(context: BrowserContext, url: string): Promise<Page>
}

/** What a page has to allow: the script, the calls, the socket and images. */
export const strictPolicy = (url: string) =>
  [
    "default-src 'none'",
    `script-src ${url}`,
    `connect-src ${url} ${url.replace('http', 'ws')}`,
    'img-src https: data:',
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')

export function useHostSite(server: TestServer, browser: TestBrowser): HostSite {
  const pages = new Map<string, { content: string; policy: string; type?: string }>()
  let site: Server
  let origin: string

  beforeAll(async () => {
    site = createServer((request, response) => {
      const found = pages.get(request.url ?? '')
      response.writeHead(found ? 200 : 404, {
        'Content-Type': found?.type ?? 'text/html; charset=utf-8',
        'Content-Security-Policy': found?.policy ?? "default-src 'none'",
      })
      response.end(found?.content ?? '<!doctype html><title>Elsewhere</title><p>Elsewhere</p>')
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    origin = `http://localhost:${(site.address() as AddressInfo).port}`
  })
  afterAll(() => {
    site.closeAllConnections()
    return new Promise((resolve) => site.close(resolve))
  })

  /** Uses the service's clock, which tests move. */
  const go = async (page: Page, url: string) => {
    await page.clock.setFixedTime(server.clock.now())
    await page.goto(url)
    return page
  }

  return {
    get origin() {
      return origin
    },
    serve: (address, type, content) => void pages.set(address, { content, type, policy: "default-src 'none'" }),
    async open(api, given = {}) {
      const { subscriberId = 'ada', attributes = '', lang = 'en', head = '', options = {} } = given
      const identifier = await identifierOf(server, api)
      const settings = `application-identifier="${identifier}" subscriber-id="${subscriberId}"`
      const body = (given.body ?? `<belfry-inbox ${settings} ${attributes}></belfry-inbox>`).replaceAll(
        '{settings}',
        `${settings} ${attributes}`,
      )
      const address = `/page-${pages.size}`
      pages.set(address, {
        policy: given.policy ?? strictPolicy(server.url),
        content: `<!doctype html><html lang="${lang}"><head><title>Host</title><meta name="viewport" content="width=device-width">
          <script src="${server.url}/inbox.js" async></script>${head}</head><body>${body}</body></html>`,
      })
      return go(
        await browser.open('about:blank', {
          timezoneId: 'Europe/Berlin',
          locale: 'en-US',
          hasFixedTime: true,
          ...options,
        }),
        origin + address,
      )
    },
    async openBeside(context, url) {
      return go(await context.newPage(), url)
    },
  }
}
