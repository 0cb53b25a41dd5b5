import { expect, test } from 'vitest'
import { inApp, makeWorkflow, messagesOf, runOf, storyOf, trigger } from '../../test/runs.ts'
import { useServer } from '../../test/server.ts'

const server = useServer()

test('a trigger becomes a message in the inbox, and its record says how', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'welcome', [inApp('Hello {{subscriber.firstName}}, {{payload.what}}')])
  const transactionId = await trigger(
    api,
    'welcome',
    { subscriberId: 'ada', firstName: 'Ada' },
    { payload: { what: 'hi' } },
  )
  await server.drain()
  expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([
    { content: 'Hello Ada, hi', channel: 'in_app', transactionId, status: 'sent', seen: false, read: false },
  ])
  const run = await runOf(api, transactionId)
  expect(storyOf(run)).toEqual(['in_app completed: Step queued, Message created, Message sent'])
})
