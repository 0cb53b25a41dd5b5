// Addresses that an HTTP request step must not reach, and retries, as seen in the activity feed.
import { describe, expect, test } from 'vitest'
import { inApp, makeWorkflow, pass, runOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor, type VendorReply } from '../../../test/vendor.ts'

const server = useServer()
const vendor = useVendor()

async function run(api: Api, values: object, more: object = {}) {
  const request = { type: 'http_request', stepId: 'ask', controlValues: { method: 'GET', ...values } }
  await makeWorkflow(api, 'ask', [request, inApp('Then')])
  const transactionId = await trigger(api, 'ask', 'ada', more)
  await server.drain()
  return runOf(api, transactionId)
}

const refused = [
  'http_request failed: Step queued, Action step execution failed',
  'in_app canceled: Step was canceled because a previous step failed',
]
const reason = /private or reserved/

describe('an HTTP request in production does not reach', () => {
  test.each([
    ['this machine', (port: string) => `http://127.0.0.1:${port}/`],
    ['this machine by name', (port: string) => `http://localhost:${port}/`],
    ['this machine in IPv6', (port: string) => `http://[::1]:${port}/`],
    ['this machine in other words', (port: string) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['this machine as a number', (port: string) => `http://2130706433:${port}/`],
    ['the unspecified address', (port: string) => `http://0.0.0.0:${port}/`],
    ['a private network', () => 'http://10.0.0.1/'],
    ['another private network', () => 'http://192.168.1.1/'],
    ['the metadata service of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
  ])('%s', async (_, urlAt) => {
    const found = await run(await server.freshApi(), { url: urlAt(new URL(vendor.url).port) })
    expect(storyOf(found)).toEqual(refused)
    expect(found).toMatchObject({ status: 'error' })
    const [job] = found.jobs
    expect(job).toMatchObject({ reason: 'http_request_failed', error: expect.stringMatching(reason) })
    expect(job.executionDetails[1].status).toBe('Failed')
    expect(JSON.parse(job.executionDetails[1].raw)).toEqual({ error: job.error })
    expect(vendor.asked).toEqual([])
  })

  test('a private address that comes from the payload', async () => {
    const found = await run(await server.freshApi(), { url: '{{payload.url}}' }, { payload: { url: vendor.url } })
    expect(storyOf(found)).toEqual(refused)
    expect(vendor.asked).toEqual([])
  })
})

describe('an HTTP request in development', () => {
  test('reaches this machine', async () => {
    const { development } = await server.freshOrganization()
    vendor.plays(() => ({ body: {} }))
    const found = await run(development, { url: vendor.url })
    expect(found.jobs[0].status).toBe('completed')
  })

  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00::1]/',
    'file:///etc/passwd',
  ])('does not follow a redirect to %s', async (location) => {
    const { development } = await server.freshOrganization()
    vendor.plays(() => ({ status: 302, headers: { location } }))
    const found = await run(development, { url: vendor.url })
    expect(storyOf(found)).toEqual(refused)
    const [job] = found.jobs
    expect(job).toMatchObject({ status: 'failed', reason: 'http_request_failed' })
    expect(job.error).toMatch(location.startsWith('http') ? reason : /HTTP status 302|not an http/)
    expect(vendor.asked).toHaveLength(1)
  })
})

