// The steps that start workflows and change subscribers, the settings of runs, and the guards of an environment.
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { say } from '../../server/test/journeys.ts'
import { makeWorkflow, runOf, trigger } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, follow, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { addStep, row, saved } from './hands.ts'

const { server, open } = useDashboard()

let api: Api
let page: Page

beforeAll(async () => {
  const { development } = await server.freshOrganization()
  api = development
  await makeWorkflow(api, 'tell', [say('told')])
  await makeWorkflow(api, 'order', [say('hello')])
})

beforeEach(async () => {
  page = (await open({ api, path: '/workflows/order' })).page
})

const stored = async () => (await api.get('/v2/workflows/order')).body

test('a step starts another workflow for people and topics, with a payload', async () => {
  await addStep(page, 'Add a step after hello', /^Start a workflow/)
  const panel = page.getByRole('region', { name: 'Step Start a workflow' })
  await panel.getByRole('combobox', { name: 'Workflow' }).click()
  await page.getByRole('option', { name: 'tell' }).click()
  await panel.getByRole('button', { name: 'Add a recipient' }).click()
  await panel.getByRole('textbox', { name: 'Subscriber 1' }).click()
  await page.keyboard.insertText('{{payload.managerId}}')
  await panel.getByRole('button', { name: 'Add a recipient' }).click()
  await panel.getByRole('combobox', { name: 'What recipient 2 is' }).click()
  await page.getByRole('option', { name: 'Topic' }).click()
  await panel.getByRole('textbox', { name: 'Topic 2' }).click()
  await page.keyboard.insertText('managers')
  await panel.getByRole('textbox', { name: 'Payload' }).click()
  await page.keyboard.insertText('{"total": "{{payload.total}}"}')
  await saved(page)
  const [, step] = (await stored()).steps
  expect(step).toMatchObject({
    type: 'start_workflow',
    controlValues: {
      workflowId: 'tell',
      to: ['{{payload.managerId}}', { type: 'Topic', topicKey: 'managers' }],
      payload: { total: '{{payload.total}}' },
    },
  })
  expect(step.issues?.controls ?? {}).toEqual({})
  await page.locator('[data-flow]').getByText('Starts tell').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'start-workflow')
})

test('a step sets and clears fields of the subscriber', async () => {
  await addStep(page, 'Add a step after hello', /^Update the subscriber/)
  const panel = page.getByRole('region', { name: 'Step Update the subscriber' })
  const change = async (field: string) => {
    await panel.getByRole('button', { name: 'Change a field' }).click()
    await page.getByRole('menuitem', { name: field, exact: true }).click()
  }
  await change('First name')
  await panel.getByRole('textbox', { name: 'First name' }).click()
  await page.keyboard.insertText('{{payload.name}}')
  await change('Phone')
  await panel.getByRole('group', { name: 'What happens to Phone' }).getByRole('button', { name: 'Clear' }).click()
  await change('Data')
  const data = panel.getByRole('textbox', { name: 'Data' })
  await data.click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText('{"plan": "{{payload.plan}}"}')
  await saved(page)
  const values = async () => (await stored()).steps[1].controlValues
  expect(await values()).toEqual({ firstName: '{{payload.name}}', phone: null, data: { plan: '{{payload.plan}}' } })
  await page.locator('[data-flow]').getByText('Sets first name and data, clears phone').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'update-subscriber')
  await panel.getByRole('button', { name: 'Leave Phone as it is' }).click()
  await saved(page)
  expect(await values()).not.toHaveProperty('phone')
})

test('goals, the cancellation key, quiet hours and caps are settings of the workflow', async () => {
  await page.getByRole('button', { name: 'Settings' }).click()
  const sheet = page.getByRole('dialog', { name: 'Settings' })
  await sheet.getByRole('button', { name: 'Add a goal' }).click()
  const goal = sheet.getByRole('group', { name: 'Goal 1' }).first()
  await goal.getByText('Not saved yet. Say which event or message meets it.').waitFor()
  await goal.getByRole('textbox', { name: 'Name of goal 1' }).fill('Paid')
  await goal.getByRole('textbox', { name: 'Name', exact: true }).fill('order.paid')
  await goal.getByRole('textbox', { name: 'Key' }).click()
  await page.keyboard.insertText('{{payload.order}}')
  await sheet.getByRole('textbox', { name: 'Cancellation key' }).click()
  await page.keyboard.insertText('{{payload.order}}')
  await sheet.getByRole('combobox', { name: 'Outside a subscriber’s schedule' }).click()
  await page.getByRole('option', { name: 'Hold it until the schedule opens' }).click()
  await sheet.getByRole('switch', { name: 'Exempt from caps' }).click()
  await expect
    .poll(async () => (await stored()).journey, { timeout: 10_000 })
    .toEqual({
      cancellationKey: '{{payload.order}}',
      quietHours: 'hold',
      exemptFromCaps: true,
      goals: [{ name: 'Paid', for: [{ event: 'order.paid', key: '{{payload.order}}' }] }],
    })
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'journey')

  // A goal may be a condition, asked before each step.
  await sheet.getByRole('button', { name: 'Add a goal' }).click()
  const second = sheet.getByRole('group', { name: 'Goal 2' }).first()
  await second.getByRole('button', { name: 'Before a step, if' }).click()
  await second.getByRole('button', { name: 'Add a condition' }).click()
  await second.getByRole('combobox', { name: 'Field' }).click()
  await page.getByPlaceholder('Type to find…').fill('subscriber.data.plan')
  await page.getByRole('option', { name: /subscriber\.data\.plan/ }).click()
  await second.getByRole('textbox', { name: 'Value' }).fill('pro')
  await expect
    .poll(async () => (await stored()).journey.goals[1], { timeout: 10_000 })
    .toMatchObject({ name: 'Goal 2', condition: { and: [{ '==': [{ var: 'subscriber.data.plan' }, 'pro'] }] } })
  await sheet.getByRole('button', { name: 'Remove goal 1' }).click()
  await expect.poll(async () => (await stored()).journey.goals, { timeout: 10_000 }).toHaveLength(1)
})

