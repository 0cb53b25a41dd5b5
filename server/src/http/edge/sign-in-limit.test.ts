// The limits by themselves. That sign-in obeys them is tested in organization/sign-in.test.ts, that keys do in auth.test.ts.
import { describe, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { takeResetMail, WrongKeys } from './sign-in-limit.ts'

const server = useServer()
const began = new Date('2026-11-18T12:00:00.000Z')
const later = (ms: number) => new Date(began.getTime() + ms)
const windowMs = 15 * 60_000

describe('mails with a link for a new password', () => {
  const take = (email: string, ms: number) => takeResetMail(server.database.db, email, later(ms))

  test('are three in a quarter of an hour that begins with the first', async () => {
    for (const ms of [0, 1, windowMs - 1]) expect(await take('ada@example.com', ms), `${ms} ms`).toBe(true)
    expect(await take('ADA@example.com', windowMs - 1)).toBe(false)
    expect(await take('bob@example.com', windowMs - 1)).toBe(true)
    for (const ms of [windowMs, windowMs, windowMs]) expect(await take('ada@example.com', ms)).toBe(true)
    expect(await take('ada@example.com', windowMs)).toBe(false)
  })
})

describe('wrong keys from an address', () => {
  test('are sixty in a quarter of an hour; more say when to come back', async () => {
    const keys = new WrongKeys(server.database.db)
    const count = (ms: number) => keys.count('192.0.2.60', later(ms))
    for (let key = 0; key < 60; key += 1) await count(0)
    const refused = (seconds: number) => ({
      code: 'too_many_wrong_keys',
      headers: { 'Retry-After': String(seconds) },
    })
    await expect(count(0)).rejects.toMatchObject(refused(900))
    await expect(count(windowMs - 1)).rejects.toMatchObject(refused(1))
    await count(windowMs)
    await new WrongKeys(server.database.db).count('192.0.2.61', later(0))
  })
})
