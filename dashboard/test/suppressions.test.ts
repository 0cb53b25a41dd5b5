import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { axeViolations, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, browser, open } = useDashboard()

test('an address is added, found, shown on its run, and removed', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'admin', path: '/suppressions' })
  await page.getByRole('heading', { name: 'Nobody is held back' }).waitFor()
  await page.getByText('Hard bounces, complaints and unsubscriptions appear here.').waitFor()
  expect(await axeViolations(page)).toEqual([])

  await page.locator('body').press('c')
  const dialog = page.getByRole('dialog', { name: 'Add an address' })
  await dialog.getByLabel('Address').fill('nobody')
  await dialog.getByRole('button', { name: 'Add address' }).click()
  await dialog.getByText('"nobody" is no address for email').waitFor()
  await dialog.getByLabel('Address').fill('Ada@example.com')
  await dialog.getByLabel('Note').fill('By phone')
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Add address' }).click()
  await page.getByRole('link', { name: 'ada@example.com' }).waitFor()
  await development.post('/v1/suppressions', { channel: 'sms', address: '+14155550123', reason: 'stop' })
  await takeScreenshots(page, 'suppressions')

  const addresses = () =>
    page.getByRole('table', { name: 'Suppressions' }).locator('tbody td:first-child').allTextContents()
  await page.getByRole('searchbox', { name: 'Search by address' }).fill('ADA@example.com')
  await page.waitForURL(({ search }) => search.includes('ADA'))
  await expect.poll(addresses).toEqual(['ada@example.com'])
  await page.reload()
  await expect.poll(addresses).toEqual(['ada@example.com'])
  await page.getByRole('searchbox', { name: 'Search by address' }).fill('')
  await expect.poll(addresses).toHaveLength(2)
  await page.getByRole('button', { name: 'Holds back' }).click()
  await page.getByRole('option', { name: 'One workflow' }).click()
  await page.waitForURL(({ search }) => search.includes('scope=workflow'))
  await page.getByRole('heading', { name: 'No entry matches' }).waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect.poll(addresses).toHaveLength(2)
  await page.getByRole('button', { name: 'Expired too' }).click()
  await page.waitForURL(({ search }) => search.includes('expired=true'))

  const steps = [{ name: 'Mail', type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }]
  await development.post('/v2/workflows', { name: 'News', workflowId: 'news', active: true, steps })
  const to = { subscriberId: 'ada', email: 'ada@example.com' }
  await development.post('/v1/events/trigger', { name: 'news', to, transactionId: 'held' })
  await server.drain()
  const [run] = (await development.get('/v1/notifications?transactionId=held')).body.data
  await page.goto(`${server.url}/activity/${run._id}`)
  await page
    .getByText(/is on the suppression list/)
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'Open the entry' }).first().click()
  const sheet = page.getByRole('dialog', { name: 'ada@example.com' })
  await sheet.getByText('By phone').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'suppression')
  await sheet.getByRole('button', { name: 'Remove entry' }).click()
  await page.getByRole('button', { name: 'Remove entry' }).last().click()
  await expect.poll(addresses).toEqual(['+14155550123'])
})

test('a file is imported with a report, and the list exported', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'admin', path: '/suppressions?import=true' })
  const dialog = page.getByRole('dialog', { name: 'Import addresses' })
  await dialog.getByLabel('File to import').setInputFiles({
    ...{ name: 'list.csv', mimeType: 'text/csv' },
    buffer: Buffer.from(`address\nada@example.com\n${'nobody\n'.repeat(103)}`),
  })
  await dialog.getByText('1 added, 0 there before, 103 rejected').waitFor()
  await dialog.getByText('…and 3 more. Correct these, and import the file again.').waitFor()
  await dialog.getByText('Line 3: "nobody" is no address for email').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('link', { name: 'ada@example.com' }).waitFor()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ])
  expect(await readFile(await file.path(), 'utf8')).toMatch(/^channel,address,.*\r\nemail,ada@example\.com,manual,all,/)
})

