import { expect, test } from 'vitest'
import { hashOfAddress } from './addresses.ts'
import { type Link, makeLink, makeMailToken, readLink, readMailToken } from './link-tokens.ts'
import { Secrets } from './secrets.ts'

const [key, older] = ['a1'.repeat(32), 'b2'.repeat(32)]
const secrets = new Secrets(key)
const link: Link = {
  purpose: 'u',
  environmentId: '6630a1b2c3d4e5f601020304',
  subscriberRowId: '6630a1b2c3d4e5f601020305',
  messageId: '6630a1b2c3d4e5f601020306',
  workflowId: '6630a1b2c3d4e5f601020307',
  category: 'x'.repeat(64),
  channel: 'sms',
  hasContexts: true,
  addressHash: hashOfAddress('+14155550123'),
  expiresAt: null,
  contextIds: [],
}

test('a token says what it was made for, and is short', () => {
  for (const each of [link, { ...link, category: null, hasContexts: false, channel: 'email' as const }]) {
    const token = makeLink(secrets, each)
    expect(token).toMatch(/^[\w-]{1,220}$/)
    expect(readLink(secrets, 'u', token)).toEqual(each)
  }
})

test('a token of an older key is accepted, one of another key is not', () => {
  const token = makeLink(new Secrets(older), link)
  expect(readLink(new Secrets(key, [older]), 'u', token)).toEqual(link)
  expect(readLink(secrets, 'u', token)).toBeUndefined()
})

test('any change of a token, and another purpose, make it none', () => {
  const token = makeLink(secrets, { ...link, category: null })
  const bytes = Buffer.from(token, 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    expect(readLink(secrets, 'u', changed.toString('base64url'))).toBeUndefined()
  }
  expect(readLink(secrets, 'p', token)).toBeUndefined()
  for (const text of ['', 'x', token.slice(1), `${token}AA`, `${token}=`, 'x'.repeat(221)])
    expect(readLink(secrets, 'u', text)).toBeUndefined()
})

test('the token of a page says when it expires, and its contexts', () => {
  const contextIds = Array.from({ length: 5 }, (_, index) => `6630a1b2c3d4e5f60102030${index}`)
  const page: Link = { ...link, purpose: 'p', category: null, expiresAt: new Date('2027-01-02T03:04:05Z'), contextIds }
  const token = makeLink(secrets, page)
  expect(token).toMatch(/^[\w-]{1,220}$/)
  expect(readLink(secrets, 'p', token)).toEqual(page)
  expect(readLink(secrets, 'v', token)).toBeUndefined()
})

test('the token of a click is signed for one address, in one place', () => {
  const url = 'https://acme.example/?to=https://evil.example/'
  const click: Link = { ...link, purpose: 'c', category: null }
  const token = makeLink(secrets, click, url)
  expect(token).toMatch(/^[\w-]{1,220}$/)
  expect(readLink(secrets, 'c', token, url)).toEqual(click)
  for (const other of ['', 'https://evil.example/', `${url}x`, url.slice(1)])
    expect(readLink(secrets, 'c', token, other)).toBeUndefined()
  // With the beginning of the address in the token, the end of it would be signed, too.
  const bytes = Buffer.from(token, 'base64url')
  const moved = [bytes.subarray(0, -16), Buffer.from('https://acme.example/?to='), bytes.subarray(-16)]
  expect(readLink(secrets, 'c', Buffer.concat(moved).toString('base64url'), 'https://evil.example/')).toBeUndefined()
  const open: Link = { ...click, purpose: 'o' }
  expect(readLink(secrets, 'o', makeLink(secrets, open))).toEqual(open)
  expect(readLink(secrets, 'o', token)).toBeUndefined()
})

test('the token of a mail fits before the @ of an address, in any case, and has one purpose', () => {
  const { environmentId, messageId } = link
  const token = makeMailToken(secrets, 'unsubscribe', { environmentId, messageId })
  expect(token).toMatch(/^[a-z2-7]{50}$/)
  expect(readMailToken(secrets, 'unsubscribe', token.toUpperCase())).toEqual({ environmentId, messageId })
  expect(readMailToken(secrets, 'bounce', token)).toBeUndefined()
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === 'a' ? 'b' : 'a'
    const changed = token.slice(0, at) + other + token.slice(at + 1)
    expect(readMailToken(secrets, 'unsubscribe', changed)).toBeUndefined()
  }
})
