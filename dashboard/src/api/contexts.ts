// Contexts: requests and their cache keys. Refresh with ['contexts'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type Context = Answer<'GET /v2/contexts'>['data'][number]
type Name = Pick<Context, 'type' | 'id'>

export const contexts = {
  list: (query: Query<'GET /v2/contexts'>) =>
    queryOptions({
      queryKey: inEnvironment('contexts', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/contexts', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  one: ({ type, id }: Name) =>
    queryOptions({
      queryKey: inEnvironment('contexts', 'one', type, id),
      queryFn: ({ signal }) => api('GET /v2/contexts/{type}/{id}', { path: { type, id }, signal }),
    }),

  create: (body: Body<'POST /v2/contexts'>) => api('POST /v2/contexts', { body }),
  change: ({ type, id }: Name, data: Context['data']) =>
    api('PATCH /v2/contexts/{type}/{id}', { path: { type, id }, body: { data } }),
  remove: ({ type, id }: Name) => api('DELETE /v2/contexts/{type}/{id}', { path: { type, id } }),
}

/** `tenant:acme`, the form the rest of the API uses. */
export const keyOf = ({ type, id }: Name): string => `${type}:${id}`

export function nameIn(key: string): Name {
  const colon = key.indexOf(':')
  return { type: key.slice(0, Math.max(0, colon)), id: key.slice(colon + 1) }
}
