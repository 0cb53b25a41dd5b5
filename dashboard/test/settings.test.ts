import { expect, test } from 'vitest'
import { openInbox } from '../../server/test/inbox.ts'
import { requireHash } from '../../server/test/server.ts'
import { axeViolations, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

test('an admin can rename the organization, choose its languages and retention, and remove the branding; an unknown language is refused', async () => {
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
  await page.getByRole('switch', { name: 'Show branding in emails' }).click()
  await expect.poll(settings).toMatchObject({
    removeSvcBranding: true,
    defaultLocale: 'de_AT',
    targetLocales: ['he_IL'],
  })
  await page.getByText('Emails have only your content.').waitFor()
  await takeScreenshots(page, 'settings')
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: /^Remove Hebrew/ }).click()
  await expect.poll(async () => (await settings()).targetLocales).toEqual([])

  await page.getByRole('combobox', { name: 'Default language' }).click()
  await page.getByPlaceholder('Type to find…').fill('xx_XX')
  await page.getByRole('option', { name: 'Use “xx_XX”' }).click()
  await page.getByText(/a language with its region/).waitFor()
  expect((await settings()).defaultLocale).toBe('de_AT')

  // The environment gets its own retention periods, and gives one up again.
  const kept = async () =>
    (await person.get(`/v2/environments/${development.environmentId}/retention`)).body as Record<string, unknown>
  await page.getByText('How long Development keeps activity and messages.').waitFor()
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

  await page.getByRole('link', { name: 'Account and sessions' }).click()
  await page.getByRole('button', { name: 'Sign out everywhere' }).waitFor()
})

test('an editor sees the settings and why they cannot be changed; they fit on a phone', async () => {
  const { page } = await open({ role: 'editor', path: '/settings' })
  await page.getByText(/You are an editor: you can view these settings/).waitFor()
  expect(await page.getByRole('switch', { name: 'Show branding in emails' }).isDisabled()).toBe(true)
  expect(await page.getByRole('combobox', { name: 'Default language' }).isDisabled()).toBe(true)
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page)).toBe(0)
})

test('hole 7: settings say that HMAC is off and why it matters; fields and sessions are managed there', async () => {
  const { development } = await server.freshOrganization()
  const { page, person } = await open({ api: development, role: 'admin', path: '/settings' })
  await page.getByText('Anybody who knows a subscriber id can open that inbox in Development').waitFor()
  await page.getByRole('checkbox', { name: 'Email' }).click()
  const chosen = async () =>
    (await person.get(`/v2/environments/${development.environmentId}/inbox-access`)).body.profileFields
  await expect.poll(chosen).toEqual(['firstName', 'lastName', 'phone', 'avatar', 'locale', 'timezone', 'data'])
  await page.getByRole('button', { name: 'Use the usual fields' }).click()
  await expect.poll(chosen).toBeNull()
  expect(await axeViolations(page)).toEqual([])
  const inboxes = [await openInbox(server, development, 'ada'), await openInbox(server, development, 'bob')]
  await page.getByRole('button', { name: 'End all of Development' }).click()
  await page.getByRole('button', { name: 'End sessions' }).click()
  await page.getByText('Inbox sessions ended').waitFor()
  for (const inbox of inboxes) expect((await inbox.get('/notifications')).status).toBe(401)
  await requireHash(server.database.db, development.environmentId, true)
  const there = await open({ api: development, role: 'viewer', path: '/settings' })
  await there.page.getByText('HMAC is on: an inbox opens only with a hash').waitFor()
  expect(await there.page.getByRole('button', { name: /^End all/ }).count()).toBe(0)
})
