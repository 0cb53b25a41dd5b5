import { expect, test } from 'vitest'
import { type AddressChannel, comparedAddress, hashOfAddress, isAddress, lockOfHash } from './addresses.ts'

test.each<[AddressChannel, string, string[]]>([
  ['email', 'ada@example.com', [' Ada@Example.COM ', '"Ada, Countess" <Ada@example.com>']],
  ['email', 'ada+news@example.com', ['ada+news@example.com']],
  ['email', 'ada@xn--mller-kva.example', ['ada@Müller.example', 'ADA@XN--MLLER-KVA.example']],
  ['email', 'jürgen@example.com', ['Jürgen@example.com']],
  ['email', 'ada@x.io', ['ada@x.io.', 'Ada <ada@x.io.>', 'ＡＤＡ@x.io', 'ada＠ｘ．ｉｏ', 'ada@x。io。']],
  // With signs that are not seen.
  ['email', 'ada@x.io', ['\u202aada@x.io\u202c', '\u202aAda <ada@x.io>\u202c', 'ada@\u202ax.io']],
  ['email', 'ada@x.io', ['a\u200bda@x.io', 'a\u200dda@x.io', 'ada@x\u200b.io', 'ada@x.io\u200d']],
  ['sms', '+14155550123', ['+1 (415) 555-0123']],
  ['sms', '+491701234567', ['0049 170 1234567', '491701234567']],
  [
    'sms',
    '+4915112345678',
    ['+49 (0)151 12345678', '0049 (0) 151/12345678', '+49-(0)-151-12345678', '+49_151_12345678'],
  ],
  ['sms', '+4915112345678', ['tel:+4915112345678', 'tel:+49-151-12345678;ext=5', '+4915112345678;ext=5']],
  ['sms', '+4915112345678', ['+49 151 12345678 ext. 5', '+4915112345678 x5', '\u202a+4915112345678\u202c']],
  ['sms', '+4915112345678', ['+49\u2011151\u201112345678', '+49 151\u201312345678', '+49 151\u221212345678']],
  ['sms', '+4915112345678', ['+49\u2009151\u202f12345678', '＋４９１５１１２３４５６７８', '+٤٩١٥١١٢٣٤٥٦٧٨']],
  ['chat', '+491701234567', ['+49 170 1234567', '\u202a+49 170 1234567\u202c']],
  ['chat', '-1001234567', ['-1001234567']],
  ['push', 'Token-A', [' Token-A ']],
])('%s: %s is how %j are compared', (channel, compared, given) => {
  for (const each of given) expect(comparedAddress(channel, each), each).toBe(compared)
  expect(isAddress(channel, compared)).toBe(true)
})

test('a joiner that a domain needs stays', () => {
  expect(comparedAddress('email', 'ada@نامه\u200cای.example')).toBe('ada@xn--mgba3gch31f060k.example')
})

test('an address is compared as its compared form is', () => {
  for (const given of ['ada@x.io.', 'ＡＤＡ@x.io', 'İ@x.io', 'ada@نامه\u200cای.example'])
    expect(comparedAddress('email', comparedAddress('email', given))).toBe(comparedAddress('email', given))
})

test.each<[AddressChannel, string]>([
  ['email', 'ada'],
  ['email', 'ada@'],
  ['email', 'ada@example.com, bob@example.com'],
  ['email', `${'a'.repeat(320)}@example.com`],
  ['sms', '0170 123'],
  ['sms', 'Acme'],
  ['sms', '(0)151 12345678'],
  ['sms', '+491701234567;+491701234568'],
  ['sms', '+4917012345,67'],
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
