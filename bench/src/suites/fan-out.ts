// One trigger to a topic: of 20,000 beside five empty BullMQ hops for each of them, and of 100,000 beside single triggers.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Service, startService } from '../harness/service.ts'
import { makeWorkflow, newestMessage } from '../harness/triggers.ts'
import { pipeline } from '../references/redis-pipeline.ts'
import { type Figure, median, type Options, type Outcome, percentile } from '../report/figures.ts'

export async function benchFanOut({ quick }: Options): Promise<Outcome> {
  const [rounds, members, largest, aloneMs] = quick ? [1, 1_000, 3_000, 500] : [3, 20_000, 100_000, 3_000]
  const service = await startService()
  try {
    await makeWorkflow(service)
    const topic = await besideHops(service, { rounds, members })
    await fillTopic(service, largest)
    const alone = await singleTriggers(service, 'before', () => sleep(aloneMs))
    let perSecond = 0
    const beside = await singleTriggers(service, 'beside', async () => {
      perSecond = await walk(service, largest)
    })
    return {
      figures: [
        topic,
        {
          id: 'large-topic',
          name: `the same to ${largest.toLocaleString('en')} members, beside single triggers`,
          unit: '/s',
          ours: perSecond,
          reference: topic.ours,
          against: `to ${members.toLocaleString('en')} members`,
          target: { oursAtLeast: 5_000 },
        },
        {
          id: 'beside-topic-p99',
          name: 'p99 of single triggers beside it, until the message can be read',
          unit: 'ms',
          ours: percentile(beside, 0.99),
          reference: percentile(alone, 0.99),
          against: 'with nothing beside it',
          target: { oursAtMost: 250 },
        },
      ],
      notes: { rounds, members, largest, singlesBeside: beside.length, singlesAlone: alone.length },
    }
  } finally {
    await service.stop()
  }
}

/** The median of the rounds, taken in turns. Both have done as much once before. */
async function besideHops(service: Service, { rounds, members }: { rounds: number; members: number }): Promise<Figure> {
  const redis = await pipeline()
  const [ours, theirs]: [number[], number[]] = [[], []]
  try {
    await fillTopic(service, members)
    for (let round = 0; round <= rounds; round += 1) {
      ours.push(await walk(service, members))
      if (redis) theirs.push(await redis.send(members))
    }
    return {
      id: 'topic',
      name: `messages of a trigger to ${members.toLocaleString('en')} members of a topic`,
      ...{ unit: '/s', ours: median(ours.slice(1)), target: { atLeast: 6 } },
      ...(redis
        ? { reference: median(theirs.slice(1)), against: 'five empty BullMQ hops on Redis' }
        : { against: 'no Redis here' }),
    }
  } finally {
    await redis?.stop()
  }
}

/** One trigger to everyone. @returns messages per second, until the last can be read */
async function walk(service: Service, members: number): Promise<number> {
  const after = await newestMessage(service)
  const began = performance.now()
  await service.send('POST', '/v1/events/trigger', {
    name: 'bench',
    to: { type: 'Topic', topicKey: 'everyone' },
    payload: { number: 1 },
  })
  await untilWalked(service, { members, after })
  return members / ((performance.now() - began) / 1000)
}

/** Polls the walk, because counting messages would load the database; they are counted once at the end. */
async function untilWalked({ database }: Service, { members, after }: { members: number; after: string }) {
  const deadline = Date.now() + 300_000
  for (;;) {
    if (Date.now() > deadline) throw new Error('the fan-out did not finish in time')
    const { rows } = await database.query<{ begun: boolean; left: boolean }>(
      `SELECT EXISTS (SELECT FROM notifications WHERE id > $1 AND topics IS NOT NULL) AS begun,
              EXISTS (SELECT FROM walks) AS left`,
      [after],
    )
    if (rows[0]?.begun && !rows[0].left) break
    await sleep(20)
  }
  const { rows } = await database.query<{ count: string }>(
    'SELECT count(*) FROM messages m JOIN notifications n ON n.id = m.notification_id WHERE m.id > $1 AND n.topics IS NOT NULL',
    [after],
  )
  if (Number(rows[0]?.count) !== members) throw new Error(`${rows[0]?.count} messages for ${members} members`)
}

/** One after another, with short pauses, while `work` runs. @returns the latency of each in milliseconds */
export async function singleTriggers(
  service: Service,
  prefix: string,
  work: () => Promise<unknown>,
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
  await work()
  isOver = true
  await sending
  return took
}

async function untilMessageOf({ database, environmentId }: Service, transactionId: string): Promise<void> {
  for (;;) {
    const { rows } = await database.query('SELECT FROM messages WHERE environment_id = $1 AND transaction_id = $2', [
      environmentId,
      transactionId,
    ])
    if (rows.length > 0) return
    await sleep(2)
  }
}

/** Makes the topic, or adds to it, until it has so many members. */
export async function fillTopic({ database, environmentId, send }: Service, members: number): Promise<void> {
  await send('POST', '/v2/topics', { key: 'everyone' })
  const id = (table: string) => `lpad(to_hex(1760000000 + n / 100), 8, '0') || '${table}' || lpad(to_hex(n), 8, '0')`
  await database.query(
    `INSERT INTO subscribers (environment_id, id, subscriber_id, first_name, created_at, updated_at)
     SELECT $1, ${id('aaaaaaaa')}, 'member-' || n, 'Ada', now(), now() FROM generate_series(1, $2::int) n
     ON CONFLICT DO NOTHING`,
    [environmentId, members],
  )
  await database.query(
    `INSERT INTO topic_subscriptions (environment_id, id, topic_id, subscriber_row_id, identifier, created_at, updated_at)
     SELECT $1, ${id('bbbbbbbb')}, t.id, ${id('aaaaaaaa')}, 'subscription-' || n, now(), now()
     FROM generate_series(1, $2::int) n, topics t WHERE t.environment_id = $1
     ON CONFLICT DO NOTHING`,
    [environmentId, members],
  )
  await database.query('ANALYZE')
}
