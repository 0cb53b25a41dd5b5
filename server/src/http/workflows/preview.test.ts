import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { brandingOf } from '../../render/branding.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

const branding = brandingOf('svc')

let api: Api
beforeEach(async () => {
  api = await server.freshApi()
})

interface StepInput {
  name: string
  type: string
  controlValues?: object
}

/** A workflow of these steps; the last one is previewed. */
async function create(steps: StepInput[], more: object = {}) {
  const { status, body } = await api.post('/v2/workflows', { name: 'Orders', workflowId: 'orders', steps, ...more })
  expect(status).toBe(201)
  const preview = async (request: object = {}, stepId: string = body.steps.at(-1).stepId) => {
    const answer = await api.post(`/v2/workflows/${body.workflowId}/step/${stepId}/preview`, request)
    expect(answer.status).toBe(201)
    return answer.body
  }
  return { workflow: body, preview }
}
const signed = (body: string, ms: number) =>
  `t=${ms},v1=${createHmac('sha256', api.key).update(`${ms}.${body}`).digest('hex')}`

test('hole 11: a preview may be as large as a trigger', async () => {
  const { workflow } = await create([{ name: 'Tell', type: 'in_app', controlValues: { body: 'Hello' } }])
  const ask = (bytes: number) =>
    api.post(`/v2/workflows/${workflow.workflowId}/step/${workflow.steps[0].stepId}/preview`, {
      previewPayload: { payload: { text: 'x'.repeat(bytes) } },
    })
  expect(await ask(500 * 1024)).toMatchObject({ status: 201 })
  expect(await ask(513 * 1024)).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
})

describe('a step of each kind', () => {
  const payload = { name: 'Ann', link: 'https://example.com/1' }
  test.each<[string, object, unknown]>([
    [
      'in_app',
      {
        subject: 'Hi {{payload.name}}',
        body: '<b>{{subscriber.firstName}}</b><script>x</script>',
        avatar: '{{payload.link}}',
        primaryAction: { label: 'Go', redirect: { url: '/{{payload.name}}' } },
        secondaryAction: { label: '' },
        redirect: { url: 'https://example.com' },
        data: { who: '{{payload.name}}' },
      },
      {
        subject: 'Hi Ann',
        body: '<b>John</b>',
        avatar: payload.link,
        primaryAction: { label: 'Go', redirect: { url: '/Ann', target: '_self' } },
        redirect: { url: 'https://example.com', target: '_blank' },
        data: { who: 'Ann' },
      },
    ],
    [
      'email',
      {
        subject: 'Hi {{payload.name}}',
        body: '<p>{{payload.name}}</p><script>x</script>',
        editorType: 'html',
        layoutId: null,
      },
      { subject: 'Hi Ann', body: `<p>Ann</p>${branding}` },
    ],
    ['sms', { body: '{{payload.name}} {{subscriber.phone}}' }, { body: 'Ann +1234567890' }],
    ['chat', { body: 'Hi {{payload.name}}' }, { body: 'Hi Ann' }],
    ['push', { subject: '{{payload.name}}', body: '<b>' }, { subject: 'Ann', body: '<b>' }],
    [
      'digest',
      { amount: '5', unit: 'hours', digestKey: '{{payload.name}}' },
      { amount: 5, unit: 'hours', digestKey: 'Ann' },
    ],
    ['digest', { cron: '0 9 * * *' }, { type: 'timed', cron: '0 9 * * *' }],
    ['delay', { type: 'regular', amount: 2, unit: 'days' }, { type: 'regular', amount: 2, unit: 'days' }],
    ['delay', { type: 'dynamic', dynamicKey: 'payload.at' }, { type: 'dynamic', dynamicKey: 'payload.at' }],
    ['throttle', { amount: 1, unit: 'hours', throttleKey: 'name' }, { amount: 1, unit: 'hours', throttleKey: 'name' }],
    ['custom', { any: { thing: '{{payload.name}}' } }, { any: { thing: 'Ann' } }],
    [
      'http_request',
      {
        method: 'POST',
        url: 'https://example.com/{{payload.name}}',
        headers: [{ key: 'X-Name', value: '{{payload.name}}' }],
        body: '{"n":"{{payload.name}}"}',
        responseBodySchema: { type: 'object', properties: { a: { const: '{{payload.name}}' } } },
      },
      {
        method: 'POST',
        url: 'https://example.com/Ann',
        headers: [{ key: 'X-Name', value: 'Ann' }],
        body: '{"n":"Ann"}',
        responseBodySchema: { type: 'object', properties: { a: { const: '{{payload.name}}' } } },
      },
    ],
  ])('%s %j', async (type, controlValues, expected) => {
    const skip = { '==': [{ var: 'payload.name' }, 'nobody'] }
    const { preview } = await create([{ name: 'Step', type, controlValues: { ...controlValues, skip } }])
    const { result } = await preview({ previewPayload: { payload: { ...payload, at: 'x' } } })
    expect(result).toEqual({ type, preview: expected })
  })

  test('hole 3: no preview has a signature, over whatever body', async () => {
    const controlValues = { method: 'POST', url: 'https://example.com', body: '{"n":"{{payload.name}}"}' }
    const { preview } = await create([{ name: 'Call', type: 'http_request', controlValues }])
    for (const given of [
      { previewPayload: { payload } },
      { controlValues: { method: 'GET', url: 'https://example.com' } },
      { controlValues: { ...controlValues, body: '{"action":"anything"}' } },
    ]) {
      const answer = await preview(given)
      expect(Object.keys(answer)).toEqual(['result', 'previewPayloadExample', 'schema'])
      expect(JSON.stringify(answer)).not.toMatch(/v1=|[0-9a-f]{64}/)
    }
  })

  test('is shown with the given values instead of the stored ones', async () => {
    const { preview } = await create([{ name: 'Text', type: 'push', controlValues: { subject: 'S', body: 'B' } }])
    expect((await preview()).result.preview).toEqual({ subject: 'S', body: 'B' })
    expect((await preview({ controlValues: null })).result.preview).toEqual({ subject: 'S', body: 'B' })
    expect((await preview({ controlValues: { body: 'New' } })).result.preview).toEqual({ subject: '', body: 'New' })
  })

  test('is found by its id, its slug or its stepId', async () => {
    const { workflow } = await create([{ name: 'Text', type: 'sms', controlValues: { body: 'x' } }])
    const [step] = workflow.steps
    for (const path of [`orders/step/text`, `${workflow._id}/step/${step._id}`, `${workflow.slug}/step/${step.slug}`])
      expect((await api.post(`/v2/workflows/${path}/preview`, {})).body.result).toEqual({
        type: 'sms',
        preview: { body: 'x' },
      })
  })
})

