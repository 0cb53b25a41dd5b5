// Rotas, which say who is on duty when: requests and their cache keys. Refresh with ['rotas'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type Rota = Answer<'GET /v2/rotas/{rotaId}'>
/** Without a beginning or an end that is known, those are null. */
export type Duty = Answer<'GET /v2/rotas/{rotaId}/duties'>['data'][number]
export type NewRota = Body<'POST /v2/rotas'>

export const rotas = {
  list: () =>
    queryOptions({
      queryKey: inEnvironment('rotas', 'list'),
      // As many as there can be.
      queryFn: ({ signal }) => api('GET /v2/rotas', { query: { limit: 100 }, signal }),
    }),
  one: (rotaId: string) =>
    queryOptions({
      queryKey: inEnvironment('rotas', 'one', rotaId),
      queryFn: ({ signal }) => api('GET /v2/rotas/{rotaId}', { path: { rotaId }, signal }),
    }),
  /** Who is on duty from a moment on, one after the other, also when nobody is. @param from now, if undefined */
  duties: (rotaId: string, from: string | undefined, days: number) =>
    queryOptions({
      queryKey: inEnvironment('rotas', 'duties', rotaId, from, days),
      queryFn: async ({ signal }) => {
        const query = { days, ...(from === undefined ? {} : { from }) }
        return (await api('GET /v2/rotas/{rotaId}/duties', { path: { rotaId }, query, signal })).data
      },
    }),

  create: (body: NewRota) => api('POST /v2/rotas', { body }),
  put: (rotaId: string, body: Body<'PUT /v2/rotas/{rotaId}'>) =>
    api('PUT /v2/rotas/{rotaId}', { path: { rotaId }, body }),
  remove: (rotaId: string) => api('DELETE /v2/rotas/{rotaId}', { path: { rotaId } }),
}
