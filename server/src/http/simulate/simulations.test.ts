import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { type Answer, type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api

const startAt = '2026-05-01T10:00:00.000Z'
const ada = { subscriberId: 'ada', email: 'ada@example.com' }
const email = (values: object = {}) => ({
  name: 'Mail',
  stepId: 'mail',
  type: 'email',
  controlValues: {
    subject: '{{steps.collect.eventCount}} comments',
    body: 'Hello {{subscriber.firstName}}',
    ...values,
  },
})
const digest = (values: object = {}) => ({
  name: 'Collect',
  stepId: 'collect',
  type: 'digest',
  controlValues: { amount: 10, unit: 'minutes', ...values },
})
const delay = (amount: number, unit = 'minutes') => ({
  ...{ name: 'Wait', stepId: 'wait', type: 'delay' },
  controlValues: { type: 'regular', amount, unit },
})
const inApp = {
  name: 'Inbox',
  stepId: 'inbox',
  type: 'in_app',
  controlValues: { subject: 'Hi', body: 'There is {{payload.what}}' },
}

/** For environments without any. */
const integrations = [{ identifier: 'mails', channel: 'email', providerId: 'postmark', primary: true, priority: 1 }]

const trigger = (at: string, more: object = {}) => ({ type: 'trigger', at, to: 'ada', ...more })

function simulate(steps: object[], inputs: object[], more: object = {}): Promise<Answer> {
  return api.post('/v1/simulations', { workflow: { draft: { steps } }, startAt, subscribers: [ada], inputs, ...more })
}

beforeAll(async () => {
  api = server.api
})

test('two events make one mail when the window closes, and nothing is stored', async () => {
  const before = await rows()
  const { status, body } = await simulate([digest(), email()], [trigger('+0s'), trigger('+4m')])
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.messages).toMatchObject([
    {
      id: 'm1',
      channel: 'email',
      at: '2026-05-01T10:10:00.000Z',
      status: 'sent',
      subject: '2 comments',
      to: ['ada@example.com'],
    },
  ])
  expect(body.windows).toMatchObject([
    {
      ...{ id: 'w1', kind: 'digest', stepId: 'collect', subscriberId: 'ada', key: null, eventCount: 2 },
      ...{
        openedAt: startAt,
        endsAt: '2026-05-01T10:10:00.000Z',
        closedAt: '2026-05-01T10:10:00.000Z',
        closedBy: 'time',
      },
      runIds: body.runs.map(({ id }: { id: string }) => id),
    },
  ])
  expect(body.runs[1]).toMatchObject({
    status: 'completed',
    mergedInto: body.runs[0].id,
    deliveryLifecycle: { status: 'merged' },
  })
  expect(body).toMatchObject({ stoppedBy: 'nothing_left', endAt: '2026-05-01T10:10:00.000Z', passed: true, seed: 0 })
  expect(body.totals).toEqual({
    ...{ triggers: 2, runs: 2, messages: { email: 1 }, attempts: 1 },
    reasons: { merged_into_digest: 2 },
  })
  expect(body.timeline.map(({ kind }: { kind: string }) => kind)).toEqual([
    ...['input', 'run_began', 'step_began', 'window_opened', 'wait_began'],
    ...['input', 'run_began', 'step_began', 'window_joined', 'step_ended', 'step_ended', 'run_ended'],
    ...['wait_ended', 'window_closed', 'step_ended', 'step_began', 'attempt', 'message', 'step_ended', 'run_ended'],
  ])
  expect(await rows()).toEqual(before)
})

