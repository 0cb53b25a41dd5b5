import { describe, expect, test } from 'vitest'
import { noTranslations, type Translator } from '../../render/translations.ts'
import { type ControlValues, openObject, stepTypes } from '../contract/kind.ts'
import type { JsonSchema } from '../json-schema/run.ts'
import { controlIssues, integrationIssues } from './issues.ts'
import { stepVariables } from './variables.ts'

const closed = {
  type: 'object',
  properties: {
    orderId: { type: 'string' },
    total: { type: 'number' },
    items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    address: { $ref: '#/definitions/address' },
  },
  additionalProperties: false,
  definitions: { address: { type: 'object', properties: { city: { type: 'string' } } } },
}
const previous = [
  { stepId: 'inbox', type: 'in_app', controlValues: null },
  { stepId: 'collect', type: 'digest', controlValues: null },
  { stepId: 'limit', type: 'throttle', controlValues: null },
]

function issuesOf(type: string, controlValues: ControlValues | null, payloadSchema: JsonSchema | null = closed) {
  const variables = stepVariables({ previous, payloadSchema, used: [], envKeys: ['BASE_URL'] })
  return controlIssues({ type, controlValues }, variables, payloadSchema)
}

const missing = (path: string, message: string) => ({
  [path]: [{ issueType: 'MISSING_VALUE', variableName: path, message }],
})
const illegal = (variableName: string, message: string) => ({
  issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
  variableName,
  message,
})

describe('required values', () => {
  test.each<[string, ControlValues | null, object]>([
    [
      'in_app',
      {},
      { ...missing('subject', 'Subject or body is required'), ...missing('body', 'Subject or body is required') },
    ],
    ['in_app', { subject: '', body: 'text' }, {}],
    ['in_app', { subject: 'text' }, {}],
    ['in_app', { body: 'text', primaryAction: { label: '' }, secondaryAction: null, redirect: { url: '' } }, {}],
    ['in_app', { body: 7 }, missing('body', 'Subject or body is required')],
    ['email', null, missing('subject', 'Subject is required')],
    ['email', { subject: '', body: 'text' }, missing('subject', 'Subject is required')],
    ['email', { subject: 'Hi', unknown: 1 }, {}],
    [
      'email',
      { subject: 'Hi', editorType: 'markdown' },
      missing('editorType', 'Editor type must be one of block, html'),
    ],
    ['sms', { body: '' }, missing('body', 'Body is required')],
    ['chat', null, missing('body', 'Body is required')],
    ['push', { body: 'text' }, missing('subject', 'Subject is required')],
    ['delay', {}, { ...missing('amount', 'Amount is required'), ...missing('unit', 'Unit is required') }],
    ['delay', { type: 'regular', amount: 0, unit: 'hours' }, missing('amount', 'Amount must be >= 1')],
    [
      'delay',
      { type: 'regular', amount: 1, unit: 'years' },
      missing('unit', 'Unit must be one of seconds, minutes, hours, days, weeks, months'),
    ],
    ['delay', { type: 'timed' }, missing('cron', 'Cron is required')],
    ['delay', { type: 'dynamic' }, missing('dynamicKey', 'Dynamic key is required')],
    ['delay', { type: 'dynamic', dynamicKey: 'payload.sendAt' }, {}],
    ['digest', { amount: '5', unit: 'minutes', digestKey: '{{payload.orderId}}' }, {}],
    ['digest', { amount: 'five', unit: 'minutes' }, missing('amount', 'Amount is required')],
    [
      'digest',
      { amount: 1, unit: 'days', lookBackWindow: { amount: 1 } },
      missing('lookBackWindow.unit', 'Look back window unit is required'),
    ],
    ['digest', { cron: '0 9 * * 1' }, {}],
    ['throttle', {}, {}],
    ['throttle', { amount: 5, unit: 'seconds' }, missing('unit', 'Unit must be one of minutes, hours, days')],
    ['throttle', { amout: 5 }, missing('amout', 'Amout is not a known field')],
    ['custom', { anything: { goes: true } }, {}],
    ['http_request', null, { ...missing('method', 'Method is required'), ...missing('url', 'Url is required') }],
    [
      'http_request',
      { method: 'GET', url: 'https://example.com', timeout: 99 },
      missing('timeout', 'Timeout must be >= 100'),
    ],
    [
      'http_request',
      { method: 'GET', url: 'https://example.com', headers: [{ key: 'a', value: '' }] },
      missing('headers.0.value', 'Headers 0 value is required'),
    ],
  ])('%s with %j', (type, values, issues) => {
    expect(issuesOf(type, values)).toEqual(issues)
  })

  test('null is the same as absent, at any depth', () => {
    expect(
      issuesOf('in_app', { body: 'text', avatar: null, data: { a: null }, primaryAction: { label: null } }),
    ).toEqual({})
  })

  test('every kind can be checked without values', () => {
    for (const type of stepTypes) expect(issuesOf(type, null)).toBeTypeOf('object')
  })
})

