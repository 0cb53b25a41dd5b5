import { describe, expect, test, vi } from 'vitest'
import { heldApi } from '../../../test/held.ts'
import { say, statesOf, waitAnHour } from '../../../test/journeys.ts'
import { makeWorkflow, pass, prefer, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { Api, useServer } from '../../../test/server.ts'
import { chores } from '../../engine/queue/chores.ts'

const server = useServer()

const day = { amount: 1, unit: 'days' }
const inAppCap = (more: object = {}) => ({ id: 'few', limit: 2, window: day, channels: ['in_app'], ...more })

async function guard(api: Api, guards: object): Promise<void> {
  const answer = await api.put('/v2/guards', guards)
  expect(answer, answer.text).toMatchObject({ status: 200, body: guards })
}

const run = async (api: Api, workflowId = 'hello', to: unknown = 'ada') => {
  const transactionId = await trigger(api, workflowId, to)
  await server.drain()
  return runOf(api, transactionId)
}

const states = async (api: Api, count: number, workflowId = 'hello', to: unknown = 'ada') => {
  const found: string[] = []
  for (let i = 0; i < count; i += 1) found.push(...statesOf(await run(api, workflowId, to)))
  return found
}

async function withMail(api: Api): Promise<void> {
  const made = await api.post('/v1/integrations', {
    ...{ providerId: 'svc-email', channel: 'email', active: true, credentials: {} },
  })
  expect(made, made.text).toMatchObject({ status: 201 })
}

const countsIn = async (api: Api): Promise<Array<{ cap_id: string }>> =>
  server.database.db
    .selectFrom('cap_counts')
    .select('cap_id')
    .where('environment_id', '=', api.environmentId)
    .orderBy('cap_id')
    .execute()

/** With a table that nobody else can write to. */
async function whileLocked<T>(table: string, work: () => Promise<T>, mode = 'EXCLUSIVE'): Promise<T> {
  const client = await server.database.pool.connect()
  try {
    await client.query('BEGIN')
    await client.query(`LOCK TABLE ${table} IN ${mode} MODE`)
    return await work()
  } finally {
    await client.query('COMMIT')
    client.release()
  }
}

/** Until so many connections wait for a lock. */
const untilBlocked = (count: number) =>
  vi.waitFor(async () => {
    const { rows } = await server.database.pool.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )
    expect(rows.length).toBeGreaterThanOrEqual(count)
  }, 10_000)

const mail: Step = { name: 'Mail', stepId: 'mail', type: 'email', controlValues: { subject: 'Hi', body: 'Hi' } }
const ada = { subscriberId: 'ada', email: 'ada@example.com' }

describe('the settings', () => {
  test('are as at first until they are replaced, and an entry of the audit log says who did', async () => {
    const api = await server.freshApi()
    expect((await api.get('/v2/guards')).body).toEqual({ quietHours: 'skip', caps: [] })
    await guard(api, { quietHours: 'hold', caps: [inAppCap({ tags: ['offers'] })] })
    expect((await api.get('/v2/guards')).body).toEqual({ quietHours: 'hold', caps: [inAppCap({ tags: ['offers'] })] })
    expect((await api.put('/v2/guards', {})).body).toEqual({ quietHours: 'skip', caps: [] })
    const wide = await server.organizationOf(api)
    const { body } = await wide.get('/v1/audit?action=guards.changed')
    expect(body.data[0]).toMatchObject({ action: 'guards.changed' })
  })

  test('are for admins to change', async () => {
    const api = await server.freshApi()
    const reader = await server.keyFor(api, ['read'])
    expect((await reader.get('/v2/guards')).status).toBe(200)
    expect((await reader.put('/v2/guards', {})).status).toBe(403)
  })

  test.each<[string, object]>([
    ['another word', { quietHours: 'wait' }],
    ['an unknown member', { cap: [] }],
    ['an id twice', { caps: [inAppCap(), inAppCap()] }],
    ['a limit of none', { caps: [inAppCap({ limit: 0 })] }],
    ['a limit beyond all', { caps: [inAppCap({ limit: 1_001 })] }],
    ['a window of 91 days', { caps: [inAppCap({ window: { amount: 91, unit: 'days' } })] }],
    ['no such unit', { caps: [inAppCap({ window: { amount: 1, unit: 'years' } })] }],
    ['no such channel', { caps: [inAppCap({ channels: ['pigeon'] })] }],
    ['no channel', { caps: [inAppCap({ channels: [] })] }],
    ['a misspelt member', { caps: [inAppCap({ chanels: ['sms'] })] }],
    ['21 caps', { caps: Array.from({ length: 21 }, (_, index) => inAppCap({ id: `cap-${index}` })) }],
  ])('with %s are refused, and nothing changes', async (_, guards) => {
    const api = await server.freshApi()
    await guard(api, { quietHours: 'skip', caps: [inAppCap()] })
    expect((await api.put('/v2/guards', guards)).status).toBe(422)
    expect((await api.get('/v2/guards')).body.caps).toEqual([inAppCap()])
  })
})

