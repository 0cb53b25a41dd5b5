// The encrypted columns, and their re-encryption with a new key while the service runs.
import { sql } from 'kysely'
import type { Db } from '../core/database.ts'
import { type Secrets, sealedText } from '../core/secrets.ts'

/** A test searches the whole database for others. */
export const encryptedColumns = [
  ['api_keys', 'encrypted_key', 'text'],
  ['channel_connections', 'encrypted_access_token', 'text'],
  ['environment_variable_values', 'value', 'text'],
  ['erasures', 'subject', 'text'],
  ['idempotency_keys', 'body', 'text'],
  ['integrations', 'credentials', 'jsonb'],
  ['integrations', 'configurations', 'jsonb'],
  ['signing_secrets', 'secret', 'text'],
  ['webhook_endpoints', 'previous_secret', 'text'],
  ['webhook_endpoints', 'secret', 'text'],
] as const

const batch = 500

export interface ReEncrypted {
  /** Values re-encrypted with the current key. */
  renewed: number
  /** Values that no key decrypts; they are left unchanged. */
  unreadable: number
}

/** Each batch commits by itself; an interrupted run starts over and skips what is done. */
export async function reEncrypt(db: Db, secrets: Secrets, stopping?: AbortSignal): Promise<ReEncrypted> {
  const done = { renewed: 0, unreadable: 0 }
  for (const column of encryptedColumns) await reEncryptColumn(db, secrets, column, done, stopping)
  return done
}

async function reEncryptColumn(
  db: Db,
  secrets: Secrets,
  [table, column, type]: (typeof encryptedColumns)[number],
  done: ReEncrypted,
  stopping: AbortSignal | undefined,
): Promise<void> {
  const [from, value] = [sql.table(table), sql.ref(column)]
  for (let place = '(0,0)'; ; ) {
    stopping?.throwIfAborted()
    // By physical position (ctid), which needs no index; a row that is updated meanwhile comes up again later.
    const { rows } = await sql<{ place: string; stored: string }>`
      SELECT ctid::text AS place, ${value}::text AS stored FROM ${from}
      WHERE ctid > ${place}::tid AND ${value}::text LIKE '%enc:v1:%' ORDER BY ctid LIMIT ${batch}`.execute(db)
    const changed = rows.flatMap((row) => {
      const renewed = renewedText(row.stored, secrets, done)
      return renewed === undefined ? [] : [{ ...row, renewed }]
    })
    if (changed.length > 0) {
      const [places, old, renewed] = [
        changed.map((row) => row.place),
        changed.map((row) => row.stored),
        changed.map((row) => row.renewed),
      ]
      // Only if the value is unchanged: another process may have updated it since.
      const { numAffectedRows = 0n } = await sql`
        UPDATE ${from} AS t SET ${value} = n.renewed::${sql.raw(type)}
        FROM unnest(${places}::text[], ${old}::text[], ${renewed}::text[]) AS n (place, old, renewed)
        WHERE t.ctid = n.place::tid AND t.${value}::text = n.old`.execute(db)
      done.renewed += Number(numAffectedRows)
    }
    const last = rows.at(-1)
    if (last === undefined) return
    place = last.place
  }
}

/** The text with every encrypted part re-encrypted; undefined if nothing changes. */
function renewedText(stored: string, secrets: Secrets, done: ReEncrypted): string | undefined {
  const renewed = stored.replaceAll(sealedText, (sealed) => {
    try {
      return secrets.renew(sealed) ?? sealed
    } catch {
      done.unreadable += 1
      return sealed
    }
  })
  return renewed === stored ? undefined : renewed
}