describe('missing or broken content', () => {
  const sample = 'https://www.example.com/search?query=placeholder'

  test.each<[string, object, object]>([
    ['in_app', {}, { body: ' ' }],
    [
      'in_app',
      { body: 'x', avatar: 'no url', redirect: { url: 'mailto:a@b.c' } },
      {
        body: 'x',
        avatar: sample,
        redirect: { url: sample, target: '_blank' },
      },
    ],
    [
      'in_app',
      { body: 'x', redirect: { url: '/a', target: 'nowhere' } },
      {
        body: 'x',
        redirect: { url: '/a', target: '_blank' },
      },
    ],
    ['in_app', { subject: '{{', body: 'x' }, { body: 'x' }],
    ['sms', {}, { body: ' ' }],
    ['sms', { body: '{% if %}' }, { body: ' ' }],
    ['sms', { body: 7 }, { body: ' ' }],
    ['push', { body: 'B', subject: '{{ a | }}' }, { subject: '', body: 'B' }],
    ['delay', { type: 'regular', unit: 'nonsense', amount: 1 }, { type: 'regular', amount: 1 }],
    ['digest', { amount: -1, unit: 'days' }, { unit: 'days' }],
    ['http_request', { url: 'not a url', method: 'BREW' }, { url: sample }],
  ])('in %s %j is replaced', async (type, controlValues, expected) => {
    const { preview } = await create([{ name: 'Step', type, controlValues }])
    expect((await preview()).result).toEqual({ type, preview: expected })
  })

  test('in an empty email gives an empty preview', async () => {
    const { preview } = await create([{ name: 'Mail', type: 'email' }])
    const { result } = await preview()
    expect(result).toEqual({ type: 'email', preview: { subject: '', body: expect.stringContaining('<html') } })
  })

  test('unknown variables are blank', async () => {
    const { preview } = await create(
      [
        {
          name: 'Text',
          type: 'sms',
          controlValues: { body: '[{{name}}{{payload.nope}}{{nope.at.all}}]{{payload.id}}' },
        },
      ],
      { payloadSchema: { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: false } },
    )
    const { result } = await preview({ previewPayload: { payload: { id: '7', nope: 'x' } } })
    expect(result.preview).toEqual({ body: '[]7' })
  })

  test.each<[string, string, object, string, string]>([
    ['a loop without end', 'sms', { body: '{% for i in (1..100000000) %}x{% endfor %}' }, 'work_limit', 'too long'],
    ['a translation without translations', 'sms', { body: '{{t.greeting}}' }, 'translation_missing', 'greeting'],
    [
      'an unknown block',
      'email',
      {
        subject: 'x',
        body: JSON.stringify({ type: 'doc', content: [{ type: 'nonsense' }] }),
      },
      'unknown_block',
      'nonsense',
    ],
    [
      'a list that is none',
      'email',
      {
        subject: 'x',
        body: JSON.stringify({
          type: 'doc',
          content: [{ type: 'repeat', attrs: { each: 'subscriber.email' }, content: [] }],
        }),
      },
      'not_a_list',
      'subscriber.email',
    ],
  ])(
    '%s shows the error instead, and the rest of the answer is complete',
    async (_, type, controlValues, title, word) => {
      const { preview } = await create([{ name: 'Step', type, controlValues }])
      expect(await preview()).toEqual({
        result: {
          type,
          preview: {},
          error: { title, message: expect.stringContaining(word), hint: expect.stringMatching(/\.$/) },
        },
        previewPayloadExample: expect.objectContaining({ subscriber: expect.any(Object) }),
        schema: expect.objectContaining({ type: 'object' }),
      })
    },
  )

  test('an unknown step or workflow, or one of another environment, gives an empty preview', async () => {
    await create([{ name: 'Text', type: 'sms', controlValues: { body: 'x' } }])
    const stranger = await server.freshApi()
    for (const [caller, path] of [
      [api, 'orders/step/nope'],
      [api, 'nope/step/text'],
      [stranger, 'orders/step/text'],
    ] as const)
      expect(await caller.post(`/v2/workflows/${path}/preview`, {})).toMatchObject({
        status: 201,
        text: '{"result":{"preview":{}},"previewPayloadExample":{},"schema":null}',
      })
  })

  test('a request of the wrong shape is refused', async () => {
    const path = '/v2/workflows/orders/step/text/preview'
    for (const body of [{ controlValues: 'x' }, { previewPayload: [] }, { previewPayload: { payload: 'x' } }])
      expect((await api.post(path, body)).status).toBe(422)
  })
})

