import { workflow } from '@novu/framework/express'
import { beforeAll, expect, test } from 'vitest'
import { useApplication } from '../../../test/application.ts'
import { runOf, storyOf, trigger } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ brand: 'novu', allowPrivateAddresses: true })
/** Written with the library itself. */
const app = useApplication()
const vendor = useVendor()

// The library checks signatures against the real time.
beforeAll(() => server.clock.advance({ ms: Date.now() - server.clock.now().getTime() }))

test('what the code returns is delivered as it is', async () => {
  const { development: api } = await server.freshOrganization()
  const told = workflow('told', async ({ step, subscriber }) => {
    await step.email('mail', () => ({ subject: 'From code', body: `<p>{{not rendered}} ${subscriber.firstName}</p>` }))
    await step.sms('text', () => ({ body: 'SMS {{as it is}}' }))
    await step.push('ping', () => ({ subject: 'Ping', body: 'Push' }))
    await step.chat('talk', () => ({ body: 'Chat' }))
  })
  app.serves([told], api.key)
  const synced = await api.post('/v1/bridge/sync', { bridgeUrl: app.url })
  expect(synced, synced.text).toMatchObject({ status: 201 })
  const to = { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com', phone: '+15550100' }
  const transactionId = await trigger(api, 'told', to)
  await server.drain()
  const run = await runOf(api, transactionId)
  expect(storyOf(run)).toEqual([
    'email completed: Step queued, Belfry Email provider was selected, Message created, Message sent',
    'sms completed: Step queued, Belfry SMS provider was selected, Message created, Message sent',
    'push completed: Step queued, Belfry Push provider was selected, Message created, Message sent',
    'chat completed: Step queued, Belfry Slack provider was selected, Message created, Message sent',
  ])
  const taken = (await api.get('/v1/sandbox/messages')).body.data
  const by = (channel: string) => taken.find((message: { channel: string }) => message.channel === channel)
  expect(by('sms').text).toBe('SMS {{as it is}}')
  expect(by('push')).toMatchObject({ subject: 'Ping', text: 'Push' })
  expect(by('chat').text).toBe('Chat')
  const mail = (await api.get(`/v1/sandbox/messages/${by('email').id}`)).body
  expect(mail).toMatchObject({ subject: 'From code', html: '<p>{{not rendered}} Ada</p>' })
  expect(run.jobs[0].providerId).toBe('novu-email')
  const [, line] = run.jobs[0].executionDetails
  expect(JSON.parse(line.raw).providerId).toBe('novu-email')
})

test("what code adds for a provider is in its request, under our names or the provider's; the trigger wins", async () => {
  const api = await server.freshApi()
  const integration = {
    ...{ providerId: 'infobip-sms', channel: 'sms', identifier: `sms-${api.environmentId}`, active: true },
    credentials: { apiKey: 'key', baseUrl: vendor.url, from: 'Acme' },
  }
  expect(await api.post('/v1/integrations', integration)).toMatchObject({ status: 201 })
  const added = workflow('added', async ({ step }) => {
    await step.sms('text', () => ({ body: 'Hi' }), {
      providers: {
        'infobip-sms': () => ({
          ...{ callbackData: 'of code', validityPeriod: 5 },
          _passthrough: { body: { raw_name: 1 }, headers: { 'x-code': 'yes' } },
        }),
      },
    })
  })
  app.serves([added], api.key)
  expect(await api.post('/v1/bridge/sync', { bridgeUrl: app.url })).toMatchObject({ status: 201 })
  vendor.plays(() => ({ body: { messages: [{ messageId: 'vendor-1' }] } }))
  const to = { subscriberId: 'ada', phone: '+15550100' }
  await trigger(api, 'added', to)
  await trigger(api, 'added', to, { overrides: { providers: { 'infobip-sms': { callbackData: 'of the trigger' } } } })
  await server.drain()
  const [first, second] = vendor.asked.map(({ body }) => JSON.parse(body).messages[0])
  expect(first).toMatchObject({ text: 'Hi', callbackData: 'of code', validityPeriod: 5, raw_name: 1 })
  expect(second).toMatchObject({ text: 'Hi', callbackData: 'of the trigger', validityPeriod: 5, raw_name: 1 })
  expect(vendor.asked[0]?.headers['x-code']).toBe('yes')
})

test('the code of an email can set sender, reply-to and preheader', async () => {
  const api = await server.freshApi()
  const integration = {
    ...{ providerId: 'email-webhook', channel: 'email', identifier: `mail-${api.environmentId}`, active: true },
    credentials: { webhookUrl: vendor.url, secretKey: 'key', from: 'usual@acme.example', senderName: 'Acme' },
  }
  expect(await api.post('/v1/integrations', integration)).toMatchObject({ status: 201 })
  const said = {
    ...{
      subject: 'Fish & chips',
      body: '<html><body class="x"><p>Text</p></body></html>',
      replyTo: 'answers@acme.example',
    },
    ...{ from: { email: 'code@acme.example', name: 'Smith & Co' }, preheader: 'Fish & chips' },
  }
  const mails = workflow('mails', async ({ step }) => {
    await step.email('own', () => said)
    await step.email('usual', () => ({ ...said, useProviderDefaults: true }))
    await step.email('plain', () => ({ subject: 'Plain', body: '<p>Plain</p>' }))
  })
  app.serves([mails], api.key)
  expect(await api.post('/v1/bridge/sync', { bridgeUrl: app.url })).toMatchObject({ status: 201 })
  vendor.plays(() => ({ body: { id: 'vendor-id' } }))
  await trigger(api, 'mails', { subscriberId: 'ada', email: 'ada@example.com' })
  await server.drain()
  const [own, usual, plain] = vendor.asked.map(({ body }) => JSON.parse(body))
  expect(own).toMatchObject({
    subject: 'Fish & chips',
    from: 'code@acme.example',
    senderName: 'Smith & Co',
    replyTo: 'answers@acme.example',
    text: 'Text',
  })
  expect(own.html).toMatch(/^<html><body class="x"><div style="display:none;[^"]*">Fish &amp; chips<\/div><p>Text<\/p>/)
  expect(usual).toMatchObject({ from: 'usual@acme.example', senderName: 'Acme', replyTo: 'answers@acme.example' })
  expect(plain).toMatchObject({ from: 'usual@acme.example', html: '<p>Plain</p>' })
  expect(plain).not.toHaveProperty('replyTo')
})

test('whoever is on the suppression list gets nothing from code either, nor by an address that code gives a provider', async () => {
  const { development: api } = await server.freshOrganization()
  const told = workflow('told', async ({ step }) => {
    await step.email('mail', () => ({ subject: 'From code', body: 'Hi' }))
    await step.sms('text', () => ({ body: 'Hi' }), {
      providers: { 'novu-sms': () => ({ _passthrough: { body: { to: '+15550199' } } }) },
    } as object)
  })
  app.serves([told], api.key)
  expect(await api.post('/v1/bridge/sync', { bridgeUrl: app.url })).toMatchObject({ status: 201 })
  await api.post('/v1/suppressions', { channel: 'email', address: 'ada@example.com' })
  await api.post('/v1/suppressions', { channel: 'sms', address: '+15550199' })
  const transactionId = await trigger(api, 'told', {
    subscriberId: 'ada',
    email: 'ada@example.com',
    phone: '+15550100',
  })
  await server.drain()
  const held = { status: 'canceled', reason: 'suppressed' }
  expect((await runOf(api, transactionId)).jobs).toMatchObject([held, held])
  expect((await api.get('/v1/sandbox/messages')).body.data).toEqual([])
})
