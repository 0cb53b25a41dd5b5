// Whether a trigger can be accepted: its workflow, its payload, its tenant and its recipients. Nothing here does I/O.
import { liveMark } from '../../db/core/tables.ts'
import { RequestError } from '../../errors.ts'
import { RenderError } from '../../render/limits.ts'
import { renderTemplate, situation } from '../../render/liquid.ts'
import type { StartWorkflow } from '../../steps/contract/need.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { splitAttachments } from './attachments.ts'
import { type EventRow, isActive } from './compose.ts'
import { checkPayload, payloadError } from './payload.ts'
import type { TriggerRequest, TriggerStatus } from './trigger-request.ts'

type Members = Record<string, unknown>

/** Whether the workflow is active for a tenant; null if the tenant does not say. */
export type TenantChoice = { active: boolean | null }

/** The payload as runs will see it. Throws if it does not fit. */
export function judgePayload(workflow: WorkflowVersion, { payload }: Pick<TriggerRequest, 'payload'>): Members {
  if (!workflow.validate_payload || !workflow.payload_schema) return payload
  const schema = workflow.payload_schema as JsonSchema
  const checked = checkPayload(schema, payload)
  if ('problems' in checked) throw payloadError(schema, checked.problems)
  return checked.payload
}

/** Longer ones are none. */
export const longestKey = 255

/** A trigger's cancellation key; empty if there is none, undefined if it is too long. */
export function keyFrom(
  template: string,
  given: { payload: Members; context: Members },
  now: Date,
): string | undefined {
  const context = Object.fromEntries(
    Object.entries(given.context).map(([type, value]) => [
      type,
      typeof value === 'string' ? { id: value, data: {} } : value,
    ]),
  )
  const key = renderTemplate(template, situation({ payload: given.payload, context }, now)).trim()
  return key.length > longestKey ? undefined : key
}

/** Why nothing happens; undefined if something does. @param tenant of the trigger, if it exists */
export function idleStatus(
  workflow: WorkflowVersion,
  { tenant: named, recipients }: Pick<TriggerRequest, 'tenant' | 'recipients'>,
  tenant: TenantChoice | undefined,
): TriggerStatus | undefined {
  if (named && !tenant) return 'no_tenant_found'
  if (!(tenant?.active ?? workflow.active)) return 'trigger_not_active'
  if (workflow.steps.length === 0) return 'no_workflow_steps_defined'
  if (!workflow.steps.some(isActive)) return 'no_workflow_active_steps_defined'
  if (recipients?.length === 0) return 'invalid_recipients'
  return undefined
}

/** Whether a trigger is delivered here, in front of another service. */
export const goesLive = (
  way: TriggerRequest['way'],
  workflowId: string,
  { live }: { live: ReadonlySet<string> },
): boolean => (way === undefined ? live.has(workflowId) : way === 'here')

/** Callers cannot set the mark: it is taken off, whatever they say. */
export function markedWay({ [liveMark]: _, ...overrides }: Members, isLive: boolean): Members {
  return isLive ? { ...overrides, [liveMark]: true } : overrides
}

/** A workflow that a step starts. */
export interface Start {
  need: StartWorkflow
  workflow: WorkflowVersion
  trace: string | null
  /** In front of another service: whether the trigger of its run was not passed on, and its own workflow is not either. */
  isLive?: boolean
}

/** The trigger as it will be stored, but for when it was started; or why there is none. */
export function judgeStart(
  { need, workflow, trace, isLive = false }: Start,
  tenant: TenantChoice | undefined,
  { now, newId }: { now: Date; newId(now: Date): string },
): Omit<EventRow, 'started_at'> | string {
  const request = {
    ...{ recipients: need.recipients, payload: need.payload },
    tenant: need.tenant === undefined ? undefined : { identifier: need.tenant },
  }
  try {
    const { rest: payload } = splitAttachments(judgePayload(workflow, request))
    const idle = idleStatus(workflow, request, tenant)
    if (idle) return idle
    return {
      ...{ environment_id: need.environmentId, id: newId(now), transaction_id: need.transactionId },
      ...{ workflow_id: workflow.id, workflow_version: workflow.version, recipients: need.recipients, payload },
      ...{ overrides: markedWay({}, isLive), actor: need.actor === undefined ? null : { subscriberId: need.actor } },
      tenant: request.tenant ?? null,
      context: Object.keys(need.context).length === 0 ? null : need.context,
      ...{ created_at: now, trace, started_by: need.startedBy },
      cancellation_key: keyOfStart(need, workflow, payload, now),
    }
  } catch (error) {
    if (error instanceof RequestError) return error.code
    throw error
  }
}

/** One that cannot be rendered, or is too long, is none. */
function keyOfStart(
  { cancellationKey, context }: Pick<StartWorkflow, 'cancellationKey' | 'context'>,
  { journey }: WorkflowVersion,
  payload: Members,
  now: Date,
): string | null {
  if (cancellationKey !== undefined) return cancellationKey
  if (!journey?.cancellationKey) return null
  try {
    return keyFrom(journey.cancellationKey, { payload, context }, now) || null
  } catch (error) {
    if (error instanceof RenderError) return null
    throw error
  }
}
