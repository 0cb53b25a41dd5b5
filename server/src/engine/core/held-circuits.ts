// The circuits of an environment whose clock is held: in the database, so that whoever makes the next call sees them as the last
// call left them. One process at a time calls there.
import { statement, type Transaction } from '../../db/core/transaction.ts'
import type { CircuitKey, Circuits, Pass, Refusal } from '../../steps/contract/call-tools.ts'
import { CircuitBreaker } from '../../steps/delivery/circuit-breaker.ts'

/** More hosts than an environment for tests has. */
const mostCircuits = 1_000

const readCircuits = statement(
  'read_held_circuits',
  `SELECT integration_id, host, failures, openings, open_until FROM held_circuits WHERE environment_id = $1
   ORDER BY integration_id, host LIMIT $2`,
)
/** A circuit without failures has no row. */
const writeCircuits = statement(
  'write_held_circuits',
  `WITH given AS MATERIALIZED (
     SELECT * FROM json_to_recordset($2::json)
       AS r (integration_id text, host text, failures integer, openings integer, open_until timestamptz)
   ), gone AS (
     DELETE FROM held_circuits c USING given r WHERE c.environment_id = $1 AND c.integration_id = r.integration_id
       AND c.host = r.host AND r.failures = 0 AND r.open_until IS NULL
   )
   INSERT INTO held_circuits (environment_id, integration_id, host, failures, openings, open_until)
   SELECT $1, integration_id, host, failures, openings, open_until FROM given WHERE failures > 0 OR open_until IS NOT NULL
   ON CONFLICT (environment_id, integration_id, host)
   DO UPDATE SET failures = excluded.failures, openings = excluded.openings, open_until = excluded.open_until`,
)

interface Row {
  integration_id: string
  host: string
  failures: number
  openings: number
  open_until: Date | null
}

export class HeldCircuits implements Circuits {
  readonly #environmentId: string
  readonly #breaker: CircuitBreaker
  readonly #stored: Set<string>
  readonly #touched = new Map<string, CircuitKey>()

  private constructor(environmentId: string, now: Date, rows: Row[]) {
    const clock = { now: () => now }
    this.#environmentId = environmentId
    this.#breaker = new CircuitBreaker({ clock, random: () => 0, elapsed: () => now.getTime(), patienceMs: 0 })
    this.#stored = new Set(rows.map(({ integration_id, host }) => `${integration_id} ${host}`))
    for (const { integration_id: integrationId, host, failures, openings, open_until: openUntil } of rows)
      this.#breaker.restore({ environmentId, integrationId, host }, { failures, openings, openUntil })
  }

  static async read(by: Pick<Transaction, 'run'>, environmentId: string, now: Date): Promise<HeldCircuits> {
    return new HeldCircuits(environmentId, now, await by.run<Row>(readCircuits, [environmentId, mostCircuits]))
  }

  async enter(key: CircuitKey): Promise<Pass | Refusal> {
    const entered = await this.#breaker.enter(key)
    if (entered.admitted) this.#touched.set(`${key.integrationId} ${key.host}`, key)
    return entered
  }

  admits(key: CircuitKey): boolean {
    return this.#breaker.admits(key)
  }

  /** After the call. */
  async write(by: Pick<Transaction, 'run'>): Promise<void> {
    const rows = [...this.#touched].flatMap(([name, key]) => {
      const { failures, openings, openUntil } = this.#breaker.stateOf(key)
      if (failures === 0 && openUntil === null && !this.#stored.has(name)) return []
      return [{ integration_id: key.integrationId, host: key.host, failures, openings, open_until: openUntil }]
    })
    if (rows.length > 0) await by.run(writeCircuits, [this.#environmentId, JSON.stringify(rows)])
  }
}
