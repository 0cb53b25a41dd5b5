import { beforeEach, describe, expect, test, vi } from 'vitest'
import { plainMail, plainSms } from '../../test/provider-suite.ts'
import { useHttpTo, useVendor, WatchedHttp } from '../../test/vendor.ts'
import { Delivery } from './delivery.ts'
import { DeliveryError } from './delivery-error.ts'
import { InboundRequest } from './events.ts'
import {
  emailProvider,
  endlessTurn,
  flag,
  optional,
  secret,
  secretObject,
  smsProvider,
  type Tools,
  type Turn,
  text,
  uuidOf,
} from './provider.ts'

const vendor = useVendor()
const http = useHttpTo(vendor)
let now = new Date('2026-05-01T10:00:00.000Z')
const clock = { now: () => now }
const delivery = new Delivery({ http, clock, brand: 'acme' })
beforeEach(() => {
  now = new Date('2026-05-01T10:00:00.000Z')
  vendor.plays(() => ({ body: {} }))
})

/** A provider whose `send` the test supplies. */
const doing = (work: (tools: Tools, values: Record<string, unknown>) => Promise<unknown>) =>
  smsProvider({
    id: 'test',
    name: 'Test',
    docs: 'https://example.com',
    credentials: {
      token: secret('Token'),
      port: optional(text('Port')),
      secure: flag('Secure'),
      tlsOptions: optional(secretObject('TLS')),
    },
    async send(_message, credentials, tools) {
      const id = await work(tools, credentials)
      return { providerMessageId: typeof id === 'string' ? id : undefined }
    },
    problem: ({ text: says, isSuccess }) => (isSuccess ? undefined : { says }),
  })
const send = (
  work: (tools: Tools, values: Record<string, unknown>) => Promise<unknown>,
  { id = 'i', ...credentials }: Record<string, unknown> = {},
) => delivery.send(doing(work), { id: String(id), credentials: { token: 'a-token', ...credentials } }, plainSms)

test('nobody is asked about a message whose request could not start yet', async () => {
  const asked: string[] = []
  const start = <T>(request: (turn: Turn) => Promise<T>) => {
    asked.push('start')
    return request(endlessTurn)
  }
  const held: Array<() => void> = []
  vendor.plays(({ path }) => {
    if (path !== '/hang') return { body: {} }
    return new Promise((resolve) => held.push(() => resolve({ body: {} })))
  })
  const provider = doing(({ deliver }) => deliver('https://vendor.example/send', { json: {} }))
  const sending = () => delivery.send(provider, { id: 'full', credentials: { token: 'a-token' }, start }, plainSms)
  // As many as one host takes, of several integrations.
  const others = Array.from({ length: 128 }, () => http.post('https://vendor.example/hang'))
  await expect.poll(() => held.length).toBe(128)
  const late = sending()
  // The same way to a host that is free is through by then.
  const free = doing(({ deliver }) => deliver('https://other.example/send', { json: {} }))
  await delivery.send(free, { id: 'free', credentials: { token: 'a-token' } }, plainSms)
  expect(asked).toEqual([])
  for (const answer of held) answer()
  await Promise.all([late, ...others])
  expect(asked).toEqual(['start'])
})