describe('the example', () => {
  test('has a fixed order, and a realistic subscriber', async () => {
    const { preview } = await create([{ name: 'Text', type: 'sms', controlValues: { body: 'x' } }])
    const { previewPayloadExample } = await preview({
      previewPayload: { steps: {}, env: {}, subscriber: { data: { a: 1 } } },
    })
    expect(Object.keys(previewPayloadExample)).toEqual(['payload', 'subscriber', 'context', 'steps', 'env'])
    expect(previewPayloadExample).toMatchObject({
      payload: {},
      subscriber: {
        subscriberId: '123456',
        firstName: 'John',
        lastName: 'Doe',
        email: 'user@example.com',
        phone: '+1234567890',
        avatar: expect.stringMatching(/^https:/),
        locale: 'en_US',
        timezone: 'America/New_York',
        data: { a: 1 },
      },
      context: {},
      steps: {},
    })
  })

  const payloadSchema = {
    type: 'object',
    properties: {
      email: { type: 'string', format: 'email' },
      total: { type: 'number', default: 3 },
      items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      address: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'string' } } },
    },
    additionalProperties: false,
  }

  test('has the payload of the schema, with matching values of the client', async () => {
    const { preview } = await create([{ name: 'Text', type: 'sms', controlValues: { body: '{{payload.other}}' } }], {
      payloadSchema,
    })
    expect((await preview()).previewPayloadExample.payload).toEqual({
      email: 'user@example.com',
      total: 3,
      items: [{ name: 'John Doe' }],
      address: { city: 'San Francisco', zip: '94105' },
    })
    const payload = { total: 9, other: 'x', items: [{ sku: 1 }, { sku: 2 }], address: { city: 'Rome', extra: 1 } }
    expect((await preview({ previewPayload: { payload } })).previewPayloadExample.payload).toEqual({
      email: 'user@example.com',
      total: 9,
      items: [{ sku: 1 }, { sku: 2 }],
      address: { city: 'Rome', zip: '94105' },
    })
  })

  test('without a schema has the variables that the templates read', async () => {
    const body = '{{payload.user.name}} {{payload.orderId}}{% for item in payload.items %}{{item.sku}}{% endfor %}'
    const { preview } = await create([{ name: 'Text', type: 'sms', controlValues: { body } }])
    const { previewPayloadExample, result } = await preview()
    expect(previewPayloadExample.payload).toEqual({
      user: { name: 'name' },
      orderId: 'orderId',
      items: [{ sku: 'sku' }, { sku: 'sku' }],
    })
    expect(result.preview.body).toBe('name orderIdskusku')
    const payload = { user: { name: 'Ann' }, items: [{ sku: 'a' }, { sku: 'b' }] }
    expect((await preview({ previewPayload: { payload } })).result.preview.body).toBe('Ann orderIdab')
  })

  const repeated = (each: string, ...content: object[]) => ({ type: 'repeat', attrs: { each }, content })
  const variable = (id: string) => ({ type: 'variable', attrs: { id } })
  test.each<[string, string | object[], string]>([
    ['a repeat', [repeated('payload.items', variable('payload.items.name'))], 'namename'],
    ['an item called current', [repeated('payload.items', variable('current.name'))], 'namename'],
    ['a list in a list', [repeated('payload.as', repeated('payload.as.bs', variable('payload.as.bs.c')))], 'cc'],
    ['a list of texts', '{% for tag in payload.tags %}{{tag}},{% endfor %}', 'tags,tags,'],
    ['an item by its number', '{{payload.items[0].name}}', 'name'],
    ['a sentence of items', '{{payload.people | toSentence: "name"}}', 'name and name'],
    ['events of a digest', '{{steps.collect.events | toSentence: "payload.author"}}', 'author, author, and 1 other'],
    [
      'a repeat of events',
      [repeated('steps.collect.events', variable('current.payload.author'))],
      'authorauthorauthor',
    ],
  ])('without a schema has a list where the templates loop: %s', async (_, body, text) => {
    const controlValues = {
      subject: 'x',
      layoutId: null,
      ...(typeof body === 'string'
        ? { editorType: 'html', body }
        : { editorType: 'block', body: JSON.stringify({ type: 'doc', content: body }) }),
    }
    const { preview } = await create([
      { name: 'Collect', type: 'digest', controlValues: { amount: 1, unit: 'hours' } },
      { name: 'Mail', type: 'email', controlValues },
    ])
    const { result } = await preview()
    expect(result.preview.body.replace(branding, '').replaceAll(/<head>.*<\/head>|<[^<>]*>/g, '')).toBe(text)
  })

  test('has the contexts of the client, with data or just an id', async () => {
    const body = '{{context.tenant.id}} {{context.tenant.data.plan}} {{context.app.id}}'
    const { preview } = await create([{ name: 'Text', type: 'sms', controlValues: { body } }])
    const context = { tenant: { id: 'acme', data: { plan: 'pro' } }, app: 'web' }
    const { previewPayloadExample, result } = await preview({ previewPayload: { context } })
    expect(previewPayloadExample.context).toEqual({ tenant: context.tenant, app: { id: 'web', data: {} } })
    expect(result.preview.body).toBe('acme pro web')
  })

  test('has the results of earlier steps only', async () => {
    const { preview } = await create(
      [
        { name: 'Inbox', type: 'in_app', controlValues: { body: 'x' } },
        { name: 'Collect', type: 'digest', controlValues: { amount: 1, unit: 'days' } },
        { name: 'Wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'days' } },
        { name: 'Limit', type: 'throttle', controlValues: { amount: 1, unit: 'hours' } },
        { name: 'Code', type: 'custom' },
        {
          name: 'Call',
          type: 'http_request',
          controlValues: {
            method: 'GET',
            url: 'https://example.com',
            responseBodySchema: { type: 'object', properties: { price: { type: 'integer' } } },
          },
        },
        { name: 'Text', type: 'sms', controlValues: { body: '{{steps.collect.eventCount}} {{steps.call.price}}' } },
        { name: 'Later', type: 'sms', controlValues: { body: 'x' } },
      ],
      { payloadSchema: { type: 'object', properties: { id: { type: 'string' } } } },
    )
    const { previewPayloadExample, result } = await preview({}, 'text')
    expect(previewPayloadExample.steps).toEqual({
      inbox: { seen: true, read: true, lastSeenDate: expect.any(String), lastReadDate: expect.any(String) },
      collect: {
        eventCount: 3,
        events: ['1', '2', '3'].map((id) => ({
          id,
          time: '2026-05-01T10:00:00.000Z',
          payload: previewPayloadExample.payload,
        })),
      },
      wait: { duration: expect.any(Number) },
      limit: expect.objectContaining({ throttled: expect.any(Boolean) }),
      code: {},
      call: { price: 99 },
    })
    expect(result.preview.body).toBe('3 99')
    const steps = { collect: { events: [{ id: 'e', payload: {} }], eventCount: 17 }, call: { price: 5 }, later: {} }
    const other = await preview({ previewPayload: { steps } }, 'text')
    expect(other.result.preview.body).toBe('1 5')
    expect(other.previewPayloadExample.steps).not.toHaveProperty('later')
    expect((await preview({}, 'inbox')).previewPayloadExample.steps).toEqual({})
  })

  test('has the environment variables, with secrets masked', async () => {
    const { development } = await server.freshOrganization()
    api = development
    const value = (text: string) => [{ _environmentId: api.environmentId, value: text }]
    await (await server.organizationOf(api)).post('/v1/environment-variables', {
      key: 'HOST',
      values: value('example.com'),
    })
    await (await server.organizationOf(api)).post('/v1/environment-variables', {
      key: 'TOKEN',
      isSecret: true,
      values: value('s3cret'),
    })
    await (await server.organizationOf(api)).post('/v1/environment-variables', { key: 'EMPTY' })
    const body = '{{env.HOST}} {{env.TOKEN}} {{env.EMPTY}} {{env.name}} {{env.type}}'
    const { preview } = await create([{ name: 'Text', type: 'sms', controlValues: { body } }])
    const answer = await preview()
    expect(answer.previewPayloadExample.env).toEqual({
      HOST: 'example.com',
      TOKEN: '••••••••',
      name: 'Development',
      type: 'dev',
    })
    expect(answer.result.preview.body).toBe('example.com ••••••••  Development dev')
    expect(JSON.stringify(answer)).not.toContain('s3cret')
    expect(Object.keys(answer.schema.properties.env.properties)).toEqual(['HOST', 'TOKEN', 'name', 'type'])
    expect((await preview({ previewPayload: { env: { HOST: 'local' } } })).result.preview.body).toMatch(/^local /)
  })

  test('comes with the variables of the step, the same as the step itself shows', async () => {
    const { preview, workflow } = await create([
      { name: 'Collect', type: 'digest', controlValues: { amount: 1, unit: 'days' } },
      { name: 'Text', type: 'sms', controlValues: { body: '{{payload.a}}' } },
    ])
    expect((await preview()).schema).toEqual(workflow.steps[1].variables)
    const { schema } = await preview({ controlValues: { body: '{{context.tenant.data.plan}}' } })
    expect(schema.properties.context.properties.tenant.properties.data.properties).toHaveProperty('plan')
  })

  test('has the workflow itself as a variable', async () => {
    const body = '{{workflow.name}} {{workflow.workflowId}} {{workflow.tags | join: "+"}} {{workflow.severity}}'
    const { preview } = await create([{ name: 'Text', type: 'sms', controlValues: { body } }], { tags: ['a', 'b'] })
    expect((await preview()).result.preview.body).toBe('Orders orders a+b none')
  })
})

