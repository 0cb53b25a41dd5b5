// The consent settings of an environment: requests and their cache keys. Refresh with ['consent'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type Consent = Answer<'GET /v2/environments/{environmentId}/consent'>
export type ConsentChange = Body<'PATCH /v2/environments/{environmentId}/consent'>

export const consent = {
  of: (environmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('consent', environmentId),
      queryFn: ({ signal }) => api('GET /v2/environments/{environmentId}/consent', { path: { environmentId }, signal }),
    }),
  change: (environmentId: string, body: ConsentChange) =>
    api('PATCH /v2/environments/{environmentId}/consent', { path: { environmentId }, body }),
}
