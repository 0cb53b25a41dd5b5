import { expect, test } from 'vitest'
import { axeViolations, follow, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const html = (inner: string) => `<html><body><p>Acme — أهلاً 👋</p>${inner}</body></html>`

test('the default layout cannot be deleted; a search is in the URL; another layout can become the default, with Undo', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
  const { page } = await open({ api: development, role: 'editor', path: '/layouts' })
  await page.getByRole('link', { name: 'Default Layout Default' }).waitFor()
  await page.getByRole('button', { name: 'Actions for Default Layout' }).click()
  expect(
    await page.getByRole('menuitem', { name: 'The default cannot be deleted' }).getAttribute('aria-disabled'),
  ).toBe('true')
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox', { name: 'Search layouts' }).fill('nothing is called so')
  await page.getByRole('heading', { name: 'No layout matches' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'No layout matches' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear search' }).click()
  await page.getByRole('link', { name: 'Default Layout Default' }).waitFor()

  const isDefault = async () => (await development.get('/v2/layouts/letter')).body.isDefault
  await page.getByRole('button', { name: 'Actions for Letter' }).click()
  await page.getByRole('menuitem', { name: 'Make default' }).click()
  await page.getByRole('link', { name: 'Letter Default' }).waitFor()
  expect(await isDefault()).toBe(true)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: 'Default Layout Default' }).waitFor()
  await expect.poll(isDefault).toBe(false)
  await page.getByRole('link', { name: 'Letter' }).click()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Make default' }).click()
  await page.getByText('Every email without another layout.').waitFor()
})

test('a layout can be created, edited with a preview, saved once it is valid, duplicated and deleted', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'editor', path: '/layouts' })
  await page.getByRole('link', { name: 'Default Layout Default' }).waitFor()
  await page.locator('body').press('c')
  const dialog = page.getByRole('dialog', { name: 'New layout' })
  await dialog.getByLabel('Name').fill('Newsletter')
  expect(await dialog.getByLabel('Identifier').inputValue()).toBe('newsletter')
  await dialog.getByRole('button', { name: 'Create layout' }).click()
  await page.waitForURL(/\/layouts\/newsletter/)
  const preview = page.frameLocator('iframe')
  await preview.getByText('The content of the email').waitFor()
  await preview.getByText('Your company').waitFor()
  await takeScreenshots(page, 'layout')
  expect(await axeViolations(page)).toEqual([])

  const body = page.getByRole('textbox', { name: 'Body' })
  await body.fill(html('no place for the content'))
  await preview.getByText('no place for the content').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('The layout must show the content of the email').waitFor()
  await body.fill(html('{{content}} {{ subscriber.firstName'))
  await page.getByRole('region', { name: 'Preview' }).getByRole('alert').waitFor()
  await takeScreenshots(page, 'layout-broken')
  await body.fill(html('{{content}}'))
  await page.getByLabel('Name').fill('Newsletter 2026')
  await page.keyboard.press('Control+s')
  await page.getByRole('heading', { name: 'Newsletter 2026' }).waitFor()
  const stored = (await development.get('/v2/layouts/newsletter')).body
  expect(stored).toMatchObject({
    name: 'Newsletter 2026',
    controls: { values: { email: { body: html('{{content}}'), editorType: 'html' } } },
  })
  await page.getByRole('button', { name: 'Phone' }).click()
  const width = () => page.locator('iframe').evaluate((frame: any) => frame.getBoundingClientRect().width)
  await expect.poll(width).toBeLessThan(400)

  await page.getByRole('link', { name: 'All layouts' }).click()
  await page.getByRole('button', { name: 'Actions for Newsletter 2026' }).click()
  await page.getByRole('menuitem', { name: 'Duplicate' }).click()
  await page.waitForURL(/\/layouts\/newsletter-2026-copy/)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByText('No email uses it.').waitFor()
  await page.getByRole('button', { name: 'Delete layout' }).click()
  await page.waitForURL(/\/layouts(\?|$)/)
  await page.getByRole('link', { name: 'Newsletter 2026' }).waitFor()
  await takeScreenshots(page, 'layouts')
  expect(await axeViolations(page)).toEqual([])
  expect((await development.get('/v2/layouts/newsletter-2026-copy')).status).toBe(404)
})

test('leaving with unsaved changes asks first; deleting names the workflows that use the layout', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/layouts', { name: 'Second', layoutId: 'second' })
  await development.post('/v2/workflows', {
    ...{ name: 'Welcome', workflowId: 'welcome', active: true, __source: 'dashboard' },
    steps: [{ name: 'Mail', type: 'email', controlValues: { subject: 'Hi', body: '<p>Hi</p>', layoutId: 'second' } }],
  })
  const { page } = await open({ api: development, role: 'editor', path: '/layouts/second' })
  await page.getByRole('region', { name: 'Used by' }).getByRole('link', { name: 'Welcome' }).waitFor()
  await page.getByLabel('Name').fill('Another name')
  await page.getByRole('link', { name: 'All layouts' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click()
  expect(await page.getByLabel('Name').inputValue()).toBe('Another name')
  await page.getByLabel('Name').fill('Second')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByText('Emails of “Welcome” use the default layout instead.').waitFor()
})

test('a viewer sees the layout and its preview but cannot change it; it fits on a phone; a missing layout is named', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/layouts', { name: 'First', layoutId: 'first' })
  const { page } = await open({ api: development, role: 'viewer', path: '/layouts/first' })
  await page.frameLocator('iframe').getByText('The content of the email').waitFor()
  expect(await page.getByLabel('Name').isDisabled()).toBe(true)
  for (const name of ['Save', 'Saved', 'More actions'])
    expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0])
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page)).toBe(0)
  await follow(page, '/layouts/nowhere')
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
})
