// Authenticator apps: codes of six digits that change every 30 seconds (TOTP, RFC 6238). A code of the step before or after is
// accepted, because clocks differ. No code is accepted twice.
import type { Db, Tx } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'

const stepSeconds = 30
const toleratedSteps = 1
const issuer = 'Belfry'

/** What apps have in common: SHA-1 and six digits. Most ignore any other choice. */
const totpOf = async (secret: string, label = '') => {
  const { Secret, TOTP } = await import('otpauth')
  const common = { issuer, algorithm: 'SHA1', digits: 6, period: stepSeconds }
  return new TOTP({ ...common, label, secret: Secret.fromBase32(secret) })
}

/** Begins the set-up, or begins it again. @returns undefined if there is a confirmed app */
export async function beginApp(
  db: Db | Tx,
  secrets: Secrets,
  { id, email }: { id: string; email: string },
  now: Date,
): Promise<{ secret: string; uri: string } | undefined> {
  const { Secret } = await import('otpauth')
  const secret = new Secret({ size: 20 }).base32
  const stored = { secret: secrets.encrypt(secret), created_at: now }
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('authenticator_apps')
    .values({ user_id: id, ...stored })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet(stored).where('authenticator_apps.confirmed_at', 'is', null),
    )
    .executeTakeFirst()
  if (!numInsertedOrUpdatedRows) return undefined
  return { secret, uri: (await totpOf(secret, email)).toString() }
}

/** The step of the code, counted from 1970; undefined if the code is wrong. */
export async function stepOf(secret: string, code: string, now: Date): Promise<number | undefined> {
  const token = code.replaceAll(/\s/g, '')
  // The library counts characters but compares bytes, and throws at six characters of more.
  if (!/^\d{6}$/.test(token)) return undefined
  const totp = await totpOf(secret)
  const delta = totp.validate({ token, timestamp: now.getTime(), window: toleratedSteps })
  return delta === null ? undefined : totp.counter({ timestamp: now.getTime() }) + delta
}

interface Given {
  userId: string
  code: string
  /** For the first code, which confirms the app. */
  isFirst?: boolean
}

/** Accepts a code once: of two concurrent uses one returns true, and earlier codes end with it. */
export async function acceptAppCode(
  db: Db | Tx,
  secrets: Secrets,
  { userId, code, isFirst = false }: Given,
  now: Date,
): Promise<boolean> {
  const app = await db
    .selectFrom('authenticator_apps')
    .select('secret')
    .where('user_id', '=', userId)
    .where('confirmed_at', isFirst ? 'is' : 'is not', null)
    .executeTakeFirst()
  const step = app && (await stepOf(secrets.decrypt(app.secret), code, now))
  if (!app || step === undefined) return false
  const { numUpdatedRows } = await db
    .updateTable('authenticator_apps')
    .set({ last_step: step, ...(isFirst ? { confirmed_at: now } : {}) })
    .where('user_id', '=', userId)
    .where('confirmed_at', isFirst ? 'is' : 'is not', null)
    .where((where) => where.or([where('last_step', 'is', null), where('last_step', '<', String(step))]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
