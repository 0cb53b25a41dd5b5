import { describe, expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { obstacles, takePictures, useDashboard } from './dashboard.ts'
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
  test('one is made with a colour, renamed, switched to and deleted', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/environments' })
    await row(page, 'Development').getByText('You are here').waitFor()
    await page.keyboard.press('c')
    await page.getByLabel('Name').fill('Staging 🧪')
    await page.getByRole('button', { name: 'Violet' }).click()
    await takePictures(page, 'environment-new')
    expect(await obstacles(page)).toEqual([])
    await page.getByRole('button', { name: 'Create environment' }).click()
    await row(page, 'Staging').waitFor()
    await takePictures(page, 'environments')
    expect(await obstacles(page)).toEqual([])
    const named = async (name: string) =>
      (await person.get('/v1/environments')).body.find((one: { name: string }) => one.name === name)
    expect(await named('Staging 🧪')).toMatchObject({ color: '#7c3aed' })

    await row(page, 'Staging').getByRole('button', { name: 'Actions for Staging' }).click()
    await page.getByRole('menuitem', { name: 'Rename and colour' }).click()
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
    await page.getByText('“Acceptance” is deleted').waitFor()
    await expect.poll(() => named('Acceptance')).toBeUndefined()
  })

  test('a name that is taken is refused in the form', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/environments?edit=new' })
    await page.getByLabel('Name').fill('Production')
    await page.getByRole('button', { name: 'Create environment' }).click()
    await page.getByRole('alert').waitFor()
  })
})

