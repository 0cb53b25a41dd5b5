// Integrations and the providers they can be made for: requests and their cache keys. Refresh with ['integrations'].
import { queryOptions, useQuery } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type Integration = Answer<'GET /v1/integrations'>[number]
export type Provider = Answer<'GET /v1/providers'>[number]
export type ProviderField = Provider['credentials'][number]
export type Health = Answer<'GET /v1/integrations/health'>[number]
export type Conditions = Integration['conditions']
export type IntegrationChanges = Body<'PUT /v1/integrations/{integrationId}'> & object
export type DomainCheck = Answer<'GET /v1/integrations/{integrationId}/deliverability'>['checks'][number]
export type TestOutcome = Answer<'POST /v1/integrations/{integrationId}/test'>

export const integrations = {
  list: () =>
    queryOptions({
      queryKey: inEnvironment('integrations', 'list'),
      queryFn: ({ signal }) => api('GET /v1/integrations', { signal }),
    }),
  /** The list changes only with a new version of the server. */
  providers: () =>
    queryOptions({
      queryKey: ['providers'],
      queryFn: ({ signal }) => api('GET /v1/providers', { signal }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  /** Of all of them, in one request. */
  health: () =>
    queryOptions({
      queryKey: inEnvironment('integrations', 'health'),
      queryFn: ({ signal }) => api('GET /v1/integrations/health', { signal }),
      refetchInterval: 30_000,
    }),
  /** What the DNS says about the domain of an e-mail integration. It takes seconds, so it is asked for only when shown. */
  deliverability: (integrationId: string, asked: { domain: string; selector: string }, { fresh = false } = {}) =>
    queryOptions({
      queryKey: inEnvironment('integrations', 'deliverability', integrationId, asked.domain, asked.selector),
      queryFn: ({ signal }) =>
        api('GET /v1/integrations/{integrationId}/deliverability', {
          path: { integrationId },
          query: {
            domain: asked.domain.trim(),
            ...(asked.selector.trim() === '' ? {} : { selector: asked.selector.trim() }),
            ...(fresh ? { fresh } : {}),
          },
          signal,
        }),
      staleTime: 60_000,
      retry: false,
    }),
  /** How many channel endpoints and connected workspaces depend on this integration. */
  addresses: (integrationIdentifier: string) =>
    queryOptions({
      queryKey: inEnvironment('integrations', 'addresses', integrationIdentifier),
      queryFn: async ({ signal }) => {
        const query = { integrationIdentifier, limit: 1 }
        const [endpoints, connections] = await Promise.all([
          api('GET /v1/channel-endpoints', { query, signal }),
          api('GET /v1/channel-connections', { query, signal }),
        ])
        return { endpoints: endpoints.totalCount, connections: connections.totalCount }
      },
    }),

  create: (body: Body<'POST /v1/integrations'>) => api('POST /v1/integrations', { body }),
  change: (integrationId: string, body: IntegrationChanges) =>
    api('PUT /v1/integrations/{integrationId}', { path: { integrationId }, body }),
  remove: (integrationId: string) => api('DELETE /v1/integrations/{integrationId}', { path: { integrationId } }),
  setPrimary: (integrationId: string) =>
    api('POST /v1/integrations/{integrationId}/set-primary', { path: { integrationId } }),
  configure: (integrationId: string) =>
    api('POST /v1/integrations/{integrationId}/auto-configure', { path: { integrationId } }),
  test: (integrationId: string, body: Body<'POST /v1/integrations/{integrationId}/test'>) =>
    api('POST /v1/integrations/{integrationId}/test', { path: { integrationId }, body }),
}

/** Every environment comes with a sandbox push integration. Nobody can add one, so the provider list omits it. */
const unlisted = (id: string): Provider | undefined =>
  id.endsWith('-push')
    ? { id, name: 'Belfry Push', channel: 'push', reportsDeliveries: false, reportsCheckedBy: [], credentials: [] }
    : undefined

export const providerOf = (providers: readonly Provider[] | undefined, providerId: string) =>
  providers?.find(({ id }) => id === providerId) ?? unlisted(providerId)

/** The provider's name; its id while the list is loading or if the provider is unknown. */
export function useProviderNames(): (providerId: string) => string {
  const { data } = useQuery(integrations.providers())
  return (providerId) => providerOf(data, providerId)?.name ?? providerId
}
