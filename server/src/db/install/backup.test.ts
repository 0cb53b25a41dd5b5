import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { secretKey, useServer } from '../../../test/server.ts'
import { makeBackup } from './backup.ts'
import { readBackupFile } from './backup-file.ts'
import { restoreBackup } from './restore.ts'

const server = useServer()
const folder = mkdtempSync(path.join(tmpdir(), 'belfry-backup-'))
const whole = path.join(folder, 'whole.backup')
const now = new Date('2026-05-01T10:00:00.000Z')

const backUp = (file: string, more: { withKey?: boolean } = {}) =>
  makeBackup({ pool: server.database.pool, file, secretKey, withKey: false, now, say: () => undefined, ...more })

beforeAll(async () => {
  await backUp(whole)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a backup', () => {
  test('has every row of every logged table, of any length', async () => {
    const long = 'x'.repeat(3_000_000)
    const { db } = server.database
    await sql`
      INSERT INTO contexts (environment_id, id, type, context_id, data, created_at, updated_at)
      VALUES (${server.api.environmentId}, 'c', 'a\\b', E'tab\tand\nline', ${JSON.stringify({ long })}, ${now}, ${now})`.execute(
      db,
    )
    const file = path.join(folder, 'all.backup')
    const { tables, rows } = await backUp(file)
    const found = new Map<string, number>()
    let name = ''
    let bytes = 0
    for await (const piece of readBackupFile(file)) {
      if (piece.kind === 'table') name = piece.table.name
      if (piece.kind === 'table-end') found.set(name, piece.rows)
      if (piece.kind === 'rows' && name === 'public.contexts') bytes += piece.chunk.length
      if (piece.kind === 'rows') expect(piece.chunk.length).toBeLessThanOrEqual(65_536)
    }
    expect(bytes).toBeGreaterThan(3_000_000)
    expect(found.get('public.contexts')).toBe(1)
    expect(found.get('public.environments')).toBe(2)
    expect([...found.keys()].filter((table) => table.startsWith('graphile_worker.'))).toContain(
      'graphile_worker._private_jobs',
    )
    for (const table of ['public.rate_buckets', 'public.belfry_migrations', 'public.messages_default'])
      expect(found.has(table)).toBe(false)
    expect([tables, rows]).toEqual([found.size, [...found.values()].reduce((sum, count) => sum + count, 0)])
    await sql`DELETE FROM contexts`.execute(db)
  })

  test('is readable by its owner only, and has the key only on request', async () => {
    expect(statSync(whole).mode & 0o777).toBe(0o600)
    expect(gunzipSync(readFileSync(whole)).includes(secretKey)).toBe(false)
    const file = path.join(folder, 'with-key.backup')
    await backUp(file, { withKey: true })
    expect(gunzipSync(readFileSync(file)).includes(secretKey)).toBe(true)
  })

  test('overwrites no file, and leaves no partial file', async () => {
    await expect(backUp(whole)).rejects.toThrow('exists already; name another file')
    await expect(backUp(path.join(folder, 'no-such', 'file'))).rejects.toThrow('cannot be written')
    const pool = { connect: () => server.database.pool.connect() } as typeof server.database.pool
    await expect(
      makeBackup({ pool, file: path.join(folder, 'broken'), secretKey, withKey: false, now, say: () => undefined }),
    ).rejects.toThrow()
    expect(readdirSync(folder).filter((name) => /part|broken/.test(name))).toEqual([])
  })
})

describe('a restore refuses, and changes nothing,', () => {
  const clear = () => gunzipSync(readFileSync(whole))
  const flipped = () => {
    const bytes = Buffer.from(clear())
    const middle = Math.floor(bytes.length / 2)
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
    return bytes
  }
  /** The same backup with a change and a matching checksum. */
  const resealed = (from: string, to: string) => {
    const changed = Buffer.from(clear().subarray(0, -37))
    changed.write(to, changed.indexOf(from), 'latin1')
    const sum = createHash('sha256').update(changed).digest()
    return gzipSync(Buffer.concat([changed, Buffer.from('Z\0\0\0\x20', 'latin1'), sum]))
  }
  const cases: Array<[what: string, bytes: () => Buffer, refusal: string, key?: string]> = [
    ['a file that was cut short', () => readFileSync(whole).subarray(0, 1000), 'is damaged or was cut short'],
    ['one that ends too soon', () => gzipSync(clear().subarray(0, -37)), 'is damaged or was cut short'],
    ['one that goes on', () => gzipSync(Buffer.concat([clear(), clear()])), 'is damaged or was cut short'],
    ['one with a bit that is not what it was', () => gzipSync(flipped()), 'is damaged or was cut short'],
    ['something else', () => Buffer.from('SELECT 1;'), 'is damaged or was cut short'],
    ['an empty file', () => Buffer.alloc(0), 'is damaged or was cut short'],
    [
      'what a newer version made',
      () => resealed('0001-resources.sql', '9999-whatever1.sql'),
      'was made by a newer Belfry (9999-whatever1.sql)',
    ],
    [
      'another format',
      () => resealed('"format":1', '"format":9'),
      'is not a backup that this version of Belfry can read',
    ],
    ['the wrong key', () => readFileSync(whole), 'is not the key', 'c3'.repeat(32)],
    ['to do without the key', () => readFileSync(whole), 'set BELFRY_SECRET_KEY to it', ''],
  ]

  test.each(cases)('%s', async (_, bytes, refusal, key = secretKey) => {
    const [file, dataDir] = [path.join(folder, 'given.backup'), mkdtempSync(path.join(folder, 'data-'))]
    writeFileSync(file, bytes())
    const given = { file, dataDir, secretKey: key || undefined, force: false, now, say: () => undefined }
    await expect(restoreBackup(given)).rejects.toThrow(refusal)
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('a folder with data, and a missing file', async () => {
    const dataDir = path.join(folder, 'used')
    mkdirSync(dataDir)
    writeFileSync(path.join(dataDir, 'secrets.json'), '{}')
    const given = { file: whole, dataDir, secretKey, force: false, now, say: () => undefined }
    await expect(restoreBackup(given)).rejects.toThrow('has data already; nothing was changed')
    const missing = { ...given, file: path.join(folder, 'none'), force: true }
    await expect(restoreBackup(missing)).rejects.toThrow('There is no file')
    expect(readFileSync(path.join(dataDir, 'secrets.json'), 'utf8')).toBe('{}')
    expect(readdirSync(dataDir)).toEqual(['secrets.json'])
  })
})
