// Tries every operation with every kind of caller: all roles, strangers, and members of another organization.
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../src/db/core/tables.ts'
import { plainScopes } from '../src/http/edge/scopes.ts'
import { bodyFor as fittingBody } from './fuzz-requests.ts'
import { type Operation as Described, operationsOf } from './openapi.ts'
import { newSession, PersonApi, sendAs, signInAs } from './people.ts'
import { credential, homeWord, knownFor, type Planted, plant } from './planted.ts'
import { type Route, useRouteTable } from './route-table.ts'
import { type Answer, type Api, useServer } from './server.ts'
import { storedRows } from './stored-rows.ts'

const routes = useRouteTable()
const server = useServer()

type Operation = Pick<Route, 'method' | 'path'>

/** Operations without authentication: health, reports from providers and identity providers, and sign-in. */
const isPublic = ({ method, path }: Operation) =>
  /^GET \/(health\/|metrics$)|^(GET|POST) \/v1\/auth\/(options|links\/look-up|set-up|sign-in|sign-out|password-reset|forgot-password|second-step|passkey-challenge|passkey-sign-in|oidc\/start|invitations\/accept)$|^GET \/v1\/integrations\/chat\/oauth\/callback$|^(GET|POST) \/(v2\/inbound-webhooks|webhooks|l|a)\//.test(
    `${method} ${path}`,
  )
/** For subscribers in browsers, who have inbox tokens. */
const isSession = ({ method, path }: Operation) => `${method} ${path}` === 'POST /v1/inbox/session'
const isInbox = ({ path }: Operation) => path.startsWith('/v1/inbox/')
/** Pages served before sign-in. They contain no data. */
const pages = [
  ...['/', '/docs', '/docs/scalar.js', '/openapi.json', '/demo', '/metrics', '/favicon.svg', '/inbox.js'],
  '/push-worker.js',
  '/v1/auth/oidc/callback',
]
/** These check their callers themselves: sockets need an inbox token, the demo only answers on this machine. */
const isGuarded = ({ path }: Operation) => /^\/(socket\.io|v1\/demo)(\/|$)/.test(path)
const isPage = (operation: Operation) =>
  isGuarded(operation) ||
  (operation.method === 'GET' && (pages.includes(operation.path) || operation.path.endsWith('*')))

/** Deciding about publishing, which a key must not do for a person. */
const isDecision = ({ method, path }: Operation) =>
  /^(POST \/v2\/environments\/\{\w+\}\/publish-requests\/\{\w+\}\/(approve|decline)|PATCH \/v2\/environments\/\{\w+\}\/protection)$/.test(
    `${method} ${path}`,
  )
/** Who has a workflow open. */
const isPresence = ({ method, path }: Operation) => `${method} ${path}` === 'PUT /v2/workflows/{workflowId}/presence'
/** Whose inbox the dashboard shows. */
const isInboxPreview = ({ method, path }: Operation) =>
  `${method} ${path}` === 'POST /v2/environments/{environmentId}/inbox-preview'
const isForPeople = (operation: Operation) =>
  (operation.path.startsWith('/v1/auth/') && !isPublic(operation) && !isPage(operation)) ||
  isDecision(operation) ||
  isPresence(operation) ||
  isInboxPreview(operation)

