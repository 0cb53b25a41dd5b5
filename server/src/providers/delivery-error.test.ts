import { expect, test } from 'vitest'
import { DeliveryError, type DeliveryErrorCode, statusError, transportError } from './delivery-error.ts'

const now = new Date('2026-05-01T10:00:00.000Z')

test.each<[DeliveryErrorCode[], DeliveryError['kind']]>([
  [['timeout', 'connection_lost', 'connection_failed', 'host_unknown', 'unavailable', 'rate_limited'], 'later'],
  [['rejected', 'quota_exhausted', 'invalid_url', 'address_refused'], 'failover'],
  [['unauthorized', 'incomplete_credentials'], 'credentials'],
  [['recipient_refused'], 'address'],
  [['message_refused'], 'never'],
])('the codes %j are of kind %s', (codes, kind) => {
  for (const code of codes) {
    const error = new DeliveryError(code)
    expect([code, error.kind]).toEqual([code, kind])
    expect([code, error.retry]).toEqual([code, kind === 'later' ? 'later' : 'never'])
  }
})

test('only a missing answer means that the message may have arrived', () => {
  const codes = [
    'timeout',
    'connection_lost',
    'unreadable_answer',
    'answer_too_large',
    'unavailable',
    'rejected',
  ] as const
  expect(codes.filter((code) => new DeliveryError(code).mayHaveArrived)).toEqual(codes.slice(0, 4))
  expect(transportError('a.example', 'UND_ERR_CONNECT_TIMEOUT')).toMatchObject({
    code: 'timeout',
    mayHaveArrived: false,
  })
  expect(transportError('a.example', 'ECONNRESET')).toMatchObject({ code: 'connection_lost', mayHaveArrived: true })
})

test("the sentence has the host, what happened, and the vendor's words", () => {
  expect(new DeliveryError('rejected', { host: 'a.example', status: 422, says: 'No.' }).message).toBe(
    'a.example: it refuses the request (HTTP status 422): No.',
  )
  expect(new DeliveryError('connection_failed', { reason: 'ECONNREFUSED' }).message).toBe(
    'no connection could be made (ECONNREFUSED)',
  )
})

test('the code in an answer beats its status', () => {
  const answer = { status: 403, retryAfter: '5' }
  expect(statusError('a.example', answer, now)).toMatchObject({ code: 'unauthorized', afterSeconds: 5 })
  expect(statusError('a.example', answer, now, { code: 'rate_limited', afterSeconds: 60, says: 'slow' })).toMatchObject(
    {
      code: 'rate_limited',
      kind: 'later',
      afterSeconds: 60,
      says: 'slow',
      status: 403,
    },
  )
})
