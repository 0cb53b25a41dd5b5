// Publish requests of all environments: requests and their cache keys. They belong to no single environment, so the keys have no
// environment id in front; refresh with `refreshApprovals`.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useSession } from './auth.ts'
import { cache } from './cache.ts'
import { type Answer, api, type Body } from './client.ts'

export type PublishRequest = Answer<'GET /v1/auth/publish-requests'>[number]

const path = ({ targetEnvironmentId, _id: requestId }: PublishRequest) => ({ targetEnvironmentId, requestId })

export const approvals = {
  list: () =>
    queryOptions({
      queryKey: ['approvals', 'list'],
      queryFn: ({ signal }) => api('GET /v1/auth/publish-requests', { signal }),
    }),
  pending: () =>
    queryOptions({
      queryKey: ['approvals', 'pending'],
      queryFn: ({ signal }) => api('GET /v1/auth/publish-requests', { query: { status: 'pending' }, signal }),
    }),
  one: (request: PublishRequest) =>
    queryOptions({
      queryKey: ['approvals', 'one', request._id],
      queryFn: ({ signal }) =>
        api('GET /v2/environments/{targetEnvironmentId}/publish-requests/{requestId}', { path: path(request), signal }),
      staleTime: 0,
    }),

  ask: (targetEnvironmentId: string, body: Body<'POST /v2/environments/{targetEnvironmentId}/publish-requests'>) =>
    api('POST /v2/environments/{targetEnvironmentId}/publish-requests', { path: { targetEnvironmentId }, body }),
  approve: (request: PublishRequest, comment: string) =>
    api('POST /v2/environments/{targetEnvironmentId}/publish-requests/{requestId}/approve', {
      path: path(request),
      body: { comment },
    }),
  decline: (request: PublishRequest, comment: string) =>
    api('POST /v2/environments/{targetEnvironmentId}/publish-requests/{requestId}/decline', {
      path: path(request),
      body: { comment },
    }),
  withdraw: (request: PublishRequest) =>
    api('POST /v2/environments/{targetEnvironmentId}/publish-requests/{requestId}/withdraw', { path: path(request) }),
}

/** How often the badge asks again. */
const everyMs = 60_000

/** How many requests wait for this person. Asks nothing while no environment is protected. */
export function useWaiting(): number {
  const isNeeded = useSession().environments.some(({ isProtected }) => isProtected)
  const { data } = useQuery({ ...approvals.pending(), enabled: isNeeded, refetchInterval: everyMs })
  return data?.filter(({ mayDecide }) => mayDecide).length ?? 0
}

/** An approval also changes the content of the target, in whichever environment we are. */
export const refreshApprovals = () =>
  Promise.all([
    cache.invalidateQueries({ queryKey: ['approvals'] }),
    cache.invalidateQueries({
      predicate: ({ queryKey }) => ['environments', 'workflows', 'layouts'].includes(String(queryKey[1])),
    }),
  ])
