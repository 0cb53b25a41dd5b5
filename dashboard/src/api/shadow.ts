// Environments in front of another service: requests and their cache keys. Refresh with ['shadow'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type ShadowReport = Answer<'GET /v2/shadow/report'>
export type ShadowDifference = Answer<'GET /v2/shadow/differences'>['data'][number]

const everyMs = 10_000

export const shadow = {
  settings: () =>
    queryOptions({
      queryKey: inEnvironment('shadow', 'settings'),
      queryFn: ({ signal }) => api('GET /v2/shadow', { signal }),
    }),
  report: () =>
    queryOptions({
      queryKey: inEnvironment('shadow', 'report'),
      queryFn: ({ signal }) => api('GET /v2/shadow/report', { signal }),
      refetchInterval: everyMs,
    }),
  differences: (workflowId: string, after?: string) =>
    queryOptions({
      queryKey: inEnvironment('shadow', 'differences', workflowId, after),
      queryFn: ({ signal }) =>
        api('GET /v2/shadow/differences', {
          query: { ...(workflowId ? { workflowId } : {}), ...(after ? { after } : {}), limit: 20 },
          signal,
        }),
    }),
  change: (body: Body<'PATCH /v2/shadow'>) => api('PATCH /v2/shadow', { body }),
}
