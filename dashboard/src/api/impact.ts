// Impact: what a save or a publish would do. Refresh with ['impact'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type Impact = Answer<'POST /v2/workflows/{workflowId}/impact'>
export type ImpactExample = Impact['replay']['examples'][number]
type Draft = Body<'POST /v2/workflows/{workflowId}/impact'>['draft']
type PublishBody = Body<'POST /v2/environments/{targetEnvironmentId}/impact'>

/** Enough to see what is rare, and played within a second or two. */
const triggers = 500

/** Of one page of runs. */
const perPage = 50

export const impact = {
  ofDraft: (workflowId: string, draft: Draft, version: number) =>
    queryOptions({
      queryKey: inEnvironment('impact', workflowId, version, draft),
      queryFn: ({ signal }) =>
        api('POST /v2/workflows/{workflowId}/impact', { path: { workflowId }, body: { draft, triggers }, signal }),
      staleTime: 0,
      gcTime: 0,
    }),
  ofPublish: (targetEnvironmentId: string, body: PublishBody) =>
    queryOptions({
      queryKey: inEnvironment('impact', 'publish', targetEnvironmentId, body),
      queryFn: ({ signal }) =>
        api('POST /v2/environments/{targetEnvironmentId}/impact', {
          path: { targetEnvironmentId },
          body: { ...body, triggers },
          signal,
        }),
      staleTime: 0,
      gcTime: 0,
    }),

  /** Cancels the runs of workflows that wait. @param onDone told how many triggers are canceled so far */
  async cancelWaiting(
    workflowIds: string[],
    { environmentId, onDone }: { environmentId: string | undefined; onDone: (count: number) => void },
  ): Promise<number> {
    const place = environmentId === undefined ? {} : { environmentId }
    const canceled = new Set<string>()
    // The next event of a digest inherits it from the canceled one, and waits from then on.
    for (;;) {
      const waiting = await waitingIn(workflowIds, place)
      const next = waiting.filter((transactionId) => !canceled.has(transactionId))
      if (next.length === 0) return canceled.size
      for (const transactionId of next) {
        await api('DELETE /v1/events/trigger/{transactionId}', { path: { transactionId }, ...place })
        onDone(canceled.add(transactionId).size)
      }
    }
  },
}

/** The triggers of all runs that have not ended. */
async function waitingIn(workflowIds: string[], place: { environmentId?: string }): Promise<string[]> {
  const found = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const query = { workflowIds, status: ['processing' as const], limit: perPage, ...(cursor ? { cursor } : {}) }
    const page = await api('GET /v1/notifications', { query, ...place })
    for (const { transactionId } of page.data) if (transactionId) found.add(transactionId)
    cursor = page.hasMore ? page.data.at(-1)?._id : undefined
    if (cursor === undefined) return [...found]
  }
}
