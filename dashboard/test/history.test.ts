// The history of workflows and layouts: files.md §10.
import { expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, open } = useDashboard()

const mail = (subject: string, body = '<p>Hi</p>') => ({
  ...{ stepId: 'mail', name: 'Mail', type: 'email' },
  controlValues: { subject, body, editorType: 'html' },
})
const text = (body: string) => ({ stepId: 'text', name: 'Text', type: 'sms', controlValues: { body } })
const inbox = (body: string) => ({ stepId: 'inbox', name: 'Inbox', type: 'in_app', controlValues: { body } })
const push = (api: Api, definition: { workflowId: string; [member: string]: unknown }, more: object = {}) =>
  api.post('/v2/definitions/push', {
    resources: [
      {
        ...{ kind: 'workflow', id: definition.workflowId, base: 'any', path: 'workflows/comments/workflow.yaml' },
        definition,
      },
    ],
    ...more,
  })

test('versions are listed and compared; an earlier one is named and restored, and Undo takes it back', async () => {
  const { development } = await server.freshOrganization()
  const body = { workflowId: 'comments', name: 'Comments', active: true, steps: [mail('One')] }
  await development.post('/v2/workflows', body)
  const { page } = await open({ api: development, role: 'editor', path: '/workflows/comments' })
  const tabs = page.getByRole('navigation', { name: 'Workflow', exact: true })
  expect(await tabs.getByRole('link', { name: 'Editor' }).getAttribute('aria-current')).toBe('page')
  await takeScreenshots(page, 'history-tab')
  await tabs.getByRole('link', { name: 'History' }).click()
  await page.getByRole('heading', { name: 'One version so far' }).waitFor()
  await page.getByText('Every change will be listed here.').waitFor()
  expect(await tabs.getByRole('link', { name: 'History' }).getAttribute('aria-current')).toBe('page')
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

test.each([
  ['workflow', '/workflows/comments'],
  ['layout', '/layouts/comments'],
] as const)('all versions of a %s can be reached, also those a link names', async (kind, path) => {
  const { development } = await server.freshOrganization()
  const body = kind === 'workflow' ? { workflowId: 'comments', steps: [mail('One')] } : { layoutId: 'comments' }
  const { _id } = (await development.post(`/v2/${kind}s`, { ...body, name: 'At first', active: true })).body
  // Each as the first one; saved at different times.
  const { pool } = server.database
  const columns = 'environment_id, definition, author, source, translations'
  const row = [development.environmentId, _id]
  await pool.query(
    `INSERT INTO ${kind}_versions (${columns}, ${kind}_id, version, created_at, message)
     SELECT ${columns}, ${kind}_id, n, created_at + n * interval '1 second', 'Change ' || n
     FROM ${kind}_versions, generate_series(2, 120) n WHERE environment_id = $1 AND ${kind}_id = $2`,
    row,
  )
  await pool.query(`UPDATE ${kind}s SET version = 120 WHERE environment_id = $1 AND id = $2`, row)
  const { resources } = (await development.get(`/v2/definitions?kinds=${kind}`)).body
  const { definition } = resources.find(({ id }: { id: string }) => id === 'comments')
  await development.post('/v2/definitions/push', {
    resources: [{ kind, id: 'comments', base: 'any', definition: { ...definition, name: 'At last' } }],
  })

  const { page } = await open({ api: development, role: 'editor', path: `${path}/history` })
  const list = page.getByRole('list', { name: 'Versions' })
  const older = page.getByRole('button', { name: 'Older versions' })
  await list.getByRole('button', { name: /Version 121 Current/ }).waitFor()
  expect(await list.getByRole('button').count()).toBe(100)
  const said = kind === 'workflow' ? 'The message is the same in both versions.' : 'No email uses this layout.'
  await page.getByRole('region', { name: 'Messages' }).getByText(said).waitFor()
  await older.scrollIntoViewIfNeeded()
  await takeScreenshots(page, `history-older-${kind}`)
  expect(await axeViolations(page)).toEqual([])
  await older.click()
  await list.getByRole('button', { name: /Version 1 / }).click()
  expect(await list.getByRole('button').count()).toBe(121)
  expect(await older.count()).toBe(0)
  await page.getByRole('region', { name: 'Version 1', exact: true }).getByRole('button', { name: 'Restore' }).click()
  await list.getByRole('button', { name: /restored from version 1/ }).waitFor()
  expect((await development.get(`/v2${path}`)).body.name).toBe('At first')

  // The last of the first page is compared with the first of the next one.
  await page.goto(`${server.url}${path}/history?version=23`)
  const compared = page.getByRole('region', { name: 'Version 23', exact: true }).getByLabel('Compared with')
  await compared.getByText('Compared with Change 22').waitFor()
  await page.goto(`${server.url}${path}/history?version=121&from=1`)
  const difference = page.getByRole('region', { name: 'Version 121', exact: true }).getByLabel('Difference')
  await difference.getByText('-name: At first').waitFor()
  await difference.getByText('+name: At last').waitFor()
})

test('two versions are side by side, with their messages as a person would get them and what differs marked', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' })
  await development.post('/v2/subscribers', { subscriberId: 'bo', firstName: 'Bo', email: 'bo@example.com' })
  const body = { workflowId: 'comments', name: 'Comments', active: true }
  const page1 = '<h1>News</h1><p>Dear {{subscriber.firstName}}, {{payload.author}} wrote you a comment.</p>'
  const steps = [mail('{{payload.author}} wrote', page1), text('A comment'), inbox('{{payload.author}} wrote')]
  await development.post('/v2/workflows', { ...body, steps })
  await development.post('/v1/events/trigger', { name: 'comments', to: 'ada', payload: { author: 'Grace' } })
  await server.drain()
  const after = [
    mail('{{payload.author}} has written', page1.replace('wrote you a comment', 'left a comment for you')),
    text('A comment'),
    inbox('New: {{payload.author}} wrote'),
  ]
  await push(development, { ...body, steps: after }, { message: 'Friendlier words' })
  const { page } = await open({ api: development, role: 'editor', path: '/workflows/comments/history' })
  const messages = page.getByRole('region', { name: 'Messages' })
  const [before, now] = [
    messages.getByRole('figure', { name: 'Version 1' }),
    messages.getByRole('figure', { name: 'Version 2' }),
  ]
  await before.first().locator('header del', { hasText: 'wrote' }).waitFor()
  await now.first().locator('header ins', { hasText: 'has written' }).waitFor()
  await before.first().frameLocator('iframe').getByText('Dear Ada, Grace').waitFor()
  expect(await now.first().frameLocator('iframe').locator('ins').allInnerTexts()).toContain('left')
  await now.nth(1).locator('ins', { hasText: 'New:' }).waitFor()
  await messages.getByText('1 message is the same.').waitFor()
  await takeScreenshots(page, 'history-messages')
  expect(await axeViolations(page)).toEqual([])

  await messages.getByRole('combobox', { name: 'Rendered for' }).click()
  await page.keyboard.type('Bo')
  await page.getByRole('option', { name: /Bo/ }).click()
  await before.first().frameLocator('iframe').getByText('Dear Bo, Grace').waitFor()
  expect(page.url()).toContain('subscriber=bo')
  await page.getByRole('region', { name: 'Definition' }).getByText('New: {{payload.author}} wrote').waitFor()
  expect(await overflowOnPhone(page)).toBe(0)
})

test('what files own says so with path and commit, warns before a change, and is read-only where that is refused', async () => {
  const { development } = await server.freshOrganization()
  const body = { workflowId: 'comments', name: 'Comments', active: true, validatePayload: true, steps: [mail('One')] }
  await push(development, body, { source: { commit: '8f3c1234aa', url: 'https://example.com/8f3c' } })
  const options = { permissions: ['clipboard-read', 'clipboard-write'] }
  const { page } = await open({ api: development, role: 'admin', path: '/workflows/comments', options })
  await page.getByText('workflows/comments/workflow.yaml', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: '8f3c123' }).getAttribute('href')).toBe('https://example.com/8f3c')
  const note = page.getByRole('note')
  await note.getByText(/^It is kept in files .* If you change it here, pull it/).waitFor()
  await takeScreenshots(page, 'files-warn')
  expect(await axeViolations(page)).toEqual([])
  await note.getByRole('button', { name: 'Copy as file' }).click()
  await page.getByText('Copied as YAML').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('workflowId: comments\nname: Comments\n')

  await development.patch('/v2/workflows/comments', { name: 'Changed here' })
  await page.reload()
  await note.getByText('Changed here since commit 8f3c123: pull it, or it will be a conflict.').waitFor()
  await development.patch('/v2/definitions/settings', { edits: 'refuse' })
  await page.reload()
  await page.getByText('Read only', { exact: true }).waitFor()
  expect(await page.getByRole('switch', { name: 'Active' }).isDisabled()).toBe(true)

  // An earlier version comes back by its file.
  await page.goto(`${server.url}/workflows/comments/history?version=1`)
  const earlier = page.getByRole('region', { name: 'Version 1', exact: true })
  const restore = earlier.getByRole('button', { name: 'Restore' })
  await earlier.getByRole('note').getByRole('button', { name: 'Copy as file' }).click()
  await page.getByText('Copied as YAML').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('workflowId: comments\nname: Comments\n')
  expect(await restore.count()).toBe(0)
  await takeScreenshots(page, 'history-refuse')
  expect(await axeViolations(page)).toEqual([])
  await development.post('/v2/definitions/release', { resources: [{ kind: 'workflow', id: 'comments' }] })
  await page.reload()
  await restore.waitFor()
  expect(await note.count()).toBe(0)
  await page.goto(`${server.url}/workflows/comments`)
  await page.getByRole('heading', { name: 'Changed here' }).waitFor()
  expect(await note.count()).toBe(0)
})

