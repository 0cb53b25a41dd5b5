// The environment of the run: integrations with the provider, a workflow for each kind of step, people and topics.
import { capLimit, type Plan, throttleThreshold, type WorkflowName } from './plan.ts'

interface Step {
  type: string
  stepId: string
  controlValues: Record<string, unknown>
}

/** Identifies a message wherever it turns up: trigger, person, step. */
export const markOf = (n: number | string, who: string, stepId: string): string => `[${n}/${who}/${stepId}]`
/** The same as a template. */
const mark = (stepId: string) => `[{{payload.n}}/{{subscriber.subscriberId}}/${stepId}]`
/** Whom a question is put to next. */
export const deputy = 'person-0'
/** Who is on duty, however clocks are stepped. */
const rota = {
  ...{ rotaId: 'duty', name: 'Duty', timezone: 'UTC' },
  shifts: [{ start: '2000-01-01T00:00', end: '2099-01-01T00:00', who: [deputy] }],
}
/** Who is asked next, all at once. */
const pagedTopic = 'few'
/** Everybody whom the workflow `paged` may ask. */
export const pagedIn = ({ topics }: Plan): Set<string> => new Set([deputy, ...(topics[pagedTopic] ?? [])])
/** The events of a digest. */
const collected = '{% for event in steps.digest.events %}{{event.payload.n}},{% endfor %}'

const inApp = (stepId: string, more = ''): Step => ({
  type: 'in_app',
  stepId,
  controlValues: { body: mark(stepId) + more },
})
const email = (stepId: string, more = ''): Step => ({
  type: 'email',
  stepId,
  controlValues: { subject: mark(stepId), body: `<p>${mark(stepId)}${more}</p>`, editorType: 'html', layoutId: null },
})
const wait = (type: string, stepId: string, amount: number, more: object = {}): Step => ({
  type,
  stepId,
  controlValues: { type: 'regular', amount, unit: 'seconds', ...more },
})

const request = (providerUrl: string, more: object = {}): Step => ({
  type: 'http_request',
  stepId: 'ask',
  controlValues: {
    ...{ method: 'POST', url: `${providerUrl}/ask`, body: [{ key: 'mark', value: mark('ask') }] },
    ...{ continueOnFailure: true, timeout: 3_000, ...more },
  },
})

const named = (steps: Step[]) => steps.map((step) => ({ name: step.stepId, ...step }))

