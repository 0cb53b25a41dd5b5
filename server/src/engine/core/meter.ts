// What the engine counts for whoever operates it. Each is told once for many, where many are done together.
import type { CallMeter } from '../../steps/contract/call-tools.ts'

export interface Meter extends CallMeter {
  /** Triggers that were committed. */
  accepted(count: number): void
  /** Runs that were made of them. */
  started(count: number): void
  /** Runs that have come to an end. */
  ended(status: 'completed' | 'error', count: number): void
  /** What an endpoint of webhooks was told. */
  told(outcome: 'delivered' | 'failed', count: number): void
}
