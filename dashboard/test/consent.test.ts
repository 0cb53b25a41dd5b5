import { expect, test } from 'vitest'
import { makeWorkflow } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()
const email = {
  type: 'email',
  stepId: 'mail',
  controlValues: { subject: 'Hi', body: '<p>Hello</p>', editorType: 'html' },
}

const settingsOf = async (api: Api) => (await api.get(`/v2/environments/${api.environmentId}/consent`)).body

test('an admin sets the brand with a live preview, the words of text messages, and the brakes', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'admin', path: '/settings' })
  const preview = page.locator('[data-brand-preview]')
  await page.getByLabel('Brand name').fill('Ärzte ohne Grenzen')
  await preview.getByText('Ärzte ohne Grenzen').waitFor()
  await page.getByLabel('Postal address').fill('1 Main Street\nSpringfield')
  await preview.getByText('Springfield').waitFor()
  await page.getByPlaceholder('#1f4fd8').fill('#ffcc00')
  const styleOf = (name: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('[data-brand-preview] [data-button]')).${name}`)
  await expect.poll(() => styleOf('backgroundColor')).toBe('rgb(255, 204, 0)')
  expect(await styleOf('color')).toBe('rgb(0, 0, 0)')
  await page.getByLabel('Logo').fill('acme')
  await page.getByRole('button', { name: 'Save brand' }).click()
  await page.getByText('must be an https address').waitFor()
  await page.getByLabel('Logo').fill('')
  await page.getByRole('switch', { name: 'Add the footer' }).click()
  await page.getByRole('button', { name: 'Save brand' }).click()
  await page.getByText('Brand saved').waitFor()
  expect(await settingsOf(development)).toMatchObject({
    brand: {
      name: 'Ärzte ohne Grenzen',
      logoUrl: null,
      primaryColor: '#ffcc00',
      postalAddress: '1 Main Street\nSpringfield',
    },
    footer: false,
  })

  await page.getByLabel('Further words that stop').fill('basta, no more')
  await page.getByLabel('Answer to STOP').fill('Bye')
  await page.getByRole('button', { name: 'Save words' }).click()
  await page.getByText('Words of text messages saved').waitFor()
  expect((await settingsOf(development)).sms).toMatchObject({
    ...{ keywords: true, scope: 'all', stopReply: 'Bye', startReply: null, extraStopWords: ['basta', 'no more'] },
  })

  await page.getByLabel('Of at least, emails').fill('5')
  await page.getByRole('button', { name: 'Save brakes' }).click()
  await page.getByText(/10/).first().waitFor()
  expect((await settingsOf(development)).brakes.minimum).toBe(200)
  await page.getByLabel('Of at least, emails').fill('50')
  await page.getByLabel('Complaints, percent').fill('0.1')
  await page.getByRole('button', { name: 'Save brakes' }).click()
  await page.getByText('Brakes saved').waitFor()
  expect((await settingsOf(development)).brakes).toEqual({
    ...{ enabled: true, bouncePercent: 5, complaintPercent: 0.1, minimum: 50, hours: 24 },
  })
  await page.getByRole('heading', { name: 'Consent' }).scrollIntoViewIfNeeded()
  await takeScreenshots(page, 'consent-settings')
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page)).toBe(0)
})

test('viewers see the settings, and change nothing', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'viewer', path: '/settings' })
  expect(await page.getByLabel('Brand name').isDisabled()).toBe(true)
  for (const name of ['Save brand', 'Save words', 'Save brakes'])
    expect(await page.getByRole('button', { name }).count()).toBe(0)
})

test('a workflow is made commercial, with a category, and the preview says that the footer will be added', async () => {
  const { development } = await server.freshOrganization()
  await makeWorkflow(development, 'news', [email])
  const { page } = await open({ api: development, role: 'admin', path: '/workflows/news?settings=true' })
  const sheet = page.getByRole('dialog', { name: 'Settings' })
  await sheet.getByText('Receipts, codes, what people asked for.').waitFor()
  await sheet.getByRole('combobox', { name: 'Class' }).click()
  await page.getByRole('option', { name: 'Commercial' }).click()
  await sheet.getByText('Offers and news: people can refuse it in one click').waitFor()
  await sheet.getByLabel('Category').fill('Big Offers')
  await sheet.getByText('Small letters, digits, hyphens and underscores, up to 64.').waitFor()
  await sheet.getByLabel('Category').fill('offers')
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'workflow-consent')
  const stored = async () => (await development.get('/v2/workflows/news')).body
  await expect.poll(stored).toMatchObject({ messageClass: 'commercial', consentCategory: 'offers' })

  await page.goto(`${server.url}/workflows/news?step=mail`)
  await page.getByRole('note').getByText('the footer will be added').waitFor()
  await takeScreenshots(page, 'footer-note')
  const [step] = (await stored()).steps
  await development.patch('/v2/workflows/news', { description: 'x' })
  const body = '<p>Hello</p><a href="{{unsubscribe_url}}">No more</a>'
  await development.put('/v2/workflows/news', {
    ...(await stored()),
    preferences: {},
    steps: [{ ...step, controlValues: { ...email.controlValues, body } }],
  })
  await page.reload()
  await page.frameLocator('iframe').getByText('No more').waitFor()
  expect(await page.getByRole('note').count()).toBe(0)
})

test('a braked workflow says so with its figures and the bounces behind them, until an admin releases it', async () => {
  const { development } = await server.freshOrganization()
  const id = await makeWorkflow(development, 'news', [email], { messageClass: 'commercial' })
  await development.post('/v1/events/trigger', { name: 'news', to: { subscriberId: 'ada', email: 'ada@example.com' } })
  await server.drain()
  const { db } = server.database
  const { id: messageId } = await db
    .selectFrom('messages')
    .select('id')
    .where('environment_id', '=', development.environmentId)
    .executeTakeFirstOrThrow()
  const now = new Date()
  await db
    .insertInto('brake_marks')
    .values({
      ...{ environment_id: development.environmentId, workflow_id: id, cause: 'bounces', message_id: messageId },
      ...{ sent_at: now, refused: false },
    })
    .execute()
  const brake = { since: now.toISOString(), cause: 'bounces', percent: 6.5, sent: 2_400, counted: 156 }
  await db
    .updateTable('workflows')
    .set({ brake: JSON.stringify(brake) })
    .where('environment_id', '=', development.environmentId)
    .where('id', '=', id)
    .execute()
  const viewer = await open({ api: development, role: 'viewer', path: '/workflows' })
  await viewer.page.getByText('Braked').waitFor()
  await viewer.page.goto(`${server.url}/workflows/news`)
  await viewer.page.getByRole('region', { name: 'Brake' }).waitFor()
  expect(await viewer.page.getByRole('button', { name: 'Release' }).count()).toBe(0)

  const { page } = await open({ api: development, role: 'admin', path: '/workflows/news' })
  const banner = page.getByRole('region', { name: 'Brake' })
  await banner.getByText('156 of 2,400 emails bounced (6.5 %)').waitFor()
  await banner.getByRole('button', { name: 'Show the bounces' }).click()
  await banner.getByRole('link', { name: 'ada@example.com' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page)).toBe(0)
  await takeScreenshots(page, 'braked')
  await banner.getByRole('button', { name: 'Release' }).click()
  await page.getByRole('button', { name: 'Release' }).last().click()
  await page.getByText('Released. Counts begin anew').waitFor()
  await expect.poll(() => banner.count()).toBe(0)
  expect((await development.get('/v2/workflows/news')).body.brake).toBeNull()
})

test('a subscriber’s page shows what is held back from them, and gives the link to their preferences', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com', phone: '+14155550123' })
  await development.post('/v1/suppressions', { channel: 'email', address: 'ADA@example.com', reason: 'complaint' })
  await development.post('/v1/suppressions', { channel: 'sms', address: '+1 415 555 0123' })
  await development.post('/v1/suppressions', { channel: 'email', address: 'bob@example.com' })
  const { page } = await open({
    ...{ api: development, role: 'editor', path: '/subscribers/ada?tab=preferences' },
    options: { permissions: ['clipboard-read', 'clipboard-write'], isFirstVisit: true },
  })
  const section = page.getByRole('region', { name: 'Held back' })
  await section.getByText('ada@example.com').waitFor()
  await section.getByText('+14155550123').waitFor()
  expect(await section.getByText('bob@example.com').count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
  await section.scrollIntoViewIfNeeded()
  await takeScreenshots(page, 'held-back')
  await section.getByRole('button', { name: 'Copy the link to their preference page' }).click()
  await page.getByText(/^Link copied/).waitFor()
  const url = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(new URL(url).pathname).toMatch(/^\/l\/p\/[\w-]+$/)
  await section.getByRole('link', { name: 'ada@example.com' }).click()
  await page.getByRole('dialog', { name: 'ada@example.com' }).getByText('Complaint').first().waitFor()
})
