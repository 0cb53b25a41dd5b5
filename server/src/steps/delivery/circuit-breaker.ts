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
  /** When a call last began or ended, by the monotonic clock. */
  movedAt: number
  /** For calls that were written down as begun when they were taken, and for others. */
  lanes: { begun: Lane; other: Lane }
}

interface Lane {
  inFlight: Set<{ since: number }>
  /** The first to come is the first to go. */
  waiting: Set<Waiting>
}

interface Waiting {
  /** Gives it the slot that has become free. */
  take(): void
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
    const lane = isBegun ? circuit.lanes.begun : circuit.lanes.other
    const refused = this.#refusal(circuit, lane)
    if (!refused) return this.#admit(key, circuit, lane)
    return refused.why === 'open' ? refused : this.#wait(key, circuit, lane)
  }

  /** For a slot, as long as the circuit moves. */
  #wait(key: CircuitKey, circuit: Circuit, lane: Lane): Promise<Pass | Refusal> {
    // Randomised, so that not all give up in the same moment and hold up everyone else.
    const patienceMs = this.#patienceMs * (1 + this.#surroundings.random())
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined
      const decide = () => {
        clearTimeout(timer)
        const refused = this.#refusal(circuit, lane)
        const leftMs = circuit.movedAt + patienceMs - this.#surroundings.elapsed()
        if (refused?.why === 'busy' && leftMs > 0) {
          timer = setTimeout(decide, leftMs)
          return
        }
        lane.waiting.delete(waiting)
        resolve(refused ?? this.#admit(key, circuit, lane))
      }
      const waiting = { take: decide }
      lane.waiting.add(waiting)
      decide()
    })
  }

  #admit(key: CircuitKey, circuit: Circuit, lane: Lane): Pass {
    const isProbe = circuit.openUntil !== undefined
    if (isProbe) circuit.isProbing = true
    const call = { since: this.#now() }
    lane.inFlight.add(call)
    circuit.movedAt = this.#surroundings.elapsed()
    const leave = (end: () => void) => () => {
      lane.inFlight.delete(call)
      circuit.movedAt = this.#surroundings.elapsed()
      if (isProbe) circuit.isProbing = false
      end()
      // At once, so that none that comes later gets the slot.
      const [next] = lane.waiting
      next?.take()
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
    const circuit = this.#circuit(key)
    return this.#refusal(circuit, circuit.lanes.other)?.why !== 'open'
  }

  /** Circuits that admit no call, or only a probe. */
  get openCount(): number {
    let count = 0
    for (const { openUntil } of this.#circuits.values()) if (openUntil !== undefined) count += 1
    return count
  }

  #refusal({ openUntil, isProbing, movedAt, lanes }: Circuit, lane: Lane): Refusal | undefined {
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
    const isSlow = ({ since }: { since: number }) => now - since >= limits.slowMs
    const hangs =
      !isMoving && [...lanes.begun.inFlight, ...lanes.other.inFlight].filter(isSlow).length >= limits.slowCalls
    if (!hangs && lane.inFlight.size < limits.calls) return undefined
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
      movedAt: 0,
      lanes: { begun: { inFlight: new Set(), waiting: new Set() }, other: { inFlight: new Set(), waiting: new Set() } },
    }
    this.#circuits.set(name, made)
    if (this.#circuits.size > mostCircuits) this.#forgetOne(name)
    return made
  }

  #forgetOne(except: string): void {
    for (const [name, { openUntil, lanes }] of this.#circuits) {
      const isUsed = [lanes.begun, lanes.other].some(({ inFlight, waiting }) => inFlight.size + waiting.size > 0)
      if (name === except || openUntil !== undefined || isUsed) continue
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
