// A process in front of another service that dies while it takes a trigger. The caller has no answer, and repeats it.
import { expect, test, vi } from 'vitest'
import { CutLine } from './cut-line.ts'
import { freePort } from './free-port.ts'
import { usePrograms } from './program.ts'
import { inApp, makeWorkflow, runsOf, trigger } from './runs.ts'
import { Api, secretKey, useServer } from './server.ts'
import { makeShadow, reportOf, settle } from './shadow.ts'
import { useVendor } from './vendor.ts'

const programs = usePrograms()
const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

test('a trigger whose process was killed (-9) before it was noted is compared once it is repeated', async () => {
  const { upstream, front, here } = await makeShadow(server, { url: vendor.url })
  for (const side of [upstream, here]) await makeWorkflow(side, 'hello', [inApp('Hello')])
  const port = await freePort()
  const settings = {
    ...{ DATABASE_URL: server.database.url, BELFRY_SECRET_KEY: secretKey, PORT: String(port), BELFRY_ROLE: 'api' },
    BELFRY_ALLOW_PRIVATE_ADDRESSES: 'true',
  }
  const program = await programs.start(settings).ready()
  // Calls the old service, and says what it answers once the process is gone.
  vendor.plays(async ({ method, url, path, body }) => {
    const query = new URL(url).search
    const { status, text } = await upstream.send(method, path + query, body === '' ? undefined : JSON.parse(body))
    if (path === '/v1/events/trigger' && !program.hasEnded) {
      program.signal('SIGKILL')
      await program.ended
    }
    return { status, body: text }
  })
  const { key, environmentId, organizationId } = front
  const dying = new Api(program.url, key, environmentId, organizationId)
  const unanswered = trigger(dying, 'hello', 'ada', { transactionId: 'once' }).catch(() => 'no answer')
  expect(await unanswered).toBe('no answer')
  await program.ended
  await settle(server)
  expect(await runsOf(upstream, 'once')).toHaveLength(1)
  expect(await runsOf(here, 'once')).toEqual([])
  expect(await reportOf({ upstream, front, here })).toMatchObject({ triggers: 0, pending: 0 })

  await trigger(front, 'hello', 'ada', { transactionId: 'once' })
  await settle(server)
  expect(await runsOf(upstream, 'once')).toHaveLength(1)
  expect(await runsOf(here, 'once')).toHaveLength(1)
  expect(await reportOf({ upstream, front, here })).toMatchObject({ triggers: 1, same: 1, pending: 0 })
})

test('a trigger whose process is cut off at any statement is done once by each side after it is repeated', async () => {
  const { upstream, front, here } = await makeShadow(server)
  for (const side of [upstream, here]) await makeWorkflow(side, 'hello', [inApp('Hello')])
  const line = await CutLine.to(server.database.url)
  const dying = await server.startAnother({ databaseUrl: line.url })
  const through = new Api(dying.url, front.key, front.environmentId, front.organizationId)
  const send = (api: Api, transactionId: string) =>
    api.post('/v1/events/trigger', { name: 'hello', to: 'ada', payload: {}, transactionId }).catch(() => undefined)
  await send(through, 'warm')
  line.takeCount()
  await send(through, 'counted')
  const statements = line.takeCount()
  expect(statements).toBeGreaterThan(3)
  const ids = Array.from({ length: statements }, (_, index) => `cut-${index + 1}`)
  for (const [index, id] of ids.entries()) {
    line.cutAfter(index + 1)
    await send(through, id)
    line.mend()
    // Its caller has no answer, or a failure, and asks another process.
    expect(await send(front, id)).toMatchObject({ status: 201, body: { transactionId: id } })
    await vi.waitUntil(async () => (await through.get('/v1/sandbox/messages')).status === 200, {
      ...{ timeout: 30_000, interval: 20 },
    })
  }
  await settle(server)
  for (const id of ids) {
    expect(await runsOf(upstream, id), id).toHaveLength(1)
    expect(await runsOf(here, id), id).toHaveLength(1)
  }
  expect(await reportOf({ upstream, front, here })).toMatchObject({
    ...{ triggers: statements + 2, compared: statements + 2, different: 0, pending: 0 },
  })
  await dying.stop()
  await line.close()
})
