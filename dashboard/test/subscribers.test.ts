import { readFileSync } from 'node:fs'
import type { Download, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, follow, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

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

/** The names in the first cell of each row. */
const names = (page: Page) =>
  page
    .getByRole('table', { name: 'Subscribers' })
    .locator('tbody tr td a[data-row-link]')
    .locator('[dir=auto]')
    .allTextContents()

const textOf = async (download: Download) => readFileSync(await download.path(), 'utf8')

describe('the list', () => {
  test('finds subscribers by name, address, number and whole id; filters are in the URL and survive a reload', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    const { page } = await open({ api: development, path: '/subscribers' })
    await expect.poll(() => names(page)).toHaveLength(5)
    await takeScreenshots(page, 'subscribers')
    expect(await axeViolations(page)).toEqual([])

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
    await page.getByRole('heading', { name: 'No subscriber matches' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
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

    // The list and every tab of a subscriber fit on a small phone.
    expect(await overflowOnPhone(page)).toBe(0)
    await page.getByRole('link', { name: 'Ada Lovelace' }).click()
    for (const tab of ['Profile', 'Preferences', 'Channels', 'Inbox', 'Topics', 'Runs']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('tabpanel', { name: tab }).waitFor()
      expect([tab, await overflowOnPhone(page)]).toEqual([tab, 0])
    }

    await onDesktop(page)
    await follow(page, '/subscribers/nobody-at-all')
    await page.getByRole('alert').getByText('nobody-at-all').waitFor()
  })
})

describe('one subscriber', () => {
  test('a filter on the data is saved as a view, renamed and deleted', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    const { page } = await open({ api: development, path: '/subscribers' })
    await expect.poll(() => names(page)).toHaveLength(5)
    await page.getByRole('button', { name: 'Data', exact: true }).click()
    await page.getByRole('combobox', { name: 'Field' }).fill('data.plan')
    await page.getByRole('textbox', { name: 'Value' }).fill('pro')
    await page.keyboard.press('Enter')
    await expect.poll(() => names(page)).toEqual(['Ada Lovelace'])
    expect(new URL(page.url()).searchParams.getAll('data')).toEqual(['plan=pro'])

    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view…' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Pro plan')
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByRole('button', { name: 'Pro plan' }).waitFor()
    await takeScreenshots(page, 'subscribers-view')
    await page.getByRole('button', { name: 'Remove the filter plan=pro' }).click()
    await expect.poll(() => names(page)).toHaveLength(5)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Pro plan' }).click()
    await expect.poll(() => names(page)).toEqual(['Ada Lovelace'])

    await page.getByRole('button', { name: 'Pro plan' }).click()
    await page.getByRole('menuitem', { name: 'Rename “Pro plan”…' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Paying')
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('button', { name: 'Paying' }).click()
    await page.getByRole('menuitem', { name: 'Delete “Paying”' }).click()
    await page.getByRole('button', { name: 'Views' }).waitFor()
    expect(await axeViolations(page)).toEqual([])
  })

  test('subscribers are chosen by keyboard, added to a topic, exported and deleted, each with one request', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    const { page } = await open({ api: development, path: '/subscribers' })
    await expect.poll(() => names(page)).toHaveLength(5)
    const changes: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(`${request.method()} ${new URL(request.url()).pathname}`)
    })
    const bar = page.getByRole('toolbar', { name: 'Selected rows' })
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await bar.getByText('2 selected').waitFor()
    await page.keyboard.press('Escape')
    await bar.waitFor({ state: 'detached' })

    await page.getByRole('checkbox', { name: 'Select all on this page' }).focus()
    await page.keyboard.press('Space')
    await bar.getByText('5 selected').waitFor()
    await takeScreenshots(page, 'subscribers-selected')
    expect(await axeViolations(page)).toEqual([])
    await bar.getByRole('button', { name: 'Add to topic' }).click()
    await page.getByRole('combobox', { name: 'Topic' }).click()
    await page.keyboard.type('product-news')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Add to topic' }).click()
    await page.getByText('5 subscribers follow product-news').waitFor()
    expect((await development.get('/v2/topics/product-news/subscriptions')).body.totalCount).toBe(5)

    for (const name of ['Ada Lovelace', 'Grace Hopper'])
      await page.getByRole('checkbox', { name: `Select ${name}` }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      bar
        .getByRole('button', { name: 'Export' })
        .click()
        .then(() => page.getByRole('menuitem', { name: /^JSON/ }).click()),
    ])
    const exported = JSON.parse(await textOf(file)).map((one: { subscriberId: string }) => one.subscriberId)
    expect(exported.sort()).toEqual(['ada', 'grace'])

    await bar.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete 2 subscribers?' }).getByText('Ada Lovelace').waitFor()
    await page.getByRole('button', { name: 'Delete 2 subscribers' }).click()
    await expect.poll(() => names(page)).toHaveLength(3)
    await bar.waitFor({ state: 'detached' })
    expect(changes).toEqual(['POST /v2/topics/product-news/subscriptions', 'POST /v2/subscribers/bulk-delete'])
  })

  test('an empty list shows how to fill it; a subscriber can be created, changed and deleted, after naming what is lost', async () => {
    const { development } = await server.freshOrganization()
    await addWorkflow(development, {
      workflowId: 'welcome',
      name: 'Welcome',
      steps: [{ name: 'Inbox', type: 'in_app', controlValues: { subject: 'Hello', body: 'Good to have you.' } }],
    })
    const { page } = await open({ api: development, role: 'editor', path: '/subscribers' })
    await page.getByRole('heading', { name: 'No subscribers yet' }).waitFor()
    await page.getByText('/v2/subscribers').first().waitFor()
    await takeScreenshots(page, 'subscribers-empty')
    expect(await axeViolations(page)).toEqual([])
    await page.locator('body').press('c')
    const dialog = page.getByRole('dialog', { name: 'New subscriber' })
    await dialog.getByLabel('Id').fill('ada')
    await dialog.getByLabel('First name').fill('Ada')
    await dialog.getByLabel('Email').fill('not an address')
    await dialog.getByRole('button', { name: 'Create subscriber' }).click()
    await dialog.getByText('Enter an email address, such as ada@example.com.').waitFor()
    await dialog.getByLabel('Email').fill('ada@example.com')
    await dialog.getByRole('button', { name: 'Create subscriber' }).click()

    const sheet = page.getByRole('dialog', { name: 'Ada' })
    await sheet.getByLabel('Last name').fill('Lovelace')
    const data = sheet.getByRole('textbox', { name: 'Data' })
    await data.fill('{ "plan": ')
    await sheet.getByText('This is not valid JSON').waitFor()
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

  test('an admin can export all data of a subscriber, and erase it everywhere', async () => {
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
    await page.getByRole('menuitem', { name: 'Erase all data…' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await development.get('/v2/subscribers/ada')).status).toBe(200)
    await menu.click()
    await page.getByRole('menuitem', { name: 'Erase all data…' }).click()
    await page.getByRole('button', { name: 'Erase everything' }).click()
    await page.getByText('Ada Lovelace erased.').waitFor()
    expect((await development.get('/v2/subscribers/ada')).status).toBe(404)
    expect((await development.get('/v2/erasures')).body.data).toHaveLength(1)
  })

  test('a picker opened before the saved schedule is refetched stays open', async () => {
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

  test('shows and changes preferences, channels, inbox messages and topics', async () => {
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
    await takeScreenshots(page, 'subscriber-profile')
    expect(await axeViolations(page)).toEqual([])

    await sheet.getByRole('tab', { name: 'Preferences' }).click()
    const email = sheet.getByRole('switch', { name: 'Order shipped: Email' })
    await email.click()
    await expect.poll(() => email.getAttribute('aria-checked')).toBe('false')
    await sheet.getByText('Own setting: Email').waitFor()
    await sheet.getByRole('switch', { name: 'Use the schedule' }).click()
    await sheet.getByRole('checkbox', { name: 'Monday' }).click()
    await sheet.getByLabel('Tuesday until').fill('18:30')
    await takeScreenshots(page, 'subscriber-preferences')
    expect(await axeViolations(page)).toEqual([])
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
    await takeScreenshots(page, 'subscriber-channels')
    await sheet.getByRole('button', { name: 'Remove fcm' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect
      .poll(async () => (await development.get('/v2/subscribers/ada')).body.channels[0]?.credentials.deviceTokens)
      .toEqual(['first-device', 'second-device'])

    await sheet.getByRole('tab', { name: 'Inbox' }).click()
    await sheet.getByRole('heading', { name: 'About Somebody commented on your document' }).waitFor()
    await takeScreenshots(page, 'subscriber-inbox')
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
    await sheet.getByRole('heading', { name: 'No topics' }).waitFor()

    await sheet.getByRole('tab', { name: 'Runs' }).click()
    await sheet.getByRole('link', { name: 'Somebody commented on your document' }).waitFor()
    await takeScreenshots(page, 'subscriber-runs')
    const all = sheet.getByRole('link', { name: 'All runs of this subscriber' })
    expect(await all.getAttribute('href')).toContain('/activity?subscriberIds=ada')
  })

  test('a viewer can read everything and change nothing', async () => {
    const { development } = await server.freshOrganization()
    await fill(development)
    const { page } = await open({ api: development, role: 'viewer', path: '/subscribers/ada?new=true&import=true' })
    const sheet = page.getByRole('dialog', { name: 'Ada Lovelace' })
    await sheet.getByLabel('First name').waitFor()
    expect(await sheet.getByLabel('First name').isDisabled()).toBe(true)
    for (const name of ['Save profile', 'Actions for Ada Lovelace', 'New subscriber', 'Import'])
      expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0])
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(await axeViolations(page)).toEqual([])
  })
})

describe('importing and exporting', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, n) => {
      const email = n === 41 ? 'not-an-address' : `person${n}@example.com`
      return `${n === 700 ? '' : `person-${n}`},Person,Nr ${n},${email},${n % 2 === 0 ? 'pro' : 'free'}`
    })
  const csv = (count: number) => ['user id,First Name,Last Name,E-Mail,plan', ...rows(count)].join('\r\n')

  async function choose(page: Page, name: string, text: string): Promise<void> {
    await page.getByLabel('File to import').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
  }

  test('1,200 rows are imported with progress, also while the user visits other pages; two bad rows can be downloaded', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, role: 'editor', path: '/subscribers?import=true' })
    await choose(page, 'people.csv', csv(1200))
    const dialog = page.getByRole('dialog', { name: 'Import subscribers' })
    await dialog.getByText('1,198 rows can be imported, 2 will be refused').waitFor()
    await dialog.getByText('“not-an-address” is not an email address').waitFor()
    await dialog.getByText('The id is missing').waitFor()
    await takeScreenshots(page, 'subscribers-mapping')
    expect(await axeViolations(page)).toEqual([])

    // The second request waits, so that there is progress to see.
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
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
    await takeScreenshots(page, 'subscribers-importing')
    await page.getByRole('button', { name: 'Continue in the background' }).click()

    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Topics' }).click()
    await page.getByRole('heading', { name: 'Topics', exact: true }).waitFor()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Subscribers' }).click()
    await page.getByRole('progressbar', { name: 'Importing people.csv' }).waitFor()
    release()
    await page.getByText('Imported people.csv: 1,198 stored, 2 refused').waitFor()
    await page.getByRole('button', { name: 'Show import' }).click()
    const result = page.getByRole('dialog', { name: 'Import of people.csv' })
    await result.getByText('1,198 created, 0 updated, 2 refused').waitFor()
    await result.getByText('Line 43').waitFor()
    await takeScreenshots(page, 'subscribers-imported')
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

  test('a bad file is explained; JSON keeps nested data; a row that only the server refuses is left out, and no other', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, role: 'editor', path: '/subscribers?import=true' })
    await choose(page, 'empty.csv', ' ')
    await page.getByText('empty.csv: The file is empty.').waitFor()
    await choose(page, 'list.json', '[1, 2]')
    await page.getByText('Record 1 is not an object').waitFor()
    await choose(page, 'people.csv', 'name,plan\nAda,pro')
    await page.getByText('Choose the column with the id').waitFor()
    await page.getByRole('combobox', { name: 'name becomes' }).click()
    await page.getByRole('option', { name: 'Id', exact: true }).click()
    await page.getByText('The row can be imported').waitFor()
    await page.getByRole('button', { name: 'Choose another file' }).click()
    const records = [
      { subscriberId: 'one', firstName: 'One', data: { address: { city: 'Zürich' } } },
      // Longer than the server allows.
      { subscriberId: 'x'.repeat(5_000) },
      { subscriberId: 'three', tags: ['a', 'b'] },
    ]
    await choose(page, 'people.json', JSON.stringify(records))
    await page.getByRole('button', { name: 'Import 3 rows' }).click()
    await page.getByText('2 created, 0 updated, 1 refused').waitFor()
    expect((await development.get('/v2/subscribers/one')).body.data).toEqual({ address: { city: 'Zürich' } })
    expect((await development.get('/v2/subscribers/three')).body.data).toEqual({ tags: ['a', 'b'] })
  })

  test('an export can be imported again', async () => {
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
