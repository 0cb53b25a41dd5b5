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

const arm = (name: string) => page.getByRole('group', { name: `Arm ${name} of size` })
const item = (stepId: string) => page.locator(`[data-item="${stepId}"]`)
const focused = () => page.evaluate<string | null>('document.activeElement.getAttribute("data-item")')
const stored = async () => (await api.get('/v2/workflows/invoice')).body.steps

test('arms stand side by side with their conditions in words, the default last, the end as a stop mark', async () => {
  await arm('Paid').getByText('if payload.paid is true').waitFor()
  await arm('Paid').getByText('Ends the run').waitFor()
  await arm('Large').getByText('Goes on below').waitFor()
  await arm('Otherwise').getByText('if no other arm is taken').waitFor()
  const names = await page
    .getByRole('group', { name: /^Arm / })
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
  await item('thanks').focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(focused).toBe('call')
  await item('thanks').focus()
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
  // With its steps it comes back.
  await page.getByRole('button', { name: 'Remove Very large with its steps' }).click()
  await saved(page)
  expect((await stored())[0].controlValues.arms).toMatchObject([{ name: 'Paid' }])
  await page.getByText('“Very large” removed with 1 step').waitFor()
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await saved(page)
  expect((await stored())[0].controlValues.arms).toMatchObject([
    ...[{ name: 'Paid' }, { name: 'Very large', steps: [{ stepId: 'call' }] }],
  ])
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
  expect(await page.getByRole('group', { name: /^Arm / }).count()).toBe(1)
  await page.getByRole('tab', { name: 'Otherwise' }).click()
  await arm('Otherwise').waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('the flow is a tree, and every item says what it is and where', async () => {
  const after = page.getByRole('treeitem', { name: /^after, in-app, step 2 of 2$/ })
  expect(await after.getAttribute('aria-level')).toBe('1')
  const owned = await page.getByRole('tree', { name: 'Steps' }).getAttribute('aria-owns')
  expect(owned?.split(' ')).toEqual(['flow-size', 'flow-thanks', 'flow-call', 'flow-sms-step', 'flow-after'])
  expect(await after.getAttribute('id')).toBe('flow-after')
  const call = page.getByRole('treeitem', { name: /^call, in-app, step 1 of 1 in arm Very large of size$/ })
  expect(await call.getAttribute('aria-level')).toBe('2')
  expect(await page.getByRole('treeitem', { name: /^size, branch, step 1 of 2/ }).getAttribute('aria-expanded')).toBe(
    'true',
  )
})

test('everything is done by keyboard: going, adding, wrapping, moving, deleting, bringing back', async () => {
  await makeWorkflow(api, 'keys', [
    say('hello'),
    branch(
      'size',
      [
        { name: 'Small', condition: paid, steps: [say('one'), say('two')] },
        { name: 'Large', condition: large, steps: [say('call')] },
      ],
      { default: { name: 'Otherwise', steps: [] } },
    ),
    say('after'),
  ])
  const read = async () => (await api.get('/v2/workflows/keys')).body.steps
  const press = async (key: string, then: string) => {
    await page.keyboard.press(key)
    await expect.poll(focused).toBe(then)
  }
  await follow(page, '/workflows/keys')
  await item('hello').focus()
  await press('ArrowDown', 'size')
  await press('ArrowDown', 'one')
  await press('ArrowDown', 'two')
  await press('ArrowRight', 'call')
  await press('ArrowRight', 'size:default')
  await press('ArrowDown', 'after')
  // Back through the arm that was visited last.
  await press('ArrowUp', 'size:default')

  // Of all buttons in the flow, Tab reaches those of the item only.
  await page.keyboard.press('Shift+Tab')
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
    'Add a step at the start of Otherwise',
  )
  await item('size:default').focus()

  await page.keyboard.press('a')
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(focused).toBe('size:default')
  await page.keyboard.press('a')
  await page.getByRole('menuitem', { name: /^SMS/ }).focus()
  await press('Enter', 'sms-step')
  await page.waitForURL(/step=sms-step/)
  await page.keyboard.press('Escape')

  await item('two').focus()
  await press('Alt+ArrowUp', 'two')
  await page.getByText('two is at position 1 in arm Small of size.').waitFor({ state: 'attached' })
  await press('Alt+ArrowRight', 'two')
  await page.getByText('two is at position 1 in arm Large of size.').waitFor({ state: 'attached' })
  await saved(page)
  const ids = (steps: Array<{ stepId: string }>) => steps.map(({ stepId }) => stepId)
  const armsNow = async () => {
    const values = (await read())[1].controlValues
    return [...values.arms, values.default].map((each) => ids(each.steps))
  }
  expect(await armsNow()).toEqual([['one'], ['two', 'call'], ['sms-step']])

  await press('Alt+ArrowUp', 'two')
  await saved(page)
  expect(ids(await read())).toEqual(['hello', 'two', 'size', 'after'])

  await press('b', 'branch-step')
  await page.keyboard.press('Escape')
  await saved(page)
  expect((await read())[1]).toMatchObject({
    type: 'branch',
    controlValues: { arms: [{ steps: [{ stepId: 'two' }] }], default: { steps: [] } },
  })
  await press('Delete', 'size')
  await saved(page)
  expect(ids(await read())).toEqual(['hello', 'size', 'after'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await saved(page)
  expect((await read())[1].controlValues.arms[0].steps).toMatchObject([{ stepId: 'two' }])
  await page.keyboard.press('Escape')

  await item('size').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Step size' }).waitFor()
  // The tooltips and menus name the keys.
  await page.getByRole('button', { name: 'Actions for size' }).click()
  for (const words of [/^Add a step after it A$/, /^Wrap in a branch B$/, /^Move up alt ↑$/, /^Delete del$/])
    await page.getByRole('menuitem', { name: words }).waitFor()
  await page.getByRole('menuitem', { name: /^Add a step after it/ }).click()
  await page.getByRole('menuitem', { name: /^Email/ }).waitFor()
  await page.keyboard.press('Escape')
})

test('branches in branches stop at three, and say so', async () => {
  await follow(page, '/workflows/keys')
  const deepest = async (stepId: string) => {
    await item(stepId).focus()
    await page.keyboard.press('b')
  }
  await deepest('two')
  await expect.poll(focused).toBe('branch-step-2')
  await deepest('two')
  await expect.poll(focused).toBe('branch-step-3')
  await deepest('two')
  await page.getByText('Branches can be nested 3 deep.').waitFor()
  await saved(page)
  await follow(page, '/workflows/keys')
  const deep = page.getByRole('treeitem', { name: /^two, in-app, step 1 of 1 in arm First of Branch/ })
  expect(await deep.getAttribute('aria-level')).toBe('4')
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'branches-deep')
})

test('more than four arms, or a narrow window, show one arm at a time, with tabs', async () => {
  await makeWorkflow(api, 'many', [
    branch(
      'size',
      ['XS', 'S', 'M', 'L'].map((name) => ({ name, condition: paid, steps: [say(`to-${name}`)] })),
      { default: { name: 'Otherwise', steps: [say('rest')] } },
    ),
  ])
  await follow(page, '/workflows/many')
  const tabs = page.getByRole('tablist', { name: 'Arms of size' }).getByRole('tab')
  await tabs.first().waitFor()
  expect(await tabs.allTextContents()).toEqual(['XS', 'S', 'M', 'L', 'Otherwise'])
  await tabs.nth(2).click()
  await arm('M').waitFor()
  expect(await page.getByRole('group', { name: /^Arm / }).count()).toBe(1)
  await tabs.nth(2).press('ArrowRight')
  await arm('L').waitFor()
  await item('to-L').focus()
  await page.keyboard.press('ArrowRight')
  await arm('Otherwise').waitFor()
  await expect.poll(focused).toBe('rest')
  await page.keyboard.press('Alt+ArrowLeft')
  await arm('L').waitFor()
  await expect.poll(focused).toBe('rest')
  await page.keyboard.press('Alt+ArrowRight')
  await saved(page)
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'branches-many')

  await follow(page, '/workflows/invoice')
  await page.getByRole('group', { name: /^Arm / }).nth(2).waitFor()
  await page.setViewportSize({ width: 1000, height: 800 })
  await page.getByRole('tablist', { name: 'Arms of size' }).waitFor()
  expect(await page.getByRole('group', { name: /^Arm / }).count()).toBe(1)
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
