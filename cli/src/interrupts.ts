// Ctrl-C: ends the program, unless a command wants to finish what it has begun. The second one always ends it.

let finish: (() => void) | undefined

/** Until `done` is called, the first Ctrl-C only asks for an end. */
export function endsGently(onInterrupt: () => void): { done(): void } {
  finish = onInterrupt
  return {
    done() {
      if (finish === onInterrupt) finish = undefined
    },
  }
}

/** @returns whether a command takes care of it */
export function interrupt(): boolean {
  const gentle = finish
  finish = undefined
  gentle?.()
  return gentle !== undefined
}
