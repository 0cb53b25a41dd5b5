// Opens and clicks of e-mails, where their workflow counts them. An open counts at once. Links that were followed are kept until
// there was a pause, because only then it shows whether a robot fetched them all. Neither network addresses nor programs are kept.
import { createHash } from 'node:crypto'
import { isOutage, retryConflicts } from '../../db/core/database.ts'
import { HeldMoment } from '../../db/core/held-clock.ts'
import { wholeLog } from '../../db/core/step-log.ts'
import { storableJson } from '../../db/core/storable.ts'
import type { LogEntry, StoredDetail } from '../../db/core/tables.ts'
import { inTransaction, statement, type Transaction } from '../../db/core/transaction.ts'
import type { MessageRow } from '../../db/queries/messages.ts'
import { type EventType, keptOfMessage, tellAll } from '../../db/queries/webhook-events.ts'
import { detail } from '../../steps/contract/outcome.ts'
import { judgeClicks, scanMs } from '../consent/visits.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { EnvironmentGone, timeIn } from '../core/held-clocks.ts'
import { storedLine } from '../runs/run-state.ts'
import type { EngineParts } from '../runs/start-runs.ts'
import { queueWakeUps } from '../runs/store.ts'
import { latest, mostLines, storeReported } from './reports.ts'

/** Somebody fetched a link or the image of a message. */
export interface Visit {
  environmentId: string
  messageId: string
  /** Where the link leads; undefined for the image. */
  url?: string | undefined
  isRobot: boolean
}

/** Clicks are judged when no link of the message was followed for this long … */
const pauseMs = 5_000
/** … or when the first has waited for this long. */
const patienceMs = 60_000
/** Of the timers of a message; that of a snooze has 0. */
const clicksPosition = 1
const mostTogether = 200

/**
 * Before the clicks, as whoever judges them takes it first. Only for messages that there are, so that nothing stays behind for
 * those that are gone.
 */
const holdClickTimers = statement(
  'hold_click_timers',
  `INSERT INTO timers (environment_id, subject_id, position, kind, due_at, held)
   SELECT $1, g.id, ${clicksPosition}, 'clicks', least($3::timestamptz + make_interval(secs => ${pauseMs / 1000}), coalesce((
       SELECT min(c.first_at) FROM tracked_clicks c WHERE c.environment_id = $1 AND c.message_id = g.id), $3::timestamptz)
       + make_interval(secs => ${patienceMs / 1000})),
     CASE WHEN $4::boolean THEN nextval('held_order') END
   FROM (SELECT DISTINCT unnest($2::text[]) AS id ORDER BY 1) g
   WHERE EXISTS (SELECT FROM messages m WHERE m.environment_id = $1 AND m.id = g.id AND m.channel = 'email')
   ON CONFLICT (environment_id, subject_id, position) DO UPDATE SET due_at = excluded.due_at
   RETURNING subject_id, due_at`,
)

const keepClicks = statement(
  'keep_clicks',
  `INSERT INTO tracked_clicks AS c (environment_id, message_id, link_hash, url, first_at, last_at)
   SELECT $1, g.message_id, g.link_hash, g.url, $5, $5
   FROM unnest($2::text[], $3::bytea[], $4::text[]) AS g (message_id, link_hash, url)
   ORDER BY g.message_id, g.link_hash
   ON CONFLICT (environment_id, message_id, link_hash) DO UPDATE SET last_at = greatest(c.last_at, excluded.last_at)`,
)

const takeClicks = statement(
  'take_clicks',
  `DELETE FROM tracked_clicks WHERE environment_id = $1 AND message_id = ANY ($2::text[])
   RETURNING message_id, url, first_at, last_at`,
)

/** A message with the log of its step, while that is kept. Looked up one by one, so that each reads one partition. */
const visited = (lock: string) => `
  SELECT m.*, j.position, j.details, j.created_at AS job_created_at, j.provider_id AS job_provider_id
  FROM (SELECT unnest($2::text[]) AS id) g
  CROSS JOIN LATERAL (SELECT m.* FROM messages m WHERE m.environment_id = $1 AND m.id = g.id ${lock}) m
  LEFT JOIN LATERAL (
    SELECT j.position, j.details, j.created_at, j.provider_id FROM jobs j
    WHERE j.environment_id = $1 AND j.notification_id = m.notification_id AND j.id = m.job_id) j ON true`
const findVisited = statement('find_visited', visited(''))
const lockVisitedRuns = statement(
  'lock_visited_runs',
  `SELECT n.id FROM notifications n WHERE n.environment_id = $1 AND n.id = ANY ($2::text[])
   ORDER BY n.id FOR NO KEY UPDATE`,
)
const lockVisited = statement('lock_visited', visited('FOR NO KEY UPDATE'))

interface VisitedRow extends MessageRow {
  position: number | null
  details: LogEntry[] | null
  job_created_at: Date | null
  job_provider_id: string | null
}

/** What a visit says about a message. */
type Fact = { kind: 'opened'; at: Date } | { kind: 'robot'; at: Date } | { kind: 'clicked'; at: Date; url: string }

