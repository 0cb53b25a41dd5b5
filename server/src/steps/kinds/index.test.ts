import { describe, expect, test } from 'vitest'
import { type ControlValues, type StepType, stepTypes, type UiSchema } from '../contract/kind.ts'
import { compileOwnSchema } from '../json-schema/json-schema.ts'
import type { JsonSchema } from '../json-schema/run.ts'
import { stepKinds } from './index.ts'

/** `component placeholder`, as JSON if it is not a string. */
function described({ properties }: Pick<UiSchema, 'properties'>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { component, placeholder, properties: inner }]) => {
      const shown = placeholder === undefined ? component : `${component} ${JSON.stringify(placeholder)}`
      return [name, inner ? { [shown]: described({ properties: inner }) } : shown]
    }),
  )
}

test.each<[StepType, string, Record<string, unknown>]>([
  [
    'in_app',
    'IN_APP',
    {
      body: 'IN_APP_BODY ""',
      avatar: 'IN_APP_AVATAR ""',
      subject: 'IN_APP_PRIMARY_SUBJECT ""',
      primaryAction: 'IN_APP_BUTTON_DROPDOWN',
      secondaryAction: 'IN_APP_BUTTON_DROPDOWN',
      redirect: { URL_TEXT_BOX: { url: 'URL_TEXT_BOX ""', target: 'URL_TEXT_BOX "_self"' } },
      disableOutputSanitization: 'IN_APP_DISABLE_SANITIZATION_SWITCH false',
      data: 'DATA',
    },
  ],
  [
    'email',
    'EMAIL',
    {
      body: 'EMAIL_BODY ""',
      subject: 'TEXT_INLINE_LABEL ""',
      editorType: 'EMAIL_EDITOR_SELECT "block"',
      disableOutputSanitization: 'DISABLE_SANITIZATION_SWITCH false',
      layoutId: 'LAYOUT_SELECT',
    },
  ],
  ['sms', 'SMS', { body: 'SMS_BODY ""' }],
  ['chat', 'CHAT', { body: 'CHAT_BODY ""' }],
  ['push', 'PUSH', { subject: 'PUSH_SUBJECT ""', body: 'PUSH_BODY ""' }],
  [
    'delay',
    'DELAY',
    {
      amount: 'DELAY_AMOUNT',
      unit: 'DELAY_UNIT "seconds"',
      cron: 'DELAY_CRON ""',
      dynamicKey: 'DELAY_DYNAMIC_KEY ""',
      type: 'DELAY_TYPE "regular"',
      extendToSchedule: 'EXTEND_TO_SCHEDULE false',
    },
  ],
  [
    'digest',
    'DIGEST',
    {
      amount: 'DIGEST_AMOUNT ""',
      unit: 'DIGEST_UNIT "seconds"',
      digestKey: 'DIGEST_KEY ""',
      cron: 'DIGEST_CRON ""',
      type: 'DIGEST_TYPE "regular"',
      extendToSchedule: 'EXTEND_TO_SCHEDULE false',
    },
  ],
  [
    'throttle',
    'THROTTLE',
    {
      type: 'THROTTLE_TYPE "fixed"',
      amount: 'THROTTLE_WINDOW',
      unit: 'THROTTLE_UNIT "minutes"',
      dynamicKey: 'THROTTLE_DYNAMIC_KEY "payload.timestamp"',
      threshold: 'THROTTLE_THRESHOLD 1',
      throttleKey: 'THROTTLE_KEY ""',
    },
  ],
  [
    'http_request',
    'HTTP_REQUEST',
    {
      method: 'DESTINATION_METHOD "POST"',
      url: 'DESTINATION_URL "https://api.example.com/endpoint"',
      headers: 'DESTINATION_HEADERS',
      body: 'DESTINATION_BODY',
      responseBodySchema: 'DESTINATION_RESPONSE_BODY_SCHEMA',
      enforceSchemaValidation: 'DESTINATION_ENFORCE_SCHEMA_VALIDATION false',
      continueOnFailure: 'DESTINATION_CONTINUE_ON_FAILURE false',
      timeout: 'DESTINATION_TIMEOUT 5000',
    },
  ],
])('an editor shows %s in the group %s', (type, group, properties) => {
  const { uiSchema } = stepKinds[type]
  expect(uiSchema?.group).toBe(group)
  expect(described(uiSchema ?? { properties: {} })).toEqual({ skip: 'QUERY_EDITOR', ...properties })
})

