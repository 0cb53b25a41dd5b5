// Restores a backup into a database of the operator's own, in one transaction: it is there as a whole, or not at all.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { StartError } from '../../errors.ts'
import { knownMigrations, migrate, ownSchema } from '../core/migrate.ts'
import { makePartitions } from '../core/partitions.ts'
import { Secrets } from '../core/secrets.ts'
import type { Tables } from '../core/tables.ts'
import { keyCheckOf, storedTables } from './backup.ts'
import { type BackupHeader, readBackupFile } from './backup-file.ts'
import { OneTransaction } from './one-transaction.ts'
import { reEncrypt } from './re-encrypt.ts'
import { checkFile, loadTables, refuseNewer, refuseNewerQueue } from './restore.ts'

interface Options {
  file: string
  databaseUrl: string
  /** The key that the service will run with. */
  secretKey: string
  say: (line: string) => void
}

interface Restored {
  createdAt: string
  tables: number
  rows: number
  /** How many values were encrypted anew. */
  renewed: number
}

/** It needs the rights of the database's owner only, not those of a superuser. */
export async function restoreInto({ file, databaseUrl, secretKey, say }: Options): Promise<Restored> {
  say('checking the file')
  const header = await checkFile(file)
  refuseNewer(file, header, await knownMigrations())
  const secrets = secretsFor(file, header, secretKey)
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'belfry-restore' })
  try {
    await client.connect().catch((cause: unknown) => {
      throw new StartError('The database cannot be used; is DATABASE_URL right? Nothing was changed.', { cause })
    })
    await refuseUsed(client)
    await client.query('SET statement_timeout = 0')
    await client.query('BEGIN')
    const totals = await load(client, file, header, say)
    const renewed = secrets ? await renew(client, secrets) : 0
    await migrate(new OneTransaction(client).asPool())
    // Rights are not rows: those of the roles that exist here are given anew.
    await client.query(
      'SELECT belfry.allow(a.role, a.environment_id) FROM belfry.allowed a JOIN pg_roles r ON r.rolname = a.role',
    )
    await client.query('COMMIT')
    await client.query('ANALYZE')
    return { createdAt: header.createdAt, ...totals, renewed }
  } catch (cause) {
    if (cause instanceof pg.DatabaseError)
      throw new StartError(`${file} could not be restored. Nothing was changed.`, { cause })
    throw cause
  } finally {
    // Ends the transaction, if it was not committed.
    await client.end().catch(() => undefined)
  }
}

/** Undefined if the service runs with the file's key; else both, to encrypt anew. */
function secretsFor(file: string, { secretKey: inFile, keyCheck }: BackupHeader, own: string): Secrets | undefined {
  if (keyCheckOf(own) === keyCheck) return undefined
  if (inFile === null)
    throw new StartError(
      `BELFRY_SECRET_KEY is not the key that credentials in ${file} are encrypted with, and the file does not have that key. Set it to the secretKey in secrets.json of the data folder that was backed up, or back up with --with-key. Nothing was changed.`,
    )
  return new Secrets(own, [inFile])
}

/** Only a database without our tables: nothing is merged, and nothing overwritten. */
async function refuseUsed(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ used: string | null }>(
    `SELECT coalesce(to_regclass('belfry_migrations')::text, to_regnamespace('graphile_worker')::text,
       to_regclass('belfry.outbox')::text) AS used`,
  )
  if (rows[0]?.used)
    throw new StartError(
      `The database has data of Belfry already (${rows[0].used}); nothing was changed. Restore into an empty one.`,
    )
}

async function load(client: pg.Client, file: string, header: BackupHeader, say: Options['say']) {
  const pool = new OneTransaction(client).asPool()
  await migrate(pool, { only: header.migrations })
  await makePartitions(pool, header.months)
  await refuseNewerQueue(client, file, header)
  const tables = (await storedTables(client)).map(({ name }) => name)
  await client.query('SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED')
  // The effects of triggers are in the backup, and referenced rows may come later. An owner may do this; to turn off
  // replication's triggers, as for the embedded database, takes a superuser.
  const foreignKeys = await takeForeignKeys(client)
  for (const name of tables) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`)
  await client.query(`TRUNCATE ${tables.join(', ')}`)
  const totals = await loadTables(client, readBackupFile(file), say)
  for (const [sequence, last] of Object.entries(header.sequences))
    await client.query('SELECT setval($1::regclass, $2::bigint)', [sequence, last])
  for (const name of tables) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`)
  for (const { table, name, definition } of foreignKeys)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
  return totals
}

interface ForeignKey {
  table: string
  name: string
  definition: string
}

/** Drops them, and says how to add them again. */
async function takeForeignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint
     WHERE contype = 'f' AND conparentid = 0
       AND connamespace IN (${ownSchema}, 'graphile_worker'::regnamespace) ORDER BY 1, 2`,
  )
  for (const { table, name } of rows) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  return rows
}

async function renew(client: pg.Client, secrets: Secrets): Promise<number> {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new OneTransaction(client).asPool() }) })
  const { renewed, unreadable } = await reEncrypt(db, secrets)
  if (unreadable > 0)
    throw new StartError(`${unreadable} secrets in the backup cannot be read with its key. Nothing was changed.`)
  return renewed
}
