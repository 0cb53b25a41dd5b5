import { expect, test } from 'vitest'
import { obstacles, takePictures, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const html = (inner: string) => `<html><body><p>Acme — أهلاً 👋</p>${inner}</body></html>`

test('the list begins with the default layout, which stays; a search is in the URL and can find nothing', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, path: '/layouts' })
  await page.getByRole('link', { name: 'Default Layout Default' }).waitFor()
  await page.getByRole('button', { name: 'Actions for Default Layout' }).click()
  expect(await page.getByRole('menuitem', { name: 'The default stays' }).getAttribute('aria-disabled')).toBe('true')
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox', { name: 'Search layouts' }).fill('nothing is called so')
  await page.getByRole('heading', { name: 'No layout fits' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'No layout fits' }).waitFor()
  expect(await obstacles(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await page.getByRole('link', { name: 'Default Layout Default' }).waitFor()
})

test('another layout becomes the default, and that can be taken back', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/layouts', { layoutId: 'letter', name: 'Letter' })
  const { page } = await open({ api: development, role: 'editor', path: '/layouts' })
  const isDefault = async () => (await development.get('/v2/layouts/letter')).body.isDefault
  await page.getByRole('button', { name: 'Actions for Letter' }).click()
  await page.getByRole('menuitem', { name: 'Make it the default' }).click()
  await page.getByRole('link', { name: 'Letter Default' }).waitFor()
  expect(await isDefault()).toBe(true)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: 'Default Layout Default' }).waitFor()
  await expect.poll(isDefault).toBe(false)
  await page.goto(`${server.url}/layouts/letter`)
  await page.getByRole('button', { name: 'More about the layout' }).click()
  await page.getByRole('menuitem', { name: 'Make it the default' }).click()
  await page.getByText('Every e-mail that names no other layout.').waitFor()
})

test('a layout is made, written with a preview beside it, refused while it is broken, saved, copied and deleted', async () => {
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
  await takePictures(page, 'layout')
  expect(await obstacles(page)).toEqual([])

  const body = page.getByRole('textbox', { name: 'Body' })
  await body.fill(html('no place for the content'))
  await preview.getByText('no place for the content').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('The layout must show the content of the email').waitFor()
  await body.fill(html('{{content}} {{ subscriber.firstName'))
  await page.getByRole('region', { name: 'Preview' }).getByRole('alert').waitFor()
  await takePictures(page, 'layout-broken')
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
  await page.getByRole('button', { name: 'More about the layout' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByText('No e-mail names it.').waitFor()
  await page.getByRole('button', { name: 'Delete layout' }).click()
  await page.waitForURL(/\/layouts(\?|$)/)
  await page.getByRole('link', { name: 'Newsletter 2026' }).waitFor()
  await takePictures(page, 'layouts')
  expect(await obstacles(page)).toEqual([])
  expect((await development.get('/v2/layouts/newsletter-2026-copy')).status).toBe(404)
})

test('changes that are not saved are asked about; a workflow that uses it is named before it is deleted', async () => {
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
  await page.getByRole('button', { name: 'More about the layout' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByText('E-mails of “Welcome” get the default layout instead.').waitFor()
})

test('a viewer sees the layout and its preview, and cannot change it; one that is not there is said to be so', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/layouts', { name: 'First', layoutId: 'first' })
  const { page } = await open({ api: development, role: 'viewer', path: '/layouts/first' })
  await page.frameLocator('iframe').getByText('The content of the email').waitFor()
  expect(await page.getByLabel('Name').isDisabled()).toBe(true)
  for (const name of ['Save', 'Saved', 'More about the layout'])
    expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0])
  expect(await obstacles(page)).toEqual([])
  await page.goto(`${server.url}/layouts/nowhere`)
  await page.getByRole('heading', { name: 'Not here' }).waitFor()
})

test('fits a small phone', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/layouts', { name: 'First', layoutId: 'first' })
  const options = { viewport: { width: 360, height: 740 } }
  const { page } = await open({ api: development, role: 'editor', path: '/layouts', options })
  await page.getByRole('link', { name: 'First' }).click()
  await page.frameLocator('iframe').getByText('The content of the email').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
})
