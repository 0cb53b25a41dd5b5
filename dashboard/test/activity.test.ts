import { beforeAll, describe, expect, test } from 'vitest'
import { insertRun } from '../../server/test/activity.ts'
import { inApp, makeWorkflow, prefer, runOf, trigger } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, follow, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const email = (subject: string, body: string) => ({
  ...{ type: 'email', name: 'Confirmation', stepId: 'mail' },
  controlValues: { subject, editorType: 'html', body },
})
const sms = (body: string) => ({ type: 'sms', name: 'Text', stepId: 'text', controlValues: { body } })

const people = [
  { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', phone: '+4915112345678' },
  { subscriberId: 'user_018f', firstName: 'محمد', lastName: 'عبد الله', email: 'mohammed@example.com' },
  {
    subscriberId: 'customer-7c2f9b1e-with-a-very-long-identifier',
    firstName: 'Wolfeschlegelsteinhausenbergerdorff',
    lastName: 'von Hohenberg-Sigmaringen',
    email: 'w@example.com',
  },
  { subscriberId: 'grace', firstName: 'Grace 🚢', lastName: 'Hopper', email: 'grace@example.com' },
]

/** An environment with runs of all outcomes, today. */
async function fill(api: Api): Promise<{ shipped: string; unwanted: string; failed: string }> {
  for (const person of people) await api.post('/v2/subscribers', person)
  const mail = email(
    'Order {{payload.number}} is on its way 📦',
    '<h1>On its way</h1><p>Your order {{payload.number}} has left our house in Łódź.</p>',
  )
  const more = { tags: ['orders'], name: 'Order shipped' }
  const message = { subject: 'Order {{payload.number}}', primaryAction: { label: 'Track it' } }
  await makeWorkflow(api, 'order-shipped', [inApp('It is on its way 🚚', message), mail, sms('On its way')], more)
  await makeWorkflow(api, 'password-reset', [email('Reset your password', '<p>Here is your link.</p>')], {
    name: 'Password reset, for people who have forgotten theirs and for those who were asked to change it',
  })
  await makeWorkflow(api, 'broken', [email('Hi', '<p>{{ payload.name | shout }}</p>')], { name: 'Broken template' })
  const payload = { number: 'A-1043', items: [{ sku: 'book', count: 2 }], total: 38.5 }
  for (const { subscriberId } of people) await trigger(api, 'order-shipped', subscriberId, { payload })
  const shipped = await trigger(api, 'order-shipped', 'ada', { payload, transactionId: `shipped-${api.environmentId}` })
  await prefer(api, 'grace', { channels: { email: false } })
  const unwanted = await trigger(api, 'password-reset', 'grace')
  await trigger(api, 'password-reset', 'customer-7c2f9b1e-with-a-very-long-identifier')
  await server.drain()
  await api.put('/v1/sandbox/faults', { channel: 'email', fault: 'bounce', count: 1 })
  const failed = await trigger(api, 'order-shipped', 'ada', {
    payload,
    overrides: { email: { from: 'shop@example.com' } },
  })
  await server.drain()
  return { shipped, unwanted, failed }
}

let full: Api
let seeded: Awaited<ReturnType<typeof fill>>

beforeAll(async () => {
  // Browsers use their own clock for "the last 24 hours".
  server.clock.advance({ ms: Date.now() - server.clock.now().getTime() - 1000 })
  full = (await server.freshOrganization()).development
  seeded = await fill(full)
}, 60_000)

describe('the list of runs', () => {
  test('shows the outcome of each run; a range and filters are in the URL and survive a reload; charts open, also as a table', async () => {
    const { page } = await open({ api: full, path: '/activity' })
    const table = page.getByRole('table', { name: 'Runs' })
    await table.getByRole('row', { name: /Grace 🚢 Hopper.*Password reset.*Skipped/ }).waitFor()
    await table.getByText('Email: turned off by a preference').filter({ visible: true }).first().waitFor()
    await table
      .getByText(/^Email: provider refused/)
      .filter({ visible: true })
      .waitFor()
    await page
      .getByText(/8 runs/)
      .first()
      .waitFor()
    expect(await axeViolations(page)).toEqual([])
    await takeScreenshots(page, 'activity')

    // A range is selected on the volume chart by keyboard, and Back undoes it.
    const volume = page.getByRole('slider', { name: /Runs over time/ })
    await volume.focus()
    // Everything happened in the last hour, so the chart is of that hour, by the minute.
    await page.getByText('in the last hour').waitFor()
    await expect
      .poll(async () => {
        await page.keyboard.press('ArrowLeft')
        return volume.getAttribute('aria-valuetext')
      })
      .toMatch(/8 runs, 1 failed/)
    await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.press('Enter')
    await page.waitForURL(/after=.*before=/)
    await page.getByRole('row', { name: /Grace/ }).first().waitFor()
    await page.goBack()
    await page.getByText('in the last hour').waitFor()

    const links = table.locator('[data-row-link]')
    await page.getByRole('button', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'Failed' }).click()
    await page.waitForURL(/status=error/)
    await expect.poll(() => links.count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Reason' }).click()
    await page.getByLabel('Find in Reason').fill('refused')
    await page.getByRole('option', { name: 'Provider refused' }).click()
    await page.waitForURL(/reasons=provider_refused/)
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Charts' }).click()
    await page.getByText('Messages by channel').waitFor()
    await page.locator('.recharts-surface').nth(3).waitFor()
    await takeScreenshots(page, 'activity-charts')
    await page.getByRole('button', { name: 'Table' }).click()
    await page.getByRole('columnheader', { name: 'In-app' }).waitFor()
    expect(await axeViolations(page)).toEqual([])

    await page.reload()
    await page.getByRole('columnheader', { name: 'In-app' }).waitFor()
    await page.getByRole('button', { name: 'Status Failed' }).waitFor()
    await page.getByRole('button', { name: 'Reason Provider refused' }).waitFor()
    await expect.poll(() => links.count()).toBe(1)
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await expect.poll(() => links.count()).toBe(8)
    expect(new URL(page.url()).search).not.toMatch(/status|reasons/)
  })

  test('an empty list shows the request; the first run appears by itself, later ones are announced and change in place', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/activity', options: { hasOwnClock: true } })
    await page.getByText('Nothing has been triggered yet').waitFor()
    await page.getByText('/v1/events/trigger').waitFor()
    await takeScreenshots(page, 'activity-empty')
    await makeWorkflow(development, 'hello', [inApp()])
    await trigger(development, 'hello', 'ada')
    await server.drain()
    await page.clock.fastForward(3_000)
    await page.getByRole('link', { name: 'ada' }).waitFor()

    await makeWorkflow(development, 'slow', [
      { type: 'delay', controlValues: { type: 'regular', amount: 10, unit: 'minutes' } },
      inApp(),
    ])
    await trigger(development, 'slow', 'second')
    await server.drain()
    await page.clock.fastForward(5_000)
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByRole('row', { name: /second.*In progress/ }).waitFor()
    server.clock.advance({ minutes: 11 })
    await server.drain()
    await page.clock.fastForward(10_000)
    await page.getByRole('row', { name: /second.*Delivered/ }).waitFor({ timeout: 20_000 })
  })

  test('rare filters become chips once they are set; tags stand for their workflows; the server reports a bad URL', async () => {
    const { page } = await open({ api: full, path: '/activity?tags=orders' })
    const links = page.getByRole('table', { name: 'Runs' }).locator('[data-row-link]')
    await expect.poll(() => links.count()).toBe(6)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByLabel('Subscriber', { exact: true }).fill('ada, grace')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/subscriberIds=ada&subscriberIds=grace/)
    await expect.poll(() => links.count()).toBe(4)
    await page.getByRole('button', { name: 'Remove the filter Tag' }).click()
    await expect.poll(() => links.count()).toBe(5)
    await follow(page, '/activity?topicKey=nobody&severity=high')
    await page.getByText('No run matches').waitFor()
    await follow(page, '/activity?after=yesterday')
    await page.getByRole('alert').getByText(/after/).waitFor()
  })

  test('a long list loads as the user scrolls, and renders only the visible rows', async () => {
    const { development } = await server.freshOrganization()
    await Promise.all(
      Array.from({ length: 130 }, (_, number) => {
        server.clock.advance({ ms: 1 })
        return insertRun(server, development, `person-${String(number).padStart(3, '0')}`)
      }),
    )
    const { page } = await open({ api: development, path: '/activity' })
    await page.getByRole('row', { name: /person-129/ }).waitFor()
    const rows = page.locator('tbody tr')
    await expect
      .poll(async () => {
        await page.locator('#content').evaluate((node: any) => node.scrollTo({ top: node.scrollHeight }))
        return page.getByRole('row', { name: /person-000/ }).count()
      })
      .toBe(1)
    await page.getByText('130 runs').last().waitFor()
    expect(await rows.count()).toBeLessThan(100)
    // Rows above are rendered again after scrolling back.
    await page.locator('#content').evaluate((node: any) => node.scrollTo({ top: 0 }))
    await page.getByRole('row', { name: /person-129/ }).waitFor()
  })
})

