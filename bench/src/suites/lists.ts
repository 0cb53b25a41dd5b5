// Do a million subscribers cost more than ten thousand? Reads, writes and pages at both sizes, in one environment.

import { type Service, startService } from '../harness/service.ts'
import { type Figure, median, type Options, type Outcome } from '../report/figures.ts'

const topics = 5
const warmUps = 10

interface Size {
  subscribers: number
  repetitions: number
}

type Operation = (service: Service, repetition: number) => Promise<unknown>

interface Page {
  data: unknown[]
  next: string | null
  previous: string | null
}

export async function benchLists({ quick }: Options): Promise<Outcome> {
  const repetitions = quick ? 10 : 300
  const [small, large] = (quick ? [1_000, 10_000] : [10_000, 1_000_000]).map((subscribers) => ({
    subscribers,
    repetitions,
  })) as [Size, Size]
  const service = await startService()
  try {
    await grow(service, 0, small.subscribers)
    const before = await measure(service, small)
    await grow(service, small.subscribers, large.subscribers)
    const after = await measure(service, large)
    const figures = [...after].map(
      ([name, ours]): Figure => ({
        id: name.replaceAll(/\W+/g, '-'),
        name,
        unit: 'ms',
        ours,
        reference: before.get(name) ?? Number.NaN,
        against: `at ${small.subscribers.toLocaleString('en')} subscribers`,
        target: { atMost: 2 },
      }),
    )
    const rows = { subscribers: large.subscribers, topicSubscriptions: large.subscribers * topics }
    return { figures, notes: { ...rows, repetitions: large.repetitions, value: 'median of the whole request' } }
  } finally {
    await service.stop()
  }
}

/** Adds subscribers `from` to `to`, each subscribed to every topic, as after a bulk import. */
async function grow({ database, environmentId }: Service, from: number, to: number): Promise<void> {
  const progress = (what: string) =>
    process.stderr.write(`  ${what}: ${from.toLocaleString('en')} to ${to.toLocaleString('en')}\n`)
  // Ids like the service's: the second of creation, then a growing part.
  const id = (table: string, number: string) =>
    `lpad(to_hex(1760000000 + ${number} / 100), 8, '0') || '${table}' || lpad(to_hex(${number}), 8, '0')`
  await database.query(
    `INSERT INTO topics (environment_id, id, key, name, created_at, updated_at)
     SELECT $1, ${id('70070070', 'n')}, 'topic-' || n, 'Topic ' || n, now(), now() FROM generate_series(1, ${topics}) n
     ON CONFLICT DO NOTHING`,
    [environmentId],
  )
  progress('subscribers')
  await database.query(
    `INSERT INTO subscribers (environment_id, id, subscriber_id, first_name, last_name, email, data, created_at, updated_at)
     SELECT $1, ${id('50050050', 'n')}, 'user-' || n, 'First' || n, 'Last' || n, 'user' || n || '@example.com', '{"plan": "pro"}',
            to_timestamp(1760000000 + n / 100), to_timestamp(1760000000 + n / 100)
     FROM generate_series($2::int + 1, $3::int) n`,
    [environmentId, from, to],
  )
  progress('topic subscriptions')
  await database.query(
    `INSERT INTO topic_subscriptions (environment_id, id, topic_id, subscriber_row_id, identifier, created_at, updated_at)
     SELECT $1, ${id('60060060', '(n * 5 + t)')}, ${id('70070070', 't')}, ${id('50050050', 'n')},
            'tk_topic-' || t || ':si_user-' || n, to_timestamp(1760000000 + n / 100), to_timestamp(1760000000 + n / 100)
     FROM generate_series($2::int + 1, $3::int) n, generate_series(1, ${topics}) t`,
    [environmentId, from, to],
  )
  // As autovacuum does in the minutes after a large import.
  await database.query('VACUUM (ANALYZE) subscribers, topics, topic_subscriptions')
}

/** The median time of each operation, in milliseconds. */
async function measure(service: Service, { subscribers, repetitions }: Size): Promise<Map<string, number>> {
  const spread = (repetition: number) => 1 + ((repetition * 7_919) % subscribers)
  const lists = {
    subscribers: '/v2/subscribers?limit=10',
    "a topic's subscriptions": '/v2/topics/topic-1/subscriptions?limit=10',
  }
  const operations = new Map<string, Operation>([
    ['get a subscriber', (s, n) => s.send('GET', `/v2/subscribers/user-${spread(n)}`)],
    [
      'update a subscriber',
      (s, n) => s.send('POST', '/v2/subscribers', { subscriberId: `user-${spread(n)}`, firstName: `Name ${n}` }),
    ],
    [
      'create a subscriber',
      (s, n) => s.send('POST', '/v2/subscribers', { subscriberId: `new-${subscribers}-${n}`, firstName: 'New' }),
    ],
    ["get a subscriber's subscriptions", (s, n) => s.send('GET', `/v2/subscribers/user-${spread(n)}/subscriptions`)],
    [
      'get a subscription',
      (s, n) =>
        s.send('GET', `/v2/topics/topic-1/subscriptions/${encodeURIComponent(`tk_topic-1:si_user-${spread(n)}`)}`),
    ],
    [
      'subscribe to a topic',
      (s, n) => s.send('POST', '/v2/topics/topic-2/subscriptions', { subscriptions: [`new-${subscribers}-${n}`] }),
    ],
  ])
  for (const [list, path] of Object.entries(lists)) {
    const middle = await cursorAt(service, list, Math.floor(subscribers / 2))
    const last = await cursorAt(service, list, 10)
    operations.set(`first page of ${list}`, (s) => s.send('GET', path))
    operations.set(`middle page of ${list}`, (s) => s.send('GET', `${path}&after=${middle}`))
    operations.set(`last page of ${list}`, (s) => s.send('GET', `${path}&after=${last}`))
    operations.set(`page before the middle of ${list}`, (s) => s.send('GET', `${path}&before=${middle}`))
    const lastPage = await service.send<Page>('GET', `${path}&after=${last}`)
    if (lastPage.next !== null || lastPage.data.length === 0)
      throw new Error(`the last page of ${list} is not the last`)
  }

  const medians = new Map<string, number>()
  let number = 0
  for (const [name, operation] of operations) {
    const times: number[] = []
    for (let repetition = -warmUps; repetition < repetitions; repetition += 1) {
      number += 1
      const start = performance.now()
      await operation(
        service,
        name.startsWith('create') || name.startsWith('subscribe') ? repetition + warmUps : number,
      )
      if (repetition >= 0) times.push(performance.now() - start)
    }
    medians.set(name, median(times))
  }
  return medians
}

/** The id of the item with this many older items. */
async function cursorAt({ database, environmentId }: Service, list: string, behind: number): Promise<string> {
  const source =
    list === 'subscribers'
      ? 'subscribers WHERE environment_id = $1'
      : "topic_subscriptions WHERE environment_id = $1 AND topic_id = (SELECT id FROM topics WHERE environment_id = $1 AND key = 'topic-1')"
  const { rows } = await database.query<{ id: string }>(`SELECT id FROM ${source} ORDER BY id OFFSET $2 LIMIT 1`, [
    environmentId,
    behind,
  ])
  return rows[0]?.id ?? ''
}