describe('the recorded exchange', () => {
  const exchangeOf = async (
    work: (tools: Tools) => Promise<unknown>,
    { storesContent = true, token = 'a "token" é' }: { storesContent?: boolean; token?: string } = {},
  ) => {
    const integration = { id: 'exchange', credentials: { token }, storesContent }
    try {
      return (await delivery.send(doing(work), integration, plainSms)).exchange
    } catch (error) {
      return (error as DeliveryError).exchange
    }
  }
  const ask = (
    tools: Tools,
    url = 'https://api.example.com/send?key=1',
    json: Record<string, unknown> = { text: 'Hello' },
  ) => tools.deliver(url, { json })

  test('is there for an accepted message', async () => {
    vendor.plays(() => ({ body: { id: 7 } }))
    expect(await exchangeOf((tools) => ask(tools))).toEqual({
      request: { method: 'POST', url: 'https://api.example.com/send?key=1', body: '{"text":"Hello"}' },
      response: { status: 200, body: '{"id":7}' },
    })
  })

  test('is there for a refused message, and for one without an answer', async () => {
    vendor.plays(() => ({ status: 400, body: 'No' }))
    expect(await exchangeOf((tools) => ask(tools))).toMatchObject({ response: { status: 400, body: 'No' } })
    vendor.plays(() => 'hang up')
    expect(await exchangeOf((tools) => ask(tools))).toEqual({
      request: { method: 'POST', url: 'https://api.example.com/send?key=1', body: '{"text":"Hello"}' },
    })
  })

  test('is the request that delivers, not one before it', async () => {
    const work = async (tools: Tools) => {
      await ask(tools)
      await tools.ask('https://api.example.com/status')
    }
    expect(await exchangeOf(work)).toMatchObject({ request: { url: 'https://api.example.com/send?key=1' } })
    expect(await exchangeOf((tools) => tools.ask('https://api.example.com/sign-in'))).toBeUndefined()
  })

  test('contains no secret in any encoding', async () => {
    const token = 'a "token" é+/'
    vendor.plays(() => ({ body: { echo: token, encoded: encodeURIComponent(token) } }))
    const address = `https://api.example.com/${encodeURIComponent(token)}/send`
    const shown = JSON.stringify(
      await exchangeOf((tools) => ask(tools, address, { token, nested: [token] }), { token }),
    )
    expect(shown).not.toMatch(/token..? é|token%22|%C3%A9/)
    expect(shown).toContain('https://api.example.com/***/send')
    const form = await exchangeOf((tools) => tools.deliver('https://api.example.com/', { form: { token } }), { token })
    expect(form?.request.body).toBe('token=***')
    const whole = await exchangeOf((tools) => ask(tools, 'https://hooks.example.com/T1/x'), {
      token: 'https://hooks.example.com/T1/x',
    })
    expect(whole?.request.url).toBe('https://hooks.example.com/***')
  })

  test('contains no user name and password from the URL', async () => {
    const exchange = await exchangeOf((tools) => ask(tools, 'https://ada:lovelace@api.example.com/send'))
    expect(exchange?.request.url).toBe('https://api.example.com/***')
  })

  test.each([
    ['https://Hooks.example.com:443/T1/x?key=a%20b', {}],
    ['https://Hooks.example.com:443/T1/x?key=a%20b', { added: 'yes' }],
    ['https://hooks.example.com?key=a%20b', { added: 'yes' }],
    ['https://hooks.example.com/T1/../T2/x y#part', { added: 'yes' }],
  ])('contains nothing of the secret address %s, also after URL parsing (with %j)', async (token, query) => {
    vendor.plays(({ path }) => ({ status: 404, body: `Cannot POST ${path}` }))
    const exchange = await exchangeOf((tools) => tools.deliver(token, { json: {}, query }), { token })
    expect(exchange?.request.url).toBe('https://hooks.example.com/***')
  })

  test('contains no path of a secret address, even if the vendor repeats it', async () => {
    vendor.plays(({ path }) => ({ status: 404, body: `Cannot POST ${path}` }))
    const token = 'https://hooks.example.com/services/T0/B0/x-1'
    const exchange = await exchangeOf((tools) => ask(tools, token), { token })
    expect(exchange?.response?.body).toBe('Cannot POST ***')
  })

  test('is shortened, and never inside a secret', async () => {
    vendor.plays(() => ({ body: 'y'.repeat(5_000) }))
    const token = `s${'e'.repeat(50)}t`
    const text = 'x'.repeat(500 - '{"text":"'.length - 20)
    const exchange = await exchangeOf((tools) => ask(tools, undefined, { text, token, more: 'z'.repeat(50) }), {
      token,
    })
    expect(exchange?.request.body).toHaveLength(503)
    expect(exchange?.request.body).not.toContain('see')
    expect(exchange?.response?.body).toBe(`${'y'.repeat(300)}...`)
    vendor.plays(() => ({ status: 500, body: 'y'.repeat(5_000) }))
    expect((await exchangeOf((tools) => ask(tools)))?.response?.body).toBe(`${'y'.repeat(2_000)}...`)
  })

  test('is as long where secrets were masked, and has no part of one that stands across the cut', async () => {
    const token = `s${'e'.repeat(50)}t`
    vendor.plays(() => ({ body: `${token.repeat(10)}${'y'.repeat(260)}${token}${'z'.repeat(5_000)}` }))
    const exchange = await exchangeOf((tools) => ask(tools), { token })
    expect(exchange?.response?.body).toBe(`${'***'.repeat(10)}${'y'.repeat(260)}***${'z'.repeat(7)}...`)
  })

  test('has no bodies if content is not stored', async () => {
    expect(await exchangeOf((tools) => ask(tools), { storesContent: false })).toEqual({
      request: { method: 'POST', url: 'https://api.example.com/send?key=1' },
      response: { status: 200 },
    })
  })
})

