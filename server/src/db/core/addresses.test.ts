import { expect, test } from 'vitest'
import { type AddressChannel, comparedAddress, hashOfAddress, isAddress, lockOfHash } from './addresses.ts'

test.each<[AddressChannel, string, string]>([
  ['email', ' Ada@Example.COM ', 'ada@example.com'],
  ['email', '"Ada, Countess" <Ada@example.com>', 'ada@example.com'],
  ['email', 'ada+news@example.com', 'ada+news@example.com'],
  ['email', 'ada@Müller.example', 'ada@xn--mller-kva.example'],
  ['email', 'ADA@XN--MLLER-KVA.example', 'ada@xn--mller-kva.example'],
  ['email', 'Jürgen@example.com', 'jürgen@example.com'],
  ['sms', '+1 (415) 555-0123', '+14155550123'],
  ['sms', '0049 170 1234567', '+491701234567'],
  ['sms', '491701234567', '+491701234567'],
  ['chat', '+49 170 1234567', '+491701234567'],
  ['chat', '-1001234567', '-1001234567'],
  ['push', ' Token-A ', 'Token-A'],
])('%s: %s is compared as %s', (channel, given, compared) => {
  expect(comparedAddress(channel, given)).toBe(compared)
  expect(isAddress(channel, compared)).toBe(true)
})

test.each<[AddressChannel, string]>([
  ['email', 'ada'],
  ['email', 'ada@'],
  ['email', 'ada@example.com, bob@example.com'],
  ['email', `${'a'.repeat(320)}@example.com`],
  ['sms', '0170 123'],
  ['sms', 'Acme'],
  ['push', '  '],
  ['chat', ''],
])('%s: %s is no address', (channel, given) => {
  expect(isAddress(channel, comparedAddress(channel, given))).toBe(false)
})

test('the hash is the SHA-256 of the compared form, and its first eight bytes are the lock', () => {
  const hash = hashOfAddress('ada@example.com')
  expect(hash.toString('hex')).toBe('b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72')
  expect(BigInt.asUintN(64, BigInt(lockOfHash(hash)))).toBe(BigInt(`0x${hash.toString('hex', 0, 8)}`))
})
