import { beforeEach, describe, expect, test } from 'vitest'
import { type PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
let owner: PersonApi
let admin: PersonApi
let editor: PersonApi

beforeEach(async () => {
  ;({ development: api } = await server.freshOrganization())
  ;[owner, admin, editor] = (await Promise.all(
    (['owner', 'admin', 'editor'] as const).map((role) => signInAs(server, api, role)),
  )) as [PersonApi, PersonApi, PersonApi]
})

const setRole = (by: PersonApi, of: PersonApi, role: string) => by.patch(`/v1/auth/members/${of.id}`, { role })
const remove = (by: PersonApi, of: PersonApi) => by.delete(`/v1/auth/members/${of.id}`)
const rolesNow = async () =>
  (await owner.get('/v1/auth/members')).body.map((member: { role: string }) => member.role).sort()

test('the list has the members of the organization, by name', async () => {
  await signInAs(server, (await server.freshOrganization()).development, 'owner')
  expect(await editor.get('/v1/auth/members')).toMatchObject({
    status: 200,
    body: [
      { _id: admin.id, name: 'An admin', role: 'admin', isYou: false, lastSeenAt: expect.any(String) },
      { _id: editor.id, name: 'An editor', role: 'editor', isYou: true },
      { _id: owner.id, name: 'An owner', role: 'owner', email: owner.email, hasPassword: false, hasOidc: false },
    ],
  })
})

describe('roles', () => {
  test('are changed by admins, and apply from the next request on', async () => {
    expect(await editor.post('/v2/topics', { key: 'a' })).toMatchObject({ status: 201 })
    expect(await setRole(admin, editor, 'viewer')).toMatchObject({ status: 200, body: { role: 'viewer' } })
    expect(await editor.post('/v2/topics', { key: 'b' })).toMatchObject({ status: 403 })
    expect(await setRole(admin, editor, 'admin')).toMatchObject({ status: 200 })
    expect(await setRole(admin, editor, 'admin')).toMatchObject({ status: 200, body: { role: 'admin' } })
    expect(await setRole(editor, admin, 'editor')).toMatchObject({ status: 200 })
    expect(await setRole(editor, admin, 'king')).toMatchObject({ status: 422 })
  })

  test('of owners can be given and taken by owners only', async () => {
    const refused = { status: 403, body: { code: 'owner_needed' } }
    expect(await setRole(admin, editor, 'owner')).toMatchObject(refused)
    expect(await setRole(admin, admin, 'owner')).toMatchObject(refused)
    expect(await setRole(admin, owner, 'viewer')).toMatchObject(refused)
    expect(await remove(admin, owner)).toMatchObject(refused)
    expect(await admin.post(`/v1/auth/members/${owner.id}/reset-link`)).toMatchObject(refused)
    expect(await rolesNow()).toEqual(['admin', 'editor', 'owner'])
    expect(await setRole(owner, admin, 'owner')).toMatchObject({ status: 200 })
    expect(await setRole(owner, admin, 'editor')).toMatchObject({ status: 200 })
  })

  test('one owner always stays, even when two step down at once', async () => {
    const last = { status: 409, body: { code: 'last_owner' } }
    expect(await setRole(owner, owner, 'admin')).toMatchObject(last)
    expect(await remove(owner, owner)).toMatchObject(last)
    await setRole(owner, admin, 'owner')
    const both = await Promise.all([setRole(owner, admin, 'viewer'), setRole(admin, owner, 'viewer')])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403])
    await server.database.db
      .updateTable('users')
      .set({ role: 'owner' })
      .where('id', 'in', [owner.id, admin.id])
      .execute()
    await owner.post('/v1/auth/sign-out')
    const again = await Promise.all([remove(admin, admin), setRole(admin, owner, 'admin')])
    expect(again.map(({ status }) => status).sort()).not.toEqual([200, 204])
  })
})

describe('removing', () => {
  test('ends the sessions of the member', async () => {
    expect(await remove(admin, editor)).toMatchObject({ status: 204 })
    expect(await editor.get('/v1/auth/session')).toMatchObject({ status: 401 })
    expect(await remove(admin, editor)).toMatchObject({ status: 404, body: { code: 'member_not_found' } })
    expect(await rolesNow()).toEqual(['admin', 'owner'])
  })

  test('a member of another organization is not found', async () => {
    const stranger = await signInAs(server, (await server.freshOrganization()).development, 'owner')
    for (const answer of [
      await remove(stranger, editor),
      await setRole(stranger, editor, 'viewer'),
      await stranger.post(`/v1/auth/members/${editor.id}/reset-link`),
    ])
      expect(answer).toMatchObject({ status: 404, body: { code: 'member_not_found' } })
    expect(await rolesNow()).toEqual(['admin', 'editor', 'owner'])
  })
})

test('an admin can create a link for a member to choose a new password', async () => {
  const { status, body } = await admin.post(`/v1/auth/members/${editor.id}/reset-link`)
  expect([status, body.link]).toEqual([201, expect.stringMatching(/\/reset#[\w-]{43}$/)])
  const token = body.link.split('#')[1]
  const choose = () => sendAs(server.url, 'POST', '/v1/auth/password-reset', { token, password: 'nanoseconds of wire' })
  expect(await choose()).toMatchObject({ status: 200, body: { user: { _id: editor.id, hasPassword: true } } })
  expect(await choose()).toMatchObject({ status: 404 })
  expect(await editor.get('/v1/auth/session')).toMatchObject({ status: 401 })
})

test('the organization can be renamed', async () => {
  expect(await admin.patch('/v1/auth/organization', { name: ' Acme ' })).toMatchObject({
    status: 200,
    body: { _id: api.organizationId, name: 'Acme' },
  })
  expect(await admin.patch('/v1/auth/organization', { name: ' ' })).toMatchObject({ status: 422 })
  expect((await editor.get('/v1/auth/session')).body.organization.name).toBe('Acme')
})
