// Every operation is tried by everybody: who may, who may not, and what happens to those of another organization.
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../src/db/ids.ts'
import type { Role } from '../src/db/tables.ts'
import { insertMessage, insertRun } from './activity.ts'
import { type Operation, operationsOf } from './openapi.ts'
import { newSession, PersonApi, sendAs, signInAs } from './people.ts'
import { type Answer, type Api, useServer } from './server.ts'

const server = useServer()

/** What takes no one's leave: health, providers and identity providers that report back, and getting in. */
const isPublic = ({ method, path }: Operation) =>
  /^GET \/(health\/|metrics$)|^(GET|POST) \/v1\/auth\/(options|links\/look-up|set-up|sign-in|sign-out|password-reset|oidc\/start|invitations\/accept)$|^GET \/v1\/integrations\/chat\/oauth\/callback$|^(GET|POST) \/(v2\/inbound-webhooks|webhooks)\//.test(
    `${method} ${path}`,
  )
/** For subscribers in their browsers, who have tokens of another kind. */
const isInbox = ({ path }: Operation) => path.startsWith('/v1/inbox/')
const isForPeople = (operation: Operation) => operation.path.startsWith('/v1/auth/') && !isPublic(operation)

/** The policy. The first line that fits an operation counts. */
const policy: Array<[operation: RegExp, role: Role]> = [
  // One's own account, and whom one works with.
  [/^\S+ \/v1\/auth\/(session|sessions|sessions\/\{sessionId\}|me|sign-out-everywhere)$/, 'viewer'],
  [/^GET \/v1\/auth\/members$/, 'viewer'],
  [/^\S+ \/v1\/(auth|audit)(\/|$)/, 'admin'],
  // Asked with a body, but changing nothing.
  [/^POST \/v2\/(workflows|layouts)\/.*\/preview$/, 'viewer'],
  [/^POST \/v2\/environments\/\{\w+\}\/diff$/, 'viewer'],
  // What has secrets, costs money, or is everybody's.
  [/^GET \/v1\/environments\/api-keys$/, 'admin'],
  [/^POST \/v1\/integrations\/(chat|channel-connections|channel-endpoints)\/oauth$/, 'editor'],
  [/^(?!GET)\S+ \/v1\/(integrations|environments|environment-variables|organizations)(\/|$)/, 'admin'],
  [/^(?!GET)\S+ \/v2\/(webhooks|environments)\//, 'admin'],
  [/^PUT \/v2\/workflows\/\{workflowId\}\/sync$|^POST \/v1\/bridge\/sync$/, 'admin'],
  // Everything about a person, or nothing any more.
  [/^\S+ \/v2\/(erasures(\/|$)|subscribers\/\{subscriberId\}\/(erase|export)$)/, 'admin'],
  // All else: reading is for everybody, changing for editors.
  [/^GET /, 'viewer'],
  [/^/, 'editor'],
]
type Organization = { development: Api; production: Api }
const roles: Role[] = ['viewer', 'editor', 'admin', 'owner']
const neededFor = ({ method, path }: Operation): Role =>
  policy.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1] ?? 'owner'
const suffices = (role: Role, operation: Operation) => roles.indexOf(role) >= roles.indexOf(neededFor(operation))

let operations: Operation[]
let own: Operation[]
let home: Organization

beforeAll(async () => {
  operations = await operationsOf(server.api)
  if (operations.length < 200) throw new Error(`only ${operations.length} operations are described`)
  own = operations.filter((operation) => !isPublic(operation) && !isInbox(operation))
  home = await server.freshOrganization()
})

/** The path with this in the place of each parameter. */
const filled = ({ path }: Operation, value: (name: string) => string = () => 'x') =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(value(name)))
const bodyFor = ({ method }: Operation) => (method === 'GET' ? undefined : {})
/** Not by what the operation itself has to say, such as that there is no `x`. */
const turnedAway =
  /^5|(not_signed_in|insufficient_role|cross_site_request|people_only|missing_authorization|api_key_not_found)$/
