// Waits for events: the form in the editor, the page of posted events, and a run that waits.
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { branch, is, say } from '../../server/test/journeys.ts'
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
})

beforeEach(async () => {
  page = (await open({ api, path: '/events' })).page
})

const stored = async (workflowId: string) => (await api.get(`/v2/workflows/${workflowId}`)).body.steps

test('an empty page of events shows the request that fills it, and posts one by hand', async () => {
  await page.getByText('No events yet').waitFor()
  await page.getByText('/v2/events').first().waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'events-empty')

  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Post an event' })
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('message.read')
  await dialog.getByRole('textbox', { name: 'Key' }).fill('cart-7')
  const post = dialog.getByRole('button', { name: 'Post event' })
  await post.click()
  await dialog.getByText(/not with "message\."/).waitFor()
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('cart.paid')
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'events-post')
  await post.click()
  await row(page, 'cart.paid').getByText('cart-7').waitFor()
  expect((await api.get('/v2/events')).body.data).toMatchObject([{ name: 'cart.paid', key: 'cart-7', payload: {} }])
})

test('events are found by name, subscriber and key; a sheet has everything about one', async () => {
  await api.post('/v2/events/bulk', {
    events: [
      { name: 'cart.opened', subscriberId: 'ada', key: 'cart-9', id: 'opened-9', payload: { total: 40 } },
      { name: 'user.signed_up', subscriberId: 'grace' },
    ],
  })
  await server.drain()
  await follow(page, '/events?subscriberId=ada')
  await row(page, 'cart.opened').waitFor()
  expect(await row(page, 'user.signed_up').count()).toBe(0)
  await takeScreenshots(page, 'events')
  await row(page, 'cart.opened').getByRole('link').click()
  const sheet = page.getByRole('dialog', { name: 'cart.opened' })
  await sheet.getByText('opened-9').waitFor()
  await sheet.getByText('Nothing', { exact: true }).waitFor()
  await sheet.getByText('40').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'event')
  await follow(page, '/events?name=cart')
  await page.getByText('No event matches').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await row(page, 'user.signed_up').waitFor()
  expect(await overflowOnPhone(page)).toBe(0)
})

test('a wait is added and filled in: events with key and condition, messages, a timeout and how far it looks back', async () => {
  await makeWorkflow(api, 'cart', [say('inbox', 'You left something {{payload.cartId}}')])
  await follow(page, '/workflows/cart')
  await addStep(page, 'Add a step after inbox', /^Wait for an event/)
  const panel = page.getByRole('region', { name: 'Step Wait for an event' })
  const first = panel.getByRole('group', { name: 'Event 1' })
  // Nothing is red before anybody was there.
  await first.getByText(/required/i).waitFor()
  await first.getByRole('textbox', { name: 'Name' }).fill('cart.paid')
  await first.getByRole('textbox', { name: 'Key' }).click()
  await page.keyboard.insertText('{{payload.cartId}}')
  await first.getByRole('button', { name: /^Only if/ }).click()
  await first.getByRole('button', { name: 'Add a condition' }).click()
  await first.getByRole('combobox', { name: 'Field' }).click()
  await page.getByPlaceholder('Type to find…').fill('event.payload.total')
  await page.getByRole('option', { name: 'Use “event.payload.total”' }).click()
  await first.getByRole('combobox', { name: 'Operator' }).click()
  await page.getByRole('option', { name: 'is more than' }).click()
  await first.getByRole('textbox', { name: 'Value' }).fill('0')

  await panel.getByRole('button', { name: 'Or something else' }).click()
  await panel.getByRole('group', { name: 'Event 2' }).getByRole('button', { name: 'A message' }).click()
  const second = panel.getByRole('group', { name: 'Message 2' })
  await second.getByRole('combobox', { name: 'Of the step' }).click()
  await page.getByRole('option', { name: 'inbox' }).click()
  await second.getByRole('checkbox', { name: 'acted on' }).click()

  await panel.getByRole('spinbutton', { name: 'Wait at most' }).fill('2')
  await panel.getByRole('combobox', { name: 'Events count' }).click()
  await page.getByRole('option', { name: 'Also before the trigger' }).click()
  await panel.getByRole('spinbutton', { name: 'Back to' }).fill('10')
  await saved(page)
  const [, wait] = await stored('cart')
  expect(wait).toMatchObject({
    type: 'wait_for_event',
    controlValues: {
      for: [
        {
          event: 'cart.paid',
          key: '{{payload.cartId}}',
          condition: { and: [{ '>': [{ var: 'event.payload.total' }, 0] }] },
        },
        { message: 'inbox', happens: ['read', 'acted'] },
      ],
      ...{ amount: 2, unit: 'hours', lookBack: { amount: 10, unit: 'hours' } },
    },
  })
  expect(wait.issues?.controls ?? {}).toEqual({})
  const flow = page.locator('[data-flow]')
  await flow.getByText('Until cart.paid or inbox is read or acted on').waitFor()
  await flow.getByText('at most 2 hours').waitFor()
  // In place of a preview: how a program ends it.
  await panel.getByText('"name": "cart.paid"').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'wait-form')
})