test('a run names the goal that ended it, and the run that started it', async () => {
  await makeWorkflow(api, 'first', [
    {
      ...{ name: 'Next', stepId: 'next', type: 'start_workflow' },
      controlValues: { workflowId: 'waits', to: ['{{subscriber.subscriberId}}'] },
    },
  ])
  const wait = { type: 'regular', amount: 1, unit: 'hours' }
  await makeWorkflow(
    api,
    'waits',
    [{ name: 'Wait', stepId: 'wait', type: 'delay', controlValues: wait }, say('late')],
    {
      journey: { goals: [{ name: 'Signed up', for: [{ event: 'user.signed_up' }] }] },
    },
  )
  // Started by the run of `first`.
  const transactionId = await trigger(api, 'first', 'ada')
  await server.drain()
  const first = await runOf(api, transactionId)
  await follow(page, `/activity/${first._id}`)
  await page.getByText('Started the workflow “waits”.').first().waitFor()
  const [started] = (await api.get(`/v1/notifications?startedBy=${first._id}`)).body.data
  await api.post('/v2/events', { name: 'user.signed_up', subscriberId: 'ada' })
  await server.drain()
  await follow(page, `/activity/${started._id}`)
  await page.getByText('Signed up').waitFor()
  await page
    .getByText(/the goal of the workflow was met/)
    .first()
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'run-goal')
  await page.getByRole('link', { name: 'first' }).click()
  await page.waitForURL(new RegExp(first._id))
})

test('guards are settings of the environment: caps and quiet hours', async () => {
  await follow(page, '/settings')
  const day = page.getByRole('region', { name: 'In the last day' })
  await day.getByText('0 runs with a message held back by a cap').waitFor()
  await day.getByText('0 runs held until a schedule opened').waitFor()
  await page.getByRole('combobox', { name: 'Outside a subscriber’s schedule' }).click()
  await page.getByRole('option', { name: 'Hold it until the schedule opens' }).click()
  await page.getByRole('button', { name: 'Add a cap' }).click()
  const cap = page.getByRole('group', { name: /^Cap / })
  await cap.getByRole('textbox', { name: 'Id' }).fill('marketing')
  await cap.getByRole('spinbutton', { name: 'At most' }).fill('2')
  await cap.getByRole('spinbutton', { name: 'Window' }).fill('120')
  await cap.getByRole('combobox', { name: 'Channels' }).click()
  await page.getByRole('option', { name: 'SMS' }).click()
  await page.keyboard.press('Escape')
  const save = page.getByRole('button', { name: 'Save guards' })
  await save.click()
  await page.getByText(/not be longer than 90 days/).waitFor()
  await cap.getByRole('spinbutton', { name: 'Window' }).fill('7')
  await save.click()
  await page.getByText('Guards saved').waitFor()
  expect((await api.get('/v2/guards')).body).toEqual({
    quietHours: 'hold',
    caps: [{ id: 'marketing', limit: 2, window: { amount: 7, unit: 'days' }, channels: ['sms'] }],
  })
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'guards')
  expect(await overflowOnPhone(page)).toBe(0)
  // Closed for the next hours, whatever time it is.
  const hour = (hours: number) => {
    const at = new Date(server.clock.now().getTime() + hours * 3_600_000).toISOString().slice(11, 13)
    return `${String(Number(at) % 12 || 12).padStart(2, '0')}:00 ${Number(at) < 12 ? 'AM' : 'PM'}`
  }
  const shortly = { isEnabled: true, hours: [{ start: hour(3), end: hour(4) }] }
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  const schedule = { isEnabled: true, weeklySchedule: Object.fromEntries(days.map((name) => [name, shortly])) }
  await makeWorkflow(api, 'later', [{ type: 'sms', controlValues: { body: 'Hello' } }])
  await api.post('/v2/subscribers', { subscriberId: 'night-owl', phone: '+4915112345678', timezone: 'Etc/UTC' })
  expect((await api.patch('/v2/subscribers/night-owl/preferences', { schedule })).status).toBe(200)
  await trigger(api, 'later', 'night-owl')
  await server.drain()
  // The browser has the time of the service.
  await page.clock.setSystemTime(server.clock.now())
  await page.reload()
  await day.getByRole('link', { name: '1 run' }).click()
  await page.getByRole('button', { name: 'Held until a schedule opened' }).waitFor()
  await page.getByRole('button', { name: /^That happened since / }).waitFor()
  await row(page, 'later').waitFor()
})

test('an editor sees the guards, and cannot change them', async () => {
  const { page: theirs } = await open({ api, role: 'editor', path: '/settings' })
  expect(await theirs.getByRole('textbox', { name: 'Id' }).isDisabled()).toBe(true)
  expect(await theirs.getByRole('button', { name: 'Add a cap' }).count()).toBe(0)
})
