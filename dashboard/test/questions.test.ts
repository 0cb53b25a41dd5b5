// Questions: the form of a step that asks, the page of questions, and rotas.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { say } from '../../server/test/journeys.ts'
import { makeWorkflow, trigger } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, follow, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { addStep, row, saved } from './hands.ts'

const { server, open } = useDashboard()

/** One of the options of a field. */
async function choose(field: Locator, option: string): Promise<void> {
  await field.click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

let api: Api
let page: Page

beforeAll(async () => {
  const { development } = await server.freshOrganization()
  api = development
})

beforeEach(async () => {
  page = (await open({ api, path: '/questions' })).page
})

test('a question is written: answers, channels, a chain with patience, and a deadline', async () => {
  await makeWorkflow(api, 'refund', [say('hello')])
  await follow(page, '/workflows/refund')
  await addStep(page, 'Add a step after hello', /^Ask/)
  const panel = page.getByRole('region', { name: 'Step Ask' })
  await panel.getByRole('textbox', { name: 'Question' }).click()
  await page.keyboard.insertText('Refund {{payload.amount}}?')
  await panel.getByRole('textbox', { name: 'Answer 1', exact: true }).fill('Approve')
  expect(await panel.getByRole('textbox', { name: 'Id of answer 1' }).inputValue()).toBe('yes')
  await panel.getByRole('button', { name: 'Add an answer' }).click()
  await panel.getByRole('textbox', { name: 'Answer 3', exact: true }).fill('Ask me later')
  await panel.getByRole('checkbox', { name: 'SMS' }).click()
  await panel.getByRole('button', { name: 'Ask somebody else' }).click()
  const first = panel.getByRole('group', { name: 'Level 1' })
  await first.getByRole('textbox', { name: 'Subscriber ids' }).fill('bob, {{payload.deputy}}')
  await panel.getByRole('button', { name: 'Then ask' }).click()
  const second = panel.getByRole('group', { name: 'Level 2' })
  await second.getByRole('combobox', { name: 'Who level 2 is' }).click()
  await page.getByRole('option', { name: 'A topic' }).click()
  await second.getByRole('textbox', { name: 'Topic' }).fill('managers')
  await second.getByRole('switch', { name: 'One after the other' }).click()
  await saved(page)
  const [, ask] = (await api.get('/v2/workflows/refund')).body.steps
  expect(ask).toMatchObject({
    type: 'ask',
    controlValues: {
      question: 'Refund {{payload.amount}}?',
      answers: [
        { id: 'yes', label: 'Approve' },
        { id: 'no', label: 'No' },
        { id: 'ask-me-later', label: 'Ask me later' },
      ],
      channels: ['in_app', 'email', 'sms'],
      chain: [{ subscriberIds: ['bob', '{{payload.deputy}}'] }, { topicKey: 'managers', inOrder: true }],
      ...{ patience: { amount: 5, unit: 'minutes' }, amount: 1, unit: 'hours' },
    },
  })
  await page
    .locator('[data-flow]')
    .getByText('Approve / No / Ask me later, 2 levels, each 5 min, within 1 hour')
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'ask-form')
})

test('an empty page of questions shows the request; a question is answered or canceled there', async () => {
  await page.getByText('No questions yet').waitFor()
  expect(await axeViolations(page)).toEqual([])
  const ask = (question: string) => ({
    ...{ name: 'Approve', stepId: 'approve', type: 'ask' },
    controlValues: {
      question,
      answers: [
        { id: 'yes', label: 'Approve' },
        { id: 'no', label: 'Reject' },
      ],
      ...{ channels: ['in_app'], amount: 90, unit: 'days' },
    },
  })
  await makeWorkflow(api, 'approve', [ask('Refund {{payload.amount}}?')])
  await trigger(api, 'approve', 'ada', { payload: { amount: 40 } })
  await trigger(api, 'approve', 'bob', { payload: { amount: 70 } })
  await server.drain()
  await page.reload()
  await row(page, 'Refund 40?').getByText('Open').waitFor()
  await takeScreenshots(page, 'questions')
  await row(page, 'Refund 40?').getByRole('link').click()
  const sheet = page.getByRole('dialog', { name: 'Refund 40?' })
  await sheet.getByRole('region', { name: 'Who was asked' }).getByText('ada').waitFor()
  await sheet.getByText('In-app: sent').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'question')
  await sheet.getByRole('button', { name: 'Reject' }).click()
  await sheet.getByText('Answered', { exact: true }).waitFor()
  const { data: answered } = (await api.get('/v2/questions?state=answered')).body
  expect(answered).toMatchObject([{ answer: 'no' }])
  // The run shows who was asked, the answer and the question.
  await follow(page, `/activity/${answered[0].notificationId}?steps=approve`)
  const asked = page.getByRole('region', { name: 'Question of Approve' })
  await asked.getByText(/^Reject: /).waitFor()
  await page.getByText('An owner answered “Reject”.').last().waitFor()
  await asked.getByRole('region', { name: 'Who was asked' }).getByText('ada').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'run-question')
  await asked.getByRole('link', { name: 'Open the question' }).click()
  await page.getByRole('dialog', { name: 'Refund 40?' }).waitFor()

  await follow(page, '/questions?state=open')
  await row(page, 'Refund 70?').getByRole('link').click()
  await page.getByRole('button', { name: 'Cancel the question…' }).click()
  await page.getByRole('button', { name: 'Cancel it' }).click()
  await page.getByRole('dialog', { name: 'Refund 70?' }).getByText('Canceled', { exact: true }).waitFor()
  expect(await overflowOnPhone(page)).toBe(0)
})

