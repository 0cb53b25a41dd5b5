// Calls of the SQL functions in our own database: what they check, who may call them, and that they are carried out.
import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { pino } from 'pino'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { asRole, call, useRoles } from '../../../test/database-role.ts'
import { inApp, makeWorkflow, messagesOf, runOf, trigger } from '../../../test/runs.ts'
import { type Api, secretKey, sendTo, useServer } from '../../../test/server.ts'
import { Secrets } from '../../db/core/secrets.ts'
import { eraseSubscriber } from '../retention/erasure.ts'
import { OutboxWatch } from './watch.ts'

const server = useServer()
const roles = useRoles(() => server.database.url)

// First, while there is one environment called Development.
test('docs/sql.md tells the truth', async () => {
  const { api } = server
  await makeWorkflow(api, 'order-shipped', [inApp('Order {{payload.orderId}}{{payload.new.id}}')])
  const owner = await roles.owner()
  await owner.query('SET search_path = public')
  let app: pg.Client | undefined
  const page = readFileSync(new URL('../../../../docs/sql.md', import.meta.url), 'utf8')
  let told: unknown
  let ran = 0
  for (const [, language, block = ''] of page.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    if (language === 'sql') {
      const isOwner = block.startsWith('-- as the owner')
      app ??= isOwner ? undefined : await roles.connect(asRole(server.database.url, 'app'))
      told = await (isOwner ? owner : (app as pg.Client)).query(block).then(
        (result) => Object.values([result].flat().at(-1)?.rows[0] ?? {})[0],
        (error: unknown) => problemOf(error),
      )
      if (isOwner) roles.note('app')
      await server.drain()
      ran += 1
    } else if (language === 'sh') {
      const [, path = ''] = /"\$BELFRY_URL([^"]*)"/.exec(block) ?? []
      const answer = await api.send(
        block.includes('-d ') ? 'POST' : 'GET',
        path,
        block.includes('-d ') ? {} : undefined,
      )
      expect(answer.status, answer.text).toBe(200)
      told = answer.body
      ran += 1
    } else if (language === 'json') expect(told).toMatchObject(JSON.parse(block))
    if (language === 'sql' && !page.includes(`${block}\`\`\`\n\n\`\`\`json`))
      expect(told ?? {}).not.toHaveProperty('code')
  }
  expect(ran).toBeGreaterThan(12)
  const { rows } = await server.database.pool.query(
    `SELECT subscriber_id, content FROM messages WHERE environment_id = $1 ORDER BY id`,
    [api.environmentId],
  )
  // By on_change the third for bob; the row without a customer tells nobody.
  expect(rows.map(({ subscriber_id, content }) => `${subscriber_id}: ${content}`).sort()).toEqual([
    ...['ada: Order ', 'ada: Order ', 'ada: Order 42', 'ada: Order 42'],
    ...['bob: Order 43', 'bob: Order 43', 'bob: Order 43'],
  ])
  expect((await api.get('/v2/subscribers/ada')).body.data?.firstName ?? 'Ada').toBe('Ada')
})

function problemOf(error: unknown) {
  const { code, message, hint } = error as pg.DatabaseError
  return { code, message, hint }
}

/** A new environment with a workflow, and a role that acts for it. */
async function setUp(): Promise<{ api: Api; role: string; app: pg.Client; owner: pg.Client }> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'order', [inApp('Order {{payload.id}}')])
  const role = await roles.newRole()
  const owner = await roles.owner()
  await owner.query('SELECT belfry.allow($1, $2)', [role, api.environmentId])
  return { api, role, owner, app: await roles.as(role) }
}

const statusOf = async (client: pg.Client, id: string) =>
  (await client.query('SELECT belfry.status($1) AS status', [id])).rows[0].status
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: unknown) => problemOf(error),
  )
const contents = async (api: Api) => (await messagesOf(api, '')).map(({ content }) => content).sort()
const waiting = async () => (await server.database.pool.query('SELECT FROM belfry.outbox')).rowCount

