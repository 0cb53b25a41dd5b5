// Sessions in place of API keys: which environment they open, for how long, and for which pages.
import { describe, expect, test } from 'vitest'
import { sendAs, signInAs } from '../../../test/people.ts'
import { useServer } from '../../../test/server.ts'

const server = useServer({ rateLimit: 'free' })
const ada = { subscriberId: 'ada' }

describe('the environment', () => {
  test('is the one that a header names, out of the organization', async () => {
    const { development, production } = await server.freshOrganization()
    const person = await signInAs(server, development, 'editor')
    const there = person.at({ environmentId: production.environmentId })
    expect(await there.post('/v2/subscribers', ada)).toMatchObject({ status: 201 })
    expect(await production.get('/v2/subscribers/ada')).toMatchObject({ status: 200 })
    expect(await person.get('/v2/subscribers/ada')).toMatchObject({ status: 404 })
    expect(await there.get('/v2/subscribers/ada')).toMatchObject({ status: 200 })
  })

  test('is Development when none is named', async () => {
    const { development } = await server.freshOrganization()
    const person = await signInAs(server, development, 'editor')
    const cookie = `belfry_session=${person.token}`
    const send = (method: string, headers: Record<string, string>) =>
      fetch(`${server.url}/v2/subscribers`, {
        method,
        headers: { cookie, 'content-type': 'application/json', ...headers },
        ...(method === 'GET' ? {} : { body: JSON.stringify(ada) }),
      })
    expect((await send('POST', { 'belfry-environment': '' })).status).toBe(201)
    expect(await (await send('GET', {})).json()).toMatchObject({ data: [{ subscriberId: 'ada' }] })
    expect(await development.get('/v2/subscribers/ada')).toMatchObject({ status: 200 })
  })

  test('of another organization, or a deleted one, is not found', async () => {
    const [one, other] = [await server.freshOrganization(), await server.freshOrganization()]
    const person = await signInAs(server, one.development, 'owner')
    const missing = { status: 404, body: { code: 'environment_not_found' } }
    const elsewhere = person.at({ environmentId: other.development.environmentId })
    expect(await elsewhere.get('/v2/subscribers')).toMatchObject(missing)
    expect(await elsewhere.post('/v2/subscribers', ada)).toMatchObject(missing)

    const { body: staging } = await person.post('/v1/environments', { name: 'Staging', color: '#123456' })
    const there = person.at({ environmentId: staging._id })
    expect(await there.get('/v2/subscribers')).toMatchObject({ status: 200 })
    expect(await person.delete(`/v1/environments/${staging._id}`)).toMatchObject({ status: 200 })
    expect(await there.get('/v2/subscribers')).toMatchObject(missing)
  })

  test('has its rate limits and idempotency keys, the latter for each person', async () => {
    const { development } = await server.freshOrganization()
    const [one, two] = [await signInAs(server, development, 'editor'), await signInAs(server, development, 'editor')]
    const key = { 'idempotency-key': 'same' }
    const first = await one.post('/v2/contexts', { type: 'tenant', id: 'a' }, key)
    expect(first.headers.get('ratelimit-limit')).toBe('150')
    const again = await one.post('/v2/contexts', { type: 'tenant', id: 'a' }, key)
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(again.headers.get('idempotency-replay')).toBe('true')
    expect(await two.post('/v2/contexts', { type: 'tenant', id: 'a' }, key)).toMatchObject({ status: 409 })
  })

  test('records who changed something', async () => {
    const person = await signInAs(server, server.api, 'editor')
    const workflow = { name: 'Mine', workflowId: 'mine', steps: [] }
    expect((await person.post('/v2/workflows', workflow)).body.updatedBy).toMatchObject({ _id: person.id })
  })
})