describe('URLs', () => {
  const wrong = 'Invalid URL. Must be a full URL, a path starting with / or start with a {{variable}}'
  const invalid = (path: string, message = wrong) => ({
    [path]: [{ issueType: 'INVALID_URL', variableName: path, message }],
  })

  test.each([
    '/orders/{{payload.orderId}}',
    'https://example.com/{{payload.orderId}}?a=b',
    'http://localhost:3000',
    '{{payload.orderId}}',
    '{{payload.orderId}}/more',
  ])('%s is valid', (url) => {
    expect(issuesOf('in_app', { body: 'text', avatar: url, redirect: { url } })).toEqual({})
  })

  test.each(['mailto:ada@example.com', 'example.com', 'https://exa mple.com', 'https://{a}', 'javascript:alert(1)'])(
    '%s is invalid, and is reported once at each place',
    (url) => {
      const values = { body: 'text', avatar: url, redirect: { url }, primaryAction: { label: 'Go', redirect: { url } } }
      expect(issuesOf('in_app', values)).toEqual({
        ...invalid('avatar'),
        ...invalid('redirect.url'),
        ...invalid('primaryAction.redirect.url'),
      })
    },
  )

  test('an HTTP request needs an absolute URL', () => {
    expect(issuesOf('http_request', { method: 'GET', url: '{{env.BASE_URL}}/orders' })).toEqual({})
    expect(issuesOf('http_request', { method: 'GET', url: '/orders' })).toEqual(
      invalid('url', 'Invalid URL. Must be a full URL starting with http:// or https://, or start with a {{variable}}'),
    )
  })
})

