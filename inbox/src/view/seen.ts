// A notification that was on screen for a second counts as seen.
import type { Ui } from './ui.ts'

const lookMs = 1_000
const gatherMs = 500
const mostAtOnce = 20

export class SeenTracker {
  readonly #ui: Ui
  readonly #observer: IntersectionObserver
  readonly #ids = new WeakMap<Element, string>()
  readonly #looks = new Map<string, ReturnType<typeof setTimeout>>()
  #gathered = new Set<string>()
  #sending: ReturnType<typeof setTimeout> | undefined
  #isWatching = true

  constructor(ui: Ui) {
    this.#ui = ui
    this.#observer = new IntersectionObserver((entries) => this.#look(entries), { threshold: 0.5 })
  }

  set isWatching(isWatching: boolean) {
    this.#isWatching = isWatching
    if (!isWatching) this.#forget()
  }

  watch(element: Element, id: string): void {
    this.#ids.set(element, id)
    this.#observer.observe(element)
  }

  close(): void {
    this.#observer.disconnect()
    this.#forget()
    void this.#send()
  }

  #forget(): void {
    for (const timer of this.#looks.values()) clearTimeout(timer)
    this.#looks.clear()
  }

  #look(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const id = this.#ids.get(target) ?? ''
      clearTimeout(this.#looks.get(id))
      this.#looks.delete(id)
      if (!isIntersecting || !this.#isWatching || !target.isConnected) continue
      this.#looks.set(
        id,
        setTimeout(() => this.#add(id), lookMs),
      )
    }
  }

  #add(id: string): void {
    this.#looks.delete(id)
    const element = this.#ui.root.querySelector<HTMLElement>(`article[data-id="${id}"]`)
    if (!element || document.hidden) return
    this.#gathered.add(id)
    this.#sending ??= setTimeout(() => void this.#send(), gatherMs)
  }

  async #send(): Promise<void> {
    clearTimeout(this.#sending)
    this.#sending = undefined
    const unseen = [...this.#gathered].filter((id) => this.#ui.client.find(id)?.isSeen === false)
    this.#gathered = new Set()
    for (let at = 0; at < unseen.length; at += mostAtOnce) {
      try {
        await this.#ui.client.seen(unseen.slice(at, at + mostAtOnce))
      } catch {
        // Sent again the next time it is on screen.
      }
    }
  }
}
