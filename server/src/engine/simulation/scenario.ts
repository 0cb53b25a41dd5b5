// What a simulation is played from: the scenario as the caller wrote it, read and checked, and what it refers to, read from the
// database once. Both are plain data, so that they can be handed to a thread.

import type { SubscriberFields } from '../../db/core/subscriber-fields.ts'
import type { ChannelChoices, SubscriberChannel } from '../../db/core/tables.ts'
import type { ConnectionRow } from '../../db/queries/channel-connections.ts'
import type { EndpointRow } from '../../db/queries/channel-endpoints.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { LayoutRow } from '../../db/queries/layouts.ts'
import type { PushSubscriptionRow } from '../../db/queries/push-subscriptions.ts'
import type { SandboxFault } from '../../db/queries/sandbox.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import type { TranslationGroup } from '../../render/translations.ts'
import type { EnvironmentFacts } from '../../steps/contract/step-run.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import type { RotaRules } from '../core/rota.ts'
import type { RecipientRow, TenantRow } from '../runs/compose.ts'
import type { Subscription } from '../runs/members.ts'
import type { TriggerRequest } from '../runs/trigger-request.ts'

export type Members = Record<string, unknown>

/** Refusals that `errors.ts` words. */
export type Refusal =
  | { code: 'simulation_invalid'; params: { where: string; problem: string } }
  | { code: 'simulation_too_large'; params: { what: 'runs' | 'steps' | 'bytes'; most: number } }
  | { code: 'simulation_needs_answers'; params: { workflowId: string; steps: string[] } }
  | { code: 'workflow_not_found'; params: { workflowId: string } }
  | { code: 'workflow_version_not_found'; params: { workflowId: string; version: number } }

export class SimulationRefused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.code)
    this.refusal = refusal
  }
}

export const invalid = (where: string, problem: string) =>
  new SimulationRefused({ code: 'simulation_invalid', params: { where, problem } })

export interface InventedPreferences {
  channels?: ChannelChoices | undefined
  schedule?: Members | undefined
  /** Null ends the pause. */
  snoozedUntil?: Date | null | undefined
  /** By workflow identifier. */
  workflows?: Record<string, { channels: ChannelChoices }> | undefined
}

export interface InventedSubscriber extends SubscriberFields {
  subscriberId: string
  channels?: Array<Pick<SubscriberChannel, 'providerId' | 'integrationIdentifier' | 'credentials'>>
  preferences?: InventedPreferences | undefined
  /** Changes the stored one instead of replacing it. */
  isBased: boolean
}

export const faultNames = [
  'rate_limited',
  'timeout',
  'reset',
  'server_error',
  'bounce',
  'rejected',
  'unauthorized',
  'outage',
  'hang',
] as const satisfies ReadonlyArray<SandboxFault | 'outage' | 'hang'>
export type FaultName = (typeof faultNames)[number]

export interface FaultInput {
  fault: FaultName
  until: number | undefined
  channel?: string | undefined
  providerId?: string | undefined
  integrationIdentifier?: string | undefined
  count?: number | undefined
  retryAfterSeconds?: number | undefined
}

/** What a message is marked with. */
export const markings = ['seen', 'read', 'unread', 'acted'] as const
export type Marking = (typeof markings)[number]

export type Input = { at: number } & (
  | { type: 'trigger'; request: TriggerRequest; isBroadcast: boolean }
  /** Refused before it reached a workflow. */
  | { type: 'refused'; transactionId: string; error: { code: string; message: string } }
  | {
      type: 'cancel'
      transactionId: string | undefined
      /** Instead of the transaction id. */
      key: string | undefined
      subscriberId: string | undefined
    }
  | {
      type: 'event'
      name: string
      key: string | undefined
      subscriberId: string | undefined
      id: string | undefined
      payload: Members
    }
  | {
      type: 'answer'
      subscriberId: string
      answer: string
      text: string | undefined
      transactionId: string | undefined
      stepId: string | undefined
    }
  | {
      type: Marking
      subscriberId: string
      transactionId?: string | undefined
      stepId?: string | undefined
      action?: 'primary' | 'secondary' | undefined
    }
  | {
      type: 'preferences'
      subscriberId: string
      channels?: ChannelChoices | undefined
      schedule?: Members | undefined
      snoozedUntil?: Date | null | undefined
      workflowId?: string | undefined
      /** Scenarios that callers write know preferences without contexts only. */
      contextKeys?: string[] | undefined
    }
  | { type: 'subscriber'; subscriberId: string; set?: SubscriberFields | undefined; isDeleted: boolean }
  | {
      type: 'workflow'
      draft?: WorkflowVersion | undefined
      version?: number | undefined
      active?: boolean | undefined
    }
  | ({ type: 'fault' } & FaultInput)
)

export const inputTypes = [
  'trigger',
  'cancel',
  'event',
  'answer',
  ...markings,
  'preferences',
  'subscriber',
  'workflow',
  'fault',
] as const

/** What somebody outside would say at a step. */
export type GivenAnswer = { status: number; body: unknown } | { outputs: Members } | { skip: true }

export interface Scenario {
  startAt: number
  horizonMs: number
  seed: number
  /** The identifier that triggers without a name mean. */
  workflowId: string
  /** Of the stored workflow; absent for the current one. */
  version: number | undefined
  subscribers: InventedSubscriber[]
  topics: Array<{ topicKey: string; subscriberIds: string[] }>
  integrations: Array<
    Pick<IntegrationRow, 'identifier' | 'channel' | 'provider_id' | 'is_primary' | 'priority' | 'conditions'>
  > | null
  answers: Record<string, GivenAnswer>
  /** Whether a workflow in code is refused without them. */
  needsAnswers: boolean
  inputs: Input[]
  hasDetails: boolean
}

export interface StoredTopic {
  id: string
  key: string
  members: Array<
    Omit<Subscription, 'topic_id' | 'topic_key' | 'choice'> & {
      subscriber_row_id: string
      context_keys: string[]
      choices: Record<string, NonNullable<Subscription['choice']>>
    }
  >
}

export interface Snapshot {
  environment: Omit<EnvironmentFacts, 'signing' | 'webhooks' | 'answerLink'>
  hasBranding: boolean
  /** The workflow that is simulated. */
  workflow: WorkflowVersion
  /** Its earlier versions that inputs name. */
  versions: WorkflowVersion[]
  /** Others that triggers name. */
  others: WorkflowVersion[]
  layouts: LayoutRow[]
  /** By `workflow <id>` and `layout <id>`. */
  translations: Record<string, TranslationGroup>
  subscribers: RecipientRow[]
  endpoints: EndpointRow[]
  connections: ConnectionRow[]
  topics: StoredTopic[]
  /** Those that chains of questions name. */
  rotas: Array<RotaRules & { rota_id: string }>
  tenants: Array<TenantRow & { active: Record<string, boolean | null> }>
  contexts: Array<{ type: string; context_id: string; data: Members }>
  /** The entries of the suppression list about addresses of these people. */
  suppressions: SuppressionRow[]
  /** The browsers that these people have registered, without their keys. */
  browsers: PushSubscriptionRow[]
}

export const limits = {
  runs: 10_000,
  /** Steps begun, ended or attempted. */
  steps: 200_000,
  bytes: 32 * 1024 * 1024,
} as const