/** How many rows each table has. */
async function rows() {
  const { pool } = server.database
  const { rows: tables } = await pool.query<{ name: string }>(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  const counts: Record<string, unknown> = {}
  for (const { name } of tables) {
    if (/key_uses|api_keys|workers/.test(name)) continue
    counts[name] = (
      await pool.query(`SELECT count(*), md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM ${name} t`)
    ).rows
  }
  return counts
}

describe('what happens when', () => {
  test('an event at the very moment a window closes opens the next one', async () => {
    const { body } = await simulate([digest(), email()], [trigger('+0s'), trigger('+10m')])
    expect(body.windows).toMatchObject([{ eventCount: 1 }, { eventCount: 1, openedAt: '2026-05-01T10:10:00.000Z' }])
    expect(body.messages.map(({ subject }: { subject: string }) => subject)).toEqual(['1 comments', '1 comments'])
  })

  test('a read before a delay ends is seen by the next step, and one at that moment comes too late', async () => {
    const unlessRead = email({ subject: 'Reminder', skip: { '==': [{ var: 'steps.inbox.read' }, false] } })
    const steps = [inApp, delay(10), unlessRead]
    const inputs = [trigger('+0s'), { type: 'read', at: '+10m', subscriberId: 'ada' }]
    const late = await simulate(steps, inputs)
    expect(late.body.totals.messages).toEqual({ in_app: 1, email: 1 })
    const early = await simulate(steps, [inputs[0] as object, { ...inputs[1], at: '+9m59s' }])
    expect(early.body.totals).toMatchObject({ messages: { in_app: 1 }, reasons: { step_condition: 1 } })
    expect(early.body.runs[0].deliveryLifecycle).toEqual({ status: 'interacted' })
  })

  test('what is marked as unread again is not read, and what somebody has acted on is', async () => {
    const unlessRead = email({ subject: 'Reminder', skip: { '==': [{ var: 'steps.inbox.read' }, false] } })
    const button = { ...inApp, controlValues: { ...inApp.controlValues, primaryAction: { label: 'Go' } } }
    const mark = (at: string, type: string, more: object = {}) => ({ type, at, subscriberId: 'ada', ...more })
    const sent = async (...marks: object[]) => {
      const { status, body, text } = await simulate([button, delay(10), unlessRead], [trigger('+0s'), ...marks])
      expect(status, text).toBe(200)
      return body.totals.messages
    }
    expect(await sent(mark('+1m', 'read'), mark('+2m', 'unread'))).toEqual({ in_app: 1, email: 1 })
    expect(await sent(mark('+1m', 'unread'), mark('+2m', 'read'))).toEqual({ in_app: 1 })
    expect(await sent(mark('+1m', 'acted', { action: 'primary' }))).toEqual({ in_app: 1 })
    // A button that is not there cannot be pressed.
    expect(await sent(mark('+1m', 'acted', { action: 'secondary' }))).toEqual({ in_app: 1, email: 1 })
  })

  test('marks are for one trigger or one step, where they say so', async () => {
    const second = { ...inApp, stepId: 'again' }
    const reminders = ['inbox', 'again'].map((stepId) => ({
      ...email({ subject: stepId, skip: { '==': [{ var: `steps.${stepId}.read` }, false] } }),
      stepId: `mail-${stepId}`,
    }))
    const reminded = async (only: object) => {
      const { status, body, text } = await simulate(
        [inApp, second, delay(10), ...reminders],
        [
          trigger('+0s', { transactionId: 'one' }),
          trigger('+0s', { transactionId: 'two' }),
          { type: 'read', at: '+1m', subscriberId: 'ada', ...only },
        ],
      )
      expect(status, text).toBe(200)
      return body.messages
        .filter(({ channel }: { channel: string }) => channel === 'email')
        .map(({ transactionId, subject }: Record<string, string>) => `${transactionId} ${subject}`)
        .sort()
    }
    expect(await reminded({})).toEqual([])
    expect(await reminded({ transactionId: 'one' })).toEqual(['two again', 'two inbox'])
    expect(await reminded({ stepId: 'again' })).toEqual(['one inbox', 'two inbox'])
    expect(await reminded({ transactionId: 'two', stepId: 'inbox' })).toEqual(['one again', 'one inbox', 'two again'])
  })

  test('who inherits a canceled digest keeps its deadline, and the window stays one', async () => {
    const inputs = [
      trigger('+0s', { transactionId: 'first' }),
      trigger('+2m', { transactionId: 'second' }),
      trigger('+3m', { transactionId: 'third' }),
      { type: 'cancel', at: '+4m', transactionId: 'first' },
      { type: 'cancel', at: '+5m', transactionId: 'third' },
    ]
    const { body } = await simulate([digest(), email()], inputs)
    expect(body.messages).toMatchObject([
      { subject: '1 comments', at: '2026-05-01T10:10:00.000Z', transactionId: 'second' },
    ])
    expect(body.windows).toMatchObject([{ runIds: [body.runs[1].id], eventCount: 1, closedBy: 'time' }])
    expect(body.runs[0].steps[0]).toMatchObject({ status: 'canceled', reason: 'canceled_by_user' })
    const alone = await simulate([digest(), email()], [inputs[0] as object, inputs[3] as object])
    expect(alone.body).toMatchObject({
      windows: [{ closedBy: 'cancel', runIds: [] }],
      messages: [],
      endAt: '2026-05-01T10:04:00.000Z',
    })
  })

  test('a wait that lies behind the horizon is told', async () => {
    const { body } = await simulate([delay(3, 'days'), email()], [trigger('+0s')], { horizon: '2d' })
    const until = '2026-05-04T10:00:00.000Z'
    expect(body).toMatchObject({ stoppedBy: 'horizon', endAt: '2026-05-03T10:00:00.000Z' })
    expect(body.waiting).toEqual([{ runId: body.runs[0].id, stepId: 'wait', until }])
    expect(body.runs[0].steps[1]).toMatchObject({ beganAt: null, endedAt: null, status: 'pending' })
  })

  test('a throttle lets one pass and holds the others back until its window ends', async () => {
    const throttle = { name: 'T', stepId: 'limit', type: 'throttle', controlValues: { amount: 1, unit: 'hours' } }
    const { body } = await simulate(
      [throttle, email({ subject: 'Hi' })],
      [trigger('+0s'), trigger('+59m'), trigger('+60m')],
    )
    expect(body.totals).toMatchObject({ messages: { email: 2 }, reasons: { throttled: 2 } })
    expect(body.windows).toMatchObject([
      {
        kind: 'throttle',
        runIds: [body.runs[0].id],
        heldBack: [body.runs[1].id],
        closedAt: '2026-05-01T11:00:00.000Z',
      },
      { kind: 'throttle', runIds: [body.runs[2].id], heldBack: [] },
    ])
    expect(body.endAt).toBe('2026-05-01T11:00:00.000Z')
  })
})

describe('faults', () => {
  test('an outage is retried with waits that the seed decides, until it is over', async () => {
    const inputs = [{ type: 'fault', at: '+0s', fault: 'outage', until: '+10s' }, trigger('+0s')]
    const { body } = await simulate([email({ subject: 'Hi' })], inputs)
    const [step] = body.runs[0].steps
    expect(step.attempts[0]).toMatchObject({ call: 1, outcome: 'connection_failed', next: 'retry' })
    expect(step.attempts[0].nextAt).toBe(step.attempts[1].at)
    expect(step.attempts.at(-1)).toMatchObject({ outcome: 'sent', next: null })
    // §3.4 by hand: the first wait is between one and two seconds.
    const chance = createHash('sha256').update('0/sim-1/ada/mail/0/1').digest().readUIntBE(0, 6) / 2 ** 48
    expect(Date.parse(step.attempts[1].at) - Date.parse(startAt)).toBe(Math.round(1_000 + 1_000 * chance))
    expect(step.waits.every(({ why }: { why: string }) => why === 'retry')).toBe(true)
    const other = await simulate([email({ subject: 'Hi' })], inputs, { seed: 1 })
    expect(other.body.runs[0].steps[0].attempts[1].at).not.toBe(step.attempts[1].at)
  })

  test('a provider that refuses is passed over for the next one', async () => {
    const two = [
      { identifier: 'one', channel: 'email', providerId: 'postmark', primary: true, priority: 2 },
      { identifier: 'two', channel: 'email', providerId: 'sendgrid', priority: 1 },
    ]
    const inputs = [{ type: 'fault', at: '+0s', fault: 'unauthorized', integrationIdentifier: 'one' }, trigger('+0s')]
    const { body } = await simulate([email({ subject: 'Hi' })], inputs, { integrations: two })
    expect(body.runs[0].steps[0].attempts).toMatchObject([
      {
        integrationIdentifier: 'one',
        providerId: 'postmark',
        outcome: 'unauthorized',
        next: 'fail_over',
        nextAt: null,
      },
      { integrationIdentifier: 'two', outcome: 'sent', next: null },
    ])
    expect(body.messages).toMatchObject([{ status: 'sent', integrationIdentifier: 'two', providerId: 'sendgrid' }])
  })

  test('a provider that hangs is given up after thirty seconds, and others are not held up', async () => {
    const inputs = [
      { type: 'fault', at: '+0s', fault: 'hang', count: 1 },
      trigger('+0s'),
      trigger('+1s', { transactionId: 'other' }),
    ]
    const { body } = await simulate([email({ subject: 'Hi' })], inputs)
    expect(body.messages[0]).toMatchObject({ transactionId: 'other', at: '2026-05-01T10:00:01.000Z' })
    const [first] = body.runs[0].steps
    expect(first.attempts[0]).toMatchObject({ at: startAt, outcome: 'timeout', next: 'retry' })
    expect(first.waits[0]).toMatchObject({ from: '2026-05-01T10:00:30.000Z', why: 'retry' })
    expect(body.totals.messages).toEqual({ email: 2 })
  })

  test('who is canceled or deleted while a call hangs', async () => {
    const hang = { type: 'fault', at: '+0s', fault: 'hang', count: 1 }
    const played = async (input: object) => {
      const answer = await simulate([email({ subject: 'Hi' }), delay(5)], [hang, trigger('+0s'), input])
      expect(answer.status, answer.text).toBe(200)
      return answer.body
    }
    // As everywhere, a call under way is not called back, and with nothing that waits the trigger is left alone.
    const canceled = await played({ type: 'cancel', at: '+10s', transactionId: 'sim-1' })
    expect(canceled.runs[0]).toMatchObject({ status: 'completed', steps: [{ status: 'completed' }, {}] })
    expect(canceled.totals.messages).toEqual({ email: 1 })
    // Once it waits for another attempt, it is.
    const waiting = await played({ type: 'cancel', at: '+30s', transactionId: 'sim-1' })
    expect(waiting.runs[0].steps).toMatchObject([{ status: 'canceled', reason: 'canceled_by_user' }, {}])
    const deleted = await played({ type: 'subscriber', at: '+10s', subscriberId: 'ada', delete: true })
    expect(deleted).toMatchObject({ endAt: '2026-05-01T10:00:30.000Z', totals: { messages: {} } })
    expect(deleted.runs[0]).toMatchObject({
      ...{ status: 'error', steps: [{ reason: 'subscriber_gone' }, { reason: 'previous_step_failed' }] },
    })
  })

  test('who bounces is not tried again', async () => {
    const inputs = [{ type: 'fault', at: '+0s', fault: 'bounce' }, trigger('+0s')]
    const { body } = await simulate([email({ subject: 'Hi' })], inputs)
    expect(body.runs[0].steps[0]).toMatchObject({
      status: 'failed',
      reason: 'provider_refused',
      attempts: [{ next: 'give_up' }],
    })
    expect(body.messages).toMatchObject([{ status: 'error' }])
  })
})

describe('people', () => {
  test('preferences and their changes hold from their moment on', async () => {
    const steps = [email({ subject: 'Hi' })]
    const inputs = [
      trigger('+0s'),
      { type: 'preferences', at: '+1m', subscriberId: 'ada', channels: { email: true } },
      trigger('+1m'),
    ]
    const { body } = await simulate(steps, inputs, {
      subscribers: [{ ...ada, preferences: { channels: { email: false } } }],
    })
    expect(body.runs.map((run: any) => run.steps[0].reason)).toEqual(['preference', null])
  })

  test('a pause holds back what is commercial until it ends, whoever began it', async () => {
    const draft = { steps: [email({ subject: 'Hi' })], messageClass: 'commercial' }
    const snooze = (at: string, snoozedUntil: string | null) => ({
      ...{ type: 'preferences', at, subscriberId: 'ada', snoozedUntil },
    })
    const reasons = async (who: object, ...inputs: object[]) => {
      const { status, text, body } = await api.post('/v1/simulations', {
        ...{ workflow: { draft }, startAt, subscribers: [{ ...ada, ...who }], inputs },
      })
      expect(status, text).toBe(200)
      return body.runs.map((run: any) => run.steps[0].reason)
    }
    const [first, second] = [trigger('+1h'), trigger('+3h')]
    expect(await reasons({}, snooze('+0s', '+2h'), first, second)).toEqual(['snoozed', null])
    expect(await reasons({ snoozedUntil: '+2h' }, first, second)).toEqual(['snoozed', null])
    expect(await reasons({ preferences: { snoozedUntil: '+2h' } }, first, second)).toEqual(['snoozed', null])
    expect(await reasons({ snoozedUntil: '+4h' }, first, snooze('+2h', null), second)).toEqual(['snoozed', null])
    await api.post('/v2/subscribers', { ...ada, subscriberId: 'paused' })
    const until = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
    await api.patch('/v2/subscribers/paused/preferences', { snoozedUntil: until })
    const stored = { subscriberId: 'paused', base: 'stored' }
    const sent = (who: object) =>
      api.post('/v1/simulations', {
        ...{ workflow: { draft }, subscribers: [who], inputs: [{ ...trigger('+0s'), to: 'paused' }] },
      })
    expect((await sent(stored)).body.totals).toMatchObject({ reasons: { snoozed: 1 } })
    expect((await sent({ ...stored, snoozedUntil: null })).body.totals).toMatchObject({ messages: { email: 1 } })
  })

  test('preferences may be for one workflow, and have a schedule', async () => {
    const steps = [email({ subject: 'Hi' })]
    const prefer = (at: string, more: object) => ({ type: 'preferences', at, subscriberId: 'ada', ...more })
    const reasons = async (...inputs: object[]) => {
      const answer = await api.post('/v1/simulations', {
        ...{ workflow: { draft: { workflowId: 'own', steps } }, startAt, subscribers: [ada], inputs },
      })
      expect(answer.status, answer.text).toBe(200)
      return answer.body.runs.map((run: any) => run.steps[0].reason)
    }
    const own = prefer('+1m', { workflowId: 'own', channels: { email: false } })
    expect(await reasons(trigger('+0s'), own, trigger('+2m'))).toEqual([null, 'preference'])
    // What is said about the workflow counts before what is said about all, until that is said anew.
    const all = (at: string) => prefer(at, { channels: { email: true } })
    expect(await reasons(all('+0s'), own, trigger('+2m'), all('+3m'), trigger('+4m'))).toEqual(['preference', null])
    // May 1st, 2026 is a Friday.
    const hours = [{ start: '09:00 AM', end: '10:30 AM' }]
    const schedule = { isEnabled: true, weeklySchedule: { friday: { isEnabled: true, hours } } }
    const opened = prefer('+0s', { schedule })
    expect(await reasons(opened, trigger('+29m'), trigger('+31m'))).toEqual([null, 'outside_schedule'])
    const closed = prefer('+40m', { schedule: { isEnabled: false } })
    expect(await reasons(opened, trigger('+31m'), closed, trigger('+41m'))).toEqual(['outside_schedule', null])
  })

  test('an address on the suppression list is not called, until the entry expires, and an invented one counts too', async () => {
    const suppress = (about: object) => api.post('/v1/suppressions', about)
    await suppress({ channel: 'email', address: 'Held@Example.com', expiresAt: '2026-05-01T12:00:00Z' })
    await suppress({ channel: 'sms', address: '+491701234567', reason: 'stop', scope: { type: 'commercial' } })
    const sms = { name: 'Text', stepId: 'text', type: 'sms', controlValues: { body: 'Hello' } }
    const { body } = await simulate([email({ subject: 'Hi' }), sms], [trigger('+0s'), trigger('+3h')], {
      subscribers: [{ subscriberId: 'ada', email: 'held@example.com', phone: '+491701234567' }],
      integrations: [...integrations, { identifier: 'texts', channel: 'sms', providerId: 'twilio', primary: true }],
    })
    expect(body.runs.map(({ steps: [mail] }: { steps: object[] }) => mail)).toMatchObject([
      { status: 'canceled', reason: 'suppressed', attempts: [] },
      { status: 'completed', reason: null, attempts: [{ outcome: 'sent' }] },
    ])
    // An entry for commercial messages does not hold a transactional one back.
    expect(body.totals).toEqual({
      triggers: 2,
      runs: 2,
      messages: { email: 1, sms: 2 },
      reasons: { suppressed: 1 },
      attempts: 3,
    })
    const commercial = await api.post('/v1/simulations', {
      workflow: { draft: { steps: [sms], messageClass: 'commercial' } },
      startAt,
      subscribers: [{ subscriberId: 'ada', phone: '+49 170 1234567' }],
      integrations: [{ identifier: 'texts', channel: 'sms', providerId: 'twilio', primary: true }],
      inputs: [
        trigger('+0s'),
        { type: 'subscriber', at: '+1h', subscriberId: 'ada', set: { phone: '+491707654321' } },
        trigger('+2h'),
      ],
    })
    expect(commercial.status, commercial.text).toBe(200)
    expect(commercial.body.totals).toMatchObject({ messages: { sms: 1 }, reasons: { suppressed: 1 } })
    const elsewhere = await simulate(
      [email({ subject: 'Hi' })],
      [trigger('+0s', { overrides: { email: { to: ['held@example.com'], replaceToRecipient: true } } })],
      { integrations },
    )
    expect(elsewhere.body.totals).toMatchObject({ messages: {}, reasons: { suppressed: 1 } })
  })

  test('a wait is drawn out until the schedule opens, also over the night the clocks change', async () => {
    const hours = [{ start: '09:00 AM', end: '05:00 PM' }]
    const week = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
    const weeklySchedule = Object.fromEntries(week.map((day) => [day, { isEnabled: true, hours }]))
    const zoned = { ...ada, timezone: 'Europe/Berlin', preferences: { schedule: { isEnabled: true, weeklySchedule } } }
    const wait = {
      ...delay(30),
      controlValues: { type: 'regular', amount: 30, unit: 'minutes', extendToSchedule: true },
    }
    const { body } = await simulate([wait, email({ subject: 'Hi' })], [trigger('2026-03-29T01:45[Europe/Berlin]')], {
      startAt: '2026-03-29T01:45[Europe/Berlin]',
      subscribers: [zoned],
    })
    expect(body.startAt).toBe('2026-03-29T00:45:00.000Z')
    expect(body.runs[0].steps[0].waits).toEqual([
      { from: '2026-03-29T00:45:00.000Z', until: '2026-03-29T01:15:00.000Z', why: 'delay' },
      { from: '2026-03-29T01:15:00.000Z', until: '2026-03-29T07:00:00.000Z', why: 'schedule' },
    ])
    expect(body.messages).toMatchObject([{ at: '2026-03-29T07:00:00.000Z' }])
  })

  test('a topic reaches its members but the excluded and the actor, and a broadcast everybody invented', async () => {
    const subscribers = ['ada', 'bo', 'cy'].map((subscriberId) => ({
      subscriberId,
      email: `${subscriberId}@example.com`,
    }))
    const topics = [{ topicKey: 'all', subscriberIds: ['ada', 'bo', 'cy'] }]
    const to = [
      { type: 'Topic', topicKey: 'all', exclude: ['bo'] },
      { type: 'Topic', topicKey: 'none' },
    ]
    const inputs = [
      { type: 'trigger', at: '+0s', to, actor: 'cy' },
      { type: 'trigger', at: '+1s', broadcast: true },
    ]
    const { body } = await simulate([email({ subject: 'Hi' })], inputs, { subscribers, topics })
    expect(body.triggers).toMatchObject([
      {
        runs: 1,
        passedOver: [
          { reason: 'excluded', subscriberIds: ['bo'] },
          { reason: 'actor', subscriberIds: ['cy'] },
          { reason: 'topic_not_found', named: 'none' },
        ],
      },
      { runs: 3 },
    ])
  })

  test('somebody who is deleted gets nothing more', async () => {
    const inputs = [trigger('+0s'), { type: 'subscriber', at: '+1m', subscriberId: 'ada', delete: true }]
    const { body } = await simulate([delay(5), email({ subject: 'Hi' })], inputs)
    expect(body.runs[0]).toMatchObject({
      status: 'error',
      steps: [{ reason: 'subscriber_gone' }, { reason: 'previous_step_failed' }],
    })
  })

  test('stored subscribers come with what is stored, and `base` changes only what is given', async () => {
    const fresh = await server.freshApi()
    await fresh.post('/v2/subscribers', { subscriberId: 'dee', email: 'dee@example.com', firstName: 'Dee' })
    await fresh.patch('/v2/subscribers/dee/preferences', { channels: { email: false } })
    const draft = { steps: [email({ subject: 'Hi {{subscriber.firstName}}' })] }
    const ask = (subscribers: object[]) =>
      fresh.post('/v1/simulations', {
        ...{ workflow: { draft }, startAt, subscribers, integrations, inputs: [trigger('+0s', { to: 'dee' })] },
      })
    expect((await ask([])).body.totals.reasons).toEqual({ preference: 1 })
    const changed = await ask([{ subscriberId: 'dee', base: 'stored', preferences: { channels: { email: true } } }])
    expect(changed.body.messages).toMatchObject([{ subject: 'Hi Dee', to: ['dee@example.com'] }])
    const replaced = await ask([{ subscriberId: 'dee', firstName: 'Di' }])
    expect(replaced.body.totals.reasons).toEqual({ missing_email: 1 })
  })
})

describe('workflows', () => {
  test('as stored, at a version, changed in between, and another one', async () => {
    const fresh = await server.freshApi()
    const make = (workflowId: string, subject: string) =>
      fresh.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps: [email({ subject })] })
    const made = await make('news', 'one')
    await make('other', 'another')
    const [step] = made.body.steps
    const steps = [{ ...email({ subject: 'two' }), _id: step._id }]
    const put = { name: 'news', steps, preferences: {}, origin: made.body.origin, active: true }
    await fresh.put('/v2/workflows/news', put)
    const ask = (workflow: object, inputs: object[]) =>
      fresh.post('/v1/simulations', { workflow, startAt, subscribers: [ada], integrations, inputs })
    const now = await ask({ workflowId: 'news' }, [
      trigger('+0s'),
      { type: 'workflow', at: '+1m', version: made.body.version },
      trigger('+1m'),
      { type: 'workflow', at: '+2m', active: false },
      trigger('+2m'),
      trigger('+3m', { name: 'other' }),
    ])
    expect(now.body.messages.map(({ subject }: any) => subject)).toEqual(['two', 'one', 'another'])
    expect(now.body.triggers.map(({ status }: any) => status)).toEqual([
      'processed',
      'processed',
      'trigger_not_active',
      'processed',
    ])
    expect(now.body.workflow).toEqual({ workflowId: 'news', version: made.body.version + 1, issues: 0 })
    const then = await ask({ workflowId: 'news', version: made.body.version }, [trigger('+0s')])
    expect(then.body.messages).toMatchObject([{ subject: 'one' }])
    expect(await ask({ workflowId: 'nobody' }, [trigger('+0s')])).toMatchObject({
      status: 404,
      body: { code: 'workflow_not_found' },
    })
    expect(await ask({ workflowId: 'news' }, [trigger('+0s', { name: 'nobody' })])).toMatchObject({ status: 404 })
    expect(await ask({ workflowId: 'news', version: 99 }, [trigger('+0s')])).toMatchObject({
      status: 404,
      body: { message: 'Workflow "news" has no version 99, or it is no longer kept' },
    })
  })

  test('a request without an answer is taken to answer an example, and is listed', async () => {
    const request = (stepId: string) => ({
      ...{ name: stepId, stepId, type: 'http_request' },
      controlValues: { method: 'GET', url: 'https://api.example.com/', continueOnFailure: true },
    })
    const answers = { asked: { status: 200, body: { plan: 'pro' } }, broken: { status: 500, body: {} } }
    const steps = [request('asked'), request('assumed'), request('broken'), email({ subject: '{{steps.asked.plan}}' })]
    const { body } = await simulate(steps, [trigger('+0s')], { answers })
    expect(body.messages).toMatchObject([{ subject: 'pro' }])
    expect(body.assumed).toEqual([{ stepId: 'assumed' }])
    expect(body.totals.reasons).toEqual({ failure_allowed: 1 })
  })

  test('refused triggers are told, and the scenario goes on; a repetition begins nothing', async () => {
    const payloadSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const draft = { steps: [email({ subject: 'Hi' })], payloadSchema, validatePayload: true }
    const inputs = [
      trigger('+0s'),
      trigger('+1s', { payload: { n: 1 }, transactionId: 'a' }),
      trigger('+2s', { payload: { n: 1 }, transactionId: 'a' }),
      trigger('+3s', { to: 'not an id', payload: { n: 1 } }),
      trigger('+4s', { to: { email: 'x' }, payload: { n: 1 } }),
    ]
    const { body } = await api.post('/v1/simulations', { workflow: { draft }, startAt, subscribers: [ada], inputs })
    expect(body.triggers).toMatchObject([
      { input: 0, transactionId: 'sim-1', status: 'error', error: { code: 'payload_invalid' }, runs: 0 },
      { status: 'processed', runs: 1 },
      { status: 'processed', runs: 0 },
      { status: 'invalid_recipients', runs: 0 },
      { transactionId: 'sim-5', status: 'error', error: { code: 'validation' } },
    ])
  })
})

