// Health of each integration in this process. One that keeps failing is paused for a while, then probed with a single message.
// And no integration may have so many calls in flight that others have to wait.
import type { DeliveryErrorCode } from '../../providers/delivery-error.ts'
import type { CircuitKey, Circuits, Pass, Refusal } from '../contract/call-tools.ts'

const limits = {
  /** Failures in a row that open a circuit. */
  failures: 5,
  /** How long it stays open the first time; doubled each time the probe fails too. */
  firstOpenMs: 30_000,
  longestOpenMs: 300_000,
  /**
   * Concurrent calls to one integration: so many that were written down as begun when they were taken, which always find a slot
   * (engine/runs/begun-calls.ts), and so many others. Half of them work while the others are being written down.
   */
  calls: 64,
  /** How many of them may be slow while none ends. With more, an integration that hangs would take all our capacity. */
  slowCalls: 4,
  slowMs: 2_000,
  /** Before a busy integration is tried again. */
  busyWaitMs: 5_000,
  /**
   * The limit for one that hangs: the wait is as long as it has hung. Each retry costs as much as a delivery, and there may be
   * many.
   */
  longestHangWaitMs: 30_000,
  probeWaitMs: 1_000,
}

/**
 * A caller that finds all slots of an integration taken waits for one, as long as calls keep ending: a busy integration works
 * at its own pace. If none has ended for this long, it hangs, and callers stop waiting.
 */
const usualPatienceMs = 1_000

/** Circuits kept; closed and idle ones are dropped, oldest first. */
const mostCircuits = 10_000

export interface CircuitChange extends CircuitKey {
  state: 'open' | 'closed'
  failures: number
  error: string | undefined
  /** When the next message is let through. */
  retryAt: Date | undefined
}

interface Circuit {
  failures: number
  /** Openings since it was last closed. */
  openings: number
  openUntil: number | undefined
  isProbing: boolean
  hasSucceeded: boolean
  calls: Set<Call>
  /** When a call last began or ended, by the monotonic clock. */
  movedAt: number
  waiting: Set<{ isBegun: boolean; end(): void }>
}

/** In flight. */
interface Call {
  since: number
  isBegun: boolean
}

/** Failures of transport, or of the whole service; after any other error, the service does answer. */
const transportFailures: ReadonlySet<DeliveryErrorCode> = new Set<DeliveryErrorCode>([
  'host_unknown',
  'connection_failed',
  'certificate_refused',
  'connection_lost',
  'timeout',
  'unavailable',
  'unreadable_answer',
])

export const breaksCircuit = (code: DeliveryErrorCode): boolean => transportFailures.has(code)

interface Surroundings {
  clock: { now(): Date }
  /** At least 0, less than 1. */
  random: () => number
  /** Milliseconds of a clock that nobody sets. */
  elapsed: () => number
  patienceMs?: number
  /** Called whenever a circuit opens or closes. */
  onChange?: (change: CircuitChange) => void
}

/** What is left of a circuit between two calls. */
export interface CircuitState {
  failures: number
  /** Openings since it was last closed. */
  openings: number
  openUntil: Date | null
}

