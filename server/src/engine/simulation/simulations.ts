// The simulations of this process: one is played at a time, in a thread of its own that is kept for the next one for a while.
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { packageFolder } from '../../package-folder.ts'
import type { Job, Outcome } from './thread.ts'

/** One under way, and these. */
const mostWaiting = 8
/** A thread that is not used for so long ends; the next simulation takes longer by as much as it takes to start another. */
const idleMs = 60_000
const memoryMb = 512
/** With the usual 48, a quarter of the time is spent on collecting garbage. */
const youngMemoryMb = 192

/**
 * While the process is busy with other requests for more than this share of its time, the next simulation waits several times as
 * long as the last one took: reading one and answering it holds up whoever notifies.
 */
const busyShare = 0.7
const usualRestFactor = 4
const usualPriority = 5
const longestRestMs = 1_000

/** Too many are waiting. */
export class SimulationsBusy extends Error {}
/** The caller is gone. */
export class SimulationAbandoned extends Error {}

/** The thread that plays: of the built service, or of a test. */
export interface SimulationThread {
  file: () => URL | Promise<URL>
  /** As of a process. By default a third of the time of whoever notifies, when both want it; with the lowest one, a busy machine
   * would play nothing. */
  priority?: number
  /** How long a busy process rests, as a multiple of how long the last simulation took. */
  restFactor?: number
}

/** The program's first file loads another bundle in a thread. */
export const builtThread: SimulationThread = { file: () => new URL('dist/bundle/main.js', packageFolder) }

export class Simulations {
  readonly #of: SimulationThread
  #thread: Worker | undefined
  #isBusy = false
  #waiting: Array<() => void> = []
  #idle: NodeJS.Timeout | undefined
  #restUntil = 0

  constructor(of: SimulationThread) {
    this.#of = of
  }

  /** Takes a place. Rejects if there is none; to be released. */
  async enter(gone: AbortSignal): Promise<() => void> {
    if (gone.aborted) throw new SimulationAbandoned()
    if (this.#isBusy) {
      if (this.#waiting.length >= mostWaiting) throw new SimulationsBusy()
      await this.#turn(gone)
    }
    this.#isBusy = true
    try {
      await this.#rest(gone)
    } catch {
      this.#leave()
      throw new SimulationAbandoned()
    }
    const began = performance.now()
    const before = performance.eventLoopUtilization()
    return () => {
      const now = performance.now()
      const { restFactor = usualRestFactor } = this.#of
      const isBusy = performance.eventLoopUtilization(before).utilization > busyShare
      this.#restUntil = isBusy ? now + Math.min(longestRestMs, restFactor * (now - began)) : 0
      this.#leave()
    }
  }

  async #rest(gone: AbortSignal): Promise<void> {
    const restMs = this.#restUntil - performance.now()
    if (restMs > 0) await sleep(restMs, undefined, { signal: gone })
  }

  #leave(): void {
    this.#isBusy = false
    this.#waiting.shift()?.()
  }

  /** Waits for the one under way and those before. */
  #turn(gone: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        gone.removeEventListener('abort', leave)
        // Nobody may come in between.
        this.#isBusy = true
        resolve()
      }
      const leave = () => {
        this.#waiting = this.#waiting.filter((each) => each !== begin)
        reject(new SimulationAbandoned())
      }
      gone.addEventListener('abort', leave, { once: true })
      this.#waiting.push(begin)
    })
  }

  /** Plays one, for the holder of the place. Ends the thread if the caller goes. */
  async play(job: Job, gone: AbortSignal): Promise<Outcome> {
    clearTimeout(this.#idle)
    const thread = await this.#started()
    try {
      return await outcomeOf(thread, job, gone)
    } catch (error) {
      this.#thread = undefined
      await thread.terminate()
      throw error
    } finally {
      this.#idle = setTimeout(() => void this.close(), idleMs).unref()
    }
  }

  async #started(): Promise<Worker> {
    if (this.#thread) return this.#thread
    const { file, priority = usualPriority } = this.#of
    const thread = new Worker(await file(), {
      workerData: { priority },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: youngMemoryMb },
    })
    thread.unref()
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined
    })
    this.#thread = thread
    return thread
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const thread = this.#thread
    this.#thread = undefined
    await thread?.terminate()
  }
}

function outcomeOf(thread: Worker, job: Job, gone: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const ended = new AbortController()
    const settle = (end: () => void) => {
      ended.abort()
      thread.off('message', onMessage).off('error', onError).off('exit', onExit)
      end()
    }
    const onMessage = (outcome: Outcome) => settle(() => resolve(outcome))
    const onError = (error: Error) => settle(() => reject(error))
    const onExit = () => settle(() => reject(new Error('The thread of simulations ended.')))
    thread.on('message', onMessage).on('error', onError).on('exit', onExit)
    gone.addEventListener('abort', () => settle(() => reject(new SimulationAbandoned())), { signal: ended.signal })
    if (gone.aborted) settle(() => reject(new SimulationAbandoned()))
    else thread.postMessage(job)
  })
}