test('the same body gives the same bytes', async () => {
  const steps = [inApp, digest(), delay(3), email()]
  const inputs = [
    { type: 'fault', at: '+0s', fault: 'server_error', count: 2 },
    ...[0, 1, 2, 30].map((n) => trigger(`+${n}m`)),
  ]
  const [one, other] = [
    await simulate(steps, inputs, { details: true }),
    await simulate(steps, inputs, { details: true }),
  ]
  expect(one.status).toBe(200)
  expect(other.text).toBe(one.text)
  expect(one.body.runs[0].steps[0].details[0]).toMatchObject({
    detail: 'Step queued',
    status: 'Pending',
    isRetry: false,
  })
})

test('circuits begin closed, though the one that is stored is open', async () => {
  const { development } = await server.freshOrganization()
  const [mails] = (await development.get('/v1/integrations')).body.filter(
    ({ channel }: { channel: string }) => channel === 'email',
  )
  const now = server.clock.now()
  await server.database.db
    .insertInto('circuits')
    .values({
      ...{ environment_id: development.environmentId, integration_id: mails._id, host: '', failures: 9, error: null },
      ...{ retry_at: new Date(now.getTime() + 3_600_000), updated_at: now },
    })
    .execute()
  const { status, text, body } = await development.post('/v1/simulations', {
    ...{ workflow: { draft: { steps: [email({ subject: 'Hi' })] } }, startAt: now.toISOString() },
    ...{ subscribers: [ada], inputs: [trigger('+0s')] },
  })
  expect(status, text).toBe(200)
  expect(body.messages).toMatchObject([{ at: now.toISOString(), status: 'sent' }])
})

