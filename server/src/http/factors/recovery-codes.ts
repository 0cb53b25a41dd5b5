// Recovery codes, for people who lost their other factors: ten, each for one use, shown once and kept as hashes.
import type { Db, Tx } from '../../db/core/database.ts'
import { sha256 } from '../../db/core/secrets.ts'

const count = 10
/** 80 bits, so that a stored hash cannot be tried out. */
const bytes = 10

/** Replaces earlier ones. @returns the codes, which nobody sees again */
export async function makeRecoveryCodes(tx: Tx, userId: string, now: Date): Promise<string[]> {
  const { Secret } = await import('otpauth')
  const codes = Array.from({ length: count }, () => new Secret({ size: bytes }).base32.toLowerCase())
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await tx
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id: userId, hash: hashOf(userId, code), created_at: now })))
    .execute()
  return codes.map((code) => code.match(/.{4}/g)?.join('-') ?? code)
}

/** Of two concurrent uses one returns true. */
export async function useRecoveryCode(db: Db | Tx, userId: string, code: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('hash', '=', hashOf(userId, code))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** However it was typed. */
const hashOf = (userId: string, code: string) => sha256(`${userId} ${code.toLowerCase().replaceAll(/[^a-z2-7]/g, '')}`)