describe('requests with a cookie', () => {
  const refused = { status: 403, body: { code: 'cross_site_request' } }

  test('come from pages of this service', async () => {
    const person = await signInAs(server, server.api, 'editor')
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: `${server.url}.evil.example` },
      // Another program on the same machine.
      { origin: 'http://127.0.0.1:1' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      expect(await person.post('/v2/subscribers', { subscriberId: 'eve' }, headers)).toMatchObject(refused)
      expect(await person.get('/v2/subscribers', headers)).toMatchObject(refused)
    }
    expect(await person.get('/v2/subscribers/eve')).toMatchObject({ status: 404 })
    // A URL typed into the address bar.
    expect(await person.get('/v2/subscribers', { 'sec-fetch-site': 'none' })).toMatchObject({ status: 200 })
  })

  test('that change something have a header no other site can send', async () => {
    const person = await signInAs(server, server.api, 'owner')
    const cookie = `belfry_session=${person.token}`
    for (const [method, path] of [
      ['POST', '/v2/subscribers'],
      ['DELETE', '/v2/subscribers/ada'],
      ['PATCH', '/v1/auth/me'],
      ['POST', '/v1/auth/sign-out-everywhere'],
    ] as const)
      expect(await sendAs(server.url, method, path, {}, { cookie })).toMatchObject(refused)
  })

  test('may name the public address as their origin, behind a proxy', async () => {
    const other = await server.startAnother({ publicUrl: 'https://belfry.example' })
    const person = await signInAs(server, server.api, 'editor')
    const headers = {
      cookie: `__Host-belfry_session=${person.token}`,
      origin: 'https://belfry.example',
      'belfry-environment': person.environmentId,
    }
    const context = { type: 'proxy', id: 'x' }
    expect(await sendAs(other.url, 'POST', '/v2/contexts', context, headers)).toMatchObject({ status: 201 })
  })

  test('that also have an API key count as the key', async () => {
    const { development, production } = await server.freshOrganization()
    const person = await signInAs(server, development, 'viewer')
    const headers = { authorization: `ApiKey ${production.key}` }
    expect(await person.post('/v2/subscribers', ada, headers)).toMatchObject({ status: 201 })
    expect(await production.get('/v2/subscribers/ada')).toMatchObject({ status: 200 })
  })

  test('get answers that are neither cached nor wrapped', async () => {
    const other = await server.startAnother({ wrapData: true })
    const person = await signInAs(server, server.api, 'viewer')
    const { body, headers } = await person.at({ url: other.url }).get('/v1/environments/me')
    expect(body._id).toBe(person.environmentId)
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('with only a foreign cookie count as unauthenticated', async () => {
    expect(await sendAs(server.url, 'GET', '/v2/subscribers', undefined, { cookie: 'theme=dark' })).toMatchObject({
      status: 401,
      body: { code: 'missing_authorization' },
    })
    const cookie = 'belfry_session=invented'
    expect(await sendAs(server.url, 'GET', '/v2/subscribers', undefined, { cookie })).toMatchObject({
      status: 401,
      body: { code: 'not_signed_in' },
    })
  })
})

describe('a session', () => {
  test('ends when it is not used for 14 days', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    for (let n = 0; n < 3; n += 1) {
      server.clock.advance({ days: 13 })
      expect(await person.get('/v1/auth/session')).toMatchObject({ status: 200 })
    }
    server.clock.advance({ days: 14 })
    expect(await person.get('/v1/auth/session')).toMatchObject({ status: 401, body: { code: 'not_signed_in' } })
  })

  test('ends after 90 days, however much it is used', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    for (let n = 0; n < 8; n += 1) {
      server.clock.advance({ days: 11 })
      expect(await person.get('/v1/auth/session')).toMatchObject({ status: 200 })
    }
    const { body } = await person.get('/v1/auth/session')
    expect(Date.parse(body.session.expiresAt) - Date.parse(body.session.createdAt)).toBe(90 * 86_400_000)
    server.clock.advance({ days: 2 })
    expect(await person.get('/v1/auth/session')).toMatchObject({ status: 401 })
  })

  test('cached by another process ends when the member is removed, and follows a change of role', async () => {
    const other = await server.startAnother()
    const owner = await signInAs(server, server.api, 'owner')
    const person = await signInAs(server, server.api, 'editor')
    const there = person.at({ url: other.url })
    expect(await there.post('/v2/contexts', { type: 'role', id: 'one' })).toMatchObject({ status: 201 })
    await owner.patch(`/v1/auth/members/${person.id}`, { role: 'viewer' })
    await expect.poll(async () => (await there.post('/v2/contexts', {})).status).toBe(403)
    await owner.delete(`/v1/auth/members/${person.id}`)
    await expect.poll(async () => (await there.get('/v2/contexts')).status).toBe(401)
  })
})

describe('secrets', () => {
  const credentials = { apiKey: 'SG.secret', from: 'a@example.com' }

  test('are shown to admins; others only see that they exist', async () => {
    const { development: api } = await server.freshOrganization()
    const [viewer, editor, admin] = await Promise.all(
      (['viewer', 'editor', 'admin'] as const).map((role) => signInAs(server, api, role)),
    )
    const sendgrid = { providerId: 'sendgrid', channel: 'email', active: true, credentials }
    const configurations = { inboundWebhookSigningKey: 'signing secret', inboundWebhookEnabled: true }
    await api.post('/v1/integrations', { ...sendgrid, configurations })
    await api.post('/v1/integrations', { providerId: 'slack', channel: 'chat', identifier: 'chat' })
    await api.post('/v2/subscribers', ada)
    await api.post('/v1/channel-connections', {
      integrationIdentifier: 'chat',
      identifier: 'team',
      subscriberId: 'ada',
      workspace: { id: 'T1' },
      auth: { accessToken: 'xoxb-secret' },
    })
    for (const person of [viewer, editor]) {
      for (const path of ['/v1/integrations', '/v1/integrations/active']) {
        const { body, text } = (await person?.get(path)) ?? {}
        expect(body.find((each: { providerId: string }) => each.providerId === 'sendgrid')).toMatchObject({
          credentials: { apiKey: '••••••••', from: 'a@example.com' },
          configurations: { inboundWebhookSigningKey: '••••••••', inboundWebhookEnabled: true },
        })
        for (const secret of ['SG.secret', 'signing secret']) expect(text).not.toContain(secret)
      }
      for (const path of ['/v1/channel-connections', '/v1/channel-connections/team'])
        expect((await person?.get(path))?.text).not.toContain('xoxb')
      for (const path of ['/v1/environments', '/v1/environments/me']) {
        const answer = await person?.get(path)
        expect([answer?.body].flat()[0]).toMatchObject({ apiKeys: [] })
        expect(answer?.text).not.toContain(api.key)
      }
    }
    for (const [path, secret] of [
      ['/v1/integrations', 'SG.secret'],
      ['/v1/channel-connections/team', 'xoxb-secret'],
    ] as const)
      for (const caller of [admin, api]) expect((await caller?.get(path))?.text).toContain(secret)
  })
})
