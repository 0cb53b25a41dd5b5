import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { startEmbedded } from './embedded.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'belfry-embedded-')))
  chmodSync(folder, 0o755)
  folders.push(folder)
  return folder
}

/** Runs the database in this folder for one statement. */
async function inDatabase(dataDir: string, statement: string): Promise<unknown[]> {
  const database = await startEmbedded({ dataDir, password: 'test', say: () => undefined })
  const client = new pg.Client({ connectionString: database.url })
  try {
    await client.connect()
    return (await client.query(statement)).rows
  } finally {
    await client.end()
    await database.stop()
    folders.push(path.dirname(realpathSync(path.join(dataDir, 'postgres'))))
  }
}

test.each<[folder: string, make: () => string]>([
  [
    'inside a folder that only its owner can enter',
    () => {
      const home = newFolder()
      chmodSync(home, 0o700)
      return home
    },
  ],
  [
    'with a path too long for a socket',
    () => {
      const dataDir = path.join(newFolder(), 'a'.repeat(60), 'b'.repeat(60))
      mkdirSync(dataDir, { recursive: true })
      return dataDir
    },
  ],
])('a data folder may be %s', async (_folder, make) => {
  const dataDir = make()
  await inDatabase(dataDir, "CREATE TABLE guests AS SELECT 'ada' AS name")
  expect(await inDatabase(dataDir, 'SELECT * FROM guests')).toEqual([{ name: 'ada' }])
})
