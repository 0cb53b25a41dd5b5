// What an explanation is made from, and what was seen when it was played.
import type { StepPath } from '../../steps/contract/tree.ts'
import type { PassedOverGroup } from '../runs/passed-over.ts'
import type { Gate, GateFacts } from './gates.ts'
import type { Beginning } from './play.ts'
import type { Scenario, Snapshot } from './scenario.ts'

/** Everything that one trigger for one person is played from. */
export interface Situation {
  scenario: Scenario
  snapshot: Snapshot
  beginning: Beginning
  circuits: GateFacts['circuits']
  /** Integrations that are not active. */
  spare: Snapshot['environment']['integrations']
  /** By layer of preferences; the subscriber's own by workflow. */
  changed: {
    workflow: Date | null
    tenant: Date | null
    subscriberGlobal: Date | null
    subscriberWorkflow: Date | null
  }
}

export type Verdict = 'sends' | 'waits' | 'passes' | 'held_back' | 'fails' | 'not_reached'

export interface SeenStep {
  stepId: string
  type: string
  channel: string | null
  /** The arms that lead to it. */
  path?: StepPath
  /** Of a copy of a question: the step that asks. */
  of?: string
  verdict: Verdict
  reason: string | null
  /** When its turn comes. */
  at: Date | null
  until: Date | null
  gates: Gate[]
}

export interface Seen {
  /** As the trigger's answer would be; `payload_invalid` if its payload does not fit. */
  trigger: string
  problem: string | null
  steps: SeenStep[]
  passedOver: PassedOverGroup[]
}
