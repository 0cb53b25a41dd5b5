// What the deliveries of a step have come to: its stored messages, and its outcome.
import type { NewMessage } from '../contract/message.ts'
import type { DeadAddress, Detail, Reason, StepOutcome } from '../contract/outcome.ts'
import { isSuppressed, type Progress } from './progress.ts'

export interface Report {
  /** Of all destinations, including those of earlier attempts. */
  progress: Record<string, Progress>
  /** Those with news; the others are as an earlier attempt left them. */
  changed: ReadonlySet<string>
  /** Whether an earlier attempt stored a record, which has to be replaced. */
  isContinued: boolean
  details: Detail[]
  /** Addresses that a provider has called dead just now. */
  dead: DeadAddress[]
  /** When to retry, if anything is left. */
  retryAt: Date | undefined
}

/** The state of a stored message, from its destinations. */
export function deliveredMessage(
  { progress }: Report,
  keys: string[],
  errorId: string,
): Pick<NewMessage, 'status' | 'provider_id' | 'integration_id' | 'identifier' | 'error_id' | 'error_text'> {
  const all = keys.flatMap((key) => progress[key] ?? [])
  const sent = all.find(({ status }) => status === 'sent')
  const told =
    sent ?? all.find(({ status }) => status === 'waiting') ?? all.find((each) => !isSuppressed(each)) ?? all[0]
  const failed = sent ? undefined : told
  return {
    status: sent ? 'sent' : told?.status === 'failed' && !isSuppressed(told) ? 'error' : 'warning',
    provider_id: told?.providerId ?? null,
    integration_id: told?.integrationId ?? null,
    identifier: sent?.identifier ?? null,
    error_id: failed ? errorId : null,
    error_text: failed?.error ?? null,
  }
}

interface Said {
  details: Detail[]
  messages: NewMessage[]
  /** If some destinations could not be tried, because the subscriber lacks something. */
  skipped?: { reason: Reason; line: Detail } | undefined
  /** Added if all have failed. */
  failedLine?: Detail
}

/** The outcome of a step with these deliveries: retry, done, skipped or failed. */
export function deliveryOutcome(report: Report, { details, messages, skipped, failedLine }: Said): StepOutcome {
  const all = Object.values(report.progress)
  const last = all.find(({ status }) => status === 'sent') ?? all.at(-1)
  const common = {
    details: [...details, ...report.details],
    messages,
    ...(report.dead.length === 0 ? {} : { dead: report.dead }),
    ...(last?.providerId === undefined ? {} : { providerId: last.providerId }),
  }
  const delivery = { destinations: report.progress }
  if (report.retryAt) return { kind: 'retry', at: report.retryAt, delivery, ...common }
  const failed = all.find((each) => each.status === 'failed' && !isSuppressed(each))
  const reason = failed?.reason ?? 'no_integration'
  // If all went well at once, the messages say enough.
  const isTelling =
    report.isContinued ||
    all.some(({ calls, status }) => calls > 1 || status === 'failed') ||
    all.some(({ place }) => place)
  const kept = isTelling ? { delivery } : {}
  if (all.some(({ status }) => status === 'sent'))
    return { kind: 'done', ...common, ...kept, ...(failed ? { reason } : {}) }
  if (!failed && all.some(isSuppressed)) return { kind: 'skip', ...common, ...kept, reason: 'suppressed' }
  if (skipped)
    return { kind: 'skip', ...common, ...kept, details: [...common.details, skipped.line], reason: skipped.reason }
  return {
    kind: 'fail',
    ...common,
    ...kept,
    details: [...common.details, ...(failedLine ? [failedLine] : [])],
    reason,
    error: failed?.error ?? 'No active integration reaches the subscriber',
    stops: false,
  }
}
