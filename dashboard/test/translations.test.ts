import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

/** An organization that translates into German and Arabic, with a workflow that has texts in two of three locales. */
async function prepare(): Promise<Api> {
  const { development: api } = await server.freshOrganization()
  await (await server.organizationOf(api)).patch('/v1/organizations/settings', {
    defaultLocale: 'en_US',
    targetLocales: ['de_DE', 'ar_EG'],
  })
  await addWorkflow(api, 'welcome', 'Welcome to the product')
  const write = (locale: string, content: object) =>
    api.post('/v2/translations', { resourceType: 'workflow', resourceId: 'welcome', locale, content })
  await write('de_DE', { greeting: 'Hallo' })
  server.clock.advance({ seconds: 1 })
  await write('en_US', { greeting: 'Hello', order: { title: 'Your order is on its way 📦' } })
  return api
}

async function addWorkflow(api: Api, workflowId: string, name: string, isTranslationEnabled = true): Promise<void> {
  const steps = [{ name: 'Inbox', type: 'in_app', controlValues: { body: '{{t.greeting}}' } }]
  const workflow = { name, workflowId, active: true, isTranslationEnabled, steps, __source: 'dashboard' }
  expect((await api.post('/v2/workflows', workflow)).status).toBe(201)
}

const texts = async (api: Api, locale: string) =>
  (await api.get(`/v2/translations/workflow/welcome/${locale}`)).body.content

test('an empty page explains translation and starts with a chosen workflow', async () => {
  const { development } = await server.freshOrganization()
  await addWorkflow(development, 'orders', 'Order shipped', false)
  const { page } = await open({ api: development, role: 'editor', path: '/translations' })
  await page.getByRole('heading', { name: 'No translations yet' }).waitFor()
  await takeScreenshots(page, 'translations-empty')
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Translate a workflow or layout' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a translation' })
  await dialog.getByRole('combobox', { name: 'Workflow' }).click()
  await page.getByRole('option', { name: /Order shipped/ }).click()
  await dialog.getByRole('button', { name: 'Add translation' }).click()
  const sheet = page.getByRole('dialog', { name: 'Order shipped' })
  await sheet.getByLabel('New key').fill('order.title')
  await sheet.getByRole('button', { name: 'Add key' }).click()
  await sheet.getByLabel('order.title in en_US').fill('On its way')
  await sheet.getByRole('button', { name: 'Save en_US' }).click()
  await page.getByText('American English saved').waitFor()
  const stored = (await development.get('/v2/translations/workflow/orders/en_US')).body.content
  expect(stored).toEqual({ order: { title: 'On its way' } })
})

test('an outdated locale is marked; editing it beside the original brings it up to date', async () => {
  const api = await prepare()
  const { page } = await open({ api, role: 'editor', path: '/translations' })
  await page.getByText('2 outdated').waitFor()
  await takeScreenshots(page, 'translations')
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('link', { name: /Welcome to the product/ }).click()
  const sheet = page.getByRole('dialog', { name: 'Welcome to the product' })
  await sheet.getByRole('button', { name: /de_DE/ }).click()
  await sheet.getByText('Your order is on its way 📦').waitFor()
  expect(await sheet.getByLabel('greeting in de_DE').inputValue()).toBe('Hallo')
  await takeScreenshots(page, 'translation')
  expect(await axeViolations(page)).toEqual([])
  await page.reload()
  await sheet.getByLabel('order.title in de_DE').fill('Ihre Bestellung ist unterwegs')
  server.clock.advance({ seconds: 1 })
  await sheet.getByRole('button', { name: 'Save de_DE' }).click()
  await page.getByText('German (Germany) saved').waitFor()
  expect(await texts(api, 'de_DE')).toEqual({ greeting: 'Hallo', order: { title: 'Ihre Bestellung ist unterwegs' } })
  await page.getByText('1 outdated').waitFor()

  await sheet.getByRole('button', { name: /ar_EG/ }).click()
  await sheet.getByText('No texts yet').waitFor()
  await sheet.getByRole('button', { name: 'JSON', exact: true }).click()
  await sheet.getByRole('textbox', { name: 'Texts in ar_EG' }).fill('{"greeting": "أهلاً"}')
  await sheet.getByRole('button', { name: 'Save ar_EG' }).click()
  await page.getByText('Arabic (Egypt) saved').waitFor()
  await sheet.getByRole('button', { name: 'Delete the texts in ar_EG' }).click()
  await sheet.getByText('No texts yet').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => texts(api, 'ar_EG')).toEqual({ greeting: 'أهلاً' })
})

