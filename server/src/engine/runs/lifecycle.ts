// How far a run got, in one word: computed from its steps and messages, never stored.

import type { JobTable } from '../../db/core/tables.ts'
import type { MessageRow } from '../../db/queries/messages.ts'
import type { StepType } from '../../steps/contract/kind.ts'
import { stepKinds } from '../../steps/kinds/index.ts'

export const lifecycleStatuses = [
  'pending',
  'sent',
  'delivered',
  'interacted',
  'skipped',
  'canceled',
  'merged',
  'errored',
] as const

export interface DeliveryLifecycle {
  status: (typeof lifecycleStatuses)[number]
  detail?: string
}

type Job = Pick<JobTable, 'type' | 'status' | 'reason' | 'merged_into'>
type Message = Pick<MessageRow, 'seen' | 'read' | 'archived' | 'snoozed_until' | 'delivered_at'>

/** Of several reasons to skip, the first in this list is shown. */
const skipReasons = [
  'preference',
  'suppressed',
  'snoozed',
  'step_condition',
  'missing_email',
  'missing_phone',
  'missing_push_token',
  'missing_webhook_url',
  'some_channels_missing_credentials',
  'outside_schedule',
  'throttled',
  'capped',
  'exited',
  'goal_met',
  'nobody_to_ask',
]
const ended = new Set(['completed', 'failed', 'canceled', 'merged', 'skipped'])

/** The first rule that matches decides. */
export function lifecycleOf(jobs: Job[], messages: Message[]): DeliveryLifecycle {
  const sending = jobs.filter(({ type }) => stepKinds[type as StepType]?.channel !== undefined)
  // A question that has no copies stands for them.
  const channelJobs = sending.length > 0 ? sending : jobs.filter(({ type }) => type === 'ask')
  // What a branch leads to is known once it is taken, and whom a question reaches once it is over.
  const isOpen = jobs.some(({ type, status }) => (type === 'branch' || type === 'ask') && !ended.has(status))
  if (channelJobs.length === 0) {
    if (isOpen) return { status: 'pending' }
    if (jobs.some(({ type }) => type === 'branch')) return { status: 'skipped', detail: 'step_condition' }
    return { status: 'errored', detail: 'workflow_missing_channel_step' }
  }
  if (messages.some(wasNoticed)) return { status: 'interacted' }
  // A completed step has sent its message, even if that was deleted since; an in-app message is delivered once it exists.
  const completed = channelJobs.filter(({ status }) => status === 'completed')
  const hasArrived = messages.some(({ delivered_at }) => delivered_at !== null && delivered_at.length > 0)
  if (hasArrived || completed.some(({ type }) => type === 'in_app')) return { status: 'delivered' }
  if (completed.length > 0) return { status: 'sent' }
  const isOver = !isOpen && channelJobs.every(({ status }) => ended.has(status))
  const reasons = new Set(channelJobs.filter(isSkipped).map(({ reason }) => reason))
  const detail = skipReasons.find((reason) => reasons.has(reason))
  if (isOver && detail !== undefined) return { status: 'skipped', detail }
  if (channelJobs.some(({ status }) => status === 'canceled')) return { status: 'canceled' }
  if (!isOver) return { status: 'pending' }
  return { status: channelJobs.some(({ status }) => status === 'failed') ? 'errored' : 'merged' }
}

const wasNoticed = ({ seen, read, archived, snoozed_until }: Message) =>
  seen || read || archived || snoozed_until !== null

const isSkipped = ({ status, merged_into }: Job) =>
  (status === 'skipped' || status === 'canceled') && merged_into === null
