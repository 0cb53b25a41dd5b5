// Explanations: requests and their cache keys. Refresh with ['explain'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, inEnvironment, type Operation } from './client.ts'

export type Explanation = Answer<'GET /v1/explain'>
export type ExplainedStep = Explanation['steps'][number]
export type Gate = ExplainedStep['gates'][number]
export type Change = NonNullable<ExplainedStep['remedy']>['changes'][number]

interface Asked {
  workflowId: string
  subscriberId: string
  payload: Record<string, unknown>
}

export const explain = {
  /** Would somebody get it, triggered now? */
  ahead: (asked: Asked) =>
    queryOptions({
      queryKey: inEnvironment('explain', 'ahead', asked),
      queryFn: ({ signal }) => api('POST /v1/explain', { body: asked, signal }),
      placeholderData: keepPreviousData,
    }),
  /** What became of a trigger for somebody. */
  back: (transactionId: string, subscriberId: string) =>
    queryOptions({
      queryKey: inEnvironment('explain', 'back', transactionId, subscriberId),
      queryFn: ({ signal }) => api('GET /v1/explain', { query: { transactionId, subscriberId }, signal }),
    }),
  /** Makes an offered change. */
  apply: ({ method, path, body }: NonNullable<Change['request']>) =>
    api(`${method} ${path}` as Operation, { ...(body ? { body } : {}) } as never),
}
