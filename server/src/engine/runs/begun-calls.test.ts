// What another worker does with the calls of one that died: those it had begun may have arrived, the others have not.
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { inApp, makeWorkflow, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { hashOfAddress, lockOfHash } from '../../db/core/addresses.ts'
import type { Turn } from '../../providers/provider.ts'
import type { Beginning } from '../../steps/contract/step-run.ts'
import { Gate } from '../consent/gate.ts'
import { listingOf, returnCalls, takenCalls } from '../core/call-statements.ts'
import { Presence } from '../queue/presence.ts'
import { BegunCalls, type BegunGroup, callName, NotBegun, Renounced } from './begun-calls.ts'
import type { CallKey } from './deliver.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const log = { warn: () => undefined } as unknown as ConstructorParameters<typeof Presence>[0]['log']
const unknown = 'The service stopped during the call; whether the message was accepted is unknown'
type Call = Parameters<BegunCalls['beginningOf']>[0]
let api: Api
let ask: Step

beforeEach(async () => {
  api = await server.freshApi()
  ask = { type: 'http_request', stepId: 'ask', controlValues: { method: 'POST', url: vendor.url } }
  vendor.plays(() => ({ body: { answer: 42 } }))
})

/** Notes of a worker that is listed. */
async function notesOf(workerId: string): Promise<BegunCalls> {
  const begun = new BegunCalls(server.database.pool)
  await list(begun, workerId)
  return begun
}

async function list(begun: BegunCalls, id: string): Promise<void> {
  const { rows } = await server.database.pool.query<{ listing: string }>(
    `INSERT INTO workers AS w VALUES ($1) RETURNING ${listingOf('w')} AS listing`,
    [id],
  )
  begun.list({ id, listing: rows[0]?.listing ?? '' })
}

/** @returns the group it was written down with */
async function begin(begun: BegunCalls, name: string, call: Call = { holder: begun.holder }): Promise<BegunGroup> {
  await begun.beginningOf(call, name).begin()
  if (!call.group) throw new Error('not written down')
  return call.group
}

/** As if this worker had taken the calls of these runs and died. @returns once another has noticed */
async function die(workerId: string, transactionIds: string[]): Promise<void> {
  const { pool, url } = server.database
  for (const transactionId of transactionIds)
    await pool.query(
      `UPDATE jobs j SET status = 'running', attempts = j.attempts + 1 FROM notifications n
       WHERE n.transaction_id = $1 AND j.notification_id = n.id AND j.position = 0`,
      [transactionId],
    )
  await pool.query('UPDATE graphile_worker._private_jobs SET locked_by = $1, locked_at = now()', [workerId])
  const witness = new Presence({ url, log, pace: { lookMs: 10, graceMs: 20 } })
  witness.enter(`witness of ${workerId}`)
  const left = async () => (await pool.query('SELECT FROM workers WHERE pool_id = $1', [workerId])).rowCount
  await expect.poll(left, { timeout: 30_000 }).toBe(0)
  await witness.leave()
}

/** Starts runs, and stops short of their calls. */
async function started(count: number): Promise<string[]> {
  await makeWorkflow(api, 'w', [ask, inApp()])
  const ids = await Promise.all(Array.from({ length: count }, (_, index) => trigger(api, 'w', `s${index}`)))
  let isStarting = true
  await server
    .drain(async (work) => {
      if (isStarting) await work()
      const { rowCount } = await server.database.pool.query(
        "SELECT FROM graphile_worker.jobs WHERE task_identifier <> 'deliver'",
      )
      isStarting = (rowCount ?? 0) > 1
      if (!isStarting) throw new Error('enough')
    })
    .catch(() => undefined)
  return ids
}

test('calls that were not begun are made as if nothing had happened; begun ones know that they may have arrived', async () => {
  const ids = await started(3)
  const stories = await Promise.all(ids.map((id) => runOf(api, id)))
  expect(stories.map(({ jobs }) => jobs[0].status)).toEqual(['queued', 'queued', 'queued'])
  expect(vendor.asked).toEqual([])
  const jobs = stories.map((run) => run.jobs[0]._id as string)
  const begun = await notesOf('dead')
  await begin(begun, callName({ id: jobs[0] ?? '', attempts: 1 }))
  // Of an earlier attempt, which was refused: it says nothing about this one.
  await begin(begun, callName({ id: jobs[1] ?? '', attempts: 0 }))
  await die('dead', ids)
  await server.database.pool.query('UPDATE graphile_worker._private_jobs SET run_at = now()')
  await server.drain()
  const [first, ...others] = await Promise.all(ids.map(async (id) => storyOf(await runOf(api, id))))
  expect(first?.[0]).toContain(unknown)
  expect(first?.[0]).toContain('http_request failed')
  for (const story of others) {
    expect(story[0]).toContain('http_request completed')
    expect(story[0]).not.toContain(unknown)
  }
  expect(vendor.asked).toHaveLength(2)
  const { rows } = await server.database.pool.query('SELECT attempts FROM jobs WHERE id = ANY ($1) ORDER BY id', [jobs])
  expect(rows).toEqual([{ attempts: 2 }, { attempts: 1 }, { attempts: 1 }])
  expect((await server.database.pool.query("SELECT FROM begun_calls WHERE worker_id = 'dead'")).rowCount).toBe(0)
})

test('64 calls in flight are written down as they are taken, and the next as slots become free', async () => {
  const begun = await notesOf('roomy')
  const first = begun.reserve(60)
  expect([first.worker, first.count, first.group.left]).toEqual(['roomy', 60, 60])
  const second = begun.reserve(10)
  expect(second.count).toBe(4)
  // Only one of the four could be taken.
  begun.keep(second.group, 1)
  expect(begun.reserve(10).count).toBe(3)
  expect(begun.reserve(10).count).toBe(0)
  begun.release(2)
  expect(begun.reserve(10).count).toBe(2)
})

test('calls taken from the queue are written down as begun by the same statement', async () => {
  await makeWorkflow(api, 'w', [ask])
  const id = await trigger(api, 'w', 'ada')
  let noted: string[] = []
  vendor.plays(async () => {
    const { rows } = await server.database.pool.query<{ call: string }>('SELECT unnest(calls) AS call FROM begun_calls')
    noted = rows.map(({ call }) => call)
    return { body: {} }
  })
  await server.drain()
  const run = await runOf(api, id)
  expect(noted).toContain(callName({ id: run?.jobs[0]._id as string, attempts: 1 }))
})

test('calls begun at the same moment are written down together, and removed when all of them have ended', async () => {
  const begun = await notesOf('tidy')
  const rows = async () =>
    (await server.database.pool.query("SELECT seq::int, calls FROM begun_calls WHERE worker_id = 'tidy' ORDER BY seq"))
      .rows
  await begin(begun, 'a 1')
  const groups = await Promise.all(['b 1', 'c 1'].map((call) => begin(begun, call)))
  expect(await rows()).toEqual([
    { seq: 1, calls: ['a 1'] },
    { seq: 2, calls: ['b 1', 'c 1'] },
  ])
  expect(groups[0]).toBe(groups[1])
  for (const group of groups) begun.end(group)
  for (let other = 0; other < 40; other += 1) begun.end(await begin(begun, `other ${other}`))
  await begin(begun, 'last 1')
  const left = (await rows()).map(({ calls }) => calls[0])
  expect(left).toContain('a 1')
  expect(left).toContain('last 1')
  expect(left).not.toContain('b 1')
  expect(left.length).toBeLessThan(40)
})

test('nothing begins while the worker stops, or while it cannot be written down', async () => {
  const begun = await notesOf('stopping')
  begun.stop()
  await expect(begin(begun, 'a 1')).rejects.toBeInstanceOf(NotBegun)
  begun.open()
  await begin(begun, 'a 1')
  const broken = { query: () => Promise.reject(new Error('no such table')) }
  const failing = new BegunCalls(broken as unknown as ConstructorParameters<typeof BegunCalls>[0])
  await expect(begin(failing, 'a 1', { holder: undefined })).rejects.toMatchObject({
    cause: { message: 'no such table' },
  })
})

test('a worker that was taken for dead begins nothing that it took before', async () => {
  const begun = await notesOf('paused')
  const { holder } = begun
  await server.database.pool.query("DELETE FROM workers WHERE pool_id = 'paused'")
  await expect(begin(begun, 'a 1', { holder: holder })).rejects.toBeInstanceOf(Renounced)
  // It is back. What it is about to begin meanwhile is not begun either.
  await Promise.all([
    expect(begin(begun, 'a 1', { holder: holder })).rejects.toBeInstanceOf(Renounced),
    list(begun, 'paused'),
  ])
  await expect(begin(begun, 'a 1', { holder: holder })).rejects.toBeInstanceOf(Renounced)
  await begin(begun, 'b 1')
  const { rows } = await server.database.pool.query("SELECT calls FROM begun_calls WHERE worker_id = 'paused'")
  expect(rows).toEqual([{ calls: ['b 1'] }])
})

test('of the calls that one statement is to write down, those taken before the worker was taken for dead are left out', async () => {
  const begun = await notesOf('relisted')
  const earlier = begun.beginningOf({ holder: begun.holder }, 'a 1')
  await server.database.pool.query("DELETE FROM workers WHERE pool_id = 'relisted'")
  await list(begun, 'relisted')
  const since = begun.beginningOf({ holder: begun.holder }, 'b 1')
  const marks = begun.marksFor([earlier, since])
  expect(marks?.values[2]).toEqual(['b 1'])
  marks?.written()
  expect([earlier, since].map(({ isWritten }) => isWritten)).toEqual([false, true])
})

describe('a call to a provider', () => {
  const sender = {
    ...{
      environmentId: 'e',
      workflowId: 'w',
      category: null,
      messageClass: 'transactional' as const,
      isCritical: false,
    },
  }
  const to = (name: string) => ({ channel: 'email' as const, addresses: [`${name}@example.com`] })
  const gateOf = (begunCalls: BegunCalls, pool = server.database.pool) =>
    new Gate({ pool, clock: server.clock, log, begunCalls })
  const noted = async () => {
    const { rows } = await server.database.pool.query<{ call: string }>('SELECT unnest(calls) AS call FROM begun_calls')
    return rows.map(({ call }) => call)
  }

  test('is written down before its request goes out, with the question whether it may', async () => {
    const begun = await notesOf('asking')
    const gate = gateOf(begun)
    const names = Array.from({ length: 150 }, (_, index) => `mail-${index} 1`)
    const calls = names.map((): Call => ({ holder: begun.holder }))
    const passed = await Promise.all(
      names.map((name, index) => gate.pass(sender, to(name), noted, begun.beginningOf(calls[index] ?? {}, name))),
    )
    for (const [index, each] of passed.entries())
      expect(await ('started' in each ? each.started : [])).toContain(names[index])
    expect(new Set(calls.map(({ group }) => group)).size).toBe(2)
    // Whoever adds an entry now waits for nobody.
    const locks = names.map((name) => lockOfHash(hashOfAddress(`${name}@example.com`)))
    const areFree = async () => {
      const text = 'SELECT bool_and(pg_try_advisory_xact_lock(key)) AS are_free FROM unnest($1::bigint[]) AS l (key)'
      return (await server.database.pool.query<{ are_free: boolean }>(text, [locks])).rows[0]?.are_free
    }
    await expect.poll(areFree).toBe(true)
    // Another request of the same call is not written down again.
    const again = await gate.pass(sender, to('again'), noted, begun.beginningOf(calls[0] ?? {}, 'again 1'))
    expect(await ('started' in again ? again.started : ['again 1'])).not.toContain('again 1')
  })

  test('may start a little later, while its turn lasts; an entry is added when that is over', async () => {
    const gate = gateOf(await notesOf('turn'))
    let turn: Turn | undefined
    const passed = await gate.pass(sender, to('turn'), async (its) => {
      turn = its
      await new Promise<void>((resolve) => its.whenOver(resolve))
    })
    expect(turn?.isOver).toBe(false)
    const [lock] = [lockOfHash(hashOfAddress('turn@example.com'))]
    const held = server.database.pool.query('SELECT pg_advisory_xact_lock($1::bigint)', [lock]).then(() => turn?.isOver)
    expect(await held).toBe(true)
    await ('started' in passed && passed.started)
    // Who asks afterwards is told at once.
    let isTold = false
    turn?.whenOver(() => {
      isTold = true
    })
    expect(isTold).toBe(true)
  })

  test('ends its turn as soon as what waited in it has been handed over', async () => {
    const gate = gateOf(await notesOf('handed'))
    // No turn ends because it has lasted long enough.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let handedOver: (() => void) | undefined
    await gate.pass(sender, to('handed'), async (turn) => {
      handedOver = turn.whenOver(() => undefined)
    })
    const lock = lockOfHash(hashOfAddress('handed@example.com'))
    const free = server.database.pool.query('SELECT pg_advisory_xact_lock($1::bigint)', [lock])
    handedOver?.()
    await free
  })

  test('goes on after the connection to the database was lost in a turn', async () => {
    const { pool } = server.database
    const gate = gateOf(await notesOf('lost'), pool)
    let turn: Turn | undefined
    await gate.pass(sender, to('lost'), async (its) => {
      turn = its
      its.whenOver(() => undefined)
    })
    const lock = lockOfHash(hashOfAddress('lost@example.com'))
    await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = $1::bigint`,
      [lock],
    )
    await expect.poll(() => turn?.isOver).toBe(true)
    expect(await gate.pass(sender, to('lost'), async () => 'again')).toHaveProperty('started')
  })

  test('does not start if it cannot be written down', async () => {
    const begun = await notesOf('refused')
    const gate = gateOf(begun)
    const started: string[] = []
    const pass = (through: Gate, beginning: Beginning) =>
      through.pass(sender, to('ada'), async () => started.push('ada'), beginning)
    begun.stop()
    await expect(pass(gate, begun.beginningOf({ holder: begun.holder }, 'refused 1'))).rejects.toBeInstanceOf(NotBegun)
    begun.open()
    await expect(pass(gate, begun.beginningOf({ holder: undefined }, 'refused 1'))).rejects.toBeInstanceOf(Renounced)
    const broken = {
      connect: () => Promise.reject(new Error('no such table')),
    } as unknown as typeof server.database.pool
    await expect(
      pass(gateOf(begun, broken), begun.beginningOf({ holder: begun.holder }, 'refused 1')),
    ).rejects.toMatchObject({ constructor: NotBegun, cause: { message: 'no such table' } })
    await server.database.pool.query("DELETE FROM workers WHERE pool_id = 'refused'")
    await expect(pass(gate, begun.beginningOf({ holder: begun.holder }, 'refused 1'))).rejects.toBeInstanceOf(Renounced)
    expect(started).toEqual([])
    expect(await noted()).not.toContain('refused 1')
  })
})

test('what another worker has taken since is left to it', async () => {
  const { pool } = server.database
  const ids = await started(2)
  const runs = await Promise.all(ids.map((id) => runOf(api, id)))
  const keys = runs.map(({ _id }) => [api.environmentId, _id as string, 0] as const)
  const [begunJob = '', takenJob = ''] = runs.map(({ jobs }) => jobs[0]._id as string)
  await pool.query("UPDATE jobs SET status = 'running', attempts = 2 WHERE id = ANY ($1)", [[begunJob, takenJob]])
  await pool.query("UPDATE graphile_worker._private_jobs SET locked_by = 'gone', locked_at = now()")
  // One has begun the first call, another has a job of the queue for the second.
  const next = await notesOf('next')
  await begin(next, callName({ id: begunJob, attempts: 2 }))
  const { rows: added } = await pool.query<{ id: string }>("SELECT id FROM graphile_worker.add_job('deliver', $1)", [
    { calls: [keys[1]] },
  ])
  await pool.query("UPDATE graphile_worker._private_jobs SET locked_by = 'other', locked_at = now() WHERE id = $1", [
    added[0]?.id,
  ])
  const { rows: taken } = await pool.query<CallKey>({ ...takenCalls, values: [['gone']] })
  expect(taken.map(({ id }) => id)).toEqual([keys[0]?.[1]])
  const giveBack = async (key: (typeof keys)[number] | undefined, attempts: number, listing: string) => {
    const values = [...(key ?? []).map((part) => [part]), [attempts], listing]
    return (await pool.query({ ...returnCalls, values })).rowCount
  }
  // Whoever gives its own calls back names its attempt, and is listed.
  expect(await giveBack(keys[1], 1, next.holder?.listing ?? '')).toBe(0)
  expect(await giveBack(keys[1], 2, '0 gone')).toBe(0)
  expect(await giveBack(keys[1], 2, next.holder?.listing ?? '')).toBe(1)
  await pool.query('DELETE FROM graphile_worker._private_jobs')
})

test('a job of the queue stays when the worker that has it was taken for dead', async () => {
  const [id = ''] = await started(1)
  const other = await server.startAnother()
  other.engine.hands.list({ id: 'gone', listing: '0 gone' })
  await other.drain().catch(() => undefined)
  const left = "SELECT FROM graphile_worker.jobs WHERE task_identifier = 'deliver'"
  expect((await server.database.pool.query(left)).rowCount).toBe(1)
  expect(vendor.asked).toEqual([])
  await server.database.pool.query('UPDATE graphile_worker._private_jobs SET run_at = now()')
  await server.drain()
  const [story = ''] = storyOf(await runOf(api, id))
  expect(story).toContain('http_request completed')
  expect(story).not.toContain(unknown)
})

test('a job of a worker that has ended is not taken in the name of the worker after it', async () => {
  const [id = ''] = await started(1)
  const { pool } = server.database
  const runId = (await runOf(api, id))._id as string
  const { engine } = await server.startAnother()
  const listings = await pool.query<{ id: string; listing: string }>(
    `INSERT INTO workers AS w VALUES ('over'), ('follower') RETURNING pool_id AS id, ${listingOf('w')} AS listing`,
  )
  const [ended = { id: '', listing: '' }, next = { id: '', listing: '' }] = listings.rows
  const deliver = async (worker: string) =>
    engine.tasks().deliver?.({ calls: [[api.environmentId, runId, 0]] }, { job: { locked_by: worker } } as never)
  engine.hands.list(ended)
  const waiting = deliver('over')
  // Before its calls are taken, the worker ends, and the next is listed.
  engine.hands.list(next)
  await expect(waiting).rejects.toBeInstanceOf(Renounced)
  await expect(deliver('over')).rejects.toBeInstanceOf(Renounced)
  expect(vendor.asked).toEqual([])
  await deliver('follower')
  expect(vendor.asked).toHaveLength(1)
  expect(storyOf(await runOf(api, id))[0]).toContain('http_request completed')
  await pool.query('DELETE FROM graphile_worker._private_jobs')
})

test('a call that was begun is known to be cut off, however many workers die before one makes it again', async () => {
  const ids = await started(1)
  const { pool } = server.database
  const jobId = (await runOf(api, ids[0] ?? '')).jobs[0]._id as string
  const begun = await notesOf('first')
  await begin(begun, callName({ id: jobId, attempts: 1 }))
  await die('first', ids)
  const state = async () => (await pool.query('SELECT status, attempts, cut_off FROM jobs WHERE id = $1', [jobId])).rows
  const cutOff = [{ status: 'queued', attempts: 1, cut_off: true }]
  expect(await state()).toEqual(cutOff)
  // The second has a job of the queue for it, and dies before it takes the call.
  await notesOf('second')
  await die('second', [])
  expect(await state()).toEqual(cutOff)
  // The third takes it, and dies before it begins the call.
  await notesOf('third')
  await pool.query("UPDATE jobs SET status = 'running', attempts = 2 WHERE id = $1", [jobId])
  await die('third', [])
  expect(await state()).toEqual(cutOff)
  await pool.query('UPDATE graphile_worker._private_jobs SET run_at = now()')
  await server.drain()
  const [story = ''] = storyOf(await runOf(api, ids[0] ?? ''))
  // Once by the engine, once by the step.
  expect(story.split(unknown)).toHaveLength(3)
  expect(vendor.asked).toEqual([])
  expect(await state()).toMatchObject([{ status: 'failed', cut_off: null }])
})

test('a worker that was only taken for dead does not end the job of the queue that another has by now', async () => {
  const ids = await started(1)
  const { pool } = server.database
  const numbers = async () =>
    (
      await pool.query<{ id: string; locked_by: string | null }>(
        'SELECT id, locked_by FROM graphile_worker._private_jobs',
      )
    ).rows
  const [before] = await numbers()
  await notesOf('paused')
  await die('paused', ids)
  const [after] = await numbers()
  expect(after).toMatchObject({ locked_by: null })
  expect(after?.id).not.toBe(before?.id)
  await pool.query('DELETE FROM graphile_worker._private_jobs')
})

test('a process that stops gives back what it has not begun, at once, and cuts off what hangs', async () => {
  let answer: () => void = () => undefined
  const hanging = new Promise<void>((resolve) => {
    answer = resolve
  })
  vendor.asked.length = 0
  vendor.plays(async () => {
    await hanging
    return { body: {} }
  })
  const sms = { providerId: 'infobip-sms', channel: 'sms', active: true, identifier: `sms-${api.environmentId}` }
  await api.post('/v1/integrations', { ...sms, credentials: { apiKey: 'key', baseUrl: vendor.url, from: 'Acme' } })
  await makeWorkflow(api, 'sms', [{ type: 'sms', controlValues: { body: 'Hi' } }])
  for (const half of ['a', 'b']) {
    const people = Array.from({ length: 80 }, (_, index) => ({ subscriberId: `${half}${index}`, phone: '+15550100' }))
    await trigger(api, 'sms', people)
  }
  const worker = await server.startAnother({ role: 'worker', stopSeconds: 0 })
  // As many as an integration may have in flight.
  await expect.poll(() => vendor.asked.length, { timeout: 60_000 }).toBe(128)
  await worker.stop()
  answer()
  const { rows } = await server.database.pool.query<{ status: string; uncertain: number; count: number }>(
    `SELECT status, coalesce((delivery->'destinations'->'sms'->>'uncertainCalls')::int, 0) AS uncertain, count(*)::int
     FROM jobs WHERE environment_id = $1 GROUP BY 1, 2 ORDER BY 2`,
    [api.environmentId],
  )
  expect(rows).toEqual([
    { status: 'queued', uncertain: 0, count: 32 },
    { status: 'queued', uncertain: 1, count: 128 },
  ])
  expect(vendor.asked).toHaveLength(128)
  // Any worker makes the others now, and the uncertain ones a little later.
  vendor.plays(() => ({ body: { messages: [{ messageId: 'vendor-1' }] } }))
  for (let minutes = 0; minutes < 3; minutes += 1) {
    await server.drain()
    server.clock.advance({ minutes: 1 })
  }
  const ended = await server.database.pool.query('SELECT FROM jobs WHERE environment_id = $1 AND status = $2', [
    api.environmentId,
    'completed',
  ])
  expect(ended.rowCount).toBe(160)
  expect(vendor.asked).toHaveLength(128 + 160)
})
