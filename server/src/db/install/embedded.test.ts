import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databasePid, guardPids } from '../../../test/program.ts'
import { StartError } from '../../errors.ts'
import { type EmbeddedPostgres, startEmbedded } from './embedded.ts'
import { isAlive } from './processes.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'belfry-embedded-')))
  chmodSync(folder, 0o755)
  folders.push(folder)
  return folder
}

const start = (dataDir: string, say: (line: string) => void = () => undefined) =>
  startEmbedded({ dataDir, password: 'test', say })

async function ask({ url }: Pick<EmbeddedPostgres, 'url'>, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** Runs the database in this folder for one statement. */
async function inDatabase(dataDir: string, statement: string): Promise<unknown[]> {
  const database = await start(dataDir)
  try {
    return await ask(database, statement)
  } finally {
    await database.stop()
    folders.push(path.dirname(realpathSync(path.join(dataDir, 'postgres'))))
  }
}

const storeAda = "CREATE TABLE guests AS SELECT 'ada' AS name"
const guests = 'SELECT * FROM guests'
const ada = [{ name: 'ada' }]

test('a data folder may be inside a folder that only its owner can enter', async () => {
  const dataDir = newFolder()
  chmodSync(dataDir, 0o700)
  await inDatabase(dataDir, storeAda)
  expect(await inDatabase(dataDir, guests)).toEqual(ada)
})

test('a new file of the write-ahead log is not filled with zeros first: all commits would wait for it', async () => {
  const dataDir = newFolder()
  const database = await start(dataDir)
  await ask(database, 'SELECT pg_switch_wal()')
  await ask(database, storeAda)
  const [row] = (await ask(database, 'SELECT pg_walfile_name(pg_current_wal_lsn()) AS name')) as Array<{ name: string }>
  const { size, blocks } = statSync(path.join(dataDir, 'postgres', 'pg_wal', row?.name ?? ''))
  expect(size).toBe(16 * 1024 * 1024)
  expect(blocks * 512).toBeLessThan(size / 2)
  await database.stop()
})

// With a path too long for a socket. One for all of these: to make it takes longer than to use it.
describe('a data folder', () => {
  let dataDir: string
  beforeAll(async () => {
    dataDir = path.join(newFolder(), 'a'.repeat(60), 'b'.repeat(60))
    mkdirSync(dataDir, { recursive: true })
    await inDatabase(dataDir, storeAda)
  })
  const pidFile = () => path.join(dataDir, 'postgres', 'postmaster.pid')

  test('may have a path too long for a socket', async () => {
    expect(await inDatabase(dataDir, guests)).toEqual(ada)
  })

  test.each([
    ["another program's process", `${process.pid}\n`],
    ['nobody', ''],
  ])('may contain a pid file that names %s', async (_whom, content) => {
    writeFileSync(pidFile(), content)
    expect(await inDatabase(dataDir, guests)).toEqual(ada)
    expect(databasePid(dataDir)).toBeUndefined()
  })

  test('after a crash of Belfry and of the guard: the next start stops the leftover database', async () => {
    const crashed = await start(dataDir)
    const leftover = databasePid(dataDir) ?? 0
    const guards = guardPids(dataDir)
    expect(guards).toHaveLength(2)
    // Stop all first, so that none can react to the death of another.
    for (const signal of ['SIGSTOP', 'SIGKILL']) for (const pid of guards) process.kill(pid, signal)
    // This process is not dead, and would restart its database.
    await crashed.stop()
    expect(isAlive(leftover)).toBe(true)

    const said: string[] = []
    const next = await start(dataDir, (line) => said.push(line))
    expect(said).toEqual([`stopping the database that an earlier Belfry left running (pid ${leftover})`])
    expect(isAlive(leftover)).toBe(false)
    expect(await ask(next, guests)).toEqual(ada)
    await next.stop()
  })

  test.each(['the database', 'its guard'])('comes back after %s was killed', async (who) => {
    const reasons: string[] = []
    const { url, stop } = await startEmbedded({
      ...{ dataDir, password: 'test', say: () => undefined },
      onRestart: (reason) => reasons.push(reason),
    })
    const killed = databasePid(dataDir) ?? 0
    if (who === 'the database') process.kill(killed, 'SIGKILL')
    else for (const signal of ['SIGSTOP', 'SIGKILL']) for (const pid of guardPids(dataDir)) process.kill(pid, signal)
    await expect
      .poll(() => (isAlive(killed) ? undefined : ask({ url }, guests).catch(() => undefined)), { timeout: 60_000 })
      .toEqual(ada)
    expect(reasons[0]).toContain('The embedded PostgreSQL stopped unexpectedly')
    await stop()
    expect(databasePid(dataDir)).toBeUndefined()
  })

  test('is given up if it cannot be started again', async () => {
    const { died, stop } = await start(dataDir)
    const version = path.join(dataDir, 'postgres', 'PG_VERSION')
    const content = readFileSync(version, 'utf8')
    writeFileSync(version, 'none')
    process.kill(databasePid(dataDir) ?? 0, 'SIGKILL')
    expect((await died).message).toContain('The embedded PostgreSQL stopped unexpectedly')
    await stop()
    writeFileSync(version, content)
    expect(await inDatabase(dataDir, guests)).toEqual(ada)
  })

  test('is not touched without its secrets', async () => {
    const wrong = { dataDir, password: 'wrong', say: () => undefined }
    const refusal: unknown = await startEmbedded(wrong).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(StartError)
    expect((refusal as StartError).message).toBe(
      'The embedded PostgreSQL does not accept the password in secrets.json; restore that file from a backup.',
    )
    expect(databasePid(dataDir)).toBeUndefined()
    expect(await inDatabase(dataDir, guests)).toEqual(ada)
  })
})
