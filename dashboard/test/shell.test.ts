import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { addWorkflow } from '../../server/test/workflows.ts'
import { obstacles, takePictures, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()
const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
const light = 'rgb(255, 255, 255)'
const dark = 'rgb(12, 12, 14)'

describe('the frame', () => {
  test('a path that leads nowhere says so, inside the frame', async () => {
    const { page } = await open({ path: '/no/such/page' })
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await takePictures(page, 'not-found')
    expect(await obstacles(page)).toEqual([])
    await page.getByRole('link', { name: 'Go home' }).click()
    await page.waitForURL(/\/(start|activity)/)
  })

  test('shows what the role may use', async () => {
    const linksOf = async (role: 'viewer' | 'admin') => {
      const { page } = await open({ role, path: '/account' })
      await page.getByRole('heading', { name: 'Your account' }).waitFor()
      return page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
    }
    expect(await linksOf('viewer')).toEqual(expect.arrayContaining(['Workflows', 'Activity', 'Settings']))
    expect(await linksOf('viewer')).not.toContain('API keys')
    expect(await linksOf('admin')).toEqual(expect.arrayContaining(['API keys', 'Audit']))
  })

  test('on a phone, the pages are in a drawer that closes when one is chosen', async () => {
    const { page } = await open({ path: '/account', options: { viewport: { width: 360, height: 740 } } })
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    await page.getByRole('button', { name: 'Open the menu' }).click()
    const drawer = page.getByRole('dialog')
    await takePictures(page, 'drawer')
    await page.setViewportSize({ width: 360, height: 740 })
    await drawer.getByRole('link', { name: 'Topics' }).click()
    await drawer.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe('/topics')
  })
})

describe('when something goes wrong', () => {
  test('a page whose file is gone, after an update, asks to reload; the frame stays', async () => {
    const { page } = await open({ path: '/start' })
    await page.getByRole('heading', { name: 'Send your first notifications' }).waitFor()
    await page.route('**/assets/account-*.js', (route) => route.abort())
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Your account' }).click()
    await page.getByRole('heading', { name: 'Belfry was updated' }).waitFor()
    await takePictures(page, 'updated')
    await page.unroute('**/assets/account-*.js')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
  })

  test('a server that is away is named, and tried again when asked', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/account' })
    await page.getByText('this browser', { exact: true }).waitFor()
    await page.route('**/v1/notifications*', (route) => route.abort())
    await page.goto(`${server.url}/`)
    await page.getByRole('alert').filter({ hasText: 'Belfry cannot be reached.' }).waitFor()
    await takePictures(page, 'unreachable')
    await page.unroute('**/v1/notifications*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.waitForURL(/\/start/)
  })
})

describe('the theme', () => {
  test('is the system’s until another is chosen, which stays', async () => {
    const { page } = await open({ path: '/account', options: { colorScheme: 'dark' } })
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    expect(await background(page)).toBe(dark)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitemradio', { name: 'Light' }).click()
    await expect.poll(() => background(page)).toBe(light)
    await page.reload()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    expect(await background(page)).toBe(light)
    await page.getByRole('button', { name: 'System', exact: true }).click()
    await expect.poll(() => background(page)).toBe(dark)
  })

  test.each(['light', 'dark'] as const)('has no obstacles when %s', async (colorScheme) => {
    const { page } = await open({ path: '/account', options: { colorScheme } })
    await page.getByText('this browser', { exact: true }).waitFor()
    expect(await obstacles(page)).toEqual([])
    await page.goto(`${server.url}/start`)
    await page.getByRole('button', { name: 'Send' }).first().waitFor()
    await page.getByText('ApiKey').waitFor()
    expect(await obstacles(page)).toEqual([])
  })
})

describe('environments', () => {
  test('the one that is chosen stands in the URL, holds for every page, and for the next visit', async () => {
    const { development, production } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/account' })
    await page.waitForURL(/env=development/)
    await page.getByRole('button', { name: 'Environment: Development' }).click()
    await takePictures(page, 'environments')
    await page.getByRole('menuitem', { name: 'Production' }).click()
    await page.getByRole('button', { name: 'Environment: Production' }).waitFor()
    await page.waitForURL(/\/account\?env=production/)

    const asked = page.waitForRequest((request) => request.url().includes('/v1/notifications'))
    await page.goto(`${server.url}/`)
    expect((await asked).headers()['belfry-environment']).toBe(production.environmentId)
    await page.waitForURL(/env=production/)
    await page.goto(`${server.url}/account?env=development`)
    await page.getByRole('button', { name: 'Environment: Development' }).waitFor()
  })
})

describe('the palette', () => {
  test('goes to pages, workflows, subscribers and runs by a part of their name', async () => {
    const { development } = await server.freshOrganization()
    await addWorkflow(server, development.environmentId, 'comment-digest', { name: 'Comment digest' })
    await development.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace' })
    const { page } = await open({ api: development, path: '/account' })
    await page.getByRole('heading', { name: 'Your account' }).waitFor()

    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: /Search/ })
    await field.fill('comment')
    await page.getByRole('option', { name: /Comment digest/, selected: true }).waitFor()
    await takePictures(page, 'palette')
    expect(await obstacles(page)).toEqual([])
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
    await page.getByText(/Nothing is called/).waitFor()
    await page.evaluate('addEventListener("keydown", ({ key }) => { window.lastKey = key }, true)')
    await page.keyboard.press('Escape')
    expect(await page.evaluate('window.lastKey')).toBe('Escape')
    await field.waitFor({ state: 'detached' })
  })

  test('finds runs by their transaction', async () => {
    const { development } = await server.freshOrganization()
    await addWorkflow(server, development.environmentId, 'welcome', { name: 'Welcome', stepTypes: ['in_app'] })
    await development.post('/v1/events/trigger', { name: 'welcome', to: 'ada', transactionId: 'order-4711' })
    await server.drain()
    const { page } = await open({ api: development, path: '/account' })
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /Search/ }).fill('order-4711')
    await page.getByRole('option', { name: /Welcome.*order-4711/ }).click()
    await page.waitForURL(/\/activity\/[0-9a-f]{24}/)
  })
})

test('the first load is small', async () => {
  const { page } = await open({ role: 'none', path: '/sign-in' })
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
