// Hole 3 of the review: what signs is apart from API keys, one secret for each purpose, and is rotated with an overlap.
import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { identifierOf } from './inbox.ts'
import { signInAs } from './people.ts'
import { makeWorkflow, trigger } from './runs.ts'
import { Api, useServer } from './server.ts'
import { useVendor } from './vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

interface Signer {
  purpose: string
  isApart: boolean
  secrets: Array<{ secret: string; expiresAt: string | null }>
}
const signersOf = async (api: Api): Promise<Signer[]> => (await api.get('/v2/signing-secrets')).body
const secretOf = async (api: Api, purpose: string) =>
  (await signersOf(api)).find((signer) => signer.purpose === purpose)?.secrets[0]?.secret ?? ''
const rotate = async (api: Api, purpose: string, body: object = {}): Promise<string> => {
  const answer = await api.post(`/v2/signing-secrets/${purpose}/rotate`, body)
  expect(answer, answer.text).toMatchObject({ status: 201, body: { purpose } })
  return answer.body.secret
}

/** Which of these secrets signed the last request. */
function signersOfLast(secrets: Record<string, string>): string[] {
  const { headers, body } = vendor.asked.at(-1) ?? { headers: {} as Record<string, string>, body: '' }
  const [time = '', ...signatures] = String(headers['svc-signature']).split(',')
  const signedBy = (secret: string) =>
    `v1=${createHmac('sha256', secret)
      .update(`${time.slice(2)}.${body}`)
      .digest('hex')}`
  return signatures.map(
    (signature) => Object.keys(secrets).find((name) => signedBy(secrets[name] ?? '') === signature) ?? 'unknown',
  )
}

async function callVendor(api: Api): Promise<void> {
  await trigger(api, 'call', 'ada')
  await server.drain()
}

const makeCall = (api: Api) =>
  makeWorkflow(api, 'call', [
    { type: 'http_request', controlValues: { method: 'POST', url: `${vendor.url}/x`, body: '{"a":1}' } },
  ])

async function hashIsAccepted(api: Api, secret: string): Promise<boolean> {
  const subscriberHash = createHmac('sha256', secret).update('ada').digest('hex')
  const applicationIdentifier = await identifierOf(server, api)
  const session = { applicationIdentifier, subscriberId: 'ada', subscriberHash }
  return (await api.post('/v1/inbox/session', session)).status === 201
}

async function requireHashes(api: Api): Promise<void> {
  const { body } = await api.get('/v1/integrations')
  const inbox = body.find(({ channel }: { channel: string }) => channel === 'in_app')
  expect((await api.put(`/v1/integrations/${inbox._id}`, { credentials: { hmac: true } })).status).toBe(200)
}

beforeEach(() => vendor.plays(() => ({ body: { ok: true } })))

