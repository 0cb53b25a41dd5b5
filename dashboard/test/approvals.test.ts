import { describe, expect, test } from 'vitest'
import { signInAs } from '../../server/test/people.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { row } from './hands.ts'

const { server, open } = useDashboard()

async function makeWorkflow(api: Api, workflowId: string, name: string) {
  const steps = [{ name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { subject: 'Hi', body: 'Hello 👋' } }]
  const answer = await api.post('/v2/workflows', { workflowId, name, active: true, steps })
  expect(answer, answer.text).toMatchObject({ status: 201 })
}

describe('a protected environment', () => {
  test('is published into by two people: one asks, another reads the differences and approves', async () => {
    const { development, production } = await server.freshOrganization()
    await makeWorkflow(development, 'order-shipped', 'Order shipped, لقد تم الشحن 📦')
    const { page, person: ada } = await open({ api: development, role: 'admin', path: '/environments' })

    await row(page, 'Production').getByRole('button', { name: 'Actions for Production' }).click()
    await page.getByRole('menuitem', { name: 'Protect…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Protection of Production' })
    await dialog.getByRole('switch', { name: 'Ask a second person' }).click()
    await dialog.getByText('Only an owner can turn it off.').waitFor()
    expect(await dialog.getByRole('switch', { name: 'Ask a second person' }).isDisabled()).toBe(true)
    await takeScreenshots(page, 'protection')
    expect(await axeViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await row(page, 'Production').getByText('Protected').waitFor()
    await takeScreenshots(page, 'environments-protected')

    const second = await open({ api: development, role: 'owner', path: '/approvals' })
    await second.page.getByRole('heading', { name: 'No publish requests' }).waitFor()

    await page.getByRole('button', { name: 'Publish changes' }).click()
    const sheet = page.getByRole('dialog', { name: 'Publish to Production' })
    await sheet.getByText(/An owner can approve/).waitFor()
    await sheet.getByLabel('Comment').fill('Tells people when their order leaves')
    await takeScreenshots(page, 'publish-ask')
    expect(await axeViolations(page)).toEqual([])
    await sheet.getByRole('button', { name: 'Ask for approval' }).click()
    const own = page.getByRole('dialog', { name: 'Publish to Production' })
    await own.getByText('You cannot approve your own request.', { exact: false }).waitFor()
    expect(await own.getByRole('button', { name: 'Approve and publish' }).count()).toBe(0)
    await own.getByRole('button', { name: 'Withdraw' }).waitFor()

    await second.page.reload()
    await second.page.getByRole('link', { name: 'Approvals 1 waiting for you' }).waitFor()
    await takeScreenshots(second.page, 'approvals')
    expect(await axeViolations(second.page)).toEqual([])
    await second.page.getByRole('link', { name: 'Tells people when their order leaves' }).click()
    const theirs = second.page.getByRole('dialog', { name: 'Publish to Production' })
    await theirs.getByText('Hello 👋').waitFor()
    expect(await theirs.getByRole('button', { name: 'Decline' }).isDisabled()).toBe(true)
    await takeScreenshots(second.page, 'approval')
    expect(await axeViolations(second.page)).toEqual([])
    expect(await overflowOnPhone(second.page)).toBe(0)
    await onDesktop(second.page)
    await theirs.getByLabel('Your comment').fill('Good')
    await theirs.getByRole('button', { name: 'Approve and publish' }).click()
    await second.page.getByText('Published to Production').waitFor()
    await theirs.getByText('Published', { exact: true }).waitFor()
    await second.page.getByRole('link', { name: 'Approvals', exact: true }).waitFor()
    expect((await ada.at(production).get('/v2/workflows')).body.workflows).toMatchObject([
      { workflowId: 'order-shipped' },
    ])
  })

  test('says when something changed since, and takes a refusal with its reason; its content is read only', async () => {
    const { development, production } = await server.freshOrganization()
    await makeWorkflow(development, 'welcome', 'Welcome')
    const admin = await signInAs(server, development, 'admin')
    const at = `/v2/environments/${production.environmentId}`
    await admin.patch(`${at}/protection`, { isProtected: true })
    const { body: request } = await admin.post(`${at}/publish-requests`, {})
    await development.patch('/v2/workflows/welcome', { name: 'Welcome aboard' })
    const { page } = await open({ api: development, path: `/approvals/${request._id}` })
    const sheet = page.getByRole('dialog', { name: 'Publish to Production' })
    await sheet.getByText(/Changed since the request was made: Welcome/).waitFor()
    expect(await sheet.getByRole('button', { name: 'Approve and publish' }).isDisabled()).toBe(true)
    await takeScreenshots(page, 'approval-outdated')
    await sheet.getByLabel('Your comment').fill('Please ask again')
    await sheet.getByRole('button', { name: 'Decline' }).click()
    await sheet.getByText('Declined', { exact: true }).waitFor()
    expect((await admin.get(`${at}/publish-requests/${request._id}`)).body).toMatchObject({
      status: 'declined',
      decisionComment: 'Please ask again',
    })
    await page.goto(`${server.url}/workflows?env=production`)
    await page.getByText('This environment is protected.', { exact: false }).waitFor()
    expect(await page.getByRole('button', { name: 'New workflow' }).first().isDisabled()).toBe(true)
    expect(await axeViolations(page)).toEqual([])
  })
})

describe('roles in environments', () => {
  test('are set on the team page and apply at once: closed environments disappear, lesser roles read only', async () => {
    const { development, production } = await server.freshOrganization()
    const theirs = await open({ api: development, role: 'editor', path: '/topics' })
    await theirs.page.getByRole('button', { name: 'New topic' }).first().waitFor()
    const { page } = await open({ api: development, role: 'admin', path: '/team' })
    const member = row(page, theirs.person.email)
    const choose = async (environment: string, role: string) => {
      await member.getByRole('button', { name: /^Actions for/ }).click()
      await page.getByRole('menuitem', { name: 'Roles in environments…' }).click()
      const dialog = page.getByRole('dialog', { name: /^Roles of/ })
      await dialog.getByRole('combobox', { name: `Role in ${environment}` }).click()
      await page.getByRole('option', { name: role, exact: true }).click()
      return dialog
    }
    const first = await choose('Production', 'No access')
    await takeScreenshots(page, 'team-environment-roles')
    expect(await axeViolations(page)).toEqual([])
    await first.getByRole('button', { name: 'Save roles' }).click()
    await member.getByText('no access in Production').waitFor()
    await (await choose('Development', 'Viewer')).getByRole('button', { name: 'Save roles' }).click()
    await member.getByText(/viewer in Development/).waitFor()
    await takeScreenshots(page, 'team-limited')
    expect(await axeViolations(page)).toEqual([])
    expect(await overflowOnPhone(page)).toBe(0)

    await theirs.page.reload()
    await theirs.page.getByRole('button', { name: 'Environment: Development' }).click()
    await theirs.page.getByRole('menuitem', { name: 'Development' }).waitFor()
    expect(await theirs.page.getByRole('menuitem', { name: 'Production' }).count()).toBe(0)
    await theirs.page.keyboard.press('Escape')
    expect(await theirs.page.getByRole('button', { name: 'New topic' }).count()).toBe(0)
    expect(await theirs.person.at(production).get('/v2/topics')).toMatchObject({ status: 403 })

    await (await choose('Development', 'No access')).getByRole('button', { name: 'Save roles' }).click()
    await member.getByText(/no access in Development/).waitFor()
    await theirs.page.reload()
    await theirs.page.getByRole('heading', { name: 'You have no access to any environment' }).waitFor()
    await takeScreenshots(theirs.page, 'no-environment')
    expect(await axeViolations(theirs.page)).toEqual([])
    await theirs.page.getByRole('button', { name: 'Sign out' }).click()
    await theirs.page.getByRole('button', { name: 'Sign in' }).first().waitFor()
  })
})
