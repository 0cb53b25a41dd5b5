// Replies to emails: finds the run that an address belongs to, keeps the mail until the application has it, and calls the reply
// callback. An accepted mail is never lost, and one that arrives twice is delivered once.
import { createHmac, hkdfSync } from 'node:crypto'
import { newId } from '../../db/core/ids.ts'
import { timedSignature } from '../../db/core/secrets.ts'
import { storableJson } from '../../db/core/storable.ts'
import type { StoredDetail } from '../../db/core/tables.ts'
import { autoCommit, inTransaction, statement, type Transaction } from '../../db/core/transaction.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import { RenderError } from '../../render/limits.ts'
import { renderTemplate, situation } from '../../render/liquid.ts'
import { type DetailKey, detail } from '../../steps/contract/outcome.ts'
import { subscriberVariablesOf } from '../../steps/contract/step-run.ts'
import { allSteps } from '../../steps/contract/tree.ts'
import { type ReplyAddress, readReplyAddress } from '../../steps/kinds/reply-callback.ts'
import { storedLine } from '../runs/run-state.ts'
import type { EngineParts } from '../runs/start-runs.ts'
import { queueComing, queueWakeUps } from '../runs/store.ts'
import { shapeOf } from './webhook-envelope.ts'

type Members = Record<string, unknown>

const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

const timeoutMs = 15 * seconds
/** After the first attempt, and after each that failed: two days in all, time to repair an application. */
const retryAfterMs = [
  ...[5 * seconds, minutes, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours],
  ...[10 * hours, 10 * hours, 10 * hours, 10 * hours],
]
/** A request ends long before. An attempt not recorded by then was lost with its process. */
const leaseMs = 4 * timeoutMs
/** In parallel in one process, over all environments and for one of them. Mails can be large. */
const mostAtOnce = 8
const mostPerEnvironment = 2
/** Replies add no more lines to a step's log than this. */
const mostLines = 500
/** Of a transaction with more recipients, only these are matched by their address. */
const mostCompared = 10_000

/** A mail as received. */
export interface ReceivedMail {
  /** Recognizes a mail that arrives twice. */
  fingerprint: string
  /** What the application gets of it. */
  content: Members
  /** The From addresses. */
  senders: string[]
  /** The ids of mails that it replies to. */
  answers: string[]
}

/** `taken` also for a mail that arrived before. */
export type ReplyOutcome = 'taken' | 'unknown' | 'ambiguous'

/** The first email of the transaction or run, and the workflow as it is now: all runs of a transaction share one workflow. */
const findReplied = statement(
  'find_replied',
  `SELECT m.transaction_id, named.notification_id, coalesce((
     SELECT json_agg(json_build_object('_id', step -> '_id', 'replyCallback', step -> 'replyCallback'))
     FROM all_steps(w.steps) WHERE step ? 'replyCallback'), '[]') AS steps
   FROM environments e CROSS JOIN LATERAL (
     SELECT $2::text AS transaction_id, NULL::text AS notification_id
     UNION ALL
     SELECT n.transaction_id, n.id FROM notifications n WHERE n.environment_id = e.id AND n.id = $2) named
   CROSS JOIN LATERAL (
     SELECT m.transaction_id, m.notification_id, m.job_id, m.workflow_id FROM messages m
     WHERE m.environment_id = e.id AND m.transaction_id = named.transaction_id AND m.channel = 'email'
       AND (named.notification_id IS NULL OR m.notification_id = named.notification_id)
     ORDER BY m.notification_id LIMIT 1) m
   JOIN jobs j ON j.environment_id = e.id AND j.notification_id = m.notification_id AND j.id = m.job_id
   JOIN workflows w ON w.environment_id = e.id AND w.id = m.workflow_id
   WHERE e.id = $1 AND lower(e.dns ->> 'inboundParseDomain') = $3
   ORDER BY named.notification_id NULLS FIRST LIMIT 1`,
)

/**
 * The message that is replied to: the one the mail names, else the one sent to its sender, else the first. In three parts,
 * because the indexes are by id and by transaction.
 */
