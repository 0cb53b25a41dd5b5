// Whether a trigger can be accepted: its workflow, its payload, its tenant and its recipients. Nothing here does I/O.
import { renderTemplate, situation } from '../../render/liquid.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { isActive } from './compose.ts'
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