test('secret variables come out hidden', async () => {
  const wide = await server.organizationOf(await server.freshApi())
  const made = await wide.post('/v1/environment-variables', {
    ...{ key: 'TOKEN', isSecret: true },
    values: [{ _environmentId: wide.environmentId, value: 'very-secret' }],
  })
  expect(made.body.key, made.text).toBe('TOKEN')
  const draft = { steps: [email({ subject: 'Token {{env.TOKEN}}' })] }
  const { body } = await wide.post('/v1/simulations', {
    ...{ workflow: { draft }, startAt, subscribers: [ada], integrations, inputs: [trigger('+0s')] },
  })
  expect(body.messages[0].subject).toBe('Token ••••••••')
})

test('expectations are compared with what happened', async () => {
  const expect_ = [
    { messages: [{ channel: 'email', at: '+10m', subject: '/^2 com/' }] },
    { message: { subscriberId: 'ada' }, count: 1 },
    { noMessage: { channel: 'sms' } },
    { step: { stepId: 'collect', subscriberId: 'ada', status: 'completed' } },
    { window: { eventCount: 2 } },
    { totals: { runs: 2, messages: { email: 1, sms: 0 } } },
    { messages: [] },
    { message: { subject: 'nothing' } },
  ]
  const { body } = await simulate([digest(), email()], [trigger('+0s'), trigger('+4m')], { expect: expect_ })
  expect(body.expectations.map(({ holds }: any) => holds)).toEqual([true, true, true, false, true, true, false, false])
  expect(body.expectations[3].nearest).toMatchObject({ stepId: 'collect', status: 'merged' })
  expect(body.expectations[7]).toMatchObject({ index: 7, nearest: { subject: '2 comments' } })
  expect(body.passed).toBe(false)
})

