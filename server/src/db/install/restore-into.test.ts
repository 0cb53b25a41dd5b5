// Moving into a database of one's own: files.md §8.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { withDatabase } from '../../../test/global-setup.ts'
import { plant } from '../../../test/planted.ts'
import { dumpSchema } from '../../../test/schema-dump.ts'
import { dropTestDatabase, secretKey, useServer } from '../../../test/server.ts'
import { doCommand } from '../../commands.ts'
import { Secrets } from '../core/secrets.ts'
import { makeBackup, storedTables } from './backup.ts'

const server = useServer()
const folder = mkdtempSync(path.join(tmpdir(), 'belfry-restore-'))
const [withKey, withoutKey] = [path.join(folder, 'with-key.backup'), path.join(folder, 'without.backup')]
const newKey = 'b2'.repeat(32)
const made: string[] = []
const application = `app_${randomBytes(6).toString('hex')}`

/** Without tables, of a role that owns it and is no superuser. */
async function emptyDatabase(): Promise<string> {
  const name = `t_${randomBytes(6).toString('hex')}`
  made.push(name)
  await asked(inject('databaseUrl'), `CREATE ROLE ${name} LOGIN PASSWORD 'app'`)
  await asked(inject('databaseUrl'), `CREATE DATABASE ${name} OWNER ${name} TEMPLATE template0`)
  // Its host is a socket, so it is no URL that JavaScript could read.
  return withDatabase(inject('databaseUrl'), name).replace(/\/\/[^@/]*@/, `//${name}:app@`)
}

