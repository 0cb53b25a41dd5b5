// The order of calls and entries where a call has more to do than to be written: a signature, and a queue for a mail server.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, expect, test, vi } from 'vitest'
import { drainBySeveral, makeWorkflow, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { HttpClient } from '../../providers/http-client.ts'
import { Gate } from './gate.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const address = 'ada@example.com'
afterEach(() => vi.restoreAllMocks())

async function prepared(providerId: string, credentials: object): Promise<Api> {
  const api = await server.freshApi()
  const answer = await api.post('/v1/integrations', {
    ...{ providerId, channel: 'email', name: providerId, active: true, check: false },
    credentials: { ...credentials, from: 'news@acme.example', senderName: 'Acme' },
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  await makeWorkflow(api, 'news', [{ type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }])
  return api
}

/** To so many people who share one address. */
const sendToAll = (api: Api, count: number) =>
  Promise.all(
    Array.from({ length: count / 50 }, (_, part) =>
      trigger(
        api,
        'news',
        Array.from({ length: 50 }, (_, at) => ({ subscriberId: `s-${part * 50 + at}`, email: address })),
      ),
    ),
  )

const refuse = async (api: Api) =>
  expect(await api.post('/v1/suppressions', { channel: 'email', address })).toMatchObject({ status: 201 })

/** How many steps ended so. */
async function endsOf(api: Api): Promise<Record<string, number>> {
  const { rows } = await server.database.pool.query<{ ended: string; count: number }>(
    `SELECT coalesce(reason, status) AS ended, count(*)::int AS count FROM jobs
     WHERE environment_id = $1 AND type = 'email' GROUP BY 1`,
    [api.environmentId],
  )
  return Object.fromEntries(rows.map(({ ended, count }) => [ended, count]))
}

/** What happens while the gate starts a call, and not a moment later. */
function startsOf(seen: () => number): number[] {
  const starts: number[] = []
  const pass = Gate.prototype.pass
  vi.spyOn(Gate.prototype, 'pass').mockImplementation(function passing(this: Gate, sender, recipients, start, begin) {
    const watched: typeof start = (turn) => {
      const before = seen()
      const started = start(turn)
      starts.push(seen() - before)
      return started
    }
    return pass.call(this, sender, recipients, watched, begin) as never
  })
  return starts
}

test('a request to SES is signed before the gate, and handed over in it: none begins after an entry is answered', async () => {
  const api = await prepared('ses', { apiKey: 'AKIA', secretKey: 'secret', region: 'eu-west-1' })
  const exchange = HttpClient.prototype.exchange
  vi.spyOn(HttpClient.prototype, 'exchange').mockImplementation(function toVendor(this: HttpClient, url, request) {
    return exchange.call(this, url.replace('https://email.eu-west-1.amazonaws.com', vendor.url), request)
  })
  const began: number[] = []
  const note = (message: unknown) => {
    const { request } = message as { request: { origin: string } }
    if (request.origin === vendor.url) began.push(performance.now())
  }
  subscribe('undici:request:create', note)
  const starts = startsOf(() => began.length)
  let answeredAt: Promise<number> | undefined
  vendor.plays(({ headers }) => {
    expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIA\//)
    if (vendor.asked.length === 40) answeredAt = refuse(api).then(() => performance.now())
    return { body: { MessageId: `m${vendor.asked.length}` } }
  })
  await sendToAll(api, 300)
  await drainBySeveral(server)
  unsubscribe('undici:request:create', note)
  const until = (await answeredAt) ?? 0
  expect(until).toBeGreaterThan(0)
  expect(began.filter((at) => at > until)).toEqual([])
  expect(new Set(starts)).toEqual(new Set([1]))
  expect(await endsOf(api)).toEqual({ completed: began.length, suppressed: 300 - began.length })
  expect(began.length).toBeLessThan(300)
})

/** A mail server that, while it holds, leaves each text unanswered. */
async function slowServer(options: object) {
  const held: Array<() => void> = []
  const state = { arrived: 0, isHolding: () => false }
  const smtp = new SMTPServer({
    ...{ allowInsecureAuth: true, authOptional: true, disabledCommands: ['STARTTLS'], closeTimeout: 10, ...options },
    onAuth: (_auth, _session, done) => done(null, { user: 'u' }),
    onData(stream, _session, done) {
      stream
        .on('end', () => {
          state.arrived += 1
          if (state.isHolding()) held.push(() => done())
          else done()
        })
        .resume()
    },
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()))
  return {
    state,
    held,
    port: (smtp.server.address() as { port: number }).port,
    release() {
      state.isHolding = () => false
      for (const answer of held.splice(0)) answer()
    },
    close: () => new Promise<void>((resolve) => smtp.close(() => resolve())),
  }
}

/** When each mail began: its first command was handed to its connection. */
function mailsBegun(): number[] {
  const began: number[] = []
  const write = Socket.prototype.write
  vi.spyOn(Socket.prototype, 'write').mockImplementation(function written(this: Socket, ...given: unknown[]) {
    const [text] = given
    const count = typeof text === 'string' ? text.split('MAIL FROM:<').length - 1 : 0
    for (let mail = 0; mail < count; mail += 1) began.push(performance.now())
    return (write as (...all: unknown[]) => boolean).apply(this, given)
  } as typeof write)
  return began
}

test.each([
  ['commands are pipelined', {}],
  ['commands are sent one by one', { hidePIPELINING: true }],
])('of 500 mails to a slow mail server none begins after an entry is answered; %s', async (_, options) => {
  const smtp = await slowServer(options)
  smtp.state.isHolding = () => smtp.state.arrived > 60
  try {
    const credentials = { host: '127.0.0.1', port: String(smtp.port), user: 'u', password: 'p', ignoreTls: true }
    const api = await prepared('nodemailer', credentials)
    const began = mailsBegun()
    const pass = vi.spyOn(Gate.prototype, 'pass')
    await sendToAll(api, 500)
    // A worker takes so many calls and waits for them: it takes several to have work for every connection.
    const draining: Array<Promise<void>> = []
    const isAsked = () => pass.mock.settledResults.every(({ type }) => type !== 'incomplete')
    const full = () => {
      draining.push(server.drain())
      return [smtp.held.length, isAsked()]
    }
    await expect.poll(full, { timeout: 20_000, interval: 250 }).toEqual([20, true])
    await refuse(api)
    const answeredAt = performance.now()
    smtp.release()
    await Promise.all(draining)
    // Those beyond the calls that one integration may have in flight come back later.
    for (let round = 0; round < 3; round += 1) {
      server.clock.advance({ minutes: 1 })
      await server.drain()
    }
    expect(began.filter((at) => at > answeredAt)).toEqual([])
    expect(began.length).toBeGreaterThanOrEqual(80)
    expect(smtp.state.arrived).toBe(began.length)
    expect(await endsOf(api)).toEqual({ completed: began.length, suppressed: 500 - began.length })
  } finally {
    smtp.release()
    await smtp.close()
  }
})
