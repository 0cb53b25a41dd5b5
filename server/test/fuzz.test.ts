// Sends every operation generated requests, from callers with and without permission. `npm run fuzz` sends more; a failure
// prints the seed that reproduces it.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MadeUp, requestFor } from './fuzz-requests.ts'
import { type InboxClient, openInbox } from './inbox.ts'
import { expectErrorShape, type JsonSchema, type Operation, operationsOf } from './openapi.ts'
import { newSession, PersonApi, signInAs } from './people.ts'
import { credential, homeWord, type Planted, plant } from './planted.ts'
import { type Answer, Api, useServer } from './server.ts'

const requests = Number(process.env.FUZZ_REQUESTS ?? 6_900)
const seed = Number(process.env.FUZZ_SEED ?? 20_261_115)
const only = process.env.FUZZ_PATH ?? ''
/** Requests to one operation before the next one's turn. */
const atOnce = requests > 10_000 ? 10 : 4
/** Progress of a long run. */
const tell = (line: string) => void (process.env.FUZZ_REQUESTS && process.stdout.write(`${line}\n`))
/** Far longer than any request takes on the slowest machine. */
const longestMs = 60_000

const nowhere = 'http://127.0.0.1:1'
const server = useServer({
  oauth: { slack: nowhere, microsoftLogin: nowhere, microsoftGraph: nowhere },
  // Each request has its own address, so that rate limits by address do not end the run.
  trustedProxies: ['loopback'],
})

/** Tables that even a refused request may write to. */
const bookkeeping = new Set([
  ...['api_key_uses', 'idempotency_keys', 'sign_in_attempts', 'user_sessions'],
  // A challenge ends with the first answer, right or wrong, and wrong codes are counted.
  ...['passkey_challenges', 'sign_in_steps'],
])

/** These create the contexts they name even if they are refused, which their own tests hold them to. */
const keepsContexts = ({ method, path }: Operation) =>
  method === 'POST' && /^\/v1\/channel-(connections|endpoints)$/.test(path)

let pool: Pool
let current: Scene
let operations: Operation[]

beforeAll(async () => {
  pool = new Pool(server.url, { connections: 1, bodyTimeout: longestMs, headersTimeout: longestMs })
  operations = (await operationsOf(server.api)).filter(({ path }) => path.startsWith(only))
  await watchRows()
})
afterAll(() => pool.close())

test(`${requests} requests are answered as described, and refused ones change nothing`, async () => {
  const found = new Map<string, string>()
  const seen = new Map<string, Set<number>>()
  const made = new Map<string, fc.Arbitrary<MadeUp>>()
  let sent = 0
  for (let round = 0; sent < requests && found.size < 20; round += 1) {
    const scene = await makeScene()
    current = scene
    const order = shuffled(operations, seed + round)
    // A deletion would break all later requests, so it comes last.
    const lasting = order.filter(({ method }) => method !== 'DELETE')
    for (const operation of [...lasting, ...order.filter(({ method }) => method === 'DELETE')]) {
      if (sent >= requests) break
      const title = `${operation.method} ${operation.path}`
      const statuses = seen.get(title) ?? new Set()
      seen.set(title, statuses)
      if (found.has(title)) continue
      const attempt = async (request: MadeUp) => {
        sent += 1
        const caller = callerOf(scene, operation, request.caller)
        const answer = await send(caller, operation, request)
        statuses.add(answer.status)
        await judge(operation, caller, answer)
        // The request may have replaced its key or ended its session.
        if (answer.status === 401 && request.caller === 0 && !isPublic(operation)) await renew(scene)
      }
      const arbitrary = made.get(title) ?? requestFor(operation, () => current.planted.ids, scene.others.length + 1)
      made.set(title, arbitrary)
      const result = await fc.check(fc.asyncProperty(arbitrary, attempt), {
        numRuns: atOnce,
        seed: seed + sent,
        // Favour small and simple values in every other round only.
        unbiased: round % 2 === 1,
      })
      if (!result.failed) continue
      found.set(title, `${title} ${JSON.stringify(result.counterexample)}\n${reasonOf(result)}`)
      tell(`found: ${found.get(title)}`)
      // Its changes must not be blamed on the next request.
      await touched()
    }
    tell(`${sent} requests, ${found.size} findings`)
  }
  const never = [...seen]
    .filter(([, statuses]) => ![...statuses].some((status) => status < 400))
    .map(([title]) => title)
  process.stdout.write(
    `fuzz: seed ${seed}, ${sent} requests to ${seen.size} operations, ${seen.size - never.length} of which succeeded at least once\n`,
  )
  tell(`only ever refused: ${never.join(', ')}`)
  expect([...found.values()].join('\n\n')).toBe('')
  // Every operation, if there were enough requests for one round.
  if (requests >= operations.length * atOnce) expect(seen.size).toBe(operations.length)
  // Otherwise only refusals would be tested. What a signed link of a message opens cannot be guessed.
  const isByLink = (title: string) => / \/(a|l)\//.test(title)
  const refused = never.filter((title) => !isByLink(title))
  if (only === '') expect(refused.length).toBeLessThan(seen.size / 4)
}, 86_400_000)

