// A trigger as the engine takes it, and its answer.
import type { Recipient } from '../../db/core/tables.ts'
import type { WorkflowFields } from '../../db/queries/workflows.ts'

type Members = Record<string, unknown>

export interface TriggerRequest {
  environmentId: string
  /** The identifier of the workflow. */
  name: string
  /** Null means all subscribers. Recipients with invalid ids are already removed. */
  recipients: Recipient[] | null
  /** Invalid ids, if any. */
  invalidRecipients?: string[] | undefined
  payload: Members
  overrides: Members
  transactionId: string | undefined
  /** A subscriber, with the fields to set. */
  actor: ({ subscriberId: string } & Members) | undefined
  tenant: ({ identifier: string } & Members) | undefined
  context: Members | undefined
  /** Instead of the workflow's own. */
  cancellationKey?: string | undefined
  /**
   * In front of another service: whether it was passed on (`mirrored`), or not (`here`). Undefined: it did not come from outside,
   * and its workflow decides.
   */
  way?: 'mirrored' | 'here' | undefined
  /** The workflow itself, if it is not stored here. */
  bridged?: BridgedWorkflow
  /** A `traceparent`, if tracing is on. */
  trace?: string
}

/** A workflow as an application describes it now, and that application's URL. */
export type BridgedWorkflow = WorkflowFields & { id: string; bridge_url: string }

export type TriggerStatus =
  | 'processed'
  | 'trigger_not_active'
  | 'no_workflow_steps_defined'
  | 'no_workflow_active_steps_defined'
  | 'no_tenant_found'
  | 'invalid_recipients'

export interface TriggerResult {
  status: TriggerStatus
  transactionId: string
}
