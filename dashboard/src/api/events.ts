// Events that programs post and runs wait for: requests and their cache keys. Refresh with ['events'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type PostedEvent = Answer<'GET /v2/events/{id}'>
export type NewEvent = Body<'POST /v2/events'>

/** How often an event is asked for while its waits are told. */
const watchMs = 2_000

export const events = {
  list: (query: Query<'GET /v2/events'>) =>
    queryOptions({
      queryKey: inEnvironment('events', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/events', { query, signal }),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data?.data.some(({ status }) => status === 'matching') === true ? watchMs : false,
    }),
  one: (id: string) =>
    queryOptions({
      queryKey: inEnvironment('events', 'one', id),
      queryFn: ({ signal }) => api('GET /v2/events/{id}', { path: { id }, signal }),
      refetchInterval: ({ state }) => (state.data?.status === 'matching' ? watchMs : false),
    }),

  post: (body: NewEvent) => api('POST /v2/events', { body }),
}