describe('around an email', () => {
  const mail = (layoutId?: string | null) => ({
    name: 'Mail',
    type: 'email',
    controlValues: {
      subject: 'x',
      body: '<p>inside</p>',
      editorType: 'html',
      ...(layoutId === undefined ? {} : { layoutId }),
    },
  })
  const makeLayout = async (layoutId: string, text: string) => {
    const { body: layout } = await api.post('/v2/layouts', { layoutId, name: layoutId })
    const body = `<html><body><h1>${text}</h1>{{content}}</body></html>`
    const controlValues = { email: { body, editorType: 'html' } }
    expect((await api.put(`/v2/layouts/${layoutId}`, { name: layoutId, controlValues })).status).toBe(200)
    return layout
  }
  const bodyOf = ({ result }: { result: { preview: { body: string } } }) => result.preview.body

  test('is the layout it names, the default one, or none', async () => {
    const layout = await makeLayout('frame', 'Frame')
    const { preview } = await create([mail('frame')])
    expect(bodyOf(await preview())).toContain('<h1>Frame</h1><p>inside</p>')
    const { controlValues } = mail()
    for (const layoutId of [layout._id, layout.slug])
      expect(bodyOf(await preview({ controlValues: { ...controlValues, layoutId } }))).toContain('<h1>Frame</h1>')
    expect(bodyOf(await preview({ controlValues: { ...controlValues, layoutId: null } }))).toBe(
      `<p>inside</p>${branding}`,
    )
    const usual = bodyOf(await preview({ controlValues }))
    expect(usual).toContain('<p>inside</p>')
    expect(usual).toContain('<html')
    expect(usual).not.toContain('<h1>')
  })

  test('is the branding of the service, at the end, until the organization removes it', async () => {
    const { development } = await server.freshOrganization()
    api = development
    await makeLayout('frame', 'Frame')
    const { preview } = await create([mail('frame')])
    const layoutPreview = async () => (await api.post('/v2/layouts/frame/preview', {})).body
    const branded = new RegExp(`Frame</h1>.*${branding}</body></html>$`)
    for (const shown of [await preview(), await layoutPreview()]) expect(bodyOf(shown)).toMatch(branded)
    await (await server.organizationOf(api)).patch('/v1/organizations/settings', { removeSvcBranding: true })
    for (const shown of [await preview(), await layoutPreview()]) expect(bodyOf(shown)).not.toContain('branding')
  })

  test('a missing layout makes the preview fail', async () => {
    const { preview } = await create([mail()])
    const { result } = await preview({ controlValues: { ...mail('nope').controlValues } })
    const hint = 'Name a layout of this environment, or null for none.'
    expect(result).toEqual({
      type: 'email',
      preview: {},
      error: { title: 'layout_missing', message: 'There is no layout "nope"', hint },
    })
  })
})

