// Uses recognisable secrets of every kind in every feature while much goes wrong. Then searches everything that people can
// see and everything stored for them.
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startService } from '../src/main.ts'
import { addApp } from './factors.ts'
import { operationsOf } from './openapi.ts'
import { newSession, PersonApi, sendAs, signInAs } from './people.ts'
import { credential, knownFor, plant } from './planted.ts'
import { makeWorkflow } from './runs.ts'
import { useServer } from './server.ts'
import { useVendor } from './vendor.ts'

const server = useServer({}, { logLevel: 'trace' })
const vendor = useVendor()

const password = 'planted-pass-8d41f0'
const inboxKey = 'planted-key-5b77aa'
const variable = 'planted-variable-93c2de'

test('no secret is in a log, an answer, a metric, a page or, in clear, in the database', async () => {
  const secrets: Record<string, string> = { credential, password, inboxKey, variable }
  const planted = await plant(server)
  const { development: api, owner, inbox, ids } = planted
  Object.assign(secrets, { apiKey: api.key, subscriberToken: inbox.token, session: owner.token })

  // People: an accepted invitation, a failed and a successful sign-in, and a link for a new password.
  const invited = await owner.post('/v1/auth/invitations', { email: 'mia@example.com', role: 'editor' })
  const invitation = tokenIn(invited.body.link)
  const open = (path: string, body: object) => sendAs(server.url, 'POST', `/v1/auth/${path}`, body)
  expect(await open('invitations/accept', { token: invitation, name: 'Mia', password })).toMatchObject({ status: 201 })
  expect(await open('sign-in', { email: 'mia@example.com', password: `${password}x` })).toMatchObject({ status: 401 })
  expect(await open('sign-in', { email: 'mia@example.com', password })).toMatchObject({ status: 200 })
  const careful = await signInAs(server, api, 'viewer')
  const { secret: app, recoveryCodes } = await addApp(server, careful)
  Object.assign(secrets, { app, recoveryCode: recoveryCodes[0] })
  const link = await owner.post(`/v1/auth/members/${ids.memberId?.[0]}/reset-link`)
  Object.assign(secrets, { invitation, reset: tokenIn(link.body.link), setUp: server.setUpToken })

  // Deliveries that fail in every way, at a vendor that echoes everything.
  const credentials = { webhookUrl: `${vendor.url}/${credential}`, secretKey: credential, from: 'a@example.com' }
  const mail = { providerId: 'email-webhook', channel: 'email', active: true, check: false, credentials }
  expect(await api.post('/v1/integrations', { ...mail, name: 'Ours', primary: true })).toMatchObject({ status: 201 })
  const values = [{ _environmentId: api.environmentId, value: variable }]
  await (await server.organizationOf(api)).post('/v1/environment-variables', { key: 'TOKEN', isSecret: true, values })
  const endpoint = await api.post('/v2/webhooks/endpoints', { url: `${vendor.url}/hook` })
  secrets.webhook = endpoint.body.secret
  const headers = [{ key: 'authorization', value: 'Bearer {{env.TOKEN}}' }]
  await makeWorkflow(api, 'all', [
    { type: 'email', controlValues: { subject: 'Hi', body: '<p>Hi</p>', editorType: 'html' } },
  ])
  await makeWorkflow(api, 'ask', [
    { type: 'http_request', controlValues: { method: 'POST', url: `${vendor.url}/ask`, headers } },
  ])
  for (const status of [400, 401, 429, 500, 200]) {
    vendor.plays(({ headers: sent, body, path }) => ({
      status,
      headers: { 'x-seen': path === '/ask' ? variable : credential },
      body: { message: `wrong: ${JSON.stringify(sent)} ${body} ${path}` },
    }))
    for (const name of ['all', 'ask'])
      await api.post('/v1/events/trigger', { name, to: { subscriberId: 'ada', email: 'ada@example.com' } })
    for (let n = 0; n < 3; n += 1) {
      await server.drain()
      server.clock.advance({ minutes: 20 })
    }
  }
  vendor.plays(() => 'hang up')
  await api.post('/v1/events/trigger', { name: 'all', to: 'ada' })
  await server.drain()
  expect(vendor.asked.length).toBeGreaterThan(10)
  expect(vendor.asked.some(({ headers: sent }) => sent.authorization === `Bearer ${variable}`)).toBe(true)

  // Requests that are refused because of their content.
  for (const path of ['/v1/integrations', '/v1/environment-variables', '/v2/webhooks/endpoints'])
    await api.post(path, { providerId: 5, key: {}, url: `ftp://${credential}`, credentials: { apiKey: credential } })
  await sendAs(server.url, 'GET', '/v2/subscribers', undefined, { authorization: `ApiKey ${api.key}x` })
  await sendAs(server.url, 'GET', '/v1/inbox/notifications', undefined, { authorization: `Bearer ${inbox.token}x` })
  const again = new PersonApi(owner, { ...owner, token: await newSession(server, owner.id) })
  secrets.secondSession = again.token
  const rotated = await again.post('/v1/environments/api-keys/rotate', {})
  secrets.newApiKey = rotated.body.key ?? rotated.body.data?.key ?? rotated.body[0]?.key
  expect(Object.entries(secrets).filter(([, value]) => typeof value !== 'string' || value.length < 15)).toEqual([])

  const found = (where: string, text: string) =>
    Object.entries(secrets).flatMap(([name, value]) => (text.includes(value) ? [`${name} in ${where}`] : []))

  expect(server.logged.length).toBeGreaterThan(0)
  const told = [...server.logged.flatMap((line) => found('the log', JSON.stringify(line)))]
  for (const page of ['/', '/docs', '/openapi.json', '/metrics', '/health/ready', '/demo']) {
    const { status, text } = await sendAs(server.url, 'GET', page, undefined, { accept: 'text/html' })
    expect([page, status]).toEqual([page, 200])
    told.push(...found(page, text))
  }

  // Everything that a viewer and an editor can read, one record of each kind.
  const readers = await Promise.all([signInAs(server, api, 'viewer'), signInAs(server, api, 'editor')])
  const readable = (await operationsOf(api)).filter(
    ({ method, path }) => method === 'GET' && !path.startsWith('/v1/inbox'),
  )
  const unread: string[] = []
  for (const { path } of readable) {
    const to = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => knownFor(ids, path, name)?.[0] ?? 'x')
    for (const reader of readers) {
      const { status, text } = await reader.get(`${to}?limit=50`)
      if (status !== 200) unread.push(`${path} ${status}`)
      told.push(...found(`GET ${path}`, text))
    }
  }
  // A refusal proves nothing: apart from 403s, these need more than an id, and a run is read below.
  expect([...new Set(unread)].filter((each) => !each.endsWith(' 403')).sort()).toEqual([
    '/a/{token} 404',
    '/l/c/{token} 404',
    '/l/o/{token} 404',
    '/l/p/{token} 404',
    '/l/u/{token} 404',
    '/l/v/{token} 404',
    '/v1/auth/oidc/start 404',
    '/v1/bridge/controls/{workflowId}/{stepId} 404',
    '/v1/bridge/status 400',
    '/v1/explain 422',
    '/v1/integrations/chat/oauth/callback 400',
    '/v1/notifications/count 422',
    '/v1/notifications/{notificationId} 404',
    '/v2/events/{id} 404',
    '/v2/inbound-webhooks/delivery-providers/{environmentId}/{integrationId} 404',
    '/v2/questions/{id} 404',
    '/v2/shadow 409',
    '/v2/shadow/differences 409',
    '/v2/shadow/report 409',
    '/v2/subscribers/{subscriberId}/notifications/count 400',
  ])
  // Even admins find no credentials in deliveries.
  const admin = new PersonApi(owner, owner)
  for (const path of ['notifications', 'messages', 'deliveries', 'sandbox/messages', 'audit'])
    told.push(...found(path, (await admin.get(`/v1/${path}?limit=50`)).text))
  for (const name of ['all', 'ask']) {
    const { status, text } = await api.get(`/v1/explain?workflowId=${name}&subscriberId=ada`)
    expect(status).toBe(200)
    told.push(...found('explain', text))
  }
  const runs = await admin.get('/v1/notifications?limit=50')
  for (const { _id } of runs.body.data) told.push(...found('a run', (await admin.get(`/v1/notifications/${_id}`)).text))
  expect(runs.body.data.length).toBeGreaterThan(5)
  expect([...new Set(told)]).toEqual([])

  const { db } = server.database
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    SELECT schemaname AS schema, tablename AS name FROM pg_tables
    WHERE schemaname IN ('public', 'graphile_worker')`.execute(db)
  const stored: string[] = []
  for (const { schema, name } of tables) {
    const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.table(`${schema}.${name}`)} t`.execute(
      db,
    )
    for (const { row } of rows) stored.push(...found(name, row))
  }
  expect([...new Set(stored)]).toEqual([])
}, 120_000)

test('the password of an unreachable database is never shown', async () => {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) })
  const databaseUrl = `postgres://belfry:${password}@127.0.0.1:1/belfry`
  const { config } = readConfig({ PORT: '0' })
  const error: unknown = await startService(config, {
    databaseUrl,
    secretKey: 'a1'.repeat(32),
    clock: server.clock,
    log,
  }).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(Error)
  const { message, stack, cause } = error as Error
  expect([message, stack, String(cause), (cause as Error).stack, ...lines].join('\n')).not.toContain(password)
})

const tokenIn = (link: string) => link.split('#')[1] ?? ''
