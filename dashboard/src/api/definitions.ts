// Definitions in files: requests and their cache keys. Refresh with ['definitions'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment } from './client.ts'

export type DefinitionPush = Answer<'GET /v2/definitions/pushes'>['data'][number]
export type Edits = Answer<'GET /v2/definitions/settings'>['edits']

export const definitions = {
  settings: () =>
    queryOptions({
      queryKey: inEnvironment('definitions', 'settings'),
      queryFn: ({ signal }) => api('GET /v2/definitions/settings', { signal }),
    }),
  pushes: () =>
    queryOptions({
      queryKey: inEnvironment('definitions', 'pushes'),
      queryFn: ({ signal }) => api('GET /v2/definitions/pushes', { signal }),
    }),

  setEdits: (edits: Edits) => api('PATCH /v2/definitions/settings', { body: { edits } }),
}
