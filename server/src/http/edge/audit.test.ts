import { beforeAll, describe, expect, test } from 'vitest'
import { type PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { makeEndpoint, toldOf } from '../../../test/webhook-receiver.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const other = useVendor()

let api: Api
let admin: PersonApi

beforeAll(async () => {
  ;({ development: api } = await server.freshOrganization())
  admin = await signInAs(server, api, 'admin')
})

const log = async (query = '') => (await admin.get(`/v1/audit?limit=100${query}`)).body
const actions = async (query?: string) => (await log(query)).data.map((entry: { action: string }) => entry.action)

test('an audit entry says who did what to what, in which environment and from where, without values', async () => {
  const credentials = { apiKey: 'SG.secret', from: 'a@example.com' }
  const sendgrid = { providerId: 'sendgrid', channel: 'email', name: 'Ours', credentials }
  const { body: integration } = await admin.post('/v1/integrations', sendgrid)
  const by = { type: 'person', id: admin.id, name: 'An admin', email: admin.email }
  const { data } = await log()
  expect(data).toEqual([
    {
      _id: expect.any(String),
      action: 'integration.created',
      actor: by,
      target: { type: 'integration', id: integration._id, name: 'Ours' },
      environmentId: api.environmentId,
      address: '127.0.0.1',
      details: { fields: ['providerId', 'channel', 'name', 'credentials'] },
      createdAt: server.clock.now().toISOString(),
    },
  ])
  expect(JSON.stringify(data)).not.toContain('SG.secret')

  await api.put(`/v1/integrations/${integration._id}`, { name: 'Theirs' })
  expect((await log()).data[0]).toMatchObject({
    action: 'integration.changed',
    actor: { type: 'api-key', id: expect.stringMatching(/^[0-9a-f]{24}$/), name: 'Compatible key', email: null },
    target: { id: integration._id },
    details: { fields: ['name'] },
  })
})

test('refused requests and reads are not logged', async () => {
  const before = await actions()
  const editor = await signInAs(server, api, 'editor')
  await editor.post('/v1/integrations', {})
  await admin.post('/v1/integrations', {})
  await admin.delete('/v1/integrations/0123456789abcdef01234567')
  await admin.get('/v1/integrations')
  await editor.post('/v2/topics', { key: 'ordinary' })
  expect(await actions()).toEqual(before)
})

test('changes of keys, environments, variables, webhooks and settings are logged', async () => {
  const { body: keys } = await admin.post('/v1/environments/api-keys/regenerate')
  const { body: staging } = await admin.post('/v1/environments', { name: 'Staging', color: '#123456' })
  await admin.put(`/v1/environments/${staging._id}`, { name: 'Stage' })
  await admin.delete(`/v1/environments/${staging._id}`)
  await admin.post('/v1/environment-variables', { key: 'KEY' })
  await admin.delete('/v1/environment-variables/KEY')
  const { body: endpoint } = await admin.post('/v2/webhooks/endpoints', { url: 'https://example.com/hook' })
  await admin.post(`/v2/webhooks/endpoints/${endpoint._id}/rotate-secret`)
  await admin.patch('/v1/organizations/settings', { defaultLocale: 'de_DE' })
  expect((await actions()).slice(0, 9).reverse()).toEqual([
    'api-key.replaced',
    'environment.created',
    'environment.changed',
    'environment.deleted',
    'variable.created',
    'variable.deleted',
    'webhook.created',
    'webhook.secret-rotated',
    'organization.changed',
  ])
  expect((await log()).data.slice(0, 9).reverse()).toMatchObject([
    {},
    ...['Staging', 'Staging', 'Stage'].map((name) => ({ target: { id: staging._id, name } })),
    ...[{}, {}],
    ...Array.from({ length: 2 }, () => ({ target: { id: endpoint._id, name: 'example.com' } })),
    {},
  ])
  expect(keys).toMatchObject([{ key: expect.stringMatching(/./) }])
  expect(JSON.stringify(await log())).not.toContain(keys[0].key)
  // Deleting an environment keeps its audit entries.
  await server.drain()
  expect(await actions('&action=environment.deleted')).toEqual(['environment.deleted'])
})

test('a publish is logged with what it did, and a dry run is not', async () => {
  const { development, production } = await server.freshOrganization()
  const owner = await signInAs(server, development, 'owner')
  await owner.post('/v2/workflows', { name: 'Welcome', workflowId: 'welcome', steps: [] })
  const publish = (body: object) =>
    owner.post(`/v2/environments/${production.environmentId}/publish`, {
      sourceEnvironmentId: development.environmentId,
      ...body,
    })
  expect((await publish({ dryRun: true })).status).toBe(200)
  const published = async () => (await owner.get('/v1/audit?action=environment.published')).body.data
  expect(await published()).toEqual([])
  expect((await publish({})).status).toBe(200)
  expect(await published()).toMatchObject([
    {
      target: { id: production.environmentId, name: 'Production' },
      details: { from: 'Development', published: ['Welcome'] },
    },
  ])
  await owner.delete('/v2/workflows/welcome')
  await publish({ deleteMissing: true })
  expect((await published())[0].details).toEqual({ from: 'Development', published: [], deleted: ['Welcome'] })
})

test('changes of people are logged, with their names at the time', async () => {
  const owner = await signInAs(server, api, 'owner')
  const viewer = await signInAs(server, api, 'viewer')
  await owner.patch(`/v1/auth/members/${viewer.id}`, { role: 'editor' })
  const { body } = await owner.post(`/v1/auth/members/${viewer.id}/reset-link`)
  const reset = { token: body.link.split('#')[1], password: 'nanoseconds of wire' }
  await sendAs(server.url, 'POST', '/v1/auth/password-reset', reset)
  await sendAs(server.url, 'POST', '/v1/auth/sign-in', { email: viewer.email, password: reset.password })
  await sendAs(server.url, 'POST', '/v1/auth/sign-in', { email: viewer.email, password: 'wrong' })
  const { body: invitation } = await owner.post('/v1/auth/invitations', { email: 'new@example.com', role: 'viewer' })
  await owner.delete(`/v1/auth/invitations/${invitation._id}`)
  await owner.delete(`/v1/auth/members/${viewer.id}`)
  const { data } = await log()
  expect(data.slice(0, 7).reverse()).toMatchObject([
    { action: 'member.role-changed', target: { id: viewer.id }, details: { from: 'viewer', to: 'editor' } },
    { action: 'member.reset-link-made', actor: { id: owner.id }, target: { name: 'An viewer' } },
    { action: 'member.password-reset', actor: { id: viewer.id } },
    { action: 'member.signed-in', actor: { id: viewer.id }, details: { by: 'password' } },
    { action: 'invitation.created', target: { name: 'new@example.com' }, details: { role: 'viewer' } },
    { action: 'invitation.withdrawn', target: { id: invitation._id } },
    { action: 'member.removed', target: { type: 'member', name: 'An viewer' }, details: { email: viewer.email } },
  ])
  for (const secret of [reset.token, reset.password, invitation.link.split('#')[1]])
    expect(JSON.stringify(data)).not.toContain(secret)
  expect(await actions(`&actor=${viewer.id}`)).toEqual(['member.signed-in', 'member.password-reset'])
  expect(await actions('&action=invitation')).toEqual(['invitation.withdrawn', 'invitation.created'])
})

test('the log is paged, and shows one organization', async () => {
  const all = await actions()
  const first = (await admin.get('/v1/audit?limit=2')).body
  const second = (await admin.get(`/v1/audit?limit=2&after=${first.next}`)).body
  expect([...first.data, ...second.data].map(({ action }) => action)).toEqual(all.slice(0, 4))
  expect(first.totalCount).toBe(all.length)

  const { development } = await server.freshOrganization()
  const stranger = await signInAs(server, development, 'owner')
  expect((await stranger.get('/v1/audit')).body.data).toEqual([])
  expect((await stranger.get(`/v1/audit?after=${first.next}`)).body.data).toEqual([])
  expect(await development.get('/v1/audit')).toMatchObject({ status: 200, body: { data: [] } })
})

test('when the audit log cannot be written the client still gets its answer, and the loss is logged', async () => {
  await server.database.pool.query('ALTER TABLE audit_log RENAME TO audit_log_away')
  try {
    expect(await admin.post('/v1/environment-variables', { key: 'KEPT' })).toMatchObject({ status: 200 })
    expect(server.logged.at(-1)).toMatchObject({ level: 50, msg: 'an act could not be written to the audit log' })
  } finally {
    await server.database.pool.query('ALTER TABLE audit_log_away RENAME TO audit_log')
  }
})

test('a webhook that names them gets the entries; one for everything does not', async () => {
  vendor.plays(() => ({ status: 204, body: '' }))
  await makeEndpoint(admin, other)
  const { secret } = await makeEndpoint(admin, vendor, { eventTypes: ['audit.recorded'] })
  await admin.post('/v1/environment-variables', { key: 'STREAMED' })
  await server.drain()
  const entries = (await log()).data.slice(0, 2).reverse()
  expect(entries.map(({ action }: any) => action)).toEqual(['webhook.created', 'variable.created'])
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(toldOf(vendor, secret, server.clock)).toMatchObject(
    entries.map((entry: object) => ({ type: 'audit.recorded', data: { object: { ...entry, hash } } })),
  )
  expect(other.asked).toEqual([])
})

describe('the chain', () => {
  const verified = async () => (await admin.get('/v1/audit/verify')).body
  const exported = async (query = '') =>
    (await admin.get(`/v1/audit/export${query}`)).text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))

  test('every entry has the hash of the one before it, also where many are written at once', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, number) => admin.post('/v1/environment-variables', { key: `K${number}` })),
    )
    const lines = await exported()
    expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => String(index + 1)))
    for (const [index, { previousHash }] of lines.entries()) expect(previousHash).toBe(lines[index - 1]?.hash ?? '')
    const { number, hash } = lines.at(-1)
    expect(await verified()).toMatchObject({ isWhole: true, entries: lines.length, last: { number, hash } })
    expect(await exported(`?after=${lines.at(-2).number}`)).toEqual([lines.at(-1)])
  })

  test('an entry cannot be changed, and a change behind its back is found', async () => {
    const { pool } = server.database
    const { _id, number } = (await exported())[2]
    const set = (action: string) => pool.query('UPDATE audit_log SET action = $2 WHERE id = $1', [_id, action])
    await expect(set('nothing.happened')).rejects.toThrow('can only be added to')
    const before = (await pool.query('SELECT action FROM audit_log WHERE id = $1', [_id])).rows[0].action
    const unguarded = async (work: () => Promise<unknown>) => {
      await pool.query('ALTER TABLE audit_log DISABLE TRIGGER USER')
      await work()
      await pool.query('ALTER TABLE audit_log ENABLE TRIGGER USER')
    }
    await unguarded(() => set('nothing.happened'))
    expect(await verified()).toMatchObject({ isWhole: false, broken: { id: _id, number, reason: 'It was changed' } })
    await unguarded(() => set(before))
    expect(await verified()).toMatchObject({ isWhole: true })
  })

  test('entries that are gone are missed, unless they are the oldest', async () => {
    const { pool } = server.database
    const lines = await exported()
    const remove = (number: string) =>
      pool.query('DELETE FROM audit_log WHERE number = $1 AND organization_id = $2 RETURNING *', [
        number,
        admin.organizationId,
      ])
    await remove('1')
    expect(await verified()).toMatchObject({ isWhole: true, entries: lines.length - 1, first: { number: '2' } })
    await remove(lines.at(-1).number)
    expect(await verified()).toMatchObject({ isWhole: false, broken: { reason: 'The last entries are missing' } })
    await remove('4')
    expect(await verified()).toMatchObject({ broken: { number: '5', reason: 'Entries before it are missing' } })
  })
})
