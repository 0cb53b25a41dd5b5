// Refused calls of the SQL functions: requests and their cache keys. Refresh with ['refused-calls'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment, type Query } from './client.ts'

export type RefusedCall = Answer<'GET /v2/outbox/refused'>['data'][number]

export const refusedCalls = {
  list: (query: Query<'GET /v2/outbox/refused'>) =>
    queryOptions({
      queryKey: inEnvironment('refused-calls', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/outbox/refused', { query, signal }),
      placeholderData: keepPreviousData,
    }),

  /** Without ids all of the environment. */
  retry: (ids?: string[]) => api('POST /v2/outbox/refused/retry', { body: ids === undefined ? {} : { ids } }),
}
