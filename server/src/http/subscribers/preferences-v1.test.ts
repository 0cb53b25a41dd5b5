import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'
import { addWorkflow } from '../../../test/workflows.ts'

const server = useServer()
let api: Api
let newsId: string
const path = '/v1/subscribers/ada/preferences'

beforeEach(async () => {
  api = await server.freshApi()
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  newsId = await addWorkflow(server, api.environmentId, 'news', { name: 'News', stepTypes: ['email', 'in_app'] })
  await addWorkflow(server, api.environmentId, 'alarm', {
    stepTypes: ['sms'],
    preferences: { all: { readOnly: true } },
  })
  await addWorkflow(server, api.environmentId, 'off', { active: false })
})

const news = (channels: object, source = 'template') => ({
  template: { _id: newsId, name: 'News', critical: false, triggers: [{ type: 'event', identifier: 'news' }] },
  preference: {
    enabled: true,
    channels,
    overrides: [
      { channel: 'email', source },
      { channel: 'in_app', source: 'template' },
    ],
  },
})
const alarm = expect.objectContaining({ template: expect.objectContaining({ critical: true }) })

test('every active workflow is read with its setting', async () => {
  const expected = [news({ email: true, in_app: true }), alarm]
  expect(await api.get(path)).toMatchObject({ status: 200, body: expected })
  expect((await api.get(`${path}/template`)).body).toEqual(expected)
})

test('the global preference is read as a list of one', async () => {
  expect((await api.get(`${path}/global`)).body).toEqual([
    { preference: { enabled: true, channels: { email: true, sms: true, in_app: true } } },
  ])
  expect((await api.get(`${path}/nothing`)).status).toBe(422)
})

describe('for one workflow', () => {
  test('a channel is set, by identifier or id', async () => {
    const off = await api.patch(`${path}/news`, { channel: { type: 'email', enabled: false } })
    expect(off).toMatchObject({ status: 200, body: news({ email: false, in_app: true }, 'subscriber') })
    const on = await api.patch(`${path}/${newsId}`, { channel: { type: 'email', enabled: true }, enabled: false })
    expect(on.body).toEqual(news({ email: true, in_app: true }, 'subscriber'))
    expect((await api.get('/v2/subscribers/ada/preferences')).body.workflows[0].overrides[0].source).toBe('subscriber')
  })

  test('`enabled` alone applies to all channels, an empty body to none', async () => {
    const { body } = await api.patch(`${path}/news`, { enabled: false })
    expect(body.preference.channels).toEqual({ email: false, in_app: false })
    expect((await api.patch(`${path}/news`, {})).body.preference.channels).toEqual({ email: false, in_app: false })
  })

  test('unknown and critical workflows and malformed bodies are refused', async () => {
    const channel = { type: 'email', enabled: false }
    expect(await api.patch(`${path}/nothing`, { channel })).toMatchObject({
      status: 404,
      body: { message: 'Workflow with id: nothing is not found' },
    })
    expect(await api.patch(`${path}/alarm`, { channel })).toMatchObject({
      status: 400,
      body: { message: 'Critical workflow with id: alarm can not be updated' },
    })
    const malformed = await api.patch(`${path}/news`, { channel: { type: 'fax' } })
    expect(malformed.body.errors.general.messages).toEqual([
      'channel.enabled should not be null or undefined',
      'channel.type must be one of the following values: in_app, email, sms, chat, push',
    ])
  })
})

test('globally: the named channels, or all', async () => {
  await api.patch(`${path}/news`, { channel: { type: 'email', enabled: true } })
  const { status, body } = await api.patch(path, { enabled: true, preferences: [{ type: 'email', enabled: false }] })
  expect([status, body]).toEqual([
    200,
    { preference: { enabled: true, channels: { email: false, sms: true, in_app: true } } },
  ])
  expect((await api.get(path)).body[0].preference.channels).toEqual({ email: false, in_app: true })
  expect((await api.patch(path, { enabled: false })).body.preference.channels).toEqual({
    email: false,
    sms: false,
    in_app: false,
  })
  expect((await api.patch(path, {})).status).toBe(200)
  expect((await api.patch(path, { preferences: [{ type: 'fax', enabled: true }] })).status).toBe(422)
})

test('an unknown subscriber is not found', async () => {
  const unknown = '/v1/subscribers/nobody/preferences'
  for (const answer of [
    await api.get(unknown),
    await api.get(`${unknown}/global`),
    await api.patch(unknown, { enabled: false }),
    await api.patch(`${unknown}/news`, { enabled: false }),
  ])
    expect(answer).toMatchObject({ status: 404, body: { message: 'Subscriber: nobody was not found' } })
})