describe('refusals', () => {
  const refusal = async (more: object, inputs: object[] = [trigger('+0s')]) => {
    const { status, body } = await simulate([email({ subject: 'Hi' })], inputs, more)
    return { status, code: body.code, message: body.message, where: body.ctx?.where }
  }

  test.each([
    ['an unknown type', {}, [{ type: 'dance', at: '+0s' }], 'inputs[0].type'],
    ['no time', {}, [trigger('soon')], 'inputs[0].at'],
    ['a zone that does not exist', {}, [trigger('2026-05-02T10:00[Europe/Atlantis]')], 'inputs[0].at'],
    ['an input before the start', {}, [trigger('2026-04-01T00:00:00Z')], 'inputs[0].at'],
    ['an input behind the horizon', { horizon: '1h' }, [trigger('+2h')], 'inputs[0].at'],
    ['a horizon that is too long', { horizon: '367d' }, undefined, 'horizon'],
    ['durations out of order', { horizon: '5m1h' }, undefined, 'horizon'],
    ['neither to nor broadcast', {}, [{ type: 'trigger', at: '+0s' }], 'inputs[0]'],
    ['an unknown fault', {}, [{ type: 'fault', at: '+0s', fault: 'fire' }], 'inputs[0].fault'],
    ['an expectation of nothing', { expect: [{}] }, undefined, 'expect[0]'],
    [
      'a broken regular expression',
      { expect: [{ message: { subject: '/(/' } }] },
      undefined,
      'expect[0].message.subject',
    ],
    [
      'a provider of another channel',
      { integrations: [{ identifier: 'a', channel: 'sms', providerId: 'postmark' }] },
      undefined,
      'integrations[0].providerId',
    ],
    ['an answer of nothing', { answers: { mail: {} } }, undefined, 'answers.mail'],
  ])('%s', async (_, more, inputs, where) => {
    expect(await refusal(more, inputs)).toMatchObject({ status: 422, code: 'simulation_invalid', where })
  })

  test('a list that is too long is no valid body', async () => {
    const many = Array.from({ length: 1_001 }, () => trigger('+0s'))
    expect(await refusal({}, many)).toMatchObject({ status: 422, code: 'validation' })
    expect(await refusal({}, [])).toMatchObject({ status: 422, code: 'validation' })
    const subscribers = Array.from({ length: 1_001 }, (_, n) => ({ subscriberId: `s${n}` }))
    const topics = Array.from({ length: 101 }, (_, n) => ({ topicKey: `t${n}`, subscriberIds: [] }))
    for (const [more, sentence] of [
      [{ subscribers }, 'subscribers must contain no more than 1000 elements'],
      [{ topics }, 'topics must contain no more than 100 elements'],
    ] as const) {
      const { status, body, text } = await simulate([email()], [trigger('+0s')], more)
      expect(status).toBe(422)
      expect(body.code).toBe('validation')
      expect(text).toContain(sentence)
    }
    const fitting = { subscribers: subscribers.slice(1), topics: topics.slice(1) }
    expect((await simulate([email()], [trigger('+0s')], fitting)).status).toBe(200)
  })

  test('more steps than can be played', async () => {
    const subscribers = Array.from({ length: 1_000 }, (_, n) => ({ subscriberId: `s${n}` }))
    const inputs = Array.from({ length: 6 }, () => ({ type: 'trigger', at: '+0s', broadcast: true }))
    const skipped = { body: 'Hello', skip: { '==': [1, 2] } }
    const steps = Array.from({ length: 20 }, (_, n) => ({ ...inApp, stepId: `inbox-${n}`, controlValues: skipped }))
    const { status, body } = await simulate(steps, inputs, { subscribers })
    const message = 'The scenario comes to more than 200000 steps; make it smaller'
    expect({ status, ...body }).toMatchObject({ status: 422, message, ctx: { what: 'steps', most: 200_000 } })
  })

  test('more runs than can be played', async () => {
    const subscribers = Array.from({ length: 1_000 }, (_, n) => ({ subscriberId: `s${n}` }))
    const inputs = Array.from({ length: 11 }, () => ({ type: 'trigger', at: '+0s', broadcast: true }))
    const { status, body } = await simulate([delay(5)], inputs, { subscribers })
    const message = 'The scenario comes to more than 10000 runs; make it smaller'
    expect({ status, ...body }).toMatchObject({ status: 422, message, ctx: { what: 'runs', most: 10_000 } })
  })

  test('a workflow in code needs answers', async () => {
    const fresh = await server.freshApi()
    await fresh.post('/v2/workflows', { name: 'c', workflowId: 'c', active: true, steps: [email({ subject: 'Hi' })] })
    await sql`UPDATE workflows SET origin = 'external' WHERE environment_id = ${fresh.environmentId}`.execute(
      server.database.db,
    )
    const ask = (answers: object) =>
      fresh.post('/v1/simulations', {
        workflow: { workflowId: 'c' },
        startAt,
        answers,
        subscribers: [ada],
        integrations,
        inputs: [trigger('+0s')],
      })
    expect((await ask({})).body).toMatchObject({
      code: 'simulation_needs_answers',
      message: 'Workflow "c" is defined in code, which is not called here; say in `answers` what it would say for mail',
    })
    const told = await ask({ mail: { outputs: { subject: 'From code', body: 'Hello' } } })
    expect(told.body.messages).toMatchObject([{ subject: 'From code' }])
    expect((await ask({ mail: { skip: true } })).body.totals.reasons).toEqual({ step_condition: 1 })
  })

  test('a viewer simulates what is stored, not a draft', async () => {
    const viewer = await signInAs(server, api, 'viewer')
    const ask = (workflow: object) =>
      viewer.post('/v1/simulations', { workflow, startAt, subscribers: [ada], inputs: [trigger('+0s')] })
    expect(await ask({ workflowId: 'nobody' })).toMatchObject({ status: 404, body: { code: 'workflow_not_found' } })
    expect(await ask({ draft: { steps: [email()] } })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_role' },
    })
    const editor = await signInAs(server, api, 'editor')
    const body = { workflow: { draft: { steps: [email()] } }, startAt, subscribers: [ada], inputs: [trigger('+0s')] }
    expect((await editor.post('/v1/simulations', body)).status).toBe(200)
  })

  test('a key that may only read simulates what is stored, not a draft', async () => {
    const fresh = await server.freshApi()
    await fresh.post('/v2/workflows', { name: 'n', workflowId: 'n', active: true, steps: [email({ subject: 'Hi' })] })
    const reader = await server.keyFor(fresh, ['read'])
    const ask = (workflow: object) =>
      reader.post('/v1/simulations', { workflow, startAt, subscribers: [ada], inputs: [trigger('+0s')] })
    expect((await ask({ workflowId: 'n' })).status).toBe(200)
    expect(await ask({ draft: { steps: [email()] } })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    })
  })
})

