// Calls of simulated steps: those that hang until a moment of simulated time, and what each attempt led to.
import { messageIdFor } from '../../steps/contract/message.ts'
import type { Progress as DestinationProgress } from '../../steps/delivery/progress.ts'
import type { CallResult } from '../runs/call.ts'
import type { JobState } from '../runs/run-state.ts'
import type { Attempt } from './record.ts'

/** Calls of a step that hang, until a moment of simulated time. */
export class Hang {
  until = 0
  #sleepers: Array<() => void> = []
  #tell: () => void = () => undefined

  sleep(until: number): Promise<void> {
    this.until = until
    return new Promise((resolve) => {
      this.#sleepers.push(resolve)
      this.#tell()
    })
  }

  begun(): Promise<'asleep'> {
    return new Promise((resolve) => {
      this.#tell = () => resolve('asleep')
      if (this.#sleepers.length > 0) resolve('asleep')
    })
  }

  end(): void {
    for (const wake of this.#sleepers.splice(0)) wake()
  }
}

/** What each attempt led to: the next integration at once, another attempt later, or the end. */
export function noteNext(job: JobState, attempts: Attempt[], result: CallResult): void {
  const { delivery } = 'outcome' in result && result.outcome && 'delivery' in result.outcome ? result.outcome : {}
  const destinations = Object.entries((delivery?.destinations ?? {}) as Record<string, DestinationProgress>)
  for (const [index, attempt] of attempts.entries()) {
    if (attempt.outcome === 'sent') continue
    const isLast = !attempts.slice(index + 1).some(({ messageId }) => messageId === attempt.messageId)
    const [, left] = destinations.find(([key]) => messageIdFor(job.id, key) === attempt.messageId) ?? []
    if (!isLast) attempt.next = 'fail_over'
    else if (left?.status === 'waiting' && left.dueAt !== undefined)
      Object.assign(attempt, { next: 'retry', nextAt: new Date(left.dueAt) })
    else attempt.next = 'give_up'
  }
}
