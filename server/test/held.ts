// Environments for tests whose clock is held, for our own tests.
import { randomBytes } from 'node:crypto'
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
