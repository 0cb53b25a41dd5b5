// Webhook endpoints, events and their deliveries: requests and their cache keys. Refresh with ['webhooks'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type WebhookEndpoint = Answer<'GET /v2/webhooks/endpoints'>['data'][number]
export type WebhookDelivery = Answer<'GET /v2/webhooks/deliveries'>['data'][number]
export type EventType = NonNullable<Query<'GET /v2/webhooks/events'>['type']>

export const webhooks = {
  endpoints: (query: Query<'GET /v2/webhooks/endpoints'>) =>
    queryOptions({
      queryKey: inEnvironment('webhooks', 'endpoints', query),
      queryFn: ({ signal }) => api('GET /v2/webhooks/endpoints', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  endpoint: (endpointId: string) =>
    queryOptions({
      queryKey: inEnvironment('webhooks', 'endpoint', endpointId),
      queryFn: ({ signal }) => api('GET /v2/webhooks/endpoints/{endpointId}', { path: { endpointId }, signal }),
    }),
  deliveries: (query: Query<'GET /v2/webhooks/deliveries'>) =>
    queryOptions({
      queryKey: inEnvironment('webhooks', 'deliveries', query),
      queryFn: ({ signal }) => api('GET /v2/webhooks/deliveries', { query, signal }),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data?.data.some(({ status }) => status === 'pending' || status === 'sending') ? 2_000 : 15_000,
    }),
  event: (eventId: string) =>
    queryOptions({
      queryKey: inEnvironment('webhooks', 'event', eventId),
      queryFn: ({ signal }) => api('GET /v2/webhooks/events/{eventId}', { path: { eventId }, signal }),
      staleTime: Number.POSITIVE_INFINITY,
    }),

  create: (body: Body<'POST /v2/webhooks/endpoints'>) => api('POST /v2/webhooks/endpoints', { body }),
  change: (endpointId: string, body: Body<'PATCH /v2/webhooks/endpoints/{endpointId}'>) =>
    api('PATCH /v2/webhooks/endpoints/{endpointId}', { path: { endpointId }, body }),
  remove: (endpointId: string) => api('DELETE /v2/webhooks/endpoints/{endpointId}', { path: { endpointId } }),
  rotateSecret: (endpointId: string, overlapHours: number) =>
    api('POST /v2/webhooks/endpoints/{endpointId}/rotate-secret', { path: { endpointId }, body: { overlapHours } }),
  test: (endpointId: string) => api('POST /v2/webhooks/endpoints/{endpointId}/test', { path: { endpointId } }),
  resend: (eventId: string, endpointId: string) =>
    api('POST /v2/webhooks/events/{eventId}/resend', { path: { eventId }, body: { endpointId } }),
  replay: (endpointId: string, body: Body<'POST /v2/webhooks/endpoints/{endpointId}/replay'>) =>
    api('POST /v2/webhooks/endpoints/{endpointId}/replay', { path: { endpointId }, body }),
}
