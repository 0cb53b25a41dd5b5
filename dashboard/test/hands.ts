// What people do on more than one page, or in more than one story.
import type { Locator, Page } from 'playwright-core'
import type { TestServer } from '../../server/test/server.ts'

/** Presses one of the three buttons of the guided start and watches the message arrive. @returns the step, with the message in it */
export async function sendFirst(page: Page, server: TestServer, title: string): Promise<Locator> {
  const step = page.getByRole('listitem').filter({ hasText: title })
  const accepted = page.waitForResponse((response) => response.url().endsWith('/v1/events/trigger'))
  await step.getByRole('button', { name: 'Send' }).click()
  await accepted
  await server.drain()
  await step.getByRole('img', { name: 'done' }).waitFor()
  return step
}

/** In the editor of a workflow, with the plus that is named so. */
export async function addStep(page: Page, after: string, kind: RegExp): Promise<void> {
  await page.getByRole('button', { name: after }).click()
  await page.getByRole('menuitem', { name: kind }).click()
}

/** The editor says that everything is kept. */
export const saved = (page: Page): Promise<void> =>
  page
    .getByRole('status')
    .filter({ hasText: /^Saved$/ })
    .first()
    .waitFor()

export const row = (page: Page, name: string): Locator => page.getByRole('row').filter({ hasText: name })
