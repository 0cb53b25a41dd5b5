import { beforeEach, describe, expect, test } from 'vitest'
import { identifierOf, openInbox } from '../../../test/inbox.ts'
import { type Answer, type Api, TestClock, useServer } from '../../../test/server.ts'
import { networkOf } from '../edge/caller-network.ts'
import { InboxLimits } from './limit.ts'

const server = useServer({ trustedProxies: ['loopback'] })
let api: Api
let applicationIdentifier: string

beforeEach(async () => {
  api = await server.freshApi()
  applicationIdentifier = await identifierOf(server, api)
})

const begin = (address: string, body: object = { subscriber: 'ada' }) =>
  api.post('/v1/inbox/session', { applicationIdentifier, ...body }, { authorization: '', 'x-forwarded-for': address })
/** Sends this many at once, in rounds. @returns the results */
async function statuses(count: number, ask: () => Promise<Answer>): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  for (let done = 0; done < count; done += 50) {
    const round = await Promise.all(Array.from({ length: Math.min(50, count - done) }, ask))
    for (const { status } of round) counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return counts
}

describe('sessions', () => {
  test('are refused to an address that starts too many, before any look-up, without affecting others', async () => {
    // Failures count too.
    const failing = () => begin('192.0.2.1', { subscriber: { subscriberId: '' } })
    expect(await statuses(1_003, failing)).toEqual(
      new Map([
        [422, 1_000],
        [429, 3],
      ]),
    )
    const refused = await begin('192.0.2.1')
    expect(refused).toMatchObject({ status: 429, body: { statusCode: 429, message: 'API rate limit exceeded' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(await begin('192.0.2.2')).toMatchObject({ status: 201 })
    server.clock.advance({ ms: 100 })
    expect(await statuses(6, failing)).toEqual(
      new Map([
        [422, 5],
        [429, 1],
      ]),
    )
  })

  test('of one network are counted together', () => {
    expect(networkOf('2001:db8::1')).toBe(networkOf('2001:db8:0:0:ffff::2'))
    expect(networkOf('2001:db8::1')).not.toBe(networkOf('2001:db8:0:1::1'))
    expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0')
  })
})

describe('a subscriber', () => {
  test('who sends too many requests gets a 429 with Retry-After, with any token; others are not affected', async () => {
    const [ada, again, bob] = await Promise.all(['ada', 'ada', 'bob'].map((id) => openInbox(server, api, id)))
    const write = () => ada?.post('/notifications/seen', {}) as Promise<Answer>
    expect(await statuses(201, write)).toEqual(
      new Map([
        [204, 200],
        [429, 1],
      ]),
    )
    const refused = (await again?.post('/notifications/seen', {})) as Answer
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await bob?.post('/notifications/seen', {})).toMatchObject({ status: 204 })
    // Reading is counted separately.
    expect(await ada?.get('/notifications')).toMatchObject({ status: 200 })
    server.clock.advance({ seconds: 1 })
    expect(await statuses(21, write)).toEqual(
      new Map([
        [204, 20],
        [429, 1],
      ]),
    )
  })

  test('is not affected by invalid tokens', async () => {
    const ada = await openInbox(server, api, 'ada')
    const forged = `${ada.token.split('.').slice(0, 2).join('.')}.x`
    const asked = () => api.post('/v1/inbox/notifications/seen', {}, { authorization: `Bearer ${forged}` })
    expect(await statuses(250, asked)).toEqual(new Map([[401, 250]]))
    expect(await ada.post('/notifications/seen', {})).toMatchObject({ status: 204 })
  })
})

test.each([
  ['GET', 600, 60],
  ['HEAD', 600, 60],
  ['POST', 200, 20],
  ['PATCH', 200, 20],
  ['DELETE', 200, 20],
])('%s: %i at once and %i a second', (method, burst, perSecond) => {
  const clock = new TestClock()
  const limits = new InboxLimits(clock)
  const taken = () => {
    for (let count = 0; ; count += 1)
      try {
        limits.takeRequest('ada', method)
      } catch {
        return count
      }
  }
  expect([taken(), taken()]).toEqual([burst, 0])
  clock.advance({ seconds: 1 })
  expect([taken(), taken()]).toEqual([perSecond, 0])
  clock.advance({ hours: 1 })
  expect(taken()).toBe(burst)
})