test('files can be uploaded and downloaded, for one workflow and for a whole locale', async () => {
  const api = await prepare()
  const { page } = await open({ api, role: 'editor', path: '/translations/workflow:welcome' })
  const sheet = page.getByRole('dialog', { name: 'Welcome to the product' })
  const file = (name: string, content: object) => ({
    ...{ name, mimeType: 'application/json' },
    buffer: Buffer.from(JSON.stringify(content)),
  })
  await sheet.getByLabel('Translation files').setInputFiles([file('de_DE.json', { greeting: 'Servus' })])
  await page.getByText('1 locale is written').waitFor()
  expect(await texts(api, 'de_DE')).toEqual({ greeting: 'Servus' })
  await sheet.getByLabel('Translation files').setInputFiles([file('french.json', { greeting: 'Salut' })])
  await page
    .getByText(/named after|file names|locale/i)
    .last()
    .waitFor()

  const [single] = await Promise.all([
    page.waitForEvent('download'),
    sheet.getByRole('button', { name: 'Download en_US.json' }).click(),
  ])
  expect(JSON.parse(readFileSync(await single.path(), 'utf8'))).toEqual(await texts(api, 'en_US'))
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'All texts as JSON' }).click()
  await page.getByRole('menuitem', { name: 'Export a locale…' }).click()
  const [all] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download en_US.json' }).click(),
  ])
  const master = JSON.parse(readFileSync(await all.path(), 'utf8'))
  expect(master).toEqual({ workflows: { welcome: await texts(api, 'en_US') }, layouts: {} })

  await page.getByRole('button', { name: 'All texts as JSON' }).click()
  await page.getByRole('menuitem', { name: 'Import a locale…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import a locale' })
  const given = { workflows: { welcome: { greeting: 'Moin' }, nobody: {} }, layouts: {} }
  await dialog.getByLabel('Master JSON file').setInputFiles([file('de_DE.json', given)])
  await dialog.getByText('2 workflows, 0 layouts').waitFor()
  await dialog.getByRole('button', { name: 'Import de_DE' }).click()
  await dialog.getByText('Refused: nobody').waitFor()
  await takeScreenshots(page, 'translations-import')
  expect(await texts(api, 'de_DE')).toEqual({ greeting: 'Moin' })
})

test('an admin can choose the locales; a viewer can read everything and change nothing', async () => {
  const api = await prepare()
  const { page } = await open({ api, role: 'admin', path: '/translations?dialog=locales' })
  const dialog = page.getByRole('dialog', { name: 'Locales' })
  await dialog.getByRole('combobox', { name: 'Translated into' }).click()
  await page.getByPlaceholder('Type to find…').fill('fr_FR')
  await page.getByRole('option', { name: /fr_FR/ }).click()
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Save locales' }).click()
  await page.getByText('3 outdated').waitFor()
  expect((await api.get('/v1/organizations/settings')).body.targetLocales).toEqual(['de_DE', 'ar_EG', 'fr_FR'])

  const viewer = await open({ api, role: 'viewer', path: '/translations/workflow:welcome?locale=de_DE&dialog=add' })
  const sheet = viewer.page.getByRole('dialog', { name: 'Welcome to the product' })
  await sheet.getByLabel('greeting in de_DE').waitFor()
  expect(await sheet.getByLabel('greeting in de_DE').isDisabled()).toBe(true)
  for (const name of ['Translate', 'Upload files', 'Delete the texts in de_DE'])
    expect([name, await viewer.page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0])
  expect(await viewer.page.getByRole('dialog').count()).toBe(1)
})

test('deleting all texts first names the languages; it fits on a phone', async () => {
  const api = await prepare()
  const options = { viewport: { width: 360, height: 740 } }
  const { page } = await open({ api, role: 'editor', path: '/translations/workflow:welcome', options })
  await page.getByLabel('greeting in en_US').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  await page.getByRole('button', { name: 'Actions for Welcome to the product' }).click()
  await page.getByRole('menuitem', { name: 'Stop translating…' }).click()
  await page.getByText(/American English, German \(Germany\),? and Arabic \(Egypt\) are deleted/).waitFor()
  await page.getByRole('button', { name: 'Delete all texts' }).click()
  await page.getByRole('heading', { name: 'No translations yet' }).waitFor()
  expect((await api.get('/v2/workflows/welcome')).body.isTranslationEnabled).toBe(false)
})
