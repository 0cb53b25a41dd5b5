// Environment variables: requests and their cache keys. Refresh with ['variables'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type Variable = Answer<'GET /v1/environment-variables'>[number]

export const variables = {
  list: (search: string) =>
    queryOptions({
      queryKey: inEnvironment('variables', 'list', search),
      queryFn: ({ signal }) => api('GET /v1/environment-variables', { query: { search }, signal }),
      placeholderData: keepPreviousData,
    }),
  one: (variableKey: string) =>
    queryOptions({
      queryKey: inEnvironment('variables', 'one', variableKey),
      queryFn: ({ signal }) => api('GET /v1/environment-variables/{variableKey}', { path: { variableKey }, signal }),
    }),
  usage: (variableKey: string) =>
    queryOptions({
      queryKey: inEnvironment('variables', 'usage', variableKey),
      queryFn: ({ signal }) =>
        api('GET /v1/environment-variables/{variableKey}/usage', { path: { variableKey }, signal }),
    }),

  create: (body: Body<'POST /v1/environment-variables'>) => api('POST /v1/environment-variables', { body }),
  change: (variableKey: string, body: Body<'PATCH /v1/environment-variables/{variableKey}'>) =>
    api('PATCH /v1/environment-variables/{variableKey}', { path: { variableKey }, body }),
  remove: (variableKey: string) => api('DELETE /v1/environment-variables/{variableKey}', { path: { variableKey } }),
}
