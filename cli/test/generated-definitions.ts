// Definitions that nobody has thought of: every kind, and workflows with every kind of step. The same number gives the same.
import { chanceOf } from '../../server/test/generated-scenarios.ts'
import type { Remote } from '../src/folder/write.ts'

type Members = Record<string, unknown>

/** Texts that YAML could take for something else, or that editors change; no braces, which are templates. */
export const words = [
  ...['yes', 'NO', 'null', '~', '0x1f', '1e3', '012', '.inf', '2026-01-01', '=', '<<', '&a', '*a', '!t', '%', '@', '`'],
  ...[
    'a: b',
    'a #b',
    '- a',
    '? a',
    '|',
    '>',
    '\\',
    '1:30',
    '---',
    '...',
    ' lead',
    'trail ',
    'tab\there',
    'é𝒳￿',
    '\u2028',
  ],
  ...[
    'two\nlines',
    'three\n\nlines\n',
    'carriage\r\nreturn',
    ' \n ',
    '"quoted"',
    "it's",
    '#',
    'plain words',
    'שלום',
    '👋🏽',
  ],
]
const templates = ['{{payload.author}}', '{{subscriber.firstName | default: "you"}}', '{{workflow.name}}']
const timeUnits = ['minutes', 'hours', 'days']

export interface Generated {
  resources: Remote[]
  /** What their secrets are. */
  secrets: Record<string, string>
}