describe('the check of a workflow', () => {
  const check = async (request: object = {}) => {
    const { status, body } = await api.post('/v2/workflows/orders/check', request)
    expect(status).toBe(200)
    return body.steps as Array<{ stepId: string; [name: string]: unknown }>
  }

  test('says for each row of a condition whether it holds, and for the step whether it runs', async () => {
    const skip = {
      and: [
        { '==': [{ var: 'payload.plan' }, 'pro'] },
        {
          or: [{ '>': [{ var: 'payload.total' }, 10] }, { '==': [{ var: 'payload.who' }, '{{subscriber.firstName}}'] }],
        },
      ],
    }
    await create([
      { name: 'Always', type: 'sms', controlValues: { body: 'Hi' } },
      { name: 'Some', type: 'sms', controlValues: { body: 'Hi', skip } },
    ])
    const payload = { plan: 'free', total: 5, who: 'Ada' }
    const [always, some] = await check({ previewPayload: { payload, subscriber: { firstName: 'Ada' } } })
    expect(always).toEqual({ stepId: 'always', holds: true, rows: {}, unknownVariables: [] })
    expect(some).toMatchObject({
      holds: false,
      rows: { '': false, '0': false, '1': true, '1.0': false, '1.1': true },
    })
    const other = { some: { body: 'Hi', skip: { '!=': [{ var: 'payload.plan' }, 'pro'] } } }
    expect(await check({ previewPayload: { payload }, controlValues: other })).toMatchObject([{}, { holds: true }])
    const broken = { some: { body: 'Hi', skip: { nonsense: [1] } } }
    expect(await check({ controlValues: broken })).toMatchObject([{}, { holds: null, rows: { '': null } }])
  })

  test('takes the payload as it is: what fails with it fails here', async () => {
    const repeat = { type: 'repeat', attrs: { each: 'payload.items' }, content: [{ type: 'paragraph' }] }
    const body = JSON.stringify({ type: 'doc', content: [repeat] })
    await create([{ name: 'Mail', type: 'email', controlValues: { subject: 'Hi', body } }])
    expect(await check()).toEqual([expect.not.objectContaining({ error: expect.anything() })])
    expect(await check({ previewPayload: { payload: {} } })).toMatchObject([
      { error: { title: 'not_a_list', message: expect.stringContaining('payload.items') } },
    ])
  })

  test('names variables that no known payload has', async () => {
    const body =
      '{{payload.name}} {{payload.nme}} {{payload.items[0].id}} {{payload.nick | default: "you"}}' +
      '{% if payload.coupon %}{{payload.coupon}}{% endif %}'
    await create([{ name: 'Text', type: 'in_app', controlValues: { body } }], { active: true })
    // Nothing is known yet.
    expect(await check()).toMatchObject([{ unknownVariables: [] }])
    const given = { previewPayload: { payload: { name: 'Ada' } } }
    expect(await check(given)).toMatchObject([{ unknownVariables: ['payload.nme', 'payload.items[0].id'] }])
    const payload = { items: [{ id: 1 }] }
    expect((await api.post('/v1/events/trigger', { name: 'orders', to: 'ada', payload })).status).toBe(201)
    await server.drain()
    expect(await check(given)).toMatchObject([{ unknownVariables: ['payload.nme'] }])
    expect(await check()).toMatchObject([{ unknownVariables: ['payload.name', 'payload.nme'] }])
  })

  test('of an unknown workflow there is none', async () => {
    expect(await api.post('/v2/workflows/nothing/check', {})).toMatchObject({
      status: 404,
      body: { code: 'workflow_not_found' },
    })
  })
})

