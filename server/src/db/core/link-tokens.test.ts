import { expect, test } from 'vitest'
import { hashOfAddress } from './addresses.ts'
import { type Link, type LinkPurpose, makeLink, readLink } from './link-tokens.ts'
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
  expect(readLink(secrets, 'p' as LinkPurpose, token)).toBeUndefined()
  for (const text of ['', 'x', token.slice(1), `${token}AA`, `${token}=`, 'x'.repeat(221)])
    expect(readLink(secrets, 'u', text)).toBeUndefined()
})