test('a layout that files own says so too, and is read-only where changes here are refused', async () => {
  const { development } = await server.freshOrganization()
  const email = { body: '<html><body>A{{content}}</body></html>', editorType: 'html' }
  await development.post('/v2/definitions/push', {
    source: { commit: '8f3c1234aa', url: 'https://example.com/8f3c' },
    resources: [
      {
        ...{ kind: 'layout', id: 'brand', base: 'any', path: 'layouts/brand/layout.yaml' },
        definition: { layoutId: 'brand', name: 'Brand', controlValues: { email } },
      },
    ],
  })
  await development.patch('/v2/definitions/settings', { edits: 'warn' })
  const { page } = await open({ api: development, role: 'admin', path: '/layouts/brand' })
  const note = page.getByRole('note')
  const name = page.getByLabel('Name', { exact: true })
  const body = page.getByRole('textbox', { name: 'Body' })
  const buttons = () =>
    Promise.all(['Saved', 'More actions'].map((name) => page.getByRole('button', { name, exact: true }).count()))
  await note.getByText(/^It is kept in files .* If you change it here, pull it/).waitFor()
  expect([await name.isEnabled(), await body.getAttribute('contenteditable')]).toEqual([true, 'true'])
  expect(await buttons()).toEqual([1, 1])
  expect(await page.getByText('Read only', { exact: true }).count()).toBe(0)

  await development.patch('/v2/definitions/settings', { edits: 'refuse' })
  await page.reload()
  const words = 'It is kept in files (layouts/brand/layout.yaml). Change it there and push it; here it is read-only.'
  await note.getByText(words).waitFor()
  await page.getByText('Read only', { exact: true }).waitFor()
  await page.getByText('layouts/brand/layout.yaml', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: '8f3c123' }).getAttribute('href')).toBe('https://example.com/8f3c')
  expect([await name.isEnabled(), await body.getAttribute('contenteditable')]).toEqual([false, 'false'])
  expect(await page.getByRole('switch', { name: 'Translated' }).isDisabled()).toBe(true)
  expect(await buttons()).toEqual([0, 0])
  await takeScreenshots(page, 'files-refuse-layout')
  expect(await axeViolations(page)).toEqual([])

  await development.post('/v2/definitions/release', { resources: [{ kind: 'layout', id: 'brand' }] })
  await page.reload()
  await page.getByRole('button', { name: 'Saved', exact: true }).waitFor()
  expect([await name.isEnabled(), await note.count()]).toEqual([true, 0])
})