test('a missing text is an issue of the workflow and of the list until it is added', async () => {
  const { workflow } = await create([{ name: 'Text', type: 'sms', controlValues: { body: '{{t.greeting}}' } }], {
    active: true,
    isTranslationEnabled: true,
  })
  const read = async () => {
    const [one, list] = await Promise.all([api.get('/v2/workflows/orders'), api.get('/v2/workflows')])
    return [one.body.status, list.body.workflows[0].status, one.body.steps[0].issues?.controls?.body?.[0]?.message]
  }
  expect(workflow.status).toBe('ERROR')
  expect(await read()).toEqual(['ERROR', 'ERROR', 'There is no translation for "greeting"'])
  const write = (content: object) =>
    api.post('/v2/translations', { resourceId: 'orders', resourceType: 'workflow', locale: 'en_US', content })
  expect((await write({ greeting: 'Hello' })).status).toBe(200)
  expect(await read()).toEqual(['ACTIVE', 'ACTIVE', undefined])
})

describe('translations', () => {
  test('are in the locale of the subscriber, key by key', async () => {
    const { development } = await server.freshOrganization()
    api = development
    const { preview } = await create(
      [{ name: 'Text', type: 'sms', controlValues: { body: '{{t.hello}} {{t.only}} {{payload.name}}' } }],
      { isTranslationEnabled: true },
    )
    const write = (locale: string, content: object) =>
      api.post('/v2/translations', { resourceId: 'orders', resourceType: 'workflow', locale, content })
    await write('en_US', { hello: 'Hello', only: 'here' })
    await write('de_DE', { hello: 'Hallo {{payload.name}}' })
    expect((await preview()).result.preview.body).toBe('Hello here name')
    const previewPayload = { subscriber: { locale: 'de_DE' }, payload: { name: 'Ann' } }
    expect((await preview({ previewPayload })).result.preview.body).toBe('Hallo Ann here Ann')
  })
})

