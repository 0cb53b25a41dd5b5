import { describe, expect, test } from 'vitest'
import { takePictures, useDashboard } from './dashboard.ts'

const { open } = useDashboard()

describe('the frame', () => {
  test('shows the environment, the pages and who is signed in', async () => {
    const { page } = await open({ path: '/no/such/page' })
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await takePictures(page, 'not-found')
    expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()).toContain(
      'Workflows',
    )
  })

  test('who is not signed in is asked to', async () => {
    const { page } = await open({ role: 'none', path: '/topics?status=a' })
    await page.waitForURL(/sign-in/)
    await takePictures(page, 'sign-in')
  })
})
