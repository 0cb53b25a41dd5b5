// Publishing in batches, while the user visits other pages. Progress is kept in session storage, so that after a reload the user
// sees how far it got and can continue.
import { cache } from '../../api/cache.ts'
import { environments, type PublishReport } from '../../api/environments.ts'
import { Job, keepWindowOpen } from '../../ui/domain/job.ts'

export interface Named {
  resourceType: 'workflow' | 'layout'
  resourceId: string
}

export interface PublishState {
  sourceId: string
  targetId: string
  status: 'running' | 'done' | 'stopped'
  total: number
  /** In publishing order. */
  left: Named[]
  impactToken?: string
  reports: PublishReport[]
  /** Why it stopped. */
  error: string | undefined
}

/** Larger publications go in batches of this size, so that there is progress to show. */
export const perRequest = 25

const place = 'belfry-publish'
export const publishJob = new Job<PublishState>()
publishJob.subscribe(() => {
  if (publishJob.state) sessionStorage.setItem(place, JSON.stringify(publishJob.state))
  else sessionStorage.removeItem(place)
})
recall()

/** Work interrupted by a reload. The server may or may not have carried out the request in flight. */
function recall(): void {
  let kept: PublishState | undefined
  try {
    kept = JSON.parse(sessionStorage.getItem(place) ?? 'null') ?? undefined
  } catch {
    // Not our format: ignore it.
  }
  if (kept?.status === 'running')
    publishJob.set({ ...kept, status: 'stopped', error: 'The page was reloaded while publishing.' })
  if (kept?.status === 'stopped') publishJob.set(kept)
}

/** @param impactToken of the whole publish; one that goes in batches is not checked */
export function startPublish(sourceId: string, targetId: string, ordered: Named[], impactToken?: string): void {
  publishJob.set({
    ...{ sourceId, targetId, total: ordered.length, left: ordered },
    ...(impactToken === undefined || ordered.length > perRequest ? {} : { impactToken }),
    ...{ status: 'running', reports: [], error: undefined },
  })
  void keepWindowOpen(work)
}

/** Publishing is idempotent, so the interrupted batch is simply sent again. */
export function resumePublish(): void {
  const { state } = publishJob
  if (!state) return
  // What was looked at was refused as another, or has been published in part.
  const { impactToken: _, ...rest } = state
  publishJob.set({ ...rest, status: 'running', error: undefined })
  void keepWindowOpen(work)
}

async function work(): Promise<void> {
  try {
    for (let state = publishJob.state; state && state.left.length > 0; state = publishJob.state) {
      const { sourceId, targetId, left, reports, impactToken } = state
      const resources = left.slice(0, perRequest)
      const report = await environments.publish(targetId, { sourceEnvironmentId: sourceId, resources }, impactToken)
      publishJob.change({ left: left.slice(perRequest), reports: [...reports, report] })
    }
    publishJob.change({ status: 'done' })
  } catch (error) {
    publishJob.change({ status: 'stopped', error: (error as Error).message })
  }
  // For every environment: the target is usually not the current one.
  await cache.invalidateQueries({
    predicate: ({ queryKey }) => ['environments', 'workflows', 'layouts'].includes(String(queryKey[1])),
  })
}
