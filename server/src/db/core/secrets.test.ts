import { expect, test } from 'vitest'
import { Secrets } from './secrets.ts'

const secrets = new Secrets('a1'.repeat(32))
const marker = 'enc:v1:'

test('encrypted text can be decrypted, and encrypting twice gives different results', () => {
  const sealed = Array.from({ length: 20 }, () => secrets.encrypt('hush: 😀'))
  expect(new Set(sealed).size).toBe(20)
  for (const each of sealed) {
    expect(each).toMatch(/^enc:v1:[A-Za-z0-9+/]+=*$/)
    expect(each).not.toContain(Buffer.from('hush').toString('base64').slice(0, 5))
    expect(secrets.decrypt(each)).toBe('hush: 😀')
  }
  // Only a nonce, the text and a tag.
  expect(Buffer.from(sealed[0]?.slice(marker.length) ?? '', 'base64')).toHaveLength(
    12 + Buffer.byteLength('hush: 😀') + 16,
  )
})

test('a single changed bit in the nonce, the text or the tag is detected', () => {
  const bytes = Buffer.from(secrets.encrypt('hush').slice(marker.length), 'base64')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    expect(() => secrets.decrypt(marker + changed.toString('base64')), `bit ${bit}`).toThrow()
  }
  // A shorter tag is refused too.
  for (let length = 0; length < bytes.length; length += 1)
    expect(() => secrets.decrypt(marker + bytes.subarray(0, length).toString('base64')), `${length}`).toThrow()
})

test('another key decrypts nothing', () => {
  expect(() => new Secrets('b2'.repeat(32)).decrypt(secrets.encrypt('hush'))).toThrow()
  expect(new Secrets('b2'.repeat(32), ['a1'.repeat(32)]).decrypt(secrets.encrypt('hush'))).toBe('hush')
})

test('a token is valid only if we signed it, whatever its header says', () => {
  const token = secrets.makeToken({ aud: 'x' })
  expect(secrets.readToken(token)).toEqual({ aud: 'x' })
  const [header = '', payload = '', signature = ''] = token.split('.')
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = encode({ alg: 'none', typ: 'JWT' })
  for (const forged of [
    `${unsigned}.${payload}.`,
    `${unsigned}.${payload}`,
    `${unsigned}.${payload}.${signature}`,
    `${header}.${encode({ aud: 'y' })}.${signature}`,
    `${header}.${payload}.${signature.slice(0, -2)}`,
    `${token}.more`,
    '..',
    '',
  ])
    expect(secrets.readToken(forged), forged).toBeUndefined()
  expect(new Secrets('b2'.repeat(32)).readToken(token)).toBeUndefined()
})

test('a signature counts for its text and its salt only', () => {
  const signature = secrets.sign('text', 'salt')
  expect(secrets.verify('text', signature, 'salt')).toBe(true)
  expect(secrets.verify('text', signature, 'other')).toBe(false)
  expect(secrets.verify('text', signature)).toBe(false)
  expect(secrets.verify('other', signature, 'salt')).toBe(false)
})