describe('what is called', () => {
  let api: Api
  let app: pg.Client
  beforeAll(async () => {
    ;({ api, app } = await setUp())
  })

  test('happens if the transaction commits, and only then', async () => {
    await app.query('BEGIN')
    await call(app, 'order', 'ada', { id: 1 }, { transactionId: 'one' })
    expect(await statusOf(app, 'one')).toBe('waiting')
    await server.drain()
    expect(await contents(api)).toEqual([])
    await app.query('COMMIT')
    await server.drain()
    expect(await contents(api)).toEqual(['Order 1'])
    expect(await statusOf(app, 'one')).toBe('accepted')
    expect(await statusOf(app, 'never')).toBe('unknown')

    await app.query('BEGIN')
    await call(app, 'order', 'ada', { id: 2 }, { transactionId: 'two' })
    await app.query('ROLLBACK')
    await app.query('BEGIN')
    await call(app, 'order', 'ada', { id: 3 })
    await app.query('SAVEPOINT here')
    await call(app, 'order', 'ada', { id: 4 })
    await app.query('ROLLBACK TO SAVEPOINT here')
    await call(app, 'order', 'ada', { id: 5 })
    await app.query('COMMIT')
    await server.drain()
    expect(await contents(api)).toEqual(['Order 1', 'Order 3', 'Order 5'])
    expect(await statusOf(app, 'two')).toBe('unknown')
  })

  test('counts once with a transaction id that was used: here, over HTTP, or twice in one transaction', async () => {
    await trigger(api, 'order', 'bob', { payload: { id: 'http' }, transactionId: 'used' })
    await app.query('BEGIN')
    await call(app, 'order', 'bob', { id: 'sql' }, { transactionId: 'used' })
    await call(app, 'order', 'bob', { id: 'first' }, { transactionId: 'twice' })
    await call(app, 'order', 'bob', { id: 'second' }, { transactionId: 'twice' })
    await app.query('COMMIT')
    await server.drain()
    await trigger(api, 'order', 'bob', { payload: { id: 'http' }, transactionId: 'twice' })
    await server.drain()
    const messages = await messagesOf(api, 'subscriberId=bob')
    expect(messages.map(({ content }) => content).sort()).toEqual(['Order first', 'Order http'])
  })

  test('is carried out in the order of the calls, whatever they are', async () => {
    await makeWorkflow(api, 'slow', [
      { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
      inApp('slow {{subscriber.firstName}}'),
    ])
    await app.query('BEGIN')
    await app.query(`SELECT belfry.upsert_subscriber('{"subscriberId": "eve", "firstName": "Eve"}')`)
    await app.query(`SELECT belfry.upsert_subscriber('{"subscriberId": "eve", "lastName": "E"}')`)
    await call(app, 'slow', 'eve', {}, { transactionId: 'canceled' })
    await app.query("SELECT belfry.cancel('canceled')")
    await call(app, 'slow', 'eve', {}, { transactionId: 'kept' })
    await app.query('COMMIT')
    await server.drain()
    server.clock.advance({ hours: 2 })
    await server.drain()
    const messages = await messagesOf(api, 'subscriberId=eve')
    expect(messages.map(({ transactionId, content }) => [transactionId, content])).toEqual([['kept', 'slow Eve']])
    expect((await api.get('/v2/subscribers/eve')).body).toMatchObject({ firstName: 'Eve', lastName: 'E' })
  })

  test('in a transaction with more calls than are taken at once keeps its order, with two drains at once', async () => {
    await app.query(`
      SELECT belfry.upsert_subscriber(jsonb_build_object('subscriberId', 'max', 'data', jsonb_build_object('n', n)))
      FROM generate_series(0, 1199) n`)
    const other = await server.startAnother()
    const drain = async (outbox: { takeSome(): Promise<number> }) => {
      while ((await waiting()) ?? 0) await outbox.takeSome()
    }
    await Promise.all([drain(other.outbox), server.drain()])
    expect((await api.get('/v2/subscribers/max')).body.data).toEqual({ n: 1_199 })
    await other.stop()
  })

  test('may be for everyone in a topic, with overrides, an actor, a tenant and a context', async () => {
    await api.post('/v2/topics/team/subscriptions', { subscriptions: ['ada'] })
    await makeWorkflow(api, 'rich', [inApp('{{actor.firstName}} {{context.app.id}}')])
    const more = { actor: { subscriberId: 'boss', firstName: 'Boss' }, context: { app: 'shop' }, cancellationKey: 'k' }
    await call(app, 'rich', 'ada', {}, { ...more, transactionId: 'rich', tenant: null })
    await call(app, 'rich', { type: 'Topic', topicKey: 'team' }, {}, { actor: more.actor, transactionId: 'wide' })
    await server.drain()
    const told = async (id: string) => (await messagesOf(api, `transactionId=${id}`)).map(({ content }) => content)
    expect(await told('rich')).toEqual(['Boss shop'])
    expect(await told('wide')).toEqual(['Boss '])
    await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
    await makeWorkflow(api, 'of-tenant', [inApp('{{tenant.name}}')])
    const overrides = { email: { toRecipient: 'else@example.com' } }
    await call(app, 'of-tenant', 'ada', {}, { tenant: 'acme', overrides, transactionId: 'overridden' })
    await server.drain()
    expect(await told('overridden')).toEqual(['Acme'])
    expect((await runOf(api, 'overridden')).jobs).toMatchObject([{ overrides }])
  })

  test('waits for COMMIT PREPARED in a two-phase commit, which needs notifications off', async () => {
    await app.query('BEGIN')
    await call(app, 'order', 'ada', { id: 'loud' })
    expect(await refusal(app.query("PREPARE TRANSACTION 'loud'"))).toMatchObject({ code: '0A000' })
    await app.query('ROLLBACK')
    await app.query('BEGIN; SET LOCAL belfry.notify = off')
    await call(app, 'order', 'ada', { id: 'prepared' })
    await app.query("PREPARE TRANSACTION 'quiet'")
    await server.drain()
    expect(await contents(api)).not.toContain('Order prepared')
    await app.query("COMMIT PREPARED 'quiet'")
    await server.drain()
    expect(await contents(api)).toContain('Order prepared')
    expect(await contents(api)).not.toContain('Order loud')
  })

  test('is taken at the time that a held clock shows', async () => {
    const named = { name: 'held for sql', color: '#123456', clock: { now: '2030-01-01T00:00:00.000Z' } }
    const made = await server.wideApi.post('/v1/environments', named)
    expect(made, made.text).toMatchObject({ status: 201 })
    const held = { ...api, key: made.body.apiKeys[0].key } as Api
    const heldApi = Object.assign(Object.create(Object.getPrototypeOf(api)), held) as Api
    const send = (method: string, path: string, body?: unknown) =>
      sendTo(api.url + path, method, body, { authorization: `ApiKey ${heldApi.key}` })
    const step = { name: 'in', type: 'in_app', stepId: 'in', controlValues: { body: 'held' } }
    const made2 = await send('POST', '/v2/workflows', { name: 'w', workflowId: 'w', active: true, steps: [step] })
    expect(made2, made2.text).toMatchObject({ status: 201 })
    const role = await roles.newRole()
    await (await roles.owner()).query('SELECT belfry.allow($1, $2)', [role, 'held for sql'])
    const client = await roles.as(role)
    await client.query(`SELECT belfry.upsert_subscriber('{"subscriberId": "ada"}')`)
    await call(client, 'w', 'ada', {}, { transactionId: 'held' })
    await server.drain()
    const { rows } = await server.database.pool.query(
      `SELECT e.created_at, s.created_at AS subscribed FROM events e
       JOIN subscribers s ON s.environment_id = e.environment_id WHERE e.transaction_id = 'held'`,
    )
    expect(rows).toMatchObject([
      { created_at: new Date('2030-01-01T00:00:00.000Z'), subscribed: new Date('2030-01-01T00:00:00.000Z') },
    ])
  })
})

describe('a call of the wrong shape fails at once, with a hint', () => {
  let app: pg.Client
  beforeAll(async () => {
    ;({ app } = await setUp())
  })

  const long = 'x'.repeat(600_000)
  test.each<[string, unknown[]]>([
    ['There are no recipients', ['order', []]],
    ['There are no recipients', ['order', [null]]],
    ['There are no recipients', ['order', null]],
    ['There are 101 recipients; at most 100 are allowed', ['order', Array.from({ length: 101 }, (_, n) => `s${n}`)]],
    ['Recipient 2 is neither a subscriber nor a topic', ['order', ['ada', 7]]],
    ['Recipient 1 is neither a subscriber nor a topic', ['order', '  ']],
    ['The payload is no object', ['order', 'ada', []]],
    ['The payload is no object', ['order', 'ada', 'text']],
    [`The payload has ${long.length + 8} bytes; at most 524288 are allowed`, ['order', 'ada', { a: long }]],
    ['The workflow is missing', ['', 'ada']],
    ['There is no option "transactionid"', ['order', 'ada', {}, { transactionid: 'x' }]],
    ['The options are no object', ['order', 'ada', {}, []]],
    [
      'The option "transactionId" must be a text of 1 to 255 characters',
      ['order', 'ada', {}, { transactionId: 'x'.repeat(256) }],
    ],
    ['The option "strict" must be true or false', ['order', 'ada', {}, { strict: 'yes' }]],
    ['The option "overrides" must be an object', ['order', 'ada', {}, { overrides: 1 }]],
    [
      'The option "actor" must be a subscriber id, or an object with a subscriberId',
      ['order', 'ada', {}, { actor: {} }],
    ],
  ])('%s', async (message, args) => {
    expect(await refusal(call(app, ...args))).toEqual({
      ...{ code: '22023', message },
      hint: expect.stringMatching(/\w{3}/),
    })
  })

  test('blanks between members do not count, as over HTTP', async () => {
    const list = Array.from({ length: 250_000 }, () => 1)
    expect(JSON.stringify({ list }).length).toBeLessThan(524_288)
    expect(await refusal(call(app, 'order', 'ada', { list }))).toBe('accepted')
    const longer = Array.from({ length: 262_200 }, () => 1)
    expect(await refusal(call(app, 'order', 'ada', { list: longer }))).toMatchObject({ code: '22023' })
  })

  test.each([
    ["SELECT belfry.upsert_subscriber('[]')"],
    ["SELECT belfry.upsert_subscriber('{}')"],
    ["SELECT belfry.cancel('')"],
    ['SELECT belfry.cancel(NULL)'],
  ])('%s', async (text) => {
    expect(await refusal(app.query(text))).toMatchObject({ code: '22023', hint: expect.any(String) })
  })
})

describe('who may call', () => {
  test('is who is allowed, for one environment unless the call names one', async () => {
    const { api, app, owner, role } = await setUp()
    const stranger = await roles.as(await roles.newRole())
    expect(await refusal(call(stranger, 'order', 'ada'))).toMatchObject({ code: '42501' })
    const second = await server.freshApi()
    await owner.query('SELECT belfry.allow($1, $2)', [role, second.environmentId])
    expect(await refusal(call(app, 'order', 'ada'))).toMatchObject({
      ...{ code: '42501', message: `Role "${role}" may act for 2 environments, and the call names none` },
      hint: expect.stringContaining('"environment"'),
    })
    await call(app, 'order', 'ada', { id: 1 }, { environment: api.environmentId, transactionId: 'there' })
    await server.drain()
    expect(await contents(api)).toEqual(['Order 1'])
    expect(await statusOf(app, 'there')).toBe('accepted')
    const third = await server.freshApi()
    const other = { environment: third.environmentId }
    expect(await refusal(call(app, 'order', 'ada', {}, other))).toMatchObject({ code: '42501' })
  })

  test('is allowed by the name, the identifier or the id of the environment, and calls name it so too', async () => {
    const { api, owner } = await setUp()
    const { name, identifier, _id } = (await api.get('/v1/environments/me')).body
    expect(new Set([name, identifier, _id]).size).toBe(3)
    // Every organization here has a Development.
    const own = `Only ${identifier}`
    await server.database.pool.query('UPDATE environments SET name = $1 WHERE id = $2', [own, _id])
    for (const word of [own, identifier, _id]) {
      const role = await roles.newRole()
      await owner.query('SELECT belfry.allow($1, $2)', [role, word])
      const client = await roles.as(role)
      await call(client, 'order', 'ada', { id: word }, { environment: word })
      await owner.query('SELECT belfry.forbid($1, $2)', [role, word])
      expect(await refusal(call(client, 'order', 'ada')), word).toMatchObject({ code: '42501' })
    }
    await server.drain()
    expect((await contents(api)).sort()).toEqual([own, identifier, _id].map((word) => `Order ${word}`).sort())
  })

  test('is forbidden at once, in sessions and transactions that are open', async () => {
    const { api, app, owner, role } = await setUp()
    await app.query('BEGIN')
    await call(app, 'order', 'ada')
    await owner.query('SELECT belfry.forbid($1, $2)', [role, api.environmentId])
    expect(await refusal(call(app, 'order', 'ada'))).toMatchObject({ code: '42501' })
    await app.query('ROLLBACK')
    expect(await refusal(call(app, 'order', 'ada'))).toMatchObject({ code: '42501' })
    // Nothing is left that would keep the role.
    await owner.query(`DROP OWNED BY ${role}`)
  })

  test('is decided by the role that was set, and by membership; a superuser is nobody special', async () => {
    const { api, app, owner, role } = await setUp()
    const member = await roles.newRole()
    await owner.query(`GRANT ${role} TO ${member}`)
    const client = await roles.as(member)
    await call(client, 'order', 'ada', { id: 'member' })
    expect(await refusal(call(owner, 'order', 'ada'))).toMatchObject({ code: '42501' })
    await owner.query(`SET ROLE ${role}`)
    await call(owner, 'order', 'ada', { id: 'set' })
    await owner.query('RESET ROLE')
    await server.drain()
    expect(await contents(api)).toEqual(['Order member', 'Order set'])
    // Not what a caller says of itself.
    const other = await roles.newRole()
    await owner.query('SELECT belfry.allow($1, $2)', [other, api.environmentId])
    expect(await refusal(app.query(`SET ROLE ${other}`))).toMatchObject({ code: '42501' })
  })

  test('reads no table, and no other function', async () => {
    const { app } = await setUp()
    for (const table of [
      'belfry.outbox',
      'belfry.refused',
      'belfry.allowed',
      'subscribers',
      'environments',
      'api_keys',
    ])
      expect(await refusal(app.query(`SELECT * FROM ${table}`)), table).toMatchObject({ code: '42501' })
    expect(await refusal(app.query('INSERT INTO belfry.outbox DEFAULT VALUES'))).toMatchObject({ code: '42501' })
    for (const call of [
      "allow('x', 'y')",
      "forbid('x', 'y')",
      "find_environment('Development')",
      'open_environments()',
    ])
      expect(await refusal(app.query(`SELECT belfry.${call}`)), call).toMatchObject({ code: '42501' })
    // Whatever runs with the owner's rights, or can be called at all, fixes the search path; the parts run inside of those.
    const { rows } = await server.database.pool.query(
      `SELECT proname FROM pg_proc WHERE pronamespace = 'belfry'::regnamespace AND proname <> 'version'
         AND (prosecdef OR has_function_privilege($1, oid, 'EXECUTE'))
         AND NOT coalesce(proconfig::text LIKE '%search_path=pg_catalog, pg_temp%', false)`,
      [(await app.query('SELECT current_user AS name')).rows[0].name],
    )
    expect(rows).toEqual([])
  })

  test('cannot be fooled by objects of the caller that have the names of ours', async () => {
    const { api, app } = await setUp()
    await app.query('CREATE TEMP TABLE allowed (role text, environment_id text); SET search_path = pg_temp')
    await app.query("CREATE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE sql AS $$SELECT 'epoch'::timestamptz$$")
    await call(app, 'order', 'ada', { id: 1 })
    await server.drain()
    expect(await contents(api)).toEqual(['Order 1'])
  })

  test('an environment or role that does not exist is told', async () => {
    const owner = await roles.owner()
    const role = await roles.newRole()
    expect(await refusal(owner.query('SELECT belfry.allow($1, $2)', [role, 'nowhere']))).toMatchObject({
      code: '22023',
    })
    expect(await refusal(owner.query("SELECT belfry.allow('nobody', 'Development')"))).toMatchObject({ code: '42704' })
  })
})

describe('on_change', () => {
  test('tells whom a column names, with the columns that are wanted', async () => {
    const { api, app, owner, role } = await setUp()
    await makeWorkflow(api, 'changed', [inApp('{{payload.op}} {{payload.table}} {{payload.old.n}}->{{payload.new.n}}')])
    const table = `things_${role}`
    await owner.query('SET search_path = public')
    await owner.query(`
      CREATE TABLE ${table} (id integer, who text, n integer, secret text); GRANT ALL ON ${table} TO ${role};
      CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION belfry.on_change('changed', 'who', '{"columns": ["n"]}')`)
    await app.query(`INSERT INTO ${table} VALUES (1, 'ada', 1, 's'), (2, NULL, 2, 's')`)
    await app.query(`UPDATE ${table} SET n = n + 10`)
    await app.query(`DELETE FROM ${table}`)
    await server.drain()
    const of = (op: string) => expect.stringMatching(new RegExp(`^${op} ${table} `))
    expect(await contents(api)).toEqual([of('delete'), of('insert'), of('update')])
    const { rows } = await server.database.pool.query(
      "SELECT payload FROM events WHERE environment_id = $1 AND payload ->> 'op' = 'update'",
      [api.environmentId],
    )
    expect(rows).toEqual([{ payload: { op: 'update', table, new: { n: 11 }, old: { n: 1 } } }])
  })

  test.each([
    ["'changed'", /takes a workflow/],
    ["'changed', 'nobody'", /has no column "nobody"/],
    ["'changed', 'who', 'x'", /not JSON/],
    ["'changed', 'who', '{\"columns\": [\"none\"]}'", /must list columns/],
  ])('with (%s) fails with a hint', async (args, message) => {
    const { app, owner, role } = await setUp()
    const table = `wrong_${role}`
    await owner.query('SET search_path = public')
    await owner.query(`
      CREATE TABLE ${table} (who text); GRANT ALL ON ${table} TO ${role};
      CREATE TRIGGER tell BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION belfry.on_change(${args})`)
    const told = await refusal(app.query(`INSERT INTO ${table} VALUES ('ada')`))
    expect(told).toMatchObject({ code: '22023', message: expect.stringMatching(message), hint: expect.any(String) })
  })
})

describe('what turns out to be wrong after the commit', () => {
  test('is kept with the code of the API, listed, and carried out again', async () => {
    const { api, app, role } = await setUp()
    await makeWorkflow(api, 'off', [inApp()], { active: false })
    await makeWorkflow(api, 'strict', [inApp()], {
      ...{ validatePayload: true },
      payloadSchema: { type: 'object', required: ['id'], properties: { id: { type: 'number' } } },
    })
    await call(app, 'missing', 'ada', {}, { transactionId: 'r1' })
    await call(app, 'off', 'ada', {}, { transactionId: 'r2' })
    await call(app, 'strict', 'ada', { id: 'x' }, { transactionId: 'r3' })
    await call(app, 'order', { subscriberId: 'ada', email: 'no address' }, {}, { transactionId: 'r4' })
    await call(app, 'order', 'not a valid id!', {}, { transactionId: 'r5' })
    await app.query(`SELECT belfry.upsert_subscriber('{"subscriberId": "ada", "email": 7}')`)
    await call(app, 'order', 'ada', { id: 'good' }, { transactionId: 'good' })
    await server.drain()
    const { body } = await api.get('/v2/outbox/refused?limit=100&orderDirection=ASC')
    const told = (body.data as Array<Record<string, unknown>>).map(({ transactionId, code }) => [transactionId, code])
    expect(told.sort()).toEqual(
      [
        ['r1', 'workflow_not_found'],
        ['r2', 'trigger_not_active'],
        ['r3', 'payload_invalid'],
        ['r4', 'validation'],
        ['r5', 'invalid_recipients'],
        [null, 'validation'],
      ].sort(),
    )
    const first = (body.data as Array<Record<string, unknown>>).find(({ transactionId }) => transactionId === 'r1')
    expect(first).toMatchObject({ kind: 'trigger', workflowId: 'missing', role, body: { to: 'ada', payload: {} } })
    expect(await contents(api)).toEqual(['Order good'])
    expect([await statusOf(app, 'r1'), await statusOf(app, 'good')]).toEqual(['refused', 'accepted'])

    await makeWorkflow(api, 'missing', [inApp('found')])
    expect((await api.post('/v2/outbox/refused/retry', { ids: [first?._id] })).body).toEqual({ retried: 1 })
    expect(await statusOf(app, 'r1')).toBe('waiting')
    await server.drain()
    expect(await contents(api)).toEqual(['Order good', 'found'])
    expect((await api.post('/v2/outbox/refused/retry', {})).body).toEqual({ retried: 5 })
    await server.drain()
    expect((await api.get('/v2/outbox/refused?code=payload_invalid')).body).toMatchObject({ totalCount: 1 })
    const other = await server.freshApi()
    expect((await other.get('/v2/outbox/refused')).body.data).toEqual([])
    expect((await other.post('/v2/outbox/refused/retry', {})).body).toEqual({ retried: 0 })
    expect((await api.post('/v2/outbox/refused/retry', { ids: [] })).status).toBe(422)

    server.clock.advance({ days: 31 })
    await server.database.pool.query("SELECT graphile_worker.add_job('purge_expired')")
    await server.drain()
    expect((await api.get('/v2/outbox/refused')).body.totalCount).toBe(0)
  })

  test('is refused if it fails again and again, and does not hold up the others', async () => {
    const { api, app, owner } = await setUp()
    await owner.query(`
      CREATE FUNCTION public.fail_named() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'no place for %', NEW.subscriber_id USING ERRCODE = NEW.first_name; END$$;
      CREATE TRIGGER fail_named BEFORE INSERT ON public.subscribers
        FOR EACH ROW WHEN (NEW.subscriber_id LIKE 'fails-%') EXECUTE FUNCTION public.fail_named()`)
    // What cannot be stored, and a failure of another kind.
    for (const code of ['22001', 'P0001'])
      await app.query('SELECT belfry.upsert_subscriber($1)', [{ subscriberId: `fails-${code}`, firstName: code }])
    await call(app, 'order', 'ada', { id: 'good' })
    try {
      while ((await waiting()) ?? 0)
        await server.drain().catch((error: unknown) => expect(String(error)).toContain('no place for fails-'))
    } finally {
      await owner.query('DROP TRIGGER fail_named ON public.subscribers; DROP FUNCTION public.fail_named()')
    }
    expect(await contents(api)).toEqual(['Order good'])
    const { data } = (await api.get('/v2/outbox/refused?limit=10')).body
    const told = (data as Array<{ code: string; body: object }>).map(({ code, body }) => [code, body])
    expect(told).toEqual(
      expect.arrayContaining([
        ['unstorable', expect.objectContaining({ subscriberId: 'fails-22001' })],
        ['internal', expect.objectContaining({ subscriberId: 'fails-P0001' })],
      ]),
    )
    expect(told).toHaveLength(2)
  })

  test('fails at once where the call is strict', async () => {
    const { api, app } = await setUp()
    const strict = { strict: true }
    const told = await refusal(call(app, 'missing', 'ada', {}, strict))
    expect(told).toMatchObject({ code: 'P0001', message: 'workflow_not_found', hint: expect.any(String) })
    await makeWorkflow(api, 'off', [inApp()], { active: false })
    expect(await refusal(call(app, 'off', 'ada', {}, strict))).toMatchObject({ message: 'trigger_not_active' })
    expect(await refusal(call(app, 'order', 'ada', {}, strict))).toBe('accepted')
  })

  test('a row of a format that is not known yet is refused, not guessed at', async () => {
    const { api, app } = await setUp()
    expect((await app.query('SELECT belfry.version() AS version')).rows).toEqual([{ version: 1 }])
    await server.database.pool.query(
      `INSERT INTO belfry.outbox (format, environment_id, kind, transaction_id, body, role, created_at)
       VALUES (belfry.version() + 1, $1, 'trigger', 'later', '{"who": "ada"}', 'app', now())`,
      [api.environmentId],
    )
    await server.drain()
    expect((await api.get('/v2/outbox/refused')).body.data).toMatchObject([{ code: 'unknown_format' }])
  })
})

describe('the hint', () => {
  test('is sent while the drain sleeps, and not while it is awake', async () => {
    const { app } = await setUp()
    const owner = await roles.owner()
    let heard = 0
    owner.on('notification', () => {
      heard += 1
    })
    await owner.query('LISTEN belfry_outbox')
    await call(app, 'order', 'ada')
    await vi.waitUntil(() => heard === 1)
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let calls = 0
    let isHeldUp = false
    const watch = new OutboxWatch({
      url: server.database.url,
      onError: (error) => expect(error).toBeUndefined(),
      async work() {
        calls += 1
        // On a busy machine it takes more than two: calls taken soon after each other wake it up.
        if (!watch.isAwake) return 1
        if (isHeldUp) return 0
        isHeldUp = true
        await gate
        return 1
      },
    })
    watch.start()
    await vi.waitUntil(() => isHeldUp, { timeout: 20_000 })
    expect(watch.isAwake).toBe(true)
    for (let n = 0; n < 5; n += 1) await call(app, 'order', 'ada')
    await owner.query('SELECT 1')
    expect(heard).toBe(1)
    // Who has called and not committed yet counts on it: it stays awake, and looks less often.
    await app.query('BEGIN')
    await call(app, 'order', 'ada')
    release()
    const before = calls
    await vi.waitUntil(() => calls > before + 57, { timeout: 20_000 })
    expect(watch.isAwake).toBe(true)
    await app.query('COMMIT')
    await vi.waitUntil(() => !watch.isAwake, { timeout: 10_000 })
    expect(heard).toBe(1)
    await call(app, 'order', 'ada')
    await vi.waitUntil(() => heard === 2)
    await watch.stop()
    await server.drain()
  })

  test('is all that a drain needs, while nothing wakes it up to look', async () => {
    const { app } = await setUp()
    let taken = 0
    let rests = 0
    const watch = new OutboxWatch({
      url: server.database.url,
      onError: (error) => expect(error).toBeUndefined(),
      async work() {
        taken += 1
        return 0
      },
      /** Rests until it is told. */
      sleep: (_, signal) => {
        rests += 1
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
      },
    })
    watch.start()
    await vi.waitUntil(() => rests === 1)
    expect(taken).toBe(0)
    await app.query('BEGIN')
    await call(app, 'order', 'ada')
    await call(app, 'order', 'ada')
    await app.query('COMMIT')
    await vi.waitUntil(() => taken > 0)
    await watch.stop()
    await server.drain()
  })

  test('may be lost: the table is looked at every second, also where no role is allowed any more', async () => {
    const owner = await roles.owner()
    const { rows } = await owner.query('DELETE FROM belfry.allowed RETURNING role, environment_id, created_at')
    const rests: number[] = []
    const watch = new OutboxWatch({
      url: server.database.url,
      onError: (error) => expect(error).toBeUndefined(),
      work: async () => 0,
      sleep: async (ms) => void rests.push(ms),
    })
    watch.start()
    await vi.waitUntil(() => rests.length >= 20)
    await watch.stop()
    expect(Math.max(...rests)).toBe(1_000)
    for (const { role, environment_id, created_at } of rows)
      await owner.query('INSERT INTO belfry.allowed (role, environment_id, created_at) VALUES ($1, $2, $3)', [
        ...[role, environment_id, created_at],
      ])
  })

  test('calls that come while others are carried out do not wait for them', async () => {
    const { api, app } = await setUp()
    await api.post('/v2/subscribers', { subscriberId: 'held' })
    const worker = await server.startAnother({ role: 'worker' })
    const holder = await server.database.pool.connect()
    try {
      await holder.query('BEGIN')
      // What the first one needs is locked.
      await holder.query("SELECT FROM subscribers WHERE environment_id = $1 AND subscriber_id = 'held' FOR UPDATE", [
        api.environmentId,
      ])
      await app.query(`SELECT belfry.upsert_subscriber('{"subscriberId": "held", "firstName": "Held"}')`)
      const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
      await vi.waitUntil(async () => (await server.database.pool.query(waits)).rowCount === 1, { timeout: 20_000 })
      await call(app, 'order', 'ada', { id: 'second' })
      await vi.waitUntil(async () => (await contents(api)).length === 1, { timeout: 20_000, interval: 20 })
    } finally {
      await holder.query('COMMIT')
      holder.release()
    }
    await vi.waitUntil(async () => (await api.get('/v2/subscribers/held')).body.firstName === 'Held', {
      timeout: 20_000,
    })
    await worker.stop()
  })

  test('may be lost: the table is looked at in any case', async () => {
    const { api, app } = await setUp()
    const worker = await server.startAnother({ role: 'worker' })
    await app.query('SET belfry.notify = off')
    await call(app, 'order', 'ada', { id: 'quiet' })
    await vi.waitUntil(async () => (await contents(api)).length === 1, { timeout: 20_000, interval: 100 })
    await app.query('SET belfry.notify = on')
    await call(app, 'order', 'ada', { id: 'loud' })
    await vi.waitUntil(async () => (await contents(api)).length === 2, { timeout: 20_000, interval: 100 })
    await worker.stop()
  })
})

describe('a person', () => {
  test('is exported and erased from calls that wait or were refused', async () => {
    const { api, app } = await setUp()
    await api.post('/v2/subscribers', { subscriberId: 'ada-lovelace', email: 'ada@lovelace.example' })
    const to = ['ada-lovelace', 'someone-else']
    const mail = { address: 'ada@lovelace.example' }
    await call(app, 'missing', 'ada-lovelace', {}, { transactionId: 'only' })
    await call(app, 'missing', to, mail, { transactionId: 'both' })
    await server.drain()
    await app.query('BEGIN')
    await call(app, 'order', to, mail, { transactionId: 'waits' })
    await app.query(`SELECT belfry.upsert_subscriber('{"subscriberId": "ada-lovelace"}')`)
    await app.query('COMMIT')
    const { body } = await api.get('/v2/subscribers/ada-lovelace/export')
    const own = body.data.refused.map((row: { transactionId: string; body: { to: unknown } }) => [
      row.transactionId,
      row.body.to,
    ])
    expect(own).toEqual([
      ['only', [{ subscriberId: 'ada-lovelace' }]],
      ['both', [{ subscriberId: 'ada-lovelace' }]],
    ])
    expect(body.data.outbox).toHaveLength(2)
    const { status } = await api.post('/v2/subscribers/ada-lovelace/erase')
    expect(status).toBe(202)
    // Not by `drain`, which would carry out what waits first.
    const { rows: erasures } = await server.database.pool.query(
      "SELECT id FROM erasures WHERE environment_id = $1 AND status = 'pending'",
      [api.environmentId],
    )
    const key = { environmentId: api.environmentId, erasureId: erasures[0].id }
    const { db } = server.database
    const log = pino({ level: 'silent' })
    const closeQuestions = async () => undefined
    const secrets = new Secrets(secretKey)
    await eraseSubscriber({ db, log, clock: server.clock, secrets, closeQuestions }, key)
    const { rows } = await server.database.pool.query(
      `SELECT transaction_id, body FROM belfry.refused WHERE environment_id = $1
       UNION ALL SELECT transaction_id, body FROM belfry.outbox WHERE environment_id = $1`,
      [api.environmentId],
    )
    expect(JSON.stringify(rows)).not.toContain('lovelace')
    expect(rows.map(({ transaction_id, body }) => [transaction_id, body.to, body.payload])).toEqual([
      ['both', [{ subscriberId: 'someone-else' }], { address: '[erased]' }],
      ['waits', [{ subscriberId: 'someone-else' }], { address: '[erased]' }],
    ])
  })
})

test('of a deleted environment nothing stays', async () => {
  const { api, app } = await setUp()
  await call(app, 'missing', 'ada')
  await server.drain()
  await server.database.pool.query('DELETE FROM environments WHERE id = $1', [api.environmentId])
  await server.database.pool.query(
    "SELECT graphile_worker.add_job('purge_environment', json_build_object('environmentId', $1::text))",
    [api.environmentId],
  )
  await server.drain()
  const { rowCount } = await server.database.pool.query(
    `SELECT environment_id FROM belfry.refused WHERE environment_id = $1
     UNION ALL SELECT environment_id FROM belfry.allowed WHERE environment_id = $1`,
    [api.environmentId],
  )
  expect(rowCount).toBe(0)
  expect(await refusal(call(app, 'order', 'ada'))).toMatchObject({ code: '42501' })
})
