// Versions of workflows and layouts: requests and their cache keys. Refresh with ['versions'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment } from './client.ts'

export type Version = Answer<'GET /v2/workflows/{workflowId}/versions'>['data'][number]

/** Whose history it is. */
export interface Subject {
  kind: 'workflow' | 'layout'
  id: string
}

const mostListed = 100

export const versions = {
  list: ({ kind, id }: Subject) =>
    queryOptions({
      queryKey: inEnvironment('versions', kind, id, 'list'),
      queryFn: ({ signal }) =>
        kind === 'workflow'
          ? api('GET /v2/workflows/{workflowId}/versions', {
              ...{ path: { workflowId: id }, query: { limit: mostListed }, signal },
            })
          : api('GET /v2/layouts/{layoutId}/versions', {
              ...{ path: { layoutId: id }, query: { limit: mostListed }, signal },
            }),
    }),
  compare: ({ kind, id }: Subject, query: { from: number; to: number }) =>
    queryOptions({
      queryKey: inEnvironment('versions', kind, id, 'compare', query),
      queryFn: ({ signal }) =>
        kind === 'workflow'
          ? api('GET /v2/workflows/{workflowId}/versions/compare', { path: { workflowId: id }, query, signal })
          : api('GET /v2/layouts/{layoutId}/versions/compare', { path: { layoutId: id }, query, signal }),
    }),

  async restore({ kind, id }: Subject, version: number): Promise<{ version: number }> {
    return kind === 'workflow'
      ? api('POST /v2/workflows/{workflowId}/versions/{version}/restore', {
          ...{ path: { workflowId: id, version }, body: {} },
        })
      : api('POST /v2/layouts/{layoutId}/versions/{version}/restore', { path: { layoutId: id, version }, body: {} })
  },
  rename: ({ kind, id }: Subject, version: number, message: string | null) =>
    kind === 'workflow'
      ? api('PATCH /v2/workflows/{workflowId}/versions/{version}', {
          ...{ path: { workflowId: id, version }, body: { message } },
        })
      : api('PATCH /v2/layouts/{layoutId}/versions/{version}', {
          ...{ path: { layoutId: id, version }, body: { message } },
        }),
}