test('in Production a change is saved by a click, with what it is for', async () => {
  const { production } = await server.freshOrganization()
  await production.post('/v2/workflows', {
    workflowId: 'comments',
    name: 'Comments',
    active: false,
    steps: [inbox('Hi')],
  })
  const { page } = await open({
    api: production,
    role: 'editor',
    path: '/workflows/comments?env=production&settings=true',
  })
  await page.getByLabel('Name', { exact: true }).fill('Renamed')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Save changes' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save changes' })
  await dialog.getByLabel('What changes, and why').fill('A better name')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(async () => (await production.get('/v2/workflows/comments/versions')).body.data[0])
    .toMatchObject({ version: 2, message: 'A better name', source: { kind: 'dashboard' } })

  await production.post('/v2/layouts', { layoutId: 'brand', name: 'Brand' })
  await page.goto(`${server.url}/layouts/brand?env=production`)
  await page.getByLabel('Name', { exact: true }).fill('Brand new')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const asking = page.getByRole('dialog', { name: 'Save the layout' })
  await asking.getByLabel('What changes, and why').fill('New footer')
  await asking.getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(async () => (await production.get('/v2/layouts/brand/versions')).body.data[0].message)
    .toBe('New footer')
})

test('a layout that somebody else saved meanwhile shows both sides, and nothing is lost', async () => {
  const { development } = await server.freshOrganization()
  const content = (word: string) => ({
    controlValues: { email: { body: `<html><body>${word}{{content}}</body></html>`, editorType: 'html' } },
  })
  await development.post('/v2/layouts', { layoutId: 'brand', name: 'Brand' })
  await development.put('/v2/layouts/brand', { name: 'Brand', ...content('A') })
  const { page } = await open({ api: development, role: 'editor', path: '/layouts/brand' })
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('Mine')
  await development.put('/v2/layouts/brand', { name: 'Theirs', ...content('B') })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Somebody else saved this layout' })
  await dialog.getByRole('region', { name: 'Theirs' }).getByText('Theirs', { exact: true }).last().waitFor()
  await takeScreenshots(page, 'layout-stale')
  expect(await axeViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Decide later' }).click()
  expect(await name.inputValue()).toBe('Mine')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await expect.poll(async () => (await development.get('/v2/layouts/brand')).body.name).toBe('Mine')
  // What was overwritten is in the history.
  const { data } = (await development.get('/v2/layouts/brand/versions')).body
  expect(data).toMatchObject([{ version: 4 }, { version: 3 }, { version: 2 }, { version: 1 }])
})

test('settings list the last pushes and those refused, choose who may edit, and fill in the key', async () => {
  const { development } = await server.freshOrganization()
  const body = { workflowId: 'comments', name: 'Comments', active: true, steps: [mail('One')] }
  const source = { repository: 'acme/app', commit: '8f3c1234aa', url: 'https://example.com/8f3c' }
  await push(development, body, { source, message: 'First push' })
  await development.patch('/v2/workflows/comments', { name: 'Changed here' })
  await development.post('/v2/definitions/push', {
    resources: [{ kind: 'workflow', id: 'comments', definition: { ...body, name: 'B' } }],
  })
  const { page } = await open({ api: development, role: 'owner', path: '/settings' })
  const pushes = page.getByRole('region', { name: 'Last pushes' })
  await pushes.getByText('Nothing was changed: workflow comments changed here').waitFor()
  await pushes.getByRole('link', { name: 'acme/app @ 8f3c123' }).waitFor()
  await pushes.getByText('1 created').waitFor()
  const commands = page.getByRole('region', { name: 'From your repository' })
  await commands.getByText(`export BELFRY_API_KEY=${development.key}`).waitFor()
  await pushes.scrollIntoViewIfNeeded()
  await takeScreenshots(page, 'settings-files')
  expect(await axeViolations(page)).toEqual([])
  await page.getByLabel('Workflows and layouts from files').click()
  await page.getByRole('option', { name: 'Refuse changes here' }).click()
  await expect.poll(async () => (await development.get('/v2/definitions/settings')).body).toEqual({ edits: 'refuse' })
})
