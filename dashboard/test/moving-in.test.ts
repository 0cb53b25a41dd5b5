// Moving in: the commands with the key filled in, imports with their bars, and the shadow report. files.md §10.
import { expect, test } from 'vitest'
import { inApp, makeWorkflow, trigger } from '../../server/test/runs.ts'
import { makeShadow, reportOf, settle } from '../../server/test/shadow.ts'
import { axeViolations, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard({ allowPrivateAddresses: true })

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

test('in front of another service, each workflow shows how clean it is, its differences, and the switch', async () => {
  const { upstream, front, here } = await makeShadow(server)
  for (const [workflowId, there, own] of [
    ['comments', 'New comment', 'New comment'],
    ['a-workflow-with-a-very-long-name-that-has-to-fit-somewhere', 'مرحبا 👋', 'مرحبا'],
  ] as const) {
    await makeWorkflow(upstream, workflowId, [inApp(there)])
    await makeWorkflow(here, workflowId, [inApp(own)])
    await trigger(front, workflowId, 'ada', { transactionId: `of-${workflowId}` })
  }
  await settle(server)
  expect(await reportOf({ upstream, front, here })).toMatchObject({ compared: 2, same: 1, different: 1 })
  // Its page goes by the real time.
  const longAgo = new Date(Date.now() - 8 * 86_400_000)
  await server.database.pool.query('UPDATE shadow_triggers SET created_at = $1 WHERE environment_id = $2', [
    ...[longAgo, front.environmentId],
  ])
  const { page } = await open({ api: front, role: 'admin', path: `/moving-in?env=shadow` })
  const rows = page.getByRole('list', { name: 'Workflows' }).getByRole('listitem')
  await rows.filter({ hasText: 'comments' }).getByText('Clean for 8 days').waitFor()
  const long = rows.filter({ hasText: 'a-workflow-with' })
  await long.getByText('Differs').waitFor()
  await page.getByText('2 triggers in 30 days: 2 compared, 1 the same, 1 different, 0 to come.').waitFor()
  await page.getByText('Differences: 1 with other content.').waitFor()
  await takeScreenshots(page, 'moving-in-shadow')
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page, 'main')).toBe(0)
  await onDesktop(page)

  await long.getByRole('button', { name: /^Differences of/ }).click()
  const sheet = page.getByRole('dialog', { name: 'Differences' })
  await sheet.getByText('Has other content').waitFor()
  await sheet.getByText('مرحبا 👋').waitFor()
  await page.waitForURL(/differences=a-workflow/)
  await takeScreenshots(page, 'moving-in-differences')
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page, '[role=dialog] :has(> div > [aria-label=Differences])')).toBe(0)
  await onDesktop(page)
  await page.keyboard.press('Escape')

  await page.getByRole('switch', { name: 'Deliver comments here' }).click()
  await rows.filter({ hasText: 'comments' }).getByText('Live here').waitFor()
  expect((await here.get('/v2/shadow')).body.live).toEqual(['comments'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await rows.filter({ hasText: 'comments' }).getByText('Passed on').waitFor()
  expect((await here.get('/v2/shadow')).body.live).toEqual([])

  const editor = await open({ api: front, role: 'editor', path: '/moving-in?env=shadow' })
  await editor.page.getByRole('switch', { name: 'Deliver comments here' }).waitFor()
  expect(await editor.page.getByRole('switch', { name: 'Deliver comments here' }).isDisabled()).toBe(true)
})

test('a shadow environment is made on the page, with what servers are given', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'admin', path: '/moving-in' })
  await page.getByRole('button', { name: 'New shadow environment' }).click()
  const dialog = page.getByRole('dialog', { name: 'New shadow environment' })
  await dialog.getByLabel('Address of the old service').fill(server.url)
  await dialog.getByLabel('Its API key').fill(development.key)
  await takeScreenshots(page, 'moving-in-new-shadow')
  await dialog.getByRole('button', { name: 'Create environment' }).click()
  await dialog.getByText(/NOVU_SECRET_KEY=[0-9a-f]{32}/).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Open it' }).click()
  await page.waitForURL(/env=shadow/)
  await page.getByRole('heading', { name: 'No trigger yet' }).waitFor()
  await takeScreenshots(page, 'moving-in-shadow-empty')
  const listed = (await development.get('/v1/environments')).body
  expect(listed.map(({ name, type }: { name: string; type: string }) => [name, type])).toContainEqual(['Shadow', 'dev'])
})
