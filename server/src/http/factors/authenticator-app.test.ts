import { Secret } from 'otpauth'
import { expect, test } from 'vitest'
import { stepOf } from './authenticator-app.ts'

/** RFC 6238, appendix B, SHA-1: its codes of eight digits end with ours of six. */
const vectors: Array<[seconds: number, code: string]> = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
]
const secret = Secret.fromUTF8('12345678901234567890').base32
const at = (seconds: number) => new Date(seconds * 1000)

test.each(vectors)(
  'at %i seconds the code of RFC 6238 is right, and for one step before and after',
  async (seconds, code) => {
    const given = code.slice(2)
    const step = Math.floor(seconds / 30)
    expect(await stepOf(secret, given, at(seconds))).toBe(step)
    expect(await stepOf(secret, `${given.slice(0, 3)} ${given.slice(3)}`, at(seconds))).toBe(step)
    expect(await stepOf(secret, given, at(seconds + 30))).toBe(step)
    expect(await stepOf(secret, given, at(Math.max(0, seconds - 30)))).toBe(step)
    expect(await stepOf(secret, given, at(seconds + 60))).toBeUndefined()
    expect(await stepOf(secret, code, at(seconds))).toBeUndefined()
  },
)

test.each(['', '12345', '1234567', '12345a', '𞢦窱𓀠ꮶ', '١٢٣٤٥٦', '-12345'])('%j is no code', async (code) => {
  expect(await stepOf(secret, code, at(59))).toBeUndefined()
})
