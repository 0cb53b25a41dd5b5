// Every operation is tried by everybody: who may, who may not, and what happens to those of another organization.
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../src/db/core/tables.ts'
import { bodyFor as fittingBody } from './fuzz-requests.ts'
import { type Operation as Described, operationsOf } from './openapi.ts'
import { newSession, PersonApi, sendAs, signInAs } from './people.ts'
import { credential, homeWord, knownFor, type Planted, plant } from './planted.ts'
import { type Route, useRouteTable } from './route-table.ts'
import { type Answer, type Api, useServer } from './server.ts'

const routes = useRouteTable()
const server = useServer()

type Operation = Pick<Route, 'method' | 'path'>

/** What takes no one's leave: health, providers and identity providers that report back, and getting in. */
const isPublic = ({ method, path }: Operation) =>
  /^GET \/(health\/|metrics$)|^(GET|POST) \/v1\/auth\/(options|links\/look-up|set-up|sign-in|sign-out|password-reset|oidc\/start|invitations\/accept)$|^GET \/v1\/integrations\/chat\/oauth\/callback$|^(GET|POST) \/(v2\/inbound-webhooks|webhooks)\//.test(
    `${method} ${path}`,
  )
/** For subscribers in their browsers, who have tokens of another kind. */
const isSession = ({ method, path }: Operation) => `${method} ${path}` === 'POST /v1/inbox/session'
const isInbox = ({ path }: Operation) => path.startsWith('/v1/inbox/')
/** What a browser is shown before anybody has said who they are. Nothing in it is anybody's. */
const pages = [
  ...['/', '/docs', '/docs/scalar.js', '/openapi.json', '/demo', '/metrics', '/favicon.svg', '/theme.js', '/inbox.js'],
  '/v1/auth/oidc/callback',
]
/** These look at their callers themselves: sockets have the token of an inbox, the demo is for whoever sits at the machine. */
const isGuarded = ({ path }: Operation) => /^\/(socket\.io|v1\/demo)(\/|$)/.test(path)
const isPage = (operation: Operation) =>
  isGuarded(operation) ||
  (operation.method === 'GET' && (pages.includes(operation.path) || operation.path.endsWith('*')))

const isForPeople = (operation: Operation) =>
  operation.path.startsWith('/v1/auth/') && !isPublic(operation) && !isPage(operation)

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
  [/^GET \/v1\/environments\/api-keys$/, 'owner'],
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

let own: Route[]
let operations: Described[]
let home: Organization

beforeAll(async () => {
  if (routes.length < 200) throw new Error(`only ${routes.length} routes are there`)
  own = routes.filter((route) => !isPublic(route) && !isInbox(route) && !isPage(route))
  operations = await operationsOf(server.api)
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

test('every route is for somebody: those that ask for nobody are listed here, one by one', () => {
  const open = routes.filter(({ config }) => config.public && !config.inbox)
  const names = (list: Operation[]) => list.map(({ method, path }) => `${method} ${path}`).sort()
  expect(names(open)).toEqual(names(routes.filter((route) => isPublic(route) || isPage(route) || isSession(route))))
  expect(names(routes.filter(({ config }) => config.inbox))).toEqual(
    names(routes.filter((route) => isInbox(route) && !isSession(route))),
  )
  expect(names(routes.filter(({ config }) => config.people))).toEqual(names(routes.filter(isForPeople)))
  expect(pages.filter((path) => !routes.some((route) => route.path === path))).toEqual([])
})

test('every line of the policy is about something', () => {
  const used = new Set(
    own.map(({ method, path }) => policy.findIndex(([pattern]) => pattern.test(`${method} ${path}`))),
  )
  expect([...used].sort((a, b) => a - b)).toEqual(policy.map((_, index) => index))
})

test('the description says which role an operation takes', async () => {
  const { body } = await server.api.get('/openapi.json')
  for (const operation of own.filter(({ isHidden }) => !isHidden))
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

test("a subscriber's token opens the inbox and nothing else, and nothing else opens the inbox", async () => {
  const { development: api, inbox, owner } = await plant(server)
  await owner.get('/v1/auth/session')
  const before = await everythingStored()
  for (const operation of own) {
    const answer = await sendAs(server.url, operation.method, filled(operation), bodyFor(operation), {
      authorization: `Bearer ${inbox.token}`,
    })
    expect([operation.method, operation.path, answer.status]).toEqual([operation.method, operation.path, 401])
  }
  const others = [sendAs.bind(undefined, server.url), api.send.bind(api), owner.send.bind(owner)]
  for (const operation of routes.filter((route) => isInbox(route) && !isSession(route)))
    for (const send of others) {
      const answer = await send(operation.method, filled(operation), bodyFor(operation))
      expect([operation.method, operation.path, answer.status]).toEqual([operation.method, operation.path, 401])
    }
  expect(await everythingStored()).toEqual(before)
}, 300_000)

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
  }, 300_000)
})

test('an API key may do everything but what is for people', async () => {
  for (const operation of own) {
    // One operation replaces the key it comes with.
    const api = await server.freshApi()
    const answer = await api.send(operation.method, filled(operation), bodyFor(operation))
    const expected = isForPeople(operation) ? '403 people_only' : expect.not.stringMatching(turnedAway)
    expect([operation.method, operation.path, codeOf(answer)]).toEqual([operation.method, operation.path, expected])
  }
}, 300_000)

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
})