describe('publishing', () => {
  test('a workflow is brought into Production with its changes shown first', async () => {
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
    await takePictures(page, 'publish-result')
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
    await sheet.getByText('Only in the target. Choose it to delete it there.').waitFor()
    await takePictures(page, 'publish')
    expect(await obstacles(page)).toEqual([])
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

  test('much goes in parts; cut off by a reload, it says what was done and goes on with the rest', async () => {
    const { development, production } = await server.freshOrganization()
    const numbers = Array.from({ length: 27 }, (_, number) => number)
    await Promise.all(numbers.map((number) => makeWorkflow(development, `w-${number}`, `Workflow ${number}`)))
    const path = `/environments?publish=${production.environmentId}`
    const { page } = await open({ api: development, role: 'admin', path })
    const sheet = page.getByRole('dialog', { name: 'Publish to Production' })
    // The second part is on its way for ever, until the page is left.
    let parts = 0
    await page.route('**/publish', async (route) => {
      const isReal = !route.request().postDataJSON().dryRun
      if (isReal) parts += 1
      if (!isReal || parts !== 2) await route.continue()
    })
    await sheet.getByRole('button', { name: 'Publish 27 to Production' }).click()
    await sheet.getByText('25 of 27').waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await page.getByRole('progressbar', { name: 'Publishing to Production…' }).waitFor()
    await takePictures(page, 'publishing')
    await page.reload()
    await page.getByText('Publishing to Production stopped: 25 of 27 were published.').waitFor()
    await page.getByRole('button', { name: 'Show' }).click()
    await sheet.getByText('It stopped: 25 of 27 were published, 2 not.').waitFor()
    await takePictures(page, 'publish-stopped')
    expect(await obstacles(page)).toEqual([])
    await sheet.getByRole('button', { name: 'Go on with the other 2' }).click()
    await sheet.getByText('27 published to Production').waitFor()
    expect((await production.get('/v2/workflows?limit=1')).body.totalCount).toBe(27)
    await sheet.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Publish changes' }).click()
    await sheet.getByText('Nothing to publish').waitFor()
  }, 180_000)

  test('an editor may compare, and is told who publishes', async () => {
    const { development, production } = await server.freshOrganization()
    await makeWorkflow(development, 'order-shipped', 'Order shipped')
    const path = `/environments?publish=${production.environmentId}`
    const { page } = await open({ api: development, role: 'editor', path })
    await page.getByText('You can compare. Admins and owners publish.').waitFor()
    expect(await page.getByRole('button', { name: 'Publish 1 to Production' }).isDisabled()).toBe(true)
    expect(await page.getByRole('checkbox', { name: 'Order shipped' }).isDisabled()).toBe(true)
  })
})

describe('variables', () => {
  test('one has a value for each environment; a secret one is never shown again', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/variables' })
    await page.getByRole('heading', { name: 'No variables yet' }).waitFor()
    await takePictures(page, 'variables-empty')
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
    await takePictures(page, 'variable')
    expect(await obstacles(page)).toEqual([])
    expect(await page.content()).not.toContain('sealed-value')
    await page.getByRole('button', { name: 'Replace the value in Production' }).click()
    await page.getByLabel('Production').fill('newer')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Replace the value in Production' }).waitFor()

    await page.reload()
    await page.getByRole('link', { name: /Welcome/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('row').filter({ hasText: 'SUPPORT_EMAIL' }).getByText('••••').first().waitFor()
    await takePictures(page, 'variables')
    expect(await obstacles(page)).toEqual([])
    await page.getByRole('searchbox', { name: 'Search variables' }).fill('nothing')
    await page.getByText('No key contains “nothing”').waitFor()
    await page.goto(`${server.url}/variables/SUPPORT_EMAIL`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText(/One workflow uses it: “Welcome”/).waitFor()
    await page.getByRole('button', { name: 'Delete variable' }).click()
    await page.getByRole('heading', { name: 'No variables yet' }).waitFor()
    expect((await person.get('/v1/environment-variables')).body).toEqual([])
  })

  test('a viewer looks at them, and no more', async () => {
    const { development } = await server.freshOrganization()
    await development.post('/v1/environment-variables', { key: 'PLAN', values: [] })
    const { page } = await open({ api: development, role: 'viewer', path: '/variables/PLAN' })
    await page.getByText('You can look at it. Admins and owners change variables.').waitFor()
    expect(await page.getByLabel('Key').isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'New variable' }).isDisabled()).toBe(true)
  })
})

describe('API keys', () => {
  test('one is shown when asked for, and rotated so that the old one works on for a while', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/api-keys' })
    await page.getByText('In use').waitFor()
    expect(await page.content()).not.toContain(development.key)
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('list', { name: 'Keys' }).getByText(development.key).waitFor()
    await page.locator('pre').getByText(development.key).waitFor()
    await takePictures(page, 'api-keys')
    expect(await obstacles(page)).toEqual([])

    await page.getByRole('button', { name: 'Rotate…' }).click()
    await page.getByRole('combobox', { name: /^The old key works for another/ }).click()
    await page.getByRole('option', { name: 'One hour' }).click()
    await takePictures(page, 'api-keys-rotate')
    await page.getByRole('button', { name: 'Make a new key' }).click()
    await page.getByText(/^works until/).waitFor()
    await takePictures(page, 'api-keys-rotated')
    expect(await obstacles(page)).toEqual([])
    expect((await development.get('/v1/environments/me')).status).toBe(200)
    server.clock.advance({ hours: 1 })
    expect((await development.get('/v1/environments/me')).status).toBe(401)
  })

  test('replacing them at once says what stops working', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/api-keys' })
    await page.getByRole('button', { name: 'Replace at once…' }).click()
    await page.getByText(/stops triggering workflows in Development/).waitFor()
    expect((await development.get('/v1/environments/me')).status).toBe(200)
    await page.getByRole('button', { name: 'Replace now' }).click()
    await page.getByText('There is a new key; all others are refused').waitFor()
    expect((await development.get('/v1/environments/me')).status).toBe(401)
    expect((await person.get('/v1/environments/api-keys')).body).toHaveLength(1)
  })

  test('an admin is told that owners see them, and shown the one they make', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, role: 'admin', path: '/api-keys' })
    await page.getByText('Only owners see the keys there are.').waitFor()
    expect(await page.getByRole('list', { name: 'Keys' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Rotate…' }).click()
    await page.getByRole('button', { name: 'Make a new key' }).click()
    await page.getByText('when you leave this page, only owners can see it').waitFor()
    const { body } = await development.get('/v1/environments/api-keys')
    const made = body.find(({ key }: { key: string }) => key !== development.key).key
    await page.getByRole('list', { name: 'Keys' }).getByText(made).waitFor()
    expect(await page.content()).not.toContain(development.key)
    expect(await obstacles(page)).toEqual([])
    await page.reload()
    await page.getByText('Only owners see the keys there are.').waitFor()
    expect(await page.content()).not.toContain(made)
  })

  test('editors are told why they see none', async () => {
    const { page } = await open({ role: 'editor', path: '/api-keys' })
    await page.getByRole('heading', { name: 'API keys are for admins' }).waitFor()
    expect(await obstacles(page)).toEqual([])
  })
})

test.each(['/environments', '/variables', '/api-keys'])(
  'on a phone %s has nothing to scroll sideways',
  async (path) => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path, options: { viewport: { width: 360, height: 740 } } })
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  },
)
