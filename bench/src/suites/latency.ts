// The time from request to message: one trigger at a time, at a steady rate, and beside a million waiting runs.
import { sendMany } from '../harness/load.ts'
import { startReference } from '../harness/reference.ts'
import { type Service, startService } from '../harness/service.ts'
import { timesToMessage } from '../harness/time-to-message.ts'
import { makeWorkflow, newestMessage, triggerOf } from '../harness/triggers.ts'
import { type Figure, type Options, type Outcome, percentile } from '../report/figures.ts'

const perSecond = 300

export async function benchLatency({ quick }: Options): Promise<Outcome> {
  const [warmUpSeconds, seconds] = quick ? [0.5, 1] : [3, 20]
  const waiting = quick ? 5_000 : 1_000_000
  const service = await startService()
  try {
    await makeWorkflow(service)
    const measure = (duration: number, tag: string) => timesToMessage(service, { perSecond, seconds: duration, tag })
    await measure(warmUpSeconds, 'warm-up')
    const lonely = await lonelyMs(service, quick ? turns : 500)
    const before = await measure(seconds, 'before')
    await addWaiting(service, waiting)
    await measure(warmUpSeconds, 'warm-up-again')
    const beside = await measure(seconds, 'beside')
    const commit = await commitMs(service)
    const at = `at ${perSecond}/s`
    return {
      figures: [
        {
          ...{
            id: 'lonely-p50',
            name: 'p50 of one trigger at a time, until it is answered and its message can be read',
          },
          ...{ unit: 'ms', ours: lonely.trigger, reference: lonely.commit, against: 'one empty commit, in turns' },
          target: { atMost: 3 },
        },
        theSame('lonely-by-hand', lonely.trigger, lonely.byHand, 'a Fastify route written by hand, with the same rows'),
        theSame('lonely-floor', lonely.trigger, lonely.committing, 'a Fastify route that commits a number'),
        latency('p50', `p50 from request to message, ${at}`, percentile(before, 0.5), commit, 8),
        latency('p99', `p99 from request to message, ${at}`, percentile(before, 0.99), commit, 50),
        {
          id: 'beside-waiting-p99',
          name: `p99 beside ${waiting.toLocaleString('en')} waiting runs`,
          unit: 'ms',
          ours: percentile(beside, 0.99),
          reference: percentile(before, 0.99),
          against: 'with none waiting',
          target: { atMost: 1.5 },
        },
      ],
      notes: { perSecond, seconds, waiting },
    }
  } finally {
    await service.stop()
  }
}

const latency = (id: string, name: string, ours: number, reference: number, oursAtMost: number): Figure => ({
  ...{ id, name, ours, reference },
  unit: 'ms',
  against: 'one commit of the database',
  target: { oursAtMost },
})

const theSame = (id: string, ours: number, reference: number, against: string): Figure => ({
  ...{ id, name: 'the same', unit: 'ms', ours, reference, against },
})

