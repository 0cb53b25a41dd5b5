import { describe, expect, test } from 'vitest'
import type { Run } from '../../api/runs.ts'
import { reasonLabels } from '../../ui/domain/reasons.ts'
import { type Job, whyOf, whyOfStep } from './why.ts'

const at = '2026-05-04T09:00:00.000Z'
const later = '2026-05-04T09:10:00.000Z'
const moment = (iso: string) => iso.slice(11, 16)

type Given = Partial<Omit<Job, 'step' | 'messages'>> & {
  type: string
  name?: string
  raw?: object
  step?: Partial<Job['step']>
  messages?: Array<Partial<Job['messages'][number]>>
}

function job({ name, raw, step = {}, messages = [], ...more }: Given): Job {
  const { type } = more
  return {
    _id: 'a1',
    status: 'completed',
    providerId: 'belfry',
    executionDetails: raw
      ? [{ ...line, detail: 'Step filtered by subscriber global preferences', raw: JSON.stringify(raw) }]
      : [],
    messages: messages.map((message) => ({ _id: 'm1', channel: 'email', status: 'sent', ...message })),
    step: {
      _id: 's1',
      _templateId: 's1',
      stepId: `${type}-step`,
      name: name ?? `My ${type}`,
      active: true,
      filters: [],
      ...step,
    },
    scheduleExtensionsCount: 0,
    createdAt: at,
    updatedAt: at,
    ...more,
  }
}
const line = {
  ...{
    _id: 'l1',
    createdAt: at,
    status: 'Success' as const,
    isRetry: false,
    isTest: false,
    source: 'Internal' as const,
  },
}

function run(jobs: Given[], more: Partial<Run> = {}): Run {
  return {
    _id: 'r1',
    _environmentId: 'e1',
    _organizationId: 'o1',
    _subscriberId: 'b1',
    _templateId: 'w1',
    workflowVersion: 1,
    transactionId: 't1',
    status: jobs.some(({ status }) => status === 'failed') ? 'error' : 'completed',
    deliveryLifecycle: { status: 'sent' },
    channels: [],
    subscriber: { _id: 'b1', subscriberId: 'ada', firstName: 'Ada' },
    template: {
      ...{ _id: 'w1', name: 'Invoice', origin: 'belfry' },
      triggers: [{ type: 'event', identifier: 'invoice', variables: [] }],
    },
    jobs: jobs.map(job),
    tags: [],
    severity: 'none',
    critical: false,
    contextKeys: [],
    createdAt: at,
    updatedAt: at,
    ...more,
  }
}

const subscriber = '/subscribers/ada'
const held = (reason: string, more: Partial<Given> = {}): Given => ({
  ...{ type: 'email', status: 'canceled', reason },
  ...more,
})
const failed = (reason: string, more: Partial<Given> = {}): Given => ({
  ...{ type: 'email', status: 'failed', reason },
  ...more,
})
const asked = (label: string): Given => ({
  ...{ type: 'ask', outcome: { answer: 'no', answeredBy: { name: 'Bob' } } },
  step: {
    controlVariables: {
      answers: [
        { id: 'yes', label: 'Approve' },
        { id: 'no', label },
      ],
    },
  },
})
const byGlobal = { decidedBy: 'subscriberGlobal', through: 'channel' }

