// API keys, signing secrets and doors of an environment: requests and their cache keys. Refresh with ['api-keys'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type ApiKey = Answer<'GET /v2/api-keys'>[number]
export type NewApiKey = Answer<'POST /v2/api-keys'>
export type NewSigningSecret = Answer<'POST /v2/signing-secrets/{purpose}/rotate'>
export type Purpose = NewSigningSecret['purpose']
export type Doors = Answer<'GET /v2/environments/{environmentId}/doors'>

export const apiKeys = {
  list: () =>
    queryOptions({
      queryKey: inEnvironment('api-keys', 'list'),
      queryFn: ({ signal }) => api('GET /v2/api-keys', { signal }),
    }),
  /** For owners only. */
  signing: () =>
    queryOptions({
      queryKey: inEnvironment('api-keys', 'signing'),
      queryFn: ({ signal }) => api('GET /v2/signing-secrets', { signal }),
    }),
  doors: (environmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('api-keys', 'doors', environmentId),
      queryFn: ({ signal }) => api('GET /v2/environments/{environmentId}/doors', { path: { environmentId }, signal }),
    }),

  create: (body: Body<'POST /v2/api-keys'>) => api('POST /v2/api-keys', { body }),
  revoke: (keyId: string) => api('DELETE /v2/api-keys/{keyId}', { path: { keyId } }),
  rotateSecret: (purpose: Purpose) => api('POST /v2/signing-secrets/{purpose}/rotate', { path: { purpose }, body: {} }),
  changeDoors: (environmentId: string, openToKeys: boolean) =>
    api('PATCH /v2/environments/{environmentId}/doors', { path: { environmentId }, body: { openToKeys } }),
}