test('a vendor has 30 seconds for a message, and 5 to check credentials', async () => {
  const watched = new WatchedHttp({ clock, allowPrivateAddresses: true })
  const patient = new Delivery({ http: watched, clock, brand: 'acme' })
  const asking = {
    ...doing((tools) => tools.deliver(vendor.url, { json: {} })),
    check: (_: unknown, tools: Tools) => tools.ask(vendor.url),
  }
  await patient.send(asking, { id: 'i', credentials: { token: 't' } }, plainSms)
  await patient.check(asking as never, { token: 't' })
  expect(watched.timeouts).toEqual([30_000, 5_000])
  await patient.close()
  await watched.close()
})

describe('a message', () => {
  test('has our id if the vendor returns none', async () => {
    expect(await send(async () => 'theirs')).toEqual({ providerMessageId: 'theirs' })
    expect(await send(async () => undefined)).toEqual({ providerMessageId: plainSms.id })
  })

  test('is sent with credentials of the declared types, whatever was stored', async () => {
    let seen: unknown
    const look = async (_: Tools, values: unknown) => {
      seen = values
    }
    await send(look, { port: 587, secure: 'true', tlsOptions: { ca: 'x' }, unknown: 'dropped' })
    expect(seen).toEqual({ token: 'a-token', port: '587', secure: true, tlsOptions: { ca: 'x' } })
    await send(look, { port: '', secure: 'no', tlsOptions: null })
    expect(seen).toEqual({ token: 'a-token', port: undefined, secure: false, tlsOptions: undefined })
  })

  test('goes to the sandbox only if there is one', async () => {
    const native = emailProvider({
      ...{ id: 'native', name: 'Native', docs: 'https://example.com', credentials: {} },
      send: async (message, _, { sandbox }) => ({ providerMessageId: (await sandbox.take(message)).id }),
    })
    const taken: unknown[] = []
    const take = async (message: unknown) => ({ id: `kept-${taken.push(message)}` })
    const integration = { id: 'i', credentials: {} }
    const playing = { ...integration, sandbox: { take } }
    expect(await delivery.send(native, playing, plainMail)).toEqual({ providerMessageId: 'kept-1' })
    expect(taken).toEqual([plainMail])
    await expect(delivery.send(native, integration, plainMail)).rejects.toBeInstanceOf(DeliveryError)
  })
})

describe('an error', () => {
  test('never contains a secret, in any encoding', async () => {
    const key = 'line one\nline two/+='
    vendor.plays(({ headers }) => ({
      status: 400,
      body: [
        `${key} ${encodeURIComponent(key)} ${Buffer.from(key).toString('base64')} line one line two/+=`,
        `${String(headers.authorization)} minted-1 kept-secret`,
      ].join(' | '),
    }))
    const failed = send(
      async ({ ask, conceal, remember }) => {
        conceal('kept-secret')
        await remember('access', async () => ({ value: 'minted-1', seconds: 3600 }))
        await ask('https://api.example.com', {
          headers: { authorization: `Basic ${Buffer.from('ada:x').toString('base64')}` },
        })
      },
      { id: 'secrets', token: key },
    )
    const error = await failed.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code: 'rejected', says: '*** *** *** *** | Basic *** *** ***' })
  })

  test('never contains what is inside a secret object', async () => {
    vendor.plays(() => ({ status: 400, body: 'bad key: PRIVATE' }))
    const failed = send(({ ask }) => ask('https://api.example.com'), { tlsOptions: { key: ['PRIVATE'] } })
    await expect(failed).rejects.toMatchObject({ says: 'bad key: ***' })
  })

  test('quotes the vendor on one short line', async () => {
    vendor.plays(() => ({ status: 422, body: ` a\n\n b${'c'.repeat(1000)}` }))
    const failed = send(async ({ ask }) => ask('https://api.example.com'))
    await expect(failed).rejects.toMatchObject({ says: `a b${'c'.repeat(297)}`, host: 'api.example.com', status: 422 })
  })

  test('in our own code is not turned into a DeliveryError', async () => {
    const defect = new TypeError('a defect')
    await expect(send(() => Promise.reject(defect))).rejects.toBe(defect)
  })

  test('has its own code for an invalid URL', async () => {
    const work = send(async ({ deliver }) => deliver('nowhere', { json: {} }))
    await expect(work).rejects.toMatchObject({ code: 'invalid_url', kind: 'failover' })
  })
})