/** `coded` is declared by the application itself. */
export const stepsOf = (providerUrl: string): Record<Exclude<WorkflowName, 'coded'>, Step[]> => ({
  inbox: [inApp('note')],
  channels: [
    email('mail'),
    { type: 'sms', stepId: 'text', controlValues: { body: mark('text') } },
    { type: 'chat', stepId: 'chat', controlValues: { body: mark('chat') } },
    { type: 'push', stepId: 'push', controlValues: { subject: 'News', body: mark('push') } },
    inApp('note'),
  ],
  delayed: [inApp('before'), wait('delay', 'pause', 3), inApp('after')],
  // Longer than the queue plans ahead, so it starts as a timer without a job.
  later: [wait('delay', 'pause', 150), inApp('after')],
  digested: [
    wait('digest', 'digest', 5, { digestKey: 'payload.key' }),
    inApp('note', collected),
    email('mail', collected),
  ],
  // Ends with a pause, with so many events, or after a while.
  slid: [
    wait('digest', 'digest', 2, {
      ...{ digestKey: 'payload.key', window: 'sliding', maxWindow: { amount: 8, unit: 'seconds' }, maxEvents: 3 },
    }),
    inApp('note', collected),
  ],
  // The first goes on at once; what comes while its window is open, at the end of it.
  flushed: [wait('digest', 'digest', 5, { digestKey: 'payload.key', flushFirst: true }), inApp('note', collected)],
  throttled: [
    {
      type: 'throttle',
      stepId: 'limit',
      // Longer than any clock step, so that the number that passes does not depend on timing.
      controlValues: {
        type: 'fixed',
        amount: 30,
        unit: 'days',
        threshold: throttleThreshold,
        throttleKey: 'payload.key',
      },
    },
    inApp('note'),
  ],
  asking: [request(providerUrl), inApp('note')],
  retried: [request(providerUrl, { retry: true }), inApp('note')],
  computed: [
    { type: 'custom', stepId: 'sum', controlValues: { twice: '{{payload.n | times: 2}}' } },
    inApp('note', '{{steps.sum.twice}}'),
  ],
  branched: [
    wait('delay', 'pause', 3),
    {
      type: 'branch',
      stepId: 'which',
      controlValues: {
        arms: [
          {
            name: 'Odd',
            condition: { '==': [{ '%': [{ var: 'payload.n' }, 2] }, 1] },
            steps: named([email('mail'), { type: 'exit', stepId: 'leave', controlValues: {} }]),
          },
        ],
        default: { name: 'Even', steps: named([wait('delay', 'rest', 2), inApp('inner')]) },
      },
    },
    inApp('note'),
  ],
  // Nobody posts the event.
  awaited: [
    {
      type: 'wait_for_event',
      stepId: 'event',
      controlValues: { for: [{ event: 'paid', key: '{{payload.key}}' }], amount: 3, unit: 'seconds' },
    },
    inApp('note', '{{steps.event.outcome}}'),
  ],
  // Nobody answers; the reminder shows the same message again.
  questioned: [
    {
      type: 'ask',
      stepId: 'question',
      controlValues: {
        question: mark('question'),
        answers: [{ id: 'yes', label: 'Yes' }],
        channels: ['in_app'],
        reminders: [{ amount: 1, unit: 'seconds' }],
        ...{ amount: 3, unit: 'seconds' },
      },
    },
    inApp('note', '{{steps.question.outcome}}'),
  ],
  // Longer than any clock step, and looking back further than any: the event of the trigger ends it.
  paid: [
    {
      type: 'wait_for_event',
      stepId: 'event',
      controlValues: {
        for: [{ event: 'paid', key: '{{payload.n}}' }],
        ...{ amount: 30, unit: 'days', lookBack: { amount: 7, unit: 'days' } },
      },
    },
    inApp('note', '{{steps.event.outcome}} {{steps.event.event.id}}'),
  ],
  // The deputy is asked, too, if no answer comes soon.
  answered: [
    {
      type: 'ask',
      stepId: 'question',
      controlValues: {
        question: mark('question'),
        answers: [
          { id: 'yes', label: 'Yes' },
          { id: 'no', label: 'No' },
        ],
        channels: ['in_app'],
        chain: [{ subscriberId: '{{subscriber.subscriberId}}' }, { subscriberId: deputy }],
        patience: { amount: 2, unit: 'seconds' },
        ...{ amount: 30, unit: 'days' },
      },
    },
    inApp('note', '{{steps.question.outcome}} {{steps.question.answer}}'),
  ],
  // Whoever is on duty, then a whole topic. Nobody answers.
  paged: [
    {
      type: 'ask',
      stepId: 'question',
      controlValues: {
        ...{ question: mark('question'), answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app'] },
        ...{ chain: [{ rota: rota.rotaId }, { topicKey: pagedTopic }], patience: { amount: 1, unit: 'seconds' } },
        ...{ amount: 10, unit: 'seconds' },
      },
    },
    inApp('note', '{{steps.question.outcome}}'),
  ],
  // Odd triggers meet a goal at once; nobody posts the event of the other.
  reached: [wait('delay', 'pause', 3), inApp('note')],
  capped: [inApp('note')],
  starting: [
    { type: 'update_subscriber', stepId: 'change', controlValues: { data: { last: '{{payload.n}}' } } },
    {
      type: 'start_workflow',
      stepId: 'start',
      controlValues: {
        ...{ workflowId: 'started', to: ['{{subscriber.subscriberId}}'] },
        payload: { n: '{{payload.n}}' },
      },
    },
    inApp('note'),
  ],
  sandboxed: [email('mail')],
  // Commercial: some people refuse it.
  offered: [email('offer')],
})

/** What `starting` starts, for the same person. */
const started = [inApp('told')]

/** What a workflow has beside its steps. */
const more: Partial<Record<WorkflowName, object>> = {
  capped: { tags: ['capped'] },
  offered: { messageClass: 'commercial' },
  reached: {
    journey: {
      goals: [
        { name: 'Odd', condition: { '==': [{ var: 'payload.parity' }, 'odd'] } },
        { name: 'Paid', for: [{ event: 'paid', key: '{{payload.key}}' }] },
      ],
    },
  },
}

const guards = {
  quietHours: 'hold',
  // Longer than any clock step, as the window of the throttle.
  caps: [
    ...[{ id: 'chaos', limit: capLimit, window: { amount: 30, unit: 'days' }, channels: ['in_app'], tags: ['capped'] }],
  ],
}

/** The steps of the arm that a trigger takes. */
export const armOf = (n: number): string[] => (isOdd(n) ? ['mail', 'leave'] : ['rest', 'inner'])
export const isOdd = (n: number): boolean => n % 2 === 1

/** Sends one request as the operator and returns its body; throws unless it succeeds. */
export type Send = <Answer = unknown>(method: string, path: string, body?: unknown) => Promise<Answer>

export interface Setting {
  environmentId: string
  /** Identifiers and ids of integrations. */
  sandboxMail: string
  pushIntegrationId: string
  mailIntegrationId: string
}

interface Integration {
  _id: string
  identifier: string
  providerId: string
  _environmentId: string
}

/** @param url the provider's address */
export async function prepare(send: Send, plan: Plan, url: string): Promise<Setting> {
  const made = new Map<string, Integration>()
  for (const [channel, providerId, credentials] of [
    ['email', 'email-webhook', { webhookUrl: `${url}/mail`, secretKey: 'key', from: 'chaos@example.com' }],
    ['sms', 'generic-sms', { baseUrl: `${url}/text`, apiKeyRequestHeader: 'x-key', apiKey: 'key', from: '+4912345' }],
    ['chat', 'chat-webhook', { secretKey: 'key' }],
    ['push', 'push-webhook', { webhookUrl: `${url}/push`, secretKey: 'key' }],
  ] as const) {
    const hasReports = channel === 'push' || channel === 'email'
    const configurations = hasReports ? { configurations: { inboundWebhookEnabled: true } } : {}
    const integration = { providerId, channel, credentials, active: true, check: false, ...configurations }
    const created = await send<Integration>('POST', '/v1/integrations', integration)
    made.set(channel, created)
    if (channel === 'email' || channel === 'sms') await send('POST', `/v1/integrations/${created._id}/set-primary`)
  }
  const all = await send<Integration[]>('GET', '/v1/integrations')
  await send('POST', '/v2/rotas', rota)
  for (const [workflowId, steps] of Object.entries({ ...stepsOf(url), started }))
    await send('POST', '/v2/workflows', {
      ...{ name: workflowId, workflowId, active: true },
      ...more[workflowId as WorkflowName],
      steps: named(steps),
    })
  await send('PUT', '/v2/guards', guards)
  // So many complain that the brake would be pulled.
  const { _environmentId: own } = made.get('email') ?? { _environmentId: '' }
  await send('PATCH', `/v2/environments/${own}/consent`, { brakes: { enabled: false } })
  await send('POST', '/v1/bridge/sync', { bridgeUrl: `${url}/bridge` })
  await invite(send, plan, url)
  const push = made.get('push')
  return {
    environmentId: push?._environmentId ?? '',
    sandboxMail: all.find(({ providerId }) => providerId === 'svc-email')?.identifier ?? '',
    pushIntegrationId: push?._id ?? '',
    mailIntegrationId: made.get('email')?._id ?? '',
  }
}

/** All people exist from the start, so that a broadcast's recipients are known. */
async function invite(send: Send, { people, topics }: Plan, url: string): Promise<void> {
  const phoneOf = (number: number) => `+49151${String(10_000_000 + number)}`
  const subscribers = people.map((subscriberId, number) => ({
    subscriberId,
    email: `${subscriberId}@example.com`,
    phone: phoneOf(number),
  }))
  for (let at = 0; at < subscribers.length; at += 500)
    await send('POST', '/v1/subscribers/bulk', { subscribers: subscribers.slice(at, at + 500) })
  for (const subscriberId of people) {
    const credentials = `/v1/subscribers/${subscriberId}/credentials`
    await send('PUT', credentials, { providerId: 'chat-webhook', credentials: { webhookUrl: `${url}/chat` } })
    await send('PUT', credentials, {
      providerId: 'push-webhook',
      credentials: { deviceTokens: [`of-${subscriberId}`] },
    })
  }
  for (const [key, members] of Object.entries(topics))
    for (let at = 0; at < members.length; at += 100)
      await send('POST', `/v2/topics/${key}/subscriptions`, { subscriptions: members.slice(at, at + 100) })
}