const findAnswered = statement(
  'find_answered',
  `WITH sent AS (
     SELECT m.id, m.notification_id, m.job_id, lower(m.email) = ANY ($7::text[]) AS is_sender FROM messages m
     WHERE m.environment_id = $1 AND m.transaction_id = $2 AND ($3::text IS NULL OR m.notification_id = $3)
       AND m.channel = 'email' AND m.step_row_id = ANY ($4::text[])
     ORDER BY m.notification_id, m.id LIMIT ${mostCompared}
   ), candidates AS (
     SELECT m.id, m.notification_id, m.job_id, 2 AS certainty FROM messages m
     WHERE m.environment_id = $1 AND m.id = ANY ($5::text[]) AND m.transaction_id = $2
       AND ($3::text IS NULL OR m.notification_id = $3) AND m.channel = 'email' AND m.step_row_id = ANY ($4::text[])
     UNION ALL
     SELECT m.id, m.notification_id, m.job_id, 2 FROM messages m
     WHERE m.environment_id = $1 AND m.identifier = ANY ($6::text[]) AND m.transaction_id = $2
       AND ($3::text IS NULL OR m.notification_id = $3) AND m.channel = 'email' AND m.step_row_id = ANY ($4::text[])
     UNION ALL
     SELECT id, notification_id, job_id, CASE WHEN is_sender THEN 1 ELSE 0 END FROM sent
   )
   SELECT c.id, c.notification_id, j.position, c.certainty > 0 OR (SELECT count(DISTINCT notification_id) FROM sent) = 1 AS is_certain
   FROM candidates c JOIN jobs j ON j.environment_id = $1 AND j.notification_id = c.notification_id AND j.id = c.job_id
   ORDER BY c.certainty DESC, c.notification_id, c.id LIMIT 1`,
)

/** As everyone does who writes into the log of a run's steps. */
const lockRuns = statement(
  'lock_replied_runs',
  `SELECT n.id FROM notifications n JOIN unnest($1::text[], $2::text[]) AS r (environment_id, id) USING (environment_id, id)
   ORDER BY n.environment_id, n.id FOR NO KEY UPDATE OF n`,
)

const saveReply = statement(
  'save_reply',
  `WITH added AS (
     INSERT INTO inbound_mails (environment_id, id, notification_id, message_id, fingerprint, mail, attempts, due_at, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $7, $7) ON CONFLICT DO NOTHING RETURNING id
   ), logged AS (
     UPDATE jobs j SET details = j.details || $9::jsonb
     WHERE j.environment_id = $1 AND j.notification_id = $3 AND j.position = $8
       AND jsonb_array_length(j.details) < ${mostLines} AND EXISTS (SELECT FROM added)
   )
   SELECT graphile_worker.add_job('tell_replies', '{}', max_attempts := 1000) FROM added`,
)

/**
 * Takes some replies of each environment, longest waiting first: an application that hangs does not hold up others for long.
 */
const takeReplies = statement(
  'take_replies',
  `WITH turns AS (
     SELECT environment_id, id, due_at, row_number() OVER (PARTITION BY environment_id ORDER BY due_at, id) AS turn
     FROM inbound_mails WHERE due_at <= $1
   ), due AS (
     SELECT i.environment_id, i.id FROM turns t JOIN inbound_mails i USING (environment_id, id)
     WHERE t.turn <= ${mostPerEnvironment} AND i.due_at <= $1
     ORDER BY i.due_at LIMIT ${mostAtOnce} FOR UPDATE OF i SKIP LOCKED
   )
   UPDATE inbound_mails i SET attempts = i.attempts + 1, due_at = $2, updated_at = $1
   FROM due WHERE i.environment_id = due.environment_id AND i.id = due.id
   RETURNING i.environment_id, i.id`,
)

