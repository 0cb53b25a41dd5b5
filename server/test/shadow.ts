// Environments in front of another service, for tests: the service behind is another environment of the same server, or a vendor.
import { expect } from 'vitest'
import { Api, type TestServer } from './server.ts'

export interface Shadowed {
  /** The service behind: Development of an organization of its own. */
  upstream: Api
  /** The environment in front of it, as an application calls it. */
  front: Api
  /** The same environment, asked itself. */
  here: Api
}

/** The same caller, with this header on every request. */
export function asking(of: Api, header: Record<string, string>): Api {
  const api = new Api(of.url, of.key, of.environmentId, of.organizationId)
  const send = api.send.bind(api)
  api.send = (method, path, body, headers = {}) => send(method, path, body, { ...header, ...headers })
  return api
}

export async function makeShadow(
  server: TestServer,
  { url, key, ...more }: { url?: string; key?: string; settleMinutes?: number } = {},
): Promise<Shadowed> {
  const { development: upstream } = await server.freshOrganization()
  const organization = await server.organizationOf(upstream)
  const settings = { upstreamUrl: url ?? server.url, upstreamKey: key ?? upstream.key, ...more }
  const made = await organization.post('/v1/environments', { name: 'Shadow', color: '#123456', shadow: settings })
  expect(made, made.text).toMatchObject({ status: 201, body: { type: 'dev' } })
  const { _id, apiKeys } = made.body
  const front = new Api(server.url, apiKeys[0].key, _id, upstream.organizationId)
  return { upstream, front, here: asking(front, { 'belfry-shadow': 'here' }) }
}

/** Looks at what was passed on, as the queue does. */
export async function compareNow(server: TestServer): Promise<void> {
  await server.drain()
  await server.database.pool.query("SELECT queue_job('compare_shadow', '{}')")
  await server.drain()
}

/** Moves past the time after which triggers are compared in any case. */
export async function settle(server: TestServer, minutes = 11): Promise<void> {
  await server.drain()
  server.clock.advance({ minutes })
  await compareNow(server)
}

export async function reportOf({ here }: Shadowed) {
  const answer = await here.get('/v2/shadow/report')
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body
}

export async function differencesOf({ here }: Shadowed, query = '') {
  const answer = await here.get(`/v2/shadow/differences${query}`)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body.data
}
