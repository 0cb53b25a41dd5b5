// The views of lists that the user has saved: requests and their cache keys. They belong to the user, not to an environment.
import { queryOptions } from '@tanstack/react-query'
import { cache } from './cache.ts'
import { type Answer, api, type Body } from './client.ts'

export type SavedView = Answer<'GET /v1/auth/views'>[number]
export type ViewedPage = SavedView['page']

export const views = {
  of: (page: ViewedPage) =>
    queryOptions({
      queryKey: ['views', page],
      queryFn: ({ signal }) => api('GET /v1/auth/views', { query: { page }, signal }),
    }),
  save: (body: Body<'POST /v1/auth/views'>) => api('POST /v1/auth/views', { body }),
  rename: (viewId: string, name: string) => api('PATCH /v1/auth/views/{viewId}', { path: { viewId }, body: { name } }),
  remove: (viewId: string) => api('DELETE /v1/auth/views/{viewId}', { path: { viewId } }),
}

export const refreshViews = () => cache.invalidateQueries({ queryKey: ['views'] })