export class Tracking {
  readonly #parts: EngineParts
  readonly #commits: GroupCommit<Visit, undefined>

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#commits = new GroupCommit((visits) => this.#store(visits), isOutage, {
      ...{ mostItems: mostTogether, mostSize: mostTogether, sizeOf: () => 1 },
      ownerOf: ({ environmentId }) => environmentId,
    })
  }

  /** Resolves once it is committed. */
  async take(visit: Visit): Promise<void> {
    await this.#commits.add(visit)
  }

  async #store(visits: Visit[]): Promise<undefined[]> {
    for (const [environmentId, own] of byEnvironment(visits))
      await retryConflicts(() => this.#storeIn(environmentId, own)).catch((error: unknown) => {
        if (!(error instanceof EnvironmentGone)) throw error
      })
    return visits.map(() => undefined)
  }

  #storeIn(environmentId: string, visits: Visit[]): Promise<void> {
    return inTransaction(this.#parts.pool, async (transaction) => {
      const now = await timeIn(transaction, this.#parts, environmentId)
      const clicks = visits.flatMap(({ messageId, url, isRobot }) =>
        url === undefined || isRobot ? [] : [{ messageId, url }],
      )
      if (clicks.length > 0) await this.#keep(transaction, environmentId, clicks, now)
      const facts = visits.flatMap(({ messageId, url, isRobot }): Array<[string, Fact]> => {
        if (isRobot) return [[messageId, { kind: 'robot', at: now }]]
        return url === undefined ? [[messageId, { kind: 'opened', at: now }]] : []
      })
      await note(transaction, environmentId, byMessage(facts), now)
    })
  }

  async #keep(
    transaction: Transaction,
    environmentId: string,
    clicks: Array<{ messageId: string; url: string }>,
    now: Date,
  ): Promise<void> {
    const isHeld = now instanceof HeldMoment
    const ids = clicks.map(({ messageId }) => messageId)
    const timers = await transaction.run<{ subject_id: string; due_at: Date }>(holdClickTimers, [
      ...[environmentId, ids, now, isHeld],
    ])
    const known = new Set(timers.map(({ subject_id }) => subject_id))
    const rows = new Map(
      clicks.flatMap(({ messageId, url }) =>
        known.has(messageId) ? [[`${messageId} ${url}`, { messageId, url, hash: hashOf(url) }] as const] : [],
      ),
    )
    const links = [...rows.values()]
    if (links.length === 0) return
    await transaction.run(keepClicks, [
      environmentId,
      links.map(({ messageId }) => messageId),
      links.map(({ hash }) => hash),
      links.map(({ url }) => url),
      now,
    ])
    const due = timers.map(({ due_at }) => due_at)
    if (!isHeld) await queueWakeUps(transaction, due, now, this.#parts)
  }

  /** Judges the links of these messages that were followed: their timers are over, and deleted by this transaction. */
  readonly settle: NonNullable<EngineParts['settleClicks']> = async (transaction, keys, now) => {
    for (const [environmentId, own] of byEnvironment(keys)) {
      const ids = own.map(({ id }) => id)
      const rows = await transaction.run<{ message_id: string; url: string; first_at: Date; last_at: Date }>(
        takeClicks,
        [...[environmentId, ids]],
      )
      const messages = await transaction.run<VisitedRow>(findVisited, [environmentId, ids])
      const facts = messages.flatMap((message): Array<[string, Fact]> => {
        const links = rows
          .filter(({ message_id }) => message_id === message.id)
          .map(({ url, first_at, last_at }) => ({ url, first: first_at, last: last_at }))
        const { clicks, robotAt } = judgeClicks(links, sentAtOf(message))
        return [
          ...clicks.map(({ url, at }): [string, Fact] => [message.id, { kind: 'clicked', url, at }]),
          ...(robotAt ? [[message.id, { kind: 'robot', at: robotAt }] as [string, Fact]] : []),
        ]
      })
      await note(transaction, environmentId, byMessage(facts), now)
    }
  }
}

/** Writes what is new into the log of the steps, the messages and the outbox of webhooks. */
async function note(
  transaction: Transaction,
  environmentId: string,
  facts: Map<string, Fact[]>,
  now: Date,
): Promise<void> {
  if (facts.size === 0) return
  // An image is fetched each time the mail is shown: mostly there is nothing new, and nothing to lock.
  const found = await transaction.run<VisitedRow>(findVisited, [environmentId, [...facts.keys()]])
  const fresh = found.filter((row) => new Visited(row).take(facts.get(row.id) ?? []))
  if (fresh.length === 0) return
  // Runs before their steps and messages, like everyone who works on runs.
  const runs = [...new Set(fresh.map(({ notification_id }) => notification_id))]
  await transaction.run(lockVisitedRuns, [environmentId, runs])
  const ids = fresh.map(({ id }) => id).sort()
  const locked = await transaction.run<VisitedRow>(lockVisited, [environmentId, ids])
  const changed = locked.map((row) => new Visited(row)).filter((each) => each.take(facts.get(each.row.id) ?? []))
  if (changed.length === 0) return
  await transaction.run(storeReported, [
    environmentId,
    storableJson(changed.map((each) => each.toRow())),
    now,
    changed.map(({ row }) => row.id),
  ])
  await tellAll(
    transaction,
    changed.flatMap((each) => each.toEvents(now)),
    now,
  )
}

