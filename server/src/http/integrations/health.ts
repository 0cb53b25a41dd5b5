// The health of integrations, from evidence: what their last calls and tests said, and the state of their circuit breakers.
import { Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import type { IntegrationHealthTable } from '../../db/core/tables.ts'
import { circuitsOf, type RecordedCircuit } from '../../db/queries/circuits.ts'
import { findIntegration } from '../../db/queries/integrations.ts'
import { circuitState } from '../../engine/core/circuit-records.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Enum, Timestamp } from '../edge/schema.ts'

const mostHosts = 100
/** Of a whole environment. */
const mostCircuits = 1_000

const evidence = {
  lastSentAt: Type.Optional(
    Type.Unsafe<Date>({ ...Timestamp, description: 'When it last took a message, or a test. None: it was never used' }),
  ),
  refusedSince: Type.Optional(
    Type.Unsafe<Date>({
      ...Timestamp,
      description: 'If it takes no message since then, as with a wrong key or host',
    }),
  ),
  errorCode: Type.Optional(
    Type.String({ description: 'Why it takes none, such as `unauthorized` or `host_unknown`; `error` has the words' }),
  ),
}

const state = {
  state: Enum(['closed', 'open', 'half_open'], {
    description:
      '`closed`: messages go out. `open`: they go to another integration or wait. `half_open`: the next message tests whether it works again.',
  }),
  failures: Type.Integer({ description: 'In a row' }),
  error: Type.Optional(Type.String()),
  retryAt: Type.Optional(Timestamp),
}

const health = {
  ...state,
  ...evidence,
  hosts: Type.Array(Type.Object({ host: Type.String(), ...state }), {
    description: 'For addresses of subscribers, such as chat webhooks: those that fail',
  }),
}

export const integrationHealth: Resource = (app, { db }) => {
  app.get(
    '/v1/integrations/health',
    {
      schema: {
        tags: ['Integrations'],
        summary: 'List the health of all integrations',
        description: 'An integration that was never used has neither `lastSentAt` nor `refusedSince`.',
        response: { 200: Type.Array(Type.Object({ integrationId: Type.String(), ...health })) },
      },
    },
    async (request) => {
      const { environment } = request
      const [integrations, circuits, known] = await Promise.all([
        db.selectFrom('integrations').select('id').where('environment_id', '=', environment.id).orderBy('id').execute(),
        circuitsOf(db, environment.id).orderBy('integration_id').orderBy('host').limit(mostCircuits).execute(),
        knownOf(db, environment.id).execute(),
      ])
      const circuitsById = new Map<string, RecordedCircuit[]>()
      for (const circuit of circuits)
        circuitsById.set(circuit.integration_id, [...(circuitsById.get(circuit.integration_id) ?? []), circuit])
      const knownById = new Map(known.map((one) => [one.integration_id, one]))
      return integrations.map(({ id }) => ({
        integrationId: id,
        ...shown(circuitsById.get(id) ?? [], knownById.get(id), request.now()),
      }))
    },
  )

  app.get(
    '/v1/integrations/:integrationId/health',
    {
      schema: {
        tags: ['Integrations'],
        summary: 'Retrieve the health of an integration',
        params: Type.Object({ integrationId: Type.String({ description: 'Its `_id`' }) }),
        response: { 200: Type.Object(health) },
      },
    },
    async (request) => {
      const { environment, params } = request
      const { integrationId: id } = params
      if (!(await findIntegration(db, environment.id, id))) throw fail('integration_not_found', { id })
      const [circuits, known] = await Promise.all([
        circuitsOf(db, environment.id).where('integration_id', '=', id).orderBy('host').limit(mostHosts).execute(),
        knownOf(db, environment.id).where('integration_id', '=', id).executeTakeFirst(),
      ])
      return shown(circuits, known, request.now())
    },
  )
}

const knownOf = (db: Db, environmentId: string) =>
  db.selectFrom('integration_health').selectAll().where('environment_id', '=', environmentId)

function shown(circuits: readonly RecordedCircuit[], known: IntegrationHealthTable | undefined, now: Date) {
  const failing = circuits.map(({ host, failures, error, retry_at }) => ({
    host,
    state: circuitState({ retry_at }, now),
    failures,
    ...(error === null ? {} : { error }),
    retryAt: retry_at,
  }))
  const closed = {
    host: '',
    state: 'closed' as const,
    failures: known?.refusals ?? 0,
    ...(known?.error ? { error: known.error } : {}),
  }
  const { host: _, ...own } = failing.find(({ host }) => host === '') ?? closed
  return {
    ...own,
    ...(known?.last_sent_at ? { lastSentAt: known.last_sent_at } : {}),
    ...(known?.refused_since ? { refusedSince: known.refused_since } : {}),
    ...(known?.error_code ? { errorCode: known.error_code } : {}),
    hosts: failing.filter(({ host }) => host !== ''),
  }
}