describe('hole 3: an environment', () => {
  test('that is new signs with a secret for each purpose, and none of them is an API key', async () => {
    const { body } = await server.wideApi.post('/v1/environments', { name: 'Apart', color: '#123456' })
    const api = new Api(server.url, body.apiKeys[0].key, body._id, server.api.organizationId)
    const signers = await signersOf(api)
    expect(signers.map(({ purpose, isApart }) => [purpose, isApart])).toEqual([
      ['inbox', true],
      ['bridge', true],
      ['replies', true],
      ['requests', true],
    ])
    const all = signers.flatMap(({ secrets }) => secrets.map(({ secret }) => secret))
    expect(new Set([...all, api.key]).size).toBe(5)
    for (const secret of all)
      expect(await new Api(api.url, secret, '', '').get('/v2/topics')).toMatchObject({ status: 401 })
    await makeCall(api)
    await callVendor(api)
    expect(signersOfLast({ key: api.key, requests: await secretOf(api, 'requests') })).toEqual(['requests'])
  })

  test('of the brand of public clients signs with its compatible key, until it gets a secret', async () => {
    const { development: api } = await server.freshOrganization()
    expect((await signersOf(api)).map(({ isApart }) => isApart)).toEqual([false, false, false, false])
    await makeCall(api)
    await callVendor(api)
    expect(signersOfLast({ key: api.key })).toEqual(['key'])
    const requests = await rotate(api, 'requests', { overlapHours: 1 })
    await callVendor(api)
    expect(signersOfLast({ key: api.key, requests })).toEqual(['requests', 'key'])
    server.clock.advance({ hours: 1 })
    await callVendor(api)
    expect(signersOfLast({ key: api.key, requests })).toEqual(['requests'])
    expect((await signersOf(api)).map(({ isApart }) => isApart)).toEqual([false, false, false, true])
  })

  test('signs with both secrets during a rotation, and with one after it', async () => {
    const { development: api } = await server.freshOrganization()
    await makeCall(api)
    const first = await rotate(api, 'requests', { overlapHours: 0 })
    const second = await rotate(api, 'requests', { overlapHours: 2 })
    await callVendor(api)
    expect(signersOfLast({ first, second })).toEqual(['second', 'first'])
    server.clock.advance({ hours: 2 })
    await callVendor(api)
    expect(signersOfLast({ first, second })).toEqual(['second'])
    const third = await rotate(api, 'requests', { overlapHours: 0 })
    await callVendor(api)
    expect(signersOfLast({ second, third })).toEqual(['third'])
  })

  test('accepts inbox hashes made with the inbox secret or the compatible key, not with another secret or key', async () => {
    const { development: api } = await server.freshOrganization()
    await requireHashes(api)
    const { body: scoped } = await api.post('/v2/api-keys', { name: 'A key', scopes: ['administer'] })
    const [inbox, bridge] = [await rotate(api, 'inbox'), await rotate(api, 'bridge')]
    const accepted = async (secret: string) => hashIsAccepted(api, secret)
    expect(await Promise.all([inbox, api.key].map(accepted))).toEqual([true, true])
    expect(await Promise.all([bridge, scoped.key, 'x'].map(accepted))).toEqual([false, false, false])
    const newer = await rotate(api, 'inbox', { overlapHours: 1 })
    expect(await Promise.all([newer, inbox].map(accepted))).toEqual([true, true])
    server.clock.advance({ hours: 1 })
    expect(await Promise.all([newer, inbox].map(accepted))).toEqual([true, false])
  })

  test('can forget its compatible key: it stays valid as a key, and signs nothing any more', async () => {
    const { development: api } = await server.freshOrganization()
    await requireHashes(api)
    await makeCall(api)
    const [{ _id }] = (await api.get('/v2/api-keys')).body
    expect(await api.patch(`/v2/api-keys/${_id}`, { isCompatible: false })).toMatchObject({
      status: 200,
      body: { isCompatible: false },
    })
    expect((await api.get('/v1/environments/api-keys')).body).toEqual([])
    expect(await hashIsAccepted(api, api.key)).toBe(false)
    expect(await hashIsAccepted(api, await secretOf(api, 'inbox'))).toBe(true)
    await callVendor(api)
    expect(signersOfLast({ key: api.key, requests: await secretOf(api, 'requests') })).toEqual(['requests'])
    const { rows } = await server.database.pool.query('SELECT encrypted_key FROM api_keys WHERE id = $1', [_id])
    expect(rows).toEqual([{ encrypted_key: null }])
  })
})

test('only owners and keys that administer see signing secrets; admins rotate them; both is in the audit log', async () => {
  const { development: api } = await server.freshOrganization()
  const [owner, admin, editor] = [
    await signInAs(server, api, 'owner'),
    await signInAs(server, api, 'admin'),
    await signInAs(server, api, 'editor'),
  ]
  const secret = await rotate(admin, 'inbox')
  expect((await owner.get('/v2/signing-secrets')).text).toContain(secret)
  for (const person of [admin, editor])
    expect(await person.get('/v2/signing-secrets')).toMatchObject({ status: 403, body: { code: 'insufficient_role' } })
  const reader = await server.keyFor(api, ['read'])
  expect(await reader.get('/v2/signing-secrets')).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
  expect((await api.get('/v1/audit')).body.data).toMatchObject([
    { action: 'signing-secret.rotated', target: { id: 'inbox' }, actor: { email: admin.email } },
  ])
  const { rows } = await server.database.pool.query('SELECT secret FROM signing_secrets')
  for (const row of rows) expect(row.secret).toMatch(/^enc:v1:/)
})

test.each<[string, object?]>([['nothing'], ['inbox', { overlapHours: 721 }], ['inbox', { overlapHours: -1 }]])(
  'rotating %s with %j is refused',
  async (purpose, body = {}) => {
    expect((await server.api.post(`/v2/signing-secrets/${purpose}/rotate`, body)).status).toBe(422)
  },
)
