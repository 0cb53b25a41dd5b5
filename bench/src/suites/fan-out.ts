// One trigger to a topic of 100,000, and how much it slows single triggers.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Service, startService } from '../harness/service.ts'
import { makeWorkflow } from '../harness/triggers.ts'
import { type Options, type Outcome, percentile } from '../report/figures.ts'

export async function benchFanOut({ quick }: Options): Promise<Outcome> {
  const [members, aloneMs] = quick ? [3_000, 500] : [100_000, 3_000]
  const service = await startService()
  try {
    await makeWorkflow(service)
    await fillTopic(service, members)
    const alone = await singleTriggers(service, 'before', () => sleep(aloneMs))
    let perSecond = 0
    const beside = await singleTriggers(service, 'beside', async () => {
      const began = performance.now()
      await service.send('POST', '/v1/events/trigger', {
        name: 'bench',
        to: { type: 'Topic', topicKey: 'everyone' },
        payload: { number: 1 },
      })
      await untilWalked(service, members)
      perSecond = members / ((performance.now() - began) / 1000)
    })
    return {
      figures: [
        {
          id: 'topic',
          name: `messages of a trigger to ${members.toLocaleString('en')} members of a topic`,
          unit: '/s',
          ours: perSecond,
          reference: 1000 / percentile(alone, 0.5),
          against: 'one trigger after another',
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
      notes: { members, singlesBeside: beside.length, singlesAlone: alone.length },
    }
  } finally {
    await service.stop()
  }
}

/** Polls the walk, because counting messages would load the database; they are counted once at the end. */
async function untilWalked({ database }: Service, members: number): Promise<void> {
  const deadline = Date.now() + 300_000
  for (;;) {
    if (Date.now() > deadline) throw new Error('the fan-out did not finish in time')
    const { rows } = await database.query<{ begun: boolean; left: boolean }>(
      'SELECT EXISTS (SELECT FROM notifications WHERE topics IS NOT NULL) AS begun, EXISTS (SELECT FROM walks) AS left',
    )
    if (rows[0]?.begun && !rows[0].left) break
    await sleep(20)
  }
  const { rows } = await database.query<{ count: string }>(
    'SELECT count(*) FROM messages m JOIN notifications n ON n.id = m.notification_id WHERE n.topics IS NOT NULL',
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

export async function fillTopic({ database, environmentId, send }: Service, members: number): Promise<void> {
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
