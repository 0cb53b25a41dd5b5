// Circuits of integrations that are not closed, as they are recorded.
import { sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'

/** `retry_at` is by the environment's clock: where that is held, circuits have a table of their own, without errors. */
export const circuitsOf = (db: Db | Tx, environmentId: string) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom('circuits')
        .select(['integration_id', 'host', 'failures', 'error', 'retry_at'])
        .where('environment_id', '=', environmentId)
        .unionAll(
          from
            .selectFrom('held_circuits')
            .select(['integration_id', 'host', 'failures'])
            .select([sql<string | null>`NULL`.as('error'), sql<Date>`open_until`.as('retry_at')])
            .where('environment_id', '=', environmentId)
            .where('open_until', 'is not', null),
        )
        .as('c'),
    )
    .selectAll()

export type RecordedCircuit = Awaited<ReturnType<ReturnType<typeof circuitsOf>['execute']>>[number]
