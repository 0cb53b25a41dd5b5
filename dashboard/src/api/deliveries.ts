// Failed deliveries: requests and their cache keys. Refresh with ['deliveries'].
import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type Delivery = Answer<'GET /v1/deliveries'>['data'][number]
export type DeliveryFilter = Omit<Query<'GET /v1/deliveries'>, 'after' | 'limit' | 'status'>

const perPage = 50

export const deliveries = {
  endless: (query: DeliveryFilter) =>
    infiniteQueryOptions({
      queryKey: inEnvironment('deliveries', 'endless', query),
      queryFn: ({ pageParam, signal }) =>
        api('GET /v1/deliveries', {
          query: { ...query, limit: perPage, ...(pageParam ? { after: pageParam } : {}) },
          signal,
        }),
      initialPageParam: '',
      getNextPageParam: ({ next }) => next ?? undefined,
      placeholderData: keepPreviousData,
    }),

  /** A delivery has the id of the step's job in the run. */
  redrive: (deliveryId: string) => api('POST /v1/deliveries/{deliveryId}/redrive', { path: { deliveryId } }),
  /** At most 1,000 at a time; `hasMore` says whether more are left. */
  redriveAll: (body: Body<'POST /v1/deliveries/redrive'>) => api('POST /v1/deliveries/redrive', { body }),
}

/** Failed for good with one of these reasons, a delivery can be sent again once the cause is fixed. */
export const undelivered: ReadonlyArray<Delivery['reason']> = [
  'provider_failed',
  'provider_refused',
  'outcome_unknown',
  'no_integration',
  'content_failed',
  'layout_not_found',
  'filter_failed',
  'bridge_failed',
  'internal',
]
