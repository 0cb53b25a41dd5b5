// Subscribers and their data: requests and their cache keys. Refresh with ['subscribers'].
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type Subscriber = Answer<'GET /v2/subscribers'>['data'][number]
export type NewSubscriber = Body<'POST /v1/subscribers/bulk'>['subscribers'][number]
export type Preferences = Answer<'GET /v2/subscribers/{subscriberId}/preferences'>
export type Schedule = NonNullable<Body<'PATCH /v2/subscribers/{subscriberId}/preferences'>['schedule']>
export type InboxMessage = Answer<'GET /v2/subscribers/{subscriberId}/notifications'>['data'][number]
export type ChannelEndpoint = Answer<'GET /v1/channel-endpoints'>['data'][number]
export type ChannelConnection = Answer<'GET /v1/channel-connections'>['data'][number]
type MessageFilter = Pick<
  Query<'GET /v2/subscribers/{subscriberId}/notifications'>,
  'read' | 'archived' | 'snoozed' | 'seen'
>

const messagesPerPage = 20

export const subscribers = {
  list: (query: Query<'GET /v2/subscribers'>) =>
    queryOptions({
      queryKey: inEnvironment('subscribers', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/subscribers', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  one: (subscriberId: string) =>
    queryOptions({
      queryKey: inEnvironment('subscribers', 'one', subscriberId),
      queryFn: ({ signal }) => api('GET /v2/subscribers/{subscriberId}', { path: { subscriberId }, signal }),
    }),
  preferences: (subscriberId: string, criticality: 'critical' | 'nonCritical') =>
    queryOptions({
      queryKey: inEnvironment('subscribers', 'preferences', subscriberId, criticality),
      queryFn: ({ signal }) =>
        api('GET /v2/subscribers/{subscriberId}/preferences', {
          path: { subscriberId },
          query: { criticality },
          signal,
        }),
    }),
  endpoints: (subscriberId: string) =>
    queryOptions({
      queryKey: inEnvironment('subscribers', 'endpoints', subscriberId),
      queryFn: ({ signal }) => api('GET /v1/channel-endpoints', { query: { subscriberId, limit: 100 }, signal }),
    }),
  connections: (subscriberId: string) =>
    queryOptions({
      queryKey: inEnvironment('subscribers', 'connections', subscriberId),
      queryFn: ({ signal }) => api('GET /v1/channel-connections', { query: { subscriberId, limit: 100 }, signal }),
    }),
  /** Push and chat integrations, which need credentials for each subscriber. */
  integrations: () =>
    queryOptions({
      queryKey: inEnvironment('integrations', 'list'),
      queryFn: ({ signal }) => api('GET /v1/integrations', { signal }),
      select: (all) => all.filter(({ channel, active }) => active && (channel === 'chat' || channel === 'push')),
    }),
  messages: (subscriberId: string, filter: MessageFilter) =>
    infiniteQueryOptions({
      queryKey: inEnvironment('subscribers', 'messages', subscriberId, filter),
      queryFn: ({ pageParam, signal }) =>
        api('GET /v2/subscribers/{subscriberId}/notifications', {
          path: { subscriberId },
          query: { ...filter, limit: messagesPerPage, after: pageParam },
          signal,
        }),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ data, hasMore }) => (hasMore ? data.at(-1)?.id : undefined),
    }),
  subscriptions: (subscriberId: string, query: Query<'GET /v2/subscribers/{subscriberId}/subscriptions'> = {}) =>
    queryOptions({
      queryKey: inEnvironment('subscribers', 'subscriptions', subscriberId, query),
      queryFn: ({ signal }) =>
        api('GET /v2/subscribers/{subscriberId}/subscriptions', { path: { subscriberId }, query, signal }),
      placeholderData: keepPreviousData,
    }),

  create: (body: Body<'POST /v2/subscribers'>) => api('POST /v2/subscribers', { query: { failIfExists: true }, body }),
  change: (subscriberId: string, body: Body<'PATCH /v2/subscribers/{subscriberId}'>) =>
    api('PATCH /v2/subscribers/{subscriberId}', { path: { subscriberId }, body }),
  /** All data stored about a subscriber. */
  exported: (subscriberId: string) => api('GET /v2/subscribers/{subscriberId}/export', { path: { subscriberId } }),
  erase: (subscriberId: string) => api('POST /v2/subscribers/{subscriberId}/erase', { path: { subscriberId } }),
  endSessions: (subscriberId: string) =>
    api('DELETE /v2/subscribers/{subscriberId}/inbox-sessions', { path: { subscriberId } }),
  remove: (subscriberId: string) => api('DELETE /v2/subscribers/{subscriberId}', { path: { subscriberId } }),
  /** Up to 100 at once. */
  removeMany: (subscriberIds: string[]) => api('POST /v2/subscribers/bulk-delete', { body: { subscriberIds } }),
  changePreferences: (subscriberId: string, body: Body<'PATCH /v2/subscribers/{subscriberId}/preferences'>) =>
    api('PATCH /v2/subscribers/{subscriberId}/preferences', { path: { subscriberId }, body }),
  /** Where they change their preferences without signing in. */
  preferencesLink: (subscriberId: string) =>
    api('POST /v2/subscribers/{subscriberId}/preferences-link', { path: { subscriberId }, body: {} }),

  /** What deleting a subscriber deletes with it; messages are counted up to 100. */
  async belongings(subscriberId: string): Promise<{ topics: number; messages: number; endpoints: number }> {
    const [topics, messages, endpoints] = await Promise.all([
      api('GET /v2/subscribers/{subscriberId}/subscriptions', { path: { subscriberId }, query: { limit: 1 } }),
      api('GET /v2/subscribers/{subscriberId}/notifications/count', {
        path: { subscriberId },
        query: { filters: '[{}]' },
      }),
      api('GET /v1/channel-endpoints', { query: { subscriberId, limit: 1 } }),
    ])
    return { topics: topics.totalCount, messages: messages[0]?.count ?? 0, endpoints: endpoints.totalCount }
  },
}

/** The display name: the name, else the email address, else the id. */
export function nameOf(subscriber: {
  subscriberId: string
  firstName?: string | null | undefined
  lastName?: string | null | undefined
  email?: string | null | undefined
}): string {
  const name = [subscriber.firstName, subscriber.lastName].filter(Boolean).join(' ')
  return name || subscriber.email || subscriber.subscriberId
}
