// Sending many deliveries again. The work continues while the user visits other pages.
import { useSyncExternalStore } from 'react'
import { toast } from 'sonner'
import { cache } from '../../api/cache.ts'
import { currentEnvironment, inEnvironment } from '../../api/client.ts'
import { type DeliveryFilter, deliveries } from '../../api/deliveries.ts'

export interface Work {
  /** The environment in which the work is shown. */
  environmentId: string
  done: number
  total: number | undefined
  isStopping: boolean
}

/** Requests in flight. */
const atOnce = 4

let work: Work | undefined
const listeners = new Set<() => void>()

function change(next: Work | undefined): void {
  work = next
  for (const listener of listeners) listener()
}

/** The work in progress in this environment. */
export function useRedriveWork(): Work | undefined {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => work,
  )
  return current?.environmentId === currentEnvironment() ? current : undefined
}

export const stopRedrive = () => work && change({ ...work, isStopping: true })

const isStopped = () => work?.isStopping === true

/** One request each, so that a failure does not stop the others. */
export async function redriveChosen(ids: string[]): Promise<void> {
  const left = [...ids]
  const failures: Error[] = []
  await carryOut(ids.length, async (add) => {
    const next = async (): Promise<void> => {
      const id = left.shift()
      if (id === undefined || isStopped()) return
      try {
        const { redriven } = await deliveries.redrive(id)
        add(redriven)
      } catch (error) {
        failures.push(error as Error)
      }
      await next()
    }
    await Promise.all(Array.from({ length: atOnce }, next))
  })
  const [first] = failures
  if (first) toast.error(failures.length === 1 ? first.message : `${failures.length} were not sent: ${first.message}`)
}

/** All that match, in batches as large as the server accepts. */
export async function redriveMatching(filter: DeliveryFilter, total: number | undefined): Promise<void> {
  await carryOut(total, async (add) => {
    let hasMore = true
    while (hasMore && !isStopped()) {
      const answer = await deliveries.redriveAll(filter)
      add(answer.redriven)
      hasMore = answer.hasMore && answer.redriven > 0
    }
  })
}

async function carryOut(total: number | undefined, go: (add: (count: number) => void) => Promise<void>): Promise<void> {
  if (work) return
  let done = 0
  change({ environmentId: currentEnvironment(), done, total, isStopping: false })
  const keys = [inEnvironment('deliveries'), inEnvironment('runs', 'one')]
  try {
    await go((count) => {
      done += count
      if (work) change({ ...work, done })
    })
    toast.success(done === 1 ? 'Sending 1 delivery again' : `Sending ${done.toLocaleString('en')} deliveries again`)
  } catch (error) {
    toast.error(`${(error as Error).message} ${done.toLocaleString('en')} were sent again before that.`)
  } finally {
    change(undefined)
    for (const queryKey of keys) await cache.invalidateQueries({ queryKey })
  }
}
