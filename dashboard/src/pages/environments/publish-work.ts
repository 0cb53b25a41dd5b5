// Publishing at work: a part at a time, while other pages are looked at. What has been done is kept for this window, so that
// after a reload, too, somebody can read how far it came and go on from there.
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
  /** In the order in which they are published. */
  left: Named[]
  reports: PublishReport[]
  /** Why it stopped. */
  error: string | undefined
}

/** More than this at once, and there is something to watch. */
export const perRequest = 25

const place = 'belfry-publish'
export const publishJob = new Job<PublishState>()
publishJob.subscribe(() => {
  if (publishJob.state) sessionStorage.setItem(place, JSON.stringify(publishJob.state))
  else sessionStorage.removeItem(place)
})
recall()

/** What was going on in this window before it was loaded. The request on its way then may have been carried out or not. */
function recall(): void {
  let kept: PublishState | undefined
  try {
    kept = JSON.parse(sessionStorage.getItem(place) ?? 'null') ?? undefined
  } catch {
    // Written by nobody we know: as good as nothing.
  }
  if (kept?.status === 'running')
    publishJob.set({ ...kept, status: 'stopped', error: 'The page was loaded anew while this was going on.' })
  if (kept?.status === 'stopped') publishJob.set(kept)
}

export function startPublish(sourceId: string, targetId: string, ordered: Named[]): void {
  publishJob.set({
    ...{ sourceId, targetId, total: ordered.length, left: ordered },
    ...{ status: 'running', reports: [], error: undefined },
  })
  void keepWindowOpen(work)
}

/** Publishing the same once more changes nothing, so the part that was interrupted is simply sent again. */
export function resumePublish(): void {
  publishJob.change({ status: 'running', error: undefined })
  void keepWindowOpen(work)
}

async function work(): Promise<void> {
  try {
    for (let state = publishJob.state; state && state.left.length > 0; state = publishJob.state) {
      const { sourceId, targetId, left, reports } = state
      const resources = left.slice(0, perRequest)
      const report = await environments.publish(targetId, { sourceEnvironmentId: sourceId, resources })
      publishJob.change({ left: left.slice(perRequest), reports: [...reports, report] })
    }
    publishJob.change({ status: 'done' })
  } catch (error) {
    publishJob.change({ status: 'stopped', error: (error as Error).message })
  }
  // Of every environment: the target is mostly another than the one that is looked at.
  await cache.invalidateQueries({
    predicate: ({ queryKey }) => ['environments', 'workflows', 'layouts'].includes(String(queryKey[1])),
  })
}
