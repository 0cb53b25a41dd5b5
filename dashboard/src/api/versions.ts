// Versions of workflows and layouts: requests and their cache keys. Refresh with ['versions'].
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment } from './client.ts'

export type Version = Answer<'GET /v2/workflows/{workflowId}/versions'>['data'][number]

export type Rendered = Answer<'POST /v2/workflows/{workflowId}/versions/compare'>['renders'][number]

interface Chosen {
  from: number
  to: number
  subscriberId?: string | undefined
}

/** Whose history it is. */
export interface Subject {
  kind: 'workflow' | 'layout'
  id: string
}

const perPage = 100

const page = ({ kind, id }: Subject, query: { limit: number; after?: number }, signal?: AbortSignal) =>
  kind === 'workflow'
    ? api('GET /v2/workflows/{workflowId}/versions', { path: { workflowId: id }, query, ...(signal && { signal }) })
    : api('GET /v2/layouts/{layoutId}/versions', { path: { layoutId: id }, query, ...(signal && { signal }) })

export const versions = {
  endless: (subject: Subject) =>
    infiniteQueryOptions({
      queryKey: inEnvironment('versions', subject.kind, subject.id, 'endless'),
      queryFn: ({ pageParam, signal }) =>
        page(subject, { limit: perPage, ...(pageParam ? { after: pageParam } : {}) }, signal),
      initialPageParam: 0,
      getNextPageParam: ({ next }) => next ?? undefined,
    }),
  compare: ({ kind, id }: Subject, query: { from: number; to: number }) =>
    queryOptions({
      queryKey: inEnvironment('versions', kind, id, 'compare', query),
      queryFn: ({ signal }) =>
        kind === 'workflow'
          ? api('GET /v2/workflows/{workflowId}/versions/compare', { path: { workflowId: id }, query, signal })
          : api('GET /v2/layouts/{layoutId}/versions/compare', { path: { layoutId: id }, query, signal }),
    }),

  /** With the messages that both make, for this subscriber or for the last recipient. */
  rendered: ({ kind, id }: Subject, { from, to, subscriberId }: Chosen) =>
    queryOptions({
      queryKey: inEnvironment('versions', kind, id, 'rendered', { from, to, subscriberId }),
      queryFn: ({ signal }) => {
        const render = subscriberId ? { subscriberIds: [subscriberId] } : { triggers: 1 }
        const body = { from, to, render }
        return kind === 'workflow'
          ? api('POST /v2/workflows/{workflowId}/versions/compare', { path: { workflowId: id }, body, signal })
          : api('POST /v2/layouts/{layoutId}/versions/compare', { path: { layoutId: id }, body, signal })
      },
    }),
  /** As a file. */
  async text({ kind, id }: Subject, version: number): Promise<string> {
    const { text } =
      kind === 'workflow'
        ? await api('GET /v2/workflows/{workflowId}/versions/{version}', { path: { workflowId: id, version } })
        : await api('GET /v2/layouts/{layoutId}/versions/{version}', { path: { layoutId: id, version } })
    return text
  },

  async restore({ kind, id }: Subject, version: number): Promise<{ version: number }> {
    return kind === 'workflow'
      ? api('POST /v2/workflows/{workflowId}/versions/{version}/restore', {
          ...{ path: { workflowId: id, version }, body: {} },
        })
      : api('POST /v2/layouts/{layoutId}/versions/{version}/restore', { path: { layoutId: id, version }, body: {} })
  },
  /** Brings back what was deleted. */
  async restoreLast(subject: Subject): Promise<{ version: number }> {
    const { data } = await page(subject, { limit: 1 })
    return versions.restore(subject, data[0]?.version ?? 1)
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
