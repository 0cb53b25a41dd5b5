// Imports of data from another service, as their requests tell how far they are. Refresh with ['imports'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment } from './client.ts'

export type Import = Answer<'GET /v2/import'>['imports'][number]

const whileRunningMs = 2_000
const otherwiseMs = 15_000

export const imports = {
  list: () =>
    queryOptions({
      queryKey: inEnvironment('imports', 'list'),
      queryFn: ({ signal }) => api('GET /v2/import', { signal }),
      refetchInterval: ({ state }) =>
        state.data?.imports.some(({ status }) => status === 'running') ? whileRunningMs : otherwiseMs,
    }),
}
