import { expect, test } from 'vitest'
import { cost, hashPassword, isPassword, refuseWeakPassword, usualCost } from './passwords.ts'

const ada = { email: 'ada.lovelace@example.com', name: 'Ada Lovelace' }

function problemWith(password: string): string | undefined {
  try {
    refuseWeakPassword('password', password, ada)
    return undefined
  } catch (error) {
    expect(JSON.stringify(error)).not.toContain(password)
    return (error as Error).message
  }
}

test('a password is stored as a salted hash with its parameters, and compared in normalized form', async () => {
  Object.assign(cost, usualCost)
  const stored = await hashPassword('caf\u00e9 am See, 3. Tisch')
  expect(stored).toMatch(/^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/)
  expect(await hashPassword('caf\u00e9 am See, 3. Tisch')).not.toBe(stored)
  expect(await isPassword('cafe\u0301 am See, 3. Tisch', stored)).toBe(true)
  expect(await isPassword('cafe am See, 3. Tisch', stored)).toBe(false)
  // With older, cheaper parameters.
  const older = 'scrypt$10$8$1$c2FsdHNhbHRzYWx0c2FsdA$tE6tR8aJxUQAPfyR2cJgK8aK7WUq9Q9Qx5n8o6c6v9A'
  expect(await isPassword('anything', older)).toBe(false)
})

test('no password matches when none is stored', async () => {
  for (const stored of [null, undefined]) expect(await isPassword('', stored)).toBe(false)
})

test.each([
  ['short one', 'at least 10 characters'],
  ['x'.repeat(201), 'at most 200 characters'],
  ['👩‍🚀👩‍🚀', 'at least 10 characters'],
  ['aaaaaaaaaaaa', 'easy to guess'],
  ['abababababab', 'easy to guess'],
  ['abcdefghijkl', 'easy to guess'],
  ['9876543210', 'easy to guess'],
  ['qwertyuiopas', 'easy to guess'],
  ['POIUYTREWQ', 'easy to guess'],
  ['19121815241906', 'digits alone'],
  ['Password123!', 'many people use'],
  ['!!!letmein2026', 'many people use'],
  ['p@ssw0rd2026', 'many people use'],
  ['w e l c o m e 1', 'many people use'],
  ['changemechangeme', 'many people use'],
  ['lovelace1815', 'the name or the email address'],
  ['ada.lovelace@example.com', 'the name or the email address'],
])('%s is refused', (password, reason) => {
  expect(problemWith(password)).toContain(reason)
})

test.each([
  'correct horse battery',
  'жизнь прожить не поле',
  'Xk3#pq9!mLz',
  '4815162342108199',
  'lovelace wrote the notes',
])('%s is good enough', (password) => {
  expect(problemWith(password)).toBeUndefined()
})
