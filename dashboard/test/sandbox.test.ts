import { expect, test } from 'vitest'
import { makeWorkflow, trigger } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, follow, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const ada = { subscriberId: 'ada', email: 'ada@example.com', phone: '+4915112345678' }
const attachments = [{ name: 'تقرير.txt', mime: 'text/plain', file: Buffer.from('one').toString('base64') }]

async function withWorkflow(): Promise<Api> {
  const { development } = await server.freshOrganization()
  const controlValues = { subject: 'Welcome 🎉', editorType: 'html', body: '<h1>Hello Ada</h1>' }
  await makeWorkflow(development, 'welcome', [
    { type: 'email', stepId: 'mail', controlValues },
    { type: 'sms', stepId: 'text', controlValues: { body: 'مرحبا Ada' } },
  ])
  return development
}

async function send(api: Api, more: object = {}) {
  await trigger(api, 'welcome', ada, more)
  await server.drain()
}

test('messages appear by themselves in an empty mailbox, and as a pill in a full one; search looks at all their texts', async () => {
  const api = await withWorkflow()
  const { page } = await open({ api, path: '/sandbox', options: { hasOwnClock: true } })
  await page.getByText('Nothing has arrived yet').waitFor()
  await send(api)
  await page.clock.fastForward(3_000)
  await page.getByRole('link', { name: /Welcome 🎉/ }).waitFor()
  server.clock.advance({ seconds: 1 })
  await send(api)
  await page.clock.fastForward(3_000)
  await page.getByRole('button', { name: '2 new' }).click()
  await expect.poll(() => page.getByRole('link', { name: /Welcome 🎉/ }).count()).toBe(2)

  await page.getByLabel('Search messages').fill('مرحبا')
  await page.waitForURL(/search=/)
  await expect.poll(() => page.getByRole('list', { name: 'Messages' }).getByRole('link').count()).toBe(2)
  await page.getByLabel('Search messages').fill('nobody wrote this')
  await page.getByText('No message matches').waitFor()
})

test('a message shows its content, headers, attachments and source; the view is in the URL', async () => {
  const api = await withWorkflow()
  await send(api, { payload: { attachments } })
  const { page } = await open({ api, path: '/sandbox' })
  await page.getByRole('link', { name: /Welcome 🎉/ }).waitFor()
  await page.getByRole('button', { name: 'Channel' }).click()
  await page.getByRole('option', { name: 'Email' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: /Welcome 🎉/ }).click()
  await page.frameLocator('iframe').getByRole('heading', { name: 'Hello Ada' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await takeScreenshots(page, 'sandbox')
  await page.getByRole('tab', { name: 'Headers' }).click()
  await page.getByRole('rowheader', { name: 'To' }).waitFor()
  await page.getByRole('tab', { name: 'Attachments' }).click()
  await page.reload()
  await page.getByText('تقرير.txt').first().waitFor()
  await page.getByRole('tab', { name: 'Source' }).click()
  await page.getByText('<h1>Hello Ada</h1>').waitFor()
})

test('a hostile email is shown, and runs nothing', async () => {
  const { development: api } = await server.freshOrganization()
  const strike = "parent.hit='struck'"
  const hostile = [
    '<h1>Hostile</h1>',
    `<script>${strike}</script><img src="x" onerror="${strike}"><svg onload="${strike}"></svg>`,
    `<iframe srcdoc="<script>parent.${strike}</script>"></iframe><details open ontoggle="${strike}">x</details>`,
    `<form action="/v1/auth/sign-out" method="post"><button autofocus onfocus="${strike}">Send</button></form>`,
    `<a href="javascript:${strike}">A link</a>`,
  ].join('')
  const controlValues = { subject: 'Trap', editorType: 'html', body: hostile, disableOutputSanitization: true }
  await makeWorkflow(api, 'welcome', [{ type: 'email', stepId: 'mail', controlValues }])
  await send(api)
  const [mail] = (await api.get('/v1/sandbox/messages')).body.data
  const { page } = await open({ api, path: `/sandbox/${mail._id ?? mail.id}` })
  const frame = page.frameLocator('iframe').first()
  await frame.getByRole('heading', { name: 'Hostile' }).waitFor()
  // The markup is unsanitised: the rest of this test is about the frame.
  expect(await frame.locator('body').innerHTML()).toContain('onerror=')
  await frame.getByRole('button', { name: 'Send' }).click()
  await frame.getByRole('link', { name: 'A link' }).click()
  const allowed = await page.locator('iframe').first().getAttribute('sandbox')
  expect(allowed?.split(' ')).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/scripts|forms|top-nav|modals/)]),
  )
  expect(await page.evaluate('window.hit')).toBeUndefined()
  expect(await page.evaluate("fetch('/v1/auth/session').then(({ status }) => status)")).toBe(200)
})

test('simulated failures can be started and stopped, with Undo; emptying asks first', async () => {
  const api = await withWorkflow()
  await send(api)
  const { page } = await open({ api, role: 'editor', path: '/sandbox' })
  await page.getByRole('button', { name: 'Simulate a failure' }).click()
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await page.getByText('The sandbox is failing').waitFor()
  expect((await api.get('/v1/sandbox/faults')).body).toEqual([
    { fault: 'rate_limited', retryAfterSeconds: 10, count: 1 },
  ])
  await page.getByRole('button', { name: 'Stop all faults' }).click()
  await page.getByText('The sandbox is failing').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('The sandbox is failing').waitFor()
  await page.getByRole('button', { name: 'Empty', exact: true }).click()
  await page.getByText(/All 2 messages/).waitFor()
  await page.getByRole('button', { name: 'Empty the sandbox' }).click()
  await page.getByText('Nothing has arrived yet').waitFor()
})

test('a viewer can only read; list and message fit on a phone; a missing message is named', async () => {
  const api = await withWorkflow()
  await send(api)
  const { page } = await open({ api, role: 'viewer', path: '/sandbox' })
  await page.getByRole('link', { name: /Welcome 🎉/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Empty', exact: true }).isDisabled()).toBe(true)
  expect(await overflowOnPhone(page)).toBeLessThanOrEqual(0)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'All messages' }).waitFor()
  await follow(page, '/sandbox/64d4f2a3b5c6d7e8f9a0b1c2')
  await page.getByRole('alert').getByRole('heading', { name: 'Not found' }).waitFor()
})
