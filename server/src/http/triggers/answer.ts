// The answer to a trigger: its status, its id, and a link to its activity.
import { type Static, Type } from 'typebox'
import type { TriggerResult } from '../../engine/runs/trigger-request.ts'
import { Enum } from '../edge/schema.ts'

const statuses = [
  'error',
  'trigger_not_active',
  'no_workflow_active_steps_defined',
  'no_workflow_steps_defined',
  'processed',
  'no_tenant_found',
  'invalid_recipients',
] as const

export const TriggerAnswer = Type.Object({
  acknowledged: Type.Boolean(),
  status: Enum(statuses),
  error: Type.Optional(Type.Array(Type.String())),
  transactionId: Type.Optional(Type.String()),
  activityFeedLink: Type.Optional(Type.String({ description: 'The dashboard page with its activity' })),
})

/** Each with all members by name: for a literal with a spread, V8 makes a hidden class per object. */
export function answerOf({ status, transactionId }: TriggerResult, publicUrl: string): Static<typeof TriggerAnswer> {
  if (status !== 'processed') return { acknowledged: true, status, transactionId }
  const activityFeedLink = `${publicUrl}/activity?transactionId=${encodeURIComponent(transactionId)}`
  return { acknowledged: true, status, transactionId, activityFeedLink }
}
