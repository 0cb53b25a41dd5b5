// Questions that runs have put to people: requests and their cache keys. Refresh with ['questions'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type Question = Answer<'GET /v2/questions/{id}'>

/** How often an open question is asked for. */
const watchMs = 5_000

export const questions = {
  list: (query: Query<'GET /v2/questions'>) =>
    queryOptions({
      queryKey: inEnvironment('questions', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/questions', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  one: (id: string) =>
    queryOptions({
      queryKey: inEnvironment('questions', 'one', id),
      queryFn: ({ signal }) => api('GET /v2/questions/{id}', { path: { id }, signal }),
      refetchInterval: ({ state }) => (state.data?.state === 'open' ? watchMs : false),
    }),

  answer: (id: string, body: Body<'POST /v2/questions/{id}/answer'>) =>
    api('POST /v2/questions/{id}/answer', { path: { id }, body }),
  cancel: (id: string) => api('POST /v2/questions/{id}/cancel', { path: { id } }),
}