export function generatedDefinitions(seed: number, count: number): Generated {
  const chance = chanceOf(seed)
  const below = (most: number) => Math.floor(chance() * most)
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const maybe = (odds: number, members: () => Members): Members => (chance() < odds ? members() : {})
  const text = () => `${chance() < 0.5 ? one(words) : ''}${chance() < 0.4 ? one(templates) : ''}${one(words)}`
  const named = () => `${one(words)} ${below(1_000)}`.trim()
  const amount = () => ({ amount: 1 + below(9), unit: one(timeUnits) })
  const condition = () => ({
    and: [{ '==': [{ var: 'payload.kind' }, one(words)] }, { '>': [{ var: 'payload.n' }, below(9)] }],
  })
  const document = () => ({
    ...{ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: one(words) }] }] },
  })
  const layouts: string[] = []
  const comparison = (): Members =>
    one<() => Members>([
      () => ({ field: 'kind', operator: one(['EQUAL', 'NOT_EQUAL', 'LIKE']), value: one(words), on: 'payload' }),
      () => ({ field: 'n', operator: 'LARGER', value: below(9), on: 'subscriber' }),
      () => ({ field: 'name', operator: 'IN', value: one(words), on: 'tenant' }),
      () => ({ value: chance() < 0.5, on: 'isOnline' }),
      () => ({ value: below(9), timeOperator: one(timeUnits), on: 'isOnlineInLast' }),
      () => ({ step: 'email-1', stepType: one(['seen', 'read', 'unseen', 'unread']), on: 'previousStep' }),
      () => ({ field: 'a', operator: 'EQUAL', value: 'b', on: 'webhook', webhookUrl: 'https://example.com/ask' }),
    ])()
  const filters = () =>
    Array.from({ length: 1 + below(2) }, () => ({
      ...{ isNegated: chance() < 0.3, type: 'GROUP', value: one(['AND', 'OR']) },
      children: Array.from({ length: 1 + below(2) }, comparison),
    }))
  const goal = (place: number): Members => {
    const entry = () => ({
      event: one(['order.paid', 'order.canceled']),
      ...maybe(0.5, () => ({ key: '{{payload.orderId}}' })),
      ...maybe(0.3, () => ({ condition: condition() })),
    })
    return {
      name: `goal ${place} ${one(words)}`.trim(),
      ...one<() => Members>([
        () => ({ for: [entry()] }),
        () => ({ condition: condition() }),
        () => ({ for: [entry(), entry()], condition: condition() }),
      ])(),
    }
  }
  const journey = (): Members => ({
    ...maybe(0.6, () => ({ cancellationKey: `{{payload.orderId}}${one(words).slice(0, 9)}` })),
    ...maybe(0.4, () => ({ quietHours: one(['skip', 'hold']) })),
    ...maybe(0.3, () => ({ exemptFromCaps: true })),
    ...maybe(0.6, () => ({ goals: Array.from({ length: 1 + below(3) }, (_, place) => goal(place)) })),
  })

  const values: Record<string, (deep: number) => Members> = {
    in_app: () => ({
      body: text(),
      ...maybe(0.5, () => ({ subject: text() })),
      ...maybe(0.3, () => ({ primaryAction: { label: one(words), redirect: { url: '/a', target: '_self' } } })),
      ...maybe(0.3, () => ({ data: { b: one(words), a: 'x' } })),
    }),
    email: () => {
      const isBlock = chance() < 0.4
      return {
        subject: text(),
        body: isBlock ? JSON.stringify(document()) : `<p>${text()}</p>${one(['', '\n', '\r\n', '\t'])}`,
        editorType: isBlock ? 'block' : 'html',
        ...maybe(0.3, () => ({ layoutId: one([...layouts, null]) })),
      }
    },
    sms: () => ({ body: text() }),
    chat: () => ({ body: text() }),
    push: () => ({ subject: text(), body: text() }),
    digest: () => ({
      ...amount(),
      ...one([{}, { digestKey: 'payload.kind' }, { maxEvents: 5 }, { flushFirst: true }, { window: 'sliding' }]),
    }),
    delay: () =>
      one([
        { type: 'regular', ...amount() },
        { type: 'timed', cron: '0 9 * * *' },
      ]),
    throttle: () => ({ type: 'fixed', ...amount(), threshold: 1 + below(5) }),
    custom: () => ({}),
    http_request: () => ({
      ...{ method: one(['GET', 'POST']), url: 'https://example.com/hook' },
      ...maybe(0.5, () => ({ headers: [{ key: 'X-Kind', value: one(words) }] })),
    }),
    branch: (deep) => ({
      arms: Array.from({ length: 1 + below(2) }, (_, place) => ({
        ...{ name: `arm ${place + 1}`, condition: condition(), steps: steps(1 + below(2), deep + 1) },
        ...maybe(0.3, () => ({ end: true })),
      })),
      ...maybe(0.5, () => ({ default: { steps: steps(1, deep + 1) } })),
    }),
    exit: () => ({ skip: condition() }),
    wait_for_event: () => ({
      ...{ for: [{ event: 'order.paid', ...maybe(0.5, () => ({ key: '{{payload.orderId}}' })) }], ...amount() },
    }),
    start_workflow: () => ({ workflowId: 'w0', ...maybe(0.5, () => ({ payload: { a: one(words) } })) }),
    update_subscriber: () => ({ firstName: text(), ...maybe(0.5, () => ({ data: { plan: one(words) } })) }),
    ask: () => ({
      ...{
        question: text(),
        answers: [
          { id: 'yes', label: 'Yes' },
          { id: 'no', label: one(words).trim() || 'No' },
        ],
      },
      ...amount(),
      ...maybe(0.4, () => ({ channels: ['in_app', 'email'] })),
    }),
  }
  const kinds = Object.keys(values)
  let last = 0
  const step = (type: string, deep: number): Members => {
    last += 1
    const id = `${type.replaceAll('_', '-')}-${last}`
    const own = values[type]?.(deep) ?? {}
    const controlValues = type !== 'branch' && type !== 'exit' && chance() < 0.2 ? { ...own, skip: condition() } : own
    const isMessage = ['in_app', 'email', 'sms', 'chat', 'push'].includes(type)
    return {
      ...{ stepId: id, name: named(), type },
      ...(Object.keys(controlValues).length === 0 ? {} : { controlValues }),
      ...maybe(0.1, () => ({ active: false })),
      ...maybe(0.1, () => ({ shouldStopOnFail: true })),
      ...maybe(isMessage ? 0.2 : 0, () => ({ onUnknown: one(['retry', 'hold']) })),
      ...maybe(type === 'email' ? 0.3 : 0, () => ({
        replyCallback: { active: chance() < 0.5, ...maybe(0.5, () => ({ url: 'https://example.com/replies' })) },
      })),
      ...maybe(isMessage ? 0.2 : 0, () => ({ filters: filters() })),
      ...maybe(isMessage ? 0.2 : 0, () => ({
        variants: Array.from({ length: 1 + below(2) }, () => ({
          ...maybe(0.5, () => ({ name: named() })),
          ...maybe(0.2, () => ({ active: false })),
          ...{ filters: filters(), controlValues: values[type]?.(deep) ?? {} },
        })),
      })),
    }
  }
  const steps = (most: number, deep = 0): Members[] =>
    Array.from({ length: most }, () => step(one(deep < 2 ? kinds : kinds.filter((kind) => kind !== 'branch')), deep))

  const resources: Remote[] = []
  const add = (kind: Remote['kind'], id: string, definition: Members) => resources.push({ kind, id, definition })
  const share = (part: number) => Math.max(1, Math.round(count * part))

  for (let place = 0; place < share(0.15); place += 1) {
    const layoutId = `l${place}`
    layouts.push(layoutId)
    add('layout', layoutId, {
      ...{ layoutId, name: named() },
      ...maybe(0.3, () => ({ isTranslationEnabled: true })),
      ...maybe(0.7, () => ({
        controlValues: {
          email: { body: `<html><body>${one(words)}{{content}}</body></html>`, editorType: 'html' },
        },
      })),
    })
  }
  const translated: string[] = []
  for (let place = 0; place < share(0.6); place += 1) {
    // Some differ only in case.
    const workflowId = place % 7 === 3 ? `W${place - 1}` : `w${place}`
    const isTranslated = chance() < 0.3
    if (isTranslated) translated.push(workflowId)
    last = 0
    add('workflow', workflowId, {
      ...{ workflowId, name: named(), active: chance() < 0.8, validatePayload: chance() < 0.5 },
      ...maybe(0.4, () => ({ description: text() })),
      ...maybe(0.4, () => ({ tags: [...new Set([one(['on', 'b: c']), one(['- d', 'e'])])] })),
      ...maybe(0.4, () => ({
        payloadSchema: { type: 'object', properties: { zeta: { type: 'string' }, author: { type: 'string' } } },
      })),
      ...(isTranslated ? { isTranslationEnabled: true } : {}),
      ...maybe(0.3, () => ({ severity: one(['high', 'medium', 'low']) })),
      ...maybe(0.3, () => ({ consentCategory: one(['news', 'offers', '0_0-z']) })),
      ...maybe(0.3, () => ({ tracking: { opens: chance() < 0.5, clicks: true } })),
      // What is critical cannot be commercial.
      ...one<Members>([
        ...[{}, {}, { messageClass: 'commercial' }, { preferences: { workflow: { all: { readOnly: true } } } }],
        { preferences: { workflow: { channels: { sms: { enabled: false } } }, user: {} } },
        {
          messageClass: 'commercial',
          preferences: { user: { all: { enabled: false }, channels: { email: { enabled: true } } } },
        },
      ]),
      ...maybe(0.3, () => ({ journey: journey() })),
      // The first ones have one of every kind.
      steps: place === 0 ? kinds.map((kind) => step(kind, 0)) : steps(below(5)),
    })
  }
  for (const [place, locale] of ['de_DE', 'fr_FR', 'es_ES', 'ja_JP'].entries())
    add('translation', locale, {
      workflows: Object.fromEntries(
        translated
          .filter((_, index) => index % 4 <= place)
          .sort()
          .map((id) => [id, { zeta: one(words), 'a.b': one(words), nested: { x: one(words) } }]),
      ),
      layouts: {},
    })
  for (let place = 0; place < share(0.15); place += 1)
    add('topic', `t${place}`, { key: `t${place}`, ...maybe(0.7, () => ({ name: named() })) })
  const secrets: Record<string, string> = {}
  for (let place = 0; place < Math.min(share(0.05), 20); place += 1) {
    secrets[`MAILS-${place}_APIKEY`.replaceAll(/[^A-Z0-9_]/g, '_')] = `hush-${place}`
    add('integration', `mails-${place}`, {
      ...{ identifier: `mails-${place}`, name: named(), channel: 'email', providerId: 'sendgrid', active: true },
      credentials: { apiKey: { $secret: `MAILS_${place}_APIKEY` }, from: 'hello@example.com' },
    })
  }
  for (let place = 0; place < Math.min(share(0.05), 20); place += 1) {
    const isSecret = place % 3 === 0
    if (isSecret) secrets[`V${place}_VALUE`] = `hush-v${place}`
    add('variable', `V${place}`, {
      ...{
        key: `V${place}`,
        ...(isSecret ? { isSecret: true, value: { $secret: `V${place}_VALUE` } } : { value: one(words) }),
      },
    })
  }
  return { resources, secrets }
}