interface Caller {
  headers: Record<string, string>
  /** Belongs to the organization. */
  isMember: boolean
  /** May read credentials. */
  maySeeCredentials: boolean
  /** May read the Development key. */
  maySeeKey?: boolean
  /** Has the key of another environment, which opens that one only. */
  isFromNextDoor?: boolean
}

interface Scene {
  planted: Planted
  others: Caller[]
}

const keyOf = ({ key }: Api) => ({ authorization: `ApiKey ${key}` })
const bearerOf = ({ token }: InboxClient) => ({ authorization: `Bearer ${token}` })
const cookieOf = ({ token, environmentId }: PersonApi) => ({
  cookie: `belfry_session=${token}`,
  'belfry-environment': environmentId,
  origin: server.url,
})

/** An organization with a record of every kind, and callers with fewer rights or none. */
async function makeScene(): Promise<Scene> {
  const planted = await plant(server)
  server.clock.advance({ minutes: 1 })
  const { development: elsewhere } = await server.freshOrganization()
  const [viewer, editor, stranger] = [
    await signInAs(server, planted.development, 'viewer'),
    await signInAs(server, planted.development, 'editor'),
    await signInAs(server, elsewhere, 'owner'),
  ]
  const nobody = { isMember: false, maySeeCredentials: false }
  const member = { isMember: true, maySeeCredentials: false }
  const admin = { isMember: true, maySeeCredentials: true }
  const others = [
    { ...nobody, headers: {} },
    { ...nobody, headers: cookieOf(stranger) },
    { ...nobody, headers: keyOf(elsewhere) },
    { ...member, headers: bearerOf(planted.inbox) },
    { ...member, headers: cookieOf(viewer) },
    { ...member, headers: cookieOf(editor) },
    { ...admin, maySeeKey: true, headers: cookieOf(planted.owner) },
    { ...admin, isFromNextDoor: true, headers: keyOf(planted.production) },
  ]
  await touched()
  return { planted, others }
}

/** The rightful caller of the operation, or one of the others. */
function callerOf({ planted, others }: Scene, operation: Operation, index: number): Caller {
  const { path, security = [] } = operation
  const other = others[index - 1]
  if (other) return other
  if (security.some((way) => 'session' in way))
    return { headers: bearerOf(planted.inbox), isMember: true, maySeeCredentials: false }
  const { owner, wide, development } = planted
  const byKey = isShared(operation)
    ? { ...keyOf(wide), 'belfry-environment': development.environmentId }
    : keyOf(development)
  const headers = path.startsWith('/v1/auth/') ? cookieOf(owner) : byKey
  return { headers, isMember: true, maySeeCredentials: true, maySeeKey: true }
}