export class CircuitBreaker implements Circuits {
  readonly #surroundings: Surroundings
  readonly #patienceMs: number
  readonly #circuits = new Map<string, Circuit>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    this.#patienceMs = surroundings.patienceMs ?? usualPatienceMs
  }

  /** Takes a circuit up as it was left. */
  restore(key: CircuitKey, { failures, openings, openUntil }: CircuitState): void {
    Object.assign(this.#circuit(key), { failures, openings, openUntil: openUntil?.getTime() })
  }

  /** The circuit as it is now. */
  stateOf(key: CircuitKey): CircuitState {
    const { failures, openings, openUntil } = this.#circuit(key)
    return { failures, openings, openUntil: openUntil === undefined ? null : new Date(openUntil) }
  }

  /** @param isBegun whether the call is already written down as begun */
  async enter(key: CircuitKey, isBegun = false): Promise<Pass | Refusal> {
    const circuit = this.#circuit(key)
    // Randomised, so that not all give up in the same moment and hold up everyone else.
    const patienceMs = this.#patienceMs * (1 + this.#surroundings.random())
    for (;;) {
      const refused = this.#refusal(circuit, isBegun)
      if (!refused) return this.#admit(key, circuit, isBegun)
      const leftMs = circuit.movedAt + patienceMs - this.#surroundings.elapsed()
      if (refused.why === 'open' || leftMs <= 0) return refused
      await turnIn(circuit, isBegun, leftMs)
    }
  }

  #admit(key: CircuitKey, circuit: Circuit, isBegun: boolean): Pass {
    const now = this.#now()
    const isProbe = circuit.openUntil !== undefined
    if (isProbe) circuit.isProbing = true
    const call = { since: now, isBegun }
    circuit.calls.add(call)
    circuit.movedAt = this.#surroundings.elapsed()
    const leave = (end: () => void) => () => {
      circuit.calls.delete(call)
      circuit.movedAt = this.#surroundings.elapsed()
      if (isProbe) circuit.isProbing = false
      end()
      for (const next of circuit.waiting)
        if (next.isBegun === isBegun) {
          next.end()
          break
        }
    }
    return {
      admitted: true,
      succeed: leave(() => this.#close(key, circuit)),
      fail: (error) => leave(() => this.#count(key, circuit, { isProbe, error }))(),
      release: leave(() => undefined),
    }
  }

  /** Whether `enter` would admit a call, perhaps after a wait. */
  admits(key: CircuitKey): boolean {
    return this.#refusal(this.#circuit(key), false)?.why !== 'open'
  }

  /** Circuits that admit no call, or only a probe. */
  get openCount(): number {
    let count = 0
    for (const { openUntil } of this.#circuits.values()) if (openUntil !== undefined) count += 1
    return count
  }

  #refusal({ openUntil, isProbing, calls, movedAt }: Circuit, isBegun: boolean): Refusal | undefined {
    const now = this.#now()
    const refused = (why: Refusal['why'], until: number): Refusal => ({
      admitted: false,
      why,
      retryAt: new Date(until),
    })
    if (openUntil !== undefined && now < openUntil) return refused('open', openUntil)
    if (isProbing) return refused('open', now + limits.probeWaitMs)
    const stillMs = this.#surroundings.elapsed() - movedAt
    const isMoving = stillMs < this.#patienceMs
    const hangs = !isMoving && [...calls].filter(({ since }) => now - since >= limits.slowMs).length >= limits.slowCalls
    const isFull = calls.size >= limits.calls && countOf(calls, isBegun) >= limits.calls
    if (!hangs && !isFull) return undefined
    return refused('busy', now + Math.min(limits.longestHangWaitMs, Math.max(limits.busyWaitMs, stillMs)))
  }

  #circuit(key: CircuitKey): Circuit {
    const name = `${key.environmentId} ${key.integrationId} ${key.host}`
    const known = this.#circuits.get(name)
    if (known) return known
    const made: Circuit = {
      failures: 0,
      openings: 0,
      openUntil: undefined,
      isProbing: false,
      hasSucceeded: false,
      calls: new Set(),
      movedAt: 0,
      waiting: new Set(),
    }
    this.#circuits.set(name, made)
    if (this.#circuits.size > mostCircuits) this.#forgetOne(name)
    return made
  }

  #forgetOne(except: string): void {
    for (const [name, { openUntil, calls, waiting }] of this.#circuits) {
      if (name === except || openUntil !== undefined || calls.size + waiting.size > 0) continue
      this.#circuits.delete(name)
      return
    }
  }

  #close(key: CircuitKey, circuit: Circuit): void {
    // The first success is reported too: the record of an earlier process may be out of date.
    const isNews = circuit.openUntil !== undefined || !circuit.hasSucceeded
    Object.assign(circuit, { failures: 0, openings: 0, openUntil: undefined, hasSucceeded: true })
    if (isNews)
      this.#surroundings.onChange?.({ ...key, state: 'closed', failures: 0, error: undefined, retryAt: undefined })
  }

  #count(key: CircuitKey, circuit: Circuit, { isProbe, error }: { isProbe: boolean; error: string }): void {
    circuit.failures += 1
    // Calls in flight when it opened end later; they say nothing new.
    if (circuit.openUntil !== undefined ? !isProbe : circuit.failures < limits.failures) return
    const openMs = Math.min(limits.longestOpenMs, limits.firstOpenMs * 2 ** circuit.openings)
    circuit.openings += 1
    circuit.openUntil = this.#now() + openMs
    const retryAt = new Date(circuit.openUntil)
    this.#surroundings.onChange?.({ ...key, state: 'open', failures: circuit.failures, error, retryAt })
  }

  #now(): number {
    return this.#surroundings.clock.now().getTime()
  }
}

function countOf(calls: Set<Call>, isBegun: boolean): number {
  let count = 0
  for (const call of calls) if (call.isBegun === isBegun) count += 1
  return count
}

/** Waits until a call of the same kind ends and it is this caller's turn, or for at most this long. */
function turnIn({ waiting }: Circuit, isBegun: boolean, mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      waiting.delete(entry)
      resolve()
    }
    const entry = { isBegun, end }
    const timer = setTimeout(end, mostMs)
    waiting.add(entry)
  })
}
