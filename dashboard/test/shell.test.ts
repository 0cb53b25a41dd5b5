import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { addWorkflow } from '../../server/test/workflows.ts'
import {
  axeViolations,
  cutTexts,
  findNewTexts,
  follow,
  newColorViolations,
  newStructureViolations,
  overflowOnPhone,
  takeScreenshot,
  takeScreenshots,
  useDashboard,
} from './dashboard.ts'

const { server, open } = useDashboard()
const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
const light = 'rgb(255, 255, 255)'
const dark = 'rgb(12, 12, 14)'

describe('the shell', () => {
  test('an unknown path shows an error inside the shell, with a link home', async () => {
    const { page } = await open({ path: '/no/such/page' })
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await takeScreenshots(page, 'not-found')
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('link', { name: 'Go home' }).click()
    await page.waitForURL(/\/(start|activity)/)
  })

  test('the sidebar has the pages the role may use', async () => {
    const linksOf = async (role: 'viewer' | 'admin') => {
      const { page } = await open({ role, path: '/account' })
      await page.getByRole('heading', { name: 'Your account' }).waitFor()
      return page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
    }
    const forViewers = await linksOf('viewer')
    expect(forViewers).toEqual(expect.arrayContaining(['Workflows', 'Activity', 'Settings']))
    expect(forViewers).not.toContain('API keys')
    expect(await linksOf('admin')).toEqual(expect.arrayContaining(['API keys', 'Audit']))
  })
})

test('the frame is there, in the chosen theme, before any file has loaded', async () => {
  const { page } = await open({ path: '/account' })
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  await page.evaluate("localStorage.setItem('belfry-theme', 'dark')")
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/assets/**', async (route) => {
    await held
    await route.continue()
  })
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(`${server.url}/account`, { waitUntil: 'commit' })
  await page.getByRole('status', { name: 'Loading' }).waitFor()
  await page.locator('.first-side').waitFor()
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(dark)
  expect(complaints).toEqual([])
  release()
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  expect(await page.locator('.first').count()).toBe(0)
})

test('the arrow goes from the search field into the rows and back, and ? shows all keys', async () => {
  const { development } = await server.freshOrganization()
  for (const subscriberId of ['ada', 'grace']) await development.post('/v2/subscribers', { subscriberId })
  const { page } = await open({ api: development, path: '/subscribers' })
  await page.getByRole('link', { name: 'ada' }).waitFor()
  const focused = () => page.evaluate<string>('document.activeElement.textContent || document.activeElement.type')
  await page.keyboard.press('/')
  await page.keyboard.press('ArrowDown')
  const first = await focused()
  await page.keyboard.press('ArrowDown')
  const second = await focused()
  expect([first, second].map((text) => /ada|grace/.exec(text)?.[0]).sort()).toEqual(['ada', 'grace'])
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  expect(await focused()).toBe('search')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('From the search field into the rows').waitFor()
  await takeScreenshots(page, 'keys')
  expect(await axeViolations(page)).toEqual([])
})

describe('when something goes wrong', () => {
  test('a page whose file an update removed asks to reload; the shell stays', async () => {
    const { page } = await open({ path: '/start' })
    await page.getByRole('heading', { name: 'Send your first notifications' }).waitFor()
    await page.route('**/assets/account-*.js', (route) => route.abort())
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Your account' }).click()
    await page.getByRole('heading', { name: 'Belfry was updated' }).waitFor()
    await takeScreenshots(page, 'updated')
    await page.unroute('**/assets/account-*.js')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
  })

  test('hole 5: after the first sign-in by identity provider a person reads that earlier passwords and sessions ended', async () => {
    const { page } = await open({ path: '/account?linked=true' })
    await page.getByRole('status').getByText('The password and the sessions that this account had before').waitFor()
    expect(await axeViolations(page)).toEqual([])
  })

  test('a link that is followed while the first page is being chosen opens its page', async () => {
    const { page } = await open({ path: '/account' })
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    const gates = ['**/v1/notifications*', '**/assets/topics-*.js'].map((pattern) => {
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      const asked = page.waitForRequest(pattern)
      return { pattern, held, asked, release }
    })
    for (const { pattern, held } of gates)
      await page.route(pattern, async (route) => {
        await held
        await route.continue()
      })
    const [choice, file] = gates
    await follow(page, '/')
    await choice?.asked
    await follow(page, '/topics')
    await file?.asked
    const chosen = page.waitForResponse('**/v1/notifications*')
    choice?.release()
    await (await chosen).finished()
    file?.release()
    await page.getByRole('heading', { name: 'Topics', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/topics')
  })

  test('an unreachable server is named, and Try again works', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/account' })
    await page.getByText('this browser', { exact: true }).waitFor()
    await page.route('**/v1/notifications*', (route) => route.abort())
    await follow(page, '/')
    await page.getByRole('alert').filter({ hasText: 'Belfry cannot be reached.' }).waitFor()
    await takeScreenshots(page, 'unreachable')
    await page.unroute('**/v1/notifications*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.waitForURL(/\/start/)
  })
})