/** The policy. The first matching line counts. */
const policy: Array<[operation: RegExp, role: Role]> = [
  // One's own account and organization.
  [
    /^\S+ \/v1\/auth\/(session|sessions|sessions\/\{sessionId\}|me|sign-out-everywhere|views|views\/\{viewId\}|proof|proof\/challenge|factors(\/.*)?)$/,
    'viewer',
  ],
  [/^DELETE \/v1\/auth\/members\/\{memberId\}\/factors$/, 'owner'],
  [/^GET \/v1\/auth\/(members|publish-requests)$/, 'viewer'],
  [/^\S+ \/v1\/(auth|audit)(\/|$)/, 'admin'],
  // Read-only, although they take a body.
  [/^POST \/v2\/(workflows|layouts)\/.*\/(preview|check)$/, 'viewer'],
  [/^POST \/v1\/(simulations|explain)$/, 'viewer'],
  [/^POST \/v2\/environments\/\{\w+\}\/(diff|impact)$/, 'viewer'],
  [/^PUT \/v2\/workflows\/\{workflowId\}\/presence$/, 'viewer'],
  [/^POST \/v1\/suppressions\/check$/, 'viewer'],
  [/^POST \/v2\/workflows\/\{workflowId\}\/release-brake$/, 'admin'],
  // Lets somebody be written to again, or concerns the whole list.
  [/^\S+ \/v1\/suppressions\/(import|export)$|^DELETE \/v1\/suppressions\//, 'admin'],
  // Whoever edits the source asks, whatever they are in the target.
  [/^POST \/v2\/environments\/\{\w+\}\/publish-requests(\/\{\w+\}\/withdraw)?$/, 'viewer'],
  // Secrets, cost, or shared by everybody.
  [/^GET \/(v1\/environments\/api-keys|v2\/signing-secrets)$/, 'owner'],
  [/^\S+ \/v2\/(api-keys|signing-secrets)(\/|$)/, 'admin'],
  [/^POST \/v1\/integrations\/(chat|channel-connections|channel-endpoints)\/oauth$/, 'editor'],
  [/^(?!GET)\S+ \/v1\/(integrations|environments|environment-variables|organizations)(\/|$)/, 'admin'],
  [/^POST \/v2\/environments\/\{\w+\}\/inbox-preview$/, 'editor'],
  [/^(?!GET)\S+ \/v2\/(webhooks|environments)\//, 'admin'],
  [/^PUT \/v2\/workflows\/\{workflowId\}\/sync$|^POST \/v1\/bridge\/sync$/, 'admin'],
  [/^PATCH \/v2\/definitions\/settings$/, 'admin'],
  [/^PUT \/v2\/guards$/, 'admin'],
  [/^PATCH \/v2\/shadow$/, 'admin'],
  // Exports or erases all data of a person.
  [/^\S+ \/v2\/(erasures(\/|$)|subscribers\/\{subscriberId\}\/(erase|export)$)/, 'admin'],
  // Everything else: viewers read, editors change.
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
  if (routes.length < 200) throw new Error(`only ${routes.length} routes are registered`)
  own = routes.filter((route) => !isPublic(route) && !isInbox(route) && !isPage(route))
  operations = await operationsOf(server.api)
  home = await server.freshOrganization()
})

/** The path with each parameter replaced by a value. */
const filled = ({ path }: Operation, value: (name: string) => string = () => 'x') =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(value(name)))
const bodyFor = ({ method }: Operation) => (method === 'GET' ? undefined : {})
/** Refused before the operation itself could answer, for example that `x` does not exist. */
const turnedAway =
  /^5|(not_signed_in|insufficient_role|insufficient_scope|organization_key_needed|foreign_environment|publish_refused|cross_site_request|people_only|missing_authorization|api_key_not_found)$/
const codeOf = ({ status, body }: Answer) => `${status} ${body?.code ?? ''}`

test('every route requires a caller, except those listed here one by one', () => {
  const open = routes.filter(({ config }) => config.public && !config.inbox)
  const names = (list: Operation[]) => list.map(({ method, path }) => `${method} ${path}`).sort()
  expect(names(open)).toEqual(names(routes.filter((route) => isPublic(route) || isPage(route) || isSession(route))))
  expect(names(routes.filter(({ config }) => config.inbox))).toEqual(
    names(routes.filter((route) => isInbox(route) && !isSession(route))),
  )
  expect(names(routes.filter(({ config }) => config.people))).toEqual(names(routes.filter(isForPeople)))
  expect(pages.filter((path) => !routes.some((route) => route.path === path))).toEqual([])
})

test('every line of the policy matches an operation', () => {
  const used = new Set(
    own.map(({ method, path }) => policy.findIndex(([pattern]) => pattern.test(`${method} ${path}`))),
  )
  expect([...used].sort((a, b) => a - b)).toEqual(policy.map((_, index) => index))
})

