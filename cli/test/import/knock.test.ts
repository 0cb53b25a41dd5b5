// What the parts of Knock's workflows become, rule by rule, and that the report accounts for every member. files.md §6.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { knock } from '../../src/import/knock/source.ts'
import { useCommand, write } from '../command.ts'
import * as fixtures from './fixtures.ts'
import { plant, read, unaccounted } from './reading.ts'

const command = useCommand()
let folder: string
beforeEach(() => {
  folder = command.newFolder()
})

const channels = 'in-app: in_app\npostmark: email\ntwilio: sms\napns: push apns\nslack: chat\n'

/** One workflow with these steps. */
async function workflow(steps: object[], more: object = {}, files: Record<string, string> = {}) {
  const place = 'knock/workflows/w'
  write(folder, {
    'knock/channels.yaml': channels,
    [`${place}/workflow.json`]: JSON.stringify({ name: 'W', ...more, steps }),
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`knock/${name}`, text])),
  })
  const result = await read(knock(path.join(folder, 'knock'), {}))
  const { steps: made = [], ...rest } = result.definitions['workflow w'] ?? {}
  return { ...result, steps: made, rest }
}
const values = async (step: object) => {
  const { steps, listed } = await workflow([step])
  return { values: steps[0]?.controlValues, type: steps[0]?.type, listed }
}
const batch = (settings: object) => values({ ref: 'b', type: 'batch', settings })
const message = (channel_key: string, template: object) => values({ ref: 'm', type: 'channel', channel_key, template })
const ofStep = (name: string, code: string) => `workflow w steps.${name} ${code}`

