import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, cutTexts, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { saveChanges } from './hands.ts'

const { server, open } = useDashboard()
let [api, production]: Api[] = []
let page: Page
let panel: Locator
let list: Locator

const inApp = {
  ...{ name: 'Inbox', stepId: 'inbox', type: 'in_app' },
  controlValues: { subject: '{{payload.author}} commented', body: 'In {{payload.project}}' },
}
const digest = (amount: number) => ({
  ...{ name: 'Collect', stepId: 'collect', type: 'digest', controlValues: { amount, unit: 'minutes' } },
})
const mail = (subject = '{{steps.collect.eventCount}} comments') => ({
  ...{ name: 'Mail', stepId: 'mail', type: 'email' },
  controlValues: { subject, body: '<p>Hello {{subscriber.firstName}}</p>', editorType: 'html' },
})
/** Production has no provider for email at first. */
const told = (subject: string) => ({ ...inApp, controlValues: { subject, body: 'Hello' } })
const make = (of: Api | undefined, workflowId: string, steps: object[]) =>
  of?.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps })

beforeAll(async () => {
  const organization = await server.freshOrganization()
  api = organization.development
  production = organization.production
  await make(api, 'comments', [inApp, digest(10), mail()])
})

/** Opens the panel and waits for the first picture. */
async function simulate(workflowId: string, first: string, options: { hasOwnClock?: true } = {}): Promise<void> {
  ;({ page } = await open({ api: api as Api, path: `/workflows/${workflowId}?simulate=true`, role: 'editor', options }))
  panel = page.getByRole('region', { name: 'Simulate' })
  list = panel.getByRole('list', { name: 'What happens' })
  await list.getByText(first).first().waitFor()
}

/** The list without its times. */
const happened = async (): Promise<string[]> => {
  const texts = await list.getByRole('button').allInnerTexts()
  return texts.map((text) => text.split('\n').at(-1) ?? '')
}
const preset = async (name: string) => {
  await panel.getByRole('button', { name: 'Presets' }).click()
  await page.getByRole('menuitem', { name }).click()
}
const pins = () => panel.locator('[data-pins] button')

