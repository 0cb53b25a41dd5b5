// The reply address of an email whose workflow wants replies: an address of ours that names the transaction.
import { type Detail, type DetailKey, detail } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'

/** The limit for the part before the @ (RFC 5321, 4.5.3.1.1): mail programs refuse longer ones. */
const longestLocalPart = 64
/** Characters that need no quotes there. */
const isPlain = (text: string) => /^[\w+~=-]+(\.[\w+~=-]+)*$/.test(text)

/** If something is missing, the mail is still sent, and the log says what. */
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
  const named = localPart(run.transactionId, run.environment.id)
  const isUsable = isPlain(run.transactionId) && named.length <= longestLocalPart
  // Callers choose transaction ids freely; the run's own id always fits.
  const local = isUsable ? named : localPart(run.id, run.environment.id)
  return { replyTo: `${local}@${inboundParseDomain ?? ''}`, details: [] }
}

const localPart = (reference: string, environmentId: string) => `parse+${reference}-nv-e=${environmentId}`

export interface ReplyAddress {
  /** The id of a transaction, or of a run. */
  reference: string
  environmentId: string
  /** In lower case. */
  domain: string
}

/** Undefined unless `replyAddress` could have made it. */
export function readReplyAddress(address: string): ReplyAddress | undefined {
  const [, reference, environmentId, domain] = /^parse\+(.+)-nv-e=([0-9a-f]{24})@([^@]+)$/i.exec(address) ?? []
  if (reference === undefined || environmentId === undefined || domain === undefined) return undefined
  if (address.lastIndexOf('@') > longestLocalPart || !isPlain(reference)) return undefined
  return { reference, environmentId: environmentId.toLowerCase(), domain: domain.toLowerCase() }
}