test('a simulation agrees with what the engine does', async () => {
  const { development: lived } = await server.freshOrganization()
  const digested = digest({ digestKey: 'payload.room', lookBackWindow: { amount: 5, unit: 'minutes' } })
  const steps = [inApp, digested, delay(7), email({ subject: '{{steps.collect.eventCount}} in {{payload.room}}' })]
  await lived.post('/v2/workflows', { name: 'both', workflowId: 'both', active: true, steps })
  const start = server.clock.now()
  const inputs = [
    { minutes: 0, to: ada, payload: { room: 'a' }, transactionId: 'x1' },
    { minutes: 1, to: ada, payload: { room: 'b' }, transactionId: 'x2' },
    { minutes: 2, to: ada, payload: { room: 'a' }, transactionId: 'x3' },
    { minutes: 3, to: ada, payload: { room: 'a' }, transactionId: 'x4' },
    { minutes: 4, to: ada, payload: { room: 'a' }, transactionId: 'x5' },
    { minutes: 5, cancel: 'x3' },
    { minutes: 40, to: ada, payload: { room: 'a' }, transactionId: 'x6' },
  ]
  const simulated = await lived.post('/v1/simulations', {
    workflow: { workflowId: 'both' },
    startAt: start.toISOString(),
    inputs: inputs.map(({ minutes, cancel, ...more }) =>
      cancel
        ? { type: 'cancel', at: `+${minutes}m`, transactionId: cancel }
        : { type: 'trigger', at: `+${minutes}m`, ...more },
    ),
  })
  expect(simulated.status, simulated.text).toBe(200)
  for (let minute = 0; minute < 80; minute += 1) {
    // Waits that end at a moment come before what happens then.
    await server.drain()
    for (const { minutes, cancel, ...more } of inputs) {
      if (minutes !== minute) continue
      const done = cancel
        ? await lived.delete(`/v1/events/trigger/${cancel}`)
        : await lived.post('/v1/events/trigger', { name: 'both', ...more })
      expect(done.status).toBeLessThan(300)
      await server.drain()
    }
    server.clock.advance({ minutes: 1 })
  }
  const transactions = ['x1', 'x2', 'x3', 'x4', 'x5', 'x6']
  const real = await Promise.all(
    transactions.map(async (id) => (await lived.get(`/v1/notifications?transactionId=${id}`)).body.data[0]),
  )
  const simulatedSteps = simulated.body.runs.map((run: any) =>
    run.steps.map(({ stepId, status, reason }: any) => ({ stepId, status, reason })),
  )
  const livedSteps = real.map((run: any) =>
    run.jobs.map((job: any) => ({ stepId: job.step.stepId, status: job.status, reason: job.reason ?? null })),
  )
  expect(simulatedSteps).toEqual(livedSteps)
  const { rows: sent } = await sql<{ subject: string; created_at: Date }>`
    SELECT subject, created_at FROM sandbox_messages WHERE environment_id = ${lived.environmentId} ORDER BY created_at`.execute(
    server.database.db,
  )
  const mails = simulated.body.messages.filter(({ channel }: any) => channel === 'email')
  expect(mails.map(({ subject, at }: any) => ({ subject, at }))).toEqual(
    sent.map(({ subject, created_at }) => ({ subject, at: created_at.toISOString() })),
  )
  expect(mails.length).toBeGreaterThan(2)
})

