import { expect, test } from 'vitest'
import { makeWorkflow, trigger } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { obstacles, takePictures, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const names = ['ada', 'grace', 'customer-7c2f9b1e-with-a-very-long-identifier']

/** An environment where the sandbox has refused one e-mail to each. */
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

test('when nothing has failed the page says what would come there', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, path: '/deliveries' })
  await page.getByText('Nothing has failed for good').waitFor()
})

test('shows why each was given up on, leads to its run, and keeps filters in the URL', async () => {
  const api = await failing()
  const { page } = await open({ api, path: '/deliveries' })
  await page.getByRole('row', { name: /ada.*Provider refused.*Belfry Email/ }).waitFor()
  expect(await obstacles(page)).toEqual([])
  await takePictures(page, 'deliveries')
  await page.getByRole('button', { name: 'Reason' }).click()
  await page.getByRole('option', { name: 'Provider out of order' }).click()
  await page.waitForURL(/reason=provider_failed/)
  await page.getByText('No failed delivery matches').waitFor()
  await page.reload()
  await page.getByText('No failed delivery matches').waitFor()
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await page.getByRole('button', { name: 'Provider', exact: true }).click()
  await page.getByRole('textbox', { name: 'Find in Provider' }).fill('belfry')
  await page.getByRole('option', { name: 'Belfry Email' }).click()
  await page.waitForURL(/providerId=svc-email/)
  await page.getByRole('link', { name: 'grace' }).click()
  await page.waitForURL(/\/activity\/\w+/)
  await page.getByRole('region', { name: 'Why' }).getByText('because Belfry Email refused it').waitFor()
})

test('one, some and all that match are sent once more, after it was said what will happen', async () => {
  const api = await failing()
  const { page } = await open({ api, role: 'editor', path: '/deliveries' })
  await page.getByRole('row', { name: /grace/ }).getByRole('button', { name: 'Send once more' }).click()
  const one = page.getByRole('dialog', { name: 'Send the email to grace once more?' })
  await one.getByText(/cannot be taken back/).waitFor()
  await one.getByRole('button', { name: 'Cancel' }).click()
  expect(await left(api)).toBe(3)

  await page.getByRole('checkbox', { name: 'Choose the delivery to ada' }).click()
  await page.getByRole('button', { name: 'Send 1 once more' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send once more' }).click()
  await page.getByText('1 delivery is sent once more').waitFor()
  await expect.poll(() => left(api)).toBe(2)

  await page.getByRole('button', { name: 'Send all once more' }).click()
  const all = page.getByRole('dialog', { name: 'Send 2 failed deliveries once more?' })
  await all.getByRole('button', { name: 'Send all once more' }).click()
  await page.getByText('Nothing has failed for good').waitFor()
  await server.drain()
  const { body } = await api.get('/v1/sandbox/messages')
  expect(body.totalCount).toBe(3)
})

test('a viewer cannot send anything; it fits on a phone', async () => {
  const api = await failing()
  const options = { viewport: { width: 360, height: 740 } }
  const { page } = await open({ api, role: 'viewer', path: '/deliveries', options })
  await page.getByRole('row', { name: /ada/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Send all once more' }).isDisabled()).toBe(true)
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
})