describe('steps', () => {
  test.each([
    [{ batch_window: { unit: 'hours', value: 2 } }, { amount: 2, unit: 'hours' }],
    [
      { batch_window: { unit: 'days', value: 1 }, batch_order: 'asc' },
      { amount: 1, unit: 'days' },
    ],
    [
      { batch_window: { unit: 'minutes', value: 5 }, batch_execution_mode: 'flush_leading', batch_key: 'data.a.b' },
      { amount: 5, unit: 'minutes', flushFirst: true, digestKey: 'payload.a.b' },
    ],
    [
      {
        ...{ batch_window: { unit: 'minutes', value: 5 }, batch_window_type: 'sliding' },
        batch_window_extension_limit: { unit: 'hours', value: 3 },
      },
      { amount: 5, unit: 'minutes', window: 'sliding', maxWindow: { amount: 3, unit: 'hours' } },
    ],
    [
      { batch_window: { unit: 'minutes', value: 5 }, batch_window_type: 'sliding' },
      { amount: 5, unit: 'minutes', window: 'sliding', maxWindow: { amount: 1, unit: 'days' } },
    ],
  ])('a batch becomes a digest: %j', async (settings, expected) => {
    expect(await batch(settings)).toEqual({ type: 'digest', values: expected, listed: [] })
  })

  test('what a batch says and a digest cannot is listed', async () => {
    const { listed } = await batch({
      ...{ batch_window: { unit: 'fortnights', value: 1 }, batch_order: 'random', batch_render_limit: 7 },
      ...{ batch_execution_mode: 'odd', batch_window_type: 'tumbling' },
    })
    for (const name of ['batch_order', 'batch_render_limit', 'batch_execution_mode', 'batch_window_type'])
      expect(listed).toContain(ofStep(`b.settings.${name}`, 'no_equivalent'))
    expect(listed).toContain(ofStep('b.settings.batch_window', 'duration'))
  })

  test('a delay lasts for a time, or until a moment of the payload', async () => {
    const delay = (settings: object) => values({ ref: 'd', type: 'delay', settings })
    expect((await delay({ delay_for: { unit: 'days', value: 3 } })).values).toMatchObject({ amount: 3, unit: 'days' })
    for (const settings of [
      { delay_until_field_path: 'data.due' },
      { delay_for: { type: 'dynamic', key: 'data.due' } },
    ])
      expect((await delay(settings)).values).toEqual({ dynamicKey: 'payload.due' })
    const { listed } = await delay({ delay_for: { unit: 'days', value: 3, offset: 1 } })
    expect(listed).toEqual([ofStep('d.settings.delay_for.offset', 'no_equivalent')])
  })

  test.each([
    [
      { unit: 'seconds', value: 90 },
      { amount: 2, unit: 'minutes' },
    ],
    [
      { unit: 'hours', value: 4 },
      { amount: 4, unit: 'hours' },
    ],
    [
      { unit: 'weeks', value: 2 },
      { amount: 14, unit: 'days' },
    ],
    [
      { unit: 'months', value: 1 },
      { amount: 30, unit: 'days' },
    ],
  ])('a throttle counts in minutes, hours or days: %j', async (throttle_window, expected) => {
    const settings = { throttle_window, throttle_limit: 3, throttle_key: 'data.page' }
    const { type, values: made, listed } = await values({ ref: 't', type: 'throttle', settings })
    expect([type, listed]).toEqual(['throttle', []])
    expect(made).toMatchObject({ ...expected, threshold: 3, throttleKey: 'payload.page' })
    const odd = await values({ ref: 't', type: 'throttle', settings: { ...settings, throttle_limit: 'many' } })
    expect(odd.listed).toContain(ofStep('t.settings.throttle_limit', 'not_number'))
  })

  test('an HTTP request keeps its body, also one that is an object, and values that are none', async () => {
    const settings = {
      ...{ method: 'post', url: 'https://example.com/a?b=1', headers: { 'X-A': '{{ vars.key }}', 'X-N': 3 } },
      query_params: [{ key: 'c d', value: '{{ data.x }}', note: 'odd' }],
      body: { id: '{{ recipient.id }}', list: [1, { plan: '{{ recipient.plan }}' }] },
    }
    const { type, values: made, listed } = await values({ ref: 'h', type: 'http_fetch', settings })
    expect(type).toBe('http_request')
    expect(made).toEqual({
      ...{ method: 'POST', url: 'https://example.com/a?b=1&c%20d={{ payload.x }}' },
      headers: [
        { key: 'X-A', value: '{{ env.key }}' },
        { key: 'X-N', value: '3' },
      ],
      body: '{"id":"{{ subscriber.subscriberId }}","list":[1,{"plan":"{{ subscriber.data.plan }}"}]}',
    })
    expect(listed).toEqual([ofStep('h.settings.query_params.0.note', 'no_equivalent')])
    const text = await values({
      ref: 'h',
      type: 'http_fetch',
      settings: { url: 'https://a.example', body: '{{ data }}' },
    })
    expect(text.values).toMatchObject({ method: 'GET', body: '{{ payload }}' })
  })

  test('a workflow that is started gets its data, and its recipients', async () => {
    const start = (settings: object) =>
      values({ ref: 's', type: 'trigger_workflow', settings: { workflow_key: 'other', ...settings } })
    const to = '{{subscriber.subscriberId}}'
    expect((await start({})).values).toEqual({ workflowId: 'other', to })
    expect((await start({ recipients: 'recipient', cancellation_key: '{{ data.k }}' })).values).toEqual({
      ...{ workflowId: 'other', to, cancellationKey: '{{ payload.k }}' },
    })
    const data = { a: '{{ data.page }}', deep: { list: ['{{ recipient.plan }}', 2] } }
    expect((await start({ data, recipients: ['{{ data.owner }}', { id: 'ada', name: 'Ada' }] })).values).toEqual({
      ...{ workflowId: 'other', to: ['{{ payload.owner }}', 'ada'] },
      payload: { a: '{{ payload.page }}', deep: { list: ['{{ subscriber.data.plan }}', 2] } },
    })
    expect((await start({ recipients: [{ id: 'ada', name: 'Ada' }, 7] })).listed).toEqual([
      ofStep('s.settings.recipients.0.name', 'no_equivalent'),
      ofStep('s.settings.recipients.1', 'no_equivalent'),
    ])
    for (const odd of ['{% if x %}{{ data }}{% endif %}', '[1]', ['a']])
      expect((await start({ data: odd })).listed).toContain(ofStep('s.settings.data', 'template'))
  })

  test('branches keep their conditions, their order and what comes when none holds', async () => {
    const sms = (ref: string) => ({ ref, type: 'channel', channel_key: 'twilio', template: { text_body: ref } })
    const when = (argument: string) => [{ variable: 'data.plan', operator: 'equal_to', argument }]
    const { values: made, listed } = await values({
      ...{ ref: 'c', type: 'branch' },
      branches: [
        { name: 'Else', steps: [sms('three')] },
        { name: 'A', conditions: when('a'), steps: [sms('one')], terminates: true },
        { name: 'B', conditions: when('b'), steps: [], color: 'red' },
      ],
    })
    expect(made).toMatchObject({
      arms: [
        { name: 'A', condition: { '==': [{ var: 'payload.plan' }, 'a'] }, steps: [{ stepId: 'one' }], end: true },
        { name: 'B', condition: { '==': [{ var: 'payload.plan' }, 'b'] } },
      ],
      default: { name: 'Else', steps: [{ stepId: 'three', type: 'sms' }] },
    })
    expect(listed).toEqual([ofStep('c.branches.2.color', 'no_equivalent')])
  })

  test.each(['ai_agent', 'update_data', 'update_user', 'update_object', 'fetch_odd'])(
    'a step of type %s is listed as a whole',
    async (type) => {
      const { steps, listed } = await workflow([{ ref: 'x', type, settings: { a: 1 } }])
      expect([steps, listed]).toEqual([[], [ofStep('x', 'step')]])
    },
  )

  test('a step whose id cannot be one here gets the nearest, and the report says so', async () => {
    const { steps, report } = await workflow([
      { ref: 'a  b', type: 'delay', settings: { delay_for: { unit: 'days', value: 1 } } },
    ])
    expect(steps[0].stepId).toBe('a-b')
    expect(report.changed).toContainEqual(expect.objectContaining({ from: 'a  b', to: 'a-b' }))
  })
})

