// One story through the whole dashboard without a request by hand: from the setup link to Production.
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { takeScreenshots, useDashboard } from './dashboard.ts'
import { addStep, row, saved, sendFirst } from './hands.ts'

// Browsers use their own clock for "the last 24 hours", so the first start must happen today.
beforeAll(() => server.clock.advance({ ms: Date.now() - server.clock.now().getTime() }))
const { server, browser } = useDashboard()
const desk = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' as const }
const password = 'correct horse battery'

/** A page in an empty browser. */
async function openBrowser(path: string): Promise<Page> {
  const page = await browser.open(server.url + path, desk)
  page.setDefaultTimeout(120_000)
  page.setDefaultNavigationTimeout(120_000)
  return page
}
/** Clicks a link of the sidebar. */
const goTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()

test('an owner sets up, sends, builds a workflow, sees why, changes an integration, invites a viewer and publishes', async () => {
  // Set up the owner by the link of the first start.
  const page = await openBrowser(`/setup#${server.setUpToken}`)
  await page.getByLabel('Your name').fill('Ada Lovelace')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Organization').fill('Acme')
  await page.getByRole('button', { name: 'Create the owner account' }).click()

  // The guided start: three sends, and each message arrives.
  await page.waitForURL(/\/start/)
  const inApp = await sendFirst(page, server, 'An in-app message')
  await inApp.getByRole('heading', { name: /^Hello Ada/ }).waitFor()
  const email = await sendFirst(page, server, 'An email')
  await email
    .frameLocator('iframe')
    .getByRole('heading', { name: /^It works, / })
    .waitFor()
  const sms = await sendFirst(page, server, 'A text message')
  await sms.getByText(/this is your first text message/).waitFor()

  // A workflow of three steps, with a digest and an email.
  await goTo(page, 'Workflows')
  await page.getByRole('button', { name: 'New workflow' }).first().click()
  await page.getByRole('button', { name: /^Blank/ }).click()
  await page.getByLabel('Name').fill('New comments')
  await page.getByRole('button', { name: 'Create workflow' }).click()
  await page.waitForURL(/\/workflows\/new-comments/)
  await addStep(page, 'Add a step at the start', /^In-app/)
  await page.getByRole('textbox', { name: 'Body' }).fill('{{payload.author}} wrote to you')
  await addStep(page, 'Add a step after In-app', /^Digest/)
  await page.getByText('digest 10 min').waitFor()
  await addStep(page, 'Add a step after Digest', /^Email/)
  await page.waitForURL(/step=email-step/)
  await page
    .getByRole('textbox', { name: 'Subject' })
    .fill('{{steps.digest-step.eventCount}} comments for {{subscriber.firstName}}')
  await page.getByRole('textbox', { name: 'Body' }).click()
  await page.keyboard.type('They are all waiting for you.')
  await page.getByText('No issues').waitFor()
  await saved(page)

  // Two test runs: the second joins the digest of the first.
  await page.getByRole('button', { name: 'Test run' }).click()
  const dialog = page.getByRole('dialog', { name: 'Test run' })
  const outcome = dialog.getByRole('region', { name: 'Outcome' })
  await dialog.getByRole('button', { name: 'Activate it' }).click()
  await dialog.getByRole('button', { name: 'Run', exact: true }).click()
  await outcome.waitFor()
  await server.drain()
  await outcome.getByText('Waiting').waitFor()
  const accepted = page.waitForResponse((response) => response.url().endsWith('/v1/events/trigger'))
  await dialog.getByRole('button', { name: 'Run again' }).click()
  await accepted
  await server.drain()
  await outcome.getByText('2 events collected so far.').waitFor()

  // The activity explains what happened.
  await outcome.getByRole('link', { name: 'Open in activity' }).click()
  await page.waitForURL(/\/activity\//)
  const why = page.getByRole('region', { name: 'Why', exact: true })
  await why.getByText(/the digest collects events until/).waitFor()
  server.clock.advance({ minutes: 11 })
  await server.drain()
  await page.reload()
  await why.getByText('The in-app message and the email were sent to Ada', { exact: false }).waitFor()
  await page.getByRole('button', { name: /^Digest.*Done/ }).click()
  await page.getByText('2 collected events').waitFor()
  await page.getByRole('heading', { name: '2 comments for Ada' }).waitFor()
  await takeScreenshots(page, 'story-run')
  await page.keyboard.press('Escape')
  await why.waitFor({ state: 'detached' })
  await page
    .getByRole('row', { name: /New comments.*Delivered/ })
    .first()
    .waitFor()

  // Rename an integration and send a test through it.
  await goTo(page, 'Integrations')
  await page.getByRole('link', { name: 'Belfry Email' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Trial post')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await row(page, 'Trial post').waitFor()
  await page.getByRole('tab', { name: 'Test' }).click()
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('link', { name: 'Open it in the sandbox' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  // Invite a viewer, who joins, signs in again and cannot edit.
  await goTo(page, 'Team')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByLabel('Email').fill('grace@example.com')
  await page.getByRole('combobox', { name: 'Role' }).click()
  await page.getByRole('option', { name: 'Viewer' }).click()
  await page.getByRole('button', { name: 'Create link' }).click()
  const invited = page.getByRole('dialog', { name: 'grace@example.com is invited' })
  const link = new URL((await invited.locator('pre').textContent()) ?? '')
  await invited.getByRole('button', { name: 'Done' }).click()

  const theirs = await openBrowser(link.pathname + link.hash)
  await theirs.getByLabel('Your name').fill('Grace Hopper')
  await theirs.getByLabel('Password', { exact: true }).fill(password)
  await theirs.getByRole('button', { name: 'Join', exact: true }).click()
  await theirs.getByRole('button', { name: 'Your account: Grace Hopper' }).click()
  await theirs.getByRole('menuitem', { name: 'Sign out' }).click()
  await theirs.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
  await theirs.getByLabel('Email').fill('grace@example.com')
  await theirs.getByLabel('Password').fill(password)
  await theirs.getByRole('button', { name: 'Sign in' }).click()
  await theirs.getByRole('button', { name: 'Your account: Grace Hopper' }).waitFor()
  await theirs.goto(`${server.url}/workflows/new-comments?step=email-step`)
  await theirs.getByText('Read only').waitFor()
  expect(await theirs.getByRole('textbox', { name: 'Subject' }).getAttribute('contenteditable')).toBe('false')
  expect(await theirs.getByRole('button', { name: 'Test run' }).isDisabled()).toBe(true)
  // Nor can she with a request of her own: the server refuses it.
  const refused = await theirs.request.delete(`${server.url}/v2/workflows/new-comments`, {
    headers: { origin: server.url, 'sec-fetch-site': 'same-origin', 'belfry-environment': server.api.environmentId },
  })
  expect(refused.status(), await refused.text()).toBe(403)

  // To Production.
  await goTo(page, 'Environments')
  await page.getByRole('button', { name: 'Publish changes' }).click()
  const sheet = page.getByRole('dialog', { name: 'Publish to Production' })
  await sheet.getByRole('checkbox', { name: 'New comments' }).waitFor()
  await sheet.getByRole('button', { name: /^Publish \d+ to Production$/ }).click()
  const result = sheet.getByRole('list', { name: 'Result' })
  await result.getByText('New comments').waitFor()
  expect(await result.getByText('Failed').count()).toBe(0)
  await sheet.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Switch to Production' }).click()
  await page.getByRole('button', { name: 'Environment: Production' }).waitFor()
  await goTo(page, 'Workflows')
  await page.getByRole('link', { name: 'New comments' }).click()
  await expect.poll(() => page.getByRole('treeitem').count(), { timeout: 120_000 }).toBe(3)
}, 900_000)
