// What an environment signs with: a secret for each purpose, or else its compatible API key.
import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'
import type { Secrets } from './secrets.ts'

export const purposes = ['inbox', 'bridge', 'replies', 'requests'] as const
export type Purpose = (typeof purposes)[number]

interface Kept {
  secret: string
  /** Tells secrets apart, and says nothing about them. */
  name: string
  expiresAt: Date | null
}

export class Signing {
  readonly #own: Partial<Record<Purpose, Kept[]>> = {}
  readonly #compatible: Kept[]

  /** Both newest first. */
  constructor(own: Array<Kept & { purpose: Purpose }>, compatible: Kept[]) {
    for (const purpose of purposes) this.#own[purpose] = own.filter((each) => each.purpose === purpose)
    this.#compatible = compatible
  }

  /**
   * To sign with, the newest first. More than one during a rotation, so that receivers find the one they know. Without a secret
   * of its own, the newest compatible key.
   */
  keysFor(purpose: Purpose, now: Date): string[] {
    const own = valid(this.#own[purpose] ?? [], now)
    const keys = own.length > 0 ? own : valid(this.#compatible, now).slice(0, 1)
    return keys.map(({ secret }) => secret)
  }

  /** To check what others have signed: backends with a public client library use the compatible key. */
  acceptedFor(purpose: Purpose, now: Date): Array<Pick<Kept, 'secret' | 'name'>> {
    return [...valid(this.#own[purpose] ?? [], now), ...valid(this.#compatible, now)]
  }
}

const valid = (list: Kept[], now: Date) => list.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)

/** The names of what the inbox of environment `e` accepts, as `acceptedFor` has them. */
export const inboxKeyNames = (now: Date) => sql<string[]>`ARRAY(
  SELECT left(k.hash, 16) FROM api_keys k
  WHERE k.environment_id = e.id AND k.encrypted_key IS NOT NULL AND (k.expires_at IS NULL OR k.expires_at > ${now})
  UNION ALL
  SELECT right(s.id, 16) FROM signing_secrets s
  WHERE s.environment_id = e.id AND s.purpose = 'inbox' AND (s.expires_at IS NULL OR s.expires_at > ${now}))`

interface Row {
  kind: Purpose | 'compatible'
  sealed: string
  name: string
  expires_at: Date | null
}

export async function readSigning(db: Db | Tx, secrets: Secrets, environmentId: string): Promise<Signing> {
  const { rows } = await sql<Row>`
    SELECT purpose AS kind, secret AS sealed, right(id, 16) AS name, expires_at, created_at, id FROM signing_secrets
    WHERE environment_id = ${environmentId}
    UNION ALL
    SELECT 'compatible', encrypted_key, left(hash, 16), expires_at, created_at, id FROM api_keys
    WHERE environment_id = ${environmentId} AND encrypted_key IS NOT NULL
    ORDER BY created_at DESC, expires_at DESC NULLS FIRST, id DESC`.execute(db)
  const opened = rows.map(({ kind, sealed, name, expires_at: expiresAt }) => ({
    kind,
    name,
    secret: secrets.decrypt(sealed),
    expiresAt,
  }))
  return new Signing(
    opened.flatMap(({ kind, ...kept }) => (kind === 'compatible' ? [] : [{ ...kept, purpose: kind }])),
    opened.filter(({ kind }) => kind === 'compatible'),
  )
}
