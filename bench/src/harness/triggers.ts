// The workflow and triggers of all engine benchmarks: one in-app step, a thousand subscribers.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from './service.ts'

export const subscribers = 1_000

export async function makeWorkflow(service: Service, steps: object[] = [inApp]): Promise<void> {
  await service.send('POST', '/v2/workflows', { name: 'Bench', workflowId: 'bench', active: true, steps })
}

const inApp = {
  name: 'Tell',
  type: 'in_app',
  controlValues: { subject: 'News', body: 'Hello {{subscriber.firstName}}, this is number {{payload.number}}' },
}

export const triggerOf = (number: number) => ({
  name: 'bench',
  to: `subscriber-${number % subscribers}`,
  payload: { number, sentAt: Date.now() },
})

export const perRequest = 100

/** A hundred triggers in one request. */
export const bulkOf = (number: number) => ({
  events: Array.from({ length: perRequest }, (_, place) => triggerOf(number * perRequest + place)),
})

/**
 * The id of the newest message; empty if there is none. Waits until its second is over: of one second the ids are in no order where
 * their counter starts anew, and messages are counted by them.
 */
export async function newestMessage({ database, environmentId }: Service): Promise<string> {
  const { rows } = await database.query<{ id: string }>(
    'SELECT id FROM messages WHERE environment_id = $1 ORDER BY id DESC LIMIT 1',
    [environmentId],
  )
  const id = rows[0]?.id ?? ''
  if (id !== '') await sleep(Math.max(0, (Number.parseInt(id.slice(0, 8), 16) + 1) * 1000 - Date.now()))
  return id
}

/**
 * Waits for `count` messages newer than `after`. Counts only once the queue is empty and only new messages, because counting
 * loads the measured database.
 */
export async function untilMessages(
  { database, environmentId }: Service,
  count: number,
  { longestMs = 300_000, after = '' } = {},
): Promise<void> {
  const deadline = Date.now() + longestMs
  for (;;) {
    if (Date.now() > deadline) throw new Error(`not ${count} messages after ${longestMs / 1000} s`)
    const left = await database.query(
      `SELECT FROM graphile_worker.jobs
       WHERE task_identifier IN ('start_runs', 'fan_out', 'match_events', 'deliver') LIMIT 1`,
    )
    if (left.rows.length === 0) {
      const { rows } = await database.query<{ count: string }>(
        'SELECT count(*) FROM messages WHERE environment_id = $1 AND id > $2',
        [environmentId, after],
      )
      if (Number(rows[0]?.count) >= count) return
    }
    await sleep(10)
  }
}
