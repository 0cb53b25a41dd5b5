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
  messages?: Array<Partial<Job['messages'][number]>>
}

function job({ name, raw, messages = [], ...more }: Given): Job {
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
const byGlobal = { decidedBy: 'subscriberGlobal', through: 'channel' }

describe('why, of a run', () => {
  test.each<[what: string, run: Run, tone: string, sentence: string, leadsTo?: string]>([
    ['all was sent', run([{ type: 'email' }, { type: 'sms' }]), 'good', 'The email and the SMS were sent to Ada.'],
    ['one was sent', run([{ type: 'digest' }, { type: 'email' }]), 'good', 'The email was sent to Ada.'],
    [
      'it was seen',
      run([{ type: 'in_app' }], { deliveryLifecycle: { status: 'interacted' } }),
      'good',
      'The in-app message was sent to Ada and has been seen.',
    ],
    [
      'two of a kind are told by their names',
      run([
        { type: 'email', name: 'First' },
        { type: 'email', name: 'Reminder' },
      ]),
      'good',
      'The email “First” and the email “Reminder” were sent to Ada.',
    ],
    [
      'one was held back',
      run([{ type: 'in_app' }, held('missing_phone', { type: 'sms' })]),
      'good',
      'The in-app message was sent to Ada, but the SMS was held back because Ada has no phone number.',
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
      'nothing was sent: a preference tells more than a missing address',
      run([held('missing_phone', { type: 'sms' }), held('preference', { raw: byGlobal })], {
        deliveryLifecycle: { status: 'skipped', detail: 'preference' },
      }),
      'neutral',
      'Nothing was sent to Ada: the email was held back because Ada has switched email off; 1 more step was not sent.',
      subscriber,
    ],
    [
      'a failed digest is why nothing behind it was sent',
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
      'it came back',
      run([{ type: 'email', messages: [{ providerId: 'ses', status: 'error', errorText: 'Mailbox full' }] }]),
      'bad',
      'The email was not sent to Ada because ses reported that it came back: Mailbox full.',
    ],
    [
      'another run has it',
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
      'Nothing was sent by this run itself: its event went into the digest of another run.',
      '/activity/r2',
    ],
    [
      'another run has the rest of it',
      run(
        [
          { type: 'in_app', messages: [{ channel: 'in_app' }] },
          { type: 'digest', status: 'merged', reason: 'merged_into_digest' },
          { type: 'email', status: 'merged' },
        ],
        { _digestedNotificationId: 'r2' },
      ),
      'good',
      'The in-app message was sent to Ada; what comes after it went into the digest of another run.',
      '/activity/r2',
    ],
    [
      'nothing sends',
      run([{ type: 'delay' }], { deliveryLifecycle: { status: 'errored', detail: 'workflow_missing_channel_step' } }),
      'neutral',
      'Nothing could be sent: the workflow has no step that sends.',
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
      'it is tried again',
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
      'The email is tried again at 09:10, because sendgrid could not take it.',
    ],
    [
      'it waits for the schedule',
      run([{ type: 'email', status: 'delayed', dueAt: later, scheduleExtensionsCount: 1 }], { status: 'processing' }),
      'info',
      'The email waits until 09:10, when the schedule of Ada is open.',
    ],
    ['it is next', run([{ type: 'email', status: 'pending' }], { status: 'processing' }), 'info', 'The email is next.'],
    ['it has not begun', run([], { status: 'processing' }), 'info', 'It is about to begin.'],
    [
      'the person is gone',
      run([failed('subscriber_gone')], { subscriber: undefined, to: { subscriberId: 'ada' } }),
      'bad',
      'The email was not sent to ada because the subscriber or the workflow was deleted meanwhile.',
    ],
  ])('%s', (_, given, tone, sentence, leadsTo) => {
    const why = whyOf(given, { moment })
    expect([why.tone, why.sentence, why.cause?.to]).toEqual([tone, sentence, leadsTo])
  })
})

test.each<[what: string, run: Run, brief: string]>([
  ['what was sent', run([{ type: 'digest' }, { type: 'in_app' }, { type: 'sms' }]), 'In-app message and SMS'],
  ['what was held back', run([{ type: 'in_app' }, held('missing_phone', { type: 'sms' })]), 'SMS: no phone number'],
  [
    'what failed, and what only followed from it is left out',
    run([failed('invalid_settings', { type: 'digest', error: 'Not a time.' }), held('previous_step_failed')]),
    'Digest: invalid settings of a step (Not a time)',
  ],
  ['what it waits for', run([{ type: 'email', status: 'pending' }], { status: 'processing' }), 'The email is next.'],
])('in a list: %s', (_, given, brief) => {
  expect(whyOf(given).brief).toBe(brief)
})

describe('why, of a step', () => {
  const step = '/workflows/invoice?step=email-step'
  const raw = (decidedBy: string) => ({ raw: { decidedBy, through: 'channel' } })
  const ses = { messages: [{ providerId: 'ses', status: 'error' as const }], error: 'No such user' }
  // biome-ignore format: a table
  const table: Array<[given: Given, sentence: string, leadsTo: string | undefined]> = [
    [held('preference', raw('subscriberGlobal')), 'Held back because Ada has switched email off.', `${subscriber}?tab=preferences`],
    [held('preference', raw('subscriberWorkflow')), 'Held back because Ada has switched email off for this workflow.', `${subscriber}?tab=preferences`],
    [held('preference', raw('workflow')), 'Held back because the preferences of the workflow switch email off.', '/workflows/invoice?panel=preferences'],
    [held('preference', raw('tenant')), 'Held back because the tenant has switched email off for this workflow.', '/workflows/invoice?panel=preferences'],
    [held('preference'), 'Held back because a preference switches email off.', `${subscriber}?tab=preferences`],
    [held('step_condition'), 'Held back because its condition does not hold.', step],
    [failed('step_condition'), 'Failed because its condition could not be evaluated.', step],
    [held('outside_schedule'), 'Held back because the schedule of Ada was closed at that moment.', `${subscriber}?tab=preferences`],
    [held('throttled', { status: 'skipped' }), 'Held back because a throttle had let enough pass already.', step],
    [held('merged_into_digest', { status: 'merged' }), 'Its event went into the digest of another run.', undefined],
    [held('first_of_digest', { status: 'skipped' }), 'Held back because the first event after a silence passes at once.', step],
    [held('canceled_by_user'), 'Held back because somebody cancelled the trigger.', undefined],
    [held('previous_step_failed'), 'Held back because an earlier step failed.', undefined],
    [failed('subscriber_gone'), 'Failed because the subscriber or the workflow was deleted meanwhile.', undefined],
    [held('missing_email'), 'Held back because Ada has no email address.', subscriber],
    [held('missing_phone', { type: 'sms' }), 'Held back because Ada has no phone number.', subscriber],
    [held('missing_push_token', { type: 'push' }), 'Held back because Ada has no device.', subscriber],
    [held('missing_webhook_url', { type: 'chat' }), 'Held back because the chat of Ada has no webhook.', subscriber],
    [held('some_channels_missing_credentials', { type: 'chat' }), 'Held back because Ada has no chat that could be used here.', subscriber],
    [failed('no_integration', { type: 'sms' }), 'Failed because there is no active SMS integration for it.', '/integrations'],
    [failed('invalid_settings'), 'Failed because its settings are not valid.', step],
    [failed('over_limit'), 'Failed because it would take longer than 180 days.', step],
    [failed('content_failed', { error: 'unknown filter: shout.' }), 'Failed because its content could not be rendered: unknown filter: shout.', step],
    [failed('layout_not_found'), 'Failed because its layout does not exist.', '/layouts'],
    [failed('filter_failed'), 'Failed because an address that its filter asks did not answer.', step],
    [failed('bridge_failed'), 'Failed because your application did not say what to do.', '/environments'],
    [failed('http_request_failed'), 'Failed because the address did not answer as it should.', step],
    [failed('failure_allowed'), 'Failed because it was not taken, which this step allows.', step],
    [failed('provider_failed', ses), 'Failed because ses was out of order for too long: No such user.', '/integrations'],
    [failed('provider_refused', ses), 'Failed because ses refused it: No such user.', '/integrations'],
    [failed('outcome_unknown', ses), 'Failed because the answer of ses is missing, and it may have been sent.', '/integrations'],
    [failed('internal'), 'Failed because of a fault of the service, whose log says more.', undefined],
    [failed('a_newer_one', { error: 'Something new' }), 'Failed because Something new.', undefined],
    [{ type: 'push', reason: 'missing_push_token' }, 'Sent in part, because Ada has no device.', subscriber],
    [{ type: 'email', messages: [{ providerId: 'ses', recipient: 'ada@example.com' }] }, 'Sent to ada@example.com through ses.', undefined],
    [{ type: 'in_app' }, 'It is in the inbox.', undefined],
    [{ type: 'digest', digest: { events: [{}, {}] } }, 'Collected 2 events.', undefined],
    [{ type: 'throttle' }, 'Let it pass.', undefined],
    [{ type: 'delay', status: 'delayed', dueAt: later }, 'It waits until 09:10.', undefined],
    [{ type: 'email', status: 'pending' }, 'Its turn has not come.', undefined],
    [{ type: 'email', status: 'running' }, 'It is being sent.', undefined],
  ]

  test.each(table)('$reason $status $type', (given, sentence, leadsTo) => {
    const whole = run([given])
    const why = whyOfStep(whole.jobs[0] as Job, whole, { moment })
    const { to, search } = why.cause ?? {}
    expect([why.sentence, to && to + (search ? `?${new URLSearchParams(search)}` : '')]).toEqual([sentence, leadsTo])
  })

  test('names a provider as it is called', () => {
    const whole = run([failed('provider_refused', ses)])
    const provider = (id: string) => (id === 'ses' ? 'Amazon SES' : id)
    const sentence = 'Failed because Amazon SES refused it: No such user.'
    expect(whyOfStep(whole.jobs[0] as Job, whole, { provider })).toMatchObject({ sentence })
  })

  test('no reason is left without a sentence of its own', () => {
    const told = new Set(table.map(([{ reason }]) => reason))
    expect(Object.keys(reasonLabels).filter((reason) => !told.has(reason))).toEqual([])
  })
})
