import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
beforeEach(() => vendor.plays(() => ({ body: { id: 'theirs' } })))

async function add(api: Api, integration: object): Promise<string> {
  const answer = await api.post('/v1/integrations', { active: true, check: false, ...integration })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body._id
}

const mailer = (more: object = {}) => ({
  providerId: 'email-webhook',
  channel: 'email',
  credentials: { webhookUrl: `${vendor.url}/mail`, secretKey: 'hush-hush', from: 'news@acme.example', ...more },
})
const send = (api: Api, id: string, body: object) => api.post(`/v1/integrations/${id}/test`, body)

describe('a test of an integration', () => {
  test('goes to the given address, through this integration only, active or not', async () => {
    const api = await server.freshApi()
    await add(api, mailer({ webhookUrl: `${vendor.url}/primary` }))
    const id = await add(api, { ...mailer(), active: false, name: 'Second <b>' })
    const answer = await send(api, id, { to: 'ada@example.com' })
    expect(answer).toMatchObject({ status: 200, body: { success: true, providerMessageId: expect.any(String) } })
    expect(answer.body.durationMs).toBeGreaterThanOrEqual(0)
    expect(vendor.asked.map(({ path }) => path)).toEqual(['/mail'])
    expect(JSON.parse(vendor.asked[0]?.body ?? '')).toMatchObject({
      to: ['ada@example.com'],
      from: 'news@acme.example',
      subject: 'A test of Second <b>',
      html: '<p>This message shows that Second &#60;b&#62; delivers.</p>',
    })
    expect((await api.get('/v1/notifications')).body.data).toEqual([])
    expect((await api.get('/v1/messages')).body.data).toEqual([])
  })

  test('has the given content', async () => {
    const api = await server.freshApi()
    const id = await add(api, mailer())
    await send(api, id, { to: 'ada@example.com', subject: 'Hi\nBcc: x@y.z', content: 'One & two' })
    expect(JSON.parse(vendor.asked[0]?.body ?? '')).toMatchObject({
      ...{ subject: 'Hi Bcc: x@y.z', html: '<p>One &#38; two</p>', text: 'One & two' },
    })
  })

  test('that is refused says why, and what may help, without a secret', async () => {
    const api = await server.freshApi()
    const id = await add(api, mailer())
    vendor.plays(() => ({ status: 401, body: 'hush-hush is wrong' }))
    const answer = await send(api, id, { to: 'ada@example.com' })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: false,
      error: {
        code: 'unauthorized',
        kind: 'credentials',
        status: 401,
        message: expect.stringContaining('credentials'),
      },
      durationMs: expect.any(Number),
    })
    expect(answer.text).not.toContain('hush-hush')
  })

  test('is evidence: health says never used, then last sent, then refused since when and in which words', async () => {
    const api = await server.freshApi()
    const id = await add(api, mailer())
    const other = await add(api, { ...mailer(), name: 'Other' })
    const healthOf = async (wanted: string) => {
      const all: any[] = (await api.get('/v1/integrations/health')).body
      const { integrationId: _, ...found } = all.find(({ integrationId }) => integrationId === wanted)
      expect((await api.get(`/v1/integrations/${wanted}/health`)).body).toEqual(found)
      return found
    }
    const unused = { state: 'closed', failures: 0, hosts: [] }
    expect(await healthOf(id)).toEqual(unused)
    const sentAt = server.clock.now().toISOString()
    await send(api, id, { to: 'ada@example.com' })
    expect(await healthOf(id)).toEqual({ ...unused, lastSentAt: sentAt })
    server.clock.advance({ minutes: 3 })
    const refusedSince = server.clock.now().toISOString()
    vendor.plays(() => ({ status: 401, body: { message: 'API key revoked' } }))
    await send(api, id, { to: 'ada@example.com' })
    server.clock.advance({ minutes: 3 })
    await send(api, id, { to: 'ada@example.com' })
    expect(await healthOf(id)).toMatchObject({
      ...{ state: 'closed', failures: 2, lastSentAt: sentAt, refusedSince, errorCode: 'unauthorized' },
      error: expect.stringContaining('does not accept the credentials'),
    })
    vendor.plays(() => ({ body: { id: 'theirs' } }))
    await send(api, id, { to: 'ada@example.com' })
    expect(await healthOf(id)).toEqual({ ...unused, lastSentAt: server.clock.now().toISOString() })
    expect(await healthOf(other)).toEqual(unused)
  })

  test('says when the host does not exist, and so does its health', async () => {
    const api = await server.freshApi()
    const id = await add(api, {
      providerId: 'nodemailer',
      channel: 'email',
      credentials: { host: 'smtp.nowhere.invalid', port: '587', from: 'news@acme.example' },
    })
    const message = expect.stringMatching(/^The host smtp\.nowhere\.invalid could not be found/)
    expect((await send(api, id, { to: 'ada@example.com' })).body).toMatchObject({
      success: false,
      error: { code: 'host_unknown', message },
    })
    expect((await api.get(`/v1/integrations/${id}/health`)).body).toMatchObject({
      ...{ errorCode: 'host_unknown', error: message, refusedSince: server.clock.now().toISOString() },
    })
  })

  test('without a sender is refused, and nothing is sent', async () => {
    const api = await server.freshApi()
    const id = await add(api, mailer({ from: '' }))
    expect((await send(api, id, { to: 'ada@example.com' })).body).toMatchObject({
      success: false,
      error: { code: 'incomplete_credentials', kind: 'credentials', message: expect.stringContaining('From address') },
    })
    expect(vendor.asked).toEqual([])
  })

  test.each([
    [
      'sms',
      'generic-sms',
      { baseUrl: '/sms', apiKeyRequestHeader: 'x-key', apiKey: 'k', idPath: 'id' },
      '+15551234567',
    ],
    ['push', 'push-webhook', { webhookUrl: '/push', secretKey: 's' }, 'token-1'],
  ])('of %s works as well', async (channel, providerId, credentials, to) => {
    const api = await server.freshApi()
    const own = Object.entries(credentials).map(([name, value]) => [name, value.replace(/^\//, `${vendor.url}/`)])
    const id = await add(api, { providerId, channel, credentials: Object.fromEntries(own) })
    expect((await send(api, id, { to })).body).toMatchObject({ success: true })
    expect(vendor.asked[0]?.body).toContain(to)
  })

  test('of a chat goes to the given webhook', async () => {
    const api = await server.freshApi()
    const id = await add(api, { providerId: 'discord', channel: 'chat', credentials: {} })
    expect((await send(api, id, { to: `${vendor.url}/room` })).body).toMatchObject({ success: true })
    expect(vendor.asked[0]?.path).toBe('/room')
    expect((await send(api, id, { to: 'not a url' })).body).toMatchObject({ success: false })
  })

  test('of the sandbox integration is in the sandbox', async () => {
    const { development } = await server.freshOrganization()
    const all: Array<{ _id: string; channel: string; providerId: string }> = (await development.get('/v1/integrations'))
      .body
    const isSandbox = ({ channel, providerId }: { channel: string; providerId: string }) =>
      channel !== 'in_app' && providerId !== 'web-push'
    for (const { _id, channel } of all.filter(isSandbox))
      expect([channel, (await send(development, _id, { to: `to-${channel}` })).body.success]).toEqual([channel, true])
    const { data } = (await development.get('/v1/sandbox/messages')).body
    expect(data.map(({ channel, to }: any) => [channel, to]).sort()).toEqual([
      ['chat', ['to-chat']],
      ['email', ['to-email']],
      ['push', ['to-push']],
      ['sms', ['to-sms']],
    ])
    const email = data.find(({ channel }: any) => channel === 'email')
    const { message } = (await development.get(`/v1/sandbox/messages/${email.id}`)).body
    expect(message.from).toBe('no-reply@sandbox.invalid')
  })

  test('is refused for inboxes, and for integrations of other environments', async () => {
    const api = await server.freshApi()
    const [inbox] = (await api.get('/v1/integrations')).body
    expect(await send(api, inbox._id, { to: 'ada' })).toMatchObject({
      status: 400,
      body: { code: 'integration_not_testable' },
    })
    const theirs = await add(await server.freshApi(), mailer())
    for (const id of [theirs, 'a'.repeat(24), 'x'])
      expect(await send(api, id, { to: 'ada' })).toMatchObject({ status: 404, body: { code: 'integration_not_found' } })
    expect(vendor.asked).toEqual([])
  })

  test.each([{}, { to: '' }, { to: 7 }, { to: 'a', subject: '' }, { to: 'a', content: '' }])(
    '%j is refused',
    async (body) => {
      const api = await server.freshApi()
      expect(await send(api, await add(api, mailer()), body)).toMatchObject({ status: 422 })
      expect(vendor.asked).toEqual([])
    },
  )
})
