// Runs, which the API calls notifications: requests and their cache keys. Refresh with ['runs'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment, type Query } from './client.ts'

export type RunSummary = Answer<'GET /v1/notifications'>['data'][number]

export const runs = {
  list: (query: Query<'GET /v1/notifications'>) =>
    queryOptions({
      queryKey: inEnvironment('runs', 'list', query),
      queryFn: ({ signal }) => api('GET /v1/notifications', { query, signal }),
      placeholderData: keepPreviousData,
    }),
}