test('the API description states the role an operation requires', async () => {
  const { body } = await server.api.get('/openapi.json')
  for (const operation of own.filter(({ isHidden }) => !isHidden))
    expect([operation.path, body.paths[operation.path][operation.method.toLowerCase()]['x-role']]).toEqual([
      operation.path,
      neededFor(operation),
    ])
})

test('without a key or a session every operation is refused', async () => {
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

test("a subscriber's token opens only the inbox, and nothing else opens the inbox", async () => {
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

/** Somebody who signs in again where the last operation ended the session: a new one is not refused for that. */
class LastingCaller {
  #person: PersonApi

  constructor(person: PersonApi) {
    this.#person = person
  }

  async send(place: Api, operation: Operation, path: string): Promise<Answer> {
    const send = () => this.#person.at(place).send(operation.method, path, bodyFor(operation))
    const answer = await send()
    if (answer.status !== 401) return answer
    this.#person = new PersonApi(place, { ...this.#person, token: await newSession(server, this.#person.id) })
    return send()
  }
}

/**
 * Without roles in single environments, the one in the organization counts everywhere. In Production it is enough to try the least
 * role that suffices and the greatest that does not: what each role includes is the same list there.
 */
const inEnvironments = (role: Role, list: Route[]): Array<[Route, Api]> => [
  ...list.map((operation): [Route, Api] => [operation, home.development]),
  ...list
    .filter((operation) => [0, 1].includes(roles.indexOf(neededFor(operation)) - roles.indexOf(role)))
    .map((operation): [Route, Api] => [operation, home.production]),
]

describe.each(roles)('a person with the role %s', (role) => {
  test('may do what requires that role or less; anything else is refused and changes nothing', async () => {
    const person = await signInAs(server, home.development, role)
    const refused = own.filter((operation) => !suffices(role, operation))
    const before = await everythingStored()
    for (const [operation, place] of inEnvironments(role, refused)) {
      const answer = await person.at(place).send(operation.method, filled(operation), bodyFor(operation))
      expect([operation.method, operation.path, codeOf(answer)]).toEqual([
        operation.method,
        operation.path,
        '403 insufficient_role',
      ])
      expect(answer.body.ctx).toMatchObject({ role, needed: neededFor(operation) })
    }
    expect(await everythingStored()).toEqual(before)

    const caller = new LastingCaller(person)
    for (const [operation, place] of inEnvironments(
      role,
      own.filter((each) => suffices(role, each)),
    )) {
      const answer = await caller.send(place, operation, filled(operation))
      expect([operation.method, operation.path, codeOf(answer)]).not.toEqual([
        operation.method,
        operation.path,
        expect.stringMatching(turnedAway),
      ])
    }
  }, 300_000)
})

/** A role in the organization, and another in Production. With the same in both they are like those above. */
const limited = (['viewer', 'editor'] as const).flatMap((role) =>
  (['none', 'viewer', 'editor', 'admin'] as const).filter((there) => there !== role).map((there) => ({ role, there })),
)
/** The role there must not count in Development: the greatest may not raise the least one here, nor the least lower the greatest. */
const tellsInDevelopment = ({ role, there }: (typeof limited)[number]) =>
  role === 'viewer' ? there === 'admin' : there === 'none'

describe.each(limited)('a person who is $role, and $there in one environment,', ({ role, there }) => {
  test('may do in each environment what their role there allows, and in the organization what theirs there allows', async () => {
    const place = await server.freshOrganization()
    const person = await signInAs(server, place.development, role)
    await server.database.db
      .updateTable('users')
      .set({ environment_roles: JSON.stringify({ [place.production.environmentId]: there }) })
      .where('id', '=', person.id)
      .execute()
    const places = tellsInDevelopment({ role, there }) ? [place.development, place.production] : [place.production]
    const tries = places.flatMap((at) =>
      own.map((operation) => {
        const here = at === place.production ? there : role
        const counting = rolesCounting(operation).map((which) => (which === 'environment' ? here : role))
        const checks = counting.map((one) => ({ role: one, needed: neededFor(operation) }))
        // Asking also takes an editor of the source, which is Development.
        if (isAsking(operation) && at === place.production) checks.push({ role, needed: 'editor' })
        const lacking = checks.find((check) => !hasRank(check.role, check.needed))
        const path = filled(operation, (name) => (/environmentId$/i.test(name) ? at.environmentId : 'x'))
        return { operation, at, path, lacking }
      }),
    )
    const before = await everythingStored()
    const wrong: unknown[] = []
    for (const { operation, at, path, lacking } of tries.filter((one) => one.lacking !== undefined)) {
      const { method } = operation
      const answer = await person.at(at).send(method, path, bodyFor(operation))
      const got = [codeOf(answer), answer.body?.ctx?.role, answer.body?.ctx?.needed]
      if (!isDeepStrictEqual(got, ['403 insufficient_role', lacking?.role, lacking?.needed]))
        wrong.push([method, path, lacking, ...got])
    }
    expect(wrong).toEqual([])
    expect(await everythingStored()).toEqual(before)
    const caller = new LastingCaller(person)
    for (const { operation, at, path } of tries.filter((one) => one.lacking === undefined)) {
      const code = codeOf(await caller.send(at, operation, path))
      if (turnedAway.test(code)) wrong.push([operation.method, path, code])
    }
    expect(wrong).toEqual([])
  }, 300_000)
})

const hasRank = (role: Role | 'none', needed: Role) =>
  ['none', ...roles].indexOf(role) >= ['none', ...roles].indexOf(needed)

const isAsking = ({ method, path }: Operation) => method === 'POST' && path.endsWith('/publish-requests')

/** Whose roles an operation asks for, in this order. */
function rolesCounting(operation: Operation): Array<'environment' | 'organization'> {
  const name = `${operation.method} ${operation.path}`
  if (isPresence(operation) || isInboxPreview(operation)) return ['environment']
  if (isForPeople(operation) && !isDecision(operation)) return ['organization']
  if (/^PATCH \/v1\/organizations\/settings$|^PATCH \/v2\/environments\/\{\w+\}\/doors$/.test(name))
    return ['organization']
  // Ends something that all environments share.
  if (/^DELETE \/v1\/(environments|environment-variables)\/\{\w+\}$/.test(name)) return ['environment', 'organization']
  return ['environment']
}

/** What an API key needs, apart from the list in the service. The first matching line counts. */
const scopePolicy: Array<[operation: RegExp, scope: string]> = [
  [/^\S+ \/v2\/environments\/\{\w+\}\/((diff|impact|publish)$|publish-requests)|\/sync$(?<!bridge\/sync)/, 'publish'],
  [/^GET \/(v1\/audit(\/verify|\/export)?|v1\/environments\/api-keys|v2\/api-keys|v2\/signing-secrets)$/, 'administer'],
  [/^GET \/(v2\/(erasures|subscribers\/\{subscriberId\}\/export)|v1\/suppressions\/export)/, 'write:subscribers'],
  [
    /^GET |^POST \/(v2\/(workflows|layouts)\/.*\/(preview|check|versions\/compare)|v1\/(suppressions\/check|simulations|explain))$/,
    'read',
  ],
  [/^\S+ \/(v1\/(events|clock)|v2\/(events|questions))(\/|$)/, 'send'],
  [/^PATCH \/v2\/definitions\/settings$/, 'administer'],
  [/^POST \/v2\/outbox\/refused\/retry$/, 'send'],
  [/^POST \/v2\/import\/topic-subscriptions$/, 'write:topics'],
  [/^POST \/v2\/import\/messages$/, 'write:messages'],
  [/^POST \/v2\/import\/(subscribers|preferences|credentials)$/, 'write:subscribers'],
  [/^\S+ \/v[12]\/(workflows|workflow-overrides|bridge|notification-groups|definitions)(\/|$)/, 'write:workflows'],
  [/^\S+ \/v[12]\/layouts(\/|$)/, 'write:layouts'],
  [/^\S+ \/v2\/translations(\/|$)/, 'write:translations'],
  [/^\S+ \/v[12]\/(subscribers|suppressions)(\/|$)/, 'write:subscribers'],
  [/^\S+ \/v[12]\/(topics|rotas)(\/|$)/, 'write:topics'],
  [/^\S+ \/v[12]\/(contexts|tenants)(\/|$)/, 'write:contexts'],
  [/^\S+ \/v1\/(integrations|channel-connections|channel-endpoints)(\/|$)/, 'write:integrations'],
  [/^\S+ \/v1\/(messages|notifications|deliveries|sandbox)(\/|$)/, 'write:messages'],
  [/^\S+ \/v2\/webhooks\//, 'write:webhooks'],
  // Environments, variables, keys and the organization.
  [/^/, 'administer'],
]
const scopeFor = ({ method, path }: Operation) =>
  scopePolicy.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1] ?? ''
/** Without the environment that it may publish into. */
const kindOf = (scope: string) => (scope.startsWith('publish:') ? 'publish' : scope)
/** Concerns all environments, whatever the body says. */
const isForOrganization = ({ method, path }: Operation) =>
  /^(POST \/v1\/environments|DELETE \/v1\/environment-variables\/\{variableKey\}|PATCH \/v1\/organizations\/settings|PATCH \/v2\/environments\/\{environmentId\}\/doors)$/.test(
    `${method} ${path}`,
  )
/** Its path names the environment that it acts on. */
const namesEnvironment = ({ path }: Operation) => /^\/v[12]\/environments\/\{\w+\}/.test(path)

describe('API keys:', () => {
  test('the list of the service and the one above agree, and every line is needed', async () => {
    const { body } = await server.api.get('/openapi.json')
    const forKeys = own.filter((operation) => !isForPeople(operation))
    for (const operation of forKeys.filter(({ isHidden }) => !isHidden))
      expect([operation.path, body.paths[operation.path][operation.method.toLowerCase()]['x-scope']]).toEqual([
        operation.path,
        scopeFor(operation),
      ])
    expect([...new Set(forKeys.map(scopeFor))].sort()).toEqual([...plainScopes, 'publish'].sort())
  })

  // A key of one environment is tried there with every scope. Whose key it is, and where it is used, is decided by other rules, and
  // only for keys whose scope suffices: there, each route meets the scope that it needs, the one that includes all, and another.
  test('every route meets the scopes of both kinds of keys, in both environments', async () => {
    const { development, production } = await server.freshOrganization()
    const scopes = [...plainScopes, `publish:${production.environmentId}`]
    const tries: Array<{ title: string; send: () => Promise<Answer>; expected: string | undefined }> = []
    for (const owner of ['environment', 'organization'] as const)
      for (const [place, scope] of scopes.entries()) {
        const key = await server.keyFor(development, [scope], owner)
        for (const at of [development, production])
          for (const [index, operation] of own.entries()) {
            const isPlain = owner === 'environment' && at === development
            const isAnother =
              (index + (owner === 'environment' ? 0 : 1) + (at === development ? 0 : 2)) % scopes.length === place
            const isEnough = scope === 'administer' || kindOf(scope) === scopeFor(operation)
            if (!isPlain && !isAnother && !isEnough) continue
            const path = filled(operation, (name) => (/environmentId$/i.test(name) ? at.environmentId : 'x'))
            const headers = { 'belfry-environment': at.environmentId }
            tries.push({
              title: `${owner} ${scope} ${at === development ? 'own' : 'other'} ${operation.method} ${operation.path}`,
              send: () => key.send(operation.method, path, bodyFor(operation), headers),
              expected: refusalOf(operation, { scope, owner, isOwn: at === development }),
            })
          }
      }
    const wrong: string[] = []
    const run = async (list: typeof tries, atOnce: number) => {
      for (let first = 0; first < list.length; first += atOnce)
        await Promise.all(
          list.slice(first, first + atOnce).map(async ({ title, send, expected }) => {
            const code = codeOf(await send())
            if (expected === undefined ? turnedAway.test(code) : code !== expected)
              wrong.push(`${title}: ${code} instead of ${expected ?? 'an answer'}`)
          }),
        )
    }
    const before = await everythingStored()
    const refused = tries.filter(({ expected }) => expected !== undefined)
    await run(refused, 20)
    expect(wrong).toEqual([])
    expect(await everythingStored()).toEqual(before)
    await run(
      tries.filter(({ expected }) => expected === undefined),
      5,
    )
    expect(wrong).toEqual([])
    process.stdout.write(
      `access: ${tries.length} requests to ${own.length} routes with ${scopes.length} scopes of 2 kinds of keys, ${refused.length} of them refused\n`,
    )
  }, 600_000)

  /** The code of the refusal, or undefined if the operation itself answers. */
  function refusalOf(
    operation: Operation,
    { scope, owner, isOwn }: { scope: string; owner: string; isOwn: boolean },
  ): string | undefined {
    if (isForPeople(operation)) return '403 people_only'
    const needed = scopeFor(operation)
    const kind = kindOf(scope)
    if (kind !== 'administer' && kind !== needed) return '403 insufficient_scope'
    if (owner === 'organization') return undefined
    if (isForOrganization(operation)) {
      // A wrong body is refused before.
      return operation.path === '/v1/environments' ? undefined : '403 organization_key_needed'
    }
    if (isOwn || !namesEnvironment(operation)) return undefined
    if (needed === 'publish') return kind === 'publish' ? undefined : '403 publish_refused'
    return '403 foreign_environment'
  }
})

describe('the owner of another organization', () => {
  let stranger: PersonApi

  beforeAll(async () => {
    const { development } = await server.freshOrganization()
    stranger = await signInAs(server, development, 'owner')
  })

  test('cannot select an environment here, for any operation', async () => {
    const headers = { 'belfry-environment': home.production.environmentId }
    for (const operation of own) {
      const answer = await stranger.send(operation.method, filled(operation), bodyFor(operation), headers)
      expect([operation.path, codeOf(answer)]).toEqual([operation.path, '404 environment_not_found'])
    }
  })
})

describe('a record of this environment, addressed by its id,', () => {
  let theirs: Planted

  beforeAll(async () => {
    theirs = await plant(server)
    await withAda(theirs.production)
  })

  test('exists for every kind that a path can name', () => {
    const names = own.flatMap(({ path }) =>
      [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => [path, name] as const),
    )
    expect(names.filter(([path, name]) => knownFor(theirs.ids, path, name) === undefined)).toEqual([])
  })

  interface Caller {
    open: () => Promise<Api>
    concerns: (operation: Operation) => boolean
    /** Rows that must not change; from another environment, that environment's own rows may. */
    stored: () => Promise<Record<string, unknown[]>>
    /** Operations whose refusal differs from "not found". */
    otherwise: Record<string, string>
  }
  // A preview of a missing step is empty; without a bridge there is nothing to look for.
  const previews = {
    'POST /v2/workflows/{workflowId}/step/{stepId}/preview': '201 ',
    'POST /v1/bridge/preview/{workflowId}/{stepId}': '400 bridge_not_configured',
  }
  // Kept as they are, because clients know these answers.
  const elsewhere = {
    ...previews,
    'PUT /v1/environments/{environmentId}': '401 environment_to_update_not_found',
    'POST /v2/environments/{targetEnvironmentId}/diff': '400 publish_environment_not_found',
    'POST /v2/environments/{targetEnvironmentId}/impact': '400 publish_environment_not_found',
    'POST /v2/environments/{targetEnvironmentId}/publish': '400 publish_environment_not_found',
    'POST /v2/environments/{targetEnvironmentId}/publish-requests': '400 publish_environment_not_found',
  }
  // A key is told that an environment is not its own before it is told whether it exists.
  const notItsOwn = {
    'PUT /v1/environments/{environmentId}': '403 foreign_environment',
    'DELETE /v1/environments/{environmentId}': '403 foreign_environment',
    'GET /v2/environments/{environmentId}/tags': '403 foreign_environment',
    'GET /v2/environments/{environmentId}/retention': '403 foreign_environment',
    'PATCH /v2/environments/{environmentId}/retention': '403 foreign_environment',
    'GET /v2/environments/{environmentId}/inbox-access': '403 foreign_environment',
    'PATCH /v2/environments/{environmentId}/inbox-access': '403 foreign_environment',
    'GET /v2/environments/{environmentId}/consent': '403 foreign_environment',
    'PATCH /v2/environments/{environmentId}/consent': '403 foreign_environment',
    'DELETE /v2/environments/{environmentId}/inbox-sessions': '403 foreign_environment',
    'GET /v2/environments/{environmentId}/doors': '403 foreign_environment',
    'GET /v2/environments/{environmentId}/protection': '403 foreign_environment',
    'PATCH /v2/environments/{environmentId}/doors': '403 organization_key_needed',
  }
  /** Names may exist on both sides: the caller has its own, so that only the id behind it is not found. */
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
        otherwise: { ...elsewhere, ...notItsOwn },
      }),
    ],
    [
      'the key of another environment',
      async () => ({
        open: async () => server.keyFor(theirs.production, ['administer']),
        concerns: (operation) => !isForPeople(operation),
        stored: () => {
          const { development, production } = theirs
          return rowsWhere((row) => row.includes(development.environmentId) && !row.includes(production.environmentId))
        },
        otherwise: {
          ...previews,
          ...notItsOwn,
          'PUT /v1/integrations/{integrationId}': '403 foreign_environment',
          'POST /v2/environments/{targetEnvironmentId}/diff': '403 publish_refused',
          'POST /v2/environments/{targetEnvironmentId}/impact': '403 publish_refused',
          'POST /v2/environments/{targetEnvironmentId}/publish': '403 publish_refused',
          'POST /v2/environments/{targetEnvironmentId}/publish-requests': '403 publish_refused',
          // It is the target; of requests it sees those from its own environment, so none.
          'GET /v2/environments/{targetEnvironmentId}/publish-requests': '200 ',
        },
      }),
    ],
  ]

  /** Bodies that the schema accepts, with known ids in them: a validation error would prove nothing about access. */
  const bodies = new Map<Operation, unknown[]>()
  const bodiesOf = (operation: Operation): unknown[] => {
    const known = bodies.get(operation) ?? madeUpFor(operation)
    bodies.set(operation, known)
    return known
  }
  const madeUpFor = (operation: Operation): unknown[] => {
    const described = operations.find(({ method, path }) => method === operation.method && path === operation.path)
    if (!described?.body) return [bodyFor(operation)]
    const made = fc.sample(
      fittingBody(described, () => theirs.ids),
      { numRuns: 40, seed: 9 },
    )
    // A workflow of the caller's own with this id as its name would be found by it.
    const isTheirs = (body: unknown) =>
      theirs.ids.workflowId?.includes((body as { workflowId?: string }).workflowId ?? '')
    return operation.path === '/v2/workflows' ? made.filter((body) => !isTheirs(body)) : made
  }

  test.each(callers)(
    'is not found, shown to or changed by %s',
    async (_, meet) => {
      const { open, concerns, stored, otherwise } = await meet()
      let caller = await open()
      const before = await stored()
      const got: Record<string, string> = {}
      // The callers' own records go last.
      const endsIt = ({ method, path }: Operation) => method === 'DELETE' || path.endsWith('/erase')
      const tried = own.filter(concerns)
      for (const operation of [...tried.filter((each) => !endsIt(each)), ...tried.filter(endsIt)]) {
        const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name)
        const ids = names.map((name) => knownFor(theirs.ids, operation.path, name)?.[0] ?? 'x')
        const path = filled(operation, (name) => ids[names.indexOf(name)] ?? 'x')
        // Names may exist on both sides; an id exists in one place only.
        const hasId = ids.some((id) => /^([0-9a-f]{24}|evt_.*)$/.test(id))
        const title = `${operation.method} ${operation.path}`
        for (const body of bodiesOf(operation)) {
          const send = () => caller.send(operation.method, path, body as object)
          let answer = await send()
          if (answer.status === 401) {
            // The previous request ended the session or replaced the key.
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

/** Every row, except what each request records. */
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
  const without = ['rate_buckets', 'idempotency_keys', 'api_key_uses']
  const found = await storedRows(server.database.pool, { without })
  return Object.fromEntries(Object.entries(found).map(([name, rows]) => [name, rows.filter(matches)]))
}
