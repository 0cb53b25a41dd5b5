// The outboxes in databases of applications that this process empties (BELFRY_OUTBOX_URLS), each for one environment.
import type { Logger } from 'pino'
import type { Db } from '../../db/core/database.ts'
import { findEnvironmentByWord } from '../../db/queries/environments.ts'
import { type SubscriberInput, upsertSubscribers } from '../../db/queries/subscribers.ts'
import { RequestError } from '../../errors.ts'
import type { Meter } from '../core/meter.ts'
import type { TriggerRequest, TriggerResult } from '../runs/trigger-request.ts'
import type { CallReader } from './drain.ts'
import { drainOther, installedVersion, openOther, tidyOther } from './other-database.ts'
import { refusalOf } from './refusals.ts'
import { knownFormats, type OutboxRow, type Refusal, refusedDays } from './rows.ts'
import { OutboxWatch } from './watch.ts'

interface Surroundings {
  db: Db
  clock: { now(): Date }
  log: Logger
  read: CallReader
  engine: {
    trigger(request: TriggerRequest): Promise<TriggerResult>
    cancel(environmentId: string, transactionId: string): Promise<boolean>
  }
  meter: Pick<Meter, 'drained'>
  /** How long transaction ids are remembered. */
  dedupDays: number
}

const tidyEveryMs = 3_600_000

/** @returns how to stop */
export function drainOutbox(
  surroundings: Surroundings,
  { url, environment: word }: { url: string; environment: string },
): () => Promise<void> {
  const { db, clock, log, meter, dedupDays } = surroundings
  const place = placeOf(url)
  const onError = (error: Error) => log.warn({ outbox: place, reason: error.message }, 'cannot use the outbox')
  const pool = openOther(url, onError)
  let isChecked = false
  const watch = new OutboxWatch({
    url,
    onError,
    async work() {
      const environment = await findEnvironmentByWord(db, word)
      if (!environment) throw new Error(`There is no environment "${word}", or several; BELFRY_OUTBOX_URLS names it.`)
      if (!isChecked) {
        const version = await installedVersion(pool)
        if (version !== undefined && !knownFormats.includes(version))
          log.warn({ outbox: place, version }, 'the functions there are newer than this service')
        isChecked = true
      }
      const { id, name, identifier } = environment
      return drainOther({
        ...{ pool, environments: [id, name, identifier], now: () => clock.now(), dedupDays },
        accept: (rows) => accept(surroundings, id, rows),
        onTaken(kind, { accepted, refused }) {
          meter.drained(kind, 'accepted', accepted)
          meter.drained(kind, 'refused', refused)
        },
      })
    },
  })
  const tidying = setInterval(() => void tidyOther(pool, refusedDays).catch(onError), tidyEveryMs)
  tidying.unref()
  watch.start()
  return async () => {
    clearInterval(tidying)
    await watch.stop()
    await pool.end()
  }
}

/** Host and database, without the password. */
const placeOf = (url: string): string => url.replace(/^[^:]*:\/\/(?:[^@/]*@)?/, '').replace(/\?.*$/, '')

async function accept(
  { db, clock, read, engine }: Surroundings,
  environmentId: string,
  rows: OutboxRow[],
): Promise<Map<string, Refusal>> {
  const refusals = new Map<string, Refusal>()
  const refuse = (id: string, result: TriggerResult | RequestError) => {
    const refusal = refusalOf(result)
    if (refusal) refusals.set(id, refusal)
  }
  const orRefused = (error: unknown) => {
    if (error instanceof RequestError) return error
    throw error
  }
  const read1 = <T>({ id }: OutboxRow, reading: () => T): T | undefined => {
    try {
      return reading()
    } catch (error) {
      refuse(id, orRefused(error))
      return undefined
    }
  }
  if (rows[0]?.kind === 'cancel') for (const row of rows) await engine.cancel(environmentId, row.transaction_id ?? '')
  else if (rows[0]?.kind === 'upsert_subscriber') {
    const inputs = new Map<string, SubscriberInput>()
    for (const row of rows) {
      const input = read1(row, () => read.subscriber(row.body))
      if (input) inputs.set(input.subscriberId, { ...inputs.get(input.subscriberId), ...input })
    }
    if (inputs.size > 0)
      await db.transaction().execute((tx) => upsertSubscribers(tx, environmentId, [...inputs.values()], clock.now()))
  } else {
    const requests = rows.flatMap((row) => {
      const transactionId = row.transaction_id ?? undefined
      const request = read1(row, () => ({ ...read.trigger(environmentId, row.body), transactionId }))
      return request ? [{ row, request }] : []
    })
    // Together, so that they share a commit; in the order of the calls.
    const results = await Promise.all(requests.map(({ request }) => engine.trigger(request).catch(orRefused)))
    for (const [index, { row }] of requests.entries()) refuse(row.id, results[index] as TriggerResult | RequestError)
  }
  return refusals
}