describe('a run', () => {
  test('explains itself in one sentence with a link to the setting; rows open by keyboard', async () => {
    const { page } = await open({ api: full, path: '/activity?subscriberIds=grace' })
    await page.getByRole('row', { name: /Password reset/ }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const why = page.getByRole('region', { name: 'Why', exact: true })
    await why
      .getByText('Nothing was sent to Grace 🚢 Hopper: the email was skipped because Grace 🚢 Hopper turned email off.')
      .waitFor()
    const { _id } = await runOf(full, seeded.unwanted)
    expect(page.url()).toContain(`/activity/${_id}`)
    expect(await why.getByRole('link').getAttribute('href')).toMatch(/\/subscribers\/grace\?.*tab=preferences/)
    await page.getByRole('button', { name: /Confirmation.*Skipped/ }).waitFor()
    expect(await axeViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await why.waitFor({ state: 'detached' })
    expect(page.url()).toContain('subscriberIds=grace')
  })

  test('shows its timeline with messages, log, payload and overrides; list and run fit on a phone; a missing run is named', async () => {
    const { _id } = await runOf(full, seeded.failed)
    const { page } = await open({ api: full, path: `/activity/${_id}` })
    const why = page.getByRole('region', { name: 'Why', exact: true })
    await why.getByText(/were sent to Ada Lovelace, but the email failed because/).waitFor()
    const timeline = page.getByRole('list', { name: 'Timeline' })
    await timeline.getByText('Triggered').waitFor()
    await timeline.getByRole('button', { name: /In-app.*Sent/ }).click()
    await timeline.getByText('It is on its way 🚚').first().waitFor()
    await timeline.getByRole('heading', { name: 'Order A-1043', exact: true }).waitFor()
    await timeline.getByText('Unexpected provider error').first().waitFor()
    await page.getByText('"A-1043"').waitFor()
    await page.getByText('Overrides').waitFor()
    await takeScreenshots(page, 'run')
    expect(await axeViolations(page)).toEqual([])
    // The open steps are in the URL.
    await page.reload()
    await timeline.getByRole('heading', { name: 'Order A-1043', exact: true }).waitFor()

    const sheet = page.getByRole('dialog')
    expect(await overflowOnPhone(page)).toBeLessThanOrEqual(0)
    expect(await sheet.evaluate((node: any) => node.scrollWidth - node.clientWidth)).toBeLessThanOrEqual(0)
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /Ada/ }).first().waitFor()
    expect(await overflowOnPhone(page)).toBeLessThanOrEqual(0)
    expect(await overflowOnPhone(page, '#content')).toBeLessThanOrEqual(0)
    await onDesktop(page)
    await follow(page, '/activity/64d4f2a3b5c6d7e8f9a0b1c2')
    await page.getByRole('alert').getByRole('heading', { name: 'Not found' }).waitFor()
  })

  test('a link to a trigger opens its only run, lists several, and explains why there is none', async () => {
    const { page } = await open({ api: full, path: `/activity?transactionId=${seeded.shipped}` })
    const { _id } = await runOf(full, seeded.shipped)
    await page.waitForURL(new RegExp(`/activity/${_id}`))
    await page.getByText('were sent to Ada Lovelace.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /Grace/ }).first().waitFor()

    const several = await trigger(full, 'password-reset', ['ada', 'grace'])
    await server.drain()
    await follow(page, `/activity?transactionId=${several}`)
    const links = page.getByRole('table', { name: 'Runs' }).locator('[data-row-link]')
    await expect.poll(() => links.count()).toBe(2)

    const nobody = await trigger(full, 'password-reset', { type: 'Topic', topicKey: 'accountants' })
    await server.drain()
    await follow(page, `/activity?transactionId=${nobody}`)
    await page.getByText('The topic does not exist').waitFor()
    await page.getByText('accountants').waitFor()
  })

  test('a digest shows its events, and the other runs link to it', async () => {
    const { development } = await server.freshOrganization()
    await makeWorkflow(development, 'comments', [
      {
        type: 'digest',
        name: 'Ten minutes',
        stepId: 'wait',
        controlValues: { type: 'regular', amount: 10, unit: 'minutes' },
      },
      inApp('{{steps.wait.eventCount}} comments'),
    ])
    const first = await trigger(development, 'comments', 'ada', { payload: { comment: 'Nice' } })
    await server.drain()
    const second = await trigger(development, 'comments', 'ada', { payload: { comment: 'Indeed' } })
    await server.drain()
    const { page } = await open({
      api: development,
      path: `/activity?transactionId=${first}`,
      options: { hasOwnClock: true },
    })
    await page
      .getByRole('region', { name: 'Why', exact: true })
      .getByText(/The digest collects events until/)
      .waitFor()
    await takeScreenshots(page, 'run-waiting')
    server.clock.advance({ minutes: 11 })
    await server.drain()
    await page.clock.fastForward(30_000)
    await page.getByText('The in-app message was sent to ada.').waitFor({ timeout: 40_000 })
    await page.getByRole('button', { name: /Ten minutes.*Done/ }).click()
    await page.getByText('2 collected events').waitFor()
    await page.getByText('"Indeed"').waitFor()

    await follow(page, `/activity?transactionId=${second}`)
    await page
      .getByRole('region', { name: 'Why', exact: true })
      .getByRole('link', { name: 'Open the run with the digest' })
      .click()
    const { _id } = await runOf(development, first)
    await page.waitForURL(new RegExp(`/activity/${_id}`))
  }, 90_000)

  test('can be replayed and cancelled, and a failed step can be sent again', async () => {
    const { development } = await server.freshOrganization()
    await makeWorkflow(development, 'slow', [
      { type: 'delay', controlValues: { type: 'regular', amount: 3, unit: 'days' } },
      inApp('Later'),
    ])
    await makeWorkflow(development, 'mail', [email('Hi', '<p>Hi</p>')])
    await development.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
    const waiting = await trigger(development, 'slow', 'ada')
    await development.put('/v1/sandbox/faults', { channel: 'email', fault: 'bounce', count: 1 })
    const failed = await trigger(development, 'mail', 'ada')
    await server.drain()

    const { page } = await open({
      ...{ api: development, role: 'editor', path: `/activity?transactionId=${waiting}` },
      options: { hasOwnClock: true },
    })
    await page
      .getByText(/The delay waits until/)
      .filter({ visible: true })
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel steps' }).click()
    await page
      .getByText(/because somebody cancelled the trigger/)
      .first()
      .waitFor()

    await follow(page, `/activity?transactionId=${failed}`)
    await page.getByText(/The email was not sent to ada@example.com because/).waitFor()
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('dialog', { name: 'Send it again?' }).getByRole('button', { name: 'Send again' }).click()
    await page.getByText('Sending again').waitFor()
    await server.drain()
    await page.clock.fastForward(3_000)
    await page.getByText('The email was sent to ada@example.com.').waitFor()

    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('dialog', { name: 'Replay this run?' }).getByRole('button', { name: 'Replay' }).click()
    await page.waitForURL(/transactionId=/)
    await server.drain()
    const { body } = await development.get('/v1/notifications?workflowIds=mail')
    expect(body.data).toHaveLength(2)
    await page.clock.fastForward(3_000)
    await page.waitForURL(new RegExp(body.data[0]._id))
    await page.getByText('The email was sent to ada@example.com.').waitFor()
  }, 60_000)

  test('a viewer can read everything and change nothing', async () => {
    const { _id } = await runOf(full, seeded.failed)
    const { page } = await open({ api: full, role: 'viewer', path: `/activity/${_id}` })
    await page.getByRole('region', { name: 'Why', exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Replay' }).isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'Send again' }).isDisabled()).toBe(true)
  })
})
