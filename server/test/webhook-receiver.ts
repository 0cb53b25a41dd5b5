// A receiver of our webhooks that verifies signatures as
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md describes.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { expect } from 'vitest'
import type { Api, TestClock } from './server.ts'
import type { Asked, Vendor } from './vendor.ts'

/** The body of a request that one of these secrets signed within five minutes; throws otherwise. */
export function verified({ headers, body }: Pick<Asked, 'headers' | 'body'>, secret: string, now: Date) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    throw new Error('a webhook header is missing')
  if (!(Math.abs(now.getTime() / 1000 - Number(timestamp)) <= 300)) throw new Error('it is too old')
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  const isGenuine = signatures.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',')
    const given = Buffer.from(text, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!isGenuine) throw new Error('the signature is not ours')
  return JSON.parse(body)
}

/** Creates a webhook endpoint at the vendor. */
export async function makeEndpoint(
  api: Api,
  vendor: Vendor,
  more: object = {},
): Promise<{ id: string; secret: string }> {
  const answer = await api.post('/v2/webhooks/endpoints', { url: `${vendor.url}/hooks`, ...more })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return { id: answer.body._id, secret: answer.body.secret }
}

/** The webhook events the vendor received, sorted by type. */
export const toldOf = (vendor: Vendor, secret: string, clock: TestClock) =>
  vendor.asked
    .map((asked) => verified(asked, secret, clock.now()))
    .sort((one, other) => (one.type < other.type ? -1 : 1))
