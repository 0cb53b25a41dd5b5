// Which second factors a person has, for sign-in, sessions and the list of members; and how they are taken away.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'

/** Whether the person with this id, a column, has an authenticator app or a passkey. */
export const hasFactor = (userId: string): RawBuilder<boolean> => sql<boolean>`(
  EXISTS (SELECT FROM authenticator_apps f WHERE f.user_id = ${sql.ref(userId)} AND f.confirmed_at IS NOT NULL)
  OR EXISTS (SELECT FROM passkeys f WHERE f.user_id = ${sql.ref(userId)}))`

export interface Factors {
  hasApp: boolean
  passkeys: number
  recoveryCodes: number
}

export const hasAny = ({ hasApp, passkeys }: Factors): boolean => hasApp || passkeys > 0

export async function factorsOf(db: Db | Tx, userId: string): Promise<Factors> {
  const { rows } = await sql<Factors>`
    SELECT EXISTS (SELECT FROM authenticator_apps WHERE user_id = ${userId} AND confirmed_at IS NOT NULL) AS "hasApp",
      (SELECT count(*)::int FROM passkeys WHERE user_id = ${userId}) AS passkeys,
      (SELECT count(*)::int FROM recovery_codes WHERE user_id = ${userId}) AS "recoveryCodes"`.execute(db)
  return rows[0] ?? { hasApp: false, passkeys: 0, recoveryCodes: 0 }
}

/** With recovery codes and sign-ins under way. @returns whether there was any */
export async function removeFactors(tx: Tx, userId: string): Promise<boolean> {
  const factors = await factorsOf(tx, userId)
  for (const table of ['authenticator_apps', 'passkeys', 'recovery_codes', 'sign_in_steps'] as const)
    await tx.deleteFrom(table).where('user_id', '=', userId).execute()
  return hasAny(factors)
}
