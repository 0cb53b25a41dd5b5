// Subscribers: requests and their cache keys. Refresh with ['subscribers'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment, type Query } from './client.ts'

export type Subscriber = Answer<'GET /v2/subscribers'>['data'][number]

export const subscribers = {
  list: (query: Query<'GET /v2/subscribers'>) =>
    queryOptions({
      queryKey: inEnvironment('subscribers', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/subscribers', { query, signal }),
      placeholderData: keepPreviousData,
    }),
}

/** What to call somebody: the name, else the address, else the id. */
export function nameOf(subscriber: {
  subscriberId: string
  firstName?: string | null | undefined
  lastName?: string | null | undefined
  email?: string | null | undefined
}): string {
  const name = [subscriber.firstName, subscriber.lastName].filter(Boolean).join(' ')
  return name || subscriber.email || subscriber.subscriberId
}
