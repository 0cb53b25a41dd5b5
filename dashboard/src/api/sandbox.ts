// The sandbox: requests and their cache keys. Refresh with ['sandbox'].
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type SandboxSummary = Answer<'GET /v1/sandbox/messages'>['data'][number]
export type SandboxMessage = Answer<'GET /v1/sandbox/messages/{messageId}'>
export type SandboxFault = Answer<'GET /v1/sandbox/faults'>[number]
export type SandboxFilter = Pick<
  Query<'GET /v1/sandbox/messages'>,
  'channel' | 'search' | 'subscriberId' | 'transactionId'
>

const perPage = 50
const mostNew = 100

export const sandbox = {
  endless: (query: SandboxFilter) =>
    infiniteQueryOptions({
      queryKey: inEnvironment('sandbox', 'endless', query),
      queryFn: ({ pageParam, signal }) =>
        api('GET /v1/sandbox/messages', {
          query: { ...query, limit: perPage, ...(pageParam ? { after: pageParam } : {}) },
          signal,
        }),
      initialPageParam: '',
      getNextPageParam: ({ next }) => next ?? undefined,
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
      placeholderData: keepPreviousData,
    }),
  /** Messages that arrived after this one. */
  newer: (than: string, query: SandboxFilter) =>
    queryOptions({
      queryKey: inEnvironment('sandbox', 'newer', than, query),
      queryFn: ({ signal }) =>
        api('GET /v1/sandbox/messages', { query: { ...query, before: than, limit: mostNew }, signal }),
      staleTime: 0,
    }),
  one: (messageId: string) =>
    queryOptions({
      queryKey: inEnvironment('sandbox', 'one', messageId),
      queryFn: ({ signal }) => api('GET /v1/sandbox/messages/{messageId}', { path: { messageId }, signal }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  faults: () =>
    queryOptions({
      queryKey: inEnvironment('sandbox', 'faults'),
      queryFn: ({ signal }) => api('GET /v1/sandbox/faults', { signal }),
      staleTime: 0,
    }),

  empty: () => api('DELETE /v1/sandbox/messages'),
  fail: (body: Body<'PUT /v1/sandbox/faults'>) => api('PUT /v1/sandbox/faults', { body }),
  workAgain: () => api('DELETE /v1/sandbox/faults'),
}
