import { beforeEach, expect, test } from 'vitest'
import { useVendor } from '../../server/test/vendor.ts'
import { makeEndpoint, verified } from '../../server/test/webhook-receiver.ts'
import { obstacles, takePictures, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard({ allowPrivateAddresses: true })
const vendor = useVendor()
beforeEach(() => vendor.plays(() => ({ body: { ok: true } })))

test('an endpoint is made, tried out with a signed event, and its deliveries are there to be read', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'admin', path: '/webhooks' })
  await page.getByRole('heading', { name: 'Nobody is told what happens' }).waitFor()
  await takePictures(page, 'webhooks-empty')
  expect(await obstacles(page)).toEqual([])

  await page.keyboard.press('c')
  await page.getByLabel('URL').fill('ftp://example.com')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await page.getByText(/must be an http or https URL/).waitFor()
  await page.getByLabel('URL').fill(`${vendor.url}/hooks`)
  await page.getByLabel('Description').fill('Buchhaltung 🧾')
  await page.getByRole('button', { name: 'Only some' }).click()
  await page.getByLabel(/^subscriber\.created/).click()
  await takePictures(page, 'webhook-new')
  expect(await obstacles(page)).toEqual([])
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  const shown = page.getByRole('dialog', { name: 'The endpoint is there' })
  const secret = (await shown.locator('pre').textContent()) ?? ''
  expect(secret).toMatch(/^whsec_/)
  await takePictures(page, 'webhook-secret')
  await shown.getByRole('button', { name: 'I have kept it' }).click()

  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByText('A test event is on its way').waitFor()
  await server.drain()
  expect(vendor.asked.map((asked) => verified(asked, secret, server.clock.now()).type)).toEqual(['webhook.test'])

  vendor.plays(() => ({ status: 503, body: 'Come back later' }))
  await development.post('/v2/subscribers', { subscriberId: 'ada' })
  await server.drain()
  await page.reload()
  await page.getByRole('button', { name: /^webhook\.test.*Taken/ }).waitFor()
  await page.getByRole('button', { name: /^subscriber\.created.*Waiting/ }).click()
  await page.getByText('Come back later').waitFor()
  await page.getByText('"subscriberId"').first().waitFor()
  await takePictures(page, 'webhook-deliveries')
  expect(await obstacles(page)).toEqual([])

  vendor.plays(() => ({ body: { ok: true } }))
  vendor.asked.length = 0
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('It is sent once more').waitFor()
  await server.drain()
  expect(vendor.asked).toHaveLength(1)
  await page.getByRole('button', { name: /^subscriber\.created.*Taken/ }).waitFor()
  expect(await page.content()).not.toContain(secret)
})

test('what an endpoint missed is replayed, its secret is replaced with an overlap, and it can be deleted', async () => {
  const { development } = await server.freshOrganization()
  await makeEndpoint(development, vendor)
  await development.post('/v2/subscribers', { subscriberId: 'ada' })
  await server.drain()
  const { id } = await makeEndpoint(development, vendor, { description: 'Later' })
  vendor.asked.length = 0
  const { page, person } = await open({ api: development, path: '/webhooks' })
  await page.getByRole('link', { name: /Later/ }).click()
  await page.getByText('Nothing was sent to it yet').waitFor()
  await takePictures(page, 'webhooks')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Replay…' }).click()
  await page.getByLabel('Since').fill('2020-01-01T00:00')
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText('One event is on its way').waitFor()
  await server.drain()
  expect(vendor.asked).toHaveLength(1)

  await page.getByRole('tab', { name: 'Signing' }).click()
  await page.getByRole('button', { name: 'New secret' }).click()
  await page
    .getByRole('dialog', { name: 'The new secret' })
    .getByText(/^whsec_/)
    .waitFor()
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByText(/^The secret before it signs too/).waitFor()
  await takePictures(page, 'webhook-signing')
  expect(await obstacles(page)).toEqual([])

  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('Description').fill('Renamed')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await person.get(`/v2/webhooks/endpoints/${id}`)).body.description).toBe('Renamed')
  await page.getByRole('switch', { name: 'On' }).click()
  await page.getByText('Off; it is told nothing').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete endpoint' }).click()
  await page.getByText('Endpoint deleted').waitFor()
  expect(new URL(page.url()).pathname).toBe('/webhooks')
  expect((await person.get(`/v2/webhooks/endpoints/${id}`)).status).toBe(404)
})

test('a viewer reads the log and changes nothing; an endpoint that is not there says so', async () => {
  const { development } = await server.freshOrganization()
  const { id } = await makeEndpoint(development, vendor)
  const { page } = await open({ api: development, role: 'viewer', path: `/webhooks/${id}?tab=settings` })
  await page.getByText('You can look at it. Admins and owners change webhooks.').waitFor()
  expect(await page.getByLabel('URL').isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Test', exact: true }).count()).toBe(0)
  await page.goto(`${server.url}/webhooks/${'a'.repeat(24)}`)
  await page
    .getByRole('alert')
    .getByText(/not found/)
    .waitFor()
})

test('on a phone nothing has to be scrolled sideways', async () => {
  const { development } = await server.freshOrganization()
  const { id } = await makeEndpoint(development, vendor)
  const options = { viewport: { width: 360, height: 740 } }
  const { page } = await open({ api: development, path: `/webhooks/${id}`, options })
  await page.getByText('Nothing was sent to it yet').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
})
