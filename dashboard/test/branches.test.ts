// Branches in the editor, and the path of a run.
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { branch, say } from '../../server/test/journeys.ts'
import { makeWorkflow, runOf, trigger } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, follow, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { saved } from './hands.ts'

const { server, open } = useDashboard()

let api: Api
let page: Page

const paid = { '==': [{ var: 'payload.paid' }, true] }
const large = { '>': [{ var: 'payload.total' }, 100] }
const tree = [
  branch(
    'size',
    [
      { name: 'Paid', condition: paid, steps: [say('thanks', 'Thank you')], end: true },
      { name: 'Large', condition: large, steps: [say('call', 'Call us')] },
    ],
    { default: { name: 'Otherwise', steps: [] } },
  ),
  say('after', 'Goodbye'),
]

beforeAll(async () => {
  const { development } = await server.freshOrganization()
  api = development
  await makeWorkflow(api, 'invoice', tree)
})

beforeEach(async () => {
  page = (await open({ api, path: '/workflows/invoice' })).page
})

const arm = (name: string) => page.getByRole('region', { name: `Arm ${name} of size` })
const stored = async () => (await api.get('/v2/workflows/invoice')).body.steps

test('arms stand side by side with their conditions in words, the default last, the end as a stop mark', async () => {
  await arm('Paid').getByText('if payload.paid is true').waitFor()
  await arm('Paid').getByText('Ends the run').waitFor()
  await arm('Large').getByText('Goes on below').waitFor()
  await arm('Otherwise').getByText('otherwise', { exact: true }).waitFor()
  const names = await page
    .getByRole('region', { name: /^Arm / })
    .evaluateAll((all) =>
      all.map((one) => ({ name: one.getAttribute('aria-label'), top: one.getBoundingClientRect().top })),
    )
  expect(names.map(({ name }) => name)).toEqual([...['Arm Paid of size', 'Arm Large of size', 'Arm Otherwise of size']])
  expect(new Set(names.map(({ top }) => top)).size).toBe(1)
  expect(
    await arm('Otherwise').evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).borderStyle),
  ).toBe('dashed')
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'branches')
})

test('a step is added to an arm, edited, moved, deleted and brought back', async () => {
  await arm('Otherwise').getByRole('button', { name: 'Add a step at the start of Otherwise' }).click()
  await page.getByRole('menuitem', { name: /^SMS/ }).click()
  await page.getByRole('textbox', { name: 'Body' }).click()
  await page.keyboard.insertText('Pay, please')
  await saved(page)
  expect((await stored())[0].controlValues.default.steps).toMatchObject([
    { type: 'sms', name: 'SMS', controlValues: { body: 'Pay, please' } },
  ])

  // A step in an arm has its own controls, variables and preview.
  await follow(page, '/workflows/invoice?step=thanks')
  await page.getByText('Thank you').first().waitFor()
  await page.getByRole('textbox', { name: 'Step name' }).fill('Gratitude')
  await saved(page)
  const [thanks] = (await stored())[0].controlValues.arms[0].steps
  expect(thanks).toMatchObject({ stepId: 'thanks', name: 'Gratitude' })

  await page.getByRole('button', { name: 'Close' }).click()
  const card = arm('Paid').locator('[data-step="thanks"]')
  await card.focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("data-step")')).toBe('call')
  await card.focus()
  await page.keyboard.press('Delete')
  await saved(page)
  expect((await stored())[0].controlValues.arms[0].steps).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).click()
  await saved(page)
  expect((await stored())[0].controlValues.arms[0].steps).toMatchObject([{ stepId: 'thanks', name: 'Gratitude' }])
})

test('arms are named, conditioned, added and ended in the panel of the branch', async () => {
  await follow(page, '/workflows/invoice?step=size')
  await page.getByRole('textbox', { name: 'Arm 2' }).fill('Very large')
  await page.getByRole('button', { name: 'Add an arm' }).click()
  await page.getByText('Condition is required: an arm without one always holds').waitFor()
  const third = page.getByRole('group', { name: /^Arm 3: / })
  await third.getByRole('switch', { name: 'End the run behind it' }).click()
  await saved(page)
  const [size] = await stored()
  expect(size.controlValues.arms).toMatchObject([{ name: 'Paid' }, { name: 'Very large' }, { end: true, steps: [] }])
  expect(size.controlValues.arms[1].steps).toMatchObject([{ stepId: 'call' }])
  expect(await axeViolations(page)).toEqual([])
  await third.getByRole('button', { name: /^Remove/ }).click()
  await saved(page)
  expect((await stored())[0].controlValues.arms).toHaveLength(2)
})

test('a branch is added at the top level, and on a phone its arms are shown one at a time', async () => {
  await makeWorkflow(api, 'plain', [say('only')])
  await follow(page, '/workflows/plain')
  await page.getByRole('button', { name: 'Add a step after only' }).click()
  await page.getByRole('menuitem', { name: /^Branch/ }).click()
  await saved(page)
  expect((await api.get('/v2/workflows/plain')).body.steps[1]).toMatchObject({
    type: 'branch',
    controlValues: { arms: [{ name: 'First' }], default: { name: 'Otherwise' } },
  })
  await follow(page, '/workflows/invoice')
  expect(await overflowOnPhone(page)).toBe(0)
  await page.setViewportSize({ width: 390, height: 800 })
  await arm('Paid').waitFor()
  expect(await page.getByRole('region', { name: /^Arm / }).count()).toBe(1)
  await page.getByRole('button', { name: 'Otherwise', exact: true }).click()
  await arm('Otherwise').waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('a run draws the arm that was taken; the others are one line each with the reason', async () => {
  const transactionId = await trigger(api, 'invoice', 'ada', { payload: { paid: false, total: 40 } })
  await server.drain()
  const { _id } = await runOf(api, transactionId)
  await follow(page, `/activity/${_id}`)
  const arms = page.getByRole('list', { name: 'Arms' })
  await arms.getByText('Paid: payload.paid was false').waitFor()
  await arms.getByText('Very large: payload.total was 40').waitFor()
  await arms.getByText('Otherwise').waitFor()
  await page.getByText('Took the arm “Otherwise”.').first().waitFor()
  expect(await axeViolations(page)).toEqual([])
})
