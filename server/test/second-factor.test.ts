// Tries every operation as somebody who still has to set up a required second factor, and as somebody who signed in long ago.
import { beforeAll, describe, expect, test } from 'vitest'
import { provedOperations } from '../src/http/edge/proof.ts'
import { newSession, PersonApi, signInAs } from './people.ts'
import { type Route, useRouteTable } from './route-table.ts'
import { type Answer, useServer } from './server.ts'

const routes = useRouteTable()
const server = useServer()
let own: Route[]

/** What somebody needs to set up a factor, and nothing else. */
const open = [
  'GET /v1/auth/session',
  'GET /v1/auth/factors',
  'POST /v1/auth/factors/app',
  'POST /v1/auth/factors/app/confirm',
  'POST /v1/auth/factors/passkeys',
  'POST /v1/auth/factors/passkeys/challenge',
  'POST /v1/auth/proof',
  'POST /v1/auth/proof/challenge',
  'POST /v1/auth/sign-out-everywhere',
]

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`
const filled = ({ path }: Route) => path.replaceAll(/\{[^}]+\}/g, 'x')
const bodyFor = ({ method }: Route) => (method === 'GET' ? undefined : {})
const codeOf = ({ status, body }: Answer) => `${status} ${body?.code ?? ''}`

beforeAll(() => {
  own = routes.filter(({ config }) => !config.public && !config.inbox)
  if (own.length < 150) throw new Error(`only ${own.length} routes are registered`)
})

describe('somebody who has to set up a second factor', () => {
  test('can do that and nothing else, whatever their role, on every route', async () => {
    const { development } = await server.freshOrganization()
    for (const role of ['viewer', 'owner'] as const) {
      const person = await signInAs(server, development, role)
      await server.database.db
        .updateTable('organizations')
        .set({ requires_second_factor: true })
        .where('id', '=', development.organizationId)
        .execute()
      const got: string[] = []
      for (const route of own) {
        const caller = new PersonApi(person, { ...person, token: await newSession(server, person.id) })
        const answer = await caller.send(route.method, filled(route), bodyFor(route))
        if (codeOf(answer) !== '403 second_factor_required') got.push(nameOf(route))
      }
      expect(got.sort()).toEqual([...open].sort())
    }
  }, 300_000)

  test('is not let through by another environment, another case or a trailing slash', async () => {
    const { development, production } = await server.freshOrganization()
    const person = await signInAs(server, development, 'owner')
    await server.database.db
      .updateTable('organizations')
      .set({ requires_second_factor: true })
      .where('id', '=', development.organizationId)
      .execute()
    for (const path of ['/v2/subscribers', '/v2/subscribers/', '/v2/subscribers?x=/v1/auth/session', '/v1/demo'])
      for (const place of [development, production])
        expect([path, (await person.at(place).get(path)).status]).toEqual([path, expect.toBeOneOf([403, 404])])
  })
})

describe('somebody who signed in long ago', () => {
  test('is asked again exactly for what is on the list', async () => {
    const { development } = await server.freshOrganization()
    const person = await signInAs(server, development, 'owner')
    const asked: string[] = []
    for (const route of own) {
      const token = await newSession(server, person.id)
      const proved = new Date(server.clock.now().getTime() - 15 * 60_000)
      await server.database.db
        .updateTable('user_sessions')
        .set({ proved_at: proved })
        .where('user_id', '=', person.id)
        .execute()
      const answer = await new PersonApi(person, { ...person, token }).send(route.method, filled(route), bodyFor(route))
      if (codeOf(answer) === '403 proof_needed') asked.push(nameOf(route))
    }
    const listed = [...provedOperations].map((name) => name.replaceAll(/:(\w+)/g, '{$1}'))
    expect(asked.sort()).toEqual(listed.sort())
  }, 300_000)
})
