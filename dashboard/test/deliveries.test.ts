import { expect, test } from 'vitest'
import { makeWorkflow, trigger } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const names = ['ada', 'grace', 'customer-7c2f9b1e-with-a-very-long-identifier']

/** An environment in which the sandbox refused one email to each. */
async function failing(): Promise<Api> {
  const { development } = await server.freshOrganization()
  const controlValues = { subject: 'Hi', editorType: 'html', body: '<p>Hi</p>' }
  await makeWorkflow(development, 'welcome', [{ type: 'email', stepId: 'mail', name: 'Mail', controlValues }])
  for (const subscriberId of names)
    await development.post('/v2/subscribers', { subscriberId, email: `${subscriberId}@example.com` })
  await development.put('/v1/sandbox/faults', { channel: 'email', fault: 'bounce', count: names.length })
  for (const subscriberId of names) await trigger(development, 'welcome', subscriberId)
  await server.drain()
  return development
}

const left = async (api: Api) => (await api.get('/v1/deliveries')).body.data.length

test('shows why each failed and links to its run; filters are in the URL; it fits on a phone', async () => {
  const api = await failing()
  const { page } = await open({ api, path: '/deliveries' })
  await page.getByRole('row', { name: /ada.*Provider refused.*Belfry Email/ }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'deliveries')
  expect(await overflowOnPhone(page)).toBeLessThanOrEqual(0)
  await onDesktop(page)
  await page.getByRole('button', { name: 'Reason' }).click()
  await page.getByRole('option', { name: 'Provider unavailable' }).click()
  await page.waitForURL(/reason=provider_failed/)
  await page.getByText('No failed delivery matches').waitFor()
  await page.reload()
  await page.getByText('No failed delivery matches').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('button', { name: 'Provider', exact: true }).click()
  await page.getByRole('textbox', { name: 'Find in Provider' }).fill('belfry')
  await page.getByRole('option', { name: 'Belfry Email' }).click()
  await page.waitForURL(/providerId=svc-email/)
  await page.getByRole('link', { name: 'grace' }).click()
  await page.waitForURL(/\/activity\/\w+/)
  await page.getByRole('region', { name: 'Why', exact: true }).getByText('because Belfry Email refused it').waitFor()
})

test('one, some and all matching ones can be sent again, after a question; an empty list says so; a viewer cannot send', async () => {
  const api = await failing()
  const { page } = await open({ api, role: 'editor', path: '/deliveries' })
  await page.getByRole('row', { name: /grace/ }).getByRole('button', { name: 'Send again' }).click()
  const one = page.getByRole('dialog', { name: 'Send the email to grace again?' })
  await one.getByText(/cannot be unsent/).waitFor()
  await one.getByRole('button', { name: 'Cancel' }).click()
  expect(await left(api)).toBe(3)

  await page.getByRole('checkbox', { name: 'Select the delivery to ada' }).click()
  await page.getByRole('button', { name: 'Send 1 again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Sending 1 delivery again').waitFor()
  await expect.poll(() => left(api)).toBe(2)

  await page.getByRole('button', { name: 'Send all again' }).click()
  const all = page.getByRole('dialog', { name: 'Send 2 failed deliveries again?' })
  await all.getByRole('button', { name: 'Send all again' }).click()
  await page.getByText('No failed deliveries').waitFor()
  await server.drain()
  const { body } = await api.get('/v1/sandbox/messages')
  expect(body.totalCount).toBe(3)

  const viewer = await open({ api: await failing(), role: 'viewer', path: '/deliveries' })
  await viewer.page.getByRole('row', { name: /ada/ }).waitFor()
  expect(await viewer.page.getByRole('button', { name: 'Send all again' }).isDisabled()).toBe(true)
})

test('refused SQL calls say why, show what they said, and are tried again; a viewer cannot', async () => {
  const { development: api } = await server.freshOrganization()
  const viewer = await open({ api, role: 'viewer', path: '/refused-calls' })
  await viewer.page.getByText('No refused calls').waitFor()
  await viewer.page.getByText('belfry.trigger').first().waitFor()
  expect(await axeViolations(viewer.page)).toEqual([])
  await takeScreenshots(viewer.page, 'refused-calls-none')
  const { db, pool } = server.database
  const calls = [
    [
      'trigger',
      'bestellung-versandt-an-die-kundin-mit-dem-langen-namen',
      'workflow_not_found',
      'There is no such workflow in this environment',
    ],
    ['trigger', 'order-shipped', 'trigger_not_active', 'The workflow is not active'],
    ['upsert_subscriber', null, 'validation', 'Validation Error; email must be one email address'],
  ] as const
  for (const [place, [kind, name, code, message]] of calls.entries())
    await db
      .insertInto('belfry.refused')
      .values({
        ...{ environment_id: api.environmentId, id: `65000000${String(place).padStart(16, '0')}`, format: 1, kind },
        ...{ role: 'app', transaction_id: name && `order-${place}`, code, message },
        body: JSON.stringify(name ? { name, to: ['ada'], payload: { orderId: place } } : { subscriberId: 'grace' }),
        ...{ created_at: server.clock.now(), refused_at: server.clock.now() },
      })
      .execute()
  await viewer.page.reload()
  const row = viewer.page.getByRole('row', { name: /order-shipped.*trigger_not_active/ })
  await row.waitFor()
  expect(await row.getByRole('button', { name: 'Viewers cannot send' }).isDisabled()).toBe(true)
  expect(await viewer.page.getByRole('button', { name: 'Try all again' }).count()).toBe(0)

  const { page } = await open({ api, role: 'editor', path: '/refused-calls' })
  await page
    .getByRole('link', { name: /order-shipped|belfry.trigger/ })
    .first()
    .click()
  await page.getByRole('dialog', { name: 'Refused call' }).getByText('"payload"').waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'refused-call')
  expect(await overflowOnPhone(page)).toBeLessThanOrEqual(0)
  await onDesktop(page)
  await page.keyboard.press('Escape')
  await page.getByRole('row', { name: /grace/ }).getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The call is tried again').waitFor()
  await page.getByRole('row', { name: /grace/ }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Try all again' }).click()
  await page.getByText('No refused calls').waitFor()
  const { rowCount } = await pool.query('SELECT FROM belfry.outbox WHERE environment_id = $1', [api.environmentId])
  expect(rowCount).toBe(3)
})
