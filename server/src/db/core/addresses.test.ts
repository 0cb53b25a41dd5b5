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
  ['chat', '\u202a+49 170 1234567\u202c', '+491701234567'],
  ['push', ' Token-A ', 'Token-A'],
])('%s: %s is compared as %s', (channel, given, compared) => {
  expect(comparedAddress(channel, given)).toBe(compared)
  expect(isAddress(channel, compared)).toBe(true)
})

test.each([
  '+49 (0)151 12345678',
  '0049 (0) 151/12345678',
  '+49-(0)-151-12345678',
  'tel:+4915112345678',
  'tel:+49-151-12345678;ext=5',
  '+4915112345678;ext=5',
  '+49 151 12345678 ext. 5',
  '+4915112345678 x5',
  '\u202a+4915112345678\u202c',
  '+49\u2011151\u201112345678',
  '+49 151\u201312345678',
  '+49 151\u221212345678',
  '+49_151_12345678',
  '+49\u2009151\u202f12345678',
  '＋４９１５１１２３４５６７８',
  '+٤٩١٥١١٢٣٤٥٦٧٨',
])('the number %s is compared as +4915112345678', (given) => {
  expect(comparedAddress('sms', given)).toBe('+4915112345678')
})

test.each([
  'ada@x.io.',
  'Ada <ada@x.io.>',
  '\u202aada@x.io\u202c',
  '\u202aAda <ada@x.io>\u202c',
  'a\u200bda@x.io',
  'a\u200dda@x.io',
  'ada@x\u200b.io',
  'ada@\u202ax.io',
  'ada@x.io\u200d',
  'ＡＤＡ@x.io',
  'ada＠ｘ．ｉｏ',
  'ada@x。io。',
])('the email address %s is compared as ada@x.io', (given) => {
  expect(comparedAddress('email', given)).toBe('ada@x.io')
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
