import { workflow } from '@novu/framework/express'
import { beforeAll, expect, test } from 'vitest'
import { useApplication } from '../../test/application.ts'
import { runOf, storyOf, trigger } from '../../test/runs.ts'
import { useServer } from '../../test/server.ts'

const server = useServer({ brand: 'novu', allowPrivateAddresses: true })
/** Written with the library itself. */
const app = useApplication()

// The library compares signatures with the clock on the wall.
beforeAll(() => server.clock.advance({ ms: Date.now() - server.clock.now().getTime() }))

test('what code says is delivered as it is, with what it adds to the requests of providers', async () => {
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
