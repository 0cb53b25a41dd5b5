import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../server/test/server.ts'
import { templates } from '../src/pages/workflows/draft/templates.ts'
import { axeViolations, takeScreenshots, useDashboard } from './dashboard.ts'
import { addStep, saveChanges, saved } from './hands.ts'

const { server, open } = useDashboard()

const steps = (page: Page) => page.getByRole('treeitem')
const orderOf = async (page: Page) =>
  Promise.all((await steps(page).all()).map((step) => step.getAttribute('data-step')))

/** A typical workflow: three steps, tags, a schema. */
async function commentDigest(api: Api, active = true) {
  const answer = await api.post('/v2/workflows', {
    name: 'Comments',
    workflowId: 'comments',
    active,
    tags: ['social'],
    payloadSchema: {
      type: 'object',
      properties: { author: { type: 'string', default: 'Grace' }, comment: { type: 'string', default: 'Nice!' } },
      additionalProperties: true,
    },
    validatePayload: false,
    steps: [
      {
        name: 'Inbox',
        stepId: 'inbox',
        type: 'in_app',
        controlValues: { subject: '{{payload.author}} commented', body: '{{payload.comment}}' },
      },
      {
        name: 'Collect',
        stepId: 'collect',
        type: 'digest',
        controlValues: { type: 'regular', amount: 10, unit: 'minutes' },
      },
      {
        name: 'Email',
        stepId: 'email',
        type: 'email',
        controlValues: { editorType: 'html', subject: 'News', body: '<p>Hello {{subscriber.firstName}}</p>' },
      },
    ],
  })
  expect(answer.status).toBe(201)
}

