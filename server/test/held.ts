// Environments whose clock is held, and what is sent there, for our own tests.
import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type Answer, Api, type TestServer } from './server.ts'

export class HeldApi extends Api {
  /** Finishes what is due, or advances so far. */
  async advance(body: object = { by: '0s' }): Promise<Answer['body']> {
    const answer = await this.post('/v1/clock/advance', body)
    if (answer.status !== 200) throw new Error(`advance: ${answer.status} ${answer.text}`)
    return answer.body
  }
}

export async function heldApi(server: TestServer, clock: object = {}): Promise<HeldApi> {
  const name = `held ${randomBytes(6).toString('hex')}`
  const made = await server.wideApi.post('/v1/environments', { name, color: '#123456', clock })
  if (made.status !== 201) throw new Error(`environment: ${made.status} ${made.text}`)
  const { _id, apiKeys, _organizationId } = made.body
  return new HeldApi(server.url, apiKeys[0].key, _id, _organizationId)
}

export const email = (values: object = {}) => ({
  ...{ name: 'Mail', stepId: 'mail', type: 'email' },
  controlValues: { subject: 'Hello', body: 'It is {{subscriber.firstName}}', ...values },
})
export const delay = (amount: number, unit = 'hours', stepId = 'wait') => ({
  ...{ name: stepId, stepId, type: 'delay' },
  controlValues: { type: 'regular', amount, unit },
})
export const inApp = { name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'There is news' } }

export async function workflow(api: Api, steps: object[], workflowId = 'news'): Promise<void> {
  const made = await api.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps })
  expect(made, made.text).toMatchObject({ status: 201 })
}
export const ada = { subscriberId: 'ada', email: 'ada@example.com', firstName: 'Ada' }
export const trigger = async (api: Api, more: object = {}) => {
  const answer = await api.post('/v1/events/trigger', { name: 'news', to: ada, ...more })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body.transactionId as string
}