describe('caps', () => {
  test('hold back what is too much, and the log names the cap and the next place', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note')])
    await guard(api, { quietHours: 'skip', caps: [inAppCap()] })
    const first = server.clock.now()
    await run(api)
    server.clock.advance({ hours: 1 })
    await run(api)
    const third = await run(api)
    expect(statesOf(third)).toEqual(['note canceled capped'])
    expect(third).toMatchObject({ status: 'completed', deliveryLifecycle: { status: 'skipped', detail: 'capped' } })
    const nextPlaceAt = new Date(first.getTime() + 86_400_000).toISOString()
    expect(JSON.parse(third.jobs[0].executionDetails.at(-1).raw)).toEqual({
      ...{ cap: 'few', limit: 2, window: day, nextPlaceAt },
    })
    // Others have places of their own.
    expect(await states(api, 1, 'hello', 'bob')).toEqual(['note completed'])
    server.clock.advance({ hours: 22, minutes: 59 })
    expect(await states(api, 1)).toEqual(['note canceled capped'])
    server.clock.advance({ minutes: 1 })
    expect(await states(api, 2)).toEqual(['note completed', 'note canceled capped'])
  })

  test('count over workflows with one of the tags, and over channels together', async () => {
    const api = await server.freshApi()
    await withMail(api)
    await makeWorkflow(api, 'offer', [say('note'), mail], { tags: ['offers', 'other'] })
    await makeWorkflow(api, 'bill', [say('note'), mail], { tags: ['bills'] })
    await guard(api, {
      quietHours: 'skip',
      caps: [inAppCap({ channels: ['in_app', 'email'], tags: ['offers'], limit: 3 })],
    })
    expect(await states(api, 2, 'offer', ada)).toEqual([
      ...['note completed', 'mail completed', 'note completed', 'mail canceled capped'],
    ])
    expect(await states(api, 1, 'bill', ada)).toEqual(['note completed', 'mail completed'])
  })

  test('without channels concern all but in-app', async () => {
    const api = await server.freshApi()
    await withMail(api)
    await makeWorkflow(api, 'hello', [say('note'), mail])
    await guard(api, { quietHours: 'skip', caps: [{ id: 'one', limit: 1, window: day }] })
    await run(api, 'hello', ada)
    expect(statesOf(await run(api, 'hello', ada))).toEqual(['note completed', 'mail canceled capped'])
  })

  test('are asked last: what is held back before takes no place, and a place in all or in none is taken', async () => {
    const api = await server.freshApi()
    const skip = { '==': [{ var: 'payload.isWanted' }, true] }
    await makeWorkflow(api, 'hello', [say('note', 'x', { controlValues: { body: 'x', skip } })], { tags: ['a'] })
    await makeWorkflow(api, 'other', [say('note')])
    const caps = [inAppCap({ id: 'narrow', limit: 1, tags: ['a'] }), inAppCap({ id: 'wide', limit: 2 })]
    await guard(api, { quietHours: 'skip', caps })
    const wanted = async (isWanted: boolean) => {
      const transactionId = await trigger(api, 'hello', 'ada', { payload: { isWanted } })
      await server.drain()
      return statesOf(await runOf(api, transactionId))[0]
    }
    expect(await wanted(false)).toBe('note canceled step_condition')
    expect(await wanted(true)).toBe('note completed')
    // The wide cap has a place, which a message that the narrow one holds back does not take.
    expect(await wanted(true)).toBe('note canceled capped')
    expect(await states(api, 2, 'other')).toEqual(['note completed', 'note canceled capped'])
  })

  test('keep a place whatever becomes of the message, and a message sent again has it', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [mail])
    await guard(api, { quietHours: 'skip', caps: [{ id: 'one', limit: 1, window: day }] })
    const failed = await run(api, 'hello', ada)
    expect(statesOf(failed)).toEqual(['mail failed no_integration'])
    expect(await states(api, 1, 'hello', ada)).toEqual(['mail canceled capped'])
    await withMail(api)
    const answer = await api.post(`/v1/deliveries/${failed.jobs[0]._id}/redrive`, {})
    expect(answer.status, answer.text).toBeLessThan(300)
    await server.drain()
    expect(statesOf(await runOf(api, failed.transactionId))).toEqual(['mail completed'])
  })

  test('do not concern critical workflows, nor those that are exempt, and those do not count', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note')])
    await makeWorkflow(api, 'exempt', [say('note')], { journey: { exemptFromCaps: true } })
    await makeWorkflow(api, 'critical', [say('note')], {
      preferences: { user: { all: { enabled: true, readOnly: true } } },
    })
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 1 })] })
    expect(await states(api, 2, 'exempt')).toEqual(['note completed', 'note completed'])
    expect(await states(api, 2, 'critical')).toEqual(['note completed', 'note completed'])
    expect(await states(api, 2)).toEqual(['note completed', 'note canceled capped'])
    expect((await api.get('/v2/workflows/exempt')).body.journey).toEqual({ exemptFromCaps: true })
  })

  test('hold at once when they change, for what was counted too', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note')])
    await guard(api, { quietHours: 'skip', caps: [inAppCap()] })
    await states(api, 2)
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 3 })] })
    expect(await states(api, 2)).toEqual(['note completed', 'note canceled capped'])
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 1 })] })
    server.clock.advance({ hours: 2 })
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 1, window: { amount: 1, unit: 'hours' } })] })
    expect(await states(api, 2)).toEqual(['note completed', 'note canceled capped'])
    server.clock.advance({ hours: 2 })
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 1, window: { amount: 1, unit: 'weeks' } })] })
    expect(await states(api, 1)).toEqual(['note canceled capped'])
  })

  test('give exactly as many places as they have, whatever runs at once in two processes', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note'), waitAnHour(), say('later')])
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 7 })] })
    const other = await server.startAnother()
    const there = new Api(other.url, api.key, api.environmentId, api.organizationId)
    const send = (index: number) => trigger(index % 2 === 0 ? there : api, 'hello', 'ada')
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(index)))
    await Promise.all([server.drain(), server.drain()])
    expect((await api.get('/v1/messages?subscriberId=ada&limit=100')).body.data).toHaveLength(7)
    await pass(server, { hours: 1 })
    expect((await api.get('/v1/messages?subscriberId=ada&limit=100')).body.data).toHaveLength(7)
    server.clock.advance({ days: 1 })
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(index)))
    await server.drain()
    expect((await api.get('/v1/messages?subscriberId=ada&limit=100')).body.data).toHaveLength(14)
    await other.stop()
  })

  test('a place that one process is taking is not given by another', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note')])
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 1 })] })
    await run(api, 'hello', 'bob')
    const other = await server.startAnother()
    const there = new Api(other.url, api.key, api.environmentId, api.organizationId)
    const all: string[] = []
    // The first has its place, and cannot store its message.
    const work = await whileLocked('messages', async () => {
      for (const each of [api, there]) all.push(await trigger(each, 'hello', 'ada'))
      const drains = [server.drain(), server.drain()]
      await untilBlocked(2)
      return drains
    })
    await Promise.all(work)
    await server.drain()
    const found = await Promise.all(all.map(async (each) => statesOf(await runOf(api, each))[0]))
    expect(found.sort()).toEqual(['note canceled capped', 'note completed'])
    await other.stop()
  })

  test('are explained, with the moment from which on it would be sent', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note')])
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 1 })] })
    const asked = { workflowId: 'hello', subscriberId: 'ada' }
    expect((await api.post('/v1/explain', asked)).body).toMatchObject({ wouldGet: true })
    const transactionId = (await run(api)).transactionId
    const wait = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
    const { body } = await api.post('/v1/explain', asked)
    expect(body).toMatchObject({ wouldGet: false, steps: [{ verdict: 'held_back', reason: 'capped' }] })
    const gate = body.steps[0].gates.find((each: { gate: string }) => each.gate === 'cap')
    expect(gate).toEqual({ gate: 'cap', passed: false, cap: 'few', limit: 1, window: day, until: wait })
    expect(body.remedy.changes).toMatchObject([{ gate: 'cap', by: 'time', wait }])
    const again = await run(api)
    const past = await api.get(`/v1/explain?transactionId=${again.transactionId}&subscriberId=ada`)
    expect(past.body.steps[0]).toMatchObject({ verdict: 'held_back', reason: 'capped' })
    expect(past.body.steps[0].gates).toContainEqual({ ...gate })
    const sent = await api.get(`/v1/explain?transactionId=${transactionId}&subscriberId=ada`)
    expect(sent.body.steps[0]).toMatchObject({ verdict: 'sends' })
  })

  test('are simulated: they begin empty, and count what is played', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note')])
    await guard(api, { quietHours: 'skip', caps: [inAppCap({ limit: 1 })] })
    await run(api)
    const at = (when: string) => ({ type: 'trigger', at: when, to: 'ada' })
    const { body } = await api.post('/v1/simulations', {
      ...{ workflow: { workflowId: 'hello' }, subscribers: [{ subscriberId: 'ada' }] },
      inputs: [at('+0s'), at('+1h'), at('+1d')],
    })
    expect(body.runs.map(({ steps }: { steps: Array<{ reason: string | null }> }) => steps[0]?.reason)).toEqual([
      ...[null, 'capped', null],
    ])
    expect(body.totals.reasons).toEqual({ capped: 1 })
  })

  test('counts are exported and erased with the person', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note')])
    await guard(api, { quietHours: 'skip', caps: [inAppCap()] })
    await run(api)
    await run(api, 'hello', 'bob')
    const { body } = await api.get('/v2/subscribers/ada/export')
    expect(body.data.cap_counts).toMatchObject([{ capId: 'few', places: [server.clock.now().toISOString()] }])
    const { _id } = (await api.post('/v2/subscribers/ada/erase')).body
    await server.drain()
    expect((await api.get(`/v2/erasures/${_id}`)).body.report).toMatchObject({ cap_counts: 1 })
    expect(await countsIn(api)).toHaveLength(1)
  })

  test('counts are kept for their window, and not beyond their cap', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note')])
    const long = { id: 'long', window: { amount: 1, unit: 'weeks' } }
    await guard(api, { quietHours: 'skip', caps: [inAppCap(), inAppCap(long)] })
    await run(api)
    const { purge_expired: purge } = chores({
      ...{ ...server.database, clock: server.clock, retention: { activityDays: 0, messageDays: 0 } },
    } as never)
    const purged = async () => {
      await purge?.({}, { abortSignal: new AbortController().signal } as never)
      return (await countsIn(api)).map(({ cap_id }) => cap_id)
    }
    server.clock.advance({ hours: 23 })
    expect(await purged()).toEqual(['few', 'long'])
    server.clock.advance({ hours: 1 })
    expect(await purged()).toEqual(['long'])
    await guard(api, { quietHours: 'skip', caps: [] })
    expect(await purged()).toEqual([])
  })
})

