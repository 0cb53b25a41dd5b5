// Looks at an installation for whoever runs it, and changes nothing: the database, its schema, and whether the key is the right one.
import { statfsSync } from 'node:fs'
import type pg from 'pg'
import { pendingMigrations } from '../core/migrate.ts'
import { Secrets } from '../core/secrets.ts'

interface Options {
  pool: pg.Pool
  secretKey: string
  otherSecretKeys: readonly string[]
  /** With the embedded database. */
  dataDir: string | undefined
}

export interface Finding {
  isFine: boolean
  text: string
}

const leastFreeBytes = 1_000_000_000

export async function findingsOf({ pool, secretKey, otherSecretKeys, dataDir }: Options): Promise<Finding[]> {
  const { rows: server } = await pool.query<{ version: string; size: string }>(
    "SELECT current_setting('server_version') AS version, pg_size_pretty(pg_database_size(current_database())) AS size",
  )
  const findings: Finding[] = [
    { isFine: true, text: `PostgreSQL ${server[0]?.version} answers; the database has ${server[0]?.size}` },
  ]
  const { rows: known } = await pool.query<{ is: boolean }>("SELECT to_regclass('belfry_migrations') IS NOT NULL AS is")
  if (!known[0]?.is) {
    findings.push({ isFine: true, text: 'The database is empty; the first start prepares it' })
  } else {
    const pending = await pendingMigrations(pool)
    findings.push({
      isFine: true,
      text:
        pending.length === 0
          ? 'The schema is up to date'
          : `The next start applies ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'}`,
    })
    findings.push(await keyFinding(pool, new Secrets(secretKey, otherSecretKeys)))
  }
  return dataDir === undefined ? findings : [...findings, diskFinding(dataDir)]
}

/** Every environment has an encrypted key. */
async function keyFinding(pool: pg.Pool, secrets: Secrets): Promise<Finding> {
  const { rows } = await pool.query<{ sealed: string }>(
    'SELECT encrypted_key AS sealed FROM api_keys WHERE encrypted_key IS NOT NULL ORDER BY id LIMIT 1',
  )
  const [row] = rows
  if (!row) return { isFine: true, text: 'Nothing is encrypted yet' }
  try {
    secrets.decrypt(row.sealed)
    return { isFine: true, text: 'The secret key decrypts what is stored' }
  } catch {
    return {
      isFine: false,
      text: 'The secret key does not decrypt what is stored; set BELFRY_SECRET_KEY to the one it was',
    }
  }
}

function diskFinding(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const text = `${(free / 1e9).toFixed(1)} GB are free on the disk of ${dataDir}`
  return free < leastFreeBytes ? { isFine: false, text: `Only ${text}` } : { isFine: true, text }
}
