// Everything that is stored encrypted, and how it comes under a new key while the service runs.
import { sql } from 'kysely'
import type { Db } from '../core/database.ts'
import { type Secrets, sealedText } from '../core/secrets.ts'

/** A test looks through the whole database for others. */
export const encryptedColumns = [
  ['api_keys', 'encrypted_key', 'text'],
  ['channel_connections', 'encrypted_access_token', 'text'],
  ['environment_variable_values', 'value', 'text'],
  ['erasures', 'subject', 'text'],
  ['idempotency_keys', 'body', 'text'],
  ['integrations', 'credentials', 'jsonb'],
  ['integrations', 'configurations', 'jsonb'],
  ['webhook_endpoints', 'previous_secret', 'text'],
  ['webhook_endpoints', 'secret', 'text'],
] as const

const batch = 500

export interface ReEncrypted {
  /** Values that are now under the current key. */
  renewed: number
  /** Values that none of the keys opens; they stay as they are. */
  unreadable: number
}

/** Each batch commits by itself; whoever stops goes on from the start, where there is nothing left to do. */
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
    // By their place in the table, which needs no index; a row that moves meanwhile comes up again further down.
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
      // Only where it still is what was read: somebody may have given it a new value since.
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

/** With every sealed part of it under the current key; undefined where that is so already. */
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
