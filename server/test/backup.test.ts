// The promise of `npm run backup` and `npm run restore`: everything accepted is restored, and continues.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { doCommand } from '../src/commands.ts'
import { openDatabase } from '../src/db/core/database.ts'
import { restoreBackup } from '../src/db/install/restore.ts'
import { freePort } from './free-port.ts'
import { ask, databasePid, type Run, usePrograms } from './program.ts'

const programs = usePrograms()
/** A limit, because a backup takes long on a slow machine. */
const mostPerLane = 150

vi.setConfig({ testTimeout: 600_000 })

async function startIn(dataDir: string, env: Record<string, string> = {}): Promise<Run> {
  return programs
    .start({
      PORT: String(await freePort()),
      BELFRY_DATA_DIR: dataDir,
      BELFRY_LOG: 'warn',
      BELFRY_CANARY: 'false',
      ...env,
    })
    .ready()
}

const backUp = (dataDir: string, file: string) =>
  programs.command(['backup', file, '--with-key'], { BELFRY_DATA_DIR: dataDir }).ended
const restore = (dataDir: string, file: string) =>
  programs.command(['restore', file], { BELFRY_DATA_DIR: dataDir }).ended

interface Filled {
  run: Run
  key: string
  trigger(transactionId: string, name?: string): Promise<number>
}

/** A service with an integration and waiting workflows. */
async function startFilled(dataDir: string, env: Record<string, string> = {}): Promise<Filled> {
  const run = await startIn(dataDir, env)
  const key = run.keys[0] ?? ''
  const made = async (place: string, body: object) =>
    expect(await ask(`${run.url}${place}`, key, body)).toMatchObject({ status: 201 })
  await made('/v1/integrations', {
    providerId: 'sendgrid',
    channel: 'email',
    credentials: { apiKey: 'SG.only-ours', from: 'us@example.com' },
  })
  const tell = { name: 'Tell', type: 'in_app', controlValues: { body: '{{payload.n}} {{step.digest.eventCount}}' } }
  const waits = [
    ['later', { name: 'Wait', type: 'delay', controlValues: { type: 'regular', amount: 12, unit: 'seconds' } }],
    ['collected', { name: 'Digest', type: 'digest', controlValues: { type: 'regular', amount: 12, unit: 'seconds' } }],
  ] as const
  for (const [workflowId, wait] of waits) {
    const steps = [
      { ...wait, stepId: 'wait' },
      { ...tell, controlValues: { body: bodyOf(workflowId) } },
    ]
    await made('/v2/workflows', { name: workflowId, workflowId, active: true, steps })
  }
  return {
    run,
    key,
    async trigger(transactionId, name = 'later') {
      const to = name === 'later' ? transactionId : 'everyone'
      const body = { name, transactionId, to, payload: { n: transactionId } }
      return (await ask(`${run.url}/v1/events/trigger`, key, body)).status
    },
  }
}

const bodyOf = (workflowId: string) =>
  workflowId === 'later' ? '{{payload.n}}' : '{{steps.wait.eventCount}} collected'

/**
 * All message contents, once `count` have arrived and no run is under way. In one statement: pages of a growing list repeat what
 * moves from one to the next.
 */
async function said(dataDir: string, count: number): Promise<string[]> {
  const list = () => query<{ content: string }>(dataDir, 'SELECT content FROM messages ORDER BY content')
  const underWay = () => query(dataDir, "SELECT FROM notifications WHERE status = 'processing'")
  await expect
    .poll(async () => (await list()).length >= count && (await underWay()).length === 0, {
      timeout: 90_000,
      interval: 250,
    })
    .toBe(true)
  return (await list()).map(({ content }) => content)
}

async function query<Row extends object>(dataDir: string, text: string): Promise<Row[]> {
  const url = readFileSync(path.join(dataDir, 'database-url'), 'utf8').trim()
  const { pool, close } = openDatabase(url, { connections: 1, onError: () => undefined })
  try {
    return (await pool.query<Row>(text)).rows
  } finally {
    await close()
  }
}

const partitionsIn = (dataDir: string) =>
  query(
    dataDir,
    `SELECT relname, pg_get_expr(relpartbound, oid) AS bound FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY 1`,
  )
const isQueueAheadIn = (dataDir: string) =>
  query<{ isAhead: boolean }>(
    dataDir,
    `SELECT nextval(pg_get_serial_sequence('graphile_worker._private_jobs', 'id'))
       > (SELECT coalesce(max(id), 0) FROM graphile_worker._private_jobs) AS "isAhead"`,
  )