describe('what is here, named by its id,', () => {
  let theirs: Planted

  beforeAll(async () => {
    theirs = await plant(server)
  })

  test('is of every kind that a path can name', () => {
    const names = own.flatMap(({ path }) =>
      [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => [path, name] as const),
    )
    expect(names.filter(([path, name]) => knownFor(theirs.ids, path, name) === undefined)).toEqual([])
  })

  /** All environments of an organization have these in common, so that a key of one is good for all of them. */
  const isShared = ({ path }: Operation) =>
    /^\/v[12]\/(environments|environment-variables|organizations|auth|audit)(\/|$)/.test(path)

  interface Caller {
    open: () => Promise<Api>
    concerns: (operation: Operation) => boolean
    /** What is here and stays as it is; of another environment, what is its own is not. */
    stored: () => Promise<Record<string, unknown[]>>
    /** Where the answer is another than that there is no such thing. */
    otherwise: Record<string, string>
  }
  // A preview of what is not there is an empty one; where no bridge is, there is nothing to look for.
  const previews = {
    'POST /v2/workflows/{workflowId}/step/{stepId}/preview': '201 ',
    'POST /v1/bridge/preview/{workflowId}/{stepId}': '400 bridge_not_configured',
  }
  // These have always said it so, and clients know them by it.
  const elsewhere = {
    ...previews,
    'PUT /v1/environments/{environmentId}': '401 environment_to_update_not_found',
    'POST /v2/environments/{targetEnvironmentId}/diff': '400 publish_environment_not_found',
    'POST /v2/environments/{targetEnvironmentId}/publish': '400 publish_environment_not_found',
  }
  /** Of names that can be in both places the caller has one too, so that it is the id behind it that is not found. */
  const withAda = async (api: Api) => {
    expect((await api.post('/v2/subscribers', { subscriberId: 'ada' })).status).toBe(201)
    return api
  }
  const callers: Array<[string, () => Promise<Caller>]> = [
    [
      'the owner of another organization',
      async () => {
        const stranger = await signInAs(server, await withAda((await server.freshOrganization()).development), 'owner')
        return {
          open: async () => new PersonApi(stranger, { ...stranger, token: await newSession(server, stranger.id) }),
          concerns: () => true,
          stored: () => storedIn(theirs),
          otherwise: elsewhere,
        }
      },
    ],
    [
      'a key of another organization',
      async () => ({
        open: async () => withAda((await server.freshOrganization()).development),
        concerns: (operation) => !isForPeople(operation),
        stored: () => storedIn(theirs),
        otherwise: elsewhere,
      }),
    ],
    [
      'the key of another environment',
      async () => ({
        open: () => withAda(theirs.production),
        concerns: (operation) => !isShared(operation),
        stored: () => {
          const { development, production } = theirs
          return rowsWhere((row) => row.includes(development.environmentId) && !row.includes(production.environmentId))
        },
        otherwise: { ...previews, 'PUT /v1/integrations/{integrationId}': '403 foreign_environment' },
      }),
    ],
  ]

  /** Those its schema takes: one that is refused for its form says nothing about who may. With ids in them that are known here. */
  const bodiesOf = (operation: Operation): unknown[] => {
    const described = operations.find(({ method, path }) => method === operation.method && path === operation.path)
    if (!described?.body) return [bodyFor(operation)]
    return fc.sample(
      fittingBody(described, () => theirs.ids),
      { numRuns: 40, seed: 9 },
    )
  }

  test.each(callers)(
    'is neither changed by %s nor told, and not found by its id',
    async (_, meet) => {
      const { open, concerns, stored, otherwise } = await meet()
      let caller = await open()
      const before = await stored()
      const got: Record<string, string> = {}
      // What they have themselves goes last.
      const endsIt = ({ method, path }: Operation) => method === 'DELETE' || path.endsWith('/erase')
      const tried = own.filter(concerns)
      for (const operation of [...tried.filter((each) => !endsIt(each)), ...tried.filter(endsIt)]) {
        const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name)
        const ids = names.map((name) => knownFor(theirs.ids, operation.path, name)?.[0] ?? 'x')
        const path = filled(operation, (name) => ids[names.indexOf(name)] ?? 'x')
        // Names that people give may exist on both sides; an id is in one place only.
        const hasId = ids.some((id) => /^([0-9a-f]{24}|evt_.*)$/.test(id))
        const title = `${operation.method} ${operation.path}`
        for (const body of bodiesOf(operation)) {
          const send = () => caller.send(operation.method, path, body as object)
          let answer = await send()
          if (answer.status === 401) {
            // The one before ended its session, or replaced its key.
            caller = await open()
            answer = await send()
          }
          for (const word of [homeWord, credential]) expect([title, answer.text.includes(word)]).toEqual([title, false])
          if (hasId) got[title] = codeOf(answer)
          if (answer.status !== 422) break
        }
      }
      const isAsExpected = ([title, code]: [string, string]) =>
        otherwise[title] === undefined ? code.startsWith('404 ') : code === otherwise[title]
      expect(Object.entries(got).filter((each) => !isAsExpected(each))).toEqual([])
      expect(Object.keys(otherwise).filter((title) => got[title] === undefined)).toEqual([])
      expect(await stored()).toEqual(before)
    },
    120_000,
  )
})

/** Every row, but for what every request leaves behind. */
async function everythingStored(): Promise<Record<string, unknown[]>> {
  return rowsWhere(() => true)
}

async function storedIn({
  development,
  production,
}: Pick<Planted, 'development' | 'production'>): Promise<Record<string, unknown[]>> {
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
