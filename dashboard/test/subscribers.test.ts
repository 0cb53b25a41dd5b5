import { readFileSync } from 'node:fs'
import type { Download, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { obstacles, takePictures, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const people = [
  {
    subscriberId: 'ada',
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@example.com',
    phone: '+441632960001',
    locale: 'en_GB',
    timezone: 'Europe/London',
    data: { plan: 'pro', seats: 12 },
  },
  { subscriberId: 'user_2f9c81d0', firstName: 'سارة', lastName: 'الأحمد', email: 'sara@example.com', locale: 'ar_EG' },
  { subscriberId: 'party', firstName: '🎉 Zoë', lastName: 'Müller-Lüdenscheidt-Hohenzollern von und zu Langenstein' },
  {
    subscriberId: 'customers/eu-west/00000000-4a1d-4f6e-9c3b-1f2e3d4c5b6a',
    email: 'no.name@very-long-domain.example.com',
  },
  { subscriberId: 'grace', firstName: 'Grace', lastName: 'Hopper', email: 'grace@example.com', phone: '+12025550143' },
]

async function addWorkflow(api: Api, workflow: object): Promise<void> {
  expect((await api.post('/v2/workflows', { active: true, __source: 'dashboard', ...workflow })).status).toBe(201)
}

async function fill(api: Api): Promise<void> {
  for (const person of people) expect((await api.post('/v2/subscribers', person)).status).toBe(201)
}

/** Rows of the list, by what stands in their first cell. */
const names = (page: Page) =>
  page
    .getByRole('table', { name: 'Subscribers' })
    .locator('tbody tr td:first-child a')
    .locator('[dir=auto]')
    .allTextContents()

const textOf = async (download: Download) => readFileSync(await download.path(), 'utf8')
const isSideways = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth')

describe('the list', () => {
  test('says how it is filled while it is empty', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/subscribers' })
    await page.getByRole('heading', { name: 'No subscribers yet' }).waitFor()
    await page.getByText('/v2/subscribers').first().waitFor()
    await takePictures(page, 'subscribers-empty')
    expect(await obstacles(page)).toEqual([])
  })

  test('finds people by name, address, number and whole id; what is chosen is in the URL and stays after a reload', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    const { page } = await open({ api: development, path: '/subscribers' })
    await expect.poll(() => names(page)).toHaveLength(5)
    await takePictures(page, 'subscribers')
    expect(await obstacles(page)).toEqual([])

    const search = page.getByRole('searchbox', { name: 'Search subscribers' })
    for (const [typed, found] of [
      ['lovel', ['Ada Lovelace']],
      ['@very-long', ['no.name@very-long-domain.example.com']],
      ['+1202', ['Grace Hopper']],
      ['user_2f9c81d0', ['سارة الأحمد']],
    ] as const) {
      await search.fill(typed)
      await expect.poll(() => names(page)).toEqual(found)
    }
    await search.fill('')
    await page.getByRole('button', { name: 'Email' }).click()
    await page.getByRole('textbox', { name: 'Email' }).fill('ada@')
    await page.keyboard.press('Enter')
    await expect.poll(() => names(page)).toEqual(['Ada Lovelace'])
    await page.reload()
    await expect.poll(() => names(page)).toEqual(['Ada Lovelace'])
    expect(new URL(page.url()).searchParams.get('email')).toBe('ada@')

    await search.fill('nobody')
    await page.getByRole('heading', { name: 'Nobody fits' }).waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await expect.poll(() => names(page)).toHaveLength(5)

    await page.getByRole('button', { name: 'Created' }).click()
    await expect.poll(async () => (await names(page))[0]).toBe('Ada Lovelace')
    await page.reload()
    await expect.poll(async () => (await names(page))[0]).toBe('Ada Lovelace')

    await page.locator('body').press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'سارة الأحمد' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('a server that refuses is quoted', async () => {
    const { page } = await open({ path: '/subscribers/nobody-at-all' })
    await page.getByRole('alert').getByText('nobody-at-all').waitFor()
  })

  test('fits a small phone', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    const options = { viewport: { width: 360, height: 740 } }
    const { page } = await open({ api: development, path: '/subscribers', options })
    await expect.poll(() => names(page)).toHaveLength(5)
    expect(await isSideways(page)).toBe(false)
    await page.getByRole('link', { name: 'Ada Lovelace' }).click()
    for (const tab of ['Profile', 'Preferences', 'Channels', 'Inbox', 'Topics', 'Runs']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('tabpanel', { name: tab }).waitFor()
      expect([tab, await isSideways(page)]).toEqual([tab, false])
    }
  })
})

describe('one subscriber', () => {
  test('is created, changed and deleted, with what is lost named before', async () => {
    const { development } = await server.freshOrganization()
    await addWorkflow(development, {
      workflowId: 'welcome',
      name: 'Welcome',
      steps: [{ name: 'Inbox', type: 'in_app', controlValues: { subject: 'Hello', body: 'Good to have you.' } }],
    })
    const { page } = await open({ api: development, role: 'editor', path: '/subscribers' })
    await page.getByRole('heading', { name: 'No subscribers yet' }).waitFor()
    await page.locator('body').press('c')
    const dialog = page.getByRole('dialog', { name: 'New subscriber' })
    await dialog.getByLabel('Id').fill('ada')
    await dialog.getByLabel('First name').fill('Ada')
    await dialog.getByLabel('Email').fill('not an address')
    await dialog.getByRole('button', { name: 'Create subscriber' }).click()
    await dialog.getByText('Email must be an email').waitFor()
    await dialog.getByLabel('Email').fill('ada@example.com')
    await dialog.getByRole('button', { name: 'Create subscriber' }).click()

    const sheet = page.getByRole('dialog', { name: 'Ada' })
    await sheet.getByLabel('Last name').fill('Lovelace')
    const data = sheet.getByRole('textbox', { name: 'Data' })
    await data.fill('{ "plan": ')
    await sheet.getByText('This is not JSON yet').waitFor()
    expect(await sheet.getByRole('button', { name: 'Save profile' }).isDisabled()).toBe(true)
    await data.fill('{ "plan": "pro" }')
    await sheet.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('Profile saved').waitFor()
    const stored = (await development.get('/v2/subscribers/ada')).body
    expect(stored).toMatchObject({ lastName: 'Lovelace', data: { plan: 'pro' }, phone: null })

    await development.post('/v2/topics/news/subscriptions', { subscriptions: ['ada'] })
    await development.post('/v1/events/trigger', { name: 'welcome', to: 'ada' })
    await server.drain()
    await page.reload()
    await page.getByRole('button', { name: 'Actions for Ada Lovelace' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByText('1 message in the inbox and 1 subscription to topics').waitFor()
    await page.getByRole('button', { name: 'Delete subscriber' }).click()
    await page.getByRole('heading', { name: 'No subscribers yet' }).waitFor()
    expect((await development.get('/v2/subscribers/ada')).status).toBe(404)
  })

  test('is exported whole, and erased from everywhere, by admins', async () => {
    const { development } = await server.freshOrganization()
    await development.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace' })
    const { page } = await open({ api: development, role: 'admin', path: '/subscribers/ada' })
    const menu = page.getByRole('button', { name: 'Actions for Ada Lovelace' })
    await menu.click()
    const file = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Export all data' }).click()
    const download = await file
    expect(download.suggestedFilename()).toBe('ada.json')
    expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toMatchObject({
      subscriberId: 'ada',
      data: { subscribers: [{ lastName: 'Lovelace' }] },
    })
    await menu.click()
    await page.getByRole('menuitem', { name: 'Erase every trace…' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await development.get('/v2/subscribers/ada')).status).toBe(200)
    await menu.click()
    await page.getByRole('menuitem', { name: 'Erase every trace…' }).click()
    await page.getByRole('button', { name: 'Erase everything' }).click()
    await page.getByText('Ada Lovelace is gone.').waitFor()
    expect((await development.get('/v2/subscribers/ada')).status).toBe(404)
    expect((await development.get('/v2/erasures')).body.data).toHaveLength(1)
  })

  test('a picker that is opened before a saved schedule comes back stays open', async () => {
    const { development } = await server.freshOrganization()
    await development.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace' })
    const { page } = await open({ api: development, role: 'editor', path: '/subscribers/ada' })
    const sheet = page.getByRole('dialog', { name: 'Ada Lovelace' })
    await sheet.getByRole('tab', { name: 'Preferences' }).click()
    await sheet.getByRole('switch', { name: 'Use the schedule' }).click()
    let answer: () => void = () => undefined
    const opened = new Promise<void>((resolve) => {
      answer = resolve
    })
    const isAsked = (method: string, url: string) => method === 'GET' && /\/ada\/preferences/.test(url)
    await page.route('**/*', async (route) => {
      if (isAsked(route.request().method(), route.request().url())) await opened
      await route.fallback()
    })
    const again = page.waitForResponse((response) => isAsked(response.request().method(), response.url()))
    await sheet.getByRole('button', { name: 'Save schedule' }).click()
    await sheet.getByRole('combobox', { name: 'Time zone' }).click()
    await page.getByPlaceholder('Type to find…').waitFor()
    answer()
    await again
    await page.getByText('Schedule saved').waitFor()
    await page.getByPlaceholder('Type to find…').fill('Zurich')
    await page.getByRole('option', { name: /Europe\/Zurich/ }).click()
    await page.getByText('Time zone saved').waitFor()
  })

  test('shows and changes what they want, how they are reached, what they got and what they follow', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    for (const [workflowId, name] of [
      ['comments', 'Somebody commented on your document'],
      ['orders', 'Order shipped'],
    ] as const)
      await addWorkflow(development, {
        workflowId,
        name,
        steps: [
          { name: 'Inbox', type: 'in_app', controlValues: { subject: `About ${name}`, body: 'Have a look 👀' } },
          { name: 'Mail', type: 'email', controlValues: { subject: 'About it', body: 'Have a look' } },
        ],
      })
    await development.post('/v1/integrations', {
      ...{ providerId: 'fcm', channel: 'push', name: 'Firebase', identifier: 'firebase', active: true, check: false },
      credentials: { serviceAccount: '{}' },
    })
    await development.post('/v2/topics', { key: 'news', name: 'News' })
    await development.post('/v1/events/trigger', { name: 'comments', to: 'ada' })
    await server.drain()
    const { page } = await open({ api: development, role: 'editor', path: '/subscribers/ada' })
    const sheet = page.getByRole('dialog', { name: 'Ada Lovelace' })
    await sheet.getByRole('button', { name: 'Save profile' }).waitFor()
    await takePictures(page, 'subscriber-profile')
    expect(await obstacles(page)).toEqual([])

    await sheet.getByRole('tab', { name: 'Preferences' }).click()
    const email = sheet.getByRole('switch', { name: 'Order shipped: Email' })
    await email.click()
    await expect.poll(() => email.getAttribute('aria-checked')).toBe('false')
    await sheet.getByText('Own choice: Email').waitFor()
    await sheet.getByRole('switch', { name: 'Use the schedule' }).click()
    await sheet.getByRole('checkbox', { name: 'Monday' }).click()
    await sheet.getByLabel('Tuesday until').fill('18:30')
    await takePictures(page, 'subscriber-preferences')
    expect(await obstacles(page)).toEqual([])
    await sheet.getByRole('button', { name: 'Save schedule' }).click()
    await page.getByText('Schedule saved').waitFor()
    const { global, workflows } = (await development.get('/v2/subscribers/ada/preferences')).body
    expect(workflows.find((one: any) => one.workflow.identifier === 'orders').channels.email).toBe(false)
    expect(global.schedule).toMatchObject({
      isEnabled: true,
      weeklySchedule: {
        monday: { isEnabled: false },
        tuesday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '06:30 PM' }] },
        saturday: { isEnabled: false },
      },
    })
    await sheet.getByRole('combobox', { name: 'Time zone' }).click()
    await page.getByPlaceholder('Type to find…').fill('Zurich')
    await page.getByRole('option', { name: /Europe\/Zurich/ }).click()
    await page.getByText('Time zone saved').waitFor()
    expect((await development.get('/v2/subscribers/ada')).body.timezone).toBe('Europe/Zurich')

    await sheet.getByRole('tab', { name: 'Channels' }).click()
    await sheet.getByRole('button', { name: 'Add credentials' }).click()
    const adding = page.getByRole('dialog', { name: 'Add credentials' })
    await adding.getByRole('combobox', { name: 'Integration' }).click()
    await page.getByRole('option', { name: /Firebase/ }).click()
    await adding.getByLabel('Device tokens').fill('first-device\nsecond-device')
    await adding.getByRole('button', { name: 'Add credentials' }).click()
    await sheet.getByText('second-device').waitFor()
    await takePictures(page, 'subscriber-channels')
    await sheet.getByRole('button', { name: 'Remove fcm' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect
      .poll(async () => (await development.get('/v2/subscribers/ada')).body.channels[0]?.credentials.deviceTokens)
      .toEqual(['first-device', 'second-device'])

    await sheet.getByRole('tab', { name: 'Inbox' }).click()
    await sheet.getByRole('heading', { name: 'About Somebody commented on your document' }).waitFor()
    await takePictures(page, 'subscriber-inbox')
    await sheet.getByRole('button', { name: /^Actions for About/ }).click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    await sheet.getByRole('heading', { name: 'The inbox is empty' }).waitFor()
    await sheet.getByRole('button', { name: 'Archived' }).click()
    await sheet.getByRole('heading', { name: 'About Somebody commented on your document' }).waitFor()
    await page.reload()
    await sheet.getByRole('heading', { name: 'About Somebody commented on your document' }).waitFor()

    await sheet.getByRole('tab', { name: 'Topics' }).click()
    await sheet.getByRole('combobox', { name: 'Follow a topic' }).click()
    await page.getByRole('option', { name: /News/ }).click()
    await sheet.getByRole('link', { name: 'News' }).waitFor()
    await sheet.getByRole('button', { name: 'Stop following News' }).click()
    await sheet.getByRole('heading', { name: 'Follows no topic' }).waitFor()

    await sheet.getByRole('tab', { name: 'Runs' }).click()
    await sheet.getByRole('link', { name: 'Somebody commented on your document' }).waitFor()
    await takePictures(page, 'subscriber-runs')
    const all = sheet.getByRole('link', { name: 'All runs of this subscriber' })
    expect(await all.getAttribute('href')).toContain('/activity?subscriberIds=ada')
  })

  test('a viewer reads everything and changes nothing', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    const { page } = await open({ api: development, role: 'viewer', path: '/subscribers/ada?new=true&import=true' })
    const sheet = page.getByRole('dialog', { name: 'Ada Lovelace' })
    await sheet.getByLabel('First name').waitFor()
    expect(await sheet.getByLabel('First name').isDisabled()).toBe(true)
    for (const name of ['Save profile', 'Actions for Ada Lovelace', 'New subscriber', 'Import'])
      expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0])
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(await obstacles(page)).toEqual([])
  })
})