describe('messages', () => {
  test('in the inbox: two buttons, and a third is listed', async () => {
    const { values: made, listed } = await message('in-app', {
      ...{ title: 'T {{ data.a }}', markdown_body: 'B', action_url: '{{ vars.url }}' },
      action_buttons: [
        { label: 'Yes {{ data.b }}', action: '{{ vars.url }}/y', variant: 'solid' },
        { label: 'No' },
        { label: 'Later', action: '/later' },
      ],
    })
    expect(made).toMatchObject({
      ...{ subject: 'T {{ payload.a }}', body: 'B', redirect: { url: '{{ env.url }}' } },
      primaryAction: { label: 'Yes {{ payload.b }}', redirect: { url: '{{ env.url }}/y' } },
      secondaryAction: { label: 'No' },
    })
    expect(listed).toEqual([
      ofStep('m.template.action_buttons.2', 'no_equivalent'),
      ofStep('m.template.action_buttons.0.variant', 'no_equivalent'),
    ])
  })

  test('by email: blocks, Markdown or HTML', async () => {
    const blocks = [
      { type: 'markdown', content: '**Hi** {{ recipient.email }}', id: '1', version: 1 },
      {
        type: 'image',
        url: 'https://a.example/i.png',
        alt: 'Us',
        action: '{{ vars.url }}',
        style_attrs: { width: '9px' },
      },
      { type: 'divider' },
      { type: 'row', columns: [{ blocks: [{ type: 'html', content: '<i>x</i>' }], layout_attrs: { a: 1 } }] },
      { type: 'carousel' },
    ]
    const { values: made, listed } = await message('postmark', {
      ...{ subject: 'S', visual_blocks: blocks, markdown_body: 'unused', text_body: 'T' },
      settings: { attachment_key: 'files', pre_content: 'x', odd: true },
    })
    expect(made.body).toBe(
      [
        '<p><strong>Hi</strong> {{ subscriber.email }}</p>',
        '<p><a href="{{ env.url }}"><img src="https://a.example/i.png" alt="Us"></a></p>',
        ...['<hr>', '<i>x</i>', ''],
      ].join('\n'),
    )
    for (const name of [
      'settings.attachment_key',
      'settings.pre_content',
      'settings.odd',
      'markdown_body',
      'text_body',
    ])
      expect(listed).toContain(ofStep(`m.template.${name}`, 'no_equivalent'))
    expect(listed).toContain(ofStep('m.template.visual_blocks.1.style_attrs', 'no_equivalent'))
    expect(listed).toContain(ofStep('m.template.visual_blocks.3.columns.0.layout_attrs', 'no_equivalent'))
    expect(listed).toContain(ofStep('m.template.visual_blocks.4.type', 'block'))
    expect((await message('postmark', { markdown_body: '# A' })).values.body).toBe('<h1>A</h1>')
    expect((await message('postmark', { html_body: '<b>{{ data.x }}</b>' })).values.body).toBe('<b>{{ payload.x }}</b>')
  })

  test('by push, SMS and chat: the text; what is of the provider is listed', async () => {
    expect(await message('apns', { title: 'T', text_body: 'B', settings: { payload_overrides: '{}' } })).toEqual({
      ...{ type: 'push', values: { subject: 'T', body: 'B' } },
      listed: [ofStep('m.template.settings.payload_overrides', 'no_equivalent')],
    })
    expect(await message('twilio', { text_body: 'B', settings: { payload_overrides: '{}' } })).toEqual({
      ...{ type: 'sms', values: { body: 'B' }, listed: [ofStep('m.template.settings', 'no_equivalent')] },
    })
    expect(await message('slack', { markdown_body: 'B', json_body: '{}', summary: 'S' })).toEqual({
      ...{ type: 'chat', values: { body: 'B' } },
      listed: ['json_body', 'summary'].map((name) => ofStep(`m.template.${name}`, 'no_equivalent')),
    })
  })

  test('settings of a channel, its windows and overrides are listed', async () => {
    const step = { ref: 'm', type: 'channel', channel_key: 'twilio', template: { text_body: 'B' } }
    const own = { settings: { a: 1 }, send_windows: [{ day: 'monday' }], channel_overrides: { from: 'x' }, odd: 1 }
    const { listed } = await values({ ...step, ...own })
    expect(listed.sort()).toEqual(
      Object.keys(own)
        .map((name) => ofStep(`m.${name}`, 'no_equivalent'))
        .sort(),
    )
    // What a channel is can stand in the step; one that is not known is listed.
    expect((await values({ ...step, channel_key: 'new', channel_type: 'sms' })).type).toBe('sms')
    expect((await values({ ...step, channel_key: 'new', channel_type: 'in_app_guide' })).listed).toEqual([
      ofStep('m', 'channel'),
    ])
  })
})

