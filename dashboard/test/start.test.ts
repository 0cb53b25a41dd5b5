import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, takeScreenshots, useDashboard } from './dashboard.ts'
import { sendFirst } from './hands.ts'

const { server, open } = useDashboard()

const send = (page: Page, title: string) => sendFirst(page, server, title)

test('an empty account opens the guided start; three sends arrive, the code works as shown, and a reload keeps the checks', async () => {
  const { development } = await server.freshOrganization()
  const { page } = await open({ api: development, path: '/' })
  await page.waitForURL(/\/start/)
  await page.getByText(development.key.slice(0, 12)).waitFor()
  const toDoFirst = page.getByText('Press Send first: that creates the workflow it names.')
  await toDoFirst.waitFor()
  await takeScreenshots(page, 'start-empty')

  const inApp = await send(page, 'An in-app message')
  await inApp.getByRole('heading', { name: /^Hello / }).waitFor()
  await toDoFirst.waitFor({ state: 'detached' })
  const email = await send(page, 'An email')
  const mail = email.frameLocator('iframe')
  await mail.getByRole('heading', { name: /^It works, / }).waitFor()
  const sms = await send(page, 'A text message')
  await sms.getByText(/this is your first text message/).waitFor()
  await page.getByRole('link', { name: /Connect a real provider/ }).waitFor()
  await takeScreenshots(page, 'start')

  await page.getByRole('button', { name: 'Python' }).click()
  await page.getByText('requests.post').waitFor()
  await page.getByRole('button', { name: 'curl' }).click()
  const code = await page.locator('pre').textContent()
  const [, body = ''] = /-d '(.*)'$/s.exec(code ?? '') ?? []
  const [, authorization = ''] = /Authorization: (ApiKey \w+)/.exec(code ?? '') ?? []
  const answer = await fetch(`${server.url}/v1/events/trigger`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body,
  })
  expect(await answer.json()).toMatchObject({ acknowledged: true, status: 'processed' })

  await page.reload()
  await expect.poll(() => page.getByRole('img', { name: 'done' }).count()).toBe(3)

  await page.goto(`${server.url}/`)
  await page.waitForURL(/\/activity/)
})

test('the application identifier can be copied, and the page says what it is for; a viewer can copy it, but not send', async () => {
  const { development } = await server.freshOrganization()
  const [{ identifier }] = (await development.get('/v1/environments')).body.filter(
    ({ _id }: { _id: string }) => _id === development.environmentId,
  )
  const { page } = await open({ api: development, path: '/start', role: 'viewer' })
  await page.getByText('YOUR_API_KEY').waitFor()
  for (const button of await page.getByRole('button', { name: 'Send' }).all())
    expect(await button.isDisabled()).toBe(true)
  await page.getByText('The inbox in your page needs it to find this environment; it is not secret.').waitFor()
  await page.getByText(identifier, { exact: true }).waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy the application identifier' }).click()
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(identifier)
  expect(await axeViolations(page)).toEqual([])
})
