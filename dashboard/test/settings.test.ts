import { expect, test } from 'vitest'
import { obstacles, takePictures, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

test('an admin renames the organization, chooses its languages and takes the mark away', async () => {
  const { development } = await server.freshOrganization()
  const { page, person } = await open({ api: development, role: 'admin', path: '/settings' })
  await page.getByLabel('Name', { exact: true }).fill('Ärzte ohne Grenzen 🏥')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Name saved').waitFor()
  await page.getByRole('button', { name: 'Ärzte ohne Grenzen' }).waitFor()

  const settings = async () => (await person.get('/v1/organizations/settings')).body
  await page.getByRole('combobox', { name: 'Default language' }).click()
  await page.getByPlaceholder('Type to find…').fill('austrian')
  await page.getByRole('option', { name: /Austrian German/ }).click()
  await expect.poll(async () => (await settings()).defaultLocale).toBe('de_AT')
  await page.getByRole('combobox', { name: 'Translate into' }).click()
  await page.getByPlaceholder('Type to find…').fill('hebrew')
  await page.getByRole('option', { name: /Hebrew/ }).click()
  await page.getByRole('list', { name: 'Languages' }).getByText('he_IL').waitFor()
  await page.getByRole('switch', { name: 'Mark of the service in emails' }).click()
  await expect.poll(settings).toMatchObject({
    removeSvcBranding: true,
    defaultLocale: 'de_AT',
    targetLocales: ['he_IL'],
  })
  await page.getByText('Emails carry your content only.').waitFor()
  await takePictures(page, 'settings')
  expect(await obstacles(page)).toEqual([])
  await page.getByRole('button', { name: /^Remove Hebrew/ }).click()
  await expect.poll(async () => (await settings()).targetLocales).toEqual([])

  await page.getByRole('link', { name: 'Account and sessions' }).click()
  await page.getByRole('button', { name: 'Sign out everywhere' }).waitFor()
})

test('a language the server does not know is refused, and nothing changes', async () => {
  const { development } = await server.freshOrganization()
  const { page, person } = await open({ api: development, path: '/settings' })
  await page.getByRole('combobox', { name: 'Default language' }).click()
  await page.getByPlaceholder('Type to find…').fill('xx_XX')
  await page.getByRole('option', { name: 'Use “xx_XX”' }).click()
  await page.getByText(/must be a language with its region/).waitFor()
  expect((await person.get('/v1/organizations/settings')).body.defaultLocale).toBe('en_US')
})

test('an environment gets periods of its own for what it keeps, and gives them up again', async () => {
  const { development } = await server.freshOrganization()
  const { page, person } = await open({ api: development, role: 'admin', path: '/settings' })
  const kept = async () =>
    (await person.get(`/v2/environments/${development.environmentId}/retention`)).body as Record<string, unknown>
  await page.getByText('How long Development keeps what was sent.').waitFor()
  await page.getByLabel('Activity, days').fill('30')
  await page.getByLabel('Inbox, days').fill('0')
  await page.getByRole('button', { name: 'Save retention' }).click()
  await page.getByText('Retention saved').waitFor()
  expect(await kept()).toMatchObject({ activityDays: 30, messageDays: null, inboxDays: 0 })
  await page.getByLabel('Activity, days').fill('')
  await page.getByRole('button', { name: 'Save retention' }).click()
  await expect.poll(kept).toMatchObject({ activityDays: null, inboxDays: 0 })
  await page.getByLabel('Messages, days').fill('99999')
  await page.getByRole('button', { name: 'Save retention' }).click()
  await page.getByText(/36500/).waitFor()
  expect(await kept()).toMatchObject({ messageDays: null })
})

test('an editor sees the settings and why they cannot be changed', async () => {
  const { page } = await open({ role: 'editor', path: '/settings' })
  await page.getByText(/You are an editor: you can look at these settings/).waitFor()
  expect(await page.getByRole('switch').isDisabled()).toBe(true)
  expect(await page.getByRole('combobox', { name: 'Default language' }).isDisabled()).toBe(true)
  expect(await obstacles(page)).toEqual([])
})

test('on a phone nothing has to be scrolled sideways', async () => {
  const { page } = await open({ path: '/settings', options: { viewport: { width: 360, height: 740 } } })
  await page.getByRole('combobox', { name: 'Default language' }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
})