async function asked(url: string, statement: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

const restore = (file: string, url: string, key = secretKey) =>
  doCommand('restore', [file], { DATABASE_URL: url, BELFRY_SECRET_KEY: key })

beforeAll(async () => {
  const { development } = await plant(server)
  await asked(server.database.url, `CREATE ROLE ${application} LOGIN PASSWORD 'app'`)
  await asked(server.database.url, `SELECT belfry.allow('${application}', '${development.environmentId}')`)
  await asked(
    server.database.url,
    `INSERT INTO belfry.outbox (format, environment_id, kind, transaction_id, body, role, created_at)
     VALUES (1, '${development.environmentId}', 'trigger', 'waits', '{}', '${application}', now())`,
  )
  const options = { pool: server.database.pool, secretKey, now: new Date(), say: () => undefined }
  await makeBackup({ ...options, file: withKey, withKey: true })
  await makeBackup({ ...options, file: withoutKey, withKey: false })
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  for (const name of made) {
    await dropTestDatabase(name)
    await asked(inject('databaseUrl'), `DROP ROLE ${name}`)
  }
  await asked(server.database.url, `DROP OWNED BY ${application}`)
  await asked(server.database.url, `DROP ROLE ${application}`)
})

describe('restoring into DATABASE_URL', () => {
  test('brings every row, constraint and trigger into an empty database, without the rights of a superuser', async () => {
    const url = await emptyDatabase()
    expect(await restore(withoutKey, url)).toMatch(/^Restored the database to the state of .* tables, \d+ rows\.$/)
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    const client = await pool.connect()
    try {
      const names = (await storedTables(client)).map(({ name }) => name)
      const count = `SELECT ${names.map((name, i) => `(SELECT count(*) FROM ${name}) AS c${i}`).join(', ')}`
      expect((await client.query(count)).rows).toEqual((await server.database.pool.query(count)).rows)
      const disabled = `SELECT tgname FROM pg_trigger WHERE tgenabled <> 'O'`
      expect((await client.query(disabled)).rows).toEqual((await server.database.pool.query(disabled)).rows)
    } finally {
      client.release()
    }
    expect(await dumpSchema(pool)).toBe(await dumpSchema(server.database.pool))
    await pool.end()
    const again = restore(withoutKey, url)
    await expect(again).rejects.toThrow('has data of Belfry already (belfry_migrations); nothing was changed')
  })

  test('refuses a database in which only the SQL functions are installed: calls may wait there', async () => {
    const url = await emptyDatabase()
    await asked(url, 'CREATE SCHEMA belfry')
    await asked(url, 'CREATE TABLE belfry.outbox (transaction_id text)')
    await asked(url, "INSERT INTO belfry.outbox VALUES ('waits here')")
    await expect(restore(withoutKey, url)).rejects.toThrow(
      'has data of Belfry already (belfry.outbox); nothing was changed',
    )
    expect(await asked(url, 'SELECT transaction_id FROM belfry.outbox')).toEqual([{ transaction_id: 'waits here' }])
  })

  test('brings calls of the SQL functions that wait or were refused, and who may call them', async () => {
    const url = await emptyDatabase()
    await restore(withoutKey, url)
    expect(await asked(url, 'SELECT transaction_id FROM belfry.outbox')).toEqual([{ transaction_id: 'waits' }])
    expect(await asked(url, 'SELECT transaction_id FROM belfry.refused')).toEqual([{ transaction_id: 'refused' }])
    const right = `has_function_privilege('${application}', 'belfry.trigger(text, jsonb, jsonb, jsonb)', 'EXECUTE')`
    expect(await asked(url, `SELECT ${right} AS may`)).toEqual([{ may: true }])
    const client = new pg.Client({ connectionString: url.replace(/\/\/[^@/]*@/, `//${application}:app@`) })
    await client.connect()
    await client.query(`SELECT belfry.trigger('welcome', '"ada"')`)
    await client.end()
    // The number goes on where it was.
    const [{ ordered }] = await asked(
      url,
      "SELECT (SELECT max(id) FROM belfry.outbox) > (SELECT id FROM belfry.outbox WHERE transaction_id = 'waits') AS ordered",
    )
    expect(ordered).toBe(true)
  })

  test('encrypts secrets anew for another key, if the file has its own', async () => {
    const url = await emptyDatabase()
    await expect(restore(withoutKey, url, newKey)).rejects.toThrow('BELFRY_SECRET_KEY is not the key')
    expect(await restore(withKey, url, newKey)).toMatch(/\d+ secrets were encrypted anew with BELFRY_SECRET_KEY\.$/)
    const [{ encrypted_key: sealed }] = await asked(
      url,
      'SELECT encrypted_key FROM api_keys WHERE encrypted_key IS NOT NULL LIMIT 1',
    )
    expect(() => new Secrets(secretKey).decrypt(sealed)).toThrow()
    expect(new Secrets(newKey).decrypt(sealed)).not.toBe('')
  })

  test('refuses a PostgreSQL that says it is older than 15', async () => {
    const url = await emptyDatabase()
    await asked(url, 'CREATE SCHEMA older')
    await asked(
      url,
      `CREATE FUNCTION older.current_setting(name text) RETURNS text LANGUAGE sql AS
       $$SELECT CASE name WHEN 'server_version_num' THEN '140012' WHEN 'server_version' THEN '14.12'
                ELSE pg_catalog.current_setting(name) END$$`,
    )
    await asked(url, `ALTER DATABASE ${made.at(-1)} SET search_path = older, pg_catalog, public`)
    await expect(restore(withoutKey, url)).rejects.toThrow('Belfry needs PostgreSQL 15 or newer')
    expect(await asked(url, `SELECT to_regclass('belfry_migrations') AS own`)).toEqual([{ own: null }])
  })

  test('changes nothing if it fails', async () => {
    const url = await emptyDatabase()
    // The restore fails at its end: this name is taken.
    await asked(url, 'CREATE TABLE workflows (id text)')
    await expect(restore(withoutKey, url)).rejects.toThrow(/failed|Nothing was changed/)
    const left = await asked(
      url,
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
    )
    expect(left).toEqual([{ relname: 'workflows' }])
    expect(await asked(url, `SELECT to_regnamespace('graphile_worker') AS queue`)).toEqual([{ queue: null }])
  })

  test('doctor tells what it found, and whether the key is the right one', async () => {
    const url = await emptyDatabase()
    const ask = (key: string) => doCommand('doctor', [], { DATABASE_URL: url, BELFRY_SECRET_KEY: key })
    expect(await ask(secretKey)).toMatch(
      /^ok {2}PostgreSQL .*\nok {2}The database is empty; the first start prepares it$/,
    )
    await restore(withoutKey, url)
    expect(await ask(secretKey)).toContain('ok  The schema is up to date\nok  The secret key decrypts what is stored')
    expect(await ask(newKey)).toContain('NOT OK  The secret key does not decrypt what is stored')
    process.exitCode = 0
  })

  test('nothing but its own steps is told', async () => {
    const warned = vi.spyOn(console, 'warn')
    await restore(withoutKey, await emptyDatabase())
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })

  test('a backup of an own database is one of the same kind', async () => {
    const url = await emptyDatabase()
    await restore(withoutKey, url)
    const file = path.join(folder, 'again.backup')
    expect(await doCommand('backup', [file], { DATABASE_URL: url, BELFRY_SECRET_KEY: secretKey })).toMatch(
      /tables, \d+ rows/,
    )
    expect(await restore(file, await emptyDatabase())).toMatch(/^Restored the database/)
  })
})

describe('a command', () => {
  const backups = () => readdirSync('.').filter((name) => name.endsWith('.backup'))

  test.each([
    ['backup', '--help', 'Usage: npm run backup [file] [--with-key]'],
    ['restore', '-h', 'Usage: npm run restore <file> [--force]'],
    ['--help', '', 'Usage: npm run sign-in-link [address] [--remove-second-factor]'],
  ])('%s %s says how it is used, and does nothing', async (command, flag, usage) => {
    const files = backups()
    expect(await doCommand(command, flag === '' ? [] : [flag], {})).toContain(usage)
    expect(backups()).toEqual(files)
  })

  test('refuses an option that it does not have', async () => {
    const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', BELFRY_SECRET_KEY: secretKey }
    await expect(doCommand('backup', ['--with-keys'], env)).rejects.toThrow(
      'There is no option --with-keys. Usage: npm run backup [file] [--with-key]',
    )
  })
})

describe('moving out', () => {
  test('a backup of an own database becomes an embedded one, and comes back: every row, readable secrets', async () => {
    const url = await emptyDatabase()
    await restore(withoutKey, url)
    const [out, back] = [path.join(folder, 'out.backup'), path.join(folder, 'back.backup')]
    const [closed, dataDir] = [path.join(folder, 'closed'), path.join(folder, 'embedded')]
    const embedded = { BELFRY_DATA_DIR: dataDir, BELFRY_SECRET_KEY: secretKey }
    expect(await doCommand('backup', [out], { DATABASE_URL: url, BELFRY_SECRET_KEY: secretKey })).toContain(
      'keep BELFRY_SECRET_KEY elsewhere',
    )
    // Without its key a backup is of no use elsewhere, and a restore says so before it writes anything.
    await expect(doCommand('restore', [out], { BELFRY_DATA_DIR: closed })).rejects.toThrow(
      'The key that credentials are encrypted with is not in',
    )
    expect(existsSync(path.join(closed, 'postgres'))).toBe(false)
    expect(await doCommand('restore', [out], embedded)).toContain('to its state of 20')

    expect(await doCommand('backup', [back], embedded)).toMatch(/tables, \d+ rows/)
    const again = await emptyDatabase()
    await restore(back, again)
    const counts = async (of: string) => {
      const pool = new pg.Pool({ connectionString: of, max: 1 })
      const client = await pool.connect()
      try {
        const names = (await storedTables(client)).map(({ name }) => name)
        return (
          await client.query(`SELECT ${names.map((name) => `(SELECT count(*) FROM ${name}) AS "${name}"`).join(', ')}`)
        ).rows[0]
      } finally {
        client.release()
        await pool.end()
      }
    }
    expect(await counts(again)).toEqual(await counts(url))
    const [{ encrypted_key: sealed }] = await asked(
      again,
      'SELECT encrypted_key FROM api_keys WHERE encrypted_key IS NOT NULL LIMIT 1',
    )
    expect(new Secrets(secretKey).decrypt(sealed)).not.toBe('')
    expect(await asked(again, 'SELECT transaction_id FROM belfry.outbox')).toEqual([{ transaction_id: 'waits' }])
  }, 240_000)
})
