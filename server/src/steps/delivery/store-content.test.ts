import { expect, test } from 'vitest'
import { makeWorkflow, messagesOf, trigger } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'

const server = useServer({ storeContent: false })

test('without stored content, messages only say that they were sent; the inbox keeps its own', async () => {
  const { development: api } = await server.freshOrganization()
  await makeWorkflow(api, 'all', [
    { type: 'email', controlValues: { subject: 'secret', body: '<p>secret</p>', editorType: 'html' } },
    { type: 'sms', controlValues: { body: 'secret' } },
    { type: 'push', controlValues: { subject: 'secret', body: 'secret' } },
    { type: 'chat', controlValues: { body: 'secret' } },
    { type: 'in_app', controlValues: { body: 'for the inbox' } },
  ])
  await trigger(api, 'all', { subscriberId: 'ada', email: 'ada@example.com', phone: '+15550100' })
  await server.drain()
  const messages = await messagesOf(api, 'subscriberId=ada')
  expect(messages).toHaveLength(5)
  for (const { channel, status, content, subject } of messages)
    expect([channel, status, content, subject]).toEqual(
      channel === 'in_app' ? [channel, 'sent', 'for the inbox', undefined] : [channel, 'sent', undefined, undefined],
    )
})
