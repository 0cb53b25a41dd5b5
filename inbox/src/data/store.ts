/** Observable state. The state object is replaced, never mutated, so comparing references is enough. */
export class Store<State extends object> {
  #state: State
  readonly #listeners = new Set<() => void>()

  constructor(state: State) {
    this.#state = state
  }

  get state(): Readonly<State> {
    return this.#state
  }

  /** @returns a function that unsubscribes */
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
