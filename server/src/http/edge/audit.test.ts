import { beforeAll, expect, test } from 'vitest'
import { type PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

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
      target: { type: 'integration', id: integration._id, name: null },
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
  expect(keys).toMatchObject([{ key: expect.stringMatching(/./) }])
  expect(JSON.stringify(await log())).not.toContain(keys[0].key)
  // Deleting an environment keeps its audit entries.
  await server.drain()
  expect(await actions('&action=environment.deleted')).toEqual(['environment.deleted'])
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
