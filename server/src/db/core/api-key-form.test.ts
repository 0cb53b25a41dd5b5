import { expect, test } from 'vitest'
import { hintOf, isMisspelt, newScopedKey } from './api-key-form.ts'

test('a key has a recognizable prefix and a checksum', () => {
  const [one, organization] = [newScopedKey('environment'), newScopedKey('organization')]
  expect(one).toMatch(/^bf_[0-9A-Za-z]{38}$/)
  expect(organization).toMatch(/^bf_org_[0-9A-Za-z]{38}$/)
  expect(newScopedKey('environment')).not.toBe(one)
  for (const key of [one, organization]) expect(isMisspelt(key)).toBe(false)
})

test('any other character makes it misspelt', () => {
  const key = newScopedKey('environment')
  for (let at = 3; at < key.length; at += 1) {
    const other = key[at] === 'x' ? 'y' : 'x'
    expect([at, isMisspelt(key.slice(0, at) + other + key.slice(at + 1))]).toEqual([at, true])
  }
  for (const wrong of ['bf_', 'bf_org_', key.slice(0, -1), `${key}0`, `${key} `]) expect(isMisspelt(wrong)).toBe(true)
})

test('keys of the older form are not judged', () => {
  expect(isMisspelt('a'.repeat(32))).toBe(false)
  expect(isMisspelt('a-key-of-your-own')).toBe(false)
})

test('a hint shows the prefix and four characters', () => {
  expect(hintOf('bf_abcdefgh')).toBe('bf_abcd…')
  expect(hintOf('bf_org_abcdefgh')).toBe('bf_org_abcd…')
  expect(hintOf('0123456789abcdef')).toBe('0123…')
})
