// Rendering and decisions with cached templates, compared with plain LiquidJS on the same text. Rates are per second of
// processor time, so other programs on the machine do not change them.

import { Liquid } from 'liquidjs'
import { resolvePreference } from '../../../server/src/engine/core/preferences.ts'
import { renderEmail } from '../../../server/src/render/email.ts'
import { situation } from '../../../server/src/render/liquid.ts'
import { renderInApp } from '../../../server/src/render/messages.ts'
import { evaluateCondition } from '../../../server/src/steps/conditions/conditions.ts'
import type { Figure, Options, Outcome } from '../report/figures.ts'

const now = new Date('2026-05-01T10:00:00.000Z')

const scope = {
  subscriber: { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace', data: { plan: 'pro' } },
  payload: {
    project: 'Analytical Engine',
    author: 'Charles Babbage',
    total: 42,
    link: 'https://example.com/projects/1',
    items: Array.from({ length: 10 }, (_, n) => ({ name: `Event ${n}`, by: `Person ${n}`, at: `${n} o'clock` })),
  },
  steps: {},
  context: {},
  workflow: { name: 'Comments' },
  env: {},
}

const inAppBody =
  'Hello {{subscriber.firstName}} {{subscriber.lastName}}, {{payload.author}} wrote in {{payload.project}} ({{payload.total}})'

const digestHtml = `<h1>{{payload.project}}</h1><table>{% for item in payload.items %}
<tr><td>{{item.name}}</td><td>{{item.by}}</td><td>{{item.at}}</td></tr>{% endfor %}</table><p>Hello {{subscriber.firstName}}</p>`

const text = (content: string) => ({ type: 'text', text: content })
const variable = (id: string) => ({ type: 'variable', attrs: { id, fallback: '', required: false } })
const blocks = {
  type: 'doc',
  content: [
    { type: 'heading', attrs: { level: 1 }, content: [text('News of '), variable('payload.project')] },
    { type: 'paragraph', content: [text('Hello '), variable('subscriber.firstName')] },
    { type: 'paragraph', content: [variable('payload.author'), text(' wrote to you.')] },
    { type: 'bulletList', content: [{ type: 'listItem', content: [{ type: 'paragraph', content: [text('one')] }] }] },
    { type: 'horizontalRule' },
    { type: 'section', content: [{ type: 'paragraph', content: [text('Total: '), variable('payload.total')] }] },
    { type: 'spacer', attrs: { height: 8 } },
    { type: 'paragraph', content: [{ type: 'text', text: 'Bold words', marks: [{ type: 'bold' }] }] },
    { type: 'button', attrs: { text: 'Open', url: 'payload.link', isUrlVariable: true } },
    { type: 'footer', content: [text('You get this because you follow the project.')] },
  ],
}

const rule = {
  and: [
    { '==': [{ var: 'subscriber.data.plan' }, 'pro'] },
    { '>': [{ var: 'payload.total' }, 10] },
    { '!': { in: [{ var: 'payload.author' }, ['Nobody', 'Somebody']] } },
  ],
}
const layers = {
  workflow: { all: { enabled: true, readOnly: false }, channels: {} },
  user: null,
  subscriberGlobal: { email: false },
  subscriberWorkflow: { in_app: true },
}

export async function benchRendering({ quick }: Options): Promise<Outcome> {
  const seconds = quick ? 0.2 : 2
  const liquid = new Liquid()
  const plain = (template: string) => {
    const parsed = liquid.parse(template)
    return () => liquid.renderSync(parsed, scope)
  }
  const decide = () => {
    const condition = evaluateCondition(rule, { data: scope, now })
    if (!('holds' in condition) || !condition.holds) throw new Error('the condition should hold')
    return resolvePreference(layers, 'in_app')
  }
  const plainInApp = rate(plain(inAppBody), seconds)
  const plainDigest = rate(plain(digestHtml), seconds)
  const messages: Figure[] = [
    {
      id: 'in-app',
      name: 'render an in-app body with five variables',
      unit: '/s',
      ours: rate(() => renderInApp({ body: inAppBody }, situation(scope, now)), seconds),
      reference: plainInApp,
      against: 'plain LiquidJS, same text',
      target: { oursAtLeast: 50_000 },
    },
    {
      id: 'digest-email',
      name: 'render a ten-row digest email in HTML',
      unit: '/s',
      ours: rate(() => renderEmail({ subject: 'News', body: digestHtml }, situation(scope, now)), seconds),
      reference: plainDigest,
      against: 'plain LiquidJS, same text, neither sanitised nor with a text part',
      target: { oursAtLeast: 2_000 },
    },
    {
      id: 'block-email',
      name: 'render a ten-block email',
      unit: '/s',
      ours: rate(() => renderEmail({ subject: 'News', body: blocks }, situation(scope, now)), seconds),
      reference: plainDigest,
      against: 'plain LiquidJS, the digest above',
      target: { oursAtLeast: 500 },
    },
    {
      id: 'decisions',
      name: 'resolve preferences and a condition for one recipient',
      unit: 'µs',
      ours: 1e6 / rate(decide, seconds),
      reference: 1e6 / plainInApp,
      against: 'plain LiquidJS, the in-app body above',
      target: { oursAtMost: 20 },
    },
  ]
  return { figures: messages, notes: { value: 'per second of processor time, templates cached', seconds } }
}

/** Runs of `work` per second of processor time, once warm. */
function rate(work: () => unknown, seconds: number): number {
  for (let warmUp = 0; warmUp < 2_000; warmUp += 1) work()
  const start = process.cpuUsage()
  let runs = 0
  let spent = 0
  while (spent < seconds * 1e6) {
    for (let n = 0; n < 100; n += 1) work()
    runs += 100
    const { user, system } = process.cpuUsage(start)
    spent = user + system
  }
  return (runs / spent) * 1e6
}
