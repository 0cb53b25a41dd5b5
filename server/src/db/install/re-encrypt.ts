// The encrypted columns, and their re-encryption with a new key while the service runs.
import { type Selectable, sql } from 'kysely'
import { openChannels, openEndpoint, sealChannels, sealEndpoint } from '../core/chat-addresses.ts'
import type { Db } from '../core/database.ts'
import { type Secrets, sealedText } from '../core/secrets.ts'
import type { ChannelEndpointTable, SubscriberTable } from '../core/tables.ts'

type EndpointRow = Selectable<ChannelEndpointTable>
type SubscriberRow = Selectable<SubscriberTable>

/**
 * A test searches the whole database for others. Addresses in triggers are not re-encrypted: they are read once, when the
 * trigger's runs begin.
 */
export const encryptedColumns = [
  ['api_keys', 'encrypted_key', 'text'],
  ['authenticator_apps', 'secret', 'text'],
  ['channel_connections', 'encrypted_access_token', 'text'],
  ['channel_endpoints', 'endpoint', 'jsonb'],
  ['environment_variable_values', 'value', 'text'],
  ['environments', 'shadow_key', 'text'],
  ['erasures', 'subject', 'text'],
  ['idempotency_keys', 'body', 'text'],
  ['integrations', 'credentials', 'jsonb'],
  ['integrations', 'configurations', 'jsonb'],
  ['push_subscriptions', 'sealed', 'text'],
  ['signing_secrets', 'secret', 'text'],
  ['subscribers', 'channels', 'jsonb'],
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

/** As the partial indexes say it, which find these rows without reading the tables. */
const clear = {
  channel_endpoints: sql`t.endpoint @? '$.url ? (!(@ starts with "enc:v1:"))'`,
  subscribers: sql`t.channels @? '$[*].credentials.webhookUrl ? (!(@ starts with "enc:v1:"))'`,
}

/** Encrypts chat addresses that earlier versions stored in the clear. @returns how many rows */
export async function sealAddresses(db: Db, secrets: Secrets, stopping?: AbortSignal): Promise<number> {
  let sealed = 0
  for (;;) {
    stopping?.throwIfAborted()
    // Locked from reading to writing, so that no change in between is lost. Each batch commits by itself.
    const found = await db.transaction().execute(async (tx) => {
      const endpoints = await sql<Pick<EndpointRow, 'environment_id' | 'id' | 'endpoint'>>`
        SELECT t.environment_id, t.id, t.endpoint FROM channel_endpoints t WHERE ${clear.channel_endpoints}
        ORDER BY t.environment_id, t.id LIMIT ${batch} FOR NO KEY UPDATE`.execute(tx)
      const people = await sql<Pick<SubscriberRow, 'environment_id' | 'id' | 'channels'>>`
        SELECT t.environment_id, t.id, t.channels FROM subscribers t WHERE ${clear.subscribers}
        ORDER BY t.environment_id, t.id LIMIT ${batch} FOR NO KEY UPDATE`.execute(tx)
      const store = (
        table: string,
        column: string,
        rows: Array<{ environment_id: string; id: string; value: unknown }>,
      ) =>
        sql`
          UPDATE ${sql.table(table)} t SET ${sql.ref(column)} = n.value
          FROM unnest(${rows.map((row) => row.environment_id)}::text[], ${rows.map((row) => row.id)}::text[],
                      ${rows.map((row) => JSON.stringify(row.value))}::jsonb[]) AS n (environment_id, id, value)
          WHERE t.environment_id = n.environment_id AND t.id = n.id`.execute(tx)
      await store(
        'channel_endpoints',
        'endpoint',
        endpoints.rows.map(({ endpoint, ...row }) => ({
          ...row,
          value: sealEndpoint(openEndpoint(endpoint, secrets), secrets),
        })),
      )
      await store(
        'subscribers',
        'channels',
        people.rows.map(({ channels, ...row }) => ({
          ...row,
          value: sealChannels(openChannels(channels, secrets), secrets),
        })),
      )
      return endpoints.rows.length + people.rows.length
    })
    if (found === 0) return sealed
    sealed += found
  }
}
