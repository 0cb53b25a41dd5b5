import { beforeEach, describe, expect, test } from 'vitest'
import { type PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let development: Api
let production: Api
let owner: PersonApi
let admin: PersonApi
/** A viewer in the organization unless a test says otherwise. */
let member: PersonApi

beforeEach(async () => {
  ;({ development, production } = await server.freshOrganization())
  owner = await signInAs(server, development, 'owner')
  admin = await signInAs(server, development, 'admin')
  member = await signInAs(server, development, 'viewer')
})

type Roles = Array<[Api, string]>
const onWire = (roles: Roles) => roles.map(([{ environmentId }, role]) => ({ _environmentId: environmentId, role }))
const set = (...roles: Roles) => admin.patch(`/v1/auth/members/${member.id}`, { environmentRoles: onWire(roles) })
const refused = (role: string, needed: string) => ({
  status: 403,
  body: { code: 'insufficient_role', ctx: { role, needed } },
})
const topic = (key: string) => ({ key })

describe('a role in an environment', () => {
  test('replaces the one in the organization there, from the next request on, in open sessions', async () => {
    expect(await member.post('/v2/topics', topic('a'))).toMatchObject(refused('viewer', 'editor'))
    expect(await set([development, 'editor'])).toMatchObject({
      status: 200,
      body: { role: 'viewer', environmentRoles: onWire([[development, 'editor']]) },
    })
    expect(await member.post('/v2/topics', topic('a'))).toMatchObject({ status: 201 })
    expect(await member.at(production).post('/v2/topics', topic('a'))).toMatchObject(refused('viewer', 'editor'))
    expect(await set([development, 'viewer'])).toMatchObject({ status: 200 })
    expect(await member.post('/v2/topics', topic('b'))).toMatchObject(refused('viewer', 'editor'))
  })

  test('takes effect in other processes, too', async () => {
    const other = await server.startAnother()
    const there = member.at({ url: other.url })
    expect(await there.post('/v2/topics', topic('a'))).toMatchObject({ status: 403 })
    await set([development, 'editor'])
    await expect.poll(async () => (await there.post('/v2/topics', topic('a'))).status).toBe(201)
    await set([development, 'none'])
    await expect.poll(async () => (await there.get('/v2/topics')).status).toBe(403)
  })

  test('none closes the environment: it is not listed, not chosen by default, and opens for nothing', async () => {
    await set([development, 'none'])
    expect(await member.get('/v2/topics')).toMatchObject(refused('none', 'viewer'))
    const { body: session } = await member.get('/v1/auth/session')
    expect(session.environments).toMatchObject([{ _id: production.environmentId, role: 'viewer', isProtected: false }])
    const { body: list } = await member.at(production).get('/v1/environments')
    expect(list.map((one: { _id: string }) => one._id)).toEqual([production.environmentId])
    const unnamed = await sendAs(server.url, 'GET', '/v1/environments/me', undefined, {
      cookie: `belfry_session=${member.token}`,
    })
    expect(unnamed).toMatchObject({ status: 200, body: { _id: production.environmentId } })
    const elsewhere = member.at(production)
    for (const path of ['tags', 'retention', 'doors', 'inbox-access', 'protection'])
      expect(await elsewhere.get(`/v2/environments/${development.environmentId}/${path}`)).toMatchObject({
        status: 403,
      })
    const { body: own } = await owner.get('/v1/environments/me')
    expect(await elsewhere.get(`/v2/environments/${own.identifier}/tags`)).toMatchObject(refused('none', 'viewer'))
    expect(await elsewhere.post(`/v2/environments/${production.environmentId}/diff`, {})).toMatchObject(
      refused('none', 'viewer'),
    )
  })

  test('without any access a person still has an account, and nothing else', async () => {
    await set([development, 'none'], [production, 'none'])
    expect(await member.get('/v1/auth/session')).toMatchObject({ status: 200, body: { environments: [] } })
    expect(await member.get('/v2/topics')).toMatchObject(refused('none', 'viewer'))
    expect(await member.at(production).get('/v2/topics')).toMatchObject(refused('none', 'viewer'))
  })

  test('admin administers that environment, and neither the organization nor another environment', async () => {
    await set([development, 'admin'])
    const mail = { providerId: 'sendgrid', channel: 'email', credentials: { apiKey: 'k', from: 'a@example.com' } }
    expect(await member.post('/v1/integrations', mail)).toMatchObject({ status: 201 })
    const [sees] = (await member.get('/v1/integrations')).body.filter(
      (one: { providerId: string }) => one.providerId === 'sendgrid',
    )
    expect(sees.credentials).toMatchObject({ apiKey: 'k' })
    expect(await member.post('/v2/api-keys', { name: 'Own', scopes: ['send'] })).toMatchObject({ status: 201 })
    const needsMore = refused('viewer', 'admin')
    const wide = { name: 'All', scopes: ['send'], isOrganizationWide: true }
    const publishing = { name: 'CI', scopes: [`publish:${production.environmentId}`] }
    expect(await member.post('/v2/api-keys', wide)).toMatchObject(needsMore)
    expect(await member.post('/v2/api-keys', publishing)).toMatchObject(needsMore)
    expect(await member.post('/v1/environments', { name: 'Mine', color: '#123456' })).toMatchObject(needsMore)
    expect(await member.delete(`/v1/environments/${development.environmentId}`)).toMatchObject(needsMore)
    expect(await member.patch('/v1/organizations/settings', {})).toMatchObject(needsMore)
    expect(await member.get('/v1/auth/invitations')).toMatchObject(needsMore)
    expect(await member.patch(`/v2/environments/${development.environmentId}/doors`, {})).toMatchObject(needsMore)
    expect(await member.patch(`/v2/environments/${production.environmentId}/retention`, {})).toMatchObject(needsMore)
    expect(await member.get('/v2/signing-secrets')).toMatchObject(refused('admin', 'owner'))
    const values = [{ _environmentId: production.environmentId, value: 'x' }]
    expect(await member.post('/v1/environment-variables', { key: 'A', values })).toMatchObject(needsMore)
    await owner.post('/v1/environment-variables', { key: 'A', values })
    expect(await member.patch('/v1/environment-variables/A', { values })).toMatchObject(needsMore)
    const own = [{ _environmentId: development.environmentId, value: 'y' }]
    expect(await member.patch('/v1/environment-variables/A', { values: own })).toMatchObject({ status: 200 })
    expect(await member.patch('/v1/environment-variables/A', { key: 'B' })).toMatchObject(needsMore)
    await owner.at(production).post('/v2/api-keys', { name: 'Elsewhere', scopes: ['send'] })
    const { body: acts } = await member.get('/v1/audit?limit=100')
    const places = new Set(acts.data.map((act: { environmentId: string }) => act.environmentId))
    expect([...places]).toEqual([development.environmentId])
  })

  test('hides values of variables and their users in closed environments', async () => {
    const values = [development, production].map(({ environmentId }) => ({ _environmentId: environmentId, value: 'v' }))
    await owner.post('/v1/environment-variables', { key: 'SITE', values })
    await owner.at(production).post('/v2/workflows', {
      name: 'Uses it',
      workflowId: 'uses-it',
      steps: [{ name: 'Tell', type: 'in_app', controlValues: { body: '{{env.SITE}}' } }],
    })
    expect((await member.get('/v1/environment-variables/SITE/usage')).body.workflows).toHaveLength(1)
    await set([production, 'none'])
    expect((await member.get('/v1/environment-variables/SITE')).body.values).toHaveLength(1)
    expect((await member.get('/v1/environment-variables/SITE/usage')).body.workflows).toHaveLength(0)
  })

  test('publishing needs admin in the target and a look at the source', async () => {
    const publish = () => member.post(`/v2/environments/${production.environmentId}/publish`, {})
    await set([production, 'admin'])
    expect(await publish()).toMatchObject({ status: 200 })
    await set([production, 'admin'], [development, 'none'])
    expect(await member.at(production).post(`/v2/environments/${production.environmentId}/publish`, {})).toMatchObject(
      refused('none', 'viewer'),
    )
    await set([production, 'editor'], [development, 'admin'])
    expect(await publish()).toMatchObject(refused('editor', 'admin'))
  })
})

describe('setting it', () => {
  test('owners and admins cannot be limited, and becoming one ends the limits', async () => {
    const environmentRoles = onWire([[production, 'none']])
    const limit = (person: PersonApi) => owner.patch(`/v1/auth/members/${person.id}`, { environmentRoles })
    expect(await limit(admin)).toMatchObject({ status: 400, body: { code: 'role_unlimited' } })
    expect(await limit(owner)).toMatchObject({ status: 400, body: { code: 'role_unlimited' } })
    expect(await limit(member)).toMatchObject({ status: 200 })
    expect(await owner.patch(`/v1/auth/members/${member.id}`, { role: 'admin' })).toMatchObject({
      body: { role: 'admin', environmentRoles: [] },
    })
    expect(await member.at(production).get('/v2/topics')).toMatchObject({ status: 200 })
  })

  test('is for admins of the organization, with known environments and roles', async () => {
    const path = `/v1/auth/members/${member.id}`
    await set([development, 'admin'])
    expect(await member.patch(path, { environmentRoles: [] })).toMatchObject(refused('viewer', 'admin'))
    const { production: foreign } = await server.freshOrganization()
    expect(await set([foreign, 'viewer'])).toMatchObject({ status: 404, body: { code: 'environment_not_found' } })
    expect(await set([development, 'owner'])).toMatchObject({ status: 422 })
  })

  test('is audited with the names of the environments', async () => {
    await set([production, 'none'])
    await set([production, 'none'])
    const { body } = await owner.get('/v1/audit?action=member.environment-roles-changed')
    expect(body.data).toMatchObject([{ target: { id: member.id }, details: { from: {}, to: { Production: 'none' } } }])
  })

  test('an invitation carries it', async () => {
    const environmentRoles = onWire([[production, 'none']])
    const invitation = { email: 'grace@example.com', role: 'editor', environmentRoles }
    const { body: made } = await admin.post('/v1/auth/invitations', invitation)
    expect(made).toMatchObject({ environmentRoles })
    const accepted = await sendAs(server.url, 'POST', '/v1/auth/invitations/accept', {
      token: made.link.split('#')[1],
      name: 'Grace',
      password: 'a long enough sentence',
    })
    expect(accepted).toMatchObject({
      status: 201,
      body: { environments: [{ _id: development.environmentId, role: 'editor' }] },
    })
    const limited = await admin.post('/v1/auth/invitations', { ...invitation, email: 'a@example.com', role: 'admin' })
    expect(limited).toMatchObject({ status: 400, body: { code: 'role_unlimited' } })
  })

  test('ends with the environment', async () => {
    const { body: staging } = await owner.post('/v1/environments', { name: 'Staging', color: '#123456' })
    await owner.patch(`/v1/auth/members/${member.id}`, {
      environmentRoles: [{ _environmentId: staging._id, role: 'editor' }],
    })
    expect(await owner.delete(`/v1/environments/${staging._id}`)).toMatchObject({ status: 200 })
    expect(await owner.patch(`/v1/auth/members/${member.id}`, { role: 'editor' })).toMatchObject({
      status: 200,
      body: { environmentRoles: [] },
    })
  })
})
