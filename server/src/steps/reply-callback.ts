// Where answers to an email go that the workflow wants to hear of: an address of ours that names the transaction.
import { type Detail, type DetailKey, detail } from './outcome.ts'
import type { StepRun } from './step-run.ts'

/** Without everything it takes the mail still goes, and the log says what is missing. */
export function replyAddress({ run, step }: StepRun): { replyTo: string | undefined; details: Detail[] } {
  const { replyCallback } = step
  if (!replyCallback?.active) return { replyTo: undefined, details: [] }
  const { mxRecordConfigured, inboundParseDomain } = run.environment.dns
  const missing: DetailKey[] = [
    ...(replyCallback.url ? [] : ['reply_missing_url' as const]),
    ...(mxRecordConfigured || inboundParseDomain ? [] : ['reply_missing_configuration' as const]),
    ...(mxRecordConfigured === false ? ['reply_missing_mx' as const] : []),
    ...(mxRecordConfigured && !inboundParseDomain ? ['reply_missing_domain' as const] : []),
  ]
  if (missing.length > 0) return { replyTo: undefined, details: missing.map((key) => detail(key)) }
  const replyTo = `parse+${run.transactionId}-nv-e=${run.environment.id}@${inboundParseDomain ?? ''}`
  return { replyTo, details: [] }
}
