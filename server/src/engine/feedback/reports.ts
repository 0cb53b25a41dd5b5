// Delivery reports from providers: written into the log of the step that sent the message, and into the message. A repeated
// report changes nothing; one about an unknown message is ignored.
import { comparedAddress } from '../../db/core/addresses.ts'
import { retryConflicts } from '../../db/core/database.ts'
import { idPattern } from '../../db/core/ids.ts'
import { storableJson } from '../../db/core/storable.ts'
import type { StoredDetail } from '../../db/core/tables.ts'
import { inTransaction, statement, type Transaction } from '../../db/core/transaction.ts'
import { type BadMail, countBadMail } from '../../db/queries/brakes.ts'
import { readConsent } from '../../db/queries/consent.ts'
import type { MessageRow } from '../../db/queries/messages.ts'
import {
  addSuppressions,
  type NewSuppression,
  ofAddress,
  type SuppressionSource,
} from '../../db/queries/suppressions.ts'
import { type EventType, keptOfMessage, tellAll } from '../../db/queries/webhook-events.ts'
import type { DeliveryEvent, EventStatus } from '../../providers/events.ts'
import { type Arrival, countSoftBounces } from '../consent/soft-bounces.ts'
import { timeIn } from '../core/held-clocks.ts'
import { storedLine } from '../runs/run-state.ts'
import type { EngineParts } from '../runs/start-runs.ts'

/** An integration reports only on messages it sent. */
export interface Reporter {
  environmentId: string
  integrationId: string
  providerId: string
  /** How the log words it; older callers expect their own wording. */
  wording: 'v1' | 'v2'
  /** Who says so; a provider unless told otherwise. */
  source?: SuppressionSource
}

/** A message can be opened any number of times; beyond this, the log of its step stops growing. */
export const mostLines = 500
/** Room beyond that for what is said about an address: whoever opens a mail 500 times can still complain. */
const linesAboutAddresses = 100

/** Where a call was cut off, the provider's id is unknown. The mail itself, and a server of the user's own, know ours. */
export const nameOf = ({ identifier, id }: Pick<MessageRow, 'identifier' | 'id'>): string => identifier ?? id
const ownId = new RegExp(idPattern)
const isAbout = '(m.identifier = ANY ($2::text[]) OR (m.identifier IS NULL AND m.id = ANY ($4::text[])))'

/**
 * Locks the runs of these messages, like everyone who works on runs, and before their steps and messages: reports about one run
 * go one after the other, and the second sees what the first wrote.
 */
const lockReportedRuns = statement(
  'lock_reported_runs',
  `SELECT n.id FROM notifications n
   WHERE n.environment_id = $1 AND n.id IN (
     SELECT m.notification_id FROM messages m
     WHERE m.environment_id = $1 AND ${isAbout} AND m.integration_id = $3)
   ORDER BY n.id FOR NO KEY UPDATE`,
)

const lockReported = statement(
  'lock_reported',
  `SELECT m.*, j.position, j.reported, j.recipients, coalesce(j.lines, 0) AS lines
   FROM messages m LEFT JOIN LATERAL (
     SELECT j.position, jsonb_array_length(j.details) AS lines, said.*
     FROM jobs j, LATERAL (
       SELECT jsonb_agg(line -> 'webhook') FILTER (WHERE line ? 'webhook') AS reported,
         jsonb_agg(line -> 'recipients') FILTER (WHERE line ? 'recipients') AS recipients
       FROM jsonb_array_elements(j.details) line WHERE line ->> 'messageId' = m.id) said
     WHERE j.environment_id = m.environment_id AND j.notification_id = m.notification_id AND j.id = m.job_id) j ON true
   WHERE m.environment_id = $1 AND ${isAbout} AND m.integration_id = $3
     AND m.notification_id = ANY ($5::text[])
   ORDER BY m.id FOR NO KEY UPDATE OF m`,
)

