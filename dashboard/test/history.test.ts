// The history of workflows and layouts: files.md §10.
import { expect, test } from 'vitest'
import { axeViolations, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const mail = (subject: string) => ({
  ...{ stepId: 'mail', name: 'Mail', type: 'email' },
  controlValues: { subject, body: '<p>Hi</p>', editorType: 'html' },
})

test('versions are listed and compared; an earlier one is named and restored, and Undo takes it back', async () => {
  const { development } = await server.freshOrganization()
  const body = { workflowId: 'comments', name: 'Comments', active: true, steps: [mail('One')] }
  await development.post('/v2/workflows', body)
  const { page } = await open({ api: development, role: 'editor', path: '/workflows/comments' })
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'History' }).click()
  await page.getByRole('heading', { name: 'One version so far' }).waitFor()
  await page.getByText('Every change will be listed here.').waitFor()
  expect(await axeViolations(page)).toEqual([])

  await development.post('/v2/definitions/push', {
    source: { commit: '8f3c1234aa', url: 'https://example.com/8f3c' },
    ...{
      message: 'Second',
      resources: [{ kind: 'workflow', id: 'comments', base: 'any', definition: { ...body, steps: [mail('Two')] } }],
    },
  })
  await page.reload()
  const list = page.getByRole('list', { name: 'Versions' })
  await list.getByRole('button', { name: /Second.*Current.*commit 8f3c123/ }).waitFor()
  await page.getByRole('link', { name: 'commit 8f3c123' }).waitFor()
  const difference = page.getByLabel('Difference')
  await difference.getByText('- subject: One').or(difference.getByText('-      subject: One')).waitFor()
  await takeScreenshots(page, 'history')
  expect(await axeViolations(page)).toEqual([])

  await list.getByRole('button', { name: /Version 1/ }).click()
  const details = page.getByRole('region', { name: 'Version 1' })
  await details.getByLabel('Name this version').fill('Before the launch')
  await details.getByRole('button', { name: 'Save name' }).click()
  await list.getByText('Before the launch').waitFor()
  await details.getByRole('button', { name: 'Restore' }).click()
  await list.getByRole('button', { name: /restored from version 1/ }).waitFor()
  const subject = async () => (await development.get('/v2/workflows/comments')).body.steps[0].controlValues.subject
  expect(await subject()).toBe('One')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(subject).toBe('Two')
})

test('a layout has a history too, which viewers only read', async () => {
  const { development } = await server.freshOrganization()
  const content = (text: string) => ({
    controlValues: { email: { body: `<html><body>${text}{{content}}</body></html>`, editorType: 'html' } },
  })
  await development.post('/v2/layouts', { layoutId: 'brand', name: 'Brand' })
  await development.put('/v2/layouts/brand', { name: 'Brand', ...content('A') })
  await development.put('/v2/layouts/brand', { name: 'Brand', ...content('B') })
  const { page } = await open({ api: development, role: 'viewer', path: '/layouts/brand' })
  await page.getByRole('link', { name: 'History' }).click()
  await page
    .getByRole('list', { name: 'Versions' })
    .getByRole('button', { name: /Current/ })
    .waitFor()
  await page.getByRole('list', { name: 'Versions' }).getByRole('button').last().click()
  expect(await page.getByRole('button', { name: 'Restore' }).count()).toBe(0)
  expect(await page.getByLabel('Name this version').count()).toBe(0)
  expect(await axeViolations(page)).toEqual([])
})
