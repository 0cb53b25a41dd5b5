// One PostgreSQL for the whole run, with a migrated template that each test file copies.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../src/db/core/database.ts'
import { migrate } from '../src/db/core/migrate.ts'
import { startEmbedded } from '../src/db/install/embedded.ts'
import { folderInMemory } from './folder-in-memory.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's maintenance database. */
    databaseUrl: string
  }
}

export const template = 'belfry_template'

export default async function setup(project: TestProject) {
  const memory = folderInMemory()
  if (memory) process.env.TMPDIR = memory.path
  const dataDir = mkdtempSync(path.join(tmpdir(), 'belfry-test-'))
  // mkdtemp makes it private; the database's user must be able to enter.
  chmodSync(dataDir, 0o755)
  const postgres = await startEmbedded({
    dataDir,
    password: 'test',
    say: () => undefined,
    // Test databases need not survive a crash. Applications may prepare transactions.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      // It would go round all the databases of the workers, which live for a few minutes.
      autovacuum: 'off',
      max_connections: '300',
      max_prepared_transactions: '50',
    },
  })
  const admin = openDatabase(postgres.url, { connections: 1, onError: ignore })
  await admin.pool.query(`CREATE DATABASE ${template}`)
  await admin.close()
  const target = openDatabase(withDatabase(postgres.url, template), { connections: 4, onError: ignore })
  await migrate(target.pool)
  await target.close()
  project.provide('databaseUrl', postgres.url)

  return async () => {
    const kept = await keptDatabases(postgres.url)
    await postgres.stop()
    if (kept.length === 0) {
      rmSync(dataDir, { recursive: true, force: true })
      memory?.remove()
    } else
      process.stderr.write(
        `Failed tests left ${kept.join(', ')} in ${dataDir}/postgres (user belfry, password test)${memory ? '; the next run removes them' : ''}.\n`,
      )
  }
}

async function keptDatabases(url: string): Promise<string[]> {
  const admin = openDatabase(url, { connections: 1, onError: ignore })
  const { rows } = await admin.pool.query<{ datname: string }>(
    "SELECT datname FROM pg_database WHERE datname LIKE 't\\_%'",
  )
  await admin.close()
  return rows.map((row) => row.datname)
}

export function withDatabase(url: string, name: string): string {
  return url.replace(/@\/[^?]*/, `@/${name}`)
}

/** A failed query rejects on its own; this is for the socket of a closed pool when the server stops. */
const ignore = () => undefined
