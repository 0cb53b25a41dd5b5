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