test('the page of a question is answered by keyboard, and is fine for everybody, open and closed', async () => {
  const answers = ['Approve', 'Reject', 'Later'].map((label) => ({ id: label.toLowerCase(), label }))
  const freeText = { label: 'Why?', required: true }
  const values = { question: 'Refund 90?', details: 'Order 7', answers, freeText, channels: ['in_app'] }
  await makeWorkflow(api, 'paged', [
    { name: 'Ask', stepId: 'ask', type: 'ask', controlValues: { ...values, amount: 1, unit: 'hours' } },
  ])
  await trigger(api, 'paged', 'cy')
  await server.drain()
  const [{ primaryAction }] = (await api.get('/v2/subscribers/cy/notifications')).body.data
  await page.goto(`${server.url}${new URL(primaryAction.redirect.url).pathname}?answer=reject`)
  await page.getByRole('heading', { name: 'Refund 90?' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page)).toBe(0)
  await page.keyboard.press('Tab')
  await page.keyboard.type('Too much')
  const focused: string[] = []
  for (let presses = 0; presses < 3; presses += 1) {
    await page.keyboard.press('Tab')
    focused.push(String(await page.locator(':focus').textContent()))
  }
  // The answer that the link has chosen comes first.
  expect(focused).toEqual(['Reject', 'Approve', 'Later'])
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByText('Approve: cy').waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(await page.getByRole('button').count()).toBe(0)
  const { data } = (await api.get('/v2/questions?state=answered&subscriberId=cy')).body
  expect(data).toMatchObject([{ answer: 'approve', text: 'Too much', answeredBy: { channel: 'page' } }])
})

test('a rota is made; it says who is on duty now and in the next seven days', async () => {
  await follow(page, '/rotas')
  await page.getByText('No rotas yet').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'New rota' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New rota' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Primary')
  await dialog.getByRole('textbox', { name: 'Time zone' }).fill('Europe/Berlin')
  const turns = dialog.getByRole('group', { name: 'Turns, shift 1' })
  await turns.getByText('Nobody has a turn yet.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Create rota' }).isDisabled()).toBe(true)
  await turns.getByLabel('First turn').fill('2026-01-05T09:00')
  await choose(turns.getByRole('combobox', { name: 'Unit in which turns come again' }), 'days')
  await choose(turns.getByRole('combobox', { name: 'Unit of how long a turn lasts' }), 'days')
  for (const [turn, who] of ['ada', 'bob'].entries()) {
    await turns.getByRole('combobox', { name: `Who has turn ${turn + 1}` }).click()
    await page.getByPlaceholder('Type to find…').fill(who)
    await page.getByRole('option', { name: who }).first().click()
    await page.keyboard.press('Escape')
  }
  // An exception stands above, and can be moved and removed.
  await dialog.getByRole('button', { name: 'Add an exception' }).click()
  const exception = dialog.getByRole('group', { name: 'Exception, shift 1' })
  await exception.getByText('Nobody is on duty in it.').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'rota-form')
  await exception.getByRole('button', { name: 'Move shift 1 down' }).click()
  await dialog.getByRole('group', { name: 'Turns, shift 1' }).waitFor()
  await dialog.getByRole('button', { name: 'Remove shift 2' }).click()
  await dialog.getByRole('button', { name: 'Create rota' }).click()
  await row(page, 'Primary')
    .getByText(/ada|bob/)
    .waitFor()
  expect((await api.get('/v2/rotas/primary')).body.shifts).toEqual([
    {
      ...{ start: '2026-01-05T09:00', rrule: 'FREQ=DAILY', duration: { amount: 1, unit: 'days' } },
      turns: [['ada'], ['bob']],
    },
  ])
  await row(page, 'Primary').getByRole('link').click()
  const sheet = page.getByRole('dialog', { name: 'Primary' })
  const days = sheet.getByRole('region', { name: 'The next seven days' }).getByRole('listitem')
  await days.nth(6).waitFor()
  await days
    .nth(3)
    .getByText(/09:00: (ada|bob)$/)
    .first()
    .waitFor()
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page)).toBe(0)
  await takeScreenshots(page, 'rota')
  // What is stored is in the fields, a rule of another kind as it is.
  const rule = { start: '2026-01-05T09:00', rrule: 'FREQ=WEEKLY;BYDAY=MO,WE', duration: { amount: 8, unit: 'hours' } }
  await api.put('/v2/rotas/primary', {
    ...{ name: 'Primary', timezone: 'Europe/Berlin', shifts: [{ ...rule, turns: [['ada']] }] },
  })
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.reload()
  // Also while nobody is on duty, the next change is known, and one request tells the week.
  await sheet.getByText('Next change').waitFor()
  await days.nth(6).waitFor()
  await sheet.locator('time').first().waitFor()
  expect(asked.filter((path) => path.includes('/v2/rotas/primary/')).length).toBeLessThanOrEqual(2)
  await sheet.getByRole('button', { name: 'Change' }).click()
  const change = page.getByRole('dialog', { name: 'Change Primary' })
  expect(await change.getByRole('textbox', { name: 'Rule' }).inputValue()).toBe(rule.rrule)
  await change.getByRole('textbox', { name: 'Rule' }).fill('FREQ=SOMETIMES')
  await change.getByRole('button', { name: 'Save' }).click()
  await change.getByText(/^Rrule: /).waitFor()
  await change.getByRole('button', { name: 'Cancel' }).click()
  await sheet.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete rota' }).click()
  await page.getByText('No rotas yet').waitFor()
})
