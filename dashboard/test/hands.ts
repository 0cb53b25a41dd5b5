// Actions that several tests share.
import type { Locator, Page } from 'playwright-core'
import type { TestServer } from '../../server/test/server.ts'

/** Clicks Send in one step of the guided start and waits for the message. @returns the step, with the message in it */
export async function sendFirst(page: Page, server: TestServer, title: string): Promise<Locator> {
  const step = page.getByRole('listitem').filter({ hasText: title })
  const accepted = page.waitForResponse((response) => response.url().endsWith('/v1/events/trigger'))
  await step.getByRole('button', { name: 'Send' }).click()
  await accepted
  await server.drain()
  await step.getByRole('img', { name: 'done' }).waitFor()
  return step
}

/** Adds a step in the workflow editor, with the plus button of this name. */
export async function addStep(page: Page, after: string, kind: RegExp): Promise<void> {
  await page.getByRole('button', { name: after }).click()
  await page.getByRole('menuitem', { name: kind }).click()
}

/** Waits until the editor shows that everything is saved. */
export const saved = (page: Page): Promise<void> =>
  page
    .getByRole('status')
    .filter({ hasText: /^Saved$/ })
    .first()
    .waitFor()

/** Saves in Production, where the impact is shown first. */
export async function saveChanges(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('dialog', { name: 'Save changes' }).getByRole('button', { name: 'Save', exact: true }).click()
}

export const row = (page: Page, name: string): Locator => page.getByRole('row').filter({ hasText: name })
