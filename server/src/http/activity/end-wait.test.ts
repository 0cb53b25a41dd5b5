// Ending a wait by hand: exactly once, also against the clock and against others who try.
import { beforeEach, expect, test } from 'vitest'
import { inApp, makeWorkflow, runOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
beforeEach(async () => {
  api = await server.freshApi()
})

const endWait = (id: string) => api.post(`/v1/notifications/${id}/end-wait`, {})
const recordOf = async (id: string) => (await api.get(`/v1/notifications/${id}`)).body
const inbox = async () => (await api.get('/v1/messages')).body.data.map(({ content }: { content: string }) => content)

test('a digest sends what it has collected, once, however many end it', async () => {
  await makeWorkflow(api, 'comments', [
    { type: 'digest', controlValues: { amount: 1, unit: 'days' } },
    inApp('{{steps.digest-0.eventCount}} comments'),
  ])
  const first = await trigger(api, 'comments', 'ada', { payload: { n: 1 } })
  for (const n of [2, 3]) await trigger(api, 'comments', 'ada', { payload: { n } })
  await server.drain()
  const { _id } = await runOf(api, first)
  expect((await recordOf(_id)).jobs[0]).toMatchObject({ status: 'delayed', collectedEvents: 3 })

  const answers = await Promise.all(Array.from({ length: 5 }, () => endWait(_id)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409])
  expect(answers.find(({ status }) => status === 200)?.body).toEqual({ stepId: 'digest-0' })
  expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'run_not_waiting' })
  server.clock.advance({ days: 2 })
  await server.drain()
  expect(await inbox()).toEqual(['3 comments'])
  const [digest] = storyOf(await recordOf(_id))
  expect(digest).toBe(
    'digest completed: Step queued, Step digested, The wait was ended before its time, Digest triggered events',
  )
  expect((await recordOf(_id)).jobs[0]).not.toHaveProperty('collectedEvents')
  const [act] = (await api.get('/v1/audit?action=run.wait-ended')).body.data
  expect(act.target).toMatchObject({ id: _id, name: 'comments' })
  // Nobody could be erased from it later.
  expect(act.details).toEqual({ workflow: 'comments', step: 'digest-0' })

  // The next event opens a window of its own.
  const next = await trigger(api, 'comments', 'ada')
  await server.drain()
  expect((await recordOf((await runOf(api, next))._id)).jobs[0]).toMatchObject({ collectedEvents: 1 })
})

test('a delay ends at once, and not again at its time', async () => {
  await makeWorkflow(api, 'later', [
    { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
    inApp('Now'),
  ])
  const transactionId = await trigger(api, 'later', 'ada')
  await server.drain()
  const { _id } = await runOf(api, transactionId)
  expect(await endWait(_id)).toMatchObject({ status: 200 })
  await server.drain()
  expect(await inbox()).toEqual(['Now'])
  server.clock.advance({ hours: 2 })
  await server.drain()
  expect(await inbox()).toEqual(['Now'])
})

test('a run that has ended or does not exist has no wait', async () => {
  await makeWorkflow(api, 'at-once', [inApp()])
  const transactionId = await trigger(api, 'at-once', 'ada')
  await server.drain()
  const { _id } = await runOf(api, transactionId)
  expect(await endWait(_id)).toMatchObject({ status: 409, body: { code: 'run_not_waiting' } })
  expect(await endWait('0'.repeat(24))).toMatchObject({ status: 404, body: { code: 'activity_not_found' } })
})
