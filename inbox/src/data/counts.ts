// Unread counts for several filters, such as those of tabs; recounted whenever they may have changed.
import type { InboxClient } from './client.ts'
import type { Filter } from './notification.ts'
import { Store } from './store.ts'

const recountAfterMs = 150

export class FilterCounts extends Store<{ counts: number[] }> {
  readonly #client: InboxClient
  readonly #filters: Filter[]
  #stop: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #request = 0

  constructor(client: InboxClient, filters: Filter[]) {
    super({ counts: filters.map(() => 0) })
    this.#client = client
    this.#filters = filters.map((filter) => ({ ...filter, read: false, archived: false, snoozed: false }))
    this.open()
  }

  open(): void {
    if (this.#stop || this.#filters.length === 0) return
    this.#stop = this.#client.on('changed', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.count(), recountAfterMs)
    })
    void this.count()
  }

  async count(): Promise<void> {
    const request = ++this.#request
    try {
      const counts = await this.#client.count(this.#filters)
      if (request === this.#request) this.set({ counts })
    } catch {
      // The next change counts again.
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#stop?.()
    this.#stop = undefined
  }
}
