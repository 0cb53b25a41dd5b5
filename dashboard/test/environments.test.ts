import { describe, expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { row } from './hands.ts'

const { server, open } = useDashboard()

async function makeWorkflow(api: Api, workflowId: string, name: string, body = 'Order {{payload.id}} has left us.') {
  const steps = [
    { name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { subject: 'On its way', body } },
    { name: 'Mail', stepId: 'mail', type: 'email', controlValues: { subject: 'On its way', body, editorType: 'html' } },
  ]
  const answer = await api.post('/v2/workflows', { workflowId, name, active: true, steps })
  expect(answer, answer.text).toMatchObject({ status: 201 })
}

describe('environments', () => {
  test('one can be created with a colour, renamed, switched to and deleted; a taken name is refused in the form; it fits on a phone', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/environments' })
    await row(page, 'Development').getByText('You are here').waitFor()
    await page.keyboard.press('c')
    await page.getByLabel('Name').fill('Production')
    await page.getByRole('button', { name: 'Create environment' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Name').fill('Staging 🧪')
    await page.getByRole('button', { name: 'Violet' }).click()
    await takeScreenshots(page, 'environment-new')
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Create environment' }).click()
    await row(page, 'Staging').waitFor()
    await takeScreenshots(page, 'environments')
    expect(await axeViolations(page)).toEqual([])
    expect(await overflowOnPhone(page)).toBe(0)
    await onDesktop(page)
    const named = async (name: string) =>
      (await person.get('/v1/environments')).body.find((one: { name: string }) => one.name === name)
    expect(await named('Staging 🧪')).toMatchObject({ color: '#7c3aed' })

    await row(page, 'Staging').getByRole('button', { name: 'Actions for Staging' }).click()
    await page.getByRole('menuitem', { name: 'Rename or recolour' }).click()
    await page.getByLabel('Name').fill('Acceptance')
    await page.getByRole('button', { name: 'Save' }).click()
    await row(page, 'Acceptance').waitFor()

    await page.getByRole('button', { name: 'Switch to Acceptance' }).click()
    await page.getByRole('button', { name: 'Environment: Acceptance' }).waitFor()
    await row(page, 'Acceptance').getByText('You are here').waitFor()
    await page.getByRole('button', { name: 'Switch to Development' }).click()
    await row(page, 'Development').getByText('You are here').waitFor()

    await row(page, 'Acceptance').getByRole('button', { name: 'Actions for Acceptance' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByText(/its API keys stop working at once/).waitFor()
    await page.getByRole('button', { name: 'Delete Acceptance' }).click()
    await page.getByText('“Acceptance” deleted').waitFor()
    await expect.poll(() => named('Acceptance')).toBeUndefined()
  })
})

describe('publishing', () => {
  test('says before the button what the target lacks, only for what is chosen, and leads to where it is mended', async () => {
    const { development, production } = await server.freshOrganization()
    await makeWorkflow(development, 'order-shipped', 'Order shipped', 'See {{env.SHOP_URL}}')
    await makeWorkflow(development, 'welcome', 'Welcome')
    const organization = await server.organizationOf(development)
    await organization.post('/v1/environment-variables', {
      key: 'SHOP_URL',
      values: [{ _environmentId: development.environmentId, value: 'https://shop.example' }],
    })
    const path = `/environments?publish=${production.environmentId}`
    const { page } = await open({ api: development, role: 'admin', path })
    const lacks = page.getByRole('region', { name: 'Missing in Production' })
    await lacks.getByText('No active email provider: 2 workflows would send nothing there.').waitFor()
    await lacks.getByText('The variable SHOP_URL has no value in Production; 1 workflow uses it.').waitFor()
    await takeScreenshots(page, 'publish-lacks')
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('checkbox', { name: 'Order shipped' }).click()
    await lacks.getByText('No active email provider: 1 workflow would send nothing there.').waitFor()
    expect(await lacks.getByText('SHOP_URL').count()).toBe(0)
    await lacks.getByRole('link', { name: 'Add a provider' }).click()
    await page.waitForURL(/\/integrations\?env=production/)
    await page.getByRole('button', { name: 'Environment: Production' }).waitFor()
  })

  test('shows the changes first, then publishes the selected workflows into Production', async () => {
    const { development, production } = await server.freshOrganization()
    await makeWorkflow(development, 'order-shipped', 'Order shipped')
    await makeWorkflow(development, 'welcome', 'Willkommen, привет, مرحبا 👋')
    const { page } = await open({ api: development, role: 'admin', path: '/environments' })
    await page.getByRole('button', { name: 'Publish changes' }).click()
    const sheet = page.getByRole('dialog', { name: 'Publish to Production' })
    await sheet.getByText('2 of 2').waitFor()
    await sheet.getByText('2 will be created').waitFor()
    await sheet.getByRole('checkbox', { name: /^Willkommen/ }).click()
    await sheet.getByText('1 will be created').waitFor()
    await page.reload()
    await sheet.getByRole('checkbox', { name: /^Willkommen/ }).click()
    await sheet.getByRole('button', { name: 'Publish 1 to Production' }).click()
    await sheet.getByText('1 published to Production').waitFor()
    await sheet.getByRole('list', { name: 'Result' }).getByText('Created').waitFor()
    await takeScreenshots(page, 'publish-result')
    const workflows = async () => (await production.get('/v2/workflows')).body.workflows
    expect(await workflows()).toMatchObject([{ workflowId: 'order-shipped' }])
    await sheet.getByRole('button', { name: 'Done' }).click()

    const changed = { name: 'Inbox', type: 'in_app', controlValues: { subject: 'On its way', body: 'It has left us.' } }
    const { body: before } = await development.get('/v2/workflows/order-shipped')
    const steps = [{ ...changed, _id: before.steps[0]._id }]
    const answer = await development.put('/v2/workflows/order-shipped', { ...before, steps })
    expect(answer, answer.text).toMatchObject({ status: 200 })
    await makeWorkflow(production, 'only-there', 'Only there')
    await page.getByRole('button', { name: 'Compare with Production' }).click()
    await sheet.getByRole('button', { name: /^Order shipped/ }).click()
    await sheet.getByText('After: It has left us.').waitFor()
    await sheet.getByText('Before: Order {{payload.id}} has left us.').first().waitFor()
    await sheet.getByText('Only in the target. Select it to delete it there.').waitFor()
    await takeScreenshots(page, 'publish')
    expect(await axeViolations(page)).toEqual([])
    expect(await sheet.getByRole('checkbox', { name: 'Only there' }).isChecked()).toBe(false)
    await sheet.getByRole('checkbox', { name: 'Only there' }).click()
    await sheet.getByText('1 will be created, 1 will be updated, 1 will be deleted').waitFor()
    await sheet.getByRole('button', { name: 'Publish 3 to Production' }).click()
    await sheet.getByText('3 published to Production').waitFor()
    expect((await workflows()).map(({ workflowId }: any) => workflowId).sort()).toEqual(['order-shipped', 'welcome'])

    await sheet.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Publish changes' }).click()
    await sheet.getByText('Nothing to publish').waitFor()
  })

  test('many go in batches; interrupted by a reload, it shows what was published and continues with the rest', async () => {
    const { development, production } = await server.freshOrganization()
    const numbers = Array.from({ length: 27 }, (_, number) => number)
    await Promise.all(numbers.map((number) => makeWorkflow(development, `w-${number}`, `Workflow ${number}`)))
    const path = `/environments?publish=${production.environmentId}`
    const { page } = await open({ api: development, role: 'admin', path })
    const sheet = page.getByRole('dialog', { name: 'Publish to Production' })
    // The second batch never gets an answer, until the reload.
    let batches = 0
    await page.route('**/publish', async (route) => {
      const isReal = !route.request().postDataJSON().dryRun
      if (isReal) batches += 1
      if (!isReal || batches !== 2) await route.continue()
    })
    await sheet.getByRole('button', { name: 'Publish 27 to Production' }).click()
    await sheet.getByText('25 of 27').waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await page.getByRole('progressbar', { name: 'Publishing to Production…' }).waitFor()
    await takeScreenshots(page, 'publishing')
    await page.reload()
    await page.getByText('Publishing to Production stopped: 25 of 27 were published.').waitFor()
    await page.getByRole('button', { name: 'Show' }).click()
    await sheet.getByText('Publishing stopped: 25 of 27 were published, 2 not.').waitFor()
    await takeScreenshots(page, 'publish-stopped')
    expect(await axeViolations(page)).toEqual([])
    await sheet.getByRole('button', { name: 'Publish the other 2' }).click()
    await sheet.getByText('27 published to Production').waitFor()
    expect((await production.get('/v2/workflows?limit=1')).body.totalCount).toBe(27)
    await sheet.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Publish changes' }).click()
    await sheet.getByText('Nothing to publish').waitFor()
  }, 180_000)

  test('an editor can compare, and sees who can publish', async () => {
    const { development, production } = await server.freshOrganization()
    await makeWorkflow(development, 'order-shipped', 'Order shipped')
    const path = `/environments?publish=${production.environmentId}`
    const { page } = await open({ api: development, role: 'editor', path })
    await page.getByText('You can compare. Only admins and owners can publish.').waitFor()
    expect(await page.getByRole('button', { name: 'Publish 1 to Production' }).isDisabled()).toBe(true)
    expect(await page.getByRole('checkbox', { name: 'Order shipped' }).isDisabled()).toBe(true)
  })
})

describe('variables', () => {
  test('one has a value for each environment; a secret value is never shown again; it fits on a phone', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/variables' })
    await page.getByRole('heading', { name: 'No variables yet' }).waitFor()
    await takeScreenshots(page, 'variables-empty')
    await page.keyboard.press('c')
    await page.getByLabel('Key').fill('2fast')
    await page.getByRole('button', { name: 'Create variable' }).click()
    await page.getByText(/must start with a letter/).waitFor()
    await page.getByLabel('Key').fill('SUPPORT_EMAIL')
    await page.getByLabel('Development').fill('dev@example.com')
    await page.getByLabel('Production').fill('help@example.com')
    await page.getByRole('button', { name: 'Create variable' }).click()
    await page.waitForURL(/\/variables\/SUPPORT_EMAIL/)
    await page.getByText('No workflow uses it yet.').waitFor()
    await makeWorkflow(development, 'welcome', 'Welcome', 'Write to {{env.SUPPORT_EMAIL}}')

    await page.getByLabel('Secret').click()
    await page.getByLabel('Production').fill('sealed-value')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Replace the value in Production' }).waitFor()
    await takeScreenshots(page, 'variable')
    expect(await axeViolations(page)).toEqual([])
    expect(await page.content()).not.toContain('sealed-value')
    await page.getByRole('button', { name: 'Replace the value in Production' }).click()
    await page.getByLabel('Production').fill('newer')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Replace the value in Production' }).waitFor()

    await page.reload()
    await page.getByRole('link', { name: /Welcome/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('row').filter({ hasText: 'SUPPORT_EMAIL' }).getByText('••••').first().waitFor()
    await takeScreenshots(page, 'variables')
    expect(await axeViolations(page)).toEqual([])
    expect(await overflowOnPhone(page)).toBe(0)
    await onDesktop(page)
    await page.getByRole('searchbox', { name: 'Search variables' }).fill('nothing')
    await page.getByText('No key contains “nothing”').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('link', { name: 'SUPPORT_EMAIL' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText(/One workflow uses it: “Welcome”/).waitFor()
    await page.getByRole('button', { name: 'Delete variable' }).click()
    await page.getByRole('heading', { name: 'No variables yet' }).waitFor()
    expect((await person.get('/v1/environment-variables')).body).toEqual([])
  })

  test('a viewer can read but not change them', async () => {
    const { development } = await server.freshOrganization()
    await (await server.organizationOf(development)).post('/v1/environment-variables', { key: 'PLAN', values: [] })
    const { page } = await open({ api: development, role: 'viewer', path: '/variables/PLAN' })
    await page.getByText('You can view this. Only admins and owners can change variables.').waitFor()
    expect(await page.getByLabel('Key').isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'New variable' }).isDisabled()).toBe(true)
  })
})

describe('API keys', () => {
  test('one is shown on request, and rotated while the old one keeps working; it fits on a phone', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/api-keys' })
    await page.getByText('In use').waitFor()
    expect(await page.content()).not.toContain(development.key)
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('list', { name: 'Keys', exact: true }).getByText(development.key).waitFor()
    await page.locator('pre').getByText(development.key).waitFor()
    await takeScreenshots(page, 'api-keys')
    expect(await axeViolations(page)).toEqual([])

    await page.getByRole('button', { name: 'Rotate…' }).click()
    await page.getByRole('combobox', { name: /^Keep the old key for/ }).click()
    await page.getByRole('option', { name: 'One hour' }).click()
    await takeScreenshots(page, 'api-keys-rotate')
    await page.getByRole('button', { name: 'Create new key' }).click()
    await page.getByText(/^works until/).waitFor()
    await takeScreenshots(page, 'api-keys-rotated')
    expect(await overflowOnPhone(page)).toBe(0)
    await onDesktop(page)
    expect(await axeViolations(page)).toEqual([])
    expect((await development.get('/v1/environments/me')).status).toBe(200)
    server.clock.advance({ hours: 1 })
    expect((await development.get('/v1/environments/me')).status).toBe(401)
  })

  test('replacing them at once first says what stops working', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/api-keys' })
    await page.getByRole('button', { name: 'Replace at once…' }).click()
    await page.getByText(/stops triggering workflows in Development/).waitFor()
    expect((await development.get('/v1/environments/me')).status).toBe(200)
    await page.getByRole('button', { name: 'Replace now' }).click()
    await page.getByText('New key created. All other compatible keys are now refused').waitFor()
    expect((await development.get('/v1/environments/me')).status).toBe(401)
    expect((await person.get('/v1/environments/api-keys')).body).toHaveLength(1)
  })

  test('an admin sees only the key they create, until they leave the page', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, role: 'admin', path: '/api-keys' })
    await page.getByText('Only owners can see existing keys.').waitFor()
    expect(await page.getByRole('list', { name: 'Keys', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Rotate…' }).click()
    await page.getByRole('button', { name: 'Create new key' }).click()
    await page.getByText('once you leave this page, only owners can see it').waitFor()
    const { body } = await development.get('/v1/environments/api-keys')
    const made = body.find(({ key }: { key: string }) => key !== development.key).key
    await page.getByRole('list', { name: 'Keys', exact: true }).getByText(made).waitFor()
    expect(await page.content()).not.toContain(development.key)
    expect(await axeViolations(page)).toEqual([])
    await page.reload()
    await page.getByText('Only owners can see existing keys.').waitFor()
    expect(await page.content()).not.toContain(made)
  })

  test('a named key is made, its secret is shown once, and it is revoked', async () => {
    const { development, production } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/api-keys' })
    const list = page.getByRole('list', { name: 'Named keys' })
    await list.getByText('Compatible key').waitFor()
    await page.getByRole('button', { name: 'New key…' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Checkout')
    await page.getByRole('checkbox', { name: 'Read' }).click()
    await page.getByRole('checkbox', { name: 'Publish to Production' }).click()
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('dialog').locator('code')
    await shown.waitFor()
    const key = (await shown.textContent()) ?? ''
    expect(key).toMatch(/^bf_[0-9A-Za-z]{38}$/)
    const use = () =>
      fetch(`${development.url}/v2/workflows`, { headers: { authorization: `ApiKey ${key}` } }).then(
        ({ status }) => status,
      )
    expect(await use()).toBe(200)
    await page.getByRole('button', { name: 'Done' }).click()
    await list.getByText('Send, Read, Publish to Production').waitFor()
    expect(await page.content()).not.toContain(key)
    const [made] = (await person.get('/v2/api-keys')).body
    expect(made).toMatchObject({ name: 'Checkout', scopes: ['send', 'read', `publish:${production.environmentId}`] })
    expect(await overflowOnPhone(page)).toBe(0)
    await onDesktop(page)

    await page.getByRole('button', { name: 'Revoke Checkout' }).click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText('Key revoked').waitFor()
    expect(await use()).toBe(401)
  })

  test('a signing secret is made, and the door for keys of other environments is opened and closed', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/api-keys' })
    await page.getByRole('button', { name: 'Make a new inbox secret' }).click()
    await page.getByRole('button', { name: 'Make a new secret', exact: true }).click()
    const shown = page.getByRole('dialog').locator('code')
    await shown.waitFor()
    const [inbox] = (await person.get('/v2/signing-secrets')).body
    expect(await shown.textContent()).toBe(inbox.secrets[0].secret)
    await page.getByRole('button', { name: 'Done' }).click()

    const door = page.getByRole('switch', { name: 'Keys of other environments may publish into Development' })
    await page.getByText('Only people, and keys that were made for it').waitFor()
    await door.click()
    await page.getByText(/a Development key on a laptop can change what it sends/).waitFor()
    expect(await axeViolations(page)).toEqual([])
    await door.click()
    await page.getByText('Only people, and keys that were made for it').waitFor()
    const doors = await person.get(`/v2/environments/${development.environmentId}/doors`)
    expect(doors.body).toEqual({ openToKeys: false, isDefault: false })
  })

  test('an editor sees why there are none to see', async () => {
    const { page } = await open({ role: 'editor', path: '/api-keys' })
    await page.getByRole('heading', { name: 'API keys are for admins' }).waitFor()
    expect(await axeViolations(page)).toEqual([])
  })
})
