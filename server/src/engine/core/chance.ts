// Chance that comes out the same each time: in a simulation, and where the clock is held.
import { createHash } from 'node:crypto'
import type { ChanceOf } from '../../steps/contract/call-tools.ts'

/** The random number of a wait: the first six bytes of a SHA-256, as a number from 0 to 1. */
export const chanceFrom =
  (seed: number) =>
  ({ run, stepId, destination, call }: ChanceOf): number => {
    const text = [seed, transactionOf(run), run.subscriber.subscriber_id, stepId, destination, call].join('/')
    return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48
  }

/** The id of a run is another each time: what a step has started is known by the trigger and the step that started it. */
function transactionOf({ transactionId, event }: ChanceOf['run']): string {
  const { startedBy } = event ?? {}
  return startedBy ? `${startedBy.transactionId.replace(/^[0-9a-f]{24}:/, '')}:${startedBy.stepId}` : transactionId
}
