import { describe, expect, test } from 'vitest'
import { openInbox } from '../../../test/inbox.ts'
import { inApp, makeWorkflow, trigger } from '../../../test/runs.ts'
import { Api, useServer } from '../../../test/server.ts'

const server = useServer()

describe("hole 1: a subscriber's browser joins only topics that the backend has opened", () => {
  test('it can neither join a closed topic nor read its messages, nor learn whether it exists', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'minutes', [inApp('Secret')])
    expect((await api.post('/v2/topics', { key: 'board-members' })).body.joinableFromBrowser).toBe(false)
    const mallory = await openInbox(server, api, 'mallory')
    for (const key of ['board-members', 'made-up']) {
      const refused = await mallory.post(`/topics/${key}/subscriptions`, {})
      expect(refused).toMatchObject({ status: 403, body: { code: 'topic_not_joinable' } })
      expect(refused.body.message).toContain(`topic ${key}:`)
    }
    await trigger(api, 'minutes', [{ type: 'Topic', topicKey: 'board-members' }])
    await server.drain()
    expect((await mallory.get('/notifications')).body.data).toEqual([])
  })

  test('it makes no topics and renames none', async () => {
    const api = await server.freshApi()
    await api.post('/v2/topics', { key: 'press', name: 'Press', joinableFromBrowser: true })
    const ada = await openInbox(server, api, 'ada')
    await ada.post('/topics/new/subscriptions', { topic: { name: 'New' } })
    expect((await ada.post('/topics/press/subscriptions', { topic: { name: 'Mine' } })).status).toBe(201)
    const { body } = await api.get('/v2/topics')
    expect(body.data).toMatchObject([{ key: 'press', name: 'Press' }])
  })

  test('a topic is opened and closed at any time; who joined stays, and can leave', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp('News')])
    await api.post('/v2/topics', { key: 'press', name: 'Press' })
    const [ada, bob] = [await openInbox(server, api, 'ada'), await openInbox(server, api, 'bob')]
    const opened = await api.patch('/v2/topics/press', { joinableFromBrowser: true })
    expect(opened).toMatchObject({ status: 200, body: { name: 'Press', joinableFromBrowser: true } })
    // Names and subscriptions from the backend leave it open.
    await api.post('/v2/topics', { key: 'press', name: 'The press' })
    expect((await ada.post('/topics/press/subscriptions', {})).status).toBe(201)
    expect((await api.post('/v2/topics', { key: 'press', joinableFromBrowser: false })).body).toMatchObject({
      name: 'The press',
      joinableFromBrowser: false,
    })
    expect((await bob.post('/topics/press/subscriptions', {})).status).toBe(403)
    const [own] = (await ada.get('/topics/press/subscriptions')).body.data
    expect((await ada.patch(`/topics/press/subscriptions/${own.identifier}`, { name: 'Mine' })).status).toBe(200)
    expect((await ada.delete(`/topics/press/subscriptions/${own.identifier}`)).status).toBe(200)
  })

  test('an environment may leave all topics to browsers; other environments stay closed', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    const access = (of = api) => `/v2/environments/${of.environmentId}/inbox-access`
    expect((await api.get(access())).body).toMatchObject({ openTopics: null, usual: { openTopics: false } })
    expect((await api.patch(access(), { openTopics: true })).body).toMatchObject({ openTopics: true })
    const join = async (of: Api) =>
      (await (await openInbox(server, of, 'ada')).post('/topics/new/subscriptions', {})).status
    expect([await join(api), await join(other)]).toEqual([201, 403])
    expect((await api.patch(access(), { openTopics: null })).body).toMatchObject({ openTopics: null })
    const bob = await openInbox(server, api, 'bob')
    expect((await bob.post('/topics/new/subscriptions', {})).status).toBe(403)
    expect(await api.patch(access(other), { openTopics: true })).toMatchObject({ status: 403 })
    expect(await api.get(access(other))).toMatchObject({ status: 403 })
  })

  test('under the brand whose clients rely on open topics they are open until the environment closes them', async () => {
    const api = await server.freshApi()
    const branded = await server.startAnother({ brand: 'novu' })
    const at = new Api(branded.url, api.key, api.environmentId, api.organizationId)
    const access = `/v2/environments/${api.environmentId}/inbox-access`
    expect((await at.get(access)).body).toMatchObject({ openTopics: null, usual: { openTopics: true } })
    const ada = await openInbox(server, at, 'ada')
    expect((await ada.post('/topics/new/subscriptions', {})).status).toBe(201)
    await at.patch(access, { openTopics: false })
    expect((await ada.post('/topics/newer/subscriptions', {})).status).toBe(403)
  })
})
