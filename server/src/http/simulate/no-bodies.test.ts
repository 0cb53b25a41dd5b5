// Nothing of a person is kept of what is only tried: not in the log either, however much it tells.
import { expect, test } from 'vitest'
import { inApp, makeWorkflow } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'

const server = useServer({}, { logLevel: 'trace' })

test('simulations and explanations leave no word of their bodies in the log', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'welcome', [inApp('Hello {{payload.word}}')])
  const payload = { word: 'only-between-us' }
  const inputs = [{ at: '+0s', type: 'trigger', to: 'only-between-us', payload }]
  const played = await api.post('/v1/simulations', { workflow: { workflowId: 'welcome' }, inputs })
  expect(played).toMatchObject({ status: 200, body: { messages: [{ text: 'Hello only-between-us' }] } })
  const explained = await api.post('/v1/explain', { workflowId: 'welcome', subscriberId: 'only-between-us', payload })
  expect(explained).toMatchObject({ status: 200, body: { wouldGet: true } })
  const refused = await api.post('/v1/simulations', { workflow: 'only-between-us', inputs })
  expect(refused.status).toBe(422)
  expect(server.logged).not.toEqual([])
  expect(JSON.stringify(server.logged)).not.toContain('only-between-us')
})