test('clients draw no form for custom steps', () => expect(stepKinds.custom.uiSchema).toBeUndefined())

describe('the schema of the values', () => {
  const url = 'https://a.b'
  const http = { method: 'GET', url }
  const pairs = (count: number) => Array.from({ length: count }, () => ({ key: 'a', value: 'b' }))
  /** By kind, valid and invalid values. */
  const cases: Record<(typeof stepTypes)[number], [fitting: ControlValues[], others: ControlValues[]]> = {
    in_app: [
      [
        { subject: 'a' },
        { body: 'a', avatar: '/x', redirect: { url: '{{payload.a}}/b', target: '_unfencedTop' }, data: { any: 1 } },
        { body: 'a', primaryAction: { label: 'b', redirect: { url: 'https://a.b/{{x}}', target: '_top' } } },
      ],
      [
        {},
        { subject: '' },
        { body: 'a', avatar: 'mailto:a@b.c' },
        { body: 'a', redirect: { url: 'https://a b', target: '_self' } },
        { body: 'a', redirect: { url: '/a', target: 'elsewhere' } },
        { body: 'a', redirect: { url: '/a' } },
        { body: 'a', redirect: { target: '_self' } },
        { body: 'a', secondaryAction: {} },
      ],
    ],
    email: [
      [{ subject: 'a' }, { subject: 'a', editorType: 'html', layoutId: null, from: { email: 'a@b.c', name: 'A' } }],
      [{}, { subject: '' }, { subject: 'a', editorType: 'pdf' }, { subject: 'a', layoutId: 5 }],
    ],
    sms: [[{ body: 'a' }], [{}, { body: 1 }, { body: 'a', subject: 'b' }]],
    chat: [[{ body: 'a' }], [{}]],
    push: [[{ subject: 'a', body: 'b' }], [{ subject: 'a' }, { body: 'b' }]],
    delay: [
      [
        { type: 'regular', amount: 1, unit: 'months', extendToSchedule: true },
        { type: 'timed', cron: '0 9 * * *' },
        { type: 'dynamic', dynamicKey: 'payload.sendAt' },
      ],
      [
        {},
        { amount: 1, unit: 'days' },
        { type: 'regular', amount: 0, unit: 'days' },
        { type: 'regular', amount: 1, unit: 'days', cron: '0 9 * * *' },
        { type: 'timed', cron: '' },
        { type: 'dynamic', dynamicKey: '' },
      ],
    ],
    digest: [
      [
        { amount: 1, unit: 'weeks', digestKey: '{{payload.id}}', lookBackWindow: { amount: 1, unit: 'hours' } },
        { type: 'timed', cron: '0 9 * * *', extendToSchedule: true },
      ],
      [
        {},
        { amount: 1 },
        { amount: 0, unit: 'days' },
        { amount: 1, unit: 'years' },
        { amount: 1, unit: 'days', lookBackWindow: { amount: 1 } },
        { amount: 1, unit: 'days', lookBackWindow: { amount: 0, unit: 'days' } },
        { type: 'timed', cron: '' },
        { type: 'timed', cron: '0 9 * * *', lookBackWindow: { amount: 1, unit: 'days' } },
      ],
    ],
    throttle: [
      [{}, { type: 'fixed', amount: 1, unit: 'days', threshold: 3, throttleKey: 'projectId' }, { type: 'dynamic' }],
      [{ unit: 'seconds' }, { amount: 0 }, { threshold: 0 }, { dynamicKey: '' }, { type: 'other' }],
    ],
    custom: [[{}, { custom: { any: 1 } }, { other: [] }], []],
    http_request: [
      [
        http,
        { ...http, method: 'OPTIONS', headers: pairs(50), body: 'x'.repeat(65_536), timeout: 100 },
        { ...http, url: '{{env.URL}}/x', body: pairs(100), timeout: 30_000, responseBodySchema: { type: 'object' } },
      ],
      [
        {},
        { ...http, method: 'TRACE' },
        { ...http, url: '/a' },
        { ...http, url: `${url}/${'x'.repeat(2048)}` },
        { ...http, headers: pairs(51) },
        { ...http, headers: [{ key: '', value: 'a' }] },
        { ...http, body: 'x'.repeat(65_537) },
        { ...http, body: pairs(101) },
        { ...http, timeout: 99 },
        { ...http, timeout: 30_001 },
      ],
    ],
  }
  test.each(stepTypes)('accepts what a step of kind %s accepts', (type) => {
    const fits = (values: ControlValues) =>
      compileOwnSchema(stepKinds[type].dataSchema)(structuredClone(values)).length === 0
    const [fitting, others] = cases[type]
    for (const values of fitting) expect([values, fits({ ...values, skip: { any: ['rule'] } })]).toEqual([values, true])
    for (const values of others) expect([values, fits(values)]).toEqual([values, false])
  })

  const isObject = (value: unknown): value is JsonSchema =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  /** Every object schema in it, by path. */
  function* objectsIn(schema: unknown, path = ''): Generator<[string, JsonSchema]> {
    if (Array.isArray(schema)) for (const each of schema) yield* objectsIn(each, path)
    if (!isObject(schema)) return
    if (schema.type === 'object') yield [path, schema]
    for (const [name, each] of Object.entries((schema.properties ?? {}) as JsonSchema))
      yield* objectsIn(each, path === '' ? name : `${path}.${name}`)
    yield* objectsIn(schema.anyOf, path)
    yield* objectsIn(schema.items, path)
  }
  const open = new Set(['skip', 'data', 'responseBodySchema'])

  test.each(stepTypes)('of kind %s is closed except where anything goes, and has no references', (type) => {
    const { dataSchema } = stepKinds[type]
    for (const [path, { additionalProperties }] of objectsIn(dataSchema))
      expect([path, additionalProperties]).toEqual([path, type === 'custom' || open.has(path)])
    expect(JSON.stringify(dataSchema)).not.toContain('$ref')
  })
})

