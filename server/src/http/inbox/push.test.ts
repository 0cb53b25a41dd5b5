import { createECDH, randomBytes } from 'node:crypto'
import * as ece from 'http_ece'
import { beforeEach, describe, expect, test } from 'vitest'
import { openInbox } from '../../../test/inbox.ts'
import { makeWorkflow, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Answer, type Api, sendTo, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
/** A push service of our own (RFC 8030). */
const service = useVendor()
const push: Step = { type: 'push', controlValues: { subject: 'Hello', body: 'It has arrived' } }

interface Browser {
  json: { endpoint: string; keys: { p256dh: string; auth: string } }
  read(body: Buffer): { notification: Record<string, unknown> }
}

function newBrowser(name: string): Browser {
  const pair = createECDH('prime256v1')
  const auth = randomBytes(16).toString('base64url')
  const keys = { p256dh: pair.generateKeys().toString('base64url'), auth }
  return {
    json: { endpoint: `${service.url}/${name}`, keys },
    read: (body) =>
      JSON.parse(ece.decrypt(body, { version: 'aes128gcm', privateKey: pair, authSecret: auth }).toString()),
  }
}

type Call = (method: string, path: string, body?: object) => Promise<Answer>
let api: Api
let call: Call
const callerFor = async (subscriberId: string): Promise<Call> => {
  const { token } = await openInbox(server, api, subscriberId)
  return (method, path, body) =>
    sendTo(`${server.url}/v1/inbox/push/${path}`, method, body && JSON.stringify(body), {
      ...{ authorization: `Bearer ${token}`, origin: 'https://acme.example' },
      ...(body ? { 'content-type': 'application/json' } : {}),
    })
}
const runPush = async (transactionId: string) => {
  await trigger(api, 'news', { subscriberId: 'ada' }, { transactionId })
  await server.drain()
  return (await runOf(api, transactionId)).jobs[0]
}

beforeEach(async () => {
  api = (await server.freshOrganization()).development
  service.plays(() => ({ status: 201, body: '' }))
  call = await callerFor('ada')
})

describe('a browser', () => {
  test('registers with the key of the environment, and gets each push message, beside no sandbox', async () => {
    await makeWorkflow(api, 'news', [push])
    const key = (await call('GET', 'key')).body.data
    expect(Buffer.from(key.publicKey, 'base64url')).toHaveLength(65)
    const browser = newBrowser('one')
    const made = await call('POST', 'subscriptions', { ...browser.json, expirationTime: null, label: 'Firefox' })
    expect(made).toMatchObject({ status: 201, body: { data: { origin: service.url, label: 'Firefox' } } })
    expect(made.text).not.toContain('/one')
    const job = await runPush('first')
    expect(job).toMatchObject({ status: 'completed', providerId: 'push-webhook' })
    expect(service.asked).toHaveLength(1)
    const [asked] = service.asked
    expect(asked?.headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      authorization: expect.stringContaining(`k=${key.publicKey}`),
    })
    expect(browser.read(asked?.bytes ?? Buffer.alloc(0)).notification).toMatchObject({
      ...{ title: 'Hello', body: 'It has arrived', navigate: 'https://acme.example' },
    })
  })

  test('stands beside device tokens, under its own name, and never among the channels of the subscriber', async () => {
    await makeWorkflow(api, 'news', [push])
    await call('POST', 'subscriptions', newBrowser('beside').json)
    expect(
      await api.put('/v1/subscribers/ada/credentials', {
        ...{ providerId: 'web-push', credentials: { deviceTokens: [`${service.url}/x`] } },
      }),
    ).toMatchObject({ status: expect.toBeOneOf([400, 422]) })
    expect((await api.get('/v1/subscribers/ada')).body.data?.channels ?? []).toEqual([])
    expect((await api.get('/v2/subscribers/ada')).body.channels ?? []).toEqual([])
    await api.post('/v1/suppressions', { channel: 'push', address: newBrowser('other').json.endpoint })
    expect((await runPush('beside')).status).toBe('completed')
    const [message] = (await api.get('/v1/messages?channel=push')).body.data
    expect(message).toMatchObject({ providerId: 'web-push', status: 'sent' })
  })

  test.each([
    [413, 'provider_refused'],
    [400, 'provider_refused'],
  ])('whose push service answers %i takes nothing, and is kept', async (status, reason) => {
    await makeWorkflow(api, 'news', [push])
    await call('POST', 'subscriptions', newBrowser('strict').json)
    service.plays(() => ({ status, body: '' }))
    expect(await runPush(`strict-${status}`)).toMatchObject({ status: 'failed', reason })
    expect(service.asked).toHaveLength(1)
    expect((await call('GET', 'subscriptions')).body.data).toHaveLength(1)
  })

  test('registered again keeps its id and gets new keys; of another subscriber, it moves', async () => {
    const { json } = newBrowser('same')
    const first = (await call('POST', 'subscriptions', json)).body.data
    const again = await call('POST', 'subscriptions', { ...json, keys: newBrowser('same').json.keys })
    expect(again).toMatchObject({ status: 200, body: { data: { id: first.id } } })
    const other = await callerFor('bob')
    expect(await other('POST', 'subscriptions', json)).toMatchObject({ status: 200, body: { data: { id: first.id } } })
    expect((await call('GET', 'subscriptions')).body.data).toEqual([])
    expect((await other('GET', 'subscriptions')).body.data).toMatchObject([{ id: first.id }])
    expect(await call('DELETE', `subscriptions/${first.id}`)).toMatchObject({ status: 404 })
    expect(await other('DELETE', `subscriptions/${first.id}`)).toMatchObject({ status: 204 })
  })

  test('beyond twenty replaces the one unused for longest', async () => {
    for (let i = 0; i < 21; i += 1) {
      await call('POST', 'subscriptions', newBrowser(`n${i}`).json)
      server.clock.advance({ seconds: 1 })
    }
    const path = '/v2/subscribers/ada/push-subscriptions'
    const listed = (await api.get(path)).body.data
    expect(listed).toHaveLength(20)
    expect(await api.delete(`${path}/${listed[0].id}`)).toMatchObject({ status: 204 })
    expect(await api.delete(`${path}/${listed[0].id}`)).toMatchObject({
      ...{ status: 404, body: { code: 'push_subscription_not_found' } },
    })
  })

  test('that is gone is forgotten, and another still gets the message', async () => {
    await makeWorkflow(api, 'news', [push])
    for (const name of ['gone', 'here']) await call('POST', 'subscriptions', newBrowser(name).json)
    service.plays(({ path }) => ({ status: path === '/gone' ? 410 : 201, body: '' }))
    const job = await runPush('gone')
    expect(job.status).toBe('completed')
    const lines = job.executionDetails.map(({ detail }: { detail: string }) => detail)
    expect(lines).toContain('Invalid push device token was removed from subscriber')
    expect(JSON.stringify(job)).not.toContain('/gone')
    expect((await call('GET', 'subscriptions')).body.data).toHaveLength(1)
  })

  test('is waited for as its push service says', async () => {
    await makeWorkflow(api, 'news', [push])
    await call('POST', 'subscriptions', newBrowser('busy').json)
    service.plays(() => ({ status: 429, headers: { 'retry-after': '120' }, body: '' }))
    await runPush('busy')
    service.plays(() => ({ status: 201, body: '' }))
    server.clock.advance({ seconds: 60 })
    await server.drain()
    expect(service.asked).toHaveLength(1)
    server.clock.advance({ seconds: 120 })
    await server.drain()
    expect((await runOf(api, 'busy')).jobs[0].status).toBe('completed')
  })

  test('that cannot be reached is refused', async () => {
    const { json } = newBrowser('x')
    for (const body of [
      {},
      { ...json, endpoint: 'x' },
      { ...json, endpoint: 'ftp://push.example/x' },
      { ...json, endpoint: `https://push.example/${'x'.repeat(2_048)}` },
      { ...json, keys: { ...json.keys, p256dh: 'BA' } },
      { ...json, keys: { ...json.keys, auth: 'AAAA' } },
    ])
      expect([body, await call('POST', 'subscriptions', body)]).toMatchObject([
        ...[body, { status: 422, body: { code: 'push_subscription_invalid' } }],
      ])
  })

  test('is in the export of its subscriber, without its address, and gone once they are erased', async () => {
    const { body } = await call('POST', 'subscriptions', { ...newBrowser('erased').json, label: 'Firefox' })
    const snoozedUntil = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
    await api.patch('/v2/subscribers/ada/preferences', { snoozedUntil })
    const exported = await api.get('/v2/subscribers/ada/export')
    expect(exported.body.data).toMatchObject({
      pushSubscriptions: [{ id: body.data.id, origin: service.url, label: 'Firefox' }],
      subscribers: [{ snoozedUntil }],
    })
    expect(exported.text).not.toMatch(/\/erased|enc:v1/)
    await api.post('/v2/subscribers/ada/erase')
    await server.drain()
    expect(
      await server.database.db
        .selectFrom('push_subscriptions')
        .select('id')
        .where('environment_id', '=', api.environmentId)
        .execute(),
    ).toEqual([])
  })
})

describe('the integration', () => {
  test('exists once, makes its keys itself, and keeps them', async () => {
    const second = { providerId: 'web-push', channel: 'push', name: 'Second', active: true }
    expect(await api.post('/v1/integrations', second)).toMatchObject({
      status: 409,
      body: { code: 'second_native_integration' },
    })
    const [own] = (await api.get('/v1/integrations')).body.filter(
      ({ providerId }: { providerId: string }) => providerId === 'web-push',
    )
    const key = own.credentials.applicationId
    const changed = await api.put(`/v1/integrations/${own._id}`, {
      credentials: { from: 'mailto:a@b.example', applicationId: 'mine' },
    })
    expect(changed.body.credentials).toMatchObject({ from: 'mailto:a@b.example', applicationId: key })
    await api.put(`/v1/integrations/${own._id}`, { active: false })
    expect(await call('GET', 'key')).toMatchObject({ status: 404, body: { code: 'web_push_off' } })
    expect(await call('POST', 'subscriptions', newBrowser('off').json)).toMatchObject({ status: 404 })
  })
})
