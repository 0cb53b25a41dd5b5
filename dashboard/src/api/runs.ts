// Runs, which the API calls notifications: requests and their cache keys. Refresh with ['runs'].
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment, type Query } from './client.ts'
import { nameOf } from './subscribers.ts'

export type RunSummary = Answer<'GET /v1/notifications'>['data'][number]
export type Run = Answer<'GET /v1/notifications/{notificationId}'>
export type RunFilter = Omit<Query<'GET /v1/notifications'>, 'page' | 'limit' | 'cursor'>
export type ActivityCharts = Answer<'GET /v1/activity/charts'>
export type TriggerReport = Answer<'GET /v1/events/trigger/{transactionId}'>

const perPage = 50

/** Where clients know ten types only, steps of other kinds come as custom ones. */
const withKind = <Of extends Pick<RunSummary, 'jobs'>>(run: Of): Of => ({
  ...run,
  jobs: run.jobs.map((job) =>
    job.kind === undefined
      ? job
      : { ...job, type: job.kind, step: { ...job.step, ...plainValues(job.step.controlVariables) } },
  ),
})
const plainValues = (values: Record<string, unknown> = {}) => {
  const { custom } = values
  const isWrapped = typeof custom === 'object' && custom !== null && '$kind' in custom
  return { controlVariables: isWrapped ? (custom as Record<string, unknown>) : values }
}
const withKinds = <Page extends { data: RunSummary[] }>(page: Page): Page => ({
  ...page,
  data: page.data.map(withKind),
})

export const runs = {
  list: (query: Query<'GET /v1/notifications'>) =>
    queryOptions({
      queryKey: inEnvironment('runs', 'list', query),
      queryFn: async ({ signal }) => withKinds(await api('GET /v1/notifications', { query, signal })),
      placeholderData: keepPreviousData,
    }),
  /** All runs, page by page as the user scrolls. Loaded pages do not change; `count` finds new runs. */
  endless: (query: RunFilter) =>
    infiniteQueryOptions({
      queryKey: inEnvironment('runs', 'endless', query),
      queryFn: async ({ pageParam, signal }) =>
        withKinds(
          await api('GET /v1/notifications', {
            query: { ...query, limit: perPage, ...(pageParam ? { cursor: pageParam } : {}) },
            signal,
          }),
        ),
      initialPageParam: '',
      getNextPageParam: ({ data, hasMore }) => (hasMore ? data.at(-1)?._id : undefined),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
      placeholderData: keepPreviousData,
    }),
  /** The current state of these runs; never cached. */
  states: (query: Query<'GET /v1/notifications'>) =>
    queryOptions({
      queryKey: inEnvironment('runs', 'states', query),
      queryFn: async ({ signal }) => withKinds(await api('GET /v1/notifications', { query, signal })),
      staleTime: 0,
    }),
  /** How many runs are newer than the newest one shown. */
  count: (since: string, query: RunFilter) =>
    queryOptions({
      queryKey: inEnvironment('runs', 'count', since, query),
      queryFn: ({ signal }) => api('GET /v1/notifications/count', { query: { ...query, since }, signal }),
      staleTime: 0,
    }),
  one: (notificationId: string) =>
    queryOptions({
      queryKey: inEnvironment('runs', 'one', notificationId),
      queryFn: async ({ signal }) =>
        withKind(await api('GET /v1/notifications/{notificationId}', { path: { notificationId }, signal })),
      staleTime: 2_000,
    }),
  /** Ends the delay or digest in which the run waits. */
  endWait: (notificationId: string) =>
    api('POST /v1/notifications/{notificationId}/end-wait', { path: { notificationId } }),
  charts: (query: Query<'GET /v1/activity/charts'>) =>
    queryOptions({
      queryKey: inEnvironment('runs', 'charts', query),
      queryFn: ({ signal }) => api('GET /v1/activity/charts', { query, signal }),
      placeholderData: keepPreviousData,
      staleTime: 30_000,
    }),
  /** What a trigger did, and which recipients it skipped. */
  trigger: (transactionId: string) =>
    queryOptions({
      queryKey: inEnvironment('runs', 'trigger', transactionId),
      queryFn: ({ signal }) => api('GET /v1/events/trigger/{transactionId}', { path: { transactionId }, signal }),
    }),

  replay: (notificationId: string) =>
    api('POST /v1/notifications/{notificationId}/replay', { path: { notificationId } }),
  cancel: (transactionId: string) => api('DELETE /v1/events/trigger/{transactionId}', { path: { transactionId } }),
}

/** Also for a deleted subscriber. */
export const subscriberIdOf = ({ subscriber, to }: Pick<RunSummary, 'subscriber' | 'to'>): string =>
  subscriber?.subscriberId ?? String(to?.subscriberId ?? '')

export const whoOf = (run: Pick<RunSummary, 'subscriber' | 'to'>): string =>
  run.subscriber ? nameOf(run.subscriber) : subscriberIdOf(run) || 'a deleted subscriber'

export const workflowIdOf = ({ template }: Pick<RunSummary, 'template'>): string | undefined =>
  template?.triggers[0]?.identifier