test('the schemas state their defaults', () => {
  const defaultsOf = (schema: unknown): Record<string, unknown> => {
    const { anyOf = [], properties = {} } = schema as { anyOf?: unknown[]; properties?: Record<string, JsonSchema> }
    const own = Object.entries(properties).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value]],
    )
    return Object.assign(Object.fromEntries(own), ...anyOf.map(defaultsOf))
  }
  expect(Object.fromEntries(stepTypes.map((type) => [type, defaultsOf(stepKinds[type].dataSchema)]))).toEqual({
    in_app: { disableOutputSanitization: false },
    email: { body: '', editorType: 'block', disableOutputSanitization: false },
    ...{ sms: {}, chat: {}, push: {}, custom: {} },
    digest: { extendToSchedule: false },
    delay: { extendToSchedule: false },
    throttle: { type: 'fixed', threshold: 1 },
    http_request: { enforceSchemaValidation: false, continueOnFailure: false, timeout: 5_000, retry: false },
  })
})

test('each kind says whether it obeys the schedule, and whether its wait can be extended', () => {
  const those = (is: (type: StepType) => boolean | undefined) => stepTypes.filter((type) => is(type) === true)
  expect(those((type) => stepKinds[type].obeysSchedule)).toEqual(['email', 'sms', 'chat', 'push', 'custom'])
  expect(those((type) => stepKinds[type].isExtendable)).toEqual(['digest', 'delay'])
})

