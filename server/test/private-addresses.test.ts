// Which addresses the service calls by default, depending on the environment: providers with custom addresses, chats, and
// webhook endpoints. (HTTP request steps and bridges have their own tests.)
import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { makeWorkflow, runOf, trigger } from './runs.ts'
import { type Api, useServer } from './server.ts'
import { useVendor } from './vendor.ts'

const server = useServer({}, { logLevel: 'info' })
const vendor = useVendor()
const reason = /private or reserved/

const made = async (api: Api, path: string, body: object) => {
  const answer = await api.post(path, body)
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body
}

async function jobOf(api: Api, workflow: string) {
  const transactionId = await trigger(api, workflow, { subscriberId: 'ada', email: 'ada@example.com' })
  await server.drain()
  return (await runOf(api, transactionId)).jobs[0]
}

async function mailed(api: Api) {
  const credentials = { webhookUrl: `${vendor.url}/mail`, secretKey: 'key', from: 'a@example.com', senderName: 'A' }
  const mail = { providerId: 'email-webhook', channel: 'email', active: true, check: false, credentials }
  const { _id } = await made(api, '/v1/integrations', mail)
  await api.post(`/v1/integrations/${_id}/set-primary`)
  await makeWorkflow(api, 'mail', [
    { type: 'email', controlValues: { subject: 'Hi', body: '<p>Hi</p>', editorType: 'html' } },
  ])
  return jobOf(api, 'mail')
}

async function chatted(api: Api, url: string) {
  const integrationIdentifier = `talk-${api.environmentId}`
  const chat = { providerId: 'discord', channel: 'chat', identifier: integrationIdentifier, active: true }
  await made(api, '/v1/integrations', { ...chat, credentials: {} })
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  const endpoint = { integrationIdentifier, subscriberId: 'ada', type: 'webhook', endpoint: { url } }
  await made(api, '/v1/channel-endpoints', endpoint)
  await makeWorkflow(api, 'talk', [{ type: 'chat', controlValues: { body: 'Hi' } }])
  return jobOf(api, 'talk')
}

async function told(api: Api) {
  await made(api, '/v2/webhooks/endpoints', { url: `${vendor.url}/hook`, eventTypes: ['subscriber.created'] })
  await made(api, '/v2/subscribers', { subscriberId: 'bob' })
  await server.drain()
  const [{ status, history }] = (await api.get('/v2/webhooks/deliveries')).body.data
  return { status, error: history[0].error }
}

const paths = () => vendor.asked.map(({ path }) => path)

describe('in production', () => {
  test('this machine is never called: no provider, chat or webhook endpoint', async () => {
    const { production } = await server.freshOrganization()
    vendor.plays(() => ({ body: {} }))
    expect(await mailed(production)).toMatchObject({ status: 'failed', error: expect.stringMatching(reason) })
    expect(await chatted(production, `${vendor.url}/chat`)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(reason),
    })
    expect(await told(production)).toMatchObject({ error: expect.stringMatching(reason) })
    expect(vendor.asked).toEqual([])
  })
})

describe('in development', () => {
  test('this machine may be called, and the log says so', async () => {
    const { development } = await server.freshOrganization()
    vendor.plays(() => ({ body: {} }))
    expect(await mailed(development)).toMatchObject({ status: 'completed' })
    expect(await chatted(development, `${vendor.url}/chat`)).toMatchObject({ status: 'completed' })
    expect(await told(development)).toEqual({ status: 'delivered', error: undefined })
    expect(paths()).toEqual(['/mail', '/chat', '/hook'])
    expect(server.logged.map(({ msg }) => msg)).toContain('workflows of development environments may call this machine')
  })

  test('no other private address is called', async () => {
    const { development } = await server.freshOrganization()
    const job = await chatted(development, 'http://10.0.0.1/')
    expect(job).toMatchObject({ status: 'failed', error: expect.stringMatching(reason) })
  })

  test.each<[name: string, settings: NodeJS.ProcessEnv]>([
    ['if the operator forbids it', { BELFRY_ALLOW_PRIVATE_ADDRESSES: 'false' }],
    ['with a database elsewhere (hole 9)', { DATABASE_URL: 'postgres://x', BELFRY_SECRET_KEY: 'a1'.repeat(32) }],
  ])('even this machine is not called %s', async (_, settings) => {
    const { config } = readConfig(settings)
    const { allowPrivateAddresses, allowLoopbackInDevelopment } = config
    const before = server.logged.length
    const strict = await server.startAnother({ allowPrivateAddresses, allowLoopbackInDevelopment })
    expect(server.logged.slice(before).filter(({ msg }) => msg.includes('may call'))).toEqual([])
    const { development } = await server.freshOrganization()
    await made(development, '/v2/webhooks/endpoints', { url: `${vendor.url}/hook` })
    await made(development, '/v2/subscribers', { subscriberId: 'bob' })
    await strict.engine.wake()
    const [{ history }] = (await development.get('/v2/webhooks/deliveries')).body.data
    expect(history[0].error).toMatch(reason)
    await strict.stop()
    expect(vendor.asked).toEqual([])
  })
})
