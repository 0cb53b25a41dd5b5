import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { takePictures, useDashboard } from './dashboard.ts'
import { sendFirst } from './hands.ts'

const { server, open } = useDashboard()

const send = (page: Page, title: string) => sendFirst(page, server, title)

describe('the guided start', () => {
  test('an empty account lands there; three sends arrive before the eyes, and are still checked after a reload', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/' })
    await page.waitForURL(/\/start/)
    await page.getByText(development.key.slice(0, 12)).waitFor()
    await takePictures(page, 'start-empty')

    const inApp = await send(page, 'An in-app message')
    await inApp.getByRole('heading', { name: /^Hello / }).waitFor()
    const email = await send(page, 'An email')
    const mail = email.frameLocator('iframe')
    await mail.getByRole('heading', { name: /^It works, / }).waitFor()
    const sms = await send(page, 'A text message')
    await sms.getByText(/this is your first text message/).waitFor()
    await page.getByRole('link', { name: /Connect a real provider/ }).waitFor()
    await takePictures(page, 'start')

    await page.reload()
    await expect.poll(() => page.getByRole('img', { name: 'done' }).count()).toBe(3)

    await page.goto(`${server.url}/`)
    await page.waitForURL(/\/activity/)
  })

  test('the code is what was sent, in the language of the reader, and works as it stands', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/start' })
    await send(page, 'A text message')
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
  })

  test('a viewer sees it and is told why nothing can be sent', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/start', role: 'viewer' })
    await page.getByText('YOUR_API_KEY').waitFor()
    for (const button of await page.getByRole('button', { name: 'Send' }).all())
      expect(await button.isDisabled()).toBe(true)
  })
})