describe('empty values are dropped before use', () => {
  const skip = { '==': [{ var: 'payload.a' }, 1] }
  const blank = { type: 'doc', content: [{ type: 'paragraph' }] }
  test.each<[StepType, ControlValues, ControlValues]>([
    [
      'in_app',
      { subject: '', body: 'b', avatar: '', other: 1, skip, data: { a: null, b: 1 } },
      { body: 'b', skip, data: { b: 1 } },
    ],
    [
      'in_app',
      {
        body: 'b',
        primaryAction: { label: '', redirect: { url: '/a' } },
        secondaryAction: { label: 'c', redirect: { url: '' } },
      },
      { body: 'b', secondaryAction: { label: 'c' } },
    ],
    ['in_app', { body: 'b', redirect: { url: '/a' } }, { body: 'b', redirect: { url: '/a', target: '_self' } }],
    [
      'in_app',
      { body: 'b', redirect: { url: 'https://a.b' } },
      { body: 'b', redirect: { url: 'https://a.b', target: '_blank' } },
    ],
    ['in_app', { body: 'b', redirect: { target: '_top' } }, { body: 'b' }],
    [
      'email',
      { subject: 's', body: '', editorType: 'block', layoutId: null, from: { name: 'A', email: null }, other: 1, skip },
      { subject: 's', body: JSON.stringify(blank), editorType: 'block', layoutId: null, from: { name: 'A' }, skip },
    ],
    ['sms', { body: '', subject: 'x', skip }, { skip }],
    ['chat', { body: 'b', other: null }, { body: 'b' }],
    ['push', { subject: '', body: 'b' }, { body: 'b' }],
    [
      'digest',
      { cron: '0 9 * * *', amount: 5, unit: 'days', digestKey: 'k' },
      { type: 'timed', cron: '0 9 * * *', digestKey: 'k' },
    ],
    ['digest', { amount: '5', unit: 'days', cron: '' }, { amount: 5, unit: 'days' }],
    [
      'digest',
      { amount: 'five', unit: 'days', lookBackWindow: { amount: '2', unit: 'hours' } },
      { unit: 'days', lookBackWindow: { amount: 2, unit: 'hours' } },
    ],
    ['delay', { type: 'regular', cron: '0 9 * * *', amount: 1 }, { type: 'timed', cron: '0 9 * * *' }],
    ['delay', { type: 'regular', dynamicKey: 'payload.a', amount: 1 }, { type: 'dynamic', dynamicKey: 'payload.a' }],
    [
      'delay',
      { amount: '1', unit: 'days', extendToSchedule: true },
      { type: 'regular', amount: 1, unit: 'days', extendToSchedule: true },
    ],
    ['delay', { amount: 1.5, unit: 'hours' }, { type: 'regular', amount: 1.5, unit: 'hours' }],
    ['digest', { amount: '1.5', unit: 'hours' }, { amount: 1.5, unit: 'hours' }],
    ['wait_for_event', { amount: 1.5, unit: 'hours' }, { amount: 1.5, unit: 'hours' }],
    ['ask', { amount: 1.5, unit: 'hours' }, { amount: 1.5, unit: 'hours' }],
    ['throttle', { amount: 1.5, unit: 'hours' }, { amount: 1.5, unit: 'hours' }],
    ['throttle', { amount: null, threshold: 2 }, { threshold: 2 }],
    [
      'http_request',
      { method: 'GET', headers: [{ key: 'a', value: null }, null] },
      { method: 'GET', headers: [{ key: 'a' }] },
    ],
    ['custom', { a: { b: null, c: '' } }, { a: { c: '' } }],
  ])('%s %j', (type, given, values) => {
    const before = structuredClone(given)
    expect(stepKinds[type].normalise(given)).toEqual(values)
    expect(given).toEqual(before)
  })
})
