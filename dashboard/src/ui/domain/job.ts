// Long work that continues while the user visits other pages, and its progress.
import { useSyncExternalStore } from 'react'

export class Job<State> {
  #state: State | undefined
  readonly #listeners = new Set<() => void>()

  get state(): State | undefined {
    return this.#state
  }

  set(state: State | undefined): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }

  change(patch: Partial<State>): void {
    if (this.#state !== undefined) this.set({ ...this.#state, ...patch })
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export const useJob = <State>(job: Job<State>): State | undefined =>
  useSyncExternalStore(job.subscribe, () => job.state)

const asksToStay = (event: BeforeUnloadEvent) => event.preventDefault()

/** Closing the window would end the work, so the browser asks first. */
export async function keepWindowOpen<Result>(work: () => Promise<Result>): Promise<Result> {
  window.addEventListener('beforeunload', asksToStay)
  try {
    return await work()
  } finally {
    window.removeEventListener('beforeunload', asksToStay)
  }
}

/** Whether the page that shows the progress is open. */
export const isInSight = (): boolean => window.location.pathname.split('/')[1] === 'subscribers'