/** The owner signs in again, reads the current key, and restarts the subscriber's session. */
async function renew(scene: Scene): Promise<void> {
  const { planted } = scene
  const owner = new PersonApi(planted.owner, { ...planted.owner, token: await newSession(server, planted.owner.id) })
  const { body } = await owner.get('/v1/environments/api-keys')
  const { url, environmentId, organizationId } = planted.development
  const development = new Api(url, body[0].key, environmentId, organizationId)
  scene.planted = { ...planted, owner, development, inbox: await openInbox(server, development, 'ada') }
  await touched()
}

const isPublic = ({ security }: Operation) => security?.length === 0

let sender = 0
async function send({ headers: own }: Caller, operation: Operation, request: MadeUp): Promise<Answer> {
  const { url, body, headers } = request
  sender = (sender + 1) % 60_000
  const {
    statusCode,
    headers: given,
    body: stream,
  } = await pool.request({
    method: operation.method as 'GET',
    path: url,
    headers: { ...own, ...headers, 'x-forwarded-for': `198.18.${sender >> 8}.${sender & 255}` },
    body: body ?? null,
  })
  const text = await stream.text()
  const type = String(given['content-type'] ?? '')
  const parsed = type.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined
  const kept = { 'content-type': type, 'idempotency-replay': String(given['idempotency-replay'] ?? '') }
  return { status: statusCode, headers: new Headers(kept), text, body: parsed }
}

async function judge(operation: Operation, caller: Caller, answer: Answer): Promise<void> {
  const { status, text } = answer
  const problems = server.logged.splice(0).filter(({ level }) => level >= 50)
  if (problems.length > 0)
    throw new Error(`the service logged: ${problems.map(({ msg, err }) => `${msg} ${err?.stack}`).join('; ')}`)
  if (status === 500 || status === 503) throw new Error(`answered ${status}: ${text}`)
  // Our validation should have refused what the database could not store.
  if (answer.body?.code === 'unstorable') throw new Error(`accepted what cannot be stored: ${text}`)
  if (status >= 400 && !looksLikeError(answer)) expectErrorShape(answer, server.clock.now(), `${status}`)
  if (!caller.isMember && text.includes(homeWord)) throw new Error(`leaked to a stranger: ${text}`)
  if (!caller.maySeeCredentials && text.includes(credential)) throw new Error(`leaked a credential: ${text}`)
  if (!caller.maySeeKey && text.includes(current.planted.development.key)) throw new Error(`leaked a key: ${text}`)
  checkAnswer(operation, answer)
  const rows = await touched()
  const isExpected = (table: string) => bookkeeping.has(table) || (table === 'contexts' && keepsContexts(operation))
  const changed = [...new Set(rows.map(({ name }) => name))].filter((table) => !isExpected(table))
  if (status >= 400 && changed.length > 0)
    throw new Error(`refused with ${status}, but changed ${changed.join(', ')}: ${text}`)
  if (!isPublic(operation) && rows.some((row) => isKeptFrom(caller, row)))
    throw new Error(`let a stranger change ${changed.join(', ')}: ${status} ${text}`)
  const isReplay = answer.headers.get('idempotency-replay') === 'true'
  const isAct = status < 300 && changed.length > 0 && !isReplay
  if (isAct && isAdministrative(operation) && !changed.includes('audit_log'))
    throw new Error(`an administrative action is missing from the audit log: ${status} ${text}`)
}

/** Concerns more than one environment, so that the rightful caller has a key of the organization. */
const isShared = ({ path }: Operation) =>
  /^\/v[12]\/(environments|environment-variables|organizations)(\/(?!api-keys)|$)|\/sync$/.test(path)

