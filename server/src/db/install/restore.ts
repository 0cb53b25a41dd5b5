// Restores a backup. The file is checked to its end before anything changes, and the restored data replaces the old only when
// it is complete.
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { StartError } from '../../errors.ts'
import { openDatabase } from '../core/database.ts'
import { knownMigrations, migrate } from '../core/migrate.ts'
import { makePartitions } from '../core/partitions.ts'
import { keyCheckOf, progressEveryMs, queueMigrations, storedTables } from './backup.ts'
import { type BackupHeader, type Piece, readBackupFile } from './backup-file.ts'
import { copyIn } from './copy.ts'
import { generatedSecrets, keepSecretKey, storedSecretKey } from './data-dir.ts'
import { startEmbedded } from './embedded.ts'

interface Options {
  file: string
  /** This process holds the claim on it. */
  dataDir: string
  /** The key from the settings, if there is one. */
  secretKey: string | undefined
  /** Whether existing data may be moved aside. */
  force: boolean
  now: Date
  say: (line: string) => void
}

interface Restored {
  createdAt: string
  tables: number
  rows: number
  /** Where the previous data was moved. */
  movedTo: string | undefined
}

/** The files that make a folder an installation. Logs and claims may be leftovers. */
const belongings = ['postgres', 'secrets.json', 'database-url']

export async function restoreBackup({ file, dataDir, secretKey, force, now, say }: Options): Promise<Restored> {
  const isUsed = belongings.some((name) => existsSync(path.join(dataDir, name)))
  if (isUsed && !force)
    throw new StartError(
      `${dataDir} has data already; nothing was changed. Set BELFRY_DATA_DIR to another folder, or add --force to move the existing data aside.`,
    )
  say('checking the file')
  const header = await checkFile(file)
  refuseNewer(file, header, await knownMigrations())
  // The folder's own key, for a backup of the same installation.
  const ownKey = isUsed ? storedSecretKey(dataDir) : undefined
  const key = keyFor(file, header, secretKey ?? header.secretKey ?? ownKey)

  // Leftovers of interrupted restores.
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith('restoring-')))
    removeDraft(path.join(dataDir, name))
  const draft = path.join(dataDir, `restoring-${process.pid}`)
  mkdirSync(draft, { mode: 0o755 })
  try {
    if (header.secretKey !== null || secretKey === undefined) keepSecretKey(draft, key)
    const { databasePassword: password } = generatedSecrets(draft)
    const postgres = await startEmbedded({ dataDir: draft, password, settings: loadSettings, say })
    let totals: { tables: number; rows: number }
    try {
      totals = await load(postgres.url, file, header, say)
    } finally {
      await postgres.stop()
    }
    const movedTo = isUsed ? moveAside(dataDir, now) : undefined
    for (const name of belongings) renameSync(path.join(draft, name), path.join(dataDir, name))
    return { createdAt: header.createdAt, ...totals, movedTo }
  } finally {
    removeDraft(draft)
  }
}

/** Including its database, which may be in another place. */
function removeDraft(draft: string): void {
  const cluster = path.join(draft, 'postgres')
  if (lstatSync(cluster, { throwIfNoEntry: false })?.isSymbolicLink())
    rmSync(path.dirname(readlinkSync(cluster)), { recursive: true, force: true })
  rmSync(draft, { recursive: true, force: true })
}

/** A partial load is worthless, so durability can wait: everything is on disk when the server has stopped. */
const loadSettings = { synchronous_commit: 'off', max_wal_size: '4GB' }

export async function checkFile(file: string): Promise<BackupHeader> {
  let header: BackupHeader | undefined
  for await (const piece of readBackupFile(file)) if (piece.kind === 'header') header = piece.header
  if (header?.format !== 1)
    throw new StartError(`${file} is not a backup that this version of Belfry can read. Nothing was changed.`)
  return header
}