const codeOf = ({ status, body }: Answer) => `${status} ${body?.code ?? ''}`

test('every line of the policy is about something', () => {
  const used = new Set(
    own.map(({ method, path }) => policy.findIndex(([pattern]) => pattern.test(`${method} ${path}`))),
  )
  expect([...used].sort((a, b) => a - b)).toEqual(policy.map((_, index) => index))
})

test('the description says which role an operation takes', async () => {
  const { body } = await server.api.get('/openapi.json')
  for (const operation of own)
    expect([operation.path, body.paths[operation.path][operation.method.toLowerCase()]['x-role']]).toEqual([
      operation.path,
      neededFor(operation),
    ])
})

test('nobody gets anywhere without a key or a session', async () => {
  const got: Record<string, string> = {}
  for (const operation of own) {
    const answer = await sendAs(server.url, operation.method, filled(operation), bodyFor(operation))
    got[`${operation.method} ${operation.path}`] = codeOf(answer)
  }
  const expected = own.map((operation) => [
    `${operation.method} ${operation.path}`,
    isForPeople(operation) ? '401 not_signed_in' : '401 missing_authorization',
  ])
  expect(got).toEqual(Object.fromEntries(expected))
})

describe.each(roles)('a person who is %s', (role) => {
  test('may do what takes that role or less, and nothing else, which changes nothing', async () => {
    const person = await signInAs(server, home.development, role)
    const refused = own.filter((operation) => !suffices(role, operation))
    const before = await everythingStored()
    for (const operation of refused) {
      const answer = await person.send(operation.method, filled(operation), bodyFor(operation))
      expect([operation.method, operation.path, codeOf(answer)]).toEqual([
        operation.method,
        operation.path,
        '403 insufficient_role',
      ])
      expect(answer.body.ctx).toMatchObject({ role, needed: neededFor(operation) })
    }
    expect(await everythingStored()).toEqual(before)

    for (const operation of own.filter((each) => suffices(role, each))) {
      // Some operations end the session they come with.
      const caller = new PersonApi(home.development, { ...person, token: await newSession(server, person.id) })
      const answer = await caller.send(operation.method, filled(operation), bodyFor(operation))
      expect([operation.method, operation.path, codeOf(answer)]).not.toEqual([
        operation.method,
        operation.path,
        expect.stringMatching(turnedAway),
      ])
    }
  }, 120_000)
})

test('an API key may do everything but what is for people', async () => {
  for (const operation of own) {
    // One operation replaces the key it comes with.
    const api = await server.freshApi()
    const answer = await api.send(operation.method, filled(operation), bodyFor(operation))
    const expected = isForPeople(operation) ? '403 people_only' : expect.not.stringMatching(turnedAway)
    expect([operation.method, operation.path, codeOf(answer)]).toEqual([operation.method, operation.path, expected])
  }
}, 120_000)

describe('the owner of another organization', () => {
  let stranger: PersonApi

  beforeAll(async () => {
    const { development } = await server.freshOrganization()
    stranger = await signInAs(server, development, 'owner')
  })

  test('cannot choose an environment here, whatever is asked', async () => {
    const headers = { 'belfry-environment': home.production.environmentId }
    for (const operation of own) {
      const answer = await stranger.send(operation.method, filled(operation), bodyFor(operation), headers)
      expect([operation.path, codeOf(answer)]).toEqual([operation.path, '404 environment_not_found'])
    }
  })

  test('changes nothing here by naming what is here, and is told of nothing', async () => {
    const theirs = await server.freshOrganization()
    const ids = await populate(theirs)
    const before = await storedIn(theirs)
    for (const operation of own) {
      const caller = new PersonApi(stranger, { ...stranger, token: await newSession(server, stranger.id) })
      const path = filled(operation, (name) => ids[name] ?? 'x')
      const answer = await caller.send(operation.method, path, bodyFor(operation))
      const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name)
      // Names that people give may exist on both sides; an id is in one place only.
      const hasId = names.some((name) => /^[0-9a-f]{24}$/.test(ids[name] ?? ''))
      // A preview of what is not there is an empty one.
      const isDone = answer.status < 300 && !operation.path.endsWith('/preview')
      expect([operation.method, operation.path, hasId && isDone]).toEqual([operation.method, operation.path, false])
      expect([operation.path, answer.text]).not.toEqual([operation.path, expect.stringContaining('only known at home')])
    }
    expect(await storedIn(theirs)).toEqual(before)
  }, 120_000)
})