test('the page of a subscriber tells what holds them back, their pause, and when it could not be read', async () => {
  const { development } = await server.freshOrganization()
  const steps = [{ name: 'Mail', type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }]
  await development.post('/v2/workflows', { name: 'News', workflowId: 'news', active: true, steps })
  await development.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
  const refusal = { reason: 'unsubscribe', scope: { type: 'workflow', workflowId: 'news' } }
  await development.post('/v1/suppressions', { channel: 'email', address: 'ada@example.com', ...refusal })
  const snoozedUntil = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
  await development.patch('/v2/subscribers/ada/preferences', { snoozedUntil })
  const { page } = await open({ api: development, role: 'admin', path: '/suppressions' })
  await page.route('**/v1/suppressions?**', (route) => route.fulfill({ status: 500, json: { message: 'broken' } }))
  await page.goto(`${server.url}/subscribers/ada?tab=preferences`)
  const held = page.getByRole('region', { name: 'Held back' })
  await held.getByText(/^They have paused commercial messages until \w+ \d+, \d{4}/).waitFor()
  await held.getByRole('button', { name: 'Try again' }).waitFor()
  expect(await held.getByText('Nothing is held back').count()).toBe(0)
  await page.unroute('**/v1/suppressions?**')
  await held.getByRole('button', { name: 'Try again' }).click()
  await held.getByRole('link', { name: 'ada@example.com' }).waitFor()
  await takeScreenshots(page, 'held-back')
  // To switch the workflow on ends the refusal, and the entry goes at once.
  await page.getByRole('switch', { name: 'News: Email' }).click()
  await page.getByRole('switch', { name: 'News: Email' }).click()
  await expect.poll(() => held.getByRole('link', { name: 'ada@example.com' }).count()).toBe(0)
})

test('viewers see the list, and change nothing', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v1/suppressions', { channel: 'email', address: 'ada@example.com' })
  const { page } = await open({ api: development, role: 'viewer', path: '/suppressions' })
  await page.getByRole('link', { name: 'ada@example.com' }).click()
  await page.getByRole('dialog', { name: 'ada@example.com' }).getByText('Added by hand').first().waitFor()
  for (const name of ['Add an address', 'Import', 'Export', 'Remove entry'])
    expect(await page.getByRole('button', { name }).count()).toBe(0)
})

async function prepared() {
  const { development: api } = await server.freshOrganization()
  const steps = [{ name: 'Mail', type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }]
  const commercial = { messageClass: 'commercial', consentCategory: 'offers' }
  await api.post('/v2/workflows', { name: 'News', workflowId: 'news', active: true, steps, ...commercial })
  await api.post('/v2/workflows', { name: 'Receipts', workflowId: 'receipts', active: true, steps })
  await api.patch(`/v2/environments/${api.environmentId}/consent`, {
    brand: { name: 'Acme', primaryColor: '#ffcc00', postalAddress: '1 Main Street' },
  })
  await api.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
  const { url } = (await api.post('/v2/subscribers/ada/preferences-link', {})).body
  return { api, path: server.url + new URL(url).pathname }
}

const scopes = async (api: Awaited<ReturnType<typeof prepared>>['api']) =>
  (await api.get('/v1/suppressions')).body.data.map(({ scope }: { scope: object }) => scope)

test('the page of preferences works without JavaScript, for everybody', async () => {
  const { api, path } = await prepared()
  const page = await browser.open(path, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('checkbox', { name: 'News: Email' }).uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('status').getByText('Saved').waitFor()
  expect(await scopes(api)).toEqual([{ type: 'workflow', workflowId: 'news' }])
  expect(await page.getByRole('checkbox', { name: 'Receipts: Email' }).isChecked()).toBe(true)
})

test('with JavaScript the element takes the place of the form, and both pages of links pass axe on a phone', async () => {
  const { api, path } = await prepared()
  const page = await browser.open(path, { viewport: { width: 360, height: 740 } })
  await page.locator('belfry-preferences').waitFor()
  await page.getByText('News').first().waitFor()
  await takeScreenshots(page, 'preference-page')
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page)).toBe(0)
  await page.getByRole('button', { name: /all commercial/i }).click()
  await page.waitForLoadState()
  expect(await scopes(api)).toContainEqual({ type: 'commercial' })
  await api.post('/v1/events/trigger', { name: 'receipts', to: 'ada' })
  await page.goto(`${server.url}/l/preview`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await axeViolations(page)).toEqual([])
})
