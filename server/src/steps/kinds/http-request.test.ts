// Addresses that an HTTP request step must not reach, as seen in the activity feed.
import { describe, expect, test } from 'vitest'
import { inApp, makeWorkflow, runOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

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