export const storeReported = statement(
  'store_reported',
  `WITH r AS (
     SELECT * FROM json_to_recordset($2::json) AS r (id text, notification_id text, position smallint, lines jsonb,
       status text, error_id text, error_text text, seen boolean, read boolean, delivered_at timestamptz[],
       first_seen_at timestamptz, last_seen_at timestamptz, last_read_at timestamptz)
   ), logs AS (
     UPDATE jobs j SET details = j.details || l.lines
     FROM (SELECT r.notification_id, r.position, jsonb_agg(line) AS lines
           FROM r, jsonb_array_elements(r.lines) line WHERE r.position IS NOT NULL GROUP BY 1, 2) l
     WHERE j.environment_id = $1 AND j.notification_id = l.notification_id AND j.position = l.position
   ), m AS (
     UPDATE messages m SET status = r.status, error_id = r.error_id, error_text = r.error_text, seen = r.seen, read = r.read,
     delivered_at = r.delivered_at, first_seen_at = r.first_seen_at, last_seen_at = r.last_seen_at,
     last_read_at = r.last_read_at, updated_at = $3
     FROM r WHERE m.environment_id = $1 AND m.id = r.id AND m.id = ANY ($4::text[]) RETURNING m.notification_id
   )
   SELECT tell_message_waits($1, array_agg(m.notification_id)) FROM m`,
)

type Reported = NonNullable<StoredDetail['webhook']>

interface ReportedMessage extends MessageRow {
  /** Of the step that sent it, while that is kept. */
  position: number | null
  reported: Reported[] | null
  /** Of each call, where it was not only for the message's own address. */
  recipients: string[][] | null
  lines: number
}

/** @returns the reports about messages of this integration, repeated ones included */
export async function takeReports(
  parts: Pick<EngineParts, 'pool' | 'clock' | 'memory'>,
  reporter: Reporter,
  events: DeliveryEvent[],
): Promise<DeliveryEvent[]> {
  if (events.length === 0) return []
  return retryConflicts(() => take(parts, reporter, events))
}

function take(parts: Pick<EngineParts, 'pool' | 'clock' | 'memory'>, reporter: Reporter, events: DeliveryEvent[]) {
  return inTransaction(parts.pool, async (transaction) => {
    const now = await timeIn(transaction, parts, reporter.environmentId)
    const messages = await lockMessages(transaction, reporter, events)
    const changed = messages.filter((message) => message.take(events, reporter, now))
    if (changed.length > 0)
      await transaction.run(storeReported, [
        reporter.environmentId,
        storableJson(changed.map((message) => message.toRow())),
        now,
        changed.map(({ row }) => row.id),
      ])
    const { environmentId } = reporter
    const refusals = changed.flatMap((message) => message.refusals)
    const arrivals = changed.flatMap((message) => message.arrivals)
    const tired =
      arrivals.length === 0
        ? []
        : await countSoftBounces(transaction.tx, environmentId, arrivals, {
            settings: (await readConsent(transaction.tx, environmentId)).softBounces,
            now,
          })
    await addSuppressions(transaction.tx, environmentId, [...refusals, ...tired], now)
    await countBadMail(
      transaction.tx,
      environmentId,
      changed.flatMap((message) => message.badMail()),
      now,
    )
    await tellAll(
      transaction,
      changed.flatMap((message) => message.toEvents(now)),
      now,
    )
    const known = new Set(messages.map(({ row }) => nameOf(row)))
    return events.filter(({ providerMessageId }) => known.has(providerMessageId))
  })
}

async function lockMessages(
  transaction: Transaction,
  { environmentId, integrationId }: Reporter,
  events: DeliveryEvent[],
): Promise<Report[]> {
  const identifiers = [...new Set(events.map(({ providerMessageId }) => providerMessageId))]
  const values = [environmentId, identifiers, integrationId, identifiers.filter((each) => ownId.test(each))]
  const runs = await transaction.run<{ id: string }>(lockReportedRuns, values)
  // A message stored a moment later counts as unknown: we do not hold its run's lock.
  const rows = await transaction.run<ReportedMessage>(lockReported, [...values, runs.map(({ id }) => id)])
  return rows.map((row) => new Report(row))
}

/** One message and its reports. */
class Report {
  readonly row: ReportedMessage
  /** What the reports say about its address. */
  readonly refusals: NewSuppression[] = []
  readonly arrivals: Arrival[] = []
  readonly #known: Reported[]
  readonly #lines: StoredDetail[] = []
  readonly #told = new Set<EventType>()

  constructor(row: ReportedMessage) {
    this.row = row
    this.#known = row.reported ?? []
  }

