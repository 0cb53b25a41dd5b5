// Layouts: requests and their cache keys. Refresh with ['layouts'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type LayoutSummary = Answer<'GET /v2/layouts'>['layouts'][number]
export type Layout = Answer<'GET /v2/layouts/{layoutId}'>
export type LayoutPreviewRequest = Body<'POST /v2/layouts/{layoutId}/preview'>

export const layouts = {
  list: (query: Query<'GET /v2/layouts'>) =>
    queryOptions({
      queryKey: inEnvironment('layouts', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/layouts', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  one: (layoutId: string) =>
    queryOptions({
      queryKey: inEnvironment('layouts', 'one', layoutId),
      queryFn: ({ signal }) => api('GET /v2/layouts/{layoutId}', { path: { layoutId }, signal }),
    }),
  /** A preview of the edited layout; the last one stays until the next has loaded. */
  preview: (layoutId: string, body: LayoutPreviewRequest) =>
    queryOptions({
      queryKey: inEnvironment('layouts', 'preview', layoutId, body),
      queryFn: ({ signal }) => api('POST /v2/layouts/{layoutId}/preview', { path: { layoutId }, body, signal }),
      placeholderData: (before, query) => (query?.queryKey[3] === layoutId ? before : undefined),
      gcTime: 30_000,
    }),
  usage: (layoutId: string) =>
    queryOptions({
      queryKey: inEnvironment('layouts', 'usage', layoutId),
      queryFn: ({ signal }) => api('GET /v2/layouts/{layoutId}/usage', { path: { layoutId }, signal }),
    }),

  read: (layoutId: string) => api('GET /v2/layouts/{layoutId}', { path: { layoutId } }),
  create: (body: Body<'POST /v2/layouts'>) => api('POST /v2/layouts', { body }),
  /** Refused where the revision is another by now. `message` names the change in the history. */
  change: (
    layoutId: string,
    body: Body<'PUT /v2/layouts/{layoutId}'>,
    { revision, message }: { revision: string; message: string },
  ) => api('PUT /v2/layouts/{layoutId}', { path: { layoutId }, body, revision, message }),
  duplicate: (layoutId: string, name: string) =>
    api('POST /v2/layouts/{layoutId}/duplicate', { path: { layoutId }, body: { name } }),
  makeDefault: (layoutId: string) => api('POST /v1/layouts/{layoutId}/default', { path: { layoutId } }),
  remove: (layoutId: string) => api('DELETE /v2/layouts/{layoutId}', { path: { layoutId } }),
}