test('it waits until a time of day or for what the trigger says, and counts from its own beginning', async () => {
  const [, { stepId }] = await stored('cart')
  await follow(page, `/workflows/cart?step=${stepId}`)
  const panel = page.getByRole('region', { name: 'Step Wait for an event' })
  await panel.getByRole('button', { name: 'Until a time of day' }).click()
  await page.locator('[data-flow]').getByText('at most until every day at 9:00').waitFor()
  await panel.getByRole('combobox', { name: 'Events count' }).click()
  await page.getByRole('option', { name: 'Only from the wait on' }).click()
  await saved(page)
  const values = async () => (await stored('cart'))[1].controlValues
  expect(await values()).toMatchObject({ cron: '0 9 * * *', lookBack: false })
  await panel.getByRole('button', { name: 'From the trigger' }).click()
  await panel.getByRole('textbox', { name: 'Until' }).click()
  await page.keyboard.insertText('payload.until')
  await panel.getByRole('group', { name: 'Message 2' }).getByRole('button', { name: 'Remove message 2' }).click()
  await saved(page)
  const after = await values()
  expect(after).toMatchObject({ for: [{ event: 'cart.paid' }], dynamicKey: 'payload.until' })
  expect(after.cron).toBeUndefined()
})

test('a unit that the form does not offer is shown as it is stored', async () => {
  const lookBack = { amount: 1, unit: 'weeks' }
  const controlValues = { for: [{ event: 'cart.paid' }], amount: 2, unit: 'hours', lookBack }
  await makeWorkflow(api, 'weekly', [{ name: 'Wait', stepId: 'wait', type: 'wait_for_event', controlValues }])
  await follow(page, '/workflows/weekly?step=wait')
  await page.getByRole('combobox', { name: 'Unit of back to' }).getByText('weeks').waitFor()
})

test('a step in an arm waits only for messages that it can know of', async () => {
  await makeWorkflow(api, 'paths', [
    branch('size', [
      {
        name: 'Large',
        condition: is('payload.size', 'L'),
        steps: [
          say('large'),
          {
            ...{ name: 'Wait', stepId: 'wait', type: 'wait_for_event' },
            controlValues: { for: [{ message: 'large', happens: ['read'] }], amount: 1, unit: 'hours' },
          },
        ],
      },
      { name: 'Small', condition: is('payload.size', 'S'), steps: [say('small')] },
    ]),
    say('after'),
  ])
  await follow(page, '/workflows/paths?step=wait')
  await page.getByRole('combobox', { name: 'Of the step' }).click()
  expect(await page.getByRole('option').allTextContents()).toEqual(['large'])
  await page.keyboard.press('Escape')
})

test('a run that waits counts down, says what it waits for, and offers to post the event', async () => {
  await makeWorkflow(api, 'remind', [
    say('inbox'),
    {
      ...{ name: 'Payment', stepId: 'payment', type: 'wait_for_event' },
      controlValues: {
        for: [
          { event: 'cart.paid', key: '{{payload.cartId}}' },
          { event: 'user.left' },
          { message: 'inbox', happens: ['read', 'archived'] },
        ],
        ...{ amount: 2, unit: 'hours' },
      },
    },
    say('after'),
  ])
  const transactionId = await trigger(api, 'remind', 'ada', { payload: { cartId: 'c7' } })
  await server.drain()
  const { _id, jobs } = await runOf(api, transactionId)
  expect(jobs[1].outcome).toMatchObject({ keys: ['c7', null, null] })
  await follow(page, `/activity/${_id}`)
  const waits = page.getByRole('region', { name: 'What Payment waits for' })
  await waits.getByText('cart.paid with the key c7').waitFor()
  await waits.getByText('user.left about ada').waitFor()
  await waits.getByText('inbox is read or archived').waitFor()
  await page.locator(`time[datetime="${jobs[1].dueAt}"]`, { hasText: /left$|^any moment$/ }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'run-waits')

  await waits.getByRole('button', { name: 'Post this event' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Post an event' })
  expect(await dialog.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('cart.paid')
  expect(await dialog.getByRole('textbox', { name: 'Key' }).inputValue()).toBe('c7')
  await dialog.getByRole('button', { name: 'Post event' }).click()
  await dialog.waitFor({ state: 'detached' })
  await server.drain()
  await page.getByText('The event “cart.paid” ended the wait.').first().waitFor()
  await follow(page, '/events')
  await row(page, 'c7').getByText('1 wait').waitFor()
})

test('viewers see events and waits, and post none', async () => {
  const { page: theirs } = await open({ api, role: 'viewer', path: '/events' })
  await row(theirs, 'c7').waitFor()
  expect(await theirs.getByRole('button', { name: 'Post event' }).count()).toBe(0)
  await row(theirs, 'c7').getByRole('link').click()
  await theirs.getByRole('dialog', { name: 'cart.paid' }).getByText('Id', { exact: true }).waitFor()
  expect(await theirs.getByRole('button', { name: 'Post it again' }).count()).toBe(0)
})