describe('quiet hours', () => {
  const hours = (start: string, end: string) => ({ isEnabled: true, hours: [{ start, end }] })
  const week = (start: string, end: string) => ({
    isEnabled: true,
    weeklySchedule: Object.fromEntries(
      ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [
        day,
        hours(start, end),
      ]),
    ),
  })
  const never = { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } }

  /** At noon of a day of its own; the schedule opens at two. */
  async function held(steps: Step[] = [mail, say('after')], more: object = {}): Promise<Api> {
    const api = await server.freshApi()
    const now = server.clock.now()
    server.clock.advance({ ms: 86_400_000 + 12 * 3_600_000 - (now.getTime() % 86_400_000) })
    await withMail(api)
    await makeWorkflow(api, 'hello', steps, more)
    await prefer(api, 'ada', { schedule: week('02:00 PM', '06:00 PM') })
    return api
  }
  const at = (time: string) => `${server.clock.now().toISOString().slice(0, 10)}T${time}:00.000Z`

  test('hold a step until the schedule opens; then everything is asked again', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [] })
    const waiting = await run(api, 'hello', ada)
    expect(statesOf(waiting)).toEqual(['mail delayed', 'after pending'])
    expect(waiting.jobs[0]).toMatchObject({ heldUntil: at('14:00'), dueAt: at('14:00') })
    expect(storyOf(waiting)[0]).toContain('held until the schedule')
    const refused = await run(api, 'hello', ada)
    await pass(server, { hours: 1 })
    expect(statesOf(await runOf(api, waiting.transactionId))).toEqual(['mail delayed', 'after pending'])
    await api.delete(`/v1/events/trigger/${refused.transactionId}`)
    await pass(server, { hours: 1 })
    const done = await runOf(api, waiting.transactionId)
    expect(statesOf(done)).toEqual(['mail completed', 'after completed'])
    expect(done.jobs[0].heldUntil).toBeUndefined()
    expect(statesOf(await runOf(api, refused.transactionId))[0]).toBe('mail canceled canceled_by_user')
    const { rows } = await server.database.pool.query('SELECT FROM event_waits WHERE environment_id = $1', [
      api.environmentId,
    ])
    expect(rows).toEqual([])
  })

  test('what was held is found, also after it was sent', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [] })
    const { transactionId } = await run(api, 'hello', ada)
    await prefer(api, 'bob', { schedule: week('08:00 AM', '06:00 PM') })
    await run(api, 'hello', { subscriberId: 'bob', email: 'bob@example.com' })
    const found = async () => {
      const { body } = await api.get('/v1/notifications?held=true')
      const { body: counted } = await api.get('/v1/notifications/count?held=true&since=2026-01-01T00:00:00Z')
      return [body.data.map((each: { transactionId: string }) => each.transactionId), counted.count]
    }
    expect(await found()).toEqual([[transactionId], 1])
    await pass(server, { hours: 3 })
    expect(statesOf(await runOf(api, transactionId))).toEqual(['mail completed', 'after completed'])
    expect(await found()).toEqual([[transactionId], 1])
  })

  test('what was held back is found by when it was, not by when its run began', async () => {
    const twoDays = { type: 'regular', amount: 2, unit: 'days' }
    const api = await held([{ name: 'Wait', stepId: 'wait', type: 'delay', controlValues: twoDays }, mail])
    await guard(api, { quietHours: 'skip', caps: [] })
    const { transactionId } = await run(api, 'hello', ada)
    const began = server.clock.now().getTime()
    await pass(server, { days: 2 })
    expect(statesOf(await runOf(api, transactionId))[1]).toContain('outside_schedule')
    const found = async (days: number, filter = 'reasons=outside_schedule') => {
      const since = new Date(began + days * 86_400_000).toISOString()
      const { body } = await api.get(`/v1/notifications?${filter}&stepsAfter=${since}`)
      const counted = await api.get(`/v1/notifications/count?${filter}&stepsAfter=${since}&since=2026-01-01T00:00:00Z`)
      return [body.data.length, counted.body.count]
    }
    expect(await found(1)).toEqual([1, 1])
    expect(await found(3)).toEqual([0, 0])
    await guard(api, { quietHours: 'hold', caps: [] })
    await run(api, 'hello', ada)
    await pass(server, { days: 2 })
    expect(await found(3, 'held=true')).toEqual([1, 1])
    expect(await found(5, 'held=true')).toEqual([0, 0])
    // With a person, the filter is asked of each of their runs.
    expect(await found(1, 'reasons=outside_schedule&subscriberIds=ada')).toEqual([1, 1])
    expect(await found(3, 'reasons=outside_schedule&subscriberIds=ada')).toEqual([0, 0])
  })

  test('ask the preferences of then', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [] })
    const { transactionId } = await run(api, 'hello', ada)
    await prefer(api, 'ada', { channels: { email: false } })
    await pass(server, { hours: 2 })
    expect(statesOf(await runOf(api, transactionId))).toEqual(['mail canceled preference', 'after completed'])
  })

  test('are those of the workflow where it says so', async () => {
    const skipping = await held([mail], { journey: { quietHours: 'skip' } })
    await guard(skipping, { quietHours: 'hold', caps: [] })
    expect(statesOf(await run(skipping, 'hello', ada))).toEqual(['mail canceled outside_schedule'])
    const holding = await held([mail], { journey: { quietHours: 'hold' } })
    expect(statesOf(await run(holding, 'hello', ada))).toEqual(['mail delayed'])
  })

  test('do not concern in-app messages and critical workflows', async () => {
    const critical = { preferences: { user: { all: { enabled: true, readOnly: true } } } }
    const api = await held([mail], critical)
    await guard(api, { quietHours: 'hold', caps: [] })
    expect(statesOf(await run(api, 'hello', ada))).toEqual(['mail completed'])
    await makeWorkflow(api, 'inbox', [say('note')])
    expect(await states(api, 1, 'inbox', ada)).toEqual(['note completed'])
  })

  test('skip where the schedule never opens', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [] })
    const { transactionId } = await run(api, 'hello', ada)
    await prefer(api, 'ada', { schedule: never })
    await server.drain()
    const skipped = ['mail canceled outside_schedule', 'after completed']
    expect(statesOf(await runOf(api, transactionId))).toEqual(skipped)
    expect(statesOf(await run(api, 'hello', ada))).toEqual(skipped)
  })

  test('a changed schedule or time zone is looked at at once', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [] })
    const { transactionId } = await run(api, 'hello', ada)
    await prefer(api, 'ada', { schedule: week('03:30 PM', '06:00 PM') })
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'delayed', heldUntil: at('15:30') })
    // An hour ahead of UTC.
    await api.patch('/v2/subscribers/ada', { timezone: 'Africa/Lagos' })
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'delayed', heldUntil: at('14:30') })
    await prefer(api, 'ada', { schedule: { isEnabled: false } })
    await server.drain()
    expect(statesOf(await runOf(api, transactionId))).toEqual(['mail completed', 'after completed'])
    await pass(server, { hours: 6 })
    expect(statesOf(await runOf(api, transactionId))).toEqual(['mail completed', 'after completed'])
  })

  test('a step that is held can be sent all the same', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [] })
    const { _id, transactionId } = await run(api, 'hello', ada)
    expect((await api.post(`/v1/notifications/${_id}/end-wait`, {})).status).toBeLessThan(300)
    await server.drain()
    expect(statesOf(await runOf(api, transactionId))).toEqual(['mail completed', 'after completed'])
  })

  test('a schedule that changes while a step begins to be held is looked at', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [] })
    let transactionId = ''
    // The step has read the schedule, and cannot be stored.
    const work = await whileLocked('event_waits', async () => {
      transactionId = await trigger(api, 'hello', ada)
      const held = server.drain()
      await untilBlocked(1)
      const changed = prefer(api, 'ada', { schedule: week('03:30 PM', '06:00 PM') })
      await untilBlocked(2)
      return [held, changed]
    })
    await Promise.all(work)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'delayed', heldUntil: at('15:30') })
  })

  test('a step that begins to be held while the schedule changes knows the new one', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [] })
    let transactionId = ''
    // The change has taken its lock and cannot look for what is held; the step waits for it.
    const work = await whileLocked(
      'event_waits',
      async () => {
        const changed = prefer(api, 'ada', { schedule: week('03:30 PM', '06:00 PM') })
        await untilBlocked(1)
        transactionId = await trigger(api, 'hello', ada)
        const holding = server.drain()
        await untilBlocked(2)
        return [changed, holding]
      },
      'ACCESS EXCLUSIVE',
    )
    await Promise.all(work)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'delayed', heldUntil: at('15:30') })
  })

  test('are simulated, and where the clock is held a step waits by it', async () => {
    const api = await heldApi(server, { now: '2027-03-01T12:00:00.000Z' })
    await makeWorkflow(api, 'hello', [mail, say('after')], { journey: { quietHours: 'hold' } })
    await prefer(api, 'ada', { schedule: week('02:00 PM', '06:00 PM') })
    const transactionId = await trigger(api, 'hello', ada)
    await api.advance({ by: '1h' })
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ heldUntil: '2027-03-01T14:00:00.000Z' })
    await prefer(api, 'ada', { schedule: week('01:30 PM', '06:00 PM') })
    await api.advance({ by: '0s' })
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ heldUntil: '2027-03-01T13:30:00.000Z' })
    await api.advance({ to: 'next' })
    expect(statesOf(await runOf(api, transactionId))).toEqual(['mail completed', 'after completed'])
    expect((await api.get('/v1/clock')).body).toMatchObject({ now: '2027-03-01T13:30:00.000Z', waiting: { count: 0 } })
    const { body } = await api.post('/v1/simulations', {
      ...{ workflow: { workflowId: 'hello' }, startAt: '2027-03-01T12:00:00.000Z' },
      subscribers: [{ ...ada, preferences: { schedule: week('02:00 PM', '06:00 PM') } }],
      inputs: [
        { type: 'trigger', at: '+0s', to: 'ada' },
        { type: 'preferences', at: '+1h', subscriberId: 'ada', schedule: week('01:30 PM', '06:00 PM') },
      ],
    })
    expect(body.runs[0].steps[0]).toMatchObject({ status: 'completed', endedAt: '2027-03-01T13:30:00.000Z' })
    expect(body.runs[0].steps[0].waits.map(({ why }: { why: string }) => why)).toEqual(['schedule', 'schedule'])
    const explained = await api.post('/v1/explain', {
      workflowId: 'hello',
      subscriberId: 'ada',
      at: '2027-03-01T19:00:00Z',
    })
    // It opens again the next day.
    const opensAt = '2027-03-02T13:30:00.000Z'
    expect(explained.body).toMatchObject({
      ...{ wouldGet: true, channels: { email: { wouldGet: true, at: opensAt } } },
      steps: [
        { verdict: 'sends', at: '2027-03-01T19:00:00.000Z', until: opensAt },
        { verdict: 'sends', at: opensAt, until: null },
      ],
    })
  })

  test('take no place in a cap while they hold', async () => {
    const api = await held()
    await guard(api, { quietHours: 'hold', caps: [{ id: 'one', limit: 1, window: day }] })
    const first = await run(api, 'hello', ada)
    const second = await run(api, 'hello', ada)
    await pass(server, { hours: 2 })
    const found = [first, second].map(async ({ transactionId }) => statesOf(await runOf(api, transactionId))[0])
    expect((await Promise.all(found)).sort()).toEqual(['mail canceled capped', 'mail completed'])
  })
})