describe('templates', () => {
  test('the worked example: a name without namespace and one that the payload does not have', () => {
    expect(issuesOf('sms', { body: 'Hello {{name}} {{payload.unknown}}' })).toEqual({
      body: [
        illegal('name', 'Variable "name" invalid or missing namespace'),
        illegal('payload.unknown', 'Variable "payload.unknown" is not supported'),
      ],
    })
  })

  test.each([
    '{{payload.orderId}}',
    '{{payload.address.city}}',
    '{{payload.items[0].name}} {{payload.items.name}} {{payload.items.size}} {{payload.items.first.name}}',
    '{{subscriber.firstName}} {{subscriber.data.anything.at.all}} {{actor.firstName}}',
    '{{workflow.name}} {{workflow.tags[0]}} {{workflow.severity}}',
    '{{steps.inbox.read}} {{steps.collect.eventCount}} {{steps.collect.events[0].payload.whatever}} {{steps.collect.events.length}}',
    '{{steps.limit.throttled}}',
    '{{context.tenant.id}} {{context.tenant.data.plan}}',
    '{{tenant.identifier}} {{tenant.name}} {{tenant.data.plan.name}}',
    '{{env.BASE_URL}} {{env.name}} {{env.type}}',
    '{{t.greeting}} {{ T.greeting }}',
    '{% for item in payload.items %}{{item.name}} {{forloop.index}}{% endfor %}',
    '{% assign who = subscriber.firstName %}{{who}}{% capture all %}{{payload.total}}{% endcapture %}{{all}}',
    "{{steps.collect.events | toSentence: 'payload.name', 2, 'other'}}",
    '{{payload.items | toSentence}} {{payload.total | plus: 1}}',
  ])('%s is fine', (body) => {
    expect(issuesOf('sms', { body })).toEqual({})
  })

  test.each<[string, string, string]>([
    ['{{payload}}', 'payload', 'Variable "payload" invalid or missing namespace'],
    ['{{payload.address.street}}', 'payload.address.street', 'Variable "payload.address.street" is not supported'],
    ['{{payload.orderId.more}}', 'payload.orderId.more', 'Variable "payload.orderId.more" is not supported'],
    ['{{payload.items.nme}}', 'payload.items.nme', 'Variable "payload.items.nme" is not supported'],
    ['{{subscriber.nickname}}', 'subscriber.nickname', 'Variable "subscriber.nickname" is not supported'],
    ['{{steps.later.read}}', 'steps.later.read', 'Variable "steps.later.read" is not supported'],
    ['{{steps.inbox.seen_at}}', 'steps.inbox.seen_at', 'Variable "steps.inbox.seen_at" is not supported'],
    ['{{env.SECRET}}', 'env.SECRET', 'Variable "env.SECRET" is not supported'],
    ['{{context.tenant.name}}', 'context.tenant.name', 'Variable "context.tenant.name" is not supported'],
    ['{{step.total_count}}', 'step.total_count', 'Variable "step.total_count" is not supported'],
    ['{{tenant.plan}}', 'tenant.plan', 'Variable "tenant.plan" is not supported'],
    ['{{actor.nickname}}', 'actor.nickname', 'Variable "actor.nickname" is not supported'],
    ['{% if foo.bar %}{% endif %}', 'foo.bar', 'Variable "foo.bar" is not supported'],
    ['{{payload.orderId | shout}}', 'payload.orderId', 'Filter "shout" is not supported'],
  ])('%s is not', (body, variableName, message) => {
    expect(issuesOf('sms', { body })).toEqual({ body: [illegal(variableName, message)] })
  })

  test('unreadable templates are reported as such', () => {
    expect(issuesOf('sms', { body: '{{payload.orderId' })).toEqual({
      body: [illegal('{{}}', expect.stringContaining('not closed'))],
    })
    expect(issuesOf('sms', { body: '{{payload.order id}}' }).body).toContainEqual(
      illegal('payload.order id', 'Variable "payload.order id" contains whitespace'),
    )
  })

  test.each([
    ['{{steps.collect.events | toSentence}}', 'steps.collect.events'],
    ["{{steps.collect.events | toSentence: ''}}", 'steps.collect.events'],
    ["{{steps.collect.events | toSentence: 'payload.name', 'two'}}", 'steps.collect.events'],
    ["{{payload.items | toSentence: '', 2, 3}}", 'payload.items'],
  ])('%s has the wrong arguments', (body, variableName) => {
    expect(issuesOf('sms', { body })).toMatchObject({
      body: [{ issueType: 'INVALID_FILTER_ARG_IN_VARIABLE', variableName }],
    })
  })

  test('every text is checked, by its path, and each issue reported once', () => {
    const found = issuesOf('in_app', {
      body: '{{a}} {{a}}',
      primaryAction: { label: '{{b}}' },
      data: { list: ['{{c}}'], '{{d}}': 'key' },
    })
    expect(Object.keys(found).sort()).toEqual(['body', 'data.list.0', 'data.{{d}}', 'primaryAction.label'])
    expect(found.body).toHaveLength(1)
  })

  test('a schema that describes a response is not a template', () => {
    const values = { method: 'GET', url: 'https://example.com', responseBodySchema: { description: '{{a}}' } }
    expect(issuesOf('http_request', values)).toEqual({})
  })

  test('a block document is checked wherever it names a variable', () => {
    const body = JSON.stringify({
      type: 'doc',
      content: [
        {
          type: 'heading',
          attrs: { showIfKey: 'payload.gone' },
          content: [{ type: 'text', text: 'Hi {{payload.greeting}}' }],
        },
        {
          type: 'repeat',
          attrs: { each: 'payload.items', iterations: 3 },
          content: [
            { type: 'variable', attrs: { id: 'payload.items.name', fallback: 'item' } },
            { type: 'variable', attrs: { id: 'current.name', aliasFor: 'payload.items.name' } },
            { type: 'variable', attrs: { id: 'current.name' } },
            { type: 'variable', attrs: { id: 'payload.items.colour | upcase' } },
          ],
        },
        { type: 'button', attrs: { text: 'Open', url: 'payload.link', isUrlVariable: true } },
        { type: 'button', attrs: { text: 'Open', url: 'not.a.variable', isUrlVariable: false } },
        {
          type: 'paragraph',
          content: [{ type: 'text', text: 'x', marks: [{ type: 'link', attrs: { href: '{{payload.url}}' } }] }],
        },
        { type: 'variable', attrs: { id: 't.key' } },
      ],
    })
    const names = issuesOf('email', { subject: 'Hi', body }).body?.map((issue) => issue.variableName)
    expect(names).toEqual(['payload.gone', 'payload.greeting', 'payload.items.colour', 'payload.link', 'payload.url'])
  })

  test('a Repeat block without a list, or over something else, would fail', () => {
    const repeat = (attrs: object) => JSON.stringify({ type: 'doc', content: [{ type: 'repeat', attrs, content: [] }] })
    const of = (attrs: object) => issuesOf('email', { subject: 'Hi', body: repeat(attrs) }).body
    const left = { issueType: 'MISSING_VALUE', variableName: 'each', message: expect.stringContaining('Repeat') }
    expect(of({})).toEqual([left])
    expect(of({ each: '{{ }}' })).toEqual([left])
    expect(of({ each: 'payload.orderId' })).toEqual([
      illegal('payload.orderId', 'Repeat needs a list, but "payload.orderId" is not one'),
    ])
    expect(of({ each: 'payload.gone' })).toMatchObject([{ message: 'Variable "payload.gone" is not supported' }])
    expect(of({ each: 'payload.items' })).toBeUndefined()
    expect(of({ each: '{{steps.collect.events}}' })).toBeUndefined()
  })

  test('a translation key needs a text in the default locale, and so do the keys in that text', () => {
    const texts: Record<string, string> = { greeting: 'Hi {{t.name}}', name: 'you', broken: 'Hi {{t.gone}}' }
    const variables = stepVariables({ previous, payloadSchema: closed, used: [], envKeys: [] })
    const of = (body: string, translator: Translator = (key) => texts[key]) =>
      controlIssues({ type: 'sms', controlValues: { body } }, variables, closed, translator).body
    expect(of('{{t.greeting}} {{ T.name | upcase }}')).toBeUndefined()
    expect(of('{{t.nothing}}')).toEqual([illegal('t.nothing', 'There is no translation for "nothing"')])
    expect(of('{{payload.total | pluralize: "t.one", "t.name"}}')).toEqual([
      illegal('t.one', 'There is no translation for "one"'),
    ])
    expect(of('{{t.broken}}')).toEqual([illegal('t.broken', 'There is no translation for "gone"')])
    expect(of('{{t.greeting}}', noTranslations)).toEqual([
      illegal('t.greeting', 'Turn on translation to use "t.greeting"'),
    ])
    const block = { type: 'doc', content: [{ type: 'variable', attrs: { id: 't.nothing' } }] }
    expect(of(JSON.stringify(block))).toMatchObject([{ variableName: 't.nothing' }])
  })

  test('with an open payload, any of its names is fine', () => {
    expect(issuesOf('sms', { body: '{{payload.any.thing[0].at.all}}' }, null)).toEqual({})
    expect(issuesOf('sms', { body: '{{payload.any}}' }, { ...openObject })).toEqual({})
    expect(issuesOf('sms', { body: '{{payload.any}}' }, {})).toEqual({})
  })
})

