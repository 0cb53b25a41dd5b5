// The limits by themselves. That sign-in obeys them is tested in organization/sign-in.test.ts, that keys do in auth.test.ts.
import { describe, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { takeAttempt, takeResetMail, WrongKeys } from './sign-in-limit.ts'

const server = useServer()
const began = new Date('2026-11-18T12:00:00.000Z')
const later = (ms: number) => new Date(began.getTime() + ms)
const windowMs = 15 * 60_000

describe('attempts to sign in', () => {
  const attempt = (email: string) => takeAttempt(server.database.db, { email, address: '192.0.2.59' }, began)

  test('are ten for an account, however it is spelled; then they take turns, five at the most', async () => {
    for (let n = 0; n < 10; n += 1) await attempt(n % 2 === 0 ? 'grace@example.com' : 'Grace@Example.com')
    const tries = await Promise.allSettled(Array.from({ length: 6 }, () => attempt('grace@example.com')))
    const refused = tries.filter(({ status }) => status === 'rejected')
    expect(refused).toMatchObject([{ reason: { code: 'sign_in_limited', headers: { 'Retry-After': '5' } } }])
  })

  test('count anew after a right one', async () => {
    for (let n = 0; n < 9; n += 1) await attempt('mary@example.com')
    const takeBack = await attempt('mary@example.com')
    await takeBack()
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => attempt('mary@example.com')))
    expect(tries.map(({ status }) => status)).toEqual(Array(10).fill('fulfilled'))
  })
})

describe('attempts with a link', () => {
  const attempt = () => takeAttempt(server.database.db, { address: '192.0.2.58' }, began)

  test('are sixty from an address; a right one does not count', async () => {
    let takeBack = () => Promise.resolve()
    for (let n = 0; n < 60; n += 1) takeBack = await attempt()
    await takeBack()
    // The first is the sixtieth, the others take turns.
    const tries = await Promise.allSettled(Array.from({ length: 7 }, attempt))
    expect(tries.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  })
})

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