  /** @returns whether any of them was new */
  take(events: DeliveryEvent[], reporter: Reporter, now: Date): boolean {
    const own = events.filter(({ providerMessageId }) => providerMessageId === nameOf(this.row))
    const inOrder = own.sort((one, other) => (one.date ?? now).getTime() - (other.date ?? now).getTime())
    const news = inOrder.filter((event) => this.#note(event, reporter, now))
    for (const event of news) {
      this.#apply(event, now)
      this.#judgeAddress(event, reporter, now)
    }
    return news.length > 0
  }

  /**
   * Recognizes a repeated report by the vendor's event id, else by status and time, if the vendor sends one; and by whom it is
   * about.
   */
  #note(event: DeliveryEvent, { providerId, wording }: Reporter, now: Date): boolean {
    const { status, date, externalId, response } = event
    const about = this.#addressOf(event)
    const said: Reported = {
      status,
      ...(date === undefined ? {} : { at: date.toISOString() }),
      ...(externalId === undefined ? {} : { id: externalId }),
      ...(about === undefined || about === this.#own ? {} : { recipient: about }),
      ...(event.permanent ? { permanent: true } : {}),
    }
    if (this.#known.some((known) => isSameReport(known, said))) return false
    this.#known.push(said)
    const lines = this.row.lines + this.#lines.length
    const isJudging = meaningOf(event) !== undefined || soft.has(status) || status === 'delivered'
    if (lines >= mostLines + (isJudging ? linesAboutAddresses : 0)) return isJudging || this.#isNewState(status)
    const line = storedLine(
      {
        detail: wording === 'v2' ? `Message ${status}` : `${response ?? ''} - (${status})`,
        status: lineStatus[status],
        source: 'Webhook',
        providerId,
        messageId: this.row.id,
        raw: event.raw,
      },
      now,
    )
    this.#lines.push({ ...line, webhook: said })
    return true
  }

  /** A full log cannot recognize repetitions: only what changes the message counts. */
  #isNewState(status: EventStatus): boolean {
    const { seen, read } = this.row
    return (status === 'opened' && !seen) || (status === 'clicked' && !read)
  }

  #apply({ status, date, response }: DeliveryEvent, now: Date): void {
    const { row } = this
    const at = date ?? now
    if (status === 'delivered') {
      row.delivered_at = [...(row.delivered_at ?? []), at]
      this.#told.add('message.delivered')
      // A delayed message was delivered after all, unless it bounced later.
      if (row.status === 'error' && !this.#hasFailedAfter(at))
        Object.assign(row, { status: 'sent', error_id: null, error_text: null })
    }
    if (status === 'opened' || status === 'clicked') {
      if (!row.seen) this.#told.add('message.seen')
      row.seen = true
      row.first_seen_at ??= at
      row.last_seen_at = latest(row.last_seen_at, at)
    }
    if (status === 'clicked') {
      if (!row.read) this.#told.add('message.read')
      row.read = true
      row.last_read_at = latest(row.last_read_at, at)
    }
    if (failures.has(status) && !this.#hasArrivedAfter(at)) {
      if (row.status !== 'error') this.#told.add('message.failed')
      row.status = 'error'
      row.error_id = errorIds[row.channel] ?? null
      row.error_text = response ?? `Message ${status}`
    }
  }

  /** Where entries of the suppression list can come from reports. */
  get #channel(): 'email' | 'sms' | undefined {
    const { channel } = this.row
    return channel === 'email' || channel === 'sms' ? channel : undefined
  }