/** Reads what they reply to, in a statement of its own: looking for due replies happens often and nearly always finds none. */
const readReplies = statement(
  'read_replies',
  `SELECT i.environment_id, i.id, i.notification_id, i.message_id, i.attempts, i.mail,
          row_to_json(m) AS message, row_to_json(n) AS notification, row_to_json(w) AS workflow,
          row_to_json(s) AS subscriber, e.payload, j.position
   FROM unnest($1::text[], $2::text[]) AS taken (environment_id, id)
   JOIN inbound_mails i ON i.environment_id = taken.environment_id AND i.id = taken.id
   LEFT JOIN messages m ON m.environment_id = i.environment_id AND m.id = i.message_id
   LEFT JOIN notifications n ON n.environment_id = i.environment_id AND n.id = i.notification_id
   LEFT JOIN jobs j ON j.environment_id = i.environment_id AND j.notification_id = i.notification_id AND j.id = m.job_id
   LEFT JOIN events e ON e.environment_id = i.environment_id AND e.id = n.event_id
   LEFT JOIN workflows w ON w.environment_id = i.environment_id AND w.id = n.workflow_id
   LEFT JOIN subscribers s ON s.environment_id = i.environment_id AND s.id = n.subscriber_row_id`,
)

/** A reply that another worker has leased since, because it seemed lost, is left alone. */
const saveTold = statement(
  'save_told_replies',
  `WITH r AS (
     SELECT * FROM json_to_recordset($1::json) AS r (environment_id text, id text, attempts smallint, due_at timestamptz,
       notification_id text, position smallint, line jsonb)
   ), saved AS (
     UPDATE inbound_mails i SET due_at = r.due_at, updated_at = $2, mail = CASE WHEN r.due_at IS NULL THEN NULL ELSE i.mail END
     FROM r WHERE i.environment_id = r.environment_id AND i.id = r.id AND i.attempts = r.attempts AND i.due_at IS NOT NULL
     RETURNING r.environment_id, r.notification_id, r.position, r.line, r.id
   ), lines AS (
     SELECT environment_id, notification_id, position, jsonb_agg(line ORDER BY id) AS lines
     FROM saved GROUP BY environment_id, notification_id, position
   )
   UPDATE jobs j SET details = j.details || l.lines FROM lines l
   WHERE j.environment_id = l.environment_id AND j.notification_id = l.notification_id AND j.position = l.position
     AND jsonb_array_length(j.details) < ${mostLines}`,
)

const findSoon = statement(
  'find_replies_soon',
  `SELECT DISTINCT due_at FROM inbound_mails WHERE due_at <= $1 ORDER BY 1 LIMIT 5000`,
)

interface Surroundings extends EngineParts {
  http: HttpClient
  signatureHeader: string
  toWire(identifier: string): string
}

interface Replied {
  transaction_id: string
  notification_id: string | null
  steps: Array<Pick<WorkflowStep, '_id' | 'replyCallback'>>
}

interface Answered {
  id: string
  notification_id: string
  position: number
  is_certain: boolean
}

interface Taken {
  environment_id: string
  id: string
  notification_id: string
  message_id: string
  attempts: number
  mail: Members | null
  /** Null if deleted since. */
  message: Members | null
  notification: Members | null
  workflow: (Members & { identifier: string; steps: WorkflowStep[] }) | null
  subscriber: SubscriberRow | null
  payload: Members | null
  position: number | null
}

interface Verdict {
  isTold: boolean
  /** A retry would change nothing. */
  isFinal?: boolean
  raw: Members
}

