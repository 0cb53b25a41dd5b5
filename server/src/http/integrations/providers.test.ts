import { expect, test } from 'vitest'
import { Api, useServer } from '../../../test/server.ts'

const server = useServer()

interface Item {
  id: string
  channel: string
  credentials: Array<{ name: string; secret: boolean }>
}
const list = async (query = '') => {
  const answer = await server.api.get(`/v1/providers${query}`)
  expect(answer.status).toBe(200)
  return answer.body as Item[]
}

test('every provider is listed with what a form needs', async () => {
  expect((await list()).find(({ id }) => id === 'sendgrid')).toEqual({
    id: 'sendgrid',
    name: 'SendGrid',
    channel: 'email',
    docs: 'https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send',
    reportsDeliveries: true,
    reportsCheckedBy: [],
    credentials: [
      { name: 'apiKey', label: 'API key', type: 'text', required: true, secret: true },
      { name: 'from', label: 'From address', type: 'text', required: true, secret: false },
      { name: 'senderName', label: 'Sender name', type: 'text', required: true, secret: false },
      { name: 'region', label: 'Region', type: 'text', required: false, secret: false, choices: ['global', 'eu'] },
      { name: 'ipPoolName', label: 'IP pool', type: 'text', required: false, secret: false },
    ],
  })
})

test('providers for the user’s own server link to our documentation', async () => {
  const own = (await list()).filter(({ id }) => /-webhook$|^generic-sms$/.test(id)) as Array<Item & { docs: string }>
  expect(own).toHaveLength(4)
  for (const { docs } of own) expect(docs).toMatch(/^http:\/\/[^/]+\/docs#tag\/integrations$/)
  expect((await fetch(`${server.url}/docs`)).status).toBe(200)
})

test('an integration can be created for each of them', async () => {
  const api = await server.freshApi()
  for (const { id, channel } of (await list()).filter(({ id }) => !id.startsWith('svc'))) {
    const created = await api.post('/v1/integrations', { providerId: id, channel, credentials: {} })
    expect([id, created.status]).toEqual([id, 201])
  }
})

test("the list has the service's own providers, and no agents", async () => {
  const ids = (await list()).map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(['svc', 'svc-email', 'svc-sms']))
  expect(ids.filter((id) => /agent|anthropic/.test(id))).toEqual([])
})

test('the list can be filtered by channel, sorted by id', async () => {
  const push = await list('?channel=push')
  expect(new Set(push.map(({ channel }) => channel))).toEqual(new Set(['push']))
  expect(push.map(({ id }) => id)).toEqual(push.map(({ id }) => id).toSorted())
  const refused = await server.api.get('/v1/providers?channel=pigeon')
  expect(refused.status).toBe(422)
})

test('the list needs a key', async () => {
  const answer = await fetch(`${server.url}/v1/providers`)
  expect(answer.status).toBe(401)
})

test('a provider that public clients cannot read is offered only if the operator enables it', async () => {
  const { key, environmentId, organizationId } = await server.freshApi()
  const { url, stop } = await server.startAnother({ extraProviders: ['telegram'] })
  const usual = new Api(server.url, key, environmentId, organizationId)
  const generous = new Api(url, key, environmentId, organizationId)
  const telegram = { providerId: 'telegram', channel: 'chat', credentials: { token: '1:A' } }
  const listed = async (api: Api) => ((await api.get('/v1/providers')).body as Item[]).map(({ id }) => id)

  expect(await listed(usual)).not.toContain('telegram')
  expect((await usual.post('/v1/integrations', telegram)).status).toBe(422)
  expect(await listed(generous)).toContain('telegram')
  const created = await generous.post('/v1/integrations', telegram)
  expect([created.status, created.body.data?.providerId ?? created.body.providerId]).toEqual([201, 'telegram'])
  await stop()
})