/** Runs in a delay step, as triggers of the last days would have left them. */
async function addWaiting({ database, environmentId }: Service, count: number): Promise<void> {
  process.stderr.write(`  ${count.toLocaleString('en')} waiting runs\n`)
  const id = (kind: string) => `lpad(to_hex(1760000000 + n / 10), 8, '0') || '${kind}' || lpad(to_hex(n), 8, '0')`
  for (const statement of [
    `INSERT INTO events (environment_id, id, transaction_id, workflow_id, workflow_version, recipients, payload, overrides,
                         started_at, created_at)
     SELECT $1, ${id('eeeeeeee')}, 'waiting-' || n, 'bench', 1, '[]', '{}', '{}', now(), now() FROM generate_series(1, $2::int) n`,
    `INSERT INTO notifications (environment_id, id, event_id, transaction_id, workflow_id, workflow_version,
       subscriber_row_id, subscriber_id, status, severity, critical, channels, tags, context_keys, created_at, updated_at)
     SELECT $1, ${id('aaaaaaaa')}, ${id('eeeeeeee')}, 'waiting-' || n, 'bench', 1, 'somebody', 'somebody', 'processing',
       'none', false, '{delay}', '{}', '{}', now(), now() FROM generate_series(1, $2::int) n`,
    `INSERT INTO jobs (environment_id, notification_id, position, id, step_row_id, step_id, type, status, details,
       schedule_extensions, attempts, due_at, created_at, updated_at)
     SELECT $1, ${id('aaaaaaaa')}, 0, ${id('bbbbbbbb')}, 'step', 'step', 'delay', 'delayed', '[]', 0, 0,
       now() + interval '1 day' + n * interval '1 second', now(), now() FROM generate_series(1, $2::int) n`,
    `INSERT INTO timers (environment_id, subject_id, position, kind, due_at)
     SELECT $1, ${id('aaaaaaaa')}, 0, 'step', now() + interval '1 day' + n * interval '1 second' FROM generate_series(1, $2::int) n`,
  ])
    await database.query(statement, [environmentId, count])
  await database.query('ANALYZE')
  await database.query('CHECKPOINT')
}

/** Medians, in turns on an idle service. */
interface Lonely {
  /** A trigger whose answer comes with its message. */
  trigger: number
  /** An empty commit after each. */
  commit: number
  byHand: number
  committing: number
}

const turns = 20

async function lonelyMs(service: Service, count: number): Promise<Lonely> {
  const { database, apiKey } = service
  const after = await newestMessage(service)
  await database.query('CREATE TABLE bench_empty (number integer)')
  const reference = await startReference('hand-written', [service.databaseUrl])
  const emptyCommitMs = async () => {
    const began = performance.now()
    await database.query('INSERT INTO bench_empty VALUES (1)')
    return performance.now() - began
  }
  /** One at a time, each followed by an empty commit. */
  const times = async (url: string, path: string, most: number, commits: number[] = []) => {
    const between = async () => commits.push(await emptyCommitMs())
    return (await sendMany({ url, apiKey, connections: 1 }, path, most, () => triggerOf(sent++), between)).took
  }
  let sent = 0
  try {
    // As many as the service had before.
    for (const path of ['/v1/events/trigger', '/commit']) await times(reference.url, path, 2 * count)
    const commits: number[] = []
    const triggers: number[] = []
    const byHand: number[] = []
    const committing: number[] = []
    const most = count / turns
    for (let turn = 0; turn < turns; turn += 1) {
      triggers.push(...(await times(service.url, '/v1/events/trigger', most, commits)))
      byHand.push(...(await times(reference.url, '/v1/events/trigger', most)))
      committing.push(...(await times(reference.url, '/commit', most)))
    }
    await database.query('DROP TABLE bench_empty')
    await allThere(service, { after, count })
    const median = (took: number[]) => percentile(took, 0.5)
    return {
      ...{ trigger: median(triggers), commit: median(commits) },
      ...{ byHand: median(byHand), committing: median(committing) },
    }
  } finally {
    reference.stop()
  }
}

/** A message that came later than its answer would not be measured. */
async function allThere(
  { database, environmentId }: Service,
  { after, count }: { after: string; count: number },
): Promise<void> {
  const { rows } = await database.query<{ count: string }>(
    'SELECT count(*) FROM messages WHERE environment_id = $1 AND id > $2',
    [environmentId, after],
  )
  if (Number(rows[0]?.count) !== count)
    throw new Error(`${rows[0]?.count} messages when ${count} triggers were answered`)
}

async function commitMs({ database }: Service): Promise<number> {
  await database.query('CREATE TABLE bench_commits (number integer)')
  const took: number[] = []
  for (let number = 0; number < 200; number += 1) {
    const began = performance.now()
    await database.query('INSERT INTO bench_commits VALUES ($1)', [number])
    took.push(performance.now() - began)
  }
  await database.query('DROP TABLE bench_commits')
  return percentile(took, 0.5)
}
