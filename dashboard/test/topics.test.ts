import { expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const followers = async (api: Api, key: string): Promise<string[]> => {
  const { data } = (await api.get(`/v2/topics/${key}/subscriptions?limit=100`)).body
  return data.map((one: { subscriber: { subscriberId: string } }) => one.subscriber.subscriberId).sort()
}

test('an empty list shows the request that fills it; a topic can be created, renamed and deleted, with its number of subscriptions', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/subscribers', { subscriberId: 'ada' })
  const { page } = await open({ api: development, role: 'editor', path: '/topics' })
  await page.getByRole('heading', { name: 'No topics yet' }).waitFor()
  await takeScreenshots(page, 'topics-empty')
  expect(await axeViolations(page)).toEqual([])
  await page.locator('body').press('c')
  const dialog = page.getByRole('dialog', { name: 'New topic' })
  await dialog.getByLabel('Name').fill('Release notes & more')
  expect(await dialog.getByLabel('Key').inputValue()).toBe('release-notes-more')
  await dialog.getByLabel('Key').fill('release notes')
  await dialog.getByRole('button', { name: 'Create topic' }).click()
  await dialog.getByText(/Invalid topic key/).waitFor()
  await dialog.getByLabel('Key').fill('releases')
  await dialog.getByRole('button', { name: 'Create topic' }).click()
  const sheet = page.getByRole('dialog', { name: 'Release notes & more' })
  await sheet.getByRole('heading', { name: 'No subscribers yet' }).waitFor()

  await sheet.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Rename…' }).click()
  await page.getByRole('dialog', { name: 'Rename topic' }).getByLabel('Name').fill('Releases')
  await page.getByRole('button', { name: 'Rename' }).click()
  const renamed = page.getByRole('dialog', { name: 'Releases' })
  await renamed.waitFor()

  await development.post('/v2/topics/releases/subscriptions', { subscriptions: ['ada'] })
  await page.reload()
  await renamed.getByRole('link', { name: 'ada' }).waitFor()
  await renamed.getByRole('button', { name: 'Actions for Releases' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByText('1 subscription is deleted with it').waitFor()
  await page.getByRole('button', { name: 'Delete topic' }).click()
  await page.getByRole('heading', { name: 'No topics yet' }).waitFor()
  expect((await development.get('/v2/topics/releases')).status).toBe(404)
})

test('hole 1: a topic is closed to browsers until somebody opens it', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/topics', { key: 'press', name: 'Press' })
  const { page } = await open({ api: development, role: 'editor', path: '/topics/press' })
  const sheet = page.getByRole('dialog', { name: 'Press' })
  const isOpen = async () => (await development.get('/v2/topics/press')).body.joinableFromBrowser
  await sheet.getByText('Only your backend and this dashboard add subscribers.').waitFor()
  await sheet.getByRole('switch', { name: 'Joinable from a browser' }).click()
  await sheet.getByText('Everybody with an inbox can follow this topic').waitFor()
  expect(await isOpen()).toBe(true)
  expect(await axeViolations(page)).toEqual([])
  await sheet.getByRole('switch', { name: 'Joinable from a browser' }).click()
  await expect.poll(isOpen).toBe(false)
})

test('hole 1: open topics are a warning with the switch that closes them', async () => {
  const { development } = await server.freshOrganization()
  const access = `/v2/environments/${development.environmentId}/inbox-access`
  await development.patch(access, { openTopics: true })
  const { page } = await open({ api: development, role: 'admin', path: '/topics' })
  await page.getByText('Anybody with an inbox can join every topic of Development').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('switch', { name: 'Topics open to browsers' }).click()
  await page.getByText('Topics of Development are closed to browsers').waitFor()
  await page.getByText('Anybody with an inbox can join').waitFor({ state: 'detached' })
  expect((await development.get(access)).body).toMatchObject({ openTopics: false })
})

test('subscribers are added by search or as pasted ids, and unknown ids are named', async () => {
  const { development } = await server.freshOrganization()
  for (const [subscriberId, firstName, lastName] of [
    ['ada', 'Ada', 'Lovelace'],
    ['grace', 'Grace', 'Hopper'],
    ['sara', 'سارة', 'الأحمد'],
    ['zoe', '🎉 Zoë', 'Müller-Lüdenscheidt-Hohenzollern von und zu Langenstein'],
  ])
    await development.post('/v2/subscribers', { subscriberId, firstName, lastName })
  await development.post('/v2/topics', { key: 'news', name: 'News' })
  const { page } = await open({ api: development, role: 'editor', path: '/topics/news' })
  const sheet = page.getByRole('dialog', { name: 'News' })
  await sheet.getByRole('button', { name: 'Add subscribers' }).click()
  const adding = page.getByRole('dialog', { name: 'Add subscribers' })
  await adding.getByRole('combobox', { name: 'Find' }).click()
  await page.getByPlaceholder('Type to find…').fill('lovelace')
  await page.getByRole('option', { name: /Ada Lovelace/ }).click()
  await page.keyboard.press('Escape')
  await adding.getByLabel('Or paste ids').fill('grace, sara\n"zoe"\nnobody')
  await adding.getByRole('button', { name: 'Add 5 subscribers' }).click()
  await adding.getByText("Subscriber with ID 'nobody' could not be found.").waitFor()
  expect(await adding.getByLabel('Or paste ids').inputValue()).toBe('nobody')
  await takeScreenshots(page, 'topic-refused')
  await adding.getByRole('button', { name: 'Cancel' }).click()
  await sheet.getByRole('link', { name: 'سارة الأحمد' }).waitFor()
  expect(await followers(development, 'news')).toEqual(['ada', 'grace', 'sara', 'zoe'])
  await takeScreenshots(page, 'topic')
  expect(await axeViolations(page)).toEqual([])
})

test('a subscription can have conditions; Undo restores a removed one with its conditions', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace' })
  await development.post('/v2/workflows', {
    ...{ name: 'Weekly digest', workflowId: 'weekly', active: true, __source: 'dashboard' },
    steps: [{ name: 'Inbox', type: 'in_app', controlValues: { body: 'News' } }],
  })
  await development.post('/v2/topics/news/subscriptions', { subscriptions: ['ada'], name: 'News' })
  const { page } = await open({ api: development, role: 'editor', path: '/topics/news' })
  const sheet = page.getByRole('dialog', { name: 'News' })
  await sheet.getByRole('button', { name: 'Workflows for Ada Lovelace' }).click()
  const rules = page.getByRole('dialog', { name: 'Workflows of this subscription' })
  await rules.getByText('Every workflow triggered').waitFor()
  await page.reload()
  await rules.getByRole('combobox', { name: 'Add a workflow' }).click()
  await page.getByRole('option', { name: /Weekly digest/ }).click()
  await rules.getByRole('button', { name: 'If…' }).click()
  await takeScreenshots(page, 'topic-conditions')
  expect(await axeViolations(page)).toEqual([])
  await rules.getByRole('button', { name: 'Save', exact: true }).click()
  await rules.waitFor({ state: 'detached' })
  const identifier = 'tk_news:si_ada'
  const stored = async () => (await development.get(`/v2/topics/news/subscriptions/${identifier}`)).body.preferences
  const condition = { '==': [{ var: 'payload.priority' }, 'high'] }
  expect(await stored()).toMatchObject([{ workflow: { identifier: 'weekly' }, condition }])

  await sheet.getByRole('button', { name: 'Remove Ada Lovelace' }).click()
  await sheet.getByRole('link', { name: 'Ada Lovelace' }).waitFor({ state: 'detached' })
  expect(await followers(development, 'news')).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).click()
  await sheet.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
  expect(await stored()).toMatchObject([{ workflow: { identifier: 'weekly' }, condition }])
})

