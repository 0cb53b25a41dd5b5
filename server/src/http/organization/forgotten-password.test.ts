import { beforeEach, expect, test, vi } from 'vitest'
import { type PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { hashPassword } from './passwords.ts'

const server = useServer({ publicUrl: 'https://belfry.example', allowPrivateAddresses: true })
const vendor = useVendor()

let api: Api
let owner: PersonApi
let member: PersonApi

beforeEach(async () => {
  ;({ development: api } = await server.freshOrganization())
  ;[owner, member] = (await Promise.all([signInAs(server, api, 'owner'), signInAs(server, api, 'editor')])) as [
    PersonApi,
    PersonApi,
  ]
  const password_hash = await hashPassword('nanoseconds of wire')
  await server.database.db.updateTable('users').set({ password_hash }).where('id', '=', member.id).execute()
  vendor.plays(() => ({ body: { id: 'm1' } }))
  server.clock.advance({ minutes: 15 })
})

const integrate = async () => {
  const sender = { from: 'team@acme.example', senderName: 'Acme', domain: 'acme.example' }
  const credentials = { apiKey: 're_secret', user: 'api', baseUrl: vendor.url, ...sender }
  const body = { providerId: 'mailgun', channel: 'email', name: 'Mailgun', active: true, credentials }
  expect(await api.post('/v1/integrations', body)).toMatchObject({ status: 201 })
}
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  sendAs(server.url, 'POST', `/v1/auth/${path}`, body, headers)
const forget = (email: string) => post('forgot-password', { email })
const mails = () => vendor.asked.map(({ body = '' }) => body)
/** The token in the newest mail, once there are so many. */
const tokenIn = async (count: number) => {
  await vi.waitFor(() => expect(vendor.asked).toHaveLength(count))
  return /reset#([\w-]{43})/.exec(mails().at(-1) ?? '')?.[1] ?? ''
}
const acts = async () =>
  (await owner.get('/v1/audit?action=member')).body.data.map(({ action }: { action: string }) => action)

test('a link is mailed, works once, ends all sessions and is in the audit log', async () => {
  await integrate()
  expect(await forget(member.email.toUpperCase())).toMatchObject({ status: 204 })
  const token = await tokenIn(1)
  for (const text of [member.email, 'A new password for', `<a href="https://belfry.example/reset#${token}">`])
    expect(mails()[0]).toContain(text)
  expect(await member.get('/v1/auth/session')).toMatchObject({ status: 200 })
  expect(await acts()).toContain('member.reset-link-asked')
  // Only its hash is stored.
  const { rows } = await server.database.pool.query('SELECT l::text AS row FROM sign_in_links l')
  expect(rows.map(({ row }) => row).join()).not.toContain(token)

  const choose = () => post('password-reset', { token, password: 'jacquard loom cards' })
  expect(await choose()).toMatchObject({ status: 200, body: { user: { email: member.email } } })
  expect(await choose()).toMatchObject({ status: 404, body: { code: 'link_not_found' } })
  expect(await member.get('/v1/auth/session')).toMatchObject({ status: 401 })
  expect(await post('sign-in', { email: member.email, password: 'jacquard loom cards' })).toMatchObject({ status: 200 })
})

test('the answer is the same for an unknown address, and for one without password; nothing is mailed', async () => {
  await integrate()
  const known = await forget(member.email)
  await tokenIn(1)
  for (const email of ['nobody@example.com', owner.email]) {
    const answer = await forget(email)
    expect([answer.status, answer.text]).toEqual([known.status, known.text])
  }
  // The next mail is the second one: the two before sent none.
  await forget(member.email)
  await tokenIn(2)
  expect(mails().join()).not.toContain('nobody')
})

test('at most three mails go to an account in a quarter of an hour, and the answer does not tell', async () => {
  await integrate()
  const answers = []
  for (let count = 0; count < 5; count += 1) answers.push(await forget(member.email))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]))
  await tokenIn(3)
  server.clock.advance({ minutes: 15 })
  await forget(member.email)
  // The next mail is the fourth one.
  expect(await post('links/look-up', { token: await tokenIn(4) })).toMatchObject({ status: 200 })
})

test('requests from one network address are slowed down', async () => {
  await forget('one@example.com')
  await server.database.db.updateTable('sign_in_attempts').set({ attempts: 60 }).execute()
  const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => forget(`many-${n}@example.com`)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 429]))
})

test('without an email integration no link is made, and the options say so', async () => {
  await forget(member.email)
  const options = async () => (await sendAs(server.url, 'GET', '/v1/auth/options')).body.mailsResets
  await server.database.db.deleteFrom('integrations').where('provider_id', '=', 'mailgun').execute()
  expect(await options()).toBe(false)
  await integrate()
  expect(await options()).toBe(true)
  await forget(member.email)
  await tokenIn(1)
  expect((await acts()).filter((action: string) => action === 'member.reset-link-asked')).toHaveLength(1)
})

test('a mail that fails is logged without its link, and the answer is the same', async () => {
  await integrate()
  vendor.plays(() => ({ status: 401, body: { message: 'no' } }))
  expect(await forget(member.email)).toMatchObject({ status: 204 })
  const token = await tokenIn(1)
  await vi.waitFor(() => expect(JSON.stringify(server.logged)).toContain('could not mail a link'))
  expect(JSON.stringify(server.logged)).not.toContain(token)
})

test('needs an address, and no page of another site can ask', async () => {
  expect(await forget('nobody')).toMatchObject({ status: 422 })
  const headers = { origin: 'https://evil.example' }
  expect(await post('forgot-password', { email: member.email }, headers)).toMatchObject({ status: 403 })
})