describe('the theme', () => {
  test('follows the system until the user chooses one, which a reload keeps; axe finds nothing in either', async () => {
    const { page } = await open({ path: '/account', options: { colorScheme: 'dark' } })
    await page.getByText('this browser', { exact: true }).waitFor()
    expect(await background(page)).toBe(dark)
    expect(await axeViolations(page)).toEqual([])
    await follow(page, '/start')
    await page.getByRole('button', { name: 'Send' }).first().waitFor()
    await page.getByText('ApiKey').waitFor()
    expect(await axeViolations(page)).toEqual([])

    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitemradio', { name: 'Light' }).click()
    await expect.poll(() => background(page)).toBe(light)
    // While the menu closes, the page behind it is hidden from screen readers.
    await page.getByRole('menu').waitFor({ state: 'detached' })
    expect(await axeViolations(page)).toEqual([])
    await follow(page, '/account')
    await page.getByText('this browser', { exact: true }).waitFor()
    expect(await axeViolations(page)).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    expect(await background(page)).toBe(light)
    await page.getByRole('button', { name: 'System', exact: true }).click()
    await expect.poll(() => background(page)).toBe(dark)
  })
})

describe('environments', () => {
  test('the chosen one is in the URL, applies to every page and is kept for the next visit; a phone has the pages in a drawer', async () => {
    const { development, production } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/account' })
    await page.waitForURL(/env=development/)
    await page.getByRole('button', { name: 'Environment: Development' }).click()
    await takeScreenshots(page, 'environments')
    await page.getByRole('menuitem', { name: 'Production' }).click()
    await page.getByRole('button', { name: 'Environment: Production' }).waitFor()
    await page.waitForURL(/\/account\?env=production/)

    const asked = page.waitForRequest((request) => request.url().includes('/v1/notifications'))
    await page.goto(`${server.url}/`)
    expect((await asked).headers()['belfry-environment']).toBe(production.environmentId)
    await page.waitForURL(/env=production/)
    await page.goto(`${server.url}/account?env=development`)
    await page.getByRole('button', { name: 'Environment: Development' }).waitFor()

    expect(await overflowOnPhone(page)).toBe(0)
    await page.getByRole('button', { name: 'Open the menu' }).click()
    const drawer = page.getByRole('dialog')
    await takeScreenshots(page, 'drawer')
    await drawer.getByRole('link', { name: 'Topics' }).click()
    await drawer.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe('/topics')
  })
})

describe('the palette', () => {
  test('opens pages, workflows and subscribers by part of their name, and runs by their transaction', async () => {
    const { development } = await server.freshOrganization()
    await addWorkflow(server, development.environmentId, 'comment-digest', { name: 'Comment digest' })
    await addWorkflow(server, development.environmentId, 'welcome', { name: 'Welcome', stepTypes: ['in_app'] })
    await development.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace' })
    await development.post('/v1/events/trigger', { name: 'welcome', to: 'ada', transactionId: 'order-4711' })
    await server.drain()
    const { page } = await open({ api: development, path: '/account' })
    await page.getByRole('heading', { name: 'Your account' }).waitFor()

    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: /Search/ })
    await field.fill('comment')
    await page.getByRole('option', { name: /Comment digest/, selected: true }).waitFor()
    await takeScreenshots(page, 'palette')
    expect(await axeViolations(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/workflows\/comment-digest/)

    await page.getByRole('button', { name: 'Search' }).click()
    await field.fill('lovelace')
    await page.getByRole('option', { name: /Ada Lovelace/ }).click()
    await page.waitForURL(/\/subscribers\/ada/)
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()

    await page.keyboard.press('Control+k')
    await field.fill('webh')
    await page.getByRole('option', { name: 'Webhooks', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/webhooks/)

    await page.keyboard.press('Control+k')
    await field.fill('nobody of this name')
    await page.getByText(/Nothing matches/).waitFor()
    await page.evaluate('addEventListener("keydown", ({ key }) => { window.lastKey = key }, true)')
    await page.keyboard.press('Escape')
    expect(await page.evaluate('window.lastKey')).toBe('Escape')
    await field.waitFor({ state: 'detached' })

    await page.keyboard.press('Control+k')
    await field.fill('order-4711')
    await page.getByRole('option', { name: /Welcome.*order-4711/ }).click()
    await page.waitForURL(/\/activity\/[0-9a-f]{24}/)
  })
})

