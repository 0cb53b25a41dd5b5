import { expect, test } from 'vitest'
import { axeViolations, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const steps = [
  {
    name: 'Inbox',
    stepId: 'inbox',
    type: 'in_app',
    controlValues: { subject: 'Hi', body: 'There is {{payload.title}}' },
  },
  {
    ...{ name: 'Mail', stepId: 'mail', type: 'email' },
    controlValues: { subject: 'News', body: 'Hello', skip: { '!=': [{ var: 'payload.title' }, 'nothing'] } },
  },
  { name: 'Text', stepId: 'text', type: 'sms', controlValues: { body: 'Hello' } },
]

test('the gates of each message stand in a row, the shut one says why, and its remedy is a button', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/workflows', { name: 'News', workflowId: 'news', active: true, steps })
  const ada = { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' }
  await development.post('/v2/subscribers', ada)
  await development.patch('/v2/subscribers/ada/preferences', { channels: { email: false } })
  await development.post('/v1/events/trigger', { name: 'news', to: 'ada', transactionId: 'news-1' })
  await server.drain()

  const { page } = await open({ api: development, role: 'editor', path: '/subscribers/ada' })
  await page.getByRole('link', { name: 'Would they get it?' }).click()
  await page.getByRole('heading', { name: 'Would they get it?' }).waitFor()
  await page.getByRole('heading', { name: 'Choose a workflow and a subscriber' }).waitFor()
  await page.getByRole('combobox', { name: 'Workflow' }).click()
  await page.getByRole('option', { name: /News/ }).click()
  await page.getByText('Ada Lovelace would get it by in-app message.').waitFor()
  const mail = page.getByRole('region', { name: 'Email mail' })
  await mail.getByText(/Ada Lovelace has switched email off for all workflows/).waitFor()
  expect(await mail.getByRole('list', { name: 'Gates' }).getByRole('listitem').allInnerTexts()).toEqual([
    ...[
      'Workflow\nopen',
      'Schedule\nopen',
      'Preference\nshut',
      'Condition\nopen',
      'Integration\nopen',
      'Address\nopen',
    ],
    ...['Content\nopen', 'Suppression\nopen'],
  ])
  const text = page.getByRole('region', { name: 'SMS text' })
  await text.getByText('Ada Lovelace has no phone number that can be used.').waitFor()
  await text.getByRole('link', { name: 'Open subscriber' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'explain')

  await mail.getByRole('button', { name: 'Switch on' }).click()
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await dialog.getByText('Ada switches email on for News?').waitFor()
  await dialog.getByRole('button', { name: 'Switch on' }).click()
  await page.getByText('Ada Lovelace would get it by in-app message and email.').waitFor()
  expect((await development.get('/v1/explain?workflowId=news&subscriberId=ada')).body.channels.email.wouldGet).toBe(
    true,
  )

  await page.getByRole('textbox', { name: 'Payload', exact: true }).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText('{"title":"nothing"}')
  await mail.getByText('The step’s condition does not hold: payload.title is "nothing".').waitFor()
  await mail.getByText('Nothing that can be changed here would help.').waitFor()

  const [run] = (await development.get('/v1/notifications?transactionId=news-1')).body.data
  await page.goto(`${server.url}/activity/${run._id}`)
  await page.getByRole('button', { name: 'Why not?' }).click()
  await page.getByText('Ada Lovelace got it by in-app message.').waitFor()
  const then = page.getByRole('region', { name: 'Email mail' })
  await then.getByText(/has switched email off for all workflows/).waitFor()
  expect(await then.getByRole('list', { name: 'Gates' }).getByRole('listitem').allInnerTexts()).toEqual([
    ...['Workflow\nopen', 'Schedule\nopen', 'Preference\nshut', 'Condition\nnot known', 'Integration\nnot known'],
    ...['Address\nnot known', 'Content\nnot known', 'Suppression\nnot known'],
  ])
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'why-not')

  await page.goto(`${server.url}/workflows/news`)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Would they get it?' }).click()
  await page.waitForURL(({ pathname, search }) => pathname === '/explain' && search.includes('workflowId=news'))
})

test('a viewer sees what would help without a button, and finds the page in the palette', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/workflows', { name: 'Off', workflowId: 'off', active: false, steps: steps.slice(0, 1) })
  const { page } = await open({ api: development, role: 'viewer', path: '/activity' })
  await page.getByRole('heading', { name: 'Activity', exact: true }).waitFor()
  await page.locator('body').press('Control+k')
  await page.getByPlaceholder(/Go to a page/).fill('would they')
  await page.getByRole('option', { name: 'Would they get it?' }).click()
  await page.waitForURL(({ pathname }) => pathname === '/explain')
  await page.goto(`${server.url}/explain?workflowId=off&subscriberId=nobody`)
  await page.getByText('nobody would not get it.').waitFor()
  await page.getByText('Activate Off').waitFor()
  expect(await page.getByRole('button', { name: 'Switch on' }).count()).toBe(0)
})
