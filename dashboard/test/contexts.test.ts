import { expect, test } from 'vitest'
import { obstacles, takePictures, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

test('an empty list shows the request that fills it', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, path: '/contexts' })
  await page.getByRole('heading', { name: 'No contexts yet' }).waitFor()
  await takePictures(page, 'contexts-empty')
  expect(await obstacles(page)).toEqual([])
})

test('a context is made, changed and deleted, and comes back when that is undone', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'editor', path: '/contexts' })
  await page.getByRole('heading', { name: 'No contexts yet' }).waitFor()
  await page.locator('body').press('c')
  const dialog = page.getByRole('dialog', { name: 'New context' })
  await dialog.getByLabel('Id').fill('Not Good')
  await dialog.getByRole('button', { name: 'Create context' }).click()
  await dialog.getByText(/must be lowercase alphanumeric/).waitFor()
  await dialog.getByLabel('Id').fill('acme')
  await dialog.getByRole('textbox', { name: 'Data' }).fill('{"name": "Acme"}')
  await dialog.getByRole('button', { name: 'Create context' }).click()

  const sheet = page.getByRole('dialog', { name: 'tenant:acme' })
  const data = sheet.getByRole('textbox', { name: 'Data' })
  await data.fill('{"name": ')
  await sheet.getByText('This is not JSON yet').waitFor()
  expect(await sheet.getByRole('button', { name: 'Save data' }).isDisabled()).toBe(true)
  await data.fill('{"name": "Acme 🚀", "plan": "pro"}')
  await sheet.getByRole('button', { name: 'Save data' }).click()
  await page.getByText('Context saved').waitFor()
  await takePictures(page, 'context')
  expect(await obstacles(page)).toEqual([])
  expect((await development.get('/v2/contexts/tenant/acme')).body.data).toEqual({ name: 'Acme 🚀', plan: 'pro' })

  await page.reload()
  await sheet.getByRole('button', { name: 'Actions for tenant:acme' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'No contexts yet' }).waitFor()
  expect((await development.get('/v2/contexts/tenant/acme')).status).toBe(404)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: 'acme' }).waitFor()
  expect((await development.get('/v2/contexts/tenant/acme')).body.data).toEqual({ name: 'Acme 🚀', plan: 'pro' })
})

test('search, type and order are in the URL and stay after a reload', async () => {
  const { development } = await server.freshOrganization()
  for (const id of [
    'acme',
    'globex',
    'a-very-long-name-of-a-tenant-that-does-not-fit-into-any-column-of-any-table-at-all',
  ])
    await development.post('/v2/contexts', { type: 'tenant', id, data: { name: id, region: 'eu-west-1', seats: 12 } })
  await development.post('/v2/contexts', { type: 'app', id: 'mobile' })
  const { page } = await open({ api: development, path: '/contexts' })
  const ids = () => page.getByRole('table', { name: 'Contexts' }).locator('tbody td:first-child').allTextContents()
  await expect.poll(ids).toHaveLength(4)
  await takePictures(page, 'contexts')
  expect(await obstacles(page)).toEqual([])
  await page.getByRole('button', { name: 'Type is' }).click()
  await page.getByRole('textbox', { name: 'Type is' }).fill('app')
  await page.keyboard.press('Enter')
  await expect.poll(ids).toEqual(['mobile'])
  await page.reload()
  await expect.poll(ids).toEqual(['mobile'])
  await page.getByRole('button', { name: 'Remove the filter Type is' }).click()
  await page.getByRole('searchbox', { name: 'Search contexts' }).fill('glob')
  await expect.poll(ids).toEqual(['globex'])
  await page.getByRole('searchbox', { name: 'Search contexts' }).fill('nothing')
  await page.getByRole('heading', { name: 'No context fits' }).waitFor()
})

test('a viewer reads and cannot change; a context that is not there is said to be so', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/contexts', { type: 'tenant', id: 'acme', data: { name: 'Acme' } })
  const { page } = await open({ api: development, role: 'viewer', path: '/contexts/tenant:acme?new=true' })
  const sheet = page.getByRole('dialog', { name: 'tenant:acme' })
  await sheet.getByRole('textbox', { name: 'Data' }).waitFor()
  for (const name of ['Save data', 'Actions for tenant:acme', 'New context'])
    expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0])
  expect(await page.getByRole('dialog').count()).toBe(1)
  await page.goto(`${server.url}/contexts/tenant:nobody`)
  await page.getByRole('alert').getByRole('heading', { name: 'Not here' }).waitFor()
})
