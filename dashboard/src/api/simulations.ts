// Simulations: requests and their cache keys. Nothing is stored, so nothing has to be refreshed.
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Body, inEnvironment } from './client.ts'

export type SimulationRequest = Body<'POST /v1/simulations'>
type Members = Record<string, unknown>

export interface SimulatedWait {
  from: string
  until: string
  why: 'delay' | 'digest' | 'schedule' | 'retry' | 'event' | 'question'
}

export interface SimulatedAttempt {
  at: string
  call: number
  providerId: string
  outcome: string
  next: 'retry' | 'fail_over' | 'give_up' | null
  nextAt: string | null
}

export interface SimulatedStep {
  stepId: string
  type: string
  status: string
  reason: string | null
  error: string | null
  beganAt: string | null
  endedAt: string | null
  waits: SimulatedWait[]
  attempts: SimulatedAttempt[]
}

export interface SimulatedRun {
  id: string
  transactionId: string
  subscriberId: string
  status: string
  steps: SimulatedStep[]
}

export interface SimulatedWindow {
  id: string
  kind: 'digest' | 'throttle'
  stepId: string
  subscriberId: string
  openedAt: string
  endsAt: string | null
  closedAt: string | null
  eventCount: number
}

export interface SimulatedMessage {
  id: string
  runId: string
  transactionId: string
  subscriberId: string
  stepId: string
  channel: string
  at: string
  status: string
  to: string[]
  subject: string | null
  text: string | null
  html: string | null
  inApp?: { avatar: string | null; cta: Members | null; read: boolean }
}

export interface Happened {
  at: string
  kind: string
  input?: number
  runId?: string
  stepId?: string
  windowId?: string
  messageId?: string
}

export interface Simulation {
  startAt: string
  endAt: string
  stoppedBy: 'nothing_left' | 'horizon'
  triggers: Array<{
    input: number
    at: string
    transactionId: string
    status: string
    runs: number
    error?: { code: string; message: string }
  }>
  runs: SimulatedRun[]
  windows: SimulatedWindow[]
  messages: SimulatedMessage[]
  timeline: Happened[]
  waiting: Array<{ runId: string; stepId: string; until: string }>
  assumed: Array<{ stepId: string }>
}

export const simulations = {
  /** The last picture stays until the next has come. */
  play: (body: SimulationRequest) =>
    queryOptions({
      queryKey: inEnvironment('simulations', body),
      queryFn: async ({ signal }) => (await api('POST /v1/simulations', { body, signal })) as unknown as Simulation,
      placeholderData: keepPreviousData,
      gcTime: 30_000,
    }),
}