describe('texts', () => {
  test.each([
    ['{{ recipient.id }}{{ recipient.phone_number }}', '{{ subscriber.subscriberId }}{{ subscriber.phone }}'],
    ['{{ recipient["plan"] | upcase }}', '{{ subscriber.data.plan | upcase }}'],
    ['{{ actor.name }}', '{{ actor.data.name }}'],
    [
      '{{ tenant.id }}{{ tenant.name }}{{ tenant.color }}',
      '{{ tenant.identifier }}{{ tenant.name }}{{ tenant.data.color }}',
    ],
    ['{% if data.a == "data.b" %}{{ vars.c }}{% endif %}', '{% if payload.a == "data.b" %}{{ env.c }}{% endif %}'],
    [
      '{% for each in activities %}{{ each.data.x }}{% endfor %}{{ total_activities }}',
      '{% for each in steps.b.events %}{{ each.payload.x }}{% endfor %}{{ steps.b.eventCount }}',
    ],
    ['{% assign who = recipient.email %}{{ who }}', '{% assign who = subscriber.email %}{{ who }}'],
  ])('%s', async (text_body, expected) => {
    const { steps, listed } = await workflow([
      { ref: 'b', type: 'batch', settings: { batch_window: { unit: 'minutes', value: 5 } } },
      { ref: 'm', type: 'channel', channel_key: 'twilio', template: { text_body } },
    ])
    expect([steps[1].controlValues.body, listed]).toEqual([expected, []])
  })

  test.each(['actors', 'total_actors', 'workflow.key', 'run.id', 'timestamp', 'nothing.x', 'activities'])(
    '{{ %s }} is listed',
    async (name) => {
      const { listed } = await message('twilio', { text_body: `{{ ${name} }}` })
      expect(listed).toContain(ofStep('m', 'variable'))
    },
  )

  test('partials are inlined, also in layouts; one that is not there, and what cannot be handed to it, is listed', async () => {
    const partial = { name: 'P', type: 'html', content: '<b>{{ a }}{{ vars.x }}</b>', icon_name: 'Box' }
    const { steps, listed, definitions, report } = await workflow(
      [
        {
          ...{ ref: 'm', type: 'channel', channel_key: 'postmark' },
          template: { html_body: '{% render "p", a: data.y %}{% render "p" with data.z %}{% render "gone" %}' },
        },
      ],
      {},
      {
        'partials/p/partial.json': JSON.stringify(partial),
        'layouts/l/layout.json': JSON.stringify({
          name: 'L',
          html_layout: '{% render "p", a: 1 %}{{ content }}',
          odd: 1,
        }),
      },
    )
    expect(steps[0].controlValues.body).toBe(
      '{% assign a = payload.y %}<b>{{ a }}{{ env.x }}</b><b>{{ a }}{{ env.x }}</b>{% render "gone" %}',
    )
    expect(definitions['layout l'].controlValues.email.body).toContain(
      '{% assign a = 1 %}<b>{{ a }}{{ env.x }}</b>{{ content }}',
    )
    expect(listed.filter((each) => each.endsWith('partial'))).toHaveLength(2)
    expect(listed).toContain('layout l odd no_equivalent')
    expect(report.changed).toContainEqual(expect.objectContaining({ kind: 'file', path: 'icon_name' }))
  })
})

