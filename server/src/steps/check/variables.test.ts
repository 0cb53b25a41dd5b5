import { expect, test } from 'vitest'
import { type ControlValues, stepTypes } from '../contract/kind.ts'
import { variablesOfSteps } from './inspect.ts'
import { allows, stepVariables } from './variables.ts'

const nothing = { previous: [], payloadSchema: null, used: [], envKeys: [] }
const closed = { type: 'object', additionalProperties: false }
const text = { type: 'string' }

test('a step can use the workflow, the subscriber, earlier steps, the payload, contexts and the environment', () => {
  expect(stepVariables({ ...nothing, envKeys: ['BASE_URL'] })).toEqual({
    ...closed,
    required: [],
    properties: {
      workflow: {
        ...closed,
        properties: {
          workflowId: text,
          name: text,
          description: text,
          tags: { type: 'array', items: text },
          severity: { type: 'string', enum: ['high', 'medium', 'low', 'none'] },
        },
        required: ['workflowId', 'name'],
      },
      subscriber: {
        ...closed,
        properties: {
          firstName: text,
          lastName: text,
          email: text,
          phone: text,
          avatar: text,
          locale: text,
          timezone: text,
          subscriberId: text,
          isOnline: { type: 'boolean' },
          lastOnlineAt: { type: 'string', format: 'date-time' },
          data: { type: 'object', properties: {}, required: [], additionalProperties: true },
        },
        required: ['subscriberId'],
      },
      steps: { ...closed, properties: {}, required: [] },
      payload: { type: 'object', properties: {}, required: [], additionalProperties: true },
      context: {
        type: 'object',
        properties: {},
        required: [],
        additionalProperties: {
          ...closed,
          properties: { id: text, data: { type: 'object', properties: {}, required: [], additionalProperties: true } },
          required: [],
        },
      },
      env: { ...closed, properties: { BASE_URL: text, name: text, type: text }, required: [] },
    },
  })
})

test('a step sees only the results of steps before it, each in the shape of its kind', () => {
  const payloadSchema = { type: 'object', properties: { a: text }, additionalProperties: false }
  const steps = stepTypes.map((type) => ({
    _id: type,
    stepId: `the-${type}`,
    name: type,
    type,
    controlValues: type === 'http_request' ? { responseBodySchema: { type: 'object', properties: { ok: {} } } } : null,
  }))
  const variables = [...variablesOfSteps({ steps, payload_schema: payloadSchema }, []).values()] as any[]
  expect(variables[0].properties.steps.properties).toEqual({})
  expect(Object.keys(variables[3].properties.steps.properties)).toEqual(['the-in_app', 'the-email', 'the-sms'])
  const results = variables[9].properties.steps.properties
  const date = { type: ['string', 'null'], format: 'date-time' }
  const inApp = {
    ...{ seen: { type: 'boolean' }, read: { type: 'boolean' } },
    ...{ lastSeenDate: date, lastReadDate: date },
  }
  expect(results['the-in_app']).toEqual({ ...closed, properties: inApp, required: Object.keys(inApp) })
  expect(results['the-email']).toMatchObject({ properties: {}, additionalProperties: false })
  expect(results['the-digest'].properties.events.items.properties.payload).toEqual({
    ...payloadSchema,
    additionalProperties: true,
  })
  expect(Object.keys(results['the-digest'].properties)).toEqual(expect.arrayContaining(['events', 'eventCount']))
  expect(Object.keys(results['the-digest'].properties.events.items.properties)).toEqual(['id', 'time', 'payload'])
  expect(results['the-delay'].required).toEqual(['duration'])
  expect(results['the-throttle'].required).toEqual(['throttled'])
  expect(results['the-custom']).toMatchObject({ additionalProperties: true })
  expect(variables[9].properties.payload).toEqual(payloadSchema)
  const after = stepVariables({ ...nothing, previous: [steps[9] as any] }) as any
  expect(after.properties.steps.properties['the-http_request']).toEqual({ type: 'object', properties: { ok: {} } })
})

test('variables that templates read are listed if no schema describes them', () => {
  const step = (controlValues: ControlValues) => ({ _id: 'a', stepId: 'a', name: 'a', type: 'sms', controlValues })
  const steps = [
    step({ body: '{{payload.name}} {{subscriber.data.plan}} {{context.tenant.data.name}}' }),
    step({
      body: '{{payload.user.email}}{% for i in payload.items %}{{i.x}}{% endfor %}',
      skip: { '==': [{ var: 'payload.total' }, 1] },
    }),
  ]
  const [first] = [...variablesOfSteps({ steps, payload_schema: null }, []).values()] as any[]
  expect(first.properties.payload.properties).toEqual({
    name: {},
    user: { type: 'object', properties: { email: {} }, required: [], additionalProperties: true },
    items: {
      type: 'array',
      items: { type: 'object', properties: { x: {} }, required: [], additionalProperties: true },
    },
    total: {},
  })
  expect(Object.keys(first.properties.subscriber.properties.data.properties)).toEqual(['plan'])
  expect(first.properties.context.properties.tenant).toMatchObject({
    required: ['id'],
    properties: { data: { properties: { name: {} } } },
  })
})

test('a path follows properties, items, references and alternatives', () => {
  const schema = {
    properties: {
      list: { type: 'array', items: [{ properties: { a: {} } }, { properties: { b: {} } }] },
      either: { anyOf: [{ properties: { a: {} }, additionalProperties: false }, { type: 'null' }] },
      self: { $ref: '#' },
      lost: { $ref: '#/definitions/lost' },
      map: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { id: text }, additionalProperties: false },
      },
      byPattern: { patternProperties: { '^a': {} }, additionalProperties: false },
    },
  }
  const leads = (path: string) => allows(schema, path.split('.'), schema)
  for (const path of [
    'list.0.a',
    'list.b',
    'list.last.b',
    'either.a',
    'self.self.either.a',
    'lost.any',
    'map.x.id',
    'byPattern.any',
  ])
    expect([path, leads(path)]).toEqual([path, true])
  for (const path of ['list.c', 'either.b', 'self.nothing', 'map.x.name', 'nothing'])
    expect([path, leads(path)]).toEqual([path, false])
})

test('a schema that refers to itself allows any path', () => {
  const schema = { $ref: '#' }
  expect(allows(schema, ['a', 'b'], schema)).toBe(true)
  const branching = { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#' })) }
  expect(allows(branching, ['a', 'b'], branching)).toBe(true)
})