describe('trying the request of an HTTP request step', () => {
  const send = (body: object) => api.post('/v2/workflows/steps/test-http-request', body)
  beforeEach(() => vendor.plays(() => ({ body: { ok: true }, headers: { 'x-id': '7' } })))

  test('sends it, and shows request and response', async () => {
    vendor.plays(() => ({ status: 418, body: { tea: true }, headers: { 'x-id': '7' } }))
    const answer = await send({
      controlValues: {
        method: 'POST',
        url: `${vendor.url}/{{payload.id}}`,
        headers: [{ key: 'X-Name', value: '{{subscriber.firstName}}' }],
        body: '{"price":"{{steps.call.price}}","missing":"{{payload.who}}"}',
      },
      previewPayload: { payload: { id: 'o-1' }, steps: { call: { price: 5 } } },
    })
    const body = { price: '5', missing: 'who' }
    const signature = signed(JSON.stringify(body), server.clock.now().getTime())
    expect(answer).toMatchObject({
      status: 201,
      body: {
        statusCode: 418,
        body: { tea: true },
        headers: { 'x-id': '7', 'content-type': 'application/json' },
        durationMs: expect.any(Number),
        resolvedRequest: {
          url: `${vendor.url}/o-1`,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-name': 'John', 'svc-signature': '••••••••' },
          body,
        },
      },
    })
    expect(vendor.asked).toMatchObject([
      {
        method: 'POST',
        path: '/o-1',
        body: JSON.stringify(body),
        headers: { 'svc-signature': signature, 'x-name': 'John' },
      },
    ])
  })

  test('uses secrets without showing them', async () => {
    const { development } = await server.freshOrganization()
    api = development
    const values = [{ _environmentId: api.environmentId, value: 's3cret' }]
    await (await server.organizationOf(api)).post('/v1/environment-variables', { key: 'TOKEN', isSecret: true, values })
    const base = [{ _environmentId: api.environmentId, value: vendor.url }]
    await (await server.organizationOf(api)).post('/v1/environment-variables', {
      key: 'BASE',
      isSecret: true,
      values: base,
    })
    const answer = await send({
      controlValues: {
        method: 'GET',
        url: '{{env.BASE}}/x',
        headers: [{ key: 'Authorization', value: '{{env.TOKEN}}' }],
      },
      previewPayload: { env: { TOKEN: '••••••••' } },
    })
    expect(answer.body).toMatchObject({
      statusCode: 200,
      body: { ok: true },
      resolvedRequest: { url: '••••••••/x', headers: { authorization: '••••••••' } },
    })
    expect(vendor.asked).toMatchObject([{ path: '/x', headers: { authorization: 's3cret' } }])
    expect(answer.text).not.toContain(String(vendor.asked[0]?.headers['svc-signature']).slice(-64))
    expect(answer.text).not.toContain('s3cret')
  })

  test.each<[string, number, string, () => undefined | 'hang up']>([
    ['a lost connection', 502, 'the connection was lost', () => 'hang up'],
    ['an answer that does not come in the time of the step', 408, 'no complete answer', () => undefined],
  ])('turns %s into status %i', async (_, statusCode, error, play) => {
    vendor.plays(play)
    expect(await send({ controlValues: { method: 'GET', url: vendor.url, timeout: 100 } })).toMatchObject({
      status: 201,
      body: {
        statusCode,
        body: { error: expect.stringContaining(error) },
        headers: {},
        resolvedRequest: { method: 'GET' },
      },
    })
  })

  test('calls no private address unless private addresses are allowed', async () => {
    const careful = await server.startAnother({ allowPrivateAddresses: false })
    const answer = await fetch(`${careful.url}/v2/workflows/steps/test-http-request`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ controlValues: { method: 'GET', url: vendor.url } }),
    })
    expect(answer.status).toBe(201)
    expect(await answer.json()).toMatchObject({
      statusCode: 400,
      body: { error: expect.stringContaining('private or reserved') },
    })
    expect(vendor.asked).toEqual([])
  })

  test.each<[string, object, string]>([
    ['no address', {}, 'The request cannot be made: The URL is not an absolute http(s) address'],
    ['a broken template', { url: 'https://example.com/{{' }, 'The request cannot be made: '],
    [
      'a body that is no JSON',
      { url: 'https://example.com', body: '}{' },
      'The request cannot be made: The body is not',
    ],
  ])('refuses %s', async (_, controlValues, message) => {
    expect(await send({ controlValues })).toMatchObject({
      status: 400,
      body: { code: 'http_request_invalid', message: expect.stringContaining(message) },
    })
    expect(vendor.asked).toEqual([])
  })

  test('refuses a malformed request', async () => {
    expect((await send({ controlValues: 'x' })).status).toBe(422)
    expect((await send({})).status).toBe(400)
  })
})