describe('why: a run', () => {
  test.each<[what: string, run: Run, tone: string, sentence: string, leadsTo?: string]>([
    [
      'everything was sent',
      run([{ type: 'email' }, { type: 'sms' }]),
      'good',
      'The email and the SMS were sent to Ada.',
    ],
    ['one was sent', run([{ type: 'digest' }, { type: 'email' }]), 'good', 'The email was sent to Ada.'],
    [
      'it was seen',
      run([{ type: 'in_app' }], { deliveryLifecycle: { status: 'interacted' } }),
      'good',
      'The in-app message was sent to Ada and has been seen.',
    ],
    [
      'two steps of a kind are named',
      run([
        { type: 'email', name: 'First' },
        { type: 'email', name: 'Reminder' },
      ]),
      'good',
      'The email “First” and the email “Reminder” were sent to Ada.',
    ],
    [
      'one was skipped',
      run([{ type: 'in_app' }, held('missing_phone', { type: 'sms' })]),
      'good',
      'The in-app message was sent to Ada, but the SMS was skipped because Ada has no phone number.',
      subscriber,
    ],
    [
      'one failed',
      run([
        { type: 'in_app' },
        failed('provider_refused', {
          error: 'The address does not exist.',
          messages: [{ providerId: 'sendgrid', integrationId: 'i1', status: 'error' }],
        }),
      ]),
      'warn',
      'The in-app message was sent to Ada, but the email failed because sendgrid refused it: The address does not exist.',
      '/integrations/i1',
    ],
    [
      'nothing was sent: a preference explains more than a missing address',
      run([held('missing_phone', { type: 'sms' }), held('preference', { raw: byGlobal })], {
        deliveryLifecycle: { status: 'skipped', detail: 'preference' },
      }),
      'neutral',
      'Nothing was sent to Ada: the email was skipped because Ada turned email off; 1 more step was not sent.',
      subscriber,
    ],
    [
      'a failed digest explains why nothing was sent',
      run([
        failed('invalid_settings', { type: 'digest', error: 'Invalid digest amount' }),
        held('previous_step_failed'),
        held('previous_step_failed', { type: 'sms' }),
      ]),
      'bad',
      'Nothing was sent to Ada: the digest failed because its settings are not valid: Invalid digest amount.',
      '/workflows/invoice',
    ],
    [
      'it bounced',
      run([{ type: 'email', messages: [{ providerId: 'ses', status: 'error', errorText: 'Mailbox full' }] }]),
      'bad',
      'The email was not sent to Ada because ses reported a bounce: Mailbox full.',
    ],
    [
      'it joined a digest of another run',
      run(
        [
          { type: 'digest', status: 'merged', reason: 'merged_into_digest' },
          { type: 'email', status: 'merged' },
        ],
        {
          _digestedNotificationId: 'r2',
        },
      ),
      'neutral',
      'This run sent nothing itself: its event joined the digest of another run.',
      '/activity/r2',
    ],
    [
      'its rest joined a digest of another run',
      run(
        [
          { type: 'in_app', messages: [{ channel: 'in_app' }] },
          { type: 'digest', status: 'merged', reason: 'merged_into_digest' },
          { type: 'email', status: 'merged' },
        ],
        { _digestedNotificationId: 'r2' },
      ),
      'good',
      'The in-app message was sent to Ada; the rest joined the digest of another run.',
      '/activity/r2',
    ],
    [
      'no channel steps',
      run([{ type: 'delay' }], { deliveryLifecycle: { status: 'errored', detail: 'workflow_missing_channel_step' } }),
      'neutral',
      'Nothing was sent: the workflow has no channel steps.',
    ],
    [
      'a digest collects',
      run(
        [{ type: 'in_app' }, { type: 'digest', status: 'delayed', dueAt: later }, { type: 'email', status: 'pending' }],
        {
          status: 'processing',
        },
      ),
      'info',
      'The in-app message was sent to Ada, and the digest collects events until 09:10.',
    ],
    [
      'it is retried',
      run(
        [
          {
            ...{ type: 'email', status: 'queued', dueAt: later },
            executionDetails: [
              {
                ...{ ...line, providerId: 'sendgrid' },
                detail: 'The provider did not accept the message; it will be tried again',
              },
            ],
          },
        ],
        { status: 'processing' },
      ),
      'info',
      'The email is retried at 09:10 because sendgrid failed.',
    ],
    [
      'it waits for the schedule',
      run([{ type: 'email', status: 'delayed', dueAt: later, scheduleExtensionsCount: 1 }], { status: 'processing' }),
      'info',
      'The email waits until 09:10, when Ada’s schedule opens.',
    ],
    ['it is next', run([{ type: 'email', status: 'pending' }], { status: 'processing' }), 'info', 'The email is next.'],
    ['it has not started', run([], { status: 'processing' }), 'info', 'The run is about to start.'],
    [
      'the subscriber was deleted',
      run([failed('subscriber_gone')], { subscriber: undefined, to: { subscriberId: 'ada' } }),
      'bad',
      'The email was not sent to ada because the subscriber or the workflow was deleted.',
    ],
  ])('%s', (_, given, tone, sentence, leadsTo) => {
    const why = whyOf(given, { moment })
    expect([why.tone, why.sentence, why.cause?.to]).toEqual([tone, sentence, leadsTo])
  })
})

