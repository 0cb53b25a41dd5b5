// Moving in: the commands with the key filled in, and imports with their bars. files.md §10.
import { expect, test } from 'vitest'
import { axeViolations, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

test('the page has a command for every source, and shows how far imports are', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'owner', path: '/moving-in' })
  await page.getByRole('heading', { name: 'No import yet' }).waitFor()
  await page.getByText(`export BELFRY_API_KEY=${development.key}`).waitFor()
  await page.getByText('import novu --from https://api.novu.co --apply').waitFor()
  await takeScreenshots(page, 'moving-in-empty')
  expect(await axeViolations(page)).toEqual([])

  for (const [name, command] of [
    ['Knock', 'import knock ./knock --users'],
    ['Courier', 'import courier ./courier'],
    ['OneSignal', 'import onesignal subscriptions.csv'],
    ['Pinpoint', 'import pinpoint endpoints.json.gz'],
    ['CSV', 'import csv people.csv --map'],
  ] as const) {
    await page.getByRole('button', { name, exact: true }).click()
    await page.getByText(command).first().waitFor()
  }
  await page.waitForURL(/from=csv/)

  const progress = { importId: 'run-1', source: 'novu', found: { subscribers: 2_000, messages: 800 }, offset: 0 }
  const items = Array.from({ length: 500 }, (_, n) => ({ subscriberId: `s-${n}`, ...(n < 3 ? { email: 'no' } : {}) }))
  expect((await development.post('/v2/import/subscribers', { items, progress })).status).toBe(200)
  await page.reload()
  const bar = page.getByRole('progressbar', { name: 'Subscribers' })
  await bar.waitFor()
  expect(await bar.getAttribute('aria-valuenow')).toBe('500')
  await page.getByText('497 imported, 0 unchanged, 3 failed').waitFor()
  await page.getByText('Running').waitFor()
  await takeScreenshots(page, 'moving-in')
  expect(await axeViolations(page)).toEqual([])
})

test('who is no owner fills in a key of their own; a viewer is not offered the page', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'editor', path: '/moving-in' })
  await page.getByText('export BELFRY_API_KEY=YOUR_API_KEY').waitFor()
  const viewer = await open({ api: development, role: 'viewer', path: '/workflows' })
  await viewer.page.getByRole('link', { name: 'Workflows' }).first().waitFor()
  expect(await viewer.page.getByRole('link', { name: 'Moving in' }).count()).toBe(0)
})
