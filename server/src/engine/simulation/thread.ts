// The thread in which scenarios are played, so that they hold up nobody.
import { parentPort } from 'node:worker_threads'
import { expectations } from './expectations.ts'
import { type Brand, play } from './play.ts'
import { tooLarge } from './record.ts'
import { limits, type Members, type Refusal, type Scenario, SimulationRefused, type Snapshot } from './scenario.ts'

export interface Job {
  scenario: Scenario
  snapshot: Snapshot
  brand: Brand
  expect: Members[]
  /** What the answer says about the workflow. */
  about: Members
}

export type Outcome = { answer: string } | { refusal: Refusal } | { failure: string }

export async function answerOf({ scenario, snapshot, brand, expect, about }: Job): Promise<Outcome> {
  try {
    const played = await play(scenario, snapshot, brand)
    const answer = { ...played, workflow: about, ...expectations(expect, played, scenario.startAt) }
    const text = JSON.stringify(answer)
    if (Buffer.byteLength(text) > limits.bytes) throw tooLarge('bytes')
    return { answer: text }
  } catch (error) {
    if (error instanceof SimulationRefused) return { refusal: error.refusal }
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

parentPort?.on('message', (job: Job) => {
  void answerOf(job).then((outcome) => parentPort?.postMessage(outcome))
})