/** Whether the caller must not change this row. */
function isKeptFrom(caller: Caller, row: Touched): boolean {
  const { development, ids } = current.planted
  if (caller.isFromNextDoor) return row.environment_id === development.environmentId || row.name === 'organizations'
  if (caller.isMember) return false
  const environments = [...(ids.environmentId ?? []), ...(ids._environmentId ?? [])]
  return row.organization_id === development.organizationId || environments.includes(row.environment_id ?? '')
}

/** A fast check for the usual case: the full assertion takes longer than the request. */
const looksLikeError = ({ status, body }: Answer) =>
  status !== 422 &&
  body?.statusCode === status &&
  body.timestamp === server.clock.now().toISOString() &&
  [body.path, body.message, body.code].every((text) => typeof text === 'string' && text !== '') &&
  typeof body.ctx === 'object'

const isAdministrative = ({ method, role }: Operation) => method !== 'GET' && role === 'admin'

const ajv = formats.default(new Ajv2020({ strict: false, code: { optimize: false } }))
// As in request validation: addresses may be international.
ajv
  .addFormat('email', /^[^\s@]+@[^\s@]+$/)
  .addFormat('locale', true)
  .addFormat('timezone', true)
const compiled = new WeakMap<JsonSchema, ValidateFunction>()

function checkAnswer({ responses }: Operation, { status, headers, body, text }: Answer): void {
  const described = responses[status]
  if (!described) throw new Error(`answered ${status}, which is not described: ${text.slice(0, 500)}`)
  const type = headers.get('content-type')?.split(';', 1)[0] ?? ''
  if (described.content === undefined) {
    if (text !== '') throw new Error(`answered ${status} with a body that is not described: ${text.slice(0, 500)}`)
    return
  }
  const content = described.content[type]
  if (!content)
    throw new Error(`answered ${status} as ${type || 'nothing'}, which is not described: ${text.slice(0, 500)}`)
  const { schema } = content
  // The shape of errors is checked once for all.
  if (schema === undefined || type !== 'application/json' || '$ref' in schema) return
  const isValid = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, isValid)
  if (!isValid(body))
    throw new Error(`${status} is not as described: ${ajv.errorsText(isValid.errors)} in ${text.slice(0, 2_000)}`)
}

/** Installs triggers that record, within each transaction, which tables changed and whose rows. */
async function watchRows(): Promise<void> {
  const { pool: db } = server.database
  await db.query(`
    CREATE SCHEMA watch;
    CREATE TABLE watch.touched (name text, environment_id text, organization_id text);
    CREATE FUNCTION watch.note() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE changed jsonb := to_jsonb(coalesce(NEW, OLD));
      BEGIN
        IF TG_OP <> 'UPDATE' OR OLD *<> NEW THEN
          INSERT INTO watch.touched VALUES (
            TG_TABLE_NAME,
            changed ->> CASE TG_TABLE_NAME WHEN 'environments' THEN 'id' ELSE 'environment_id' END,
            changed ->> CASE TG_TABLE_NAME WHEN 'organizations' THEN 'id' ELSE 'organization_id' END);
        END IF;
        RETURN NULL;
      END $$;
    DO $$ DECLARE t record; BEGIN
      FOR t IN SELECT c.oid::regclass AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname IN ('public', 'belfry', 'graphile_worker') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      LOOP
        EXECUTE format('CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION watch.note()', t.name);
      END LOOP;
    END $$`)
}

interface Touched {
  name: string
  environment_id: string | null
  organization_id: string | null
}

/** Changes since the last call. */
async function touched(): Promise<Touched[]> {
  const { rows } = await server.database.pool.query<Touched>('DELETE FROM watch.touched RETURNING *')
  return rows
}

function shuffled<T>(list: T[], by: number): T[] {
  const [order = []] = fc.sample(fc.shuffledSubarray(list, { minLength: list.length }), { seed: by, numRuns: 1 })
  return order
}

const reasonOf = ({ errorInstance }: { errorInstance: unknown }) =>
  errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