describe('the list of workflows', () => {
  test('an empty list shows the button and the request that fill it; a template creates a workflow', async () => {
    const { development } = await server.freshOrganization()
    const { page } = await open({ api: development, path: '/workflows' })
    await page.getByRole('heading', { name: 'No workflows yet' }).waitFor()
    await page.getByText('/v2/workflows').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await takeScreenshots(page, 'workflows-empty')

    await page.keyboard.press('c')
    await page.getByRole('button', { name: /^Comment digest/ }).click()
    await page.getByLabel('Name').fill('Comments on posts')
    await takeScreenshots(page, 'workflows-new')
    await page.getByRole('button', { name: 'Create workflow' }).click()
    await page.waitForURL(/\/workflows\/comments-on-posts\?.*step=inbox/)
    await expect.poll(() => orderOf(page)).toEqual(['inbox', 'collect-comments', 'digest-email'])
    await page.getByText('digest 10 min').waitFor()
  })

  test('every template works unchanged', async () => {
    const { development } = await server.freshOrganization()
    for (const { id, workflow } of templates) {
      const { status, body } = await development.post('/v2/workflows', { name: id, workflowId: id, ...workflow })
      expect(status).toBe(201)
      const issues = body.steps.map((step: { issues?: { controls?: object } }) => step.issues?.controls ?? {})
      expect(issues).toEqual(workflow.steps.map(() => ({})))
      for (const { stepId } of body.steps) {
        const preview = await development.post(`/v2/workflows/${id}/step/${stepId}/preview`, {})
        expect(preview.body.result.error).toBeUndefined()
      }
    }
  })

  test('filters by name, tag and status are in the URL, and a new filter goes back to the first page', async () => {
    const { development } = await server.freshOrganization()
    await commentDigest(development)
    await development.post('/v2/workflows', {
      name: 'Password reset 🔑',
      workflowId: 'reset',
      steps: [],
      tags: ['security'],
    })
    await development.post('/v2/workflows', { name: 'رسالة ترحيب', workflowId: 'welcome-ar', steps: [], active: true })
    const long =
      'A very long name that somebody gave to a workflow because nobody had told them that a few words would do'
    await development.post('/v2/workflows', {
      name: long,
      workflowId: 'long',
      steps: [{ name: 'Email', type: 'email' }],
      active: true,
    })
    const { page } = await open({ api: development, path: '/workflows' })
    const rows = page.getByRole('table', { name: 'Workflows' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(5)
    await page.getByText('Has issues').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await takeScreenshots(page, 'workflows')

    await page.getByRole('button', { name: 'Tag', exact: true }).click()
    await page.getByRole('option', { name: 'security' }).click()
    await page.keyboard.press('Escape')
    await expect.poll(() => rows.count()).toBe(2)
    const url = new URL(page.url())
    url.searchParams.set('page', '7')
    await page.goto(url.href)
    await page.getByRole('heading', { name: 'No workflow matches' }).waitFor()
    await page.getByRole('button', { name: 'Status', exact: true }).click()
    await page.getByRole('option', { name: 'Inactive' }).click()
    await page.keyboard.press('Escape')
    await expect.poll(() => rows.count()).toBe(2)
    expect(new URL(page.url()).searchParams.has('page')).toBe(false)
    await page.getByRole('searchbox').fill('nothing like it')
    await page.getByRole('heading', { name: 'No workflow matches' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(() => rows.count()).toBe(5)
  })

  test('a workflow can be activated with Undo, duplicated, synced to Production after showing the changes, and deleted', async () => {
    const { development, production } = await server.freshOrganization()
    await commentDigest(development, false)
    const { page } = await open({ api: development, path: '/workflows' })
    const menu = (name: string) => page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
    const isActive = async () => (await development.get('/v2/workflows/comments')).body.active
    await menu('Comments')
    await page.getByRole('menuitem', { name: 'Activate' }).click()
    // A toast under the pointer stays.
    await page.getByText('“Comments” is active').hover()
    await expect.poll(isActive).toBe(true)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(isActive).toBe(false)

    // A disappearing toast returns the focus, which would close an open menu.
    await page.getByText('“Comments” is active').waitFor({ state: 'detached' })
    await menu('Comments')
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await page.waitForURL(/\/workflows\/(?!comments\?)[^?]+/)
    await page.getByRole('link', { name: 'Workflows' }).first().click()

    await menu('Comments')
    await page.getByRole('menuitem', { name: 'Production' }).click()
    const sheet = page.getByRole('dialog', { name: 'Publish to Production' })
    await sheet.getByText('1 of 2').waitFor()
    await sheet.getByText('No active email provider: 1 workflow would send nothing there.').waitFor()
    await takeScreenshots(page, 'workflows-publish-one')
    await sheet.getByRole('button', { name: 'Publish 1 to Production' }).click()
    await sheet.getByText('1 published to Production').waitFor()
    expect((await production.get('/v2/workflows/comments')).status).toBe(200)
    expect((await production.get('/v2/workflows')).body.totalCount).toBe(1)
    await sheet.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'Workflows' }).first().click()

    await menu('Comments (Copy)')
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByText(/Its 3 steps/).waitFor()
    await page.getByRole('button', { name: 'Delete workflow' }).click()
    await page.getByText('Workflow deleted').waitFor()
    await expect.poll(async () => (await development.get('/v2/workflows')).body.totalCount).toBe(1)
  })
})

describe('the editor', () => {
  test('build three steps with a digest and an email, fix an issue, and preview it for a subscriber', async () => {
    const { development } = await server.freshOrganization()
    await development.post('/v2/subscribers', {
      ...{ subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' },
    })
    const { page, person } = await open({ api: development, path: '/workflows?new=blank' })
    await page.getByLabel('Name').fill('Order shipped')
    await page.getByRole('button', { name: 'Create workflow' }).click()
    await page.waitForURL(/\/workflows\/order-shipped/)
    await page.getByText('Add the first step with the plus button above.').waitFor()

    await addStep(page, 'Add a step at the start', /^In-app/)
    await page.getByRole('textbox', { name: 'Body' }).fill('Order {{payload.number}} is on its way')
    await addStep(page, 'Add a step after In-app', /^Digest/)
    await page.getByText('digest 10 min').waitFor()
    await addStep(page, 'Add a step after Digest', /^Email/)
    await page.waitForURL(/step=email-step/)
    await saved(page)

    // The email has no subject: shown at the top, on the card and at the field.
    await page.getByRole('button', { name: '1 issue', exact: true }).waitFor()
    await page.getByText('Subject is required').first().waitFor()
    await takeScreenshots(page, 'editor-issues')
    await page.getByRole('textbox', { name: 'Subject' }).fill('Order {{payload.number}} for {{subscriber.firstName}}')
    await page.getByText('No issues').waitFor()

    const body = page.getByRole('textbox', { name: 'Body' })
    await body.click()
    await page.keyboard.type('Hello {{')
    await page.getByPlaceholder('Which variable?').fill('firstName')
    await page.keyboard.press('Enter')
    await body.locator('[data-block="variable"]').waitFor()
    await page.keyboard.type('it left us today.')
    const stored = async () => {
      const step = await person.get('/v2/workflows/order-shipped/steps/email-step')
      return JSON.parse(step.body.controlValues.body || '{"content":[{}]}').content[0].content
    }
    await expect.poll(stored).toEqual([
      { type: 'text', text: 'Hello ' },
      { type: 'variable', attrs: { id: 'subscriber.firstName' } },
      { type: 'text', text: ' it left us today.' },
    ])

    await page.getByRole('combobox', { name: 'Preview for' }).click()
    await page.getByRole('option', { name: /Ada Lovelace/ }).click()
    await page.getByRole('heading', { name: 'Order number for Ada' }).waitFor()
    await page.frameLocator('[data-preview] iframe').getByText('Hello Ada it left us today.').waitFor()
    expect(await axeViolations(page)).toEqual([])
    await takeScreenshots(page, 'editor-email')
    await page.getByRole('button', { name: 'Phone' }).click()
    await page.frameLocator('[data-preview] iframe').getByText('Hello Ada').waitFor()
  })

  test('a test run shows its steps as they run, and links to the activity', async () => {
    const { development } = await server.freshOrganization()
    await commentDigest(development, false)
    const { page, person } = await open({ api: development, path: '/workflows/comments' })
    await page.getByRole('button', { name: 'Test run' }).click()
    const dialog = page.getByRole('dialog', { name: 'Test run' })
    // Until its editor is there, everything below the payload still moves.
    await dialog.getByText('"Nice!"').waitFor()
    await dialog.getByRole('button', { name: 'Activate it' }).click()
    await dialog.getByText('The workflow is inactive').waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    const outcome = dialog.getByRole('region', { name: 'Outcome' })
    await outcome.waitFor()
    await server.drain()
    await outcome.getByText('Waiting').waitFor()
    await outcome.getByText('Sent').waitFor()
    await takeScreenshots(page, 'editor-run')
    const link = await outcome.getByRole('link', { name: 'Open in activity' }).getAttribute('href')
    const [run] = (await person.get('/v1/notifications')).body.data
    expect(link).toContain(`/activity/${run._id}`)
    await outcome.getByRole('link', { name: 'Open in activity' }).click()
    await page.waitForURL(/\/activity\//)
  })

  test('steps can be moved, duplicated and deleted by keyboard, with Undo; a reload keeps step and changes', async () => {
    const { development } = await server.freshOrganization()
    await commentDigest(development)
    const { page } = await open({ api: development, path: '/workflows/comments' })
    await expect.poll(() => orderOf(page)).toEqual(['inbox', 'collect', 'email'])
    expect(await axeViolations(page)).toEqual([])
    await takeScreenshots(page, 'editor')

    await steps(page).nth(2).focus()
    await page.keyboard.press('Alt+ArrowUp')
    await expect.poll(() => orderOf(page)).toEqual(['inbox', 'email', 'collect'])
    await expect.poll(() => page.evaluate('document.activeElement.dataset.step')).toBe('email')

    // Space on the handle picks up a step too.
    await page.getByRole('button', { name: 'Move Collect' }).focus()
    await page.keyboard.press('Space')
    await page.getByText(/Collect (picked up|is at position 3)/).waitFor({ state: 'attached' })
    await page.keyboard.press('ArrowUp')
    await page.getByText('Collect is at position 2 of 3.').waitFor({ state: 'attached' })
    await page.keyboard.press('Space')
    await expect.poll(() => orderOf(page)).toEqual(['inbox', 'collect', 'email'])

    await page.getByRole('button', { name: 'Actions for Inbox' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await expect.poll(() => orderOf(page)).toEqual(['inbox', 'inbox-copy', 'collect', 'email'])
    await steps(page).nth(0).focus()
    await page.keyboard.press('Delete')
    await expect.poll(() => orderOf(page)).toEqual(['inbox-copy', 'collect', 'email'])
    await saved(page)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => orderOf(page)).toEqual(['inbox', 'inbox-copy', 'collect', 'email'])
    await saved(page)

    await steps(page).nth(2).click()
    await page.waitForURL(/step=collect/)
    await page.getByRole('spinbutton', { name: 'Collect for' }).fill('2')
    await page.getByRole('combobox', { name: 'Unit of collect for' }).click()
    await page.getByRole('option', { name: 'hours' }).click()
    await page.getByText('digest 2 hours').waitFor()
    await saved(page)
    await takeScreenshots(page, 'editor-digest')
    await page.reload()
    await page.getByRole('region', { name: 'Step Collect' }).waitFor()
    await page.getByText('digest 2 hours').waitFor()
    await expect.poll(() => orderOf(page)).toEqual(['inbox', 'inbox-copy', 'collect', 'email'])
  })

  test('autosave retries after a 503; edits made while the server is unreachable are kept and restored', async () => {
    const { development } = await server.freshOrganization()
    await commentDigest(development)
    const options = { hasOwnClock: true } as const
    const { page } = await open({ api: development, path: '/workflows/comments?step=inbox', options })
    const subject = page.getByRole('textbox', { name: 'Subject' })
    await subject.waitFor()
    const stored = async () => (await development.get('/v2/workflows/comments')).body.steps[0].controlValues.subject
    const json = { message: 'Belfry is restarting.', code: 'unavailable' }
    await page.route('**/v2/workflows/comments', (route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 503, json }) : route.continue(),
    )
    await subject.fill('Sent twice')
    await page.getByText('Not saved: Belfry is restarting.').waitFor()
    await page.unroute('**/v2/workflows/comments')
    expect(await stored()).toBe('{{payload.author}} commented')
    await page.clock.fastForward(5_000)
    await saved(page)
    expect(await stored()).toBe('Sent twice')

    await page.route('**/v2/workflows/comments', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    )
    await subject.fill('Somebody wrote')
    await page.getByText(/Not saved: Belfry cannot be reached/).waitFor()
    await takeScreenshots(page, 'editor-away')
    await page.getByRole('link', { name: 'Workflows' }).first().click()
    await page
      .getByRole('dialog', { name: 'Leave with unsaved changes?' })
      .getByRole('button', { name: 'Leave' })
      .click()
    await page.getByRole('table', { name: 'Workflows' }).waitFor()
    await page.unroute('**/v2/workflows/comments')
    await page.getByRole('link', { name: /^Comments/ }).click()
    await page.getByText('Your unsaved changes are restored.').waitFor()
    await saved(page)
    await expect.poll(stored).toBe('Somebody wrote')
  })

  test('a condition is built from rows with their issues, and shown as JSON; settings change name, severity and preferences', async () => {
    const { development } = await server.freshOrganization()
    await commentDigest(development)
    const { page, person } = await open({ api: development, path: '/workflows/comments?step=inbox' })
    await page.getByRole('button', { name: /^Condition/ }).click()
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByRole('combobox', { name: 'Field' }).click()
    await page.getByPlaceholder('Type to find…').fill('payload.author')
    await page.keyboard.press('Enter')
    await page.getByText('Value is required').first().waitFor()
    await page.getByRole('textbox', { name: 'Value' }).fill('Grace')
    await page.getByText('Value is required').first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByRole('combobox', { name: 'Field' }).nth(1).click()
    await page.getByPlaceholder('Type to find…').fill('subscriber.data.plan')
    await page.getByRole('option', { name: /Use/ }).click()
    await page.getByRole('combobox', { name: 'Operator' }).nth(1).click()
    await page.getByRole('option', { name: 'is one of' }).click()
    await page.getByRole('textbox', { name: 'Values' }).fill('pro, team')
    await page.getByRole('button', { name: 'Any matches' }).click()
    await takeScreenshots(page, 'editor-condition')
    const stored = async () => (await person.get('/v2/workflows/comments/steps/inbox')).body.controlValues.skip
    await expect.poll(stored).toEqual({
      or: [{ '==': [{ var: 'payload.author' }, 'Grace'] }, { in: [{ var: 'subscriber.data.plan' }, ['pro', 'team']] }],
    })
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await page.getByText('"subscriber.data.plan"').waitFor()

    await page.getByRole('button', { name: 'Settings' }).click()
    await page.waitForURL(/settings=true/)
    const sheet = page.getByRole('dialog', { name: 'Settings' })
    await sheet.getByLabel('Name').fill('Comments and replies')
    await sheet.getByLabel('Critical').click()
    await sheet.getByRole('combobox', { name: 'Severity' }).click()
    await page.getByRole('option', { name: 'High' }).click()
    await sheet.getByRole('switch', { name: 'SMS on by default' }).click()
    await saved(page)
    await takeScreenshots(page, 'editor-settings')
    const { body } = await person.get('/v2/workflows/comments')
    expect(body).toMatchObject({ name: 'Comments and replies', severity: 'high' })
    expect(body.preferences.user).toMatchObject({ all: { readOnly: true }, channels: { sms: { enabled: false } } })
    expect(await page.title()).toContain('Comments and replies')
  })

  test('what is counted of emails is a setting of workflows that send some', async () => {
    const { development } = await server.freshOrganization()
    const mail = { name: 'Mail', type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }
    const bell = { name: 'Bell', type: 'in_app', controlValues: { body: 'Hello' } }
    await development.post('/v2/workflows', { name: 'News', workflowId: 'news', active: true, steps: [mail] })
    await development.post('/v2/workflows', { name: 'Bell', workflowId: 'bell', active: true, steps: [bell] })
    const { page, person } = await open({ api: development, role: 'editor', path: '/workflows/news?settings=true' })
    const tracking = page.getByRole('group', { name: 'Tracking of emails' })
    await tracking.getByText('An invisible image tells when an email is opened.').waitFor()
    await tracking.getByRole('switch', { name: 'Count clicks' }).click()
    const stored = async () => (await person.get('/v2/workflows/news')).body.tracking
    await expect.poll(stored).toEqual({ opens: false, clicks: true })
    await tracking.getByRole('switch', { name: 'Count opens' }).click()
    await expect.poll(stored).toEqual({ opens: true, clicks: true })
    await tracking.scrollIntoViewIfNeeded()
    await takeScreenshots(page, 'editor-tracking')
    expect(await axeViolations(page)).toEqual([])
    await page.goto(`${server.url}/workflows/bell?settings=true`)
    await page.getByRole('dialog', { name: 'Settings' }).getByLabel('Name').waitFor()
    expect(await tracking.count()).toBe(0)
  })

  test('the block editor keeps unknown blocks untouched, adds blocks and changes their settings', async () => {
    const { development } = await server.freshOrganization()
    const document = {
      type: 'doc',
      content: [
        { type: 'heading', attrs: { level: 2, textAlign: 'center', ours: 1 }, content: [{ type: 'text', text: 'Hi' }] },
        { type: 'carousel', attrs: { speed: 3 }, content: [{ type: 'slide', text: 'x' }] },
        { type: 'button', attrs: { text: 'Open', url: 'payload.url', isUrlVariable: true } },
        {
          type: 'columns',
          content: [
            {
              type: 'column',
              attrs: { width: 30 },
              content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Left', marks: [{ type: 'bold' }] }] }],
            },
            { type: 'column', content: [{ type: 'spacer', attrs: { height: 12 } }] },
          ],
        },
        {
          type: 'repeat',
          attrs: { each: 'payload.items' },
          content: [{ type: 'paragraph', content: [{ type: 'variable', attrs: { id: 'payload.items.name' } }] }],
        },
        { type: 'htmlCodeBlock', content: [{ type: 'text', text: '<b>{{payload.x}}</b>' }] },
        { type: 'paragraph', content: [{ type: 'text', text: 'odd', marks: [{ type: 'glow', attrs: { a: 1 } }] }] },
        { type: 'paragraph' },
      ],
    }
    await development.post('/v2/workflows', {
      ...{ name: 'Blocks', workflowId: 'blocks', active: true },
      steps: [
        {
          ...{ name: 'Email', stepId: 'email', type: 'email' },
          controlValues: { subject: 'S', editorType: 'block', body: JSON.stringify(document) },
        },
      ],
    })
    const { page, person } = await open({ api: development, path: '/workflows/blocks?step=email&wide=true' })
    const stored = async () =>
      JSON.parse((await person.get('/v2/workflows/blocks/steps/email')).body.controlValues.body)
    await page.getByText('Block “carousel”: not editable here, kept unchanged').waitFor()
    await takeScreenshots(page, 'editor-blocks')
    await page.getByRole('textbox', { name: 'Body' }).locator('> p').last().click()
    await page.keyboard.type('New')
    await saved(page)
    const expected = structuredClone(document)
    expected.content[7] = { type: 'paragraph', content: [{ type: 'text', text: 'New' }] } as never
    await expect.poll(stored).toEqual(expected)

    await page.getByRole('button', { name: 'Add block' }).click()
    await page.getByRole('menuitem', { name: 'Section' }).click()
    await expect
      .poll(async () => (await stored()).content.some(({ type }: { type: string }) => type === 'section'))
      .toBe(true)
    await page.locator('[data-block="button"]').click()
    await page
      .getByRole('region', { name: /Button/ })
      .getByRole('textbox', { name: 'Label' })
      .fill('Go there')
    await expect.poll(async () => (await stored()).content[2].attrs.text).toBe('Go there')
    await takeScreenshots(page, 'editor-block-settings')
  })

  test('blocks become HTML, and HTML becomes one block, without losing content', async () => {
    const { development } = await server.freshOrganization()
    const body = JSON.stringify({
      type: 'doc',
      content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Kept' }] }],
    })
    const controlValues = { subject: 'S', editorType: 'block', body }
    const steps = [{ name: 'Email', stepId: 'email', type: 'email', controlValues }]
    await development.post('/v2/workflows', { name: 'Two editors', workflowId: 'two-editors', steps })
    const { page, person } = await open({ api: development, path: '/workflows/two-editors?step=email' })
    const stored = async () => (await person.get('/v2/workflows/two-editors/steps/email')).body.controlValues
    await page.getByRole('textbox', { name: 'Body' }).getByText('Kept').waitFor()
    await page.getByRole('button', { name: 'HTML', exact: true }).click()
    await page.getByRole('button', { name: 'Continue in HTML' }).click()
    await page.getByRole('textbox', { name: 'Body' }).getByText('Kept').waitFor()
    const { body: html } = await stored()
    expect(html).toContain('Kept')
    expect(html).toMatch(/^<|<p/)
    await page.getByRole('button', { name: 'Blocks', exact: true }).click()
    await page.locator('[data-block="htmlCodeBlock"]').getByText('Kept').waitFor()
    const documentStored = async () => JSON.parse((await stored()).body)
    await expect.poll(documentStored).toEqual({
      type: 'doc',
      content: [{ type: 'htmlCodeBlock', content: [{ type: 'text', text: html }] }],
    })
  })

  test('variables and filters are suggested while typing, and an invalid variable is an issue', async () => {
    const { development } = await server.freshOrganization()
    await commentDigest(development)
    const { page, person } = await open({ api: development, path: '/workflows/comments?step=inbox' })
    const subject = page.getByRole('textbox', { name: 'Subject' })
    await subject.fill('')
    await subject.pressSequentially('From {{auth')
    await page.getByRole('option', { name: /payload\.author/ }).waitFor()
    await takeScreenshots(page, 'editor-completion')
    await page.getByRole('option', { name: /payload\.author/ }).click()
    await subject.pressSequentially(' | upc')
    await page.getByRole('option', { name: /upcase/ }).click()
    const stored = async () => (await person.get('/v2/workflows/comments/steps/inbox')).body.controlValues.subject
    await expect.poll(stored).toBe('From {{payload.author | upcase}}')
    await page.getByRole('heading', { name: 'From GRACE' }).waitFor()
    await subject.fill('{{subscriber.nickname}}')
    await page.getByRole('button', { name: '1 issue', exact: true }).waitFor()
    await page
      .getByText(/subscriber\.nickname/)
      .nth(1)
      .waitFor()
    await page.locator('.cm-lintRange-error').waitFor()
  })

  test('every kind of step has its controls', async () => {
    const { development } = await server.freshOrganization()
    const kinds = ['in_app', 'email', 'sms', 'chat', 'push', 'digest', 'delay', 'throttle', 'http_request']
    const values: Record<string, object> = {
      in_app: {
        ...{ subject: 'Your order 🎉', body: 'It is on its way', redirect: { url: '/orders', target: '_self' } },
        primaryAction: { label: 'Track it', redirect: { url: 'https://example.com/track', target: '_blank' } },
      },
      sms: { body: 'مرحبا {{subscriber.firstName}}، طلبك في الطريق' },
      chat: { body: 'Order shipped' },
      push: { subject: 'On its way', body: 'Order 7 has left us and will be with you tomorrow' },
      delay: { type: 'timed', cron: '0 9 * * 1-5' },
      throttle: { type: 'fixed', amount: 2, unit: 'hours', threshold: 3 },
      http_request: {
        method: 'POST',
        url: 'https://api.example.com/x',
        headers: [{ key: 'X-A', value: '1' }],
        body: '{}',
      },
    }
    const steps = kinds.map((type) => ({
      name: type,
      stepId: type.replace('_', '-'),
      type,
      controlValues: values[type] ?? {},
    }))
    await development.post('/v2/workflows', { name: 'All', workflowId: 'all', steps })
    const { page } = await open({ api: development, path: '/workflows/all' })
    const expected: Record<string, string[]> = {
      'in-app': ['Subject', 'Body', 'Picture', 'Primary button: label', 'Primary button: link', 'Link'],
      email: ['Subject', 'Layout', 'Body'],
      sms: ['Body'],
      chat: ['Body'],
      push: ['Title', 'Body'],
      digest: [
        ...['Collect for', 'Start again with each event', 'Group by', 'Send an event at once after a silence'],
        ...['Send the first event at once', 'Wait for the subscriber’s schedule'],
      ],
      delay: ['Cron expression', 'Usual times'],
      throttle: ['Allow at most', 'Within', 'Count by'],
      'http-request': ['Method', 'Address', 'Name', 'Value', 'Body'],
    }
    for (const [stepId, labels] of Object.entries(expected)) {
      await page.locator(`[data-step="${stepId}"]`).click()
      const panel = page.getByRole('region', { name: /^Step / })
      await panel.getByText('Condition').waitFor()
      for (const label of labels) await panel.getByLabel(label, { exact: true }).first().waitFor()
      if (['in-app', 'sms', 'push', 'throttle', 'http-request'].includes(stepId))
        await takeScreenshots(page, `editor-${stepId}`)
    }
    await page.getByText('delay until weekdays at 9:00').waitFor()
    await page.getByText('at most 3 per 2 hours').waitFor()

    const valuesOf = async (type: string) => {
      const { body } = await development.get('/v2/workflows/all')
      return body.steps.find((step: { type: string }) => step.type === type).controls.values
    }
    await page.locator('[data-step="digest"]').click()
    await page.getByRole('switch', { name: 'Start again with each event' }).click()
    await page.getByLabel('At the latest after', { exact: true }).waitFor()
    await page
      .getByRole('region', { name: /^Step / })
      .getByRole('button', { name: 'More' })
      .click()
    await page.getByLabel('Fields of each event').fill('author, post.title,')
    await expect
      .poll(() => valuesOf('digest'))
      .toMatchObject({ window: 'sliding', maxWindow: { amount: 1, unit: 'days' }, fields: ['author', 'post.title'] })
    await takeScreenshots(page, 'editor-digest')
    await page.locator('[data-step="http-request"]').click()
    await page
      .getByRole('region', { name: /^Step / })
      .getByRole('button', { name: 'More' })
      .click()
    await page.getByRole('switch', { name: 'Try again when it fails' }).click()
    await expect.poll(() => valuesOf('http_request')).toMatchObject({ retry: true })

    const stored = async (index: number) => (await development.get('/v2/workflows/all')).body.steps[index].onUnknown
    await page.locator('[data-step="sms"]').click()
    await page.getByRole('button', { name: /^Step/ }).click()
    await page.getByRole('switch', { name: 'Never send twice' }).click()
    await expect.poll(() => stored(2)).toBe('hold')
    await page.getByRole('switch', { name: 'Never send twice' }).click()
    await expect.poll(() => stored(2)).toBeUndefined()
  })

  test('a viewer sees everything and can change nothing', async () => {
    const { development } = await server.freshOrganization()
    await commentDigest(development)
    const { page } = await open({ api: development, path: '/workflows/comments?step=inbox', role: 'viewer' })
    await page.getByText('Read only').waitFor()
    await page.getByRole('heading', { name: 'Grace commented' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Subject' }).getAttribute('contenteditable')).toBe('false')
    expect(await page.getByRole('textbox', { name: 'Step name' }).isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: 'Test run' }).isDisabled()).toBe(true)
    expect(await page.getByRole('switch').first().isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: /^(Add a step|Move |Actions for)/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Workflows' }).first().click()
    await page.getByRole('table', { name: 'Workflows' }).waitFor()
    expect(await page.getByRole('button', { name: 'New workflow' }).isDisabled()).toBe(true)
  })

  test('in Production an active workflow is saved only by a button', async () => {
    const { production } = await server.freshOrganization()
    await commentDigest(production)
    const { page } = await open({ api: production, path: '/workflows/comments?env=production&step=inbox' })
    await page.getByRole('textbox', { name: 'Subject' }).fill('New words')
    await page.getByRole('button', { name: 'Save changes' }).waitFor()
    const stored = async () => (await production.get('/v2/workflows/comments')).body.steps[0].controlValues.subject
    expect(await stored()).toBe('{{payload.author}} commented')
    await saveChanges(page)
    await expect.poll(stored).toBe('New words')
  })
})