describe('a cached value', () => {
  let made = 0
  const token = async () => {
    made += 1
    return { value: `token-${made}`, seconds: 3600 }
  }
  const get = (id: string, more: object = {}) => send((tools) => tools.remember('access', token), { id, ...more })
  beforeEach(() => {
    made = 0
  })

  test('is fetched once for concurrent callers, and again a minute before it expires', async () => {
    const ids = await Promise.all([get('r1'), get('r1'), get('r1')])
    expect(ids).toEqual(Array(3).fill({ providerMessageId: 'token-1' }))
    now = new Date('2026-05-01T10:58:59.000Z')
    expect(await get('r1')).toEqual({ providerMessageId: 'token-1' })
    now = new Date('2026-05-01T10:59:00.000Z')
    expect(await get('r1')).toEqual({ providerMessageId: 'token-2' })
  })

  test('belongs to one integration and its current credentials', async () => {
    expect(await get('r2')).toEqual({ providerMessageId: 'token-1' })
    expect(await get('r3')).toEqual({ providerMessageId: 'token-2' })
    expect(await get('r2', { token: 'changed' })).toEqual({ providerMessageId: 'token-3' })
  })

  test('can be dropped', async () => {
    await get('r4')
    await send(async ({ forget }) => forget('access'), { id: 'r4' })
    expect(await get('r4')).toEqual({ providerMessageId: 'token-2' })
  })

  test('is not cached after a failure', async () => {
    const failing = send((tools) => tools.remember('access', () => Promise.reject(new Error('no token'))), { id: 'r5' })
    await expect(failing).rejects.toThrow('no token')
    expect(await get('r5')).toEqual({ providerMessageId: 'token-1' })
  })
})

describe('a kept connection', () => {
  const closed: string[] = []
  const connection = (name: string) => ({ name, close: () => void closed.push(name) })
  beforeEach(() => {
    closed.length = 0
  })

  test('serves all messages of an integration until its credentials change, and closes after the last one', async () => {
    const made: string[] = []
    const open = (name: string) => async (tools: Tools) => {
      const kept = await tools.keep(() => {
        made.push(name)
        return connection(name)
      })
      return kept.name
    }
    const owner = new Delivery({ http, clock, brand: 'acme' })
    const through = (work: (tools: Tools) => Promise<unknown>, token: string) =>
      owner.send(doing(work), { id: 'k1', credentials: { token } }, plainSms)
    expect(await through(open('a'), 'one')).toEqual({ providerMessageId: 'a' })
    expect(await through(open('b'), 'one')).toEqual({ providerMessageId: 'a' })

    let finish = () => {}
    const slow = through(async (tools) => {
      const kept = await tools.keep(() => connection('never made'))
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return (kept as { name: string }).name
    }, 'one')
    expect(await through(open('c'), 'two')).toEqual({ providerMessageId: 'c' })
    expect(closed).toEqual([])
    finish()
    expect(await slow).toEqual({ providerMessageId: 'a' })
    await vi.waitUntil(() => closed.length > 0)
    expect(closed).toEqual(['a'])

    await owner.close()
    expect(closed).toEqual(['a', 'c'])
    expect(made).toEqual(['a', 'c'])
  })

  test('is closed after a credentials check', async () => {
    const tokens: string[] = []
    const asking = {
      ...doing(async () => undefined),
      check: async (values: { token: string }, tools: Tools) => {
        await tools.keep(() => connection(values.token))
        tokens.push(await tools.remember('access', async () => ({ value: `for ${values.token}`, seconds: 3600 })))
      },
    }
    for (const token of ['one', 'two']) expect(await delivery.check(asking as never, { token })).toEqual({ ok: true })
    expect(closed).toEqual(['one', 'two'])
    expect(tokens).toEqual(['for one', 'for two'])
  })

  test('is not kept if it could not be opened', async () => {
    const failing = send((tools) => tools.keep(() => Promise.reject(new Error('no line'))), { id: 'k2' })
    await expect(failing).rejects.toThrow('no line')
    const next = send(async (tools) => (await tools.keep(() => connection('fine'))).name, { id: 'k2' })
    expect(await next).toEqual({ providerMessageId: 'fine' })
  })
})

test('a provider without events finds none in a request', async () => {
  const request = new InboundRequest({ url: 'https://x.example', headers: {}, rawBody: Buffer.from('{}') })
  const silent = doing(async () => undefined)
  expect(await delivery.receive(silent, { id: 'i', credentials: {} }, request)).toEqual([])
  expect(await delivery.check(silent, {})).toEqual({ ok: true })
  expect(await delivery.configure(silent, {}, 'https://x.example')).toMatchObject({ success: false })
})

test('an id gives always the same UUID', () => {
  expect(uuidOf('6630a1b2c3d4e5f601020304')).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  expect(uuidOf('a')).toBe(uuidOf('a'))
  expect(uuidOf('a')).not.toBe(uuidOf('b'))
})
