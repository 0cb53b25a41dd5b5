// Changes of subscribers that steps of their runs make, in the transaction that ends those steps.
import { columnsSaid, mergedFields } from '../../db/core/subscriber-fields.ts'
import { rowsGiven, statement, type Transaction } from '../../db/core/transaction.ts'
import { type SubscriberInput, type SubscriberRow, upsertSubscribers } from '../../db/queries/subscribers.ts'
import type { UpdateSubscriber } from '../../steps/contract/need.ts'
import type { Memory } from '../core/memory.ts'
import type { RunState } from './run-state.ts'

/** In the order in which subscribers are written in bulk. */
const lockSubscribers = statement(
  'lock_subscribers_to_update',
  `SELECT s.* FROM subscribers s
   WHERE (s.environment_id, s.id) IN (SELECT * FROM ${rowsGiven('text', 'text')})
   ORDER BY s.environment_id, s.subscriber_id FOR NO KEY UPDATE`,
)

/** The run sees its subscriber as changed. @returns what has changed for each */
export async function updateSubscribers(
  transaction: Transaction,
  asked: Array<{ need: UpdateSubscriber; run: RunState }>,
  memory: Memory,
  now: Date,
): Promise<Map<UpdateSubscriber, string[]>> {
  const rows = await transaction.run<SubscriberRow>(lockSubscribers, [
    asked.map(({ need }) => need.environmentId),
    asked.map(({ need }) => need.subscriberRowId),
  ])
  const known = new Map(rows.map((row) => [row.id, row]))
  const inputs = new Map<string, Map<string, SubscriberInput>>()
  const answers = new Map<UpdateSubscriber, string[]>()
  for (const { need, run } of asked) {
    const row = known.get(need.subscriberRowId)
    const { fields, changed } = row ? mergedFields(row, need.set) : { fields: {}, changed: [] }
    answers.set(need, changed)
    if (!row) continue
    const after = changed.length === 0 ? row : { ...row, ...columnsSaid(fields), updated_at: now }
    known.set(row.id, after)
    run.subscriber = after
    if (changed.length === 0) continue
    const own = inputs.get(need.environmentId) ?? new Map<string, SubscriberInput>()
    inputs.set(need.environmentId, own)
    own.set(row.id, { ...own.get(row.id), ...fields, subscriberId: row.subscriber_id })
  }
  for (const [environmentId, own] of inputs) {
    const environment = await memory.recall(environmentId)
    const isTold = (environment?.facts.webhooks.size ?? 0) > 0
    await upsertSubscribers(transaction.tx, environmentId, [...own.values()], now, { isTold })
  }
  // Texts of later steps are in the language of now.
  for (const { run } of asked) run.translator = await run.translatorFor(run.subscriber.locale)
  return answers
}
