// Layouts: requests and their cache keys. Refresh with ['layouts'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment, type Query } from './client.ts'

export type LayoutSummary = Answer<'GET /v2/layouts'>['layouts'][number]

export const layouts = {
  list: (query: Query<'GET /v2/layouts'>) =>
    queryOptions({
      queryKey: inEnvironment('layouts', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/layouts', { query, signal }),
      placeholderData: keepPreviousData,
    }),
}
