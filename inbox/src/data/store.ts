/** Something that changes and says so. Its state is replaced, never altered, so that comparing two of them is enough. */
export class Store<State extends object> {
  #state: State
  readonly #listeners = new Set<() => void>()

  constructor(state: State) {
    this.#state = state
  }

  get state(): Readonly<State> {
    return this.#state
  }

  /** @returns what ends it */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  protected set(part: Partial<State>): void {
    const changed = (Object.keys(part) as Array<keyof State>).some((name) => !Object.is(part[name], this.#state[name]))
    if (!changed) return
    this.#state = { ...this.#state, ...part }
    for (const listener of [...this.#listeners]) listener()
  }
}