describe('the condition', () => {
  const of = (skip: unknown) => issuesOf('sms', { body: 'text', skip }).skip

  test.each([
    {},
    { '==': [{ var: 'payload.whatever' }, 1] },
    { '==': [{ var: 'payload.orderId' }, null] },
    { and: [{ '==': [{ var: 'steps.inbox.read' }, false] }, { '>': [{ var: 'subscriber.data.age' }, 18] }] },
    { '==': [{ var: 'subscriber.isOnline' }, true] },
    { '==': [{ var: 'payload.total' }, '{{payload.orderId}}'] },
  ])('%j is fine', (skip) => {
    expect(of(skip)).toBeUndefined()
  })

  test('an unknown field, a missing value and a wrong shape are reported with their place', () => {
    expect(
      of({
        and: [
          { '==': [{ var: 'steps.later.read' }, true] },
          { or: [{ '==': [{ var: 'payload.a' }, ''] }, { '==': 1 }] },
        ],
      }),
    ).toMatchObject([
      { issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE', variableName: '0' },
      { issueType: 'MISSING_VALUE', variableName: '1.0' },
      { issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE', variableName: '1.1' },
    ])
    expect(of('always')).toMatchObject([{ issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE' }])
  })

  test('templates in its values are checked too', () => {
    expect(of({ '==': [{ var: 'payload.total' }, '{{payload.gone}}'] })).toMatchObject([
      { variableName: 'payload.gone' },
    ])
  })
})

describe('waiting', () => {
  const tooLong = (path: string) => ({
    [path]: [{ issueType: 'TIER_LIMIT_EXCEEDED', variableName: path, message: 'The maximum is 180 days' }],
  })

  test.each<[ControlValues, object]>([
    [{ type: 'regular', amount: 180, unit: 'days' }, {}],
    [{ type: 'regular', amount: 6, unit: 'months' }, {}],
    [
      { type: 'regular', amount: 181, unit: 'days' },
      { ...tooLong('amount'), ...tooLong('unit') },
    ],
    [{ type: 'timed', cron: '0 9 * * 1' }, {}],
    [{ type: 'timed', cron: '{{payload.orderId}}' }, {}],
    [{ type: 'timed', cron: '0 0 1 1 *' }, tooLong('cron')],
    [{ type: 'timed', cron: '0 0 29 2 *' }, tooLong('cron')],
    [{ type: 'timed', cron: '0 0 30 2 *' }, missing('cron', 'Cron is not an expression that ever matches')],
    [{ type: 'timed', cron: 'at nine' }, missing('cron', 'Cron is not an expression that ever matches')],
    [{ type: 'timed', cron: '1,'.repeat(200) }, missing('cron', 'Cron is not an expression that ever matches')],
  ])('%j', (values, issues) => {
    expect(issuesOf('delay', values)).toEqual(issues)
    if (values.type !== 'dynamic') expect(issuesOf('digest', values)).toEqual(issues)
  })

  test.each<[ControlValues, object]>([
    [{ amount: 180, unit: 'days' }, {}],
    [
      { amount: 181, unit: 'days' },
      { ...tooLong('amount'), ...tooLong('unit') },
    ],
    [{ type: 'dynamic', dynamicKey: 'payload.until', amount: 181, unit: 'days' }, {}],
  ])('a throttle has the same limit: %j', (values, issues) => {
    expect(issuesOf('throttle', values)).toEqual(issues)
  })
})

describe('controls declared in code', () => {
  const variables = stepVariables({ previous: [], payloadSchema: null, used: [], envKeys: [] })
  const of = (controlSchema: JsonSchema, controlValues: ControlValues) =>
    controlIssues({ type: 'email', controlValues, controlSchema }, variables, null)
  const schema = { type: 'object', properties: { title: { type: 'string' }, skip: {} }, required: ['title'] }

  test('are checked against their own schema, where blank counts as absent', () => {
    expect(of(schema, { title: 'text', skip: 'never' })).toEqual({})
    expect(of(schema, {})).toEqual(missing('title', 'Title is required'))
    expect(of(schema, { title: '  ' })).toEqual(missing('title', 'Title must be string'))
    expect(of(schema, { title: '{{name}}' })).toMatchObject({ title: [{ variableName: 'name' }] })
  })

  test('are left to the code if they cannot be checked here', () => {
    expect(of({ type: 'object', properties: { title: { pattern: '(?=a)' } } }, { title: 'text' })).toEqual({})
    expect(of({ $ref: '#' }, { title: 'text' })).toEqual({})
  })
})

describe('integrations', () => {
  const active = (channel: string, more = {}) => ({ channel, is_primary: false, connected: false, ...more })
  const primary = [{ issueType: 'MISSING_INTEGRATION', message: 'Missing active primary integration provider' }]
  const any = [{ issueType: 'MISSING_INTEGRATION', message: 'Missing active integration provider' }]

  test('email and SMS need a primary one, push and chat any', () => {
    expect(integrationIssues('email', [active('email')])).toEqual({ email: primary })
    expect(integrationIssues('sms', [active('email', { is_primary: true })])).toEqual({ sms: primary })
    expect(integrationIssues('email', [active('email', { is_primary: true })])).toBeUndefined()
    expect(integrationIssues('push', [])).toEqual({ push: any })
    expect(integrationIssues('chat', [active('chat')])).toBeUndefined()
  })

  test('the inbox needs one that a client has connected to', () => {
    expect(integrationIssues('in_app', [])).toEqual({ in_app: any })
    expect(integrationIssues('in_app', [active('in_app')])).toMatchObject({
      in_app: [{ issueType: 'INBOX_NOT_CONNECTED' }],
    })
    expect(integrationIssues('in_app', [active('in_app', { connected: true })])).toBeUndefined()
    // The first minute: a workflow that is tried out in the sandbox has no issue.
    const sandbox = active('email', { provider_id: 'svc-email', is_primary: true })
    expect(integrationIssues('in_app', [active('in_app', { provider_id: 'svc' }), sandbox])).toBeUndefined()
    expect(integrationIssues('in_app', [sandbox])).toEqual({ in_app: any })
  })

  test('steps that deliver nothing need none', () => {
    for (const type of ['digest', 'delay', 'throttle', 'custom', 'http_request'])
      expect(integrationIssues(type, [])).toBeUndefined()
  })
})

test('of thousands of issues the first two hundred are listed', () => {
  const body = Array.from({ length: 900 }, (_, i) => `{{a${i}}}`).join('')
  expect(issuesOf('sms', { body }).body).toHaveLength(200)
})
