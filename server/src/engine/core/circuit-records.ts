// Records open circuits in the database, so that every process sees which integrations are paused.
import type { Logger } from 'pino'
import type { Db } from '../../db/core/database.ts'
import type { CircuitChange } from '../../steps/delivery/circuit-breaker.ts'

/**
 * Nothing waits for the write: readers can bear to be a moment behind. Writes keep the order of the changes.
 */
export function recordCircuits({
  db,
  clock,
  log,
}: {
  db: Db
  clock: { now(): Date }
  log: Logger
}): (change: CircuitChange) => void {
  let last: Promise<void> = Promise.resolve()
  return (change) => {
    const now = clock.now()
    if (change.state === 'open')
      log.warn(
        { integrationId: change.integrationId, error: change.error, retryAt: change.retryAt },
        'an integration keeps failing; its circuit is open for a while',
      )
    last = last
      .then(() => record(db, change, now))
      .catch((error: unknown) => log.warn({ err: error }, 'could not record the state of a circuit'))
  }
}

async function record(db: Db, change: CircuitChange, now: Date): Promise<void> {
  const { environmentId: environment_id, integrationId: integration_id, host, failures, error, retryAt } = change
  if (retryAt === undefined) {
    await db
      .deleteFrom('circuits')
      .where('environment_id', '=', environment_id)
      .where('integration_id', '=', integration_id)
      .where('host', '=', host)
      .execute()
    return
  }
  const state = { failures, error: error ?? null, retry_at: retryAt, updated_at: now }
  await db
    .insertInto('circuits')
    .values({ environment_id, integration_id, host, ...state })
    .onConflict((conflict) => conflict.columns(['environment_id', 'integration_id', 'host']).doUpdateSet(state))
    .execute()
}

/** The state of a circuit that is recorded; one that is not is closed. */
export const circuitState = ({ retry_at }: { retry_at: Date }, now: Date): 'open' | 'half_open' =>
  retry_at > now ? 'open' : 'half_open'
