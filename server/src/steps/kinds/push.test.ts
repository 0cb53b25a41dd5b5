import { describe, expect, test } from 'vitest'
import { inApp, makeWorkflow, messagesOf, pass, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const push: Step = { type: 'push', controlValues: { subject: 'Ping {{payload.n}}', body: 'Body {{payload.n}}' } }
const selected = 'Push Webhook provider was selected'

async function prepared(steps = [push], more: object = {}): Promise<{ api: Api; integrationId: string }> {
  const api = await server.freshApi()
  const answer = await api.post('/v1/integrations', {
    providerId: 'push-webhook',
    channel: 'push',
    name: 'Push',
    identifier: `push-${api.environmentId}`,
    active: true,
    credentials: { webhookUrl: vendor.url, secretKey: 'signing-key' },
    ...more,
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  await makeWorkflow(api, 'ping', steps)
  return { api, integrationId: answer.body._id }
}

async function withDevices(api: Api, ...deviceTokens: string[]): Promise<void> {
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  const answer = await api.put('/v1/subscribers/ada/credentials', {
    providerId: 'push-webhook',
    credentials: { deviceTokens },
  })
  expect(answer, answer.text).toMatchObject({ status: 200 })
}

const take = () => vendor.plays(() => ({ body: { id: 'vendor-id' } }))
const sent = () => vendor.asked.map(({ body }) => JSON.parse(body))
const targets = () => sent().map(({ target }) => target[0])
async function deliver(api: Api, more: object = {}) {
  const transactionId = await trigger(api, 'ping', 'ada', { payload: { n: 1 }, ...more })
  await server.drain()
  return runOf(api, transactionId)
}
const devicesOf = async (api: Api) =>
  (await api.get('/v1/subscribers/ada')).body.channels.map(
    ({ credentials }: { credentials: { deviceTokens: string[] } }) => credentials.deviceTokens,
  )

describe('a push message', () => {
  test('contains what a digest before it collected', async () => {
    const digest = { type: 'digest', controlValues: { type: 'regular', amount: 1, unit: 'minutes' } }
    const { api } = await prepared([digest, push])
    await withDevices(api, 'phone')
    take()
    for (const n of [1, 2]) await trigger(api, 'ping', 'ada', { payload: { n } })
    await server.drain()
    await pass(server, { minutes: 1 })
    expect(sent().map(({ payload }) => payload.step)).toEqual([
      { digest: true, events: [{ n: 1 }, { n: 2 }], total_count: 2 },
    ])
  })

  test('goes to each device of the subscriber, as a message of its own', async () => {
    const { api, integrationId } = await prepared()
    await withDevices(api, 'phone', 'tablet')
    take()
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      `push completed: Step queued, ${selected}, Message created, Message created, Message sent, Message sent`,
    ])
    const messages = await messagesOf(api, 'channel=push')
    expect(messages).toHaveLength(2)
    for (const message of messages)
      expect(message).toMatchObject({
        status: 'sent',
        content: 'Body 1',
        providerId: 'push-webhook',
        deviceTokens: ['phone', 'tablet'],
      })
    expect(targets().sort()).toEqual(['phone', 'tablet'])
    const [first] = sent()
    expect(messages.map(({ _id }) => _id)).toContain(first.messageId)
    expect(first).toMatchObject({
      title: 'Ping 1',
      content: 'Body 1',
      payload: { n: 1, __nvMessageId: first.messageId, subscriber: { subscriberId: 'ada' }, step: { digest: false } },
    })
    const rows = await server.database.db
      .selectFrom('messages')
      .select(['id', 'identifier', 'integration_id'])
      .where('environment_id', '=', api.environmentId)
      .execute()
    for (const row of rows) expect(row).toEqual({ id: row.id, identifier: row.id, integration_id: integrationId })
    const told = run.jobs[0].executionDetails.at(-1)
    expect(JSON.parse(told.raw)).toMatchObject({ id: 'vendor-id', deviceToken: expect.stringMatching(/phone|tablet/) })
  })

  test('to a subscriber without a device is not sent, and says why', async () => {
    const { api } = await prepared()
    const isTold = async () => {
      const run = await deliver(api)
      expect(storyOf(run)).toEqual(['push canceled: Step queued, Subscriber does not have a configured channel'])
      expect(run.jobs[0]).toMatchObject({ reason: 'missing_push_token', messages: [] })
    }
    await isTold()
    // One whose credentials were deleted has none.
    await withDevices(api, 'phone')
    expect((await api.delete('/v1/subscribers/ada/credentials/push-webhook')).status).toBe(204)
    await isTold()
    expect(sent()).toEqual([])
  })

  test('to a subscriber whose devices are all gone is not sent either', async () => {
    const { api } = await prepared()
    await withDevices(api)
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      'push canceled: Step queued, Subscriber credentials is missing the tokens for sending a push notification message, ' +
        'Some push channels skipped to send the message',
    ])
    expect(run.jobs[0]).toMatchObject({ reason: 'missing_push_token' })
  })

  test('whose integration is turned off fails', async () => {
    const { api, integrationId } = await prepared()
    await withDevices(api, 'phone')
    await api.put(`/v1/integrations/${integrationId}`, { active: false })
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      'push failed: Step queued, Subscriber does not have an active integration, ' +
        'There was one or more errors when trying to execute the notification',
    ])
    expect(run.jobs[0]).toMatchObject({ reason: 'no_integration' })
  })

  test('goes to the devices the trigger names instead, with what it adds', async () => {
    const { api } = await prepared()
    await withDevices(api, 'phone')
    take()
    await deliver(api, {
      overrides: {
        push: { sound: 'ding' },
        'push-webhook': { deviceTokens: ['watch'] },
        providers: { 'push-webhook': { added: true } },
      },
    })
    expect(targets()).toEqual(['watch'])
    expect(sent()[0]).toMatchObject({ overrides: { sound: 'ding' }, added: true })
  })

  test('goes to Firebase devices or the topic that the trigger names, for a subscriber without a device there', async () => {
    const { api } = await prepared()
    const firebase = { providerId: 'fcm', channel: 'push', active: true, credentials: { serviceAccount: '{}' } }
    expect((await api.post('/v1/integrations', firebase)).status).toBe(201)
    const devices = async (overrides: object) => {
      const run = await deliver(api, { overrides })
      // No vendor is called: the account is fake. The request that would have been sent is recorded.
      const [first] = await messagesOf(api, `channel=push&transactionId=${run.transactionId}`)
      return [run.jobs[0].providerId, run.jobs[0].messages.length, first.deviceTokens]
    }
    expect(await devices({ providers: { fcm: { tokens: ['one', 'two'] } } })).toEqual(['fcm', 2, ['one', 'two']])
    const ofStep = { steps: { 'push-0': { providers: { fcm: { topic: 'news' } } } } }
    expect(await devices(ofStep)).toEqual(['fcm', 1, ['news']])
  })

  test('shows a badge of at most 99, counting unseen messages if set to', async () => {
    const { api } = await prepared([push], { configurations: { inboxCount: 'unseen' } })
    await withDevices(api, 'phone')
    await makeWorkflow(api, 'inbox', [inApp('one')])
    const events = Array.from({ length: 100 }, () => ({ name: 'inbox', to: 'ada' }))
    await api.post('/v1/events/trigger/bulk', { events })
    await server.drain()
    take()
    await deliver(api)
    expect(sent()[0].overrides.apns.payload.aps).toEqual({ badge: 99 })
    await api.post('/v1/subscribers/ada/messages/mark-all', { markAs: 'seen' })
    await deliver(api)
    expect(sent()[1].overrides.apns.payload.aps).toEqual({ badge: 0 })
  })

  test('shows the inbox count if the integration wants it', async () => {
    const { api } = await prepared([inApp('one'), push], { configurations: { inboxCount: 'unread' } })
    await withDevices(api, 'phone')
    take()
    await deliver(api)
    expect(sent()[0].overrides).toMatchObject({
      android: { notification: { notificationCount: 1 } },
      apns: { payload: { aps: { badge: 1 } } },
    })
  })
})

