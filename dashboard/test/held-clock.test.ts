import { expect, test } from 'vitest'
import { Api } from '../../server/test/server.ts'
import { axeViolations, follow, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { row } from './hands.ts'

const { server, open } = useDashboard()

test('an environment whose clock is held shows its time on every page, and buttons that move it', async () => {
  const { development } = await server.freshOrganizationWide()
  const made = await development.post('/v1/environments', {
    ...{ name: 'Trial', color: '#7c3aed', clock: { now: '2026-03-28T19:00:00Z' } },
  })
  expect(made.status, made.text).toBe(201)
  const { _id, apiKeys } = made.body
  const held = new Api(server.url, apiKeys[0].key, _id, development.organizationId)
  const steps = [
    { name: 'Wait', stepId: 'wait', type: 'delay', controlValues: { type: 'regular', amount: 3, unit: 'hours' } },
    { name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'Hello' } },
  ]
  await held.post('/v2/workflows', { name: 'Later', workflowId: 'later', active: true, steps })

  const { page } = await open({ api: development, path: '/workflows?env=trial', role: 'editor' })
  const bar = page.getByRole('region', { name: 'Held clock' })
  await bar.getByText('Sat, Mar 28, 2026, 19:00:00 UTC').waitFor()
  await bar.getByText('Nothing waits. Trigger something, then move the clock.').waitFor()
  expect(await bar.getByRole('button', { name: 'To the next' }).isDisabled()).toBe(true)
  await held.post('/v1/events/trigger', { name: 'later', to: 'ada' })
  await server.drain()
  await page.reload()
  await bar.getByText('One wait, the next ends Sat, Mar 28, 2026, 22:00:00 UTC').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'held-clock')
  await bar.getByRole('button', { name: '+1 h' }).click()
  await page.getByText('0 waits ended, 0 messages sent').waitFor()
  await bar.getByText('Sat, Mar 28, 2026, 20:00:00 UTC').waitFor()
  await bar.getByRole('button', { name: 'To the next' }).click()
  await page.getByText('1 wait ended, 1 message sent').waitFor()
  await bar.getByText('Sat, Mar 28, 2026, 22:00:00 UTC').waitFor()
  await bar.getByRole('textbox', { name: 'Move the clock by or to' }).fill('2026-03-27T00:00:00Z')
  await bar.getByRole('button', { name: 'Go' }).click()
  await page.getByText(/does not go back/).waitFor()
  await bar.getByRole('textbox', { name: 'Move the clock by or to' }).fill('2d')
  await bar.getByRole('button', { name: 'Go' }).click()
  await bar.getByText('Mon, Mar 30, 2026, 22:00:00 UTC').waitFor()

  // While it moves: a bar, a count, and a way to stop, which ends the request.
  await held.post('/v1/events/trigger', { name: 'later', to: 'ada' })
  const stopped = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/v1/clock/advance'))
  await page.route('**/v1/clock/advance', () => undefined)
  await bar.getByRole('button', { name: '+1 h' }).click()
  // How far it has come is asked while it moves.
  await page.waitForRequest((request) => request.url().endsWith('/v1/clock'))
  await bar.getByRole('button', { name: 'Stop on the way' }).click()
  await stopped
  await page.getByText('Stopped on the way').waitFor()
  await bar.getByRole('button', { name: '+1 h' }).waitFor()
  await page.unroute('**/v1/clock/advance')
  // Somebody else's advance is shown, and theirs to stop.
  await page.route('**/v1/clock', async (route) => {
    const answer = await route.fetch()
    const told = await answer.json()
    await route.fulfill({ response: answer, json: { ...told, advancingTo: '2026-04-30T22:00:00.000Z' } })
  })
  await page.reload()
  await bar.getByRole('progressbar').waitFor()
  expect(await bar.getByRole('button').count()).toBe(0)
  // It is asked again and again, and one of the answers may be on its way.
  await page.unrouteAll({ behavior: 'wait' })
  await bar.getByRole('button', { name: '+1 d' }).waitFor()

  let answer: () => void = () => undefined
  const release = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/v1/clock/advance', async (route) => {
    await release
    await route.continue()
  })
  await bar.getByRole('button', { name: '+1 d' }).click()
  await bar.getByRole('progressbar', { name: /^Moving the clock, \d waits? left$/ }).waitFor()
  await bar.getByRole('button', { name: 'Stop on the way' }).waitFor()
  expect(await bar.getByRole('button', { name: '+1 h' }).count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
  answer()
  await bar.getByText('Tue, Mar 31, 2026, 22:00:00 UTC').waitFor()
  await page.unroute('**/v1/clock/advance')
  await page.getByText('1 wait ended, 1 message sent').first().waitFor()
  // Relative times go by the held clock; what belongs to the organization by the real one.
  await row(page, 'Later').getByText('3 d ago').first().waitFor()
  for (const title of ['Subscribers', 'Activity', 'Integrations', 'Sandbox']) {
    await follow(page, `/${title.toLowerCase()}?env=trial`)
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
    await bar.getByText('Tue, Mar 31, 2026, 22:00:00 UTC').waitFor()
  }
  await follow(page, '/environments?env=trial')
  await row(page, 'Trial')
    .getByText(/ mo ago$/)
    .waitFor()
  await follow(page, '/workflows?env=trial')
  expect(await overflowOnPhone(page)).toBe(0)

  await onDesktop(page)
  await page.getByRole('button', { name: 'Environment: Trial (clock held)' }).click()
  await page.getByRole('menuitem', { name: 'Trial (clock held)' }).waitFor()
  await page.getByRole('menuitem', { name: /^Development/ }).click()
  await page.getByRole('button', { name: 'Environment: Development' }).waitFor()
  await page.getByRole('heading', { name: 'Workflows', exact: true }).waitFor()
  expect(await bar.count()).toBe(0)
})

test('one is made in the form of a new environment, with the time at which it starts', async () => {
  const { development } = await server.freshOrganizationWide()
  const { page } = await open({ api: development, path: '/environments?edit=new', role: 'admin' })
  await page.getByLabel('Name').fill('Night of the clocks')
  expect(await page.getByLabel('Start time in UTC').count()).toBe(0)
  await page.getByRole('checkbox', { name: 'Hold the clock' }).click()
  await page.getByLabel('Start time in UTC').fill('1999-03-28T19:00')
  await page.getByRole('button', { name: 'Create environment' }).click()
  await page.getByText('The clock goes from 2000 to 2100').waitFor()
  await page.getByLabel('Start time in UTC').fill('2026-03-28T19:00')
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'held-clock-new')
  await page.getByRole('button', { name: 'Create environment' }).click()
  const listed = row(page, 'Night of the clocks')
  await listed.getByText('Clock held').waitFor()
  expect(await row(page, 'Production').getByText('Clock held').count()).toBe(0)
  await takeScreenshots(page, 'held-clock-environments')
  expect(await axeViolations(page)).toEqual([])
  expect(await overflowOnPhone(page)).toBe(0)
  await onDesktop(page)
  await page.getByRole('button', { name: 'Switch to Night of the clocks' }).click()
  const bar = page.getByRole('region', { name: 'Held clock' })
  await bar.getByText('Sat, Mar 28, 2026, 19:00:00 UTC').waitFor()

  await page.keyboard.press('c')
  await page.getByLabel('Name').fill('From now on')
  await page.getByRole('checkbox', { name: 'Hold the clock' }).click()
  await page.getByRole('button', { name: 'Create environment' }).click()
  await row(page, 'From now on').getByText('Clock held').waitFor()
})
