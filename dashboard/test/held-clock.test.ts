import { expect, test } from 'vitest'
import { Api } from '../../server/test/server.ts'
import { axeViolations, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

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
  expect(await overflowOnPhone(page)).toBe(0)

  await page.goto(`${server.url}/workflows?env=development`)
  await page.getByRole('heading', { name: 'Workflows', exact: true }).waitFor()
  expect(await bar.count()).toBe(0)
})
