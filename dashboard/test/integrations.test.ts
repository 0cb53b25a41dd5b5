import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { useDns } from '../../server/test/dns-server.ts'
import { makeWorkflow, trigger } from '../../server/test/runs.ts'
import type { Api } from '../../server/test/server.ts'
import { useVendor } from '../../server/test/vendor.ts'
import { addWorkflow } from '../../server/test/workflows.ts'
import { axeViolations, follow, takeScreenshots, useDashboard } from './dashboard.ts'
import { row } from './hands.ts'

const dns = useDns()
const dnsServers: string[] = []
beforeAll(() => {
  dnsServers.push(dns.address)
})
const { server, open } = useDashboard({ allowPrivateAddresses: true, dnsServers })
const vendor = useVendor()
beforeEach(() => vendor.plays(() => ({ body: { id: 'theirs' } })))

const hush = 'hush-hush-4711'
async function add(api: Api, more: object = {}): Promise<string> {
  const answer = await api.post('/v1/integrations', {
    providerId: 'email-webhook',
    channel: 'email',
    name: 'Receipts',
    active: true,
    credentials: { webhookUrl: `${vendor.url}/mail`, secretKey: hush, from: 'news@acme.example', senderName: 'Acme' },
    ...more,
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body._id
}

describe('the list', () => {
  test('shows integrations by channel, which is primary, and their health; rows open by keyboard; a missing one is named', async () => {
    const { development } = await server.freshOrganization()
    await add(development, { name: 'Receipts for the whole of Europe, the Middle East and Africa 🌍' })
    const broken = await add(development, { name: 'رسائل المتجر' })
    await add(development, { name: 'Switched off', active: false })
    const now = server.clock.now()
    await server.database.db
      .insertInto('circuits')
      .values({
        environment_id: development.environmentId,
        integration_id: broken,
        host: '',
        failures: 7,
        error: 'The provider answered with 503 Service Unavailable',
        retry_at: new Date(now.getTime() + 90_000),
        updated_at: now,
      })
      .execute()
    const { page } = await open({ api: development, role: 'admin', path: '/integrations' })
    await page.getByRole('rowheader', { name: 'Email' }).waitFor()
    await row(page, 'Switched off').getByText('Inactive').waitFor()
    await row(page, 'رسائل المتجر').getByText('Paused').waitFor()
    await row(page, 'Receipts for').getByText('Never used').waitFor()
    expect(await page.getByText('Primary', { exact: true }).count()).toBe(2)
    await takeScreenshots(page, 'integrations')
    expect(await axeViolations(page)).toEqual([])

    await page.getByRole('link', { name: 'رسائل المتجر' }).click()
    await page.getByText('Paused after 7 failures in a row').waitFor()
    await page.getByText('503 Service Unavailable').waitFor()
    await page.getByLabel('From address').waitFor()
    await takeScreenshots(page, 'integration')
    expect(await axeViolations(page)).toEqual([])
    expect(await page.content()).not.toContain(hush)
    await page.reload()
    await page.getByText('Paused after 7 failures in a row').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe('/integrations')

    for (const key of ['j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('dialog').waitFor()
    await page.waitForURL(/\/integrations\/[0-9a-f]{24}/)

    await follow(page, `/integrations/${'a'.repeat(24)}`)
    await page.getByRole('heading', { name: 'Integration not found' }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})

describe('adding', () => {
  test('find a provider, fill in its fields and send a test; a refusal of the provider is shown', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, role: 'admin', path: '/integrations' })
    await page.getByRole('rowheader', { name: 'Email' }).waitFor()
    await page.keyboard.press('c')
    await page.getByRole('searchbox', { name: 'Search providers' }).waitFor()
    await takeScreenshots(page, 'integrations-catalogue')
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('searchbox', { name: 'Search providers' }).fill('email web')
    await page.waitForURL(/find=email\+web/)
    await page.reload()
    await page.getByRole('button', { name: 'Email Webhook' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Own server')
    await page.getByLabel('Webhook URL', { exact: true }).fill(`${vendor.url}/own`)
    await page.getByLabel('Secret key', { exact: true }).fill(hush)
    await page.getByLabel('From address').fill('news@acme.example')
    await page.getByLabel('Check the credentials before saving').click()
    await takeScreenshots(page, 'integrations-add')
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Add integration' }).last().click()

    await page.getByRole('dialog', { name: 'Own server' }).waitFor()
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/^Email Webhook accepted the message/).waitFor()
    expect(JSON.parse(vendor.asked[0]?.body ?? '')).toMatchObject({ to: ['ada@example.com'] })

    vendor.plays(() => ({ status: 401, body: 'no' }))
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('Email Webhook refused the message').waitFor()
    await page.getByText('Check the credentials, save them, and send again.').waitFor()
    await takeScreenshots(page, 'integration-test-failed')
    expect(await axeViolations(page)).toEqual([])
    await page.getByText('Refuses every message').waitFor()
    const made = (await person.get('/v1/integrations')).body.find(({ name }: any) => name === 'Own server')
    expect(made).toMatchObject({ active: true, credentials: { secretKey: hush } })
  })

  test('a host that does not exist is named, and the list says since when it cannot be reached', async () => {
    const { development } = await server.freshOrganization()
    const id = await add(development, {
      providerId: 'nodemailer',
      name: 'Own mail server',
      credentials: { host: 'smtp.nowhere.invalid', port: '587', from: 'news@acme.example' },
    })
    const sending = await add(development, { name: 'Newsletters' })
    const { page, person } = await open({ api: development, role: 'admin', path: `/integrations/${id}?tab=test` })
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('could not be reached', { exact: false }).waitFor()
    await page.getByText('Check the spelling of the host in the settings').waitFor()
    expect(await page.getByText(/^The host smtp\.nowhere\.invalid could not be found/).count()).toBe(2)
    await person.post(`/v1/integrations/${sending}/test`, { to: 'ada@example.com' })
    await takeScreenshots(page, 'integration-unreachable')
    await page.goto(`${server.url}/integrations`)
    await row(page, 'Own mail server')
      .getByText(/^Unreachable since (\w+ \d+|\d\d:\d\d)$/)
      .waitFor()
    await row(page, 'Newsletters')
      .getByText(/^Last sent (now|\d+ \w+ ago)$/)
      .waitFor()
    expect(await page.getByText('Working', { exact: true }).count()).toBe(0)
    await takeScreenshots(page, 'integrations-health')
    expect(await axeViolations(page)).toEqual([])
  })

  test('an error of the provider is shown in the form', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, path: '/integrations?add=nodemailer' })
    await page.getByLabel('Host').fill('127.0.0.1')
    await page.getByLabel('Port').fill('1')
    await page.getByRole('button', { name: 'Add integration' }).last().click()
    await page.getByRole('alert').waitFor()
    expect((await person.get('/v1/integrations')).text).not.toContain('nodemailer')
  })
})

describe('changing', () => {
  test('one that refuses everything says so and links to what failed; it can be told never to send twice', async () => {
    const { development } = await server.freshOrganization()
    vendor.plays(() => ({ status: 401, body: 'wrong key' }))
    const id = await add(development)
    await makeWorkflow(development, 'mail', [{ type: 'email', controlValues: { subject: 'Hi', body: '<p>Hi</p>' } }])
    await trigger(development, 'mail', { subscriberId: 'ada', email: 'ada@example.com' })
    await server.drain()
    const { page, person } = await open({ api: development, role: 'admin', path: `/integrations/${id}` })
    const note = page.getByRole('status').filter({ hasText: 'Refuses every message' })
    await note.getByText('401').waitFor()
    await page.getByLabel('Never send twice').click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. It applies from the next message on').waitFor()
    await takeScreenshots(page, 'integration-refused')
    expect(await axeViolations(page)).toEqual([])
    const saved = (await person.get('/v1/integrations')).body.find(({ _id }: any) => _id === id)
    expect(saved.configurations).toMatchObject({ onUnknown: 'hold' })
    await note.getByRole('link', { name: 'Failed deliveries' }).click()
    await page.getByRole('row', { name: /ada.*Provider refused/ }).waitFor()
  })

  test('a sandbox integration can be renamed and tested, and the message is in the sandbox', async () => {
    const { development } = await server.freshOrganization()
    const { page, person } = await open({ api: development, role: 'admin', path: '/integrations' })
    await page.getByRole('link', { name: 'Belfry Email' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Trial post')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. It applies from the next message on').waitFor()
    await row(page, 'Trial post').waitFor()

    await page.getByRole('tab', { name: 'Test' }).click()
    await page.waitForURL(/tab=test/)
    await page.getByLabel('Email address').fill('ada@example.com')
    await page.getByLabel('Subject').fill('Ein Gruß 👋')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/^Belfry Email accepted the message/).waitFor()
    await page.getByRole('link', { name: 'Open it in the sandbox' }).waitFor()
    await takeScreenshots(page, 'integration-test')
    const { data } = (await person.get('/v1/sandbox/messages')).body
    expect(data).toMatchObject([{ channel: 'email', subject: 'Ein Gruß 👋', to: ['ada@example.com'] }])
  })

  test('a secret is replaced without being shown, other credentials stay; conditions limit it to some tenants', async () => {
    const { development } = await server.freshOrganization()
    const id = await add(development)
    const { page, person } = await open({ api: development, path: `/integrations/${id}` })
    await page.getByRole('button', { name: 'Replace Secret key' }).click()
    await page.getByLabel('Secret key', { exact: true }).fill('another-secret')
    await page.getByLabel('Check the credentials before saving').click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. It applies from the next message on').waitFor()
    const [saved] = (await person.get('/v1/integrations')).body.filter(({ _id }: any) => _id === id)
    expect(saved.credentials).toEqual({
      webhookUrl: `${vendor.url}/mail`,
      secretKey: 'another-secret',
      from: 'news@acme.example',
      senderName: 'Acme',
    })

    await page.getByRole('button', { name: 'Only for some tenants' }).click()
    await page.getByLabel('Value').fill('acme')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await row(page, 'Receipts').getByText('Conditions').waitFor()
    const [limited] = (await person.get('/v1/integrations')).body.filter(({ _id }: any) => _id === id)
    expect(limited.conditions).toEqual([
      {
        isNegated: false,
        type: 'GROUP',
        value: 'AND',
        children: [{ on: 'tenant', field: 'identifier', operator: 'EQUAL', value: 'acme' }],
      },
    ])
  })

  test('another can become primary, with Undo, and be deactivated', async () => {
    const { development } = await server.freshOrganization()
    const id = await add(development)
    const { page, person } = await open({ api: development, path: '/integrations' })
    const primary = async () =>
      (await person.get('/v1/integrations')).body.find((one: any) => one.channel === 'email' && one.primary).name
    // The first real one has taken the sandbox's place.
    expect(await primary()).toBe('Receipts')
    await row(page, 'Belfry Email').getByRole('button', { name: 'Actions for Belfry Email' }).click()
    await page.getByRole('menuitem', { name: 'Make primary' }).click()
    await row(page, 'Belfry Email').getByText('Primary').waitFor()
    expect(await primary()).toBe('Belfry Email')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(primary).toBe('Receipts')

    await follow(page, `/integrations/${id}`)
    await page.getByRole('switch', { name: 'Active' }).click()
    await page.getByText('Inactive: it sends no messages, only tests.').waitFor()
  })

  test('shows the URL for delivery reports of the provider', async () => {
    const { development } = await server.freshOrganization()
    const id = await add(development, { providerId: 'sendgrid', name: 'SendGrid', credentials: { apiKey: 'SG.x' } })
    const { page, person } = await open({ api: development, path: `/integrations/${id}?tab=reports` })
    await page
      .getByText(`${server.url}/v2/inbound-webhooks/delivery-providers/${development.environmentId}/${id}`)
      .waitFor()
    await page.getByLabel('Accept reports').click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    // Hole 11: SendGrid's reports are believed until there is a key.
    await page.getByText('A signing key is missing.').waitFor()
    await takeScreenshots(page, 'integration-reports')
    const [saved] = (await person.get('/v1/integrations')).body.filter(({ _id }: any) => _id === id)
    expect(saved.configurations).toMatchObject({ inboundWebhookEnabled: true })
  })

  test('deleting names the workflows that depend on it', async () => {
    const { development } = await server.freshOrganization()
    await addWorkflow(server, development.environmentId, 'welcome', { name: 'Welcome', stepTypes: ['email'] })
    await addWorkflow(server, development.environmentId, 'inbox', { name: 'Inbox only', stepTypes: ['in_app'] })
    const { page, person } = await open({ api: development, path: '/integrations' })
    await row(page, 'Belfry Email').getByRole('button', { name: 'Actions for Belfry Email' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    const question = page.getByRole('dialog', { name: 'Delete “Belfry Email”?' })
    await question.getByText(/1 workflow sends Email messages: “Welcome”/).waitFor()
    await takeScreenshots(page, 'integration-delete')
    await question.getByRole('button', { name: 'Delete integration' }).click()
    await page.getByText('“Belfry Email” deleted').waitFor()
    expect((await person.get('/v1/integrations')).body.map(({ name }: any) => name)).not.toContain('Belfry Email')
  })
})

test('a viewer sees the integration without secrets, and why nothing can be changed', async () => {
  const { development } = await server.freshOrganization()
  const id = await add(development)
  const { page } = await open({ api: development, role: 'viewer', path: `/integrations/${id}` })
  await page.getByText('You can view this. Only admins and owners can change integrations').waitFor()
  expect(await page.getByLabel('From address').isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
  expect(await page.getByRole('switch', { name: 'Active' }).isDisabled()).toBe(true)
  expect(await page.content()).not.toContain(hush)
  await page.getByRole('tab', { name: 'Test' }).click()
  expect(await page.getByRole('button', { name: 'Send a test' }).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  expect(await page.getByRole('button', { name: 'Add integration' }).isDisabled()).toBe(true)
})

test('nothing scrolls sideways on a phone', async () => {
  const { development } = await server.freshOrganization()
  const id = await add(development, { name: 'An integration whose name is longer than any screen is wide' })
  const options = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
  const { page } = await open({ api: development, path: '/integrations', options })
  await page.getByRole('rowheader', { name: 'Email' }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  await follow(page, `/integrations/${id}`)
  await page.getByLabel('From address').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
})

describe('the domain', () => {
  test('is checked, with the records to publish; other channels have none', async () => {
    const { development: api } = await server.freshOrganization()
    const id = await add(api)
    dns.knows({
      'acme.example': { TXT: ['v=spf1 ip4:192.0.2.1 ?all'], MX: ['10 mx.acme.example'] },
      'mx.acme.example': { A: ['192.0.2.1'] },
    })
    const { page } = await open({ api, role: 'viewer', path: `/integrations?integration=${id}` })
    await page.getByRole('tab', { name: 'Domain' }).click()
    const report = page.getByRole('region', { name: 'Checks of acme.example' })
    await report.getByText('The SPF record is neutral about other servers (?all)').waitFor()
    await report.getByText('There is no DMARC record at _dmarc.acme.example').waitFor()
    await report.getByText('v=DMARC1; p=quarantine; rua=mailto:dmarc@acme.example').waitFor()
    await report.getByRole('status').getByText('Needs work').waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await report.getByRole('button', { name: 'Copy the value' }).last().click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^v=DMARC1/)
    await takeScreenshots(page, 'integration-domain')
    expect(await axeViolations(page)).toEqual([])

    dns.knows({ '_dmarc.acme.example': { TXT: ['v=DMARC1; p=reject'] } })
    await page.getByRole('button', { name: 'Check again' }).click()
    await report.getByText('Mail that is not yours is to be rejected').waitFor()
    await page.getByLabel('Domain', { exact: true }).fill('no domain')
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByText('domain must be the name of a domain').waitFor()
    expect(await axeViolations(page)).toEqual([])

    const sandbox = (await api.get('/v1/integrations')).body.find(
      ({ channel }: { channel: string }) => channel === 'sms',
    )
    await follow(page, `/integrations?integration=${sandbox._id}`)
    await page.getByRole('tab', { name: 'Settings' }).waitFor()
    expect(await page.getByRole('tab', { name: 'Domain' }).count()).toBe(0)
  })
})