describe('the Simulate panel', () => {
  test('plays one event for somebody invented, with what they have at that moment', async () => {
    await simulate('comments', 'Email to Ada: 1 comments')
    expect(await happened()).toEqual([
      'Trigger for Ada',
      expect.stringMatching(/^“Collect” opens for Ada, until \d\d:\d\d$/),
      expect.stringMatching(/^In-app to Ada: .* commented$/),
      '“Collect” closes with 1 event for Ada',
      'Email to Ada: 1 comments',
    ])
    const has = panel.getByRole('region', { name: 'What Ada has' })
    await has.getByText('1 comments').waitFor()
    await has.getByText(/ commented$/).waitFor()
    expect(await panel.locator('[data-message="email"]').count()).toBe(1)
    expect(await axeViolations(page)).toEqual([])
  })

  test('a click above the axis adds an event, keys move and remove it, and everything is played anew', async () => {
    await simulate('comments', 'Email to Ada: 1 comments')
    const row = panel.locator('[data-pins]')
    const { width = 0 } = (await row.boundingBox()) ?? {}
    await row.click({ position: { x: width * 0.3, y: 16 } })
    await list.getByText('Email to Ada: 2 comments').waitFor()
    const form = panel.getByRole('region', { name: 'Trigger' })
    const after = form.getByRole('textbox', { name: 'After' })
    const before = await after.inputValue()
    await pins().nth(1).press('ArrowRight')
    await expect.poll(() => after.inputValue()).not.toBe(before)
    await after.fill('soon')
    await form.getByText('Write it as 90s, 4m, 1h30m or 2d, up to 366d.').waitFor()
    await after.fill('12m')
    // After the window: two emails with one event each.
    await expect
      .poll(async () => (await happened()).filter((text) => text === 'Email to Ada: 1 comments').length)
      .toBe(2)
    await form.getByRole('button', { name: 'Done' }).click()
    const last = pins().nth(1)
    const { x = 0, y = 0 } = (await last.boundingBox()) ?? {}
    const start = await row.boundingBox()
    await page.mouse.move(x + 12, y + 12)
    await page.mouse.down()
    await page.mouse.move((start?.x ?? 0) + 60, y + 12, { steps: 4 })
    await page.mouse.up()
    await list.getByText('Email to Ada: 2 comments').waitFor()
    await last.press('Delete')
    await list.getByText('Email to Ada: 1 comments').waitFor()
    expect(await pins().count()).toBe(1)
  })

  test('one looks at any moment, goes to the next thing, and plays it', async () => {
    await simulate('comments', 'Email to Ada: 1 comments')
    const moment = panel.getByRole('slider', { name: 'Moment' })
    await moment.press('Home')
    const has = panel.getByRole('region', { name: 'What Ada has' })
    await has.getByText(/ commented$/).waitFor()
    expect(await has.getByText('1 comments').count()).toBe(0)
    await panel.getByRole('button', { name: 'The next thing' }).click()
    await has.getByText('1 comments').waitFor()
    expect(await list.locator('[aria-current="step"]').textContent()).toContain('Email to Ada')
    await panel.getByRole('button', { name: 'The thing before' }).click()
    await expect.poll(() => has.getByText('1 comments').count()).toBe(0)
    await panel.getByRole('combobox', { name: 'Speed' }).click()
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['1×', '60×', '3,600×'])
    await page.getByRole('option', { name: '3,600×' }).click()
    await panel.getByRole('button', { name: 'Play' }).click()
    await has.getByText('1 comments').waitFor()
    await panel.getByRole('button', { name: 'Play' }).waitFor()
  })

  test('one scrubs by arrow keys and by the pointer, and the bracket of a window fills as events drop in', async () => {
    await simulate('comments', 'Email to Ada: 1 comments')
    await preset('A burst of twenty')
    await list.getByText('Email to Ada: 20 comments').waitFor()
    const moment = panel.getByRole('slider', { name: 'Moment' })
    const shown = async () => Date.parse((await panel.locator('header time').getAttribute('datetime')) ?? '')
    const bracket = panel.locator('[data-lane] [title="Collect: 20 events"]')
    await moment.press('Home')
    const first = await shown()
    expect(await bracket.textContent()).toBe('1')
    await moment.press('ArrowRight')
    const second = await shown()
    expect(second).toBeGreaterThan(first)
    await moment.press('ArrowRight')
    expect(await shown()).toBeGreaterThan(second)
    await moment.press('ArrowLeft')
    await expect.poll(shown).toBe(second)
    await moment.press('End')
    expect(await bracket.textContent()).toBe('20')
    const lane = panel.locator('[data-lane]').first()
    const { x = 0, y = 0, width = 0 } = (await lane.boundingBox()) ?? {}
    await page.mouse.move(x + width * 0.2, y + 40)
    await page.mouse.down()
    const atFirst = await shown()
    await page.mouse.move(x + width * 0.7, y + 40, { steps: 3 })
    await expect.poll(shown).toBeGreaterThan(atFirst)
    await page.mouse.up()
    // The list says the same in words, and leads there.
    await list.getByRole('button').first().click()
    expect(await shown()).toBe(first)
    await expect.poll(() => list.locator('[aria-current="step"]').count()).toBe(1)
  })

  test('it plays as fast as it says, and without motion it jumps from one thing to the next', async () => {
    await simulate('comments', 'Email to Ada: 1 comments', { hasOwnClock: true })
    const shown = async () => Date.parse((await panel.locator('header time').getAttribute('datetime')) ?? '')
    const moment = panel.getByRole('slider', { name: 'Moment' })
    await moment.press('Home')
    const start = await shown()
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    // From here on only the time that is asked for passes, however busy the machine is.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000)
    /** How much time passes on the axis in so much time. */
    const playFor = async (speed: string, ms: number) => {
      await panel.getByRole('combobox', { name: 'Speed' }).click()
      await page.clock.runFor(500)
      await page.getByRole('option', { name: speed, exact: true }).click()
      await page.clock.runFor(500)
      const before = await shown()
      await panel.getByRole('button', { name: 'Play' }).click()
      await page.clock.runFor(ms)
      await panel.getByRole('button', { name: 'Pause' }).click()
      return ((await shown()) - before) / ms
    }
    for (const [speed, times] of [
      ['1×', 1],
      ['60×', 60],
    ] as const) {
      const passed = await playFor(speed, 2_000)
      // A frame more or less.
      expect(passed).toBeGreaterThan(times * 0.7)
      expect(passed).toBeLessThan(times * 1.3)
    }
    await moment.press('Home')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await panel.getByRole('button', { name: 'Play' }).click()
    await page.clock.runFor(800)
    expect(await shown()).toBe(start)
    await page.clock.runFor(200)
    // The window closes, ten minutes later, and the mail is there.
    expect(await shown()).toBe(start + 600_000)
    await page.clock.runFor(2_000)
    await panel.getByRole('button', { name: 'Play' }).waitFor()
  })

  test('presets: a burst, quiet hours, the night the clocks change, an outage', async () => {
    await simulate('comments', 'Email to Ada: 1 comments')
    await preset('A burst of twenty')
    await list.getByText('Email to Ada: 20 comments').waitFor()
    expect(await pins().count()).toBe(20)
    await takeScreenshots(page, 'simulate-burst')
    await preset('Quiet hours')
    await list.getByText('“Mail” for Ada: outside the schedule').waitFor()
    await takeScreenshots(page, 'simulate-quiet')
    await preset('The night the clocks change')
    await panel.getByText('Clocks forward 1 h').waitFor()
    await list.getByText('Email to Ada: 2 comments').waitFor()
    await preset('A provider out for two hours')
    await list
      .getByText(/“Mail” tries again for Ada at/)
      .first()
      .waitFor()
    await list.getByText('No connection: all providers').waitFor()
    await takeScreenshots(page, 'simulate-outage')
    expect(await axeViolations(page)).toEqual([])
    await preset('Never reads')
    await list.getByText('Email to Ada: 1 comments').waitFor()
  })

  test('it plays the draft as it stands, also before it is saved', async () => {
    // One of its own: what is held back here may be saved once the page is left.
    await make(api, 'drafted', [inApp, digest(10), mail()])
    await simulate('drafted', 'Email to Ada: 1 comments')
    await page.route('**/v2/workflows/drafted', (route) =>
      route.request().method() === 'PUT' ? undefined : route.continue(),
    )
    await page.locator('[data-step="mail"]').click()
    await page.getByRole('textbox', { name: 'Subject' }).fill('Unsaved {{steps.collect.eventCount}}')
    await list.getByText('Email to Ada: Unsaved 1').waitFor()
    expect((await api?.get('/v2/workflows/drafted'))?.body.steps[2].controlValues.subject).toContain('comments')
    await page.unroute('**/v2/workflows/drafted')
  })

  test('a second recipient has a lane, inputs of other kinds can be added, and a copied scenario holds when it is played', async () => {
    await simulate('comments', 'Email to Ada: 1 comments')
    await panel.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('menuitem', { name: 'A recipient' }).click()
    await list.getByText(/Email to Bo/).waitFor()
    expect(await panel.locator('[data-lane]').count()).toBe(2)
    await panel.getByRole('button', { name: /^Bo/ }).click()
    await panel.getByRole('region', { name: 'What Bo has' }).waitFor()
    await panel.getByRole('slider', { name: 'Moment' }).press('Home')
    await panel.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Cancel' }).click()
    await expect.poll(async () => (await happened()).some((text) => text.includes('cancelled'))).toBe(true)
    await panel.getByRole('button', { name: 'Remove' }).click()
    await list.getByText(/Email to Bo/).waitFor()
    await page.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`)
    await panel.getByRole('button', { name: 'Copy as scenario' }).click()
    await page.getByText('Copied as a scenario file').waitFor()
    const file = parse(await page.evaluate<string>('window.copied'))
    const { name: _, ...scenario } = file
    const answer = await api?.post('/v1/simulations', scenario)
    expect(answer?.body).toMatchObject({ passed: true, totals: { messages: { email: 2, in_app: 2 } } })
  })

  test('an inactive workflow is copied as what was played, also over plain HTTP; a viewer is told why nothing is', async () => {
    const wait = {
      ...{ name: 'Patience', stepId: 'paid', type: 'wait_for_event' },
      controlValues: { for: [{ event: 'order.paid', key: '{{payload.order}}' }], amount: 60, unit: 'days' },
    }
    const arms = [{ name: 'all', condition: { '==': [1, 1] }, steps: [inApp, wait] }]
    const steps = [{ name: 'Which', stepId: 'which', type: 'branch', controlValues: { arms, default: { steps: [] } } }]
    const made = await api?.post('/v2/workflows', { name: 'off', workflowId: 'off', active: false, steps })
    expect(made?.status, made?.text).toBe(201)
    await simulate('off', 'In-app to Ada')
    await list.getByText(/^“Patience” waits for an event about Ada, until /).waitFor()
    await panel.getByText('One step still waits after 30 days.').waitFor()
    await panel.getByText('The workflow is inactive; it is played as if it were active.').waitFor()
    await panel.locator('[data-lane] [title="Patience: waits for an event"]').first().waitFor()
    await page.evaluate(`
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
      document.addEventListener('copy', () => { window.copied = document.activeElement.value })`)
    await panel.getByRole('button', { name: 'Copy as scenario' }).click()
    await page.getByText('Copied as a scenario file').waitFor()
    const { name: _, ...scenario } = parse(await page.evaluate<string>('window.copied'))
    expect((await api?.post('/v1/simulations', scenario))?.body).toMatchObject({ passed: true, totals: { runs: 1 } })

    await panel.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('menuitem', { name: 'Provider fails' }).click()
    await panel.getByRole('combobox', { name: 'What' }).click()
    for (const name of ['Connection lost', 'Hangs for 30 seconds']) await page.getByRole('option', { name }).waitFor()
    await page.keyboard.press('Escape')
    // A pin that is later has it played for longer.
    await panel.getByRole('textbox', { name: 'After' }).fill('9d')
    await panel.getByText('One step still waits after 39 days.').waitFor()
    await takeScreenshots(page, 'simulate-waits')

    const { page: viewers } = await open({ api: api as Api, path: '/workflows/off?simulate=true', role: 'viewer' })
    const shown = viewers.getByRole('region', { name: 'Simulate' })
    await shown.getByText('Trigger for Ada: refused. The workflow is inactive.').waitFor()
    expect(await shown.getByText('it is played as if it were active').count()).toBe(0)
  })

  test('it fits a phone, and a scenario that is too large says by what', async () => {
    await simulate('comments', 'Email to Ada: 1 comments')
    expect(await overflowOnPhone(page)).toBe(0)
    expect(await cutTexts(page)).toEqual([])
    expect(await axeViolations(page)).toEqual([])
    await onDesktop(page)
    const long = `{% for i in (1..1800) %}${'x'.repeat(100)}{% endfor %}`
    const controlValues = { subject: 'Large', body: long, editorType: 'html' }
    const mails = [1, 2, 3, 4, 5, 6].map((place) => ({
      ...mail(),
      name: `Mail ${place}`,
      stepId: `mail-${place}`,
      controlValues,
    }))
    await make(api, 'large', mails)
    await simulate('large', 'Email to Ada: Large')
    await preset('A burst of twenty')
    await panel
      .getByRole('alert')
      .getByText(/comes to more than .* bytes; make it smaller/)
      .waitFor()
    // The last picture stays.
    await list.getByText('Email to Ada: Large').first().waitFor()
  })
})

describe('impact', () => {
  test('before a save in Production: three lines, examples side by side, and waiting runs that can be canceled', async () => {
    await make(production, 'orders', [digest(30), told('{{steps.collect.eventCount}} orders')])
    await production?.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
    for (const place of [1, 2, 3])
      await production?.post('/v1/events/trigger', { name: 'orders', to: 'ada', payload: { place } })
    await server.drain()
    const { page: own } = await open({
      ...{ api: production as Api, path: '/workflows/orders?env=production&step=inbox', role: 'editor' as const },
    })
    await own
      .getByRole('textbox', { name: 'Subject' })
      .fill('Your {{steps.collect.eventCount}} orders, {{payload.name}}')
    await own.getByRole('button', { name: 'Save changes' }).click()
    const dialog = own.getByRole('dialog', { name: 'Save changes' })
    const lines = dialog.getByRole('list', { name: 'What would change' }).getByRole('listitem')
    await lines.first().waitFor()
    expect(await lines.first().textContent()).toBe(
      '1 of 3 notifications of the last 3 triggers would differ: 1 with other content.',
    )
    expect(await lines.nth(1).textContent()).toContain('1 run waits and goes on as it began.')
    expect(await lines.nth(2).textContent()).toBe('payload.name in “inbox” would be empty in 3 of 3 triggers.')
    await dialog.getByRole('region', { name: 'Now' }).getByText('3 orders').waitFor()
    await dialog.getByRole('region', { name: 'After' }).getByText('Your 3 orders,').waitFor()
    expect(await axeViolations(own)).toEqual([])
    await takeScreenshots(own, 'impact-save')
    await dialog.getByRole('button', { name: 'Cancel it' }).click()
    await own.getByRole('button', { name: 'Cancel 1 run' }).click()
    await dialog.getByText('No run waits.').waitFor()
    const runs = (await production?.get('/v1/notifications?workflowIds=orders&status=processing'))?.body.data
    expect(runs).toEqual([])

    // What the server refuses is said as it says it.
    await own.route('**/v2/workflows/orders', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 422, json: { statusCode: 422, code: 'validation', message: 'Too many steps.' } })
        : route.continue(),
    )
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('It was not saved. Too many steps.').waitFor()
    await own.unroute('**/v2/workflows/orders')

    // Somebody saves meanwhile: what is saved is what was looked at, or nothing.
    await production?.patch('/v2/workflows/orders', { description: 'Changed meanwhile' })
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('It was not saved: something has changed since. Look again.').waitFor()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await expect
      .poll(async () => (await production?.get('/v2/workflows/orders'))?.body.steps[1].controlValues.subject)
      .toBe('Your {{steps.collect.eventCount}} orders, {{payload.name}}')
    await own.getByRole('textbox', { name: 'Subject' }).fill('Again')
    await saveChanges(own)
    await expect.poll(() => own.getByRole('dialog').count()).toBe(0)
  })

  test('before a publish: what it would do in the target', async () => {
    const { development, production: target } = await server.freshOrganization()
    for (const place of [development, target]) await make(place, 'news', [told('News')])
    await target.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
    await target.post('/v1/events/trigger', { name: 'news', to: 'ada', payload: {} })
    await server.drain()
    const { name, preferences, origin, steps } = (await development.get('/v2/workflows/news')).body
    const changed = steps.map((step: object) => ({ ...step, controlValues: told('Better news').controlValues }))
    await development.put('/v2/workflows/news', { name, preferences, origin, active: true, steps: changed })
    const path = `/environments?publish=${target.environmentId}`
    const { page: own } = await open({ api: development, path, role: 'admin' })
    const sheet = own.getByRole('dialog', { name: /^Publish to/ })
    const impact = sheet.getByRole('region', { name: 'Impact' })
    await impact.getByText('1 of 1 notification of the last trigger would differ: 1 with other content.').waitFor()
    await impact.getByRole('region', { name: 'After' }).getByText('Better news').waitFor()
    expect(await axeViolations(own)).toEqual([])
    await takeScreenshots(own, 'impact-publish')
    await sheet.getByRole('button', { name: 'Publish 1 to Production' }).click()
    await sheet.getByText('1 published to Production').waitFor()
  })
})
