import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { openInbox } from '../../../test/inbox.ts'
import { type Planted, plant } from '../../../test/planted.ts'
import { Api, secretKey as oldKey, useServer } from '../../../test/server.ts'
import { Secrets } from '../core/secrets.ts'
import { encryptedColumns, reEncrypt } from './re-encrypt.ts'

const server = useServer()
const newKey = 'b2'.repeat(32)
const secrets = new Secrets(newKey, [oldKey])

const webhookUrl = 'https://discord.example/api/webhooks/1'

let planted: Planted

beforeAll(async () => {
  planted = await plant(server)
  const { development: api, ids } = planted
  const answers = [
    await api.post(`/v2/webhooks/endpoints/${ids.endpointId?.[0]}/rotate-secret`, {}),
    await api.put(`/v1/integrations/${ids.integrationId?.[0]}`, {
      configurations: { inboundWebhookSigningKey: 'signing', inboundWebhookEnabled: true },
    }),
    await planted.wide.post('/v1/environments', {
      ...{ name: 'Shadow', color: '#123456', shadow: { upstreamUrl: 'https://old.example', upstreamKey: 'old' } },
    }),
    await planted.wide.post('/v1/environment-variables', kept(), once),
    await api.post('/v2/subscribers', { subscriberId: 'to-be-erased' }),
    await api.post('/v2/subscribers/to-be-erased/erase'),
    await api.post('/v1/integrations', { providerId: 'discord', channel: 'chat', identifier: 'discord', active: true }),
    await api.put('/v1/subscribers/ada/credentials', { providerId: 'discord', credentials: { webhookUrl } }),
    await api.post('/v1/channel-endpoints', {
      ...{ type: 'webhook', endpoint: { url: webhookUrl }, subscriberId: 'ada', integrationIdentifier: 'discord' },
    }),
  ]
  for (const { status, text } of answers) if (status >= 300) throw new Error(text)
})

const kept = () => ({
  key: 'KEPT',
  values: [{ _environmentId: planted.development.environmentId, value: 'as it was' }],
})
const once = { 'idempotency-key': 'once' }

/** Another process of the service with these keys. @returns a client with the existing API key */
async function processWith(secretKey: string, otherSecretKeys: string[] = [], role: 'api' | 'all' = 'api') {
  const { url } = await server.startAnother({ secretKey, otherSecretKeys, role })
  const { key, environmentId, organizationId } = planted.development
  return new Api(url, key, environmentId, organizationId)
}

/** All secrets as their owner sees them. */
async function secretsSeenBy(api: Api) {
  const paths = [
    'environments/api-keys',
    'integrations',
    'channel-connections',
    'channel-endpoints',
    'environment-variables',
    'subscribers/ada',
  ]
  const answers = await Promise.all(paths.map((path) => api.get(`/v1/${path}`)))
  const wide = Api.ofOrganization(planted.wide.key, api)
  const replayed = await wide.post('/v1/environment-variables', kept(), once)
  expect(replayed.headers.get('idempotency-replay')).toBe('true')
  for (const answer of [...answers, replayed]) expect(answer, answer.text).toMatchObject({ status: 200 })
  return [...answers, replayed].map(({ body }) => body)
}

const asksAt = async (url: string, token: string) =>
  (await fetch(`${url}/v1/inbox/subscriber`, { headers: { authorization: `Bearer ${token}` } })).status

/** Values with our marker, by the column they are in. */
async function sealedValues(): Promise<Map<string, string[]>> {
  const { db } = server.database
  const { rows: columns } = await sql<{ table: string; column: string }>`
    SELECT c.relname AS table, a.attname AS column FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind = 'r'
      AND a.atttypid IN ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype, 'text[]'::regtype)
      AND c.relnamespace = 'public'::regnamespace`.execute(db)
  const found = new Map<string, string[]>()
  for (const { table, column } of columns) {
    const { rows } = await sql<{ value: string }>`
      SELECT ${sql.ref(column)}::text AS value FROM ${sql.table(table)}
      WHERE ${sql.ref(column)}::text LIKE '%enc:v1:%'`.execute(db)
    if (rows.length > 0)
      found.set(
        `${table}.${column}`,
        rows.map(({ value }) => value),
      )
  }
  return found
}

describe('the secret key is changed', () => {
  test('every encrypted column is in the list for re-encryption', async () => {
    const listed = encryptedColumns.map(([table, column]) => `${table}.${column}`)
    expect([...(await sealedValues()).keys()].sort()).toEqual([...listed].sort())
  })

  test('while both keys are known, secrets and tokens of either work everywhere', async () => {
    const before = await secretsSeenBy(planted.development)
    const [first, second] = [await processWith(oldKey, [newKey]), await processWith(newKey, [oldKey])]
    expect(await secretsSeenBy(first)).toEqual(before)
    expect(await secretsSeenBy(second)).toEqual(before)
    const made = await openInbox(server, second, 'ada')
    for (const { url } of [first, second])
      expect([await asksAt(url, planted.inbox.token), await asksAt(url, made.token)]).toEqual([200, 200])
    // A process without the new key accepts nothing made with it.
    expect(await asksAt(server.url, made.token)).toBe(401)
  })

  test('stored values are re-encrypted automatically, and then the old key is not needed', async () => {
    const before = await secretsSeenBy(planted.development)
    expect((await (await processWith(newKey)).get('/v1/environments/api-keys')).status).toBe(500)
    const working = await processWith(newKey, [oldKey], 'all')
    const alone = new Secrets(newKey)
    const opens = (value: string) => {
      try {
        return value.replaceAll(/enc:v1:[\w+/=]+/g, (sealed) => alone.decrypt(sealed)) !== value
      } catch {
        return false
      }
    }
    await expect
      .poll(async () => [...(await sealedValues()).values()].flat().filter((value) => !opens(value)), {
        timeout: 30_000,
      })
      .toEqual([])
    const after = await processWith(newKey)
    expect(await secretsSeenBy(after)).toEqual(before)
    expect(await secretsSeenBy(working)).toEqual(before)
    expect(await asksAt(after.url, planted.inbox.token)).toBe(401)
    expect(await reEncrypt(server.database.db, secrets)).toEqual({ renewed: 0, unreadable: 0 })
  }, 180_000)
})

test('a value that changes meanwhile is not overwritten', async () => {
  const { db } = server.database
  const stale = new Secrets(newKey.replaceAll('b', 'c'), [newKey])
  const changed = secrets.encrypt('the latest')
  const during = await db.startTransaction().execute()
  await sql`UPDATE channel_connections SET encrypted_access_token = ${changed}`.execute(during)
  const done = reEncrypt(db, stale)
  await expect
    .poll(async () => {
      const { rows } =
        await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE '%channel_connections%'`.execute(db)
      return rows.length
    })
    .toBe(1)
  await during.commit().execute()
  await done
  const { encrypted_access_token: token } = await db
    .selectFrom('channel_connections')
    .select('encrypted_access_token')
    .executeTakeFirstOrThrow()
  expect(stale.decrypt(token)).toBe('the latest')
  await reEncrypt(db, new Secrets(newKey, [newKey.replaceAll('b', 'c')]))
})

test('a value that no key decrypts is left alone and counted', async () => {
  const { db } = server.database
  await sql`UPDATE environment_variable_values SET value = 'enc:v1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'`.execute(
    db,
  )
  const { rows } = await sql`SELECT FROM environment_variable_values`.execute(db)
  expect(await reEncrypt(db, secrets)).toEqual({ renewed: 0, unreadable: rows.length })
})
