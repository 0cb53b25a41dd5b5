// Evidence about integrations: when each last took a message, and since when it refuses them. Nothing waits for the writes, and
// they are few: one at each change, then one a minute at most.
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Db } from '../../db/core/database.ts'
import type { IntegrationKey, Witness } from '../../steps/contract/call-tools.ts'

const writeEveryMs = 60_000
/** An integration that fails and works in turn is written as failing once in this time at most. */
const turnEveryMs = 1_000
/** Integrations remembered; of a forgotten one, the next call is written again. */
const mostKnown = 10_000

interface Known {
  isRefused: boolean
  /** Refusals that are not written yet. */
  refusals: number
  writtenAt: number
}

export class HealthRecords implements Witness {
  readonly #surroundings: { db: Db; clock: { now(): Date }; log: Logger }
  readonly #known = new Map<string, Known>()
  #last: Promise<void> = Promise.resolve()

  constructor(surroundings: { db: Db; clock: { now(): Date }; log: Logger }) {
    this.#surroundings = surroundings
  }

  sent(key: IntegrationKey): void {
    const known = this.#of(key)
    const now = this.#surroundings.clock.now()
    if (!known.isRefused && now.getTime() - known.writtenAt < writeEveryMs) return
    Object.assign(known, { isRefused: false, refusals: 0, writtenAt: now.getTime() })
    this.#write(key, sentAt(now))
  }

  refused(key: IntegrationKey, error: { code: string; message: string }): void {
    const known = this.#of(key)
    const now = this.#surroundings.clock.now()
    known.refusals += 1
    if (now.getTime() - known.writtenAt < (known.isRefused ? writeEveryMs : turnEveryMs)) return
    const { refusals } = known
    Object.assign(known, { isRefused: true, refusals: 0, writtenAt: now.getTime() })
    this.#write(key, refusedAt(now, error, refusals))
  }

  #of({ environmentId, integrationId }: IntegrationKey): Known {
    const name = `${environmentId} ${integrationId}`
    const known = this.#known.get(name)
    if (known) return known
    const made = { isRefused: false, refusals: 0, writtenAt: Number.NEGATIVE_INFINITY }
    this.#known.set(name, made)
    if (this.#known.size > mostKnown)
      for (const [oldest] of this.#known) {
        this.#known.delete(oldest)
        break
      }
    return made
  }

  #write(key: IntegrationKey, evidence: Evidence): void {
    const { db, log } = this.#surroundings
    this.#last = this.#last
      .then(() => writeEvidence(db, key, evidence))
      .catch((error: unknown) => log.warn({ err: error }, 'could not record the health of an integration'))
  }
}

interface Evidence {
  last_sent_at?: Date
  refused_since: Date | null
  refusals: number
  error: string | null
  error_code: string | null
}

export const sentAt = (at: Date): Evidence => ({
  ...{ last_sent_at: at, refused_since: null, refusals: 0, error: null, error_code: null },
})

export const refusedAt = (at: Date, { code, message }: { code: string; message: string }, refusals = 1): Evidence => ({
  ...{ refused_since: at, refusals, error: message, error_code: code },
})

export async function writeEvidence(
  db: Db,
  { environmentId, integrationId }: IntegrationKey,
  evidence: Evidence,
): Promise<void> {
  const { refused_since, refusals } = evidence
  await db
    .insertInto('integration_health')
    .values({ environment_id: environmentId, integration_id: integrationId, ...evidence })
    .onConflict((conflict) =>
      conflict.columns(['environment_id', 'integration_id']).doUpdateSet(
        refused_since === null
          ? evidence
          : {
              error: evidence.error,
              error_code: evidence.error_code,
              // Another process may have seen the first refusal.
              refused_since: sql<Date>`coalesce(integration_health.refused_since, ${refused_since})`,
              refusals: sql<number>`integration_health.refusals + ${refusals}`,
            },
      ),
    )
    .execute()
}