test('the first load is small', async () => {
  const { page } = await open({ role: 'none', path: '/sign-in', options: { isFirstVisit: true } })
  await page.getByRole('heading').first().waitFor()
  const names = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  const files = names.filter((name) => name.includes('/assets/'))
  expect(files.filter((file) => file.endsWith('.js')).length).toBeLessThan(8)
  const sizes = files.map(async (file) => {
    const { headers } = await fetch(file, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })
    return Number(headers.get('content-length'))
  })
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  expect(total).toBeGreaterThan(50_000)
  expect(total).toBeLessThan(350_000)
})

describe('every page', () => {
  const german = 'Benachrichtigungseinstellungsänderungsbestätigung für Donaudampfschifffahrtsgesellschaftskapitäne'
  const loading = '[aria-busy=true], [aria-label=Loading], .animate-late'
  const arabic = 'إشعار تأكيد تغيير إعدادات الإشعارات لجميع المشتركين في الخدمة'

  /** One of everything, with long names. @returns the pages that show it */
  async function seed(): Promise<{ api: Api; paths: string[] }> {
    const { development: api } = await server.freshOrganization()
    const made = async (answer: Promise<{ status: number; text: string; body: any }>) => {
      const { status, text, body } = await answer
      expect(status, text).toBeLessThan(300)
      return body
    }
    const subscriberId = 'donaudampfschifffahrtskapitaen-0123456789abcdef'
    await made(
      api.post('/v2/subscribers', {
        ...{ subscriberId, firstName: 'Maximiliane-Wilhelmine', lastName: 'von und zu Hohenlohe-Schillingsfürst' },
        ...{ email: 'maximiliane.von.und.zu.hohenlohe-schillingsfuerst@example.com', phone: '+4915112345678' },
      }),
    )
    await made(
      api.post('/v2/subscribers', { subscriberId: 'ar', firstName: 'عبد الرحمن', lastName: 'بن عبد العزيز آل سعود' }),
    )
    const steps = [
      { name: german, stepId: 'mail', type: 'email', controlValues: { subject: german, body: `<p>${arabic}</p>` } },
      { name: arabic, stepId: 'inbox', type: 'in_app', controlValues: { subject: arabic, body: german } },
      { name: 'Warten', stepId: 'wait', type: 'delay', controlValues: { type: 'regular', amount: 3, unit: 'days' } },
    ]
    const tags = ['Sicherheitsbenachrichtigungen', 'Rechnungswesen', 'mehr']
    const german1 = { name: german, workflowId: 'bestaetigung', active: true, tags, isTranslationEnabled: true, steps }
    await made(api.post('/v2/workflows', german1))
    await made(api.post('/v2/workflows', { name: arabic, workflowId: 'arabic', active: true, steps: steps.slice(1) }))
    for (const to of [subscriberId, 'ar'])
      for (const name of ['bestaetigung', 'arabic'])
        await made(api.post('/v1/events/trigger', { name, to, payload: {} }))
    await server.drain()
    const { data: runs } = await made(api.get('/v1/notifications?limit=5'))
    await made(api.post('/v2/topics', { key: 'donaudampfschifffahrt', name: german }))
    await made(api.post('/v2/topics/donaudampfschifffahrt/subscriptions', { subscriberIds: [subscriberId, 'ar'] }))
    await made(
      api.post('/v2/contexts', { type: 'tenant', id: 'donaudampfschifffahrtsgesellschaft', data: { name: arabic } }),
    )
    await made(api.post('/v2/layouts', { layoutId: 'lang', name: german }))
    await made(
      api.post('/v2/translations', {
        ...{ resourceId: 'bestaetigung', resourceType: 'workflow', locale: 'en_US' },
        content: { titel: german, gruss: arabic },
      }),
    )
    return {
      api,
      paths: [
        ...['/start', '/workflows', '/workflows/bestaetigung', '/workflows/bestaetigung?step=mail', '/activity'],
        ...[
          `/activity/${runs[0]._id}`,
          '/deliveries',
          '/refused-calls',
          '/sandbox',
          '/subscribers',
          `/subscribers/${subscriberId}`,
        ],
        ...[`/subscribers/${subscriberId}?tab=preferences`, '/topics', '/topics/donaudampfschifffahrt', '/contexts'],
        ...['/layouts', '/layouts/lang', '/translations', '/translations/workflow:bestaetigung', '/integrations'],
        ...['/environments', '/approvals', '/variables', '/api-keys', '/webhooks', '/team', '/audit', '/settings'],
        '/account',
      ],
    }
  }

  /** A list and what is open beside it are one page; an editor is another. */
  const pageOf = (path: string) => /^\/(?:(?:workflows|layouts)\/)?[^/?]+/.exec(path)?.[0]

  /** Follows a link, and waits until the page has all it shows. */
  async function show(page: Page, path: string) {
    const isOther = pageOf(path) !== pageOf(new URL(page.url()).pathname)
    // Every page sets the title when it appears.
    if (isOther) await page.evaluate("document.title = ''")
    await follow(page, path)
    if (isOther) await expect.poll(() => page.title(), { timeout: 20_000 }).not.toBe('')
    await expect.poll(() => page.locator(loading).count(), { timeout: 20_000 }).toBe(0)
  }

  test('cuts no text at four widths, and has no fault for axe at any of them in either theme', {
    timeout: 600_000,
  }, async () => {
    const { api, paths } = await seed()
    const { page } = await open({ api, path: '/account' })
    const widths = [1440, 1280, 820, 390]
    const faults: string[] = []
    for (const path of paths) {
      await show(page, path)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        await takeScreenshot(page, `${path.replaceAll(/[^a-z]+/g, '-')}-${width}`)
        const add = (found: string[], what: string) =>
          faults.push(...found.map((one) => `${path} at ${width}${what}: ${one}`))
        add(await cutTexts(page), '')
        add(await newStructureViolations(page), ' (axe)')
        // Of all that axe looks for, the theme changes only the colors; and those of a text do not change with the width, nor in
        // what stays from one page to the next.
        if (!(await findNewTexts(page))) continue
        add(await newColorViolations(page), ' (axe)')
        await page.emulateMedia({ colorScheme: 'dark' })
        add(await newColorViolations(page), ' in the dark theme (axe)')
        await page.emulateMedia({ colorScheme: 'light' })
      }
    }
    // A text in a color that was not there before is looked at.
    await page.locator('h1').evaluate((heading) => heading.setAttribute('style', 'color: #bbb'))
    expect(await findNewTexts(page)).toBe(true)
    expect(await newColorViolations(page)).toEqual([expect.stringMatching(/^color-contrast: <h1/)])
    // And so is an element that has changed, or is shown only here.
    const noFaults = [await newStructureViolations(page), await newStructureViolations(page)].flat()
    expect(noFaults).toEqual([])
    await page.evaluate(
      `document.querySelector('main').insertAdjacentHTML('beforeend', '<button id="nameless" style="display: none"></button>')`,
    )
    expect(await newStructureViolations(page)).toEqual([])
    await page.evaluate(`document.styleSheets[0].insertRule('#nameless { display: block !important }')`)
    expect(await newStructureViolations(page)).toEqual([expect.stringMatching(/^button-name: <button id="nameless"/)])
    await page.setViewportSize({ width: 820, height: 900 })
    await show(page, '/workflows')
    await page.getByRole('cell', { name: german, exact: true }).hover()
    await expect.poll(() => page.getByTitle(german).count()).toBeGreaterThan(0)
    expect(faults).toEqual([])
  })
})
