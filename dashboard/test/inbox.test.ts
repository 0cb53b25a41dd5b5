import { expect, test } from 'vitest'
import { useHostSite } from '../../inbox/test/host-page.ts'
import { axeViolations, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, browser, open } = useDashboard()
const site = useHostSite(server, browser)

test('the live inbox follows its settings, the code too; a page on another origin connects, and the line turns green', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, role: 'editor', path: '/inbox' })
  await page.getByText('Waiting for your first connection…').waitFor()
  const inbox = page.frameLocator('iframe[title="The inbox in a page"]')
  await inbox.getByRole('dialog', { name: 'Notifications' }).waitFor()
  const accepted = page.waitForResponse((response) => response.url().endsWith('/v1/events/trigger'))
  await page.getByRole('button', { name: 'Send a message into it' }).click()
  await accepted
  await server.drain()
  await inbox.getByText('This message came all the way from a trigger to your inbox.').first().waitFor()
  // The dashboard's own preview is no page of the user's product.
  await page.getByText('Waiting for your first connection…').waitFor()
  await takeScreenshots(page, 'inbox')
  expect(await axeViolations(page)).toEqual([])

  await page.getByRole('button', { name: 'Dark' }).click()
  await page.getByRole('combobox', { name: 'Language' }).click()
  await page.getByRole('option', { name: 'German' }).click()
  await page.getByLabel(/^Tabs/).fill('comments')
  await inbox.getByText('Comments').waitFor()
  const code = page.locator('pre').first()
  await expect.poll(() => code.textContent()).toContain('theme="dark"')
  expect(await code.textContent()).toContain('locale="de"')
  await takeScreenshots(page, 'inbox-dark-german')
  for (const [name, part] of [
    ['React', 'subscriber-id={subscriberId}'],
    ['Vue', ':subscriber-id="subscriberId"'],
    ['Next.js', "from 'next/script'"],
    ['@novu/js', "from '@novu/js'"],
    ['@novu/react', "from '@novu/react'"],
  ] as const) {
    await page.getByRole('button', { name, exact: true }).click()
    await expect.poll(() => code.textContent()).toContain(part)
  }
  await page.getByRole('button', { name: 'Ruby' }).click()
  await page.getByText('OpenSSL::HMAC.hexdigest').waitFor()

  const host = await site.open(development)
  await host.locator('belfry-inbox').getByRole('button').first().waitFor()
  await page.getByText('Connected.').waitFor()
  await page.getByText(site.origin).waitFor()
  await takeScreenshots(page, 'inbox-connected')
  expect(await overflowOnPhone(page)).toBe(0)
})

test('the palette leads there by the words that people try', async () => {
  const { page } = await open({ role: 'viewer', path: '/topics' })
  await page.getByRole('heading', { name: 'Topics', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  for (const word of ['docs', 'demo', 'inbox', 'help']) {
    await page.getByPlaceholder('Go to a page').fill(word)
    await page.getByRole('option', { name: 'Inbox', exact: true }).waitFor()
  }
})

test('the guided start leads there, and with HMAC the code and the preview have a hash', async () => {
  const { production } = await server.freshOrganization()
  const { page } = await open({ api: production, role: 'owner', path: '/start?env=production' })
  await page.getByRole('link', { name: 'the code for your page' }).click()
  await page.waitForURL(/\/inbox/)
  await page.getByText('subscriber-hash="SUBSCRIBER_HASH"').waitFor()
  const inbox = page.frameLocator('iframe[title="The inbox in a page"]')
  await inbox.getByRole('dialog', { name: 'Notifications' }).waitFor()
})
