// What a caller is told of a trigger: what became of it, its id, and where a person can see the rest.
import { type Static, Type } from 'typebox'
import type { TriggerResult } from '../../engine/runs/trigger.ts'
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
  activityFeedLink: Type.Optional(Type.String({ description: 'The page of the dashboard that shows what came of it' })),
})

export const answerOf = (
  { status, transactionId }: TriggerResult,
  publicUrl: string,
): Static<typeof TriggerAnswer> => ({
  acknowledged: true,
  status,
  transactionId,
  ...(status === 'processed'
    ? { activityFeedLink: `${publicUrl}/activity?transactionId=${encodeURIComponent(transactionId)}` }
    : {}),
})
