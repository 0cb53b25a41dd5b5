// What the engine counts for its metrics. Batches are counted with one call.
import type { CallMeter } from '../../steps/contract/call-tools.ts'

export interface Meter extends CallMeter {
  /** Committed triggers. */
  accepted(count: number): void
  /** Runs made of them. */
  started(count: number): void
  /** Finished runs. */
  ended(status: 'completed' | 'error', count: number): void
  /** Calls of the SQL functions. */
  drained(kind: string, outcome: 'accepted' | 'refused', count: number): void
  /** Webhook calls. */
  told(outcome: 'delivered' | 'failed', count: number): void
}
