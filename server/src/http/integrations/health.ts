// The health of an integration, from evidence: what its last calls said, and the state of its circuit breaker.
import { Type } from 'typebox'
import { findIntegration } from '../../db/queries/integrations.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Enum, Timestamp } from '../edge/schema.ts'

const mostHosts = 100

const evidence = {
  lastSentAt: Type.Optional(Timestamp),
  refusedSince: Type.Optional(
    Type.Unsafe<Date>({ ...Timestamp, description: 'If it refuses every message since then, as with a wrong key' }),
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

export const integrationHealth: Resource = (app, { db, clock }) => {
  app.get(
    '/v1/integrations/:integrationId/health',
    {
      schema: {
        tags: ['Integrations'],
        summary: 'Retrieve the health of an integration',
        params: Type.Object({ integrationId: Type.String({ description: 'Its `_id`' }) }),
        response: {
          200: Type.Object({
            ...state,
            ...evidence,
            hosts: Type.Array(Type.Object({ host: Type.String(), ...state }), {
              description: 'For addresses of subscribers, such as chat webhooks: those that fail',
            }),
          }),
        },
      },
    },
    async (request) => {
      const { environment, params } = request
      const { integrationId: id } = params
      if (!(await findIntegration(db, environment.id, id))) throw fail('integration_not_found', { id })
      const rows = await db
        .selectFrom('circuits')
        .selectAll()
        .where('environment_id', '=', environment.id)
        .where('integration_id', '=', id)
        .orderBy('host')
        .limit(mostHosts)
        .execute()
      const known = await db
        .selectFrom('integration_health')
        .selectAll()
        .where('environment_id', '=', environment.id)
        .where('integration_id', '=', id)
        .executeTakeFirst()
      const now = clock.now()
      const shown = rows.map(({ host, failures, error, retry_at }) => ({
        host,
        state: retry_at > now ? ('open' as const) : ('half_open' as const),
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
      const { host: _, ...own } = shown.find(({ host }) => host === '') ?? closed
      return {
        ...own,
        ...(known?.last_sent_at ? { lastSentAt: known.last_sent_at } : {}),
        ...(known?.refused_since ? { refusedSince: known.refused_since } : {}),
        hosts: shown.filter(({ host }) => host !== ''),
      }
    },
  )
}
