// Helpers for tests of runs: create a workflow in one line, trigger it, and read the result.
import { expect } from 'vitest'
import type { Api, TestClock, TestServer } from './server.ts'

export interface Step {
  type: string
  name?: string
  stepId?: string
  controlValues?: object
  [member: string]: unknown
}

export const inApp = (body = 'Hello', more: Record<string, unknown> = {}): Step => ({
  type: 'in_app',
  controlValues: { body, ...more },
})

/** An active workflow whose identifier is its name. */
export async function makeWorkflow(api: Api, workflowId: string, steps: Step[], more: object = {}): Promise<string> {
  const named = steps.map((step, index) => ({
    name: `${step.type} ${index}`,
    stepId: `${step.type}-${index}`,
    ...step,
  }))
  const answer = await api.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps: named, ...more })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body._id
}

/** A trigger that is accepted. @returns its transaction id */
export async function trigger(api: Api, name: string, to: unknown, more: object = {}): Promise<string> {
  const answer = await api.post('/v1/events/trigger', { name, to, ...more })
  expect(answer, answer.text).toMatchObject({ status: 201, body: { acknowledged: true, status: 'processed' } })
  return answer.body.transactionId
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
type Found = any

/** The runs of a transaction, newest first, as in the activity list. */
export async function runsOf(api: Api, transactionId: string): Promise<Found[]> {
  const answer = await api.get(`/v1/notifications?transactionId=${transactionId}&limit=50`)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body.data
}

/** The only run of a transaction. */
export async function runOf(api: Api, transactionId: string): Promise<Found> {
  const runs = await runsOf(api, transactionId)
  expect(runs).toHaveLength(1)
  return runs[0]
}

/** `in_app completed: Step queued, Message created, Message sent` for each step. */
export const storyOf = (run: Found): string[] =>
  run.jobs.map(
    (job: Found) =>
      `${job.type} ${job.status}: ${job.executionDetails.map(({ detail }: Found) => detail.trim()).join(', ')}`,
  )

export async function messagesOf(api: Api, query: string): Promise<Found[]> {
  const answer = await api.get(`/v1/messages?${query}&limit=100`)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body.data
}

/** The contents of a subscriber's messages, oldest first. */
export async function contentsOf(api: Api, subscriberId: string): Promise<string[]> {
  const messages = await messagesOf(api, `subscriberId=${subscriberId}`)
  return messages.map(({ content }) => content).reverse()
}

export function advanceTo(clock: TestClock, moment: string): void {
  clock.advance({ ms: Date.parse(moment) - clock.now().getTime() })
}

/** Advances the clock and does what is due. */
export async function pass(server: TestServer, by: Parameters<TestClock['advance']>[0]): Promise<void> {
  server.clock.advance(by)
  await server.drain()
}

/** Several workers at once work on the queue. */
export const drainBySeveral = (server: TestServer) => Promise.all([1, 2, 3, 4].map(() => server.drain()))

/** Sets a subscriber's preferences, global or for one workflow. */
export async function prefer(api: Api, subscriberId: string, preferences: object): Promise<void> {
  await api.post('/v2/subscribers', { subscriberId })
  const answer = await api.patch(`/v2/subscribers/${subscriberId}/preferences`, preferences)
  expect(answer, answer.text).toMatchObject({ status: 200 })
}