describe('conditions', () => {
  const sms = { ref: 'm', type: 'channel', channel_key: 'twilio', template: { text_body: 'x' } }
  const condition = async (conditions: unknown) => {
    const seen = { ref: 'in_app_1', type: 'channel', channel_key: 'in-app', template: { markdown_body: 'x' } }
    const { steps, rest, listed } = await workflow([seen, { ...sms, conditions }])
    return { skip: steps[1].controlValues.skip, isActive: rest.active, listed }
  }
  const of = (operator: string, argument?: unknown, variable = 'data.x') => ({ variable, operator, argument })
  const x = { var: 'payload.x' }

  test.each([
    [of('equal_to', 'a'), { '==': [x, 'a'] }],
    [of('not_equal_to', '"a"'), { '!=': [x, 'a'] }],
    [of('greater_than', '3'), { '>': [x, 3] }],
    [of('greater_than_or_equal_to', '3'), { '>=': [x, 3] }],
    [of('less_than', '3'), { '<': [x, 3] }],
    [of('less_than_or_equal_to', '3.5'), { '<=': [x, 3.5] }],
    [of('contains', 'a'), { in: ['a', x] }],
    [of('not_contains', 'a'), { '!': { in: ['a', x] } }],
    [of('contains_all', '["a", "b"]'), { and: [{ in: ['a', x] }, { in: ['b', x] }] }],
    [of('empty'), { '!': x }],
    [of('not_empty'), { '!!': x }],
    [of('exists'), { '!!': x }],
    [of('not_exists'), { '!': x }],
    [{ ...of('equal_to', 'recipient.plan'), argument_type: 'dynamic' }, { '==': [x, { var: 'subscriber.data.plan' }] }],
    [
      of('equal_to', '$message.seen', 'refs.in_app_1.engagement_status'),
      { '==': [{ var: 'steps.in_app_1.seen' }, true] },
    ],
  ])('%j', async (given, expected) => {
    expect(await condition({ all: [given] })).toEqual({ skip: expected, isActive: true, listed: [] })
  })

  test('all and any, one inside the other and beside each other', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((argument) => of('equal_to', argument)) as [object, object, object]
    const [isA, isB, isC] = ['a', 'b', 'c'].map((value) => ({ '==': [x, value] }))
    expect((await condition({ any: [a, { all: [b, c] }] })).skip).toEqual({ or: [isA, { and: [isB, isC] }] })
    expect((await condition({ all: [a], any: [b, c] })).skip).toEqual({ and: [isA, { or: [isB, isC] }] })
    expect((await condition([a, b])).skip).toEqual({ and: [isA, isB] })
    for (const none of [undefined, null, {}, [], { all: [] }])
      expect(await condition(none)).toEqual({ skip: undefined, isActive: true, listed: [] })
  })

  test.each([
    [{ all: [of('sounds_like', 'a')] }],
    [{ all: [of('equal_to', 'a', 'workflow.x')] }],
    [{ all: [{ ...of('equal_to', 'a'), odd: 1 }] }],
    [{ all: ['data.x'] }],
    [{ all: [of('equal_to', 'a')], odd: 1 }],
    [{ all: 'data.x' }],
    ['data.x'],
    [{ all: [of('equal_to', '$message.bounced', 'refs.m.delivery_status')] }],
    [{ all: [of('greater_than', '$message.read', 'refs.m.engagement_status')] }],
  ])('one that cannot be kept is listed, and the workflow is inactive: %j', async (given) => {
    expect(await condition(given)).toMatchObject({ isActive: false, listed: [ofStep('m.conditions', 'condition')] })
  })
})