test.each<[what: string, run: Run, brief: string]>([
  ['what was sent', run([{ type: 'digest' }, { type: 'in_app' }, { type: 'sms' }]), 'In-app message and SMS'],
  ['what was skipped', run([{ type: 'in_app' }, held('missing_phone', { type: 'sms' })]), 'SMS: no phone number'],
  [
    'what failed, without the steps that only followed',
    run([failed('invalid_settings', { type: 'digest', error: 'Not a time.' }), held('previous_step_failed')]),
    'Digest: invalid step settings (Not a time)',
  ],
  ['what it waits for', run([{ type: 'email', status: 'pending' }], { status: 'processing' }), 'The email is next.'],
])('in a list: %s', (_, given, brief) => {
  expect(whyOf(given).brief).toBe(brief)
})

describe('why: a step', () => {
  const step = '/workflows/invoice?step=email-step'
  const raw = (decidedBy: string) => ({ raw: { decidedBy, through: 'channel' } })
  const ses = { messages: [{ providerId: 'ses', status: 'error' as const }], error: 'No such user' }
  // biome-ignore format: a table
  const table: Array<[given: Given, sentence: string, leadsTo: string | undefined]> = [
    [held('preference', raw('subscriberGlobal')), 'Skipped because Ada turned email off.', `${subscriber}?tab=preferences`],
    [held('preference', raw('subscriberWorkflow')), 'Skipped because Ada turned email off for this workflow.', `${subscriber}?tab=preferences`],
    [held('preference', raw('workflow')), 'Skipped because the workflow’s preferences turn email off.', '/workflows/invoice?panel=preferences'],
    [held('preference', raw('tenant')), 'Skipped because the tenant turned email off for this workflow.', '/workflows/invoice?panel=preferences'],
    [held('preference'), 'Skipped because a preference turns email off.', `${subscriber}?tab=preferences`],
    [held('step_condition'), 'Skipped because its condition is not met.', step],
    [failed('step_condition'), 'Failed because its condition could not be evaluated.', step],
    [held('outside_schedule'), 'Skipped because it was outside Ada’s schedule.', `${subscriber}?tab=preferences`],
    [held('throttled', { status: 'skipped' }), 'Skipped because the throttle limit was reached.', step],
    [held('capped'), 'Skipped because Ada has had as many messages as a cap allows.', '/settings'],
    [held('goal_met'), 'Skipped because the goal of the workflow was met.', '/workflows/invoice?settings=true'],
    [failed('workflow_unavailable'), 'Failed because the other workflow could not be started.', step],
    [failed('too_deep'), 'Failed because workflows start each other more than five deep.', step],
    [held('merged_into_digest', { status: 'merged' }), 'Its event joined the digest of another run.', undefined],
    [held('first_of_digest', { status: 'skipped' }), 'Skipped because the first event after a quiet period is sent at once.', step],
    [held('canceled_by_user'), 'Skipped because somebody cancelled the trigger.', undefined],
    [held('previous_step_failed'), 'Skipped because an earlier step failed.', undefined],
    [
      held('nothing_to_wait_for', { status: 'skipped' }),
      'Skipped because the messages that it waits for were never made.',
      undefined,
    ],
    [held('exited', { status: 'skipped' }), 'Skipped because the workflow ended the run before it.', undefined],
    [failed('subscriber_gone'), 'Failed because the subscriber or the workflow was deleted.', undefined],
    [held('missing_email'), 'Skipped because Ada has no email address.', subscriber],
    [held('suppressed'), 'Skipped because Ada is on the suppression list.', undefined],
    [held('snoozed'), 'Skipped because Ada has paused commercial messages.', '/subscribers/ada?tab=preferences'],
    [failed('braked'), 'Failed because too much of the workflow’s email bounced or was complained about, so it is braked.', '/workflows/invoice'],
    [held('missing_phone', { type: 'sms' }), 'Skipped because Ada has no phone number.', subscriber],
    [held('missing_push_token', { type: 'push' }), 'Skipped because Ada has no device.', subscriber],
    [held('missing_webhook_url', { type: 'chat' }), 'Skipped because Ada has no chat webhook.', subscriber],
    [held('some_channels_missing_credentials', { type: 'chat' }), 'Skipped because Ada has no chat connected.', subscriber],
    [failed('no_integration', { type: 'sms' }), 'Failed because there is no active SMS integration.', '/integrations'],
    [failed('invalid_settings'), 'Failed because its settings are not valid.', step],
    [failed('over_limit'), 'Failed because it would take longer than 180 days.', step],
    [failed('content_failed', { error: 'unknown filter: shout.' }), 'Failed because its content could not be rendered: unknown filter: shout.', step],
    [failed('layout_not_found'), 'Failed because its layout does not exist.', '/layouts'],
    [failed('filter_failed'), 'Failed because the webhook of its filter did not answer.', step],
    [failed('bridge_failed'), 'Failed because your application did not answer.', '/environments'],
    [failed('http_request_failed'), 'Failed because the HTTP request failed.', step],
    [failed('failure_allowed'), 'Failed because the delivery failed, which this step allows.', step],
    [failed('provider_failed', ses), 'Failed because ses was unavailable for too long: No such user.', '/integrations'],
    [failed('provider_refused', ses), 'Failed because ses refused it: No such user.', '/integrations'],
    [failed('outcome_unknown', ses), 'Failed because ses did not answer, so it may have been sent.', '/integrations'],
    [failed('internal'), 'Failed because of an internal error; see the server log.', undefined],
    [failed('a_newer_one', { error: 'Something new' }), 'Failed because Something new.', undefined],
    [{ type: 'push', reason: 'missing_push_token' }, 'Partly sent, because Ada has no device.', subscriber],
    [{ type: 'email', messages: [{ providerId: 'ses', recipient: 'ada@example.com' }] }, 'Sent to ada@example.com through ses.', undefined],
    [{ type: 'in_app' }, 'It is in the inbox.', undefined],
    [{ type: 'digest', digest: { events: [{}, {}] } }, 'Collected 2 events.', undefined],
    [{ type: 'throttle' }, 'Let the run continue.', undefined],
    [{ type: 'wait_for_event', outcome: { event: { name: 'cart.paid' } } }, 'The event “cart.paid” ended the wait.', undefined],
    [{ type: 'wait_for_event', outcome: { event: null } }, 'Nothing happened in time.', undefined],
    [{ type: 'ask', outcome: { answer: 'yes', answeredBy: { name: 'Bob' } } }, 'Bob answered “yes”.', undefined],
    [asked('Reject'), 'Bob answered “Reject”.', undefined],
    [asked('{{payload.refuse}}'), 'Bob answered “no”.', undefined],
    [{ type: 'ask', outcome: { answer: null } }, 'Nobody answered in time.', undefined],
    [held('nobody_to_ask', { status: 'skipped' }), 'Skipped because nobody could be asked.', undefined],
    [{ type: 'start_workflow', outcome: { workflowId: 'tell' } }, 'Started the workflow “tell”.', undefined],
    [{ type: 'update_subscriber', outcome: { changed: ['email', 'data'] } }, 'Changed email and data.', undefined],
    [{ type: 'update_subscriber', outcome: { changed: [] } }, 'Nothing had to be changed.', undefined],
    [{ type: 'delay', status: 'delayed', dueAt: later }, 'It waits until 09:10.', undefined],
    [{ type: 'ask', status: 'delayed', dueAt: later }, 'It waits for an answer until 09:10.', undefined],
    [
      { type: 'ask', status: 'delayed', dueAt: later, step: { controlVariables: { chain: [{ rota: 'primary' }] } } },
      'It waits for an answer until 09:10.',
      undefined,
    ],
    [{ type: 'email', status: 'pending' }, 'It has not run yet.', undefined],
    [{ type: 'email', status: 'running' }, 'It is being sent.', undefined],
  ]

  test.each(table)('$reason $status $type', (given, sentence, leadsTo) => {
    const whole = run([given])
    const why = whyOfStep(whole.jobs[0] as Job, whole, { moment })
    const { to, search } = why.cause ?? {}
    expect([why.sentence, to && to + (search ? `?${new URLSearchParams(search)}` : '')]).toEqual([sentence, leadsTo])
  })

  test('uses the name of the provider', () => {
    const whole = run([failed('provider_refused', ses)])
    const provider = (id: string) => (id === 'ses' ? 'Amazon SES' : id)
    const sentence = 'Failed because Amazon SES refused it: No such user.'
    expect(whyOfStep(whole.jobs[0] as Job, whole, { provider })).toMatchObject({ sentence })
  })

  test('every reason has its own sentence', () => {
    const told = new Set(table.map(([{ reason }]) => reason))
    expect(Object.keys(reasonLabels).filter((reason) => !told.has(reason))).toEqual([])
  })
})
