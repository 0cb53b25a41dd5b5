// The send guards of an environment: caps and quiet hours. Refresh with ['guards'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type Guards = Answer<'GET /v2/guards'>
export type Cap = Guards['caps'][number]

export const guards = {
  now: () =>
    queryOptions({
      queryKey: inEnvironment('guards'),
      queryFn: ({ signal }) => api('GET /v2/guards', { signal }),
    }),
  put: (body: Body<'PUT /v2/guards'>) => api('PUT /v2/guards', { body }),
}