/** One message, and what visits say about it. */
class Visited {
  readonly row: VisitedRow
  readonly #log: StoredDetail[]
  readonly #lines: StoredDetail[] = []
  readonly #told: Array<{ type: EventType; url?: string }> = []

  constructor(row: VisitedRow) {
    this.row = { ...row }
    this.#log = logOf(row)
  }

  /** @returns whether any of it was new */
  take(facts: Fact[]): boolean {
    const sent = sentAtOf(this.row).getTime()
    const news = facts.filter((fact) => {
      const isScan = fact.kind === 'opened' && fact.at.getTime() < sent + scanMs
      return this.#take(isScan ? { kind: 'robot', at: fact.at } : fact)
    })
    return news.length > 0
  }

  #take(fact: Fact): boolean {
    const isFull = this.#log.length + this.#lines.length >= mostLines
    if (this.#isKnown(fact)) return false
    // A full log cannot recognize repetitions: only what changes the message counts.
    if (isFull && (fact.kind === 'robot' || (fact.kind === 'clicked' ? this.row.read : this.row.seen))) return false
    if (!isFull) this.#lines.push(lineOf(fact, this.row))
    if (fact.kind !== 'robot') this.#see(fact)
    return true
  }

  #isKnown(fact: Fact): boolean {
    const { detail: text, webhook } = lineOf(fact, this.row)
    return [...this.#log, ...this.#lines].some(
      (line) =>
        line.source === 'Internal' &&
        line.messageId === this.row.id &&
        line.detail === text &&
        line.webhook?.id === webhook?.id,
    )
  }

  #see(fact: Exclude<Fact, { kind: 'robot' }>): void {
    const { row } = this
    if (!row.seen) this.#told.push({ type: 'message.seen' })
    row.seen = true
    row.first_seen_at ??= fact.at
    row.last_seen_at = latest(row.last_seen_at, fact.at)
    if (fact.kind !== 'clicked') return
    if (!row.read) this.#told.push({ type: 'message.read' })
    row.read = true
    row.last_read_at = latest(row.last_read_at, fact.at)
    this.#told.push({ type: 'message.clicked', url: fact.url })
  }

  /** The webhook events, with the message as it is now. */
  toEvents(now: Date) {
    const { position: _, details: __, job_created_at: ___, job_provider_id: ____, ...row } = this.row
    const { environment_id: environmentId, subscriber_id: subscriberId } = row
    const object = keptOfMessage({ ...row, updated_at: now })
    return this.#told.map(({ type, url }) => ({
      ...{ environmentId, type, subscriberId },
      object: url === undefined ? object : { ...object, clicked_url: url },
    }))
  }

  toRow() {
    const { id, notification_id, position, status, error_id, error_text, seen, read, delivered_at } = this.row
    const { first_seen_at, last_seen_at, last_read_at } = this.row
    return {
      ...{ id, notification_id, position, status, error_id, error_text, seen, read, delivered_at },
      ...{ first_seen_at, last_seen_at, last_read_at, lines: this.#lines },
    }
  }
}

const logOf = ({ details, job_created_at, job_provider_id }: VisitedRow): StoredDetail[] =>
  details && job_created_at
    ? wholeLog(details, { createdAt: job_created_at, providerId: job_provider_id, output: null })
    : []

/** The last time, if it was sent more than once. Without a log, when the message was made. */
function sentAtOf(row: VisitedRow): Date {
  const line = logOf(row).findLast((each) => each.detail === 'Message sent')
  return line ? new Date(line.at) : row.created_at
}

/** Reports of the same kind have the same name, for steps that wait for them. */
function lineOf(fact: Fact, { id: messageId }: VisitedRow): StoredDetail {
  const common = { source: 'Internal', messageId } as const
  if (fact.kind === 'robot') return storedLine(detail('fetched_by_robot', undefined, common), fact.at)
  const webhook = { status: fact.kind, at: fact.at.toISOString() }
  if (fact.kind === 'opened') return { ...storedLine(detail('counted_open', undefined, common), fact.at), webhook }
  const line = storedLine(detail('counted_click', { url: fact.url }, common), fact.at)
  return { ...line, webhook: { ...webhook, id: hashOf(fact.url).toString('hex') } }
}

const hashOf = (url: string): Buffer => createHash('sha256').update(url).digest()

function byEnvironment<T extends { environmentId: string }>(list: T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const each of list) groups.set(each.environmentId, [...(groups.get(each.environmentId) ?? []), each])
  return groups
}

function byMessage(facts: Array<[string, Fact]>): Map<string, Fact[]> {
  const groups = new Map<string, Fact[]>()
  for (const [id, fact] of facts) groups.set(id, [...(groups.get(id) ?? []), fact])
  return groups
}
