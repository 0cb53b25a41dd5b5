// Messages before and after a change, in plans and comparisons: files.md §3.2, §5.
import { beforeEach, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { pass, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
beforeEach(async () => {
  api = (await server.freshOrganization()).development
  for (const [subscriberId, firstName, locale] of [
    ['ada', 'Ada', 'de_DE'],
    ['bo', 'Bo', 'en_US'],
  ])
    await api.post('/v2/subscribers', { subscriberId, firstName, locale, email: `${subscriberId}@example.com` })
})

type Found = any

const mail = (subject: string, more: object = {}) => ({
  ...{ stepId: 'mail', name: 'Mail', type: 'email' },
  controlValues: { subject, body: '<p>By {{payload.author}}</p>', editorType: 'html', layoutId: null, ...more },
})
const text = (body: string) => ({ stepId: 'text', name: 'Text', type: 'sms', controlValues: { body } })
const comments = (steps: object[], more: object = {}) => ({
  ...{ workflowId: 'comments', name: 'Comments', active: true, validatePayload: false, steps },
  ...more,
})
const workflow = (definition: Found) => ({ kind: 'workflow', id: definition.workflowId, base: 'any', definition })
const layout = (body: string, more: object = {}) => ({
  ...{ kind: 'layout', id: 'brand', base: 'any' },
  definition: { layoutId: 'brand', name: 'Brand', controlValues: { email: { body, editorType: 'html' } }, ...more },
})
const push = async (...resources: object[]) =>
  expect(await api.post('/v2/definitions/push', { resources })).toMatchObject({ status: 200 })
async function plan(resources: object[], render: object): Promise<Found> {
  const answer = await api.post('/v2/definitions/plan', { resources, render })
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body
}
const brief = ({ renders }: Found) =>
  renders.map(({ workflowId, stepId, subscriberId, transactionId, same }: Found) =>
    [workflowId, stepId, subscriberId, transactionId, same].join(' '),
  )

describe('a plan with render', () => {
  test('has each message of a changed workflow for named subscribers, with the last payload that is kept', async () => {
    await push(workflow(comments([mail('Hi {{subscriber.firstName}}'), text('Same')])))
    await trigger(api, 'comments', 'ada', { payload: { author: 'Eve' }, transactionId: 'c-1' })
    await trigger(api, 'comments', 'ada', { payload: { author: 'Cy' }, transactionId: 'c-2' })
    await server.drain()
    const changed = [workflow(comments([mail('{{payload.author}} wrote to {{subscriber.firstName}}'), text('Same')]))]
    const answer = await plan(changed, { subscriberIds: ['bo', 'ada'] })
    expect(answer.hasMore).toBe(false)
    // Bo never got it: he is shown with the last payload of the workflow.
    expect(brief(answer)).toEqual([
      'comments mail bo c-2 false',
      'comments text bo c-2 true',
      'comments mail ada c-2 false',
      'comments text ada c-2 true',
    ])
    expect(answer.renders[2]).toMatchObject({
      ...{ channel: 'email', error: null },
      before: { subject: 'Hi Ada', html: expect.stringContaining('<p>By Cy</p>') },
      after: { subject: 'Cy wrote to Ada', html: expect.stringContaining('<p>By Cy</p>') },
    })
    expect(answer.renders[3]).toMatchObject({ channel: 'sms', before: { body: 'Same' }, after: { body: 'Same' } })
  })

  test('has the recipients of the last triggers, shared out among the workflows', async () => {
    const other = { ...comments([mail('Other')]), workflowId: 'other' }
    await push(workflow(comments([mail('One')])), workflow(other))
    for (const [index, name] of ['comments', 'other', 'comments', 'comments'].entries())
      await trigger(api, name, index === 2 ? ['ada', 'bo'] : 'ada', {
        ...{ payload: { author: `A${index}` }, transactionId: `t-${index}` },
      })
    await server.drain()
    const changed = [workflow(comments([mail('Two')])), workflow({ ...other, steps: [mail('New')] })]
    expect(brief(await plan(changed, { triggers: 3 })).sort()).toEqual([
      'comments mail ada t-2 false',
      'comments mail ada t-3 false',
      'comments mail bo t-2 false',
      'other mail ada t-1 false',
    ])
  })

  test('shows what a digest held then', async () => {
    const steps = (body: string) => [
      { stepId: 'collect', name: 'Collect', type: 'digest', controlValues: { amount: 10, unit: 'minutes' } },
      { stepId: 'inbox', name: 'Inbox', type: 'in_app', controlValues: { body } },
    ]
    await push(workflow(comments(steps('{{steps.collect.eventCount}} comments'))))
    for (const author of ['Bo', 'Cy', 'Di']) await trigger(api, 'comments', 'ada', { payload: { author } })
    await server.drain()
    await pass(server, { minutes: 11 })
    const body = '{% for event in steps.collect.events %}{{event.payload.author}} {% endfor %}'
    const { renders } = await plan([workflow(comments(steps(body)))], { subscriberIds: ['ada'] })
    expect(renders).toMatchObject([{ before: { body: '3 comments' }, after: { body: 'Bo Cy Di ' }, same: false }])
  })

  test('finds workflows that use a changed layout or text', async () => {
    const branded = comments([mail('{{t.hi}}', { layoutId: 'brand' })], { isTranslationEnabled: true })
    const plain = { ...comments([mail('Plain')]), workflowId: 'plain' }
    const german = (hi: string) => ({
      ...{ kind: 'translation', id: 'de_DE', base: 'any' },
      definition: { workflows: { comments: { hi } }, layouts: {} },
    })
    const html = (word: string) => `<html><body>${word}: {{content}}</body></html>`
    await push(layout(html('Old')), workflow(branded), workflow(plain), german('Hallo'))
    const byLayout = await plan([layout(html('New'))], { subscriberIds: ['ada'] })
    expect(brief(byLayout)).toEqual(['comments mail ada  false'])
    expect(byLayout.renders[0].before.html).toContain('Old: ')
    expect(byLayout.renders[0].after.html).toContain('New: ')
    const byText = await plan([german('Servus')], { subscriberIds: ['ada'] })
    expect(byText.renders).toMatchObject([{ before: { subject: 'Hallo' }, after: { subject: 'Servus' } }])
    expect((await plan([german('Hallo')], { subscriberIds: ['ada'] })).renders).toEqual([])
  })

  test('new and removed steps have one side; what cannot be rendered says why', async () => {
    await push(workflow(comments([mail('Hi'), text('Text')])))
    const broken = mail('Hi', { body: '{{ payload.list | sum: }' })
    const { renders } = await plan([workflow(comments([{ ...broken, stepId: 'other' }]))], { subscriberIds: ['ada'] })
    expect(renders.map(({ stepId, before, after }: Found) => [stepId, before === null, after === null])).toEqual([
      ['other', true, expect.any(Boolean)],
      ['mail', false, true],
      ['text', false, true],
    ])
  })

  test('nobody named and nothing triggered: an example is rendered', async () => {
    const { renders } = await plan([workflow(comments([mail('Hi {{subscriber.firstName}}')]))], {})
    expect(renders).toMatchObject([
      { subscriberId: null, transactionId: null, before: null, after: { subject: 'Hi John' }, same: false },
    ])
  })

  test('has at most 200, and says so', async () => {
    const texts = Array.from({ length: 60 }, (_, i) => ({ ...text('Old'), stepId: `s${i}`, name: `S ${i}` }))
    await push(workflow(comments(texts)))
    const people = Array.from({ length: 4 }, (_, i) => `p${i}`)
    for (const subscriberId of people) await api.post('/v2/subscribers', { subscriberId })
    const after = texts.map((step) => ({ ...step, controlValues: { body: 'New' } }))
    const answer = await plan([workflow(comments(after))], { subscriberIds: people })
    expect([answer.renders.length, answer.hasMore]).toEqual([200, true])
    expect((await plan([workflow(comments(after))], { subscriberIds: people.slice(0, 3) })).hasMore).toBe(false)
  })

  test('refuses unknown subscribers, too many, and keys that may not read', async () => {
    const asked = (render: object, of = api) => of.post('/v2/definitions/plan', { resources: [], render })
    expect(await asked({ subscriberIds: ['nobody'] })).toMatchObject({
      ...{ status: 404, body: { code: 'subscriber_not_found' } },
    })
    expect((await asked({ subscriberIds: Array(21).fill('ada') })).status).toBe(422)
    expect((await asked({ triggers: 101 })).status).toBe(422)
    const writer = await server.keyFor(api, ['write:workflows'])
    expect(await asked({ triggers: 1 }, writer)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    expect((await writer.post('/v2/definitions/plan', { resources: [] })).status).toBe(200)
  })

  test('names the runs that wait, and what becomes of their step', async () => {
    const wait = { stepId: 'wait', name: 'Wait', type: 'delay', controlValues: { amount: 1, unit: 'hours' } }
    await push(workflow(comments([wait, text('Hi')])))
    await trigger(api, 'comments', ['ada', 'bo'])
    await server.drain()
    const removed = await plan([workflow(comments([text('Hi')]))], {})
    expect(removed.waiting).toEqual([{ workflowId: 'comments', stepId: 'wait', runs: 2, change: 'removed' }])
    expect((await plan([workflow(comments([wait, text('Ho')]))], {})).waiting).toMatchObject([{ change: 'none' }])
  })
})

describe('comparing versions with render', () => {
  test('renders both versions of a workflow, with the texts that each had', async () => {
    await push(workflow(comments([mail('{{t.hi}}')], { isTranslationEnabled: true })), {
      kind: 'translation',
      id: 'de_DE',
      base: 'any',
      definition: { workflows: { comments: { hi: 'Hallo' } } },
    })
    const texts = { resourceId: 'comments', resourceType: 'workflow', locale: 'de_DE', content: { hi: 'Servus' } }
    expect((await api.post('/v2/translations', texts)).status).toBe(200)
    const { body } = await api.post('/v2/workflows/comments/versions/compare', {
      ...{ from: 1, to: 2, render: { subscriberIds: ['ada'] } },
    })
    expect(body).toMatchObject({
      ...{ from: 1, to: 2, hasMore: false },
      paths: [{ path: 'translations.de_DE.hi', before: 'Hallo', after: 'Servus' }],
      text: expect.stringMatching(/-.*hi: Hallo\n\+.*hi: Servus/),
      renders: [{ workflowId: 'comments', before: { subject: 'Hallo' }, after: { subject: 'Servus' }, same: false }],
    })
  })

  test('renders the emails that use a layout', async () => {
    const html = (word: string) => `<html><body>${word}: {{content}}</body></html>`
    await push(layout(html('Old')), workflow(comments([mail('Hi', { layoutId: 'brand' })])))
    await push(layout(html('New')))
    const { body } = await api.post('/v2/layouts/brand/versions/compare', { render: { triggers: 1 } })
    expect(body).toMatchObject({ from: 1, to: 2, renders: [{ workflowId: 'comments', subscriberId: null }] })
    expect(body.renders[0].before.html).toContain('Old: ')
    expect(body.renders[0].after.html).toContain('New: ')
  })

  test('takes an editor; viewers compare without', async () => {
    await push(workflow(comments([mail('Hi')])))
    const viewer = await signInAs(server, api, 'viewer')
    expect((await viewer.post('/v2/workflows/comments/versions/compare', {})).status).toBe(403)
    expect((await viewer.get('/v2/workflows/comments/versions/compare')).status).toBe(200)
  })
})