export function refuseNewer(file: string, { migrations }: BackupHeader, known: string[]): void {
  const unknown = migrations.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new StartError(
      `${file} was made by a newer Belfry (${unknown.join(', ')}). Restore it with that version. Nothing was changed.`,
    )
}

function keyFor(file: string, header: BackupHeader, key: string | undefined): string {
  if (key === undefined)
    throw new StartError(
      `The key that credentials are encrypted with is not in ${file}; set BELFRY_SECRET_KEY to it. It is the secretKey in secrets.json, in the data folder that was backed up. Nothing was changed.`,
    )
  if (keyCheckOf(key) !== header.keyCheck)
    throw new StartError(
      `BELFRY_SECRET_KEY, or the key in the data folder, is not the key that credentials in ${file} are encrypted with. Nothing was changed.`,
    )
  return key
}

function moveAside(dataDir: string, now: Date): string {
  const place = path.join(dataDir, `before-restore-${now.toISOString().replaceAll(/[:.]/g, '-')}`)
  mkdirSync(place, { mode: 0o755 })
  for (const name of belongings)
    if (existsSync(path.join(dataDir, name))) renameSync(path.join(dataDir, name), path.join(place, name))
  return place
}

/** Creates the old schema, loads the rows, and applies the newer migrations. */
async function load(url: string, file: string, header: BackupHeader, say: Options['say']) {
  const database = openDatabase(url, { connections: 3, onError: () => undefined })
  const { pool } = database
  try {
    await migrate(pool, { only: header.migrations })
    await makePartitions(pool, header.months)
    const client = await pool.connect()
    try {
      await refuseNewerQueue(client, file, header)
      // Without triggers and foreign keys: the triggers' effects are in the backup, and referenced rows may come later.
      await client.query('SET statement_timeout = 0; SET session_replication_role = replica; BEGIN')
      const names = (await storedTables(client)).map(({ name }) => name)
      await client.query(`TRUNCATE ${names.join(', ')}`)
      const totals = await loadTables(client, readBackupFile(file), say)
      for (const [sequence, last] of Object.entries(header.sequences))
        await client.query('SELECT setval($1::regclass, $2::bigint)', [sequence, last])
      await client.query('COMMIT')
      await client.query('ANALYZE')
      await migrate(pool)
      return totals
    } finally {
      client.release(true)
    }
  } catch (cause) {
    if (cause instanceof pg.DatabaseError)
      throw new StartError(`${file} could not be restored. Nothing was changed.`, { cause })
    throw cause
  } finally {
    await database.close()
  }
}

export async function refuseNewerQueue(client: pg.ClientBase, file: string, header: BackupHeader): Promise<void> {
  if (header.queueMigrations > (await queueMigrations(client)))
    throw new StartError(`${file} was made by a newer Belfry, with a newer queue. Restore it with that version.`)
}

export async function loadTables(client: pg.ClientBase, pieces: AsyncGenerator<Piece>, say: Options['say']) {
  const totals = { tables: 0, rows: 0 }
  let saidAt = Date.now()
  for await (const piece of pieces) {
    if (piece.kind !== 'table') continue
    const { name, columns } = piece.table
    let expected = -1
    async function* rowsOfTable(): AsyncGenerator<Buffer> {
      for (;;) {
        const { value, done } = await pieces.next()
        if (done || value.kind === 'header' || value.kind === 'table') return
        if (value.kind === 'table-end') {
          expected = value.rows
          return
        }
        yield value.chunk
      }
    }
    const rows = await copyIn(client, `${name} (${columns.join(', ')})`, rowsOfTable())
    if (rows !== expected) throw new StartError(`The backup has ${expected} rows of ${name}, but ${rows} arrived.`)
    totals.tables += 1
    totals.rows += rows
    if (Date.now() - saidAt < progressEveryMs) continue
    saidAt = Date.now()
    say(`${totals.tables} tables, ${totals.rows} rows so far`)
  }
  return totals
}