export class Replies {
  readonly #surroundings: Surroundings
  #isTelling = false
  #isAskedAgain = false

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** Whether a workflow expects replies at this address. */
  async isKnown(address: string): Promise<boolean> {
    return (await this.#find(autoCommit(this.#surroundings.pool), readReplyAddress(address))) !== undefined
  }

  /** Accepts mail sent to this address. Resolves once it is committed. */
  async take(address: string, mail: ReceivedMail): Promise<ReplyOutcome> {
    const { pool, clock } = this.#surroundings
    const to = readReplyAddress(address)
    return inTransaction(pool, async (transaction) => {
      const replied = await this.#find(transaction, to)
      if (!to || !replied) return 'unknown'
      const { environmentId } = to
      const [answered] = await transaction.run<Answered>(findAnswered, [
        environmentId,
        replied.transaction_id,
        replied.notification_id,
        replied.stepIds,
        mail.answers.map((id) => id.replace(/@.*/s, '')),
        mail.answers.flatMap((id) => [id, `<${id}>`, id.replace(/@.*/s, '')]),
        mail.senders.map((sender) => sender.toLowerCase()),
      ])
      if (!answered) return 'unknown'
      if (!answered.is_certain) return 'ambiguous'
      const now = clock.now()
      const { attachments } = mail.content
      const raw = {
        messageId: mail.content.messageId,
        attachments: Array.isArray(attachments) ? attachments.length : 0,
      }
      const line = storedLine(detail('reply_received', raw, { source: 'Webhook', messageId: answered.id }), now)
      await transaction.run(lockRuns, [[environmentId], [answered.notification_id]])
      await transaction.run(saveReply, [
        ...[environmentId, newId(now), answered.notification_id, answered.id, mail.fingerprint],
        ...[storableJson(mail.content), now, answered.position, storableJson([line])],
      ])
      return 'taken'
    })
  }

  async #find(by: Pick<Transaction, 'run'>, to: ReplyAddress | undefined) {
    if (!to) return undefined
    const [replied] = await by.run<Replied>(findReplied, [to.environmentId, to.reference, to.domain])
    const stepIds = replied?.steps.filter(isListening).map(({ _id }) => _id) ?? []
    return replied && stepIds.length > 0 ? { ...replied, stepIds } : undefined
  }

  /**
   * Calls the callbacks of all due replies. A call during that returns at once and makes the loop look again.
   * @returns how many requests were made
   */
  async tellDue(stopping?: AbortSignal): Promise<number> {
    this.#isAskedAgain = true
    if (this.#isTelling) return 0
    this.#isTelling = true
    let total = 0
    try {
      while (this.#isAskedAgain && !stopping?.aborted) {
        this.#isAskedAgain = false
        const told = await this.#tellSome()
        total += told
        if (told > 0) this.#isAskedAgain = true
      }
      return total
    } finally {
      this.#isTelling = false
    }
  }

  async #tellSome(): Promise<number> {
    const { pool, clock } = this.#surroundings
    const now = clock.now()
    const lease = new Date(now.getTime() + leaseMs)
    const taken = await inTransaction(pool, async (transaction) => {
      const due = await transaction.run<Pick<Taken, 'environment_id' | 'id'>>(takeReplies, [now, lease])
      if (due.length === 0) return []
      const keys = [due.map(({ environment_id }) => environment_id), due.map(({ id }) => id)]
      return transaction.run<Taken>(readReplies, keys)
    })
    if (taken.length === 0) return 0
    const verdicts = await Promise.all(taken.map((reply) => this.#tell(reply)))
    await this.#record(taken.map((reply, index) => ({ reply, verdict: verdicts[index] as Verdict })))
    return taken.length
  }

  async #tell(reply: Taken): Promise<Verdict> {
    const { memory, clock, log, signatureHeader, toWire } = this.#surroundings
    const { message, notification, workflow, payload, mail } = reply
    const refused = (error: string): Verdict => ({ isTold: false, isFinal: true, raw: { error } })
    const environment = await memory.recall(reply.environment_id)
    if (!environment || !message || !notification || !workflow || !mail)
      return refused('The message it replies to has been deleted')
    const step = allSteps(workflow.steps).find(({ _id }) => _id === message.step_row_id)
    if (!step || !isListening(step)) return refused('The step no longer has a reply callback')
    const { signing, organizationId, type } = environment.facts
    const http = type === 'dev' ? this.#surroundings.http.development : this.#surroundings.http
    const now = clock.now()
    const keys = signing.keysFor('replies', now)
    const shown = { organizationId, toWire }
    const body = JSON.stringify({
      hmac: proofOf(keys[0] ?? '', String(notification.subscriber_id)),
      transactionId: notification.transaction_id,
      payload: payload ?? {},
      templateIdentifier: workflow.identifier,
      template: shapeOf('workflow', workflow, shown),
      notification: showRun(notification, organizationId),
      message: { ...shapeOf('message', message, shown), subject: message.subject, email: message.email },
      mail,
    })
    try {
      const url = renderTemplate(step.replyCallback?.url ?? '', situation(this.#variables(reply), now)).trim()
      const { status } = await http.exchange(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [signatureHeader]: timedSignature(keys, body, now) },
        body,
        timeoutMs,
      })
      const isTold = status >= 200 && status < 300
      return {
        isTold,
        raw: { status, ...(isTold ? {} : { error: `The callback answered with HTTP status ${status}` }) },
      }
    } catch (error) {
      const isExpected = error instanceof DeliveryError || error instanceof RenderError
      // Not thrown: the results of the other callbacks still have to be recorded.
      if (!isExpected) log.error({ err: error, id: reply.id }, 'a reply callback failed unexpectedly')
      return {
        isTold: false,
        raw: { error: isExpected ? error.message : 'The call failed unexpectedly; see the log of the service' },
      }
    }
  }

  /** Variables for the callback's URL. URLs from older versions name members of the payload directly. */
  #variables({ payload, subscriber, workflow }: Taken): Members {
    return {
      ...payload,
      payload: payload ?? {},
      subscriber: subscriber ? subscriberVariablesOf(dated(subscriber)) : {},
      workflow: { workflowId: workflow?.identifier, name: workflow?.name },
    }
  }

