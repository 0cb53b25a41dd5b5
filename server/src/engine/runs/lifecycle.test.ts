import { describe, expect, test } from 'vitest'
import { lifecycleOf } from './lifecycle.ts'

type Jobs = Parameters<typeof lifecycleOf>[0]
type Messages = Parameters<typeof lifecycleOf>[1]

const job = (type: string, status: string, reason: string | null = null, merged_into: string | null = null) => ({
  ...{ type, status, reason, merged_into },
})
const message = (fields: Partial<Messages[number]> = {}) => ({
  ...{ seen: false, read: false, archived: false, snoozed_until: null, delivered_at: null },
  ...fields,
})
const now = new Date('2026-05-01T10:00:00Z')

describe('how far a run got', () => {
  test.each<[string, Jobs, Messages, string, string?]>([
    ['no channel step', [job('delay', 'completed')], [], 'errored', 'workflow_missing_channel_step'],
    ['nothing at all', [], [], 'errored', 'workflow_missing_channel_step'],
    ['a question that is to be put', [job('ask', 'pending')], [], 'pending'],
    ['a question that waits for its first copy', [job('ask', 'delayed')], [], 'pending'],
    ['nobody could be asked', [job('ask', 'skipped', 'nobody_to_ask')], [], 'skipped', 'nobody_to_ask'],
    ['a question was left out', [job('ask', 'skipped', 'step_condition')], [], 'skipped', 'step_condition'],
    ['a question was called off', [job('ask', 'canceled', 'canceled_by_user')], [], 'canceled'],
    ['a question failed', [job('ask', 'failed', 'invalid_settings')], [], 'errored'],
    [
      'whoever was asked does not want it, and another level comes',
      [job('ask', 'delayed'), job('email', 'skipped', 'preference')],
      [],
      'pending',
    ],
    [
      'nobody who was asked wanted it',
      [job('ask', 'skipped', 'nobody_to_ask'), job('email', 'canceled', 'preference')],
      [],
      'skipped',
      'preference',
    ],
    ['a question was put', [job('ask', 'delayed'), job('email', 'completed')], [], 'sent'],
    ['somebody saw it', [job('email', 'failed'), job('in_app', 'completed')], [message({ seen: true })], 'interacted'],
    ['it was read', [job('email', 'completed')], [message(), message({ read: true })], 'interacted'],
    ['it was archived', [job('in_app', 'completed')], [message({ archived: true })], 'interacted'],
    ['it was snoozed', [job('in_app', 'completed')], [message({ snoozed_until: now })], 'interacted'],
    ['it arrived', [job('email', 'completed')], [message({ delivered_at: [now] })], 'delivered'],
    ['it is in the inbox', [job('email', 'pending'), job('in_app', 'completed')], [], 'delivered'],
    ['it was handed over', [job('email', 'completed'), job('sms', 'failed')], [message()], 'sent'],
    ['its message was deleted since', [job('email', 'completed')], [], 'sent'],
    ['an empty list of delivery times', [job('email', 'completed')], [message({ delivered_at: [] })], 'sent'],
    ['the subscriber does not want it', [job('email', 'canceled', 'preference')], [], 'skipped', 'preference'],
    [
      'of several reasons the first counts',
      [job('email', 'canceled', 'missing_email'), job('sms', 'canceled', 'step_condition')],
      [],
      'skipped',
      'step_condition',
    ],
    [
      'a step failed, another had no address',
      [job('email', 'failed', 'provider_refused'), job('sms', 'canceled', 'missing_phone')],
      [message()],
      'skipped',
      'missing_phone',
    ],
    ['it is the wrong time', [job('email', 'canceled', 'outside_schedule')], [], 'skipped', 'outside_schedule'],
    [
      'there were too many',
      [job('throttle', 'skipped'), job('email', 'skipped', 'throttled')],
      [],
      'skipped',
      'throttled',
    ],
    [
      'more is to come',
      [job('email', 'canceled', 'preference'), job('delay', 'delayed'), job('sms', 'pending')],
      [],
      'canceled',
    ],
    [
      'it was called off',
      [job('delay', 'canceled', 'canceled_by_user'), job('email', 'canceled', 'canceled_by_user')],
      [],
      'canceled',
    ],
    [
      'a step before failed',
      [job('digest', 'failed'), job('email', 'canceled', 'previous_step_failed')],
      [],
      'canceled',
    ],
    ['all failed', [job('email', 'failed', 'no_integration'), job('sms', 'failed')], [], 'errored'],
    ['one failed, one is to come', [job('email', 'failed'), job('sms', 'pending')], [], 'pending'],
    [
      'another run sends it',
      [job('digest', 'merged'), job('email', 'merged', 'merged_into_digest', 'x')],
      [],
      'merged',
    ],
    ['skipped for another run', [job('email', 'skipped', 'preference', 'x')], [], 'merged'],
    ['it waits', [job('delay', 'delayed'), job('email', 'pending')], [], 'pending'],
    ['it is in progress', [job('email', 'queued')], [message()], 'pending'],
  ])('%s', (_case, jobs, messages, status, detail) => {
    expect(lifecycleOf(jobs, messages)).toEqual(detail === undefined ? { status } : { status, detail })
  })
})