describe('an HTTP request with `retry`', () => {
  const sent = () =>
    vendor.asked.map(({ headers }) => [headers['idempotency-key'], headers['svc-attempt']] as [string, string])
  const retried = 'The request failed; it will be tried again'

  test('is tried again after one and three seconds, with one key', async () => {
    const { development: api } = await server.freshOrganization()
    vendor.plays(() => ({ status: [503, 429][vendor.asked.length - 1] ?? 200, body: { left: 7 } }))
    const { jobs, transactionId } = await run(api, { url: vendor.url, retry: true })
    expect(jobs[0]).toMatchObject({ status: 'queued' })
    await pass(server, { ms: 900 })
    expect(vendor.asked).toHaveLength(1)
    await pass(server, { ms: 100 })
    await pass(server, { ms: 2_900 })
    expect(vendor.asked).toHaveLength(2)
    await pass(server, { ms: 100 })
    const { jobs: ended } = await runOf(api, transactionId)
    expect(storyOf({ jobs: ended })[0]).toBe(
      `http_request completed: Step queued, ${retried}, ${retried}, Step processed`,
    )
    expect(JSON.parse(ended[0].executionDetails[1].raw)).toMatchObject({ statusCode: 503, attempt: 1 })
    expect(sent()).toEqual([1, 2, 3].map((attempt) => [ended[0]._id, String(attempt)]))
  })

  test('waits as long as the answer asks for, up to a minute', async () => {
    const { development: api } = await server.freshOrganization()
    vendor.plays(() => ({ status: 429, headers: { 'retry-after': ['20', '900'][vendor.asked.length - 1] ?? '1' } }))
    const { transactionId } = await run(api, { url: vendor.url, retry: true })
    for (const [seconds, calls] of [
      [19, 1],
      [1, 2],
      [59, 2],
      [1, 3],
    ] as const) {
      await pass(server, { seconds })
      expect(vendor.asked).toHaveLength(calls)
    }
    // The last answer stands.
    const { jobs } = await runOf(api, transactionId)
    expect(jobs[0]).toMatchObject({ status: 'failed', reason: 'http_request_failed', error: 'HTTP status 429' })
  })

  test.each<[string, VendorReply | 'hang up' | undefined]>([
    ['status 408', { status: 408 }],
    ['status 425', { status: 425 }],
    ['status 500', { status: 500 }],
    ['no answer', 'hang up'],
    ['a timeout', undefined],
  ])('is tried again after %s', async (_, reply) => {
    const { development: api } = await server.freshOrganization()
    vendor.plays(() => (vendor.asked.length === 1 ? reply : { body: {} }))
    const { transactionId } = await run(api, { url: vendor.url, retry: true, timeout: 100 })
    await pass(server, { seconds: 1 })
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'completed' })
    expect(vendor.asked).toHaveLength(2)
  })

  test('is not tried again after an answer that will not change', async () => {
    const { development: api } = await server.freshOrganization()
    vendor.plays(() => ({ status: 404, body: {} }))
    const { jobs } = await run(api, { url: vendor.url, retry: true })
    expect(jobs[0]).toMatchObject({ status: 'failed' })
    expect(vendor.asked).toHaveLength(1)
  })

  test('counts a try that was cut off, and repeats it; three of them end it', async () => {
    const { development: api } = await server.freshOrganization()
    vendor.plays(() => ({ status: 503 }))
    const { _id: runId, transactionId } = await run(api, { url: vendor.url, retry: true })
    /** As if the process died in the next call. */
    const cutOff = async () => {
      const { pool } = server.database
      await pool.query(
        "UPDATE jobs SET status = 'running', due_at = NULL, attempts = attempts + 1 WHERE notification_id = $1 AND position = 0",
        [runId],
      )
      await pool.query("SELECT graphile_worker.add_job('deliver', $1::json)", [
        JSON.stringify({ calls: [[api.environmentId, runId, 0]] }),
      ])
      await server.drain()
    }
    await cutOff()
    expect(sent().map(([, attempt]) => attempt)).toEqual(['1', '3'])
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', error: 'HTTP status 503' })
  })

  test('keeps a key of its own', async () => {
    const { development: api } = await server.freshOrganization()
    vendor.plays(() => ({ body: {} }))
    await run(api, { url: vendor.url, retry: true, headers: [{ key: 'Idempotency-Key', value: 'mine' }] })
    expect(sent()).toEqual([['mine', '1']])
  })

  test('without it, there is one try and no key', async () => {
    const { development: api } = await server.freshOrganization()
    vendor.plays(() => ({ status: 503 }))
    const { jobs } = await run(api, { url: vendor.url })
    expect(jobs[0]).toMatchObject({ status: 'failed' })
    expect(sent()).toEqual([[undefined, undefined]])
  })
})