  /** The message's first address, in the form in which addresses are compared. */
  get #own(): string | undefined {
    const given = this.#channel === 'email' ? this.row.email : this.row.phone
    return this.#channel && given ? comparedAddress(this.#channel, given) : undefined
  }

  /** Whom a report is about, if it went to them. Of several recipients a report has to name one. */
  #addressOf({ recipient }: DeliveryEvent): string | undefined {
    const channel = this.#channel
    const own = this.#own
    if (!channel || own === undefined) return undefined
    const sentTo = this.row.recipients?.flat().map((address) => comparedAddress(channel, address))
    const all = new Set(sentTo ?? [own])
    if (recipient === undefined) return all.size === 1 ? [...all][0] : undefined
    const named = comparedAddress(channel, recipient)
    return all.has(named) ? named : undefined
  }

  /** For the suppression list; only about an address that the message went to. */
  #judgeAddress(event: DeliveryEvent, reporter: Reporter, now: Date): void {
    const { row } = this
    const { status, date } = event
    const { integrationId, source = 'provider' } = reporter
    const said = meaningOf(event)
    const isDelivered = status === 'delivered'
    const channel = this.#channel
    const address = this.#addressOf(event)
    if (!channel || address === undefined) return
    const subscriberId = address === this.#own ? row.subscriber_id : null
    const about = {
      ...{ channel, ...ofAddress(address), source },
      ...{ subscriberId, integrationId, messageId: row.id },
    }
    if (said) this.refusals.push({ ...about, ...said })
    else if (isDelivered || soft.has(status)) this.arrivals.push({ ...about, at: date ?? now, isDelivered })
  }

  /** For the brakes: what was sent as commercial mail, whatever its workflow has become. */
  badMail(): BadMail[] {
    const { id, workflow_id: workflowId, channel, commercial, created_at: sentAt } = this.row
    if (channel !== 'email' || commercial !== true) return []
    return this.refusals.flatMap(({ reason }): BadMail[] => {
      const cause = causes[reason]
      return cause ? [{ workflowId, messageId: id, cause, sentAt, isRefused: false }] : []
    })
  }

  #hasFailedAfter(time: Date): boolean {
    return this.#known.some(
      ({ status, at }) => failures.has(status) && at !== undefined && Date.parse(at) > time.getTime(),
    )
  }

  #hasArrivedAfter(time: Date): boolean {
    return this.#known.some(
      ({ status, at }) => status === 'delivered' && at !== undefined && Date.parse(at) > time.getTime(),
    )
  }

  /** The webhook events, with the message as it is now. */
  toEvents(now: Date) {
    const { position: _, reported: __, lines: ___, recipients: ____, ...row } = this.row
    const object = keptOfMessage({ ...row, updated_at: now })
    const { environment_id: environmentId, subscriber_id: subscriberId } = row
    return [...this.#told].map((type) => ({ environmentId, type, object, subscriberId }))
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

function meaningOf({ status, permanent }: DeliveryEvent): Pick<NewSuppression, 'reason' | 'scope'> | undefined {
  if (status === 'complaint' || status === 'spam') return { reason: 'complaint', scope: 'all' }
  if (status === 'unsubscribed') return { reason: 'unsubscribe', scope: 'commercial' }
  return permanent && failures.has(status) ? { reason: 'hard_bounce', scope: 'all' } : undefined
}

const causes: Partial<Record<string, BadMail['cause']>> = { hard_bounce: 'bounces', complaint: 'complaints' }

const isSameReport = (one: Reported, other: Reported): boolean =>
  one.status === other.status &&
  one.id === other.id &&
  one.recipient === other.recipient &&
  (one.id !== undefined || (one.at === other.at && one.permanent === other.permanent))

export const latest = (one: Date | null, other: Date): Date => (one !== null && one > other ? one : other)

const failures: ReadonlySet<string> = new Set<EventStatus>([
  'bounced',
  'rejected',
  'dropped',
  'blocked',
  'failed',
  'undelivered',
])

/** Unless the provider calls it permanent. */
const soft: ReadonlySet<string> = new Set<EventStatus>(['bounced', 'blocked', 'dropped', 'rejected', 'undelivered'])

const errorIds: Record<string, string> = {
  email: 'mail_unexpected_error',
  sms: 'unexpected_sms_error',
  chat: 'unexpected_chat_error',
  push: 'unexpected_push_error',
}

const lineStatus: Record<EventStatus, StoredDetail['status']> = {
  accepted: 'Success',
  queued: 'Queued',
  sending: 'Pending',
  sent: 'Success',
  delivered: 'Success',
  undelivered: 'Failed',
  failed: 'Failed',
  opened: 'Success',
  clicked: 'Success',
  dismissed: 'Success',
  bounced: 'Failed',
  blocked: 'Failed',
  dropped: 'Failed',
  delayed: 'Pending',
  deferred: 'Pending',
  rejected: 'Failed',
  spam: 'Failed',
  complaint: 'Failed',
  unsubscribed: 'Failed',
}
