// Rotas, which say who is on duty when: requests and their cache keys. Refresh with ['rotas'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type Rota = Answer<'GET /v2/rotas/{rotaId}'>
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
  /** @param at now, if undefined */
  onDuty: (rotaId: string, at?: string) =>
    queryOptions({
      queryKey: inEnvironment('rotas', 'on-duty', rotaId, at),
      queryFn: ({ signal }) =>
        api('GET /v2/rotas/{rotaId}/on-duty', { path: { rotaId }, query: at === undefined ? {} : { at }, signal }),
    }),
  /** Who is on duty from a moment on, one after the other, for so many days. */
  span: (rotaId: string, from: string, days: number) =>
    queryOptions({
      queryKey: inEnvironment('rotas', 'span', rotaId, from, days),
      queryFn: ({ signal }) => spanOf(rotaId, from, days, signal),
    }),

  create: (body: NewRota) => api('POST /v2/rotas', { body }),
  put: (rotaId: string, body: Body<'PUT /v2/rotas/{rotaId}'>) =>
    api('PUT /v2/rotas/{rotaId}', { path: { rotaId }, body }),
  remove: (rotaId: string) => api('DELETE /v2/rotas/{rotaId}', { path: { rotaId } }),
}

export interface Duty {
  from: string
  to: string
  subscriberIds: string[]
}

/** While nobody is on duty, the answer does not say for how long. */
const gapMs = 6 * 3_600_000
const mostAsked = 40

async function spanOf(rotaId: string, start: string, days: number, signal: AbortSignal): Promise<Duty[]> {
  const end = Date.parse(start) + days * 86_400_000
  const found: Duty[] = []
  let at = start
  for (let asked = 0; asked < mostAsked && Date.parse(at) < end; asked += 1) {
    const answer = await api('GET /v2/rotas/{rotaId}/on-duty', { path: { rotaId }, query: { at }, signal })
    const to = answer.to ?? new Date(Date.parse(at) + gapMs).toISOString()
    const last = found.at(-1)
    const isNobody = answer.subscriberIds.length === 0
    if (last && isNobody && last.subscriberIds.length === 0) last.to = to
    else {
      // It may have begun within a gap.
      const from = answer.from !== null && answer.from > (last?.from ?? start) ? answer.from : at
      if (last && last.to > from) last.to = from
      found.push({ from, to, subscriberIds: answer.subscriberIds })
    }
    at = to
  }
  return found
}