/** One thing of most kinds. @returns what names it, by the name of the parameter */
async function populate({ development: api, production }: Organization): Promise<Record<string, string>> {
  const made = async (path: string, body: object) => {
    const answer = await api.post(path, body)
    expect([path, answer.status, answer.text]).toEqual([path, expect.toBeOneOf([200, 201]), expect.anything()])
    return answer.body
  }
  const secret = 'only known at home'
  await made('/v2/subscribers', { subscriberId: 'ada', firstName: secret })
  const integration = await made('/v1/integrations', {
    providerId: 'sendgrid',
    channel: 'email',
    name: secret,
    credentials: { apiKey: secret },
  })
  const endpoint = await made('/v2/webhooks/endpoints', { url: 'https://example.com/hook', description: secret })
  const workflow = await made('/v2/workflows', {
    name: secret,
    workflowId: 'welcome',
    active: true,
    steps: [{ name: 'Tell', type: 'in_app', controlValues: { body: secret } }],
  })
  const layout = await made('/v2/layouts', { name: secret, layoutId: 'frame' })
  await made('/v2/contexts', { type: 'tenant', id: 'acme', data: { secret } })
  await made('/v1/environment-variables', { key: 'SECRET' })
  const run = await insertRun(server, api, 'ada', { transaction_id: 'first', jobs: [{ type: 'in_app' }] })
  const message = await insertMessage(server, run, { content: secret })
  const member = await signInAs(server, api, 'owner')
  const invitation = await member.post('/v1/auth/invitations', { email: 'eve@example.com', role: 'viewer' })
  expect(invitation.status).toBe(201)
  const sessions = await member.get('/v1/auth/sessions')
  return {
    subscriberId: 'ada',
    externalSubscriberId: 'ada',
    integrationId: integration._id,
    endpointId: endpoint._id,
    workflowId: workflow._id,
    workflowIdOrIdentifier: workflow._id,
    stepId: workflow.steps[0]._id,
    layoutId: layout._id,
    environmentId: api.environmentId,
    targetEnvironmentId: production.environmentId,
    notificationId: run.id,
    messageId: typeof message === 'string' ? message : newId(server.clock.now()),
    transactionId: 'first',
    type: 'tenant',
    id: 'acme',
    variableKey: 'SECRET',
    memberId: member.id,
    invitationId: invitation.body._id,
    sessionId: sessions.body[0]._id,
  }
}

/** Every row, but for what every request leaves behind. */
async function everythingStored(): Promise<Record<string, unknown[]>> {
  return rowsWhere(() => true)
}

async function storedIn({ development, production }: Organization): Promise<Record<string, unknown[]>> {
  const ids = [development.organizationId, development.environmentId, production.environmentId]
  return rowsWhere((row) => ids.some((id) => row.includes(id)))
}

async function rowsWhere(matches: (row: string) => boolean): Promise<Record<string, unknown[]>> {
  const { db } = server.database
  const { rows: tables } = await sql<{ name: string }>`
    SELECT tablename AS name FROM pg_tables
    WHERE schemaname = current_schema() AND tablename NOT IN ('rate_buckets', 'idempotency_keys') ORDER BY 1`.execute(
    db,
  )
  const found = tables.map(async ({ name }) => {
    const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.table(name)} t ORDER BY 1`.execute(db)
    return [name, rows.map(({ row }) => row).filter(matches)] as const
  })
  return Object.fromEntries(await Promise.all(found))
}
