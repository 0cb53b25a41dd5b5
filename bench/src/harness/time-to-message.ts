// The time from sending a trigger until its in-app message can be read.
import { setTimeout as sleep } from 'node:timers/promises'
import { sendSteadily } from './load.ts'
import type { Service } from './service.ts'
import { triggerOf } from './triggers.ts'

interface Pace {
  perSecond: number
  seconds: number
  /** Begins the transaction ids; another one for each measurement. */
  tag: string
}

/** @returns the milliseconds of each trigger, in the order they became readable */
export async function timesToMessage(service: Service, pace: Pace): Promise<number[]> {
  const load = { url: service.url, apiKey: service.apiKey, connections: 64 }
  const sentAt = new Map<string, number>()
  const seen = new Map<string, number>()
  const watching = watchMessages(service, pace, seen)
  await sendSteadily(load, '/v1/events/trigger', pace, (number) => {
    const transactionId = `${pace.tag}-${number}`
    sentAt.set(transactionId, performance.now())
    return { ...triggerOf(number), transactionId }
  })
  await watching
  return [...seen].map(([transactionId, at]) => at - (sentAt.get(transactionId) ?? Number.NaN))
}

/**
 * Polls the newest messages and records when each becomes readable. Reads more than arrive in half a second, and at least 200,
 * so that none is missed that commits after a newer one, or while this process was held up.
 */
export async function watchMessages(
  { database, environmentId }: Service,
  { perSecond, seconds, tag }: Pace,
  seen: Map<string, number>,
): Promise<void> {
  const deadline = Date.now() + 120_000
  const count = perSecond * seconds
  const newest = {
    name: 'newest_messages',
    text: "SELECT transaction_id FROM messages WHERE environment_id = $1 AND channel = 'in_app' ORDER BY id DESC LIMIT $2",
    values: [environmentId, Math.max(200, Math.ceil(perSecond / 2))],
  }
  while (seen.size < count) {
    const { rows } = await database.query<{ transaction_id: string }>(newest)
    const now = performance.now()
    for (const { transaction_id } of rows)
      if (transaction_id.startsWith(`${tag}-`) && !seen.has(transaction_id)) seen.set(transaction_id, now)
    if (Date.now() > deadline) throw new Error(`only ${seen.size} of ${count} messages arrived in time`)
    await sleep(1)
  }
}
