// Text messages that people send: each is told once, and words such as STOP, START and HELP are obeyed and answered.
import { CompiledQuery, sql } from 'kysely'
import { comparedAddress, isAddress, lockOfHash } from '../../db/core/addresses.ts'
import { retryConflicts, type Tx } from '../../db/core/database.ts'
import { inTransaction } from '../../db/core/transaction.ts'
import { type ConsentSettings, readConsent } from '../../db/queries/consent.ts'
import { addSuppressions, ofAddress, removeSuppressions } from '../../db/queries/suppressions.ts'
import { tell } from '../../db/queries/webhook-events.ts'
import type { InboundText } from '../../providers/events.ts'
import { type Keyword, keywordOf } from '../consent/keywords.ts'
import { timeIn } from '../core/held-clocks.ts'
import type { EngineParts } from '../runs/start-runs.ts'

/** Through which integration they came. */
export interface TextReceiver {
  environmentId: string
  integrationId: string
}

/** To be sent through the same integration. */
export interface TextAnswer {
  /** The number that wrote, and the one it wrote to. */
  to: string
  from: string
  text: string
}

const minuteMs = 60_000
/** Within that time, the same word is not answered again. */
const answeredForMs: Record<Keyword, number> = { stop: 1_440 * minuteMs, start: 1_440 * minuteMs, help: minuteMs }

/** @returns what to answer; each is answered once */
export async function takeTexts(
  parts: Pick<EngineParts, 'pool' | 'clock' | 'memory'>,
  receiver: TextReceiver,
  texts: InboundText[],
): Promise<TextAnswer[]> {
  const answers: TextAnswer[] = []
  for (const text of texts) {
    const answer = await retryConflicts(() =>
      inTransaction(parts.pool, async (transaction) => {
        const { tx } = transaction
        const now = await timeIn(transaction, parts, receiver.environmentId)
        const consent = await readConsent(tx, receiver.environmentId)
        return takeText(tx, { receiver, consent, now }, text)
      }),
    )
    if (answer !== undefined) answers.push({ to: text.from, from: text.to, text: answer })
  }
  return answers
}

interface Taking {
  receiver: TextReceiver
  consent: ConsentSettings
  now: Date
}

async function takeText(tx: Tx, taking: Taking, { id, from, to, text, isAnswered }: InboundText) {
  const { receiver, consent, now } = taking
  const { environmentId, integrationId } = receiver
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('inbound_texts')
    .values({ environment_id: environmentId, integration_id: integrationId, external_id: id, received_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 0n) return undefined
  const keyword = keywordOf(text, consent.sms.extraStopWords)
  const object = { id, environment_id: environmentId, integration_id: integrationId, from, to, text, keyword }
  await tell(tx, environmentId, [{ type: 'sms.received', object: { ...object, received_at: now } }], now)
  const number = comparedAddress('sms', from)
  if (!consent.sms.keywords || keyword === null || !isAddress('sms', number)) return undefined
  await obey(tx, taking, keyword, number)
  if (isAnswered) return undefined
  return (await isFirst(tx, taking, keyword, number)) ? answerTo(keyword, consent) : undefined
}

async function obey(tx: Tx, { receiver, consent, now }: Taking, keyword: Keyword, number: string): Promise<void> {
  const { environmentId, integrationId } = receiver
  const about = ofAddress(number)
  if (keyword === 'stop')
    await addSuppressions(
      tx,
      environmentId,
      [{ channel: 'sms', ...about, reason: 'stop', scope: consent.sms.scope, source: 'sms', integrationId }],
      now,
    )
  if (keyword !== 'start') return
  const rows = await tx
    .selectFrom('suppressions')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('address_hash', '=', about.addressHash)
    .where('channel', '=', 'sms')
    .where('reason', 'in', ['stop', 'unsubscribe'])
    .execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) await removeSuppressions(tx, environmentId, ids, now)
}

/** Notes that the number is answered now. A change of mind is answered again. */
async function isFirst(tx: Tx, { receiver, now }: Taking, keyword: Keyword, number: string): Promise<boolean> {
  const { environmentId, integrationId } = receiver
  const { addressHash } = ofAddress(number)
  await tx.executeQuery(CompiledQuery.raw('SELECT hold_suppressed($1::bigint[])', [[lockOfHash(addressHash)]]))
  const opposite = keyword === 'stop' ? 'start' : keyword === 'start' ? 'stop' : undefined
  if (opposite)
    await tx
      .deleteFrom('text_answers')
      .where('environment_id', '=', environmentId)
      .where('integration_id', '=', integrationId)
      .where('address_hash', '=', addressHash)
      .where('keyword', '=', opposite)
      .execute()
  const { rows } = await sql`
    INSERT INTO text_answers AS a (environment_id, integration_id, address_hash, keyword, answered_at)
    VALUES (${environmentId}, ${integrationId}, ${addressHash}, ${keyword}, ${now})
    ON CONFLICT (environment_id, integration_id, address_hash, keyword) DO UPDATE SET answered_at = excluded.answered_at
      WHERE a.answered_at <= ${new Date(now.getTime() - answeredForMs[keyword])}
    RETURNING 1`.execute(tx)
  return rows.length > 0
}

function answerTo(keyword: Keyword, { sms, brand }: ConsentSettings): string {
  const name = brand.name === null ? '' : `${brand.name}: `
  switch (keyword) {
    case 'stop':
      return (
        sms.stopReply ?? `${name}You are unsubscribed and will get no more messages. Reply START to subscribe again.`
      )
    case 'start':
      return sms.startReply ?? `${name}You are subscribed again. Reply STOP to unsubscribe.`
    case 'help':
      return sms.helpReply ?? `${name}Reply STOP to unsubscribe, START to subscribe again.`
  }
}
