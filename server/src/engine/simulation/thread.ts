// The thread in which scenarios are played and triggers explained, so that they hold up nobody.
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { checkExpectations, expectations } from './expectations.ts'
import { type Explaining, explain } from './explain.ts'
import { explainPast, type PastRecord } from './explain-past.ts'
import { type Impact, impactOf } from './impact.ts'
import { play } from './play.ts'
import { tooLarge } from './record.ts'
import { limits, type Members, type Refusal, type Scenario, SimulationRefused, type Snapshot } from './scenario.ts'
import type { Brand } from './tools.ts'

interface Simulation {
  scenario: Scenario
  snapshot: Snapshot
  brand: Brand
  expect: Members[]
  /** What the answer says about the workflow. */
  about: Members
}

export type Job =
  | Simulation
  | { explaining: Explaining }
  | { past: PastRecord; now: Explaining | undefined; brand: string }
  /** With a token for all of them, an answer about several workflows. */
  | { impact: Impact; token: string | undefined }

/** The answer is JSON as it is sent. */
export type Outcome = { answer: Uint8Array<ArrayBuffer> } | { refusal: Refusal } | { failure: string }

async function answerOf(job: Job): Promise<Outcome> {
  try {
    const answer = new TextEncoder().encode(JSON.stringify(await answered(job)))
    if (answer.byteLength > limits.bytes) throw tooLarge('bytes')
    return { answer }
  } catch (error) {
    if (error instanceof SimulationRefused) return { refusal: error.refusal }
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

async function answered(job: Job): Promise<Members> {
  if ('explaining' in job) return explain(job.explaining)
  if ('past' in job) return explainPast(job.past, job.now, job.brand)
  if ('impact' in job) {
    const workflows = await impactOf(job.impact)
    return job.token === undefined ? (workflows[0] ?? {}) : { workflows, impactToken: job.token }
  }
  const { scenario, snapshot, brand, expect, about } = job
  checkExpectations(expect, scenario.startAt)
  const played = await play(scenario, snapshot, brand)
  return { ...played, workflow: about, ...expectations(expect, played, scenario.startAt) }
}

// Linux has a priority for each thread: whoever simulates waits for whoever notifies. Elsewhere it is that of the process.
if (process.platform === 'linux') setPriority((workerData as { priority: number }).priority)
parentPort?.on('message', (job: Job) => {
  void answerOf(job).then((outcome) =>
    parentPort?.postMessage(outcome, 'answer' in outcome ? [outcome.answer.buffer] : []),
  )
})