test('search covers keys and names and is in the URL; the list fits on a phone', async () => {
  const { development } = await server.freshOrganization()
  for (const [key, name] of [
    ['releases', 'What is new'],
    ['project:4711', 'Project Phönix 🔥'],
    ['announcements-for-everybody-in-the-whole-organization', 'إعلانات'],
  ])
    await development.post('/v2/topics', { key, name })
  const { page } = await open({ api: development, path: '/topics' })
  const names = () => page.getByRole('table', { name: 'Topics' }).locator('tbody td:first-child').allTextContents()
  await expect.poll(names).toHaveLength(3)
  await takeScreenshots(page, 'topics')
  expect(await axeViolations(page)).toEqual([])
  const search = page.getByRole('searchbox', { name: 'Search topics' })
  await search.fill('4711')
  await expect.poll(names).toEqual(['Project Phönix 🔥'])
  await search.fill('phönix')
  await expect.poll(names).toEqual(['Project Phönix 🔥'])
  await page.reload()
  await expect.poll(names).toEqual(['Project Phönix 🔥'])
  await search.fill('nothing')
  await page.getByRole('heading', { name: 'No topic matches' }).waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect.poll(names).toHaveLength(3)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
})

test('a viewer can read but not change', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/subscribers', { subscriberId: 'ada' })
  await development.post('/v2/topics/news/subscriptions', { subscriptions: ['ada'], name: 'News' })
  const { page } = await open({ api: development, role: 'viewer', path: '/topics/news?new=true' })
  const sheet = page.getByRole('dialog', { name: 'News' })
  await sheet.getByRole('link', { name: 'ada' }).waitFor()
  for (const name of ['New topic', 'Add subscribers', 'Remove ada', 'Actions for News'])
    expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0])
  expect(await page.getByRole('dialog').count()).toBe(1)
})
