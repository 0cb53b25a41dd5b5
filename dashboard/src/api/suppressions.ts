// The suppression list: requests and their cache keys. Refresh with ['suppressions'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type Suppression = Answer<'GET /v1/suppressions'>['data'][number]
export type ImportReport = Answer<'POST /v1/suppressions/import'>

export const suppressions = {
  list: (query: Query<'GET /v1/suppressions'>) =>
    queryOptions({
      queryKey: inEnvironment('suppressions', 'list', query),
      queryFn: ({ signal }) => api('GET /v1/suppressions', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  one: (suppressionId: string) =>
    queryOptions({
      queryKey: inEnvironment('suppressions', 'one', suppressionId),
      queryFn: ({ signal }) => api('GET /v1/suppressions/{suppressionId}', { path: { suppressionId }, signal }),
    }),

  add: (body: Body<'POST /v1/suppressions'>) => api('POST /v1/suppressions', { body }),
  remove: ({ _id: suppressionId, reason }: Suppression) =>
    api('DELETE /v1/suppressions/{suppressionId}', {
      path: { suppressionId },
      query: reason === 'complaint' ? { force: true } : {},
    }),
  /** The file goes as it is: the server reads it. */
  import: (file: Blob) =>
    api('POST /v1/suppressions/import', { body: new Blob([file], { type: 'text/csv' }) as unknown as FormData }),
  export: () => api('GET /v1/suppressions/export') as Promise<unknown> as Promise<string>,
}