describe('random input', () => {
  const pieces = [
    '{{payload.a}}',
    '{{',
    '{% for i in (1..9999999) %}',
    '{% endfor %}',
    '{{t.x}}',
    '"',
    '{"type":"doc"',
    '\u2028',
  ]
  const text = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 4 })
    .map((parts) => parts.join(''))
  const names = fc.constantFrom(
    ...['subject', 'body', 'avatar', 'primaryAction', 'redirect', 'url', 'target', 'label', 'data', 'skip', 'layoutId'],
    ...[
      'editorType',
      'from',
      'amount',
      'unit',
      'cron',
      'lookBackWindow',
      'digestKey',
      'dynamicKey',
      'threshold',
      'method',
    ],
    ...[
      'headers',
      'key',
      'value',
      'timeout',
      'responseBodySchema',
      'steps',
      'events',
      'payload',
      'tenant',
      'locale',
      '{{a}}',
    ],
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.constantFrom<unknown>(null, true, -1, 1e300, '', 'https://example.com', { type: 'doc', content: [null] }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value'), { maxKeys: 5 }),
    ),
  }))
  const object = fc.dictionary(names, value, { maxKeys: 6 })
  const previewPayload = fc.record(
    { payload: object, subscriber: object, context: object, steps: object, env: object },
    { requiredKeys: [] },
  )

  test('a preview always answers, for every kind of step', { timeout: 60_000 }, async () => {
    const types = 'in_app email sms chat push digest delay throttle custom http_request'.split(' ')
    const { workflow } = await create(types.map((type) => ({ name: type, type })))
    const stepIds = workflow.steps.map(({ stepId }: { stepId: string }) => stepId)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...stepIds), object, previewPayload, async (stepId, controlValues, given) => {
        const request = { controlValues, previewPayload: given }
        const { status, body } = await api.post(`/v2/workflows/orders/step/${stepId}/preview`, request)
        // Half of a surrogate pair cannot be encoded as UTF-8, and is refused.
        expect({ status, message: body.message }).toMatchObject({ status: expect.toBeOneOf([201, 400]) })
      }),
      { numRuns: 300 },
    )
    expect(server.logged).toEqual([])
  })

  test('a tried request is sent or refused', { timeout: 60_000 }, async () => {
    vendor.plays(() => ({ body: {} }))
    const fields = fc.record({ method: value, headers: value, body: value, timeout: value }, { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(fields, previewPayload, async (given, payload) => {
        const controlValues = { url: vendor.url, ...given }
        const { status } = await api.post('/v2/workflows/steps/test-http-request', {
          controlValues,
          previewPayload: payload,
        })
        expect(status).toBeOneOf([201, 400])
      }),
      { numRuns: 200 },
    )
    expect(server.logged).toEqual([])
  })
})
