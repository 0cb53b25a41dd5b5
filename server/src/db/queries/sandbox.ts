// Stores the sandbox: messages that were not sent to a provider, and simulated failures.
import { sql } from 'kysely'
import type { Db } from '../core/database.ts'

export const sandboxFaults = [
  'rate_limited',
  'timeout',
  'reset',
  'server_error',
  'bounce',
  'rejected',
  'unauthorized',
] as const
export type SandboxFault = (typeof sandboxFaults)[number]

export interface NewSandboxMessage {
  environmentId: string
  id: string
  channel: string
  transactionId: string
  subscriberId: string
  workflow: string
  stepId: string
  recipients: string[]
  subject: string | null
  html: string | null
  text: string | null
  message: Record<string, unknown>
  attachments: Array<{ name: string; mime: string; cid?: string | undefined; disposition?: string | undefined }>
  files: Buffer[]
}

/** A repeated message is ignored. */
export async function addToSandbox(db: Db, message: NewSandboxMessage, now: Date): Promise<void> {
  await db
    .insertInto('sandbox_messages')
    .values({
      environment_id: message.environmentId,
      id: message.id,
      channel: message.channel,
      transaction_id: message.transactionId,
      subscriber_id: message.subscriberId,
      workflow: message.workflow,
      step_id: message.stepId,
      recipients: message.recipients,
      subject: message.subject,
      html: message.html,
      text: message.text,
      message: JSON.stringify(message.message),
      attachments: JSON.stringify(message.attachments),
      files: message.files,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Takes the next simulated failure of the channel and counts it down; the channel's own before the one for all. */
export async function takeFault(
  db: Db,
  environmentId: string,
  channel: string,
): Promise<{ fault: SandboxFault; retry_after_seconds: number | null } | undefined> {
  const { rows } = await sql<{ fault: SandboxFault; retry_after_seconds: number | null }>`
    UPDATE sandbox_faults SET remaining = remaining - 1
    WHERE environment_id = ${environmentId} AND channel = (
        SELECT channel FROM sandbox_faults
        WHERE environment_id = ${environmentId} AND channel IN (${channel}, '') AND (remaining IS NULL OR remaining > 0)
        ORDER BY channel DESC LIMIT 1 FOR UPDATE)
      AND (remaining IS NULL OR remaining > 0)
    RETURNING fault, retry_after_seconds`.execute(db)
  return rows[0]
}