describe('a file of people', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, n) => {
      const email = n === 41 ? 'not-an-address' : `person${n}@example.com`
      return `${n === 700 ? '' : `person-${n}`},Person,Nr ${n},${email},${n % 2 === 0 ? 'pro' : 'free'}`
    })
  const csv = (count: number) => ['user id,First Name,Last Name,E-Mail,plan', ...rows(count)].join('\r\n')

  async function choose(page: Page, name: string, text: string): Promise<void> {
    await page.getByLabel('File to import').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
  }

  test('of 1,200 rows, two of them bad, is stored with progress; whoever leaves finds it again, and the bad ones can be mended', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, role: 'editor', path: '/subscribers?import=true' })
    await choose(page, 'people.csv', csv(1200))
    const dialog = page.getByRole('dialog', { name: 'Import subscribers' })
    await dialog.getByText('1,198 rows can be imported, 2 will be refused').waitFor()
    await dialog.getByText('“not-an-address” is not an email address').waitFor()
    await dialog.getByText('The id is missing').waitFor()
    await takePictures(page, 'subscribers-mapping')
    expect(await obstacles(page)).toEqual([])

    // The second request waits at the gate, so that there is something to see.
    let letThrough = () => {}
    const gate = new Promise<void>((resolve) => {
      letThrough = resolve
    })
    let requests = 0
    await page.route('**/v1/subscribers/bulk', async (route) => {
      requests += 1
      if (requests > 1) await gate
      await route.continue()
    })
    await dialog.getByRole('button', { name: 'Import 1,198 rows' }).click()
    const bar = page.getByRole('progressbar')
    await expect.poll(() => bar.getAttribute('aria-valuenow')).toBe('502')
    expect(await bar.getAttribute('aria-valuemax')).toBe('1200')
    await takePictures(page, 'subscribers-importing')
    await page.getByRole('button', { name: 'Continue in the background' }).click()

    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Topics' }).click()
    await page.getByRole('heading', { name: 'Topics', exact: true }).waitFor()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Subscribers' }).click()
    await page.getByRole('progressbar', { name: 'Importing people.csv' }).waitFor()
    letThrough()
    await page.getByText('Imported people.csv: 1,198 stored, 2 refused').waitFor()
    await page.getByRole('button', { name: 'Show import' }).click()
    const result = page.getByRole('dialog', { name: 'Import of people.csv' })
    await result.getByText('1,198 created, 0 updated, 2 refused').waitFor()
    await result.getByText('Line 43').waitFor()
    await takePictures(page, 'subscribers-imported')
    const [refused] = await Promise.all([
      page.waitForEvent('download'),
      result.getByRole('button', { name: 'Download refused rows' }).click(),
    ])
    expect((await textOf(refused)).split('\r\n')).toEqual([
      'user id,First Name,Last Name,E-Mail,plan,refused because',
      'person-41,Person,Nr 41,not-an-address,free,“not-an-address” is not an email address',
      ',Person,Nr 700,person700@example.com,pro,The id is missing',
    ])
    await result.getByRole('button', { name: 'Done' }).click()
    await page.getByText('1,198 subscribers').waitFor()
    expect((await development.get('/v2/subscribers/person-40')).body).toMatchObject({
      ...{ firstName: 'Person', lastName: 'Nr 40', email: 'person40@example.com', data: { plan: 'pro' } },
    })
    expect(requests).toBe(3)
  })

  test('that is JSON keeps nested data; a row only the server refuses is left out, and no other', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, role: 'editor', path: '/subscribers?import=true' })
    const records = [
      { subscriberId: 'one', firstName: 'One', data: { address: { city: 'Zürich' } } },
      // Longer than any identifier may be.
      { subscriberId: 'x'.repeat(5_000) },
      { subscriberId: 'three', tags: ['a', 'b'] },
    ]
    await choose(page, 'people.json', JSON.stringify(records))
    await page.getByRole('button', { name: 'Import 3 rows' }).click()
    await page.getByText('2 created, 0 updated, 1 refused').waitFor()
    expect((await development.get('/v2/subscribers/one')).body.data).toEqual({ address: { city: 'Zürich' } })
    expect((await development.get('/v2/subscribers/three')).body.data).toEqual({ tags: ['a', 'b'] })
  })

  test('that is none says what is wrong with it', async () => {
    const { page } = await open({ role: 'editor', path: '/subscribers?import=true' })
    await choose(page, 'empty.csv', ' ')
    await page.getByText('empty.csv: The file is empty.').waitFor()
    await choose(page, 'list.json', '[1, 2]')
    await page.getByText('Record 1 is not an object').waitFor()
    await choose(page, 'people.csv', 'name,plan\nAda,pro')
    await page.getByText('Choose the column that has the id').waitFor()
    await page.getByRole('combobox', { name: 'name becomes' }).click()
    await page.getByRole('option', { name: 'Id', exact: true }).click()
    await page.getByText('All 1 rows can be imported').waitFor()
  })

  test('comes out as it went in: an export is a file that can be imported', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    for (let n = 0; n < 120; n += 1) await development.post('/v2/subscribers', { subscriberId: `more-${n}` })
    const { page } = await open({ api: development, role: 'viewer', path: '/subscribers' })
    const exportAs = async (format: RegExp) => {
      await page.getByRole('button', { name: 'Export' }).click()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format }).click(),
      ])
      return file
    }
    const json = await exportAs(/JSON/)
    expect(json.suggestedFilename()).toBe('subscribers-development.json')
    const all = JSON.parse(await textOf(json))
    expect(all).toHaveLength(125)
    expect(all[0]).toMatchObject(people[0] ?? {})
    await page.getByRole('searchbox', { name: 'Search subscribers' }).fill('lovelace')
    await expect.poll(() => names(page)).toEqual(['Ada Lovelace'])
    const lines = (await textOf(await exportAs(/CSV/))).split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toBe('subscriberId,firstName,lastName,email,phone,avatar,locale,timezone,data,createdAt,updatedAt')
    expect(lines[1]).toContain('ada,Ada,Lovelace,ada@example.com,+441632960001,,en_GB,Europe/London,"{""plan"":""pro""')
  })
})