test('everything accepted before a backup under load is there after a restore elsewhere, and continues', async () => {
  const [dataDir, elsewhere] = [programs.folder(), programs.folder()]
  const { run, key, trigger } = await startFilled(dataDir)
  const accepted: string[] = []
  let isLoading = true
  const load = async (lane: number) => {
    for (let n = 0; isLoading && n < mostPerLane; n += 1) {
      const transactionId = `${lane}-${n}`
      expect(await trigger(transactionId)).toBe(201)
      accepted.push(transactionId)
    }
  }
  for (const n of [1, 2, 3]) expect(await trigger(`digest-${n}`, 'collected')).toBe(201)
  const lanes = [1, 2].map(load)
  await expect.poll(() => accepted.length, { timeout: 30_000 }).toBeGreaterThan(50)
  const file = path.join(dataDir, 'first.backup')
  const before = [...accepted]
  const made = await backUp(dataDir, file)
  isLoading = false
  await Promise.all(lanes)
  expect(made).toMatchObject({ code: 0, output: expect.stringMatching(/\d+ tables, \d+ rows, \d+ kB/) })
  expect(made.output).toContain('It contains the secret key that decrypts its credentials')
  expect(statSync(file).mode & 0o077).toBe(0)
  expect(readdirSync(dataDir).filter((name) => name.endsWith('.part'))).toEqual([])
  const partitions = await partitionsIn(dataDir)
  await run.stop()
  // A backup also works while nothing is running.
  const later = path.join(dataDir, 'later.backup')
  const laterMade = await doCommand('backup', [later], { BELFRY_DATA_DIR: dataDir })
  // Hole 11: only who asks for it gets a backup with the key.
  expect(laterMade).toMatch(/\d+ tables, \d+ rows, \d+ kB\. It does not contain the secret key/)
  await expect(doCommand('restore', [later], { BELFRY_DATA_DIR: programs.folder() })).rejects.toThrow(
    'The key that credentials are encrypted with is not in',
  )
  expect(databasePid(dataDir)).toBeUndefined()

  const restored = await restore(elsewhere, file)
  expect(restored).toMatchObject({ code: 0, output: expect.stringContaining('to its state of 20') })
  expect(readdirSync(elsewhere).sort()).toEqual(['database-url', 'postgres', 'secrets.json'])
  const again = await startIn(elsewhere)
  expect(again.keys).toEqual([])
  expect(await partitionsIn(elsewhere)).toEqual(partitions)
  expect(await isQueueAheadIn(elsewhere)).toEqual([{ isAhead: true }])

  // Each trigger accepted before, once; any of those accepted during the backup; and the digest with all its events.
  const contents = await said(elsewhere, before.length + 1)
  expect(contents).toContain('3 collected')
  const others = contents.filter((content) => content !== '3 collected')
  expect(new Set(others).size).toBe(others.length)
  expect(accepted).toEqual(expect.arrayContaining(others))
  expect(others).toEqual(expect.arrayContaining(before))
  const { body: integrations } = await ask(`${again.url}/v1/integrations`, key)
  expect(integrations).toContainEqual(
    expect.objectContaining({ credentials: { apiKey: 'SG.only-ours', from: 'us@example.com' } }),
  )
  // A repeated trigger is recognised after the restore, too.
  const repeat = { name: 'later', transactionId: before[0], to: before[0] }
  await ask(`${again.url}/v1/events/trigger`, key, repeat)
  expect(await query(elsewhere, `SELECT FROM events WHERE transaction_id = '${before[0]}'`)).toHaveLength(1)
  // A restore refuses to overwrite a folder in use.
  const inUse = doCommand('restore', [file, '--force'], { BELFRY_DATA_DIR: elsewhere })
  await expect(inUse).rejects.toThrow('Belfry is already running')
  await again.stop()

  const secrets = readFileSync(path.join(dataDir, 'secrets.json'), 'utf8')
  const given = { file: later, dataDir, secretKey: undefined, now: new Date(), say: () => undefined }
  await expect(restoreBackup({ ...given, force: false })).rejects.toThrow('has data already; nothing was changed')
  const { movedTo = '', rows } = await restoreBackup({ ...given, force: true })
  expect(rows).toBeGreaterThan(before.length)
  expect(readFileSync(path.join(movedTo, 'secrets.json'), 'utf8')).toBe(secrets)
  const keyIn = (text: string) => JSON.parse(text).secretKey
  expect(keyIn(readFileSync(path.join(dataDir, 'secrets.json'), 'utf8'))).toBe(keyIn(secrets))
  for (const place of [dataDir, movedTo]) expect(existsSync(path.join(place, 'postgres', 'PG_VERSION'))).toBe(true)
})