describe('settings, people and choices', () => {
  test('of workflows: critical, commercial, not active; others are listed', async () => {
    expect((await workflow([], { settings: { override_preferences: true } })).rest).toMatchObject({
      preferences: { workflow: { all: { readOnly: true } } },
    })
    // Nobody can be kept from refusing what is commercial.
    const { rest, listed } = await workflow([], {
      ...{ settings: { override_preferences: true, is_commercial: true, odd: 1 }, active: false, description: 'D' },
      ...{ trigger_frequency: 'every_trigger', trigger_data_json_schema: 'none', categories: ['a'] },
    })
    expect(rest).toMatchObject({
      ...{ active: false, description: 'D', tags: ['a'], messageClass: 'commercial' },
    })
    expect(rest).not.toHaveProperty('preferences')
    expect(listed).toEqual([
      'workflow w settings.override_preferences no_equivalent',
      ...['workflow w settings.odd no_equivalent', 'workflow w trigger_frequency no_equivalent'],
      'workflow w trigger_data_json_schema not_object',
    ])
  })

  test('devices come with the time of their user; chats, and channels without a provider, are listed', async () => {
    await workflow([])
    const ada = {
      ...{ id: 'ada', updated_at: '2026-01-01T00:00:00Z' },
      channel_data: {
        apns: { tokens: ['a'], devices: [{ token: 'b', locale: 'en' }, { token: 'a' }] },
        slack: { connections: [{ access_token: 'x' }] },
        other: { tokens: ['c'] },
      },
    }
    write(folder, { 'users.jsonl': JSON.stringify(ada) })
    const { items, listed } = await read(knock(path.join(folder, 'knock'), { users: path.join(folder, 'users.jsonl') }))
    expect(items.credentials).toEqual([
      { subscriberId: 'ada', providerId: 'apns', deviceTokens: ['a', 'b'], updatedAt: ada.updated_at },
    ])
    expect(listed).toEqual([
      'subscribers ada channel_data.apns.devices.0.locale no_equivalent',
      'credentials ada channel_data.slack channel',
      'subscribers ada channel_data.slack.connections no_equivalent',
      'credentials ada channel_data.other channel',
    ])
  })

  test('preferences: channels, workflows before categories; sets of tenants and conditions are listed', async () => {
    await workflow([], { categories: ['news'] })
    const rows = [
      {
        ...{ user_id: 'ada', id: 'default', channel_types: { email: false, fax: true, sms: { conditions: [{}] } } },
        ...{ workflows: { w: { channel_types: { push: true }, conditions: [{ a: 1 }], odd: 1 } } },
        categories: { news: false, gone: true },
      },
      { user_id: 'bob', id: 'tenant-1', channel_types: { email: false } },
      { user_id: 'cy', categories: { news: false }, workflows: { w2: true } },
    ]
    write(folder, { 'p.jsonl': rows.map((row) => JSON.stringify(row)).join('\n') })
    const { items, listed } = await read(
      knock(path.join(folder, 'knock'), { preferences: path.join(folder, 'p.jsonl') }),
    )
    const all = (isOn: boolean) => ({ email: isOn, sms: isOn, push: isOn, chat: isOn, in_app: isOn })
    expect(items.preferences).toEqual([
      { subscriberId: 'ada', channels: { email: false } },
      { subscriberId: 'ada', workflowId: 'w', channels: { push: true } },
      { subscriberId: 'cy', workflowId: 'w', channels: all(false) },
      { subscriberId: 'cy', workflowId: 'w2', channels: all(true) },
    ])
    expect(listed.sort()).toEqual(
      [
        ...[
          'channel_types.fax',
          'channel_types.sms',
          'workflows.w.conditions',
          'workflows.w.odd',
          'categories.gone',
        ].map((at) => `preferences ada ${at} no_equivalent`),
        'preferences bob id preference_set',
      ].sort(),
    )
  })
})

