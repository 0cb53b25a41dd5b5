// Plays a scenario: the engine's own run machine and steps, with a clock that jumps from one thing to the next, and everything
// stored kept in memory.
import { Inputs } from './inputs.ts'
import { type CollectingRun, Runs } from './runs.ts'
import type { Members, Scenario, Snapshot } from './scenario.ts'
import type { Brand } from './tools.ts'
import { noWindows, type OpenWindows } from './windows.ts'

/** The answer, but for what the caller's request adds. */
export async function play(scenario: Scenario, snapshot: Snapshot, brand: Brand): Promise<Members> {
  return new Play(scenario, snapshot, brand).all()
}

/** What there is before the first input, beside what is stored about people and workflows. */
export interface Beginning {
  open: OpenWindows
  collecting: CollectingRun[]
}

export class Play {
  readonly #scenario: Scenario
  readonly #collecting: CollectingRun[]
  readonly #inputs: Inputs
  readonly runs: Runs

  constructor(scenario: Scenario, snapshot: Snapshot, brand: Brand, beginning?: Beginning) {
    this.#scenario = scenario
    this.#collecting = beginning?.collecting ?? []
    this.runs = new Runs(scenario, snapshot, brand, beginning?.open ?? noWindows())
    this.#inputs = new Inputs(this.runs, snapshot)
  }

  async all(): Promise<Members> {
    const { runs } = this
    const { record, tools } = runs
    const { startAt, horizonMs, hasDetails, seed } = this.#scenario
    for (const each of this.#collecting) await runs.resume(each)
    const horizonAt = startAt + horizonMs
    const inputs = [...this.#scenario.inputs.entries()].sort(([, a], [, b]) => a.at - b.at)
    let last = startAt
    for (let place = 0; ; ) {
      const input = inputs[place]
      const due = runs.nextDue()
      // At one moment, waits end before inputs happen.
      if (due !== undefined && due <= (input?.[1].at ?? Number.POSITIVE_INFINITY)) {
        if (due > horizonAt) break
        runs.moveTo(due)
        last = due
        await runs.endNext()
        await runs.makeCalls()
      } else if (input) {
        last = input[1].at
        runs.moveTo(last)
        record.note({ at: record.iso(runs.now), kind: 'input', input: input[0] })
        await this.#inputs.take(input[1], input[0])
        await runs.makeCalls()
        place += 1
      } else break
    }
    const isCutOff = runs.nextDue() !== undefined
    const ending = { startAt: new Date(startAt), endAt: new Date(isCutOff ? horizonAt : last), isCutOff, hasDetails }
    return { ...record.answer({ ...ending, horizonAt: new Date(horizonAt), brand: tools.brand }), seed }
  }
}