describe('devices that cannot be reached', () => {
  test('are removed from the subscriber if their token is invalid; the others get the message', async () => {
    const { api } = await prepared()
    const { development } = await server.freshOrganization()
    await makeWorkflow(development, 'ping', [push])
    await withDevices(api, 'phone', 'tablet')
    vendor.plays(() => ({ body: {} }))
    await deliver(api)
    expect(await devicesOf(api)).toEqual([['phone', 'tablet']])

    // The sandbox can report an invalid token; its integration gets one here.
    const [{ _id: sandboxId }] = (await development.get('/v1/integrations')).body.filter(
      ({ channel }: { channel: string }) => channel === 'push',
    )
    await development.post('/v2/subscribers', { subscriberId: 'ada' })
    await server.database.db
      .updateTable('integrations')
      .set({ provider_id: 'svc-push' })
      .where('id', '=', sandboxId)
      .execute()
    await server.database.db
      .updateTable('subscribers')
      .set({
        channels: JSON.stringify([
          { providerId: 'expo', _integrationId: sandboxId, credentials: { deviceTokens: ['old', 'new'] } },
        ]),
      })
      .where('environment_id', '=', development.environmentId)
      .execute()
    await development.put('/v1/sandbox/faults', { channel: 'push', fault: 'bounce', count: 1 })
    const run = await deliver(development)
    expect(run.jobs[0]).toMatchObject({ status: 'completed', reason: 'provider_refused' })
    const details = run.jobs[0].executionDetails.map(({ detail }: { detail: string }) => detail)
    expect(details).toContain('Invalid push device token was removed from subscriber')
    const removal = run.jobs[0].executionDetails.find(({ detail }: { detail: string }) => detail.startsWith('Invalid'))
    const { deviceToken } = JSON.parse(removal.raw)
    expect(await devicesOf(development)).toEqual([['old', 'new'].filter((token) => token !== deviceToken)])
    expect((await messagesOf(development, 'channel=push')).map(({ status }) => status).sort()).toEqual([
      'error',
      'sent',
    ])
  })

  test('for a while are retried, and those that got it do not get it twice', async () => {
    const { api } = await prepared()
    await withDevices(api, 'phone', 'tablet')
    vendor.plays(({ body }) =>
      JSON.parse(body).target[0] === 'tablet' && vendor.asked.length < 4 ? { status: 503, body: {} } : { body: {} },
    )
    const transactionId = await trigger(api, 'ping', 'ada')
    await server.drain()
    const states = (await messagesOf(api, 'channel=push')).map(({ status }) => status).sort()
    expect(states).toEqual(['sent', 'warning'])
    for (const seconds of [2, 4, 8]) {
      server.clock.advance({ seconds })
      await server.drain()
    }
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'completed' })
    expect(targets().filter((target) => target === 'phone')).toHaveLength(1)
    expect((await messagesOf(api, 'channel=push')).map(({ status }) => status)).toEqual(['sent', 'sent'])
  })

  test('until different times are each called at theirs, and no sooner', async () => {
    const { api } = await prepared()
    await withDevices(api, 'phone', 'tablet')
    const waits: Record<string, string> = { phone: '20', tablet: '40' }
    vendor.plays(({ body }) => {
      const [device] = JSON.parse(body).target
      const isFirst = targets().filter((target) => target === device).length === 1
      return isFirst ? { status: 429, body: {}, headers: { 'retry-after': waits[device] ?? '' } } : { body: {} }
    })
    const transactionId = await trigger(api, 'ping', 'ada')
    await server.drain()
    const callsAfter = async (seconds: number) => {
      const before = targets().length
      server.clock.advance({ seconds })
      await server.drain()
      return targets().slice(before)
    }
    expect(await callsAfter(19)).toEqual([])
    expect(await callsAfter(1)).toEqual(['phone'])
    expect(await callsAfter(19)).toEqual([])
    expect(await callsAfter(1)).toEqual(['tablet'])
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'completed' })
  })

  test('are called again by a redrive, which leaves out those that got it', async () => {
    const { api } = await prepared()
    await withDevices(api, 'phone', 'tablet')
    vendor.plays(({ body }) => (JSON.parse(body).target[0] === 'tablet' ? { status: 400, body: {} } : { body: {} }))
    const run = await deliver(api)
    expect(run.jobs[0]).toMatchObject({ status: 'completed', reason: 'provider_refused' })
    const before = targets().length
    take()
    expect(await api.post('/v1/deliveries/redrive', {})).toMatchObject({ status: 200, body: { redriven: 1 } })
    await server.drain()
    expect(targets().slice(before)).toEqual(['tablet'])
    expect((await messagesOf(api, 'channel=push')).map(({ status }) => status)).toEqual(['sent', 'sent'])
  })

  test('at all fail the step', async () => {
    const { api } = await prepared()
    await withDevices(api, 'phone')
    vendor.plays(() => ({ status: 400, body: { message: 'no' } }))
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      `push failed: Step queued, ${selected}, Message created, Unexpected provider error, ` +
        'There was one or more errors when trying to execute the notification',
    ])
    expect(run.jobs[0].messages).toMatchObject([{ status: 'error', errorId: 'unexpected_push_error' }])
  })
})
