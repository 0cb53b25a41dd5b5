// What a process or a command has started, and how it ends.

/** Stopped in reverse order. */
export class Parts {
  readonly #ends: Array<() => unknown> = []

  add(end: () => unknown): void {
    this.#ends.push(end)
  }

  /** Stops every part, even when one of them fails to stop. */
  async end(): Promise<void> {
    const failures: unknown[] = []
    for (const end of this.#ends.splice(0).reverse()) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Some parts of the service did not stop cleanly.')
  }
}
