// One trigger to a topic of 100,000, and what single triggers notice of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Figure } from './figures.ts'
import { percentile } from './load.ts'
import { type Service, startService } from './service.ts'
import { makeWorkflow, untilMessages } from './triggers.ts'

export async function benchFanOut({
  quick,
}: {
  quick: boolean
}): Promise<{ figures: Figure[]; notes: Record<string, unknown> }> {
  const members = quick ? 20_000 : 100_000
  const service = await startService()
  try {
    await makeWorkflow(service)
    await fillTopic(service, members)
    const alone = await singleTriggers(service, 'before', () => Promise.resolve(sleep(3_000)))
    let perSecond = 0
    const beside = await singleTriggers(service, 'beside', async (countSingles) => {
      const began = performance.now()
      await service.send('POST', '/v1/events/trigger', {
        name: 'bench',
        to: { type: 'Topic', topicKey: 'everyone' },
        payload: { number: 1 },
      })
      await untilRuns(service, members)
      perSecond = members / ((performance.now() - began) / 1000)
      await untilMessages(service, members + countSingles())
    })
    return {
      figures: [
        {
          name: `messages of a trigger to ${members.toLocaleString('en')} members of a topic`,
          unit: '/s',
          ours: perSecond,
          reference: 1000 / percentile(alone, 0.5),
          against: 'one trigger after another',
          target: { oursAtLeast: 5_000 },
        },
        {
          name: 'p99 of single triggers beside it, until the message can be read',
          unit: 'ms',
          ours: percentile(beside, 0.99),
          reference: percentile(alone, 0.99),
          against: 'with nothing beside it',
          target: { oursAtMost: 250 },
        },
      ],
      notes: { members, singlesBeside: beside.length, singlesAlone: alone.length },
    }
  } finally {
    await service.stop()
  }
}

async function untilRuns({ database }: Service, members: number): Promise<void> {
  const deadline = Date.now() + 300_000
  for (;;) {
    const { rows } = await database.query<{ done: boolean }>(
      'SELECT count(*) >= $1 AS done FROM notifications WHERE topics IS NOT NULL',
      [members],
    )
    if (rows[0]?.done) return
    if (Date.now() > deadline) throw new Error('the topic was not reached in time')
    await sleep(50)
  }
}

/** One after another, a little apart, while `work` goes on. @returns how long each took, in milliseconds */
async function singleTriggers(
  service: Service,
  prefix: string,
  work: (count: () => number) => Promise<unknown>,
): Promise<number[]> {
  const took: number[] = []
  let isOver = false
  const sending = (async () => {
    while (!isOver) {
      const transactionId = `${prefix}-${took.length}`
      const began = performance.now()
      await service.send('POST', '/v1/events/trigger', {
        name: 'bench',
        to: 'single',
        transactionId,
        payload: { number: 1 },
      })
      await untilMessageOf(service, transactionId)
      took.push(performance.now() - began)
      await sleep(20)
    }
  })()
  await work(() => 0)
  isOver = true
  await sending
  return took
}

export async function untilMessageOf({ database, environmentId }: Service, transactionId: string): Promise<void> {
  for (;;) {
    const { rows } = await database.query('SELECT FROM messages WHERE environment_id = $1 AND transaction_id = $2', [
      environmentId,
      transactionId,
    ])
    if (rows.length > 0) return
    await sleep(2)
  }
}

async function fillTopic({ database, environmentId, send }: Service, members: number): Promise<void> {
  await send('POST', '/v2/topics', { key: 'everyone' })
  const id = (table: string) => `lpad(to_hex(1760000000 + n / 100), 8, '0') || '${table}' || lpad(to_hex(n), 8, '0')`
  await database.query(
    `INSERT INTO subscribers (environment_id, id, subscriber_id, first_name, created_at, updated_at)
     SELECT $1, ${id('aaaaaaaa')}, 'member-' || n, 'Ada', now(), now() FROM generate_series(1, $2::int) n`,
    [environmentId, members],
  )
  await database.query(
    `INSERT INTO topic_subscriptions (environment_id, id, topic_id, subscriber_row_id, identifier, created_at, updated_at)
     SELECT $1, ${id('bbbbbbbb')}, t.id, ${id('aaaaaaaa')}, 'subscription-' || n, now(), now()
     FROM generate_series(1, $2::int) n, topics t WHERE t.environment_id = $1`,
    [environmentId, members],
  )
  await database.query('ANALYZE')
}