test('a caller who hangs up ends the work, and nine at once are refused', async () => {
  const subscribers = Array.from({ length: 40 }, (_, n) => ({ subscriberId: `s${n}`, email: `s${n}@example.com` }))
  const inputs = Array.from({ length: 3 }, (_, n) => ({ type: 'trigger', at: `+${n}m`, broadcast: true }))
  const slow = () => simulate([inApp, delay(5), email({ subject: 'Hi' })], inputs, { subscribers })
  const gone = new AbortController()
  const aborted = fetch(`${api.url}/v1/simulations`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ workflow: { draft: { steps: [inApp, delay(5), email()] } }, startAt, subscribers, inputs },
    }),
    signal: gone.signal,
  }).catch((error: unknown) => (error as Error).name)
  const others = Array.from({ length: 12 }, slow)
  gone.abort()
  expect(await aborted).toBe('AbortError')
  const answers = await Promise.all(others)
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]).toMatchObject({ body: { code: 'too_many_simulations' } })
  expect(refused[0]?.headers.get('retry-after')).toBe('1')
  expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([200, 429])
  expect((await simulate([email({ subject: 'Hi' })], [trigger('+0s')])).status).toBe(200)
})

test('a hundred triggers through digest, delay and email over thirty days are played', async () => {
  const inputs = Array.from({ length: 100 }, (_, n) => trigger(`+${n * 7}h`))
  const { body } = await simulate([digest(), delay(1, 'days'), email()], inputs)
  expect(body.totals).toMatchObject({ triggers: 100, messages: { email: 100 } })
})
