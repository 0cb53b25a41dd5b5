// Environments and their keys: requests and their cache keys. Refresh with ['environments'].
import { queryOptions } from '@tanstack/react-query'
import { auth } from './auth.ts'
import { cache } from './cache.ts'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type EnvironmentRecord = Answer<'GET /v1/environments'>[number]
export type EnvironmentDiff = Answer<'POST /v2/environments/{targetEnvironmentId}/diff'>
export type ResourceDiff = EnvironmentDiff['resources'][number]
export type Retention = Answer<'GET /v2/environments/{environmentId}/retention'>
export type InboxAccess = Answer<'GET /v2/environments/{environmentId}/inbox-access'>
export type PublishReport = Answer<'POST /v2/environments/{targetEnvironmentId}/publish'>
type PublishBody = Body<'POST /v2/environments/{targetEnvironmentId}/publish'>

export const environments = {
  list: () =>
    queryOptions({
      queryKey: inEnvironment('environments', 'list'),
      queryFn: ({ signal }) => api('GET /v1/environments', { signal }),
    }),
  /** What publishing one environment into another would change. */
  diff: (sourceEnvironmentId: string, targetEnvironmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('environments', 'diff', sourceEnvironmentId, targetEnvironmentId),
      queryFn: ({ signal }) =>
        api('POST /v2/environments/{targetEnvironmentId}/diff', {
          path: { targetEnvironmentId },
          body: { sourceEnvironmentId },
          signal,
        }),
      staleTime: 0,
    }),
  /** A dry run: what publishing would do with each of these resources. */
  dryRun: (targetEnvironmentId: string, body: PublishBody) =>
    queryOptions({
      queryKey: inEnvironment('environments', 'dry-run', targetEnvironmentId, body),
      queryFn: ({ signal }) =>
        api('POST /v2/environments/{targetEnvironmentId}/publish', {
          path: { targetEnvironmentId },
          body: { ...body, dryRun: true },
          signal,
        }),
      staleTime: 0,
      gcTime: 30_000,
    }),
  /** All tags of the workflows in this environment. */
  tags: (environmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('environments', 'tags', environmentId),
      queryFn: ({ signal }) => api('GET /v2/environments/{environmentId}/tags', { path: { environmentId }, signal }),
    }),
  /** The API keys of the current environment; for owners only. */
  apiKeys: () =>
    queryOptions({
      queryKey: inEnvironment('environments', 'api-keys'),
      queryFn: ({ signal }) => api('GET /v1/environments/api-keys', { signal }),
    }),

  /** How long an environment keeps its data. */
  retention: (environmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('environments', 'retention', environmentId),
      queryFn: ({ signal }) =>
        api('GET /v2/environments/{environmentId}/retention', { path: { environmentId }, signal }),
    }),

  /** What browsers of subscribers may do. */
  inboxAccess: (environmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('environments', 'inbox-access', environmentId),
      queryFn: ({ signal }) =>
        api('GET /v2/environments/{environmentId}/inbox-access', { path: { environmentId }, signal }),
    }),

  /** Whose inbox the preview shows: a subscriber for the signed-in person. */
  inboxPreview: (environmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('environments', 'inbox-preview', environmentId),
      queryFn: ({ signal }) =>
        api('POST /v2/environments/{environmentId}/inbox-preview', { path: { environmentId }, body: {}, signal }),
      staleTime: Number.POSITIVE_INFINITY,
    }),

  /** Whether publishing into it needs a second person. */
  protection: (environmentId: string) =>
    queryOptions({
      queryKey: inEnvironment('environments', 'protection', environmentId),
      queryFn: ({ signal }) =>
        api('GET /v2/environments/{environmentId}/protection', { path: { environmentId }, signal }),
    }),

  changeInboxAccess: (environmentId: string, body: Body<'PATCH /v2/environments/{environmentId}/inbox-access'>) =>
    api('PATCH /v2/environments/{environmentId}/inbox-access', { path: { environmentId }, body }),
  endInboxSessions: (environmentId: string) =>
    api('DELETE /v2/environments/{environmentId}/inbox-sessions', { path: { environmentId } }),
  endAllInboxSessions: () => api('DELETE /v1/auth/inbox-sessions'),
  changeRetention: (environmentId: string, body: Body<'PATCH /v2/environments/{environmentId}/retention'>) =>
    api('PATCH /v2/environments/{environmentId}/retention', { path: { environmentId }, body }),
  create: (body: Body<'POST /v1/environments'>) => api('POST /v1/environments', { body }),
  change: (environmentId: string, body: Body<'PUT /v1/environments/{environmentId}'>) =>
    api('PUT /v1/environments/{environmentId}', { path: { environmentId }, body }),
  remove: (environmentId: string) => api('DELETE /v1/environments/{environmentId}', { path: { environmentId } }),
  publish: (targetEnvironmentId: string, body: PublishBody, impactToken?: string) =>
    api('POST /v2/environments/{targetEnvironmentId}/publish', {
      ...{ path: { targetEnvironmentId }, body },
      ...(impactToken === undefined ? {} : { impactToken }),
    }),
  protect: (environmentId: string, body: Body<'PATCH /v2/environments/{environmentId}/protection'>) =>
    api('PATCH /v2/environments/{environmentId}/protection', { path: { environmentId }, body }),
  rotateKey: (overlapHours: number) => api('POST /v1/environments/api-keys/rotate', { body: { overlapHours } }),
  replaceKeys: () => api('POST /v1/environments/api-keys/regenerate'),
}

/** The environment switcher reads environments from the session. */
export const refreshSession = () => cache.invalidateQueries({ queryKey: auth.session().queryKey })