test('the report accounts for every member, wherever it stands', async () => {
  const places: Array<{ name: string; path: string[] }> = []
  // Not in schemas: they are taken whole, or are refused whole.
  const planted = (file: string, text: string) => {
    const { planted: value, places: found } = plant(JSON.parse(text), ['trigger_data_json_schema'])
    // Each file counts from nought.
    const renamed = JSON.stringify(value).replaceAll(/planted(\d+)/g, (_, n) => `planted${Number(n) + places.length}`)
    places.push(
      ...found.map(({ name, path: at }, n) => ({
        name: name.replace(/\d+$/, String(places.length + n)),
        path: [file, ...at],
      })),
    )
    return renamed
  }
  write(
    folder,
    Object.fromEntries(
      Object.entries(fixtures.knock).map(([file, text]) => [
        ...[file, /json(?:l)?$/.test(file) && !file.includes('/translations/') ? planted(file, text) : text],
      ]),
    ) as Record<string, string>,
  )
  rmSync(path.join(folder, 'knock/knock.json'))
  // The last step is listed as a whole.
  const found = places.filter(({ path: [file, ...at] }) => file !== 'knock/knock.json' && !/^steps,7/.test(String(at)))
  expect(found.length).toBeGreaterThan(40)
  const users = { users: path.join(folder, 'users.jsonl'), preferences: path.join(folder, 'preferences.jsonl') }
  const result = await read(knock(path.join(folder, 'knock'), users))
  expect(unaccounted(found, result, ['__readonly', 'conditions'])).toEqual([])
})

test('a dry run writes nothing, not even the answers; otherwise they are kept, and nobody is asked twice', async () => {
  await workflow([{ ref: 'm', type: 'channel', channel_key: 'twilio', template: { text_body: 'x' } }])
  const file = path.join(folder, 'knock/channels.yaml')
  rmSync(file)
  let asked = 0
  const source = () =>
    knock(path.join(folder, 'knock'), {}, async () => {
      asked += 1
      return 'sms'
    })
  for (const times of [1, 2]) {
    expect((await read(source())).definitions['workflow w']).toMatchObject({ steps: [{ type: 'sms' }] })
    expect([asked, existsSync(file)]).toEqual([times, false])
  }
  for (const _ of [1, 2]) await read(source(), { isDry: false })
  expect([asked, readFileSync(file, 'utf8')]).toEqual([3, 'twilio: sms\n'])
})