  async #record(results: Array<{ reply: Taken; verdict: Verdict }>): Promise<void> {
    const { pool, clock, log } = this.#surroundings
    const now = clock.now()
    const rows = results.map(({ reply, verdict }) => {
      const { environment_id, id, attempts, notification_id, position } = reply
      const afterMs = verdict.isTold || verdict.isFinal ? undefined : retryAfterMs[attempts - 1]
      const due_at = afterMs === undefined ? null : new Date(now.getTime() + afterMs)
      const key: DetailKey = verdict.isTold ? 'reply_told' : due_at ? 'reply_retried' : 'reply_given_up'
      if (key === 'reply_given_up') log.warn({ environmentId: environment_id, id }, 'gave up on a reply callback')
      const line = storedLine(detail(key, verdict.raw, lineOf(reply)), now)
      return { environment_id, id, attempts, due_at, notification_id, position, line }
    })
    await inTransaction(pool, async (transaction) => {
      const runs = [rows.map(({ environment_id }) => environment_id), rows.map((row) => row.notification_id)]
      await transaction.run(lockRuns, runs)
      await transaction.run(saveTold, [storableJson(rows), now])
      await queueWakeUps(
        transaction,
        rows.flatMap(({ due_at }) => due_at ?? []),
        now,
      )
    })
  }

  /** Every minute: queues wake-ups for what comes due, or was lost. */
  async queueSoon(): Promise<void> {
    const { pool, clock } = this.#surroundings
    await queueComing({ pool, clock }, findSoon)
  }
}

const isListening = ({ replyCallback }: Pick<WorkflowStep, 'replyCallback'>): boolean =>
  replyCallback?.active === true && Boolean(replyCallback.url)

const lineOf = ({ message_id, attempts }: Taken): Partial<StoredDetail> => ({
  source: 'Webhook',
  messageId: message_id,
  ...(attempts > 1 ? { isRetry: true } : {}),
})

const showRun = (row: Members, organizationId: string): Members => ({
  _id: row.id,
  _environmentId: row.environment_id,
  _organizationId: organizationId,
  _templateId: row.workflow_id,
  _subscriberId: row.subscriber_row_id,
  subscriberId: row.subscriber_id,
  transactionId: row.transaction_id,
  channels: row.channels,
  tags: row.tags,
  severity: row.severity,
  contextKeys: row.context_keys,
  createdAt: new Date(String(row.created_at)).toISOString(),
  updatedAt: new Date(String(row.updated_at)).toISOString(),
})

/** Rows read as JSON have their dates as text. */
const dated = (row: SubscriberRow): SubscriberRow => ({
  ...row,
  last_online_at: row.last_online_at === null ? null : new Date(row.last_online_at),
})

/**
 * Proves to the application that the call comes from us. With a key derived from the signing key: where that is the API key, its
 * own HMAC would be the `subscriberHash` that opens the subscriber's inbox, in the hands of whoever receives replies.
 */
function proofOf(signingKey: string, subscriberId: string): string {
  const key = Buffer.from(hkdfSync('sha256', signingKey, '', 'reply callback', 32))
  return createHmac('sha256', key).update(subscriberId).digest('hex')
}
