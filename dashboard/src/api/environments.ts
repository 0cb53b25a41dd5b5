// Environments and their keys: requests and their cache keys. Refresh with ['environments'].
import { queryOptions } from '@tanstack/react-query'
import { api, inEnvironment } from './client.ts'

export const environments = {
  /** All tags of its workflows. */
  tags: (environmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('environments', 'tags', environmentId),
      queryFn: ({ signal }) => api('GET /v2/environments/{environmentId}/tags', { path: { environmentId }, signal }),
    }),
  /** Of the environment that is looked at; for admins. */
  apiKeys: () =>
    queryOptions({
      queryKey: inEnvironment('environments', 'api-keys'),
      queryFn: ({ signal }) => api('GET /v1/environments/api-keys', { signal }),
    }),
}
