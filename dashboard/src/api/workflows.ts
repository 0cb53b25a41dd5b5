// Workflows: requests and their cache keys. Refresh with ['workflows'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment, type Query } from './client.ts'

export type WorkflowSummary = Answer<'GET /v2/workflows'>['workflows'][number]

export const workflows = {
  list: (query: Query<'GET /v2/workflows'>) =>
    queryOptions({
      queryKey: inEnvironment('workflows', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/workflows', { query, signal }),
      placeholderData: keepPreviousData,
    }),
}
