// Topics and their subscriptions: requests and their cache keys. Refresh with ['topics'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type Topic = Answer<'GET /v2/topics'>['data'][number]
export type TopicSubscription = Answer<'GET /v2/topics/{topicKey}/subscriptions'>['data'][number]
export type SubscriptionDetails = Answer<'GET /v2/topics/{topicKey}/subscriptions/{identifier}'>

/** A removed subscription, with everything needed to restore it. */
interface Removed {
  topicKey: string
  subscriberId: string
  details: SubscriptionDetails
}

export const topics = {
  list: (query: Query<'GET /v2/topics'>) =>
    queryOptions({
      queryKey: inEnvironment('topics', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/topics', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  one: (topicKey: string) =>
    queryOptions({
      queryKey: inEnvironment('topics', 'one', topicKey),
      queryFn: ({ signal }) => api('GET /v2/topics/{topicKey}', { path: { topicKey }, signal }),
    }),
  subscriptions: (topicKey: string, query: Query<'GET /v2/topics/{topicKey}/subscriptions'>) =>
    queryOptions({
      queryKey: inEnvironment('topics', 'subscriptions', topicKey, query),
      queryFn: ({ signal }) => api('GET /v2/topics/{topicKey}/subscriptions', { path: { topicKey }, query, signal }),
      placeholderData: (before, query) => (query?.queryKey[3] === topicKey ? before : undefined),
    }),
  subscription: (topicKey: string, identifier: string) =>
    queryOptions({
      queryKey: inEnvironment('topics', 'subscription', topicKey, identifier),
      queryFn: ({ signal }) =>
        api('GET /v2/topics/{topicKey}/subscriptions/{identifier}', { path: { topicKey, identifier }, signal }),
    }),

  create: (body: Body<'POST /v2/topics'>) => api('POST /v2/topics', { query: { failIfExists: true }, body }),
  change: (topicKey: string, body: Body<'PATCH /v2/topics/{topicKey}'>) =>
    api('PATCH /v2/topics/{topicKey}', { path: { topicKey }, body }),
  remove: (topicKey: string) => api('DELETE /v2/topics/{topicKey}', { path: { topicKey } }),
  subscribe: (topicKey: string, body: Body<'POST /v2/topics/{topicKey}/subscriptions'>) =>
    api('POST /v2/topics/{topicKey}/subscriptions', { path: { topicKey }, body }),
  changeSubscription: (
    topicKey: string,
    identifier: string,
    body: Body<'PATCH /v2/topics/{topicKey}/subscriptions/{identifier}'>,
  ) => api('PATCH /v2/topics/{topicKey}/subscriptions/{identifier}', { path: { topicKey, identifier }, body }),

  /** Removes a subscription and returns what is needed to restore it. */
  async unsubscribe(topicKey: string, identifier: string): Promise<Removed> {
    const path = { topicKey, identifier }
    const details = await api('GET /v2/topics/{topicKey}/subscriptions/{identifier}', { path })
    const { data } = await api('DELETE /v2/topics/{topicKey}/subscriptions', {
      path: { topicKey },
      body: { subscriptions: [{ identifier }] },
    })
    return { topicKey, subscriberId: data[0]?.subscriber?.subscriberId ?? '', details }
  },
  restore: ({ topicKey, subscriberId, details }: Removed) => {
    const { identifier, name, contextKeys, preferences } = details
    const context = Object.fromEntries(
      contextKeys.map((key) => [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)]),
    )
    return topics.subscribe(topicKey, {
      subscriptions: [{ subscriberId, identifier, ...(name ? { name } : {}) }],
      ...(contextKeys.length > 0 ? { context } : {}),
      preferences: preferences.map(preferenceBody),
    })
  },
}

/** Turns a preference from the shape the API returns into the shape it accepts. */
export const preferenceBody = ({ workflow, enabled, condition }: SubscriptionDetails['preferences'][number]) => ({
  workflowId: workflow.identifier,
  enabled,
  ...(condition ? { condition } : {}),
})
