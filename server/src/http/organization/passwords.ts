// Passwords: hashing, comparing and strength rules. This makes guessing slow; sign-in-limit.ts makes it rare.
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { mask } from '../../db/core/environment-access.ts'
import { fail } from '../../errors.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

export const leastLength = 10
export const mostLength = 200

/** 32 MB and 0.15 s of one core: costs a guesser as much as OWASP's first choice, with a quarter of the memory. */
export const usualCost = { exponent: 15, blockSize: 8, parallel: 3 }
/** Tests of other subjects lower it (server/test/setup.ts). */
export const cost = { ...usualCost }
const hashBytes = 32
/** More wait: they use the thread pool that also resolves DNS names and reads files for deliveries. */
const atOnce = 2
const mostWaiting = 100

let running = 0
const waiting: Array<() => void> = []

async function stretch(
  password: string,
  salt: Buffer,
  { exponent, blockSize, parallel }: typeof cost,
): Promise<Buffer> {
  if (waiting.length >= mostWaiting) throw fail('sign_in_busy', undefined, { headers: { 'Retry-After': '5' } })
  if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
  else running += 1
  try {
    // Normalized, so that it does not matter how the characters were typed.
    const options = { N: 2 ** exponent, r: blockSize, p: parallel, maxmem: 256 * blockSize * 2 ** exponent }
    return await derive(password.normalize('NFKC'), salt, hashBytes, options)
  } finally {
    const next = waiting.shift()
    // Hands the slot to the next in line.
    if (next) next()
    else running -= 1
  }
}

/** `scrypt$15$8$3$salt$hash`: old hashes stay valid when the parameters change. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await stretch(password, salt, cost)
  const { exponent, blockSize, parallel } = cost
  return ['scrypt', exponent, blockSize, parallel, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** A hash that no password has, so that comparing takes as long as with a real one. */
const nobodys = () => ['scrypt', ...Object.values(cost), 'A'.repeat(22), 'A'.repeat(43)].join('$')

/** Takes the same time for unknown accounts and those without a password. */
export async function isPassword(password: string, stored: string | null | undefined): Promise<boolean> {
  const [, exponent, blockSize, parallel, salt = '', hash = ''] = (stored ?? nobodys()).split('$')
  const parameters = { exponent: Number(exponent), blockSize: Number(blockSize), parallel: Number(parallel) }
  const given = await stretch(password, Buffer.from(salt, 'base64url'), parameters)
  return timingSafeEqual(given, Buffer.from(hash, 'base64url')) && typeof stored === 'string'
}

/** 422 under the field's name, without the password itself. */
export function refuseWeakPassword(field: string, password: string, known: { email: string; name?: string }): void {
  const problem = weaknessOf(password, known)
  if (problem === undefined) return
  const messages = [`${field} ${problem}`]
  throw fail(
    'field_validation',
    { command: 'Password', fields: { [field]: messages } },
    { ctx: { errors: { [field]: { messages, value: mask } } } },
  )
}

function weaknessOf(password: string, { email, name = '' }: { email: string; name?: string }): string | undefined {
  const length = [...password].length
  if (length < leastLength) return `must have at least ${leastLength} characters`
  if (length > mostLength) return `must have at most ${mostLength} characters`
  const plain = password.normalize('NFKC').toLowerCase()
  if (new Set(plain).size < 4 || isRun(plain)) return 'must not be a row of characters that is easy to guess'
  if (/^\d+$/.test(plain) && length < 16) return 'must not consist of digits alone'
  if (obvious.has(bare(plain)) || obvious.has(plain.replace(/\P{L}+/gu, '')))
    return 'must not be one that many people use'
  const own = [email, ...email.split(/[@.]/), ...name.split(/\s+/), name].map((word) => word.toLowerCase())
  if (own.some((word) => word.length >= 4 && bare(plain.replaceAll(word, '')).length < 4 && plain.includes(word)))
    return 'must not be made of the name or the email address'
  return undefined
}

/** Without the digits and symbols that people add to a word to satisfy a rule. */
const bare = (text: string) => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')

const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn',
]

/** Whether it is a run on the keyboard or in the alphabet, forwards or backwards. */
function isRun(text: string): boolean {
  const backwards = [...text].reverse().join('')
  return rows.some((row) => row.includes(text) || row.includes(backwards))
}

/** Words that, with a few digits added, top every list of leaked passwords. */
const obvious = new Set(
  `password passwort passw p@ssword p@ssw0rd passw0rd motdepasse contrasena qwerty qwertyuiop qwertz azerty azertyuiop letmein
  welcome willkommen admin administrator root secret geheim changeme default iloveyou sunshine princess football baseball
  superman batman monkey dragon master shadow michael trustno starwars whatever computer internet samsung google belfry
  notification notifications test testing tester demo guest user login hello helloworld abc abcd asdf asdfgh asdfghjkl zxcvbnm
  qazwsx qazwsxedc correcthorsebatterystaple`
    .split(/\s+/)
    .flatMap((word) => [word, word + word]),
)
