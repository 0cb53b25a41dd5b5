import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { workflow } from '@novu/framework/express'
import { SMTPServer } from 'smtp-server'
import { beforeEach, describe, expect, test } from 'vitest'
import { useApplication } from '../../../test/application.ts'
import { useHttp, useVendor, type VendorReply, WatchedHttp } from '../../../test/vendor.ts'
import { HttpClient } from '../../providers/http-client.ts'
import { Bridge, BridgeError, type BridgeEvent, type BridgeTarget } from './bridge.ts'

const app = useVendor()
const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
const http = useHttp()

let pauses: number[] = []
const pause = async (ms: number) => pauses.push(ms)
const bridge = new Bridge({ http, clock, signatureHeader: 'svc-signature', pause })
const target = (more: Partial<BridgeTarget> = {}): BridgeTarget => ({
  url: `${app.url}/api/bridge`,
  signing: { keysFor: () => ['the-key'] },
  type: 'dev',
  ...more,
})
const event: BridgeEvent = {
  payload: { name: 'Ann' },
  controls: {},
  state: [{ stepId: 'collect', outputs: { eventCount: 1 }, state: { status: 'completed' } }],
  subscriber: { subscriberId: 'u1' },
  context: {},
  env: { name: 'Development', type: 'dev' },
}
const ids = { workflowId: 'order-shipped', stepId: 'mail' }
const rendered = {
  outputs: { subject: 'Hello Ann', body: '<p>1</p>' },
  providers: { sendgrid: { replyTo: 'a@b.c' } },
  options: { skip: false },
  metadata: { status: 'success', error: false, duration: 4.2 },
}
const ok = { status: 'ok', sdkVersion: '2.13.2', discovered: { workflows: 1, steps: 2 } }
beforeEach(() => {
  pauses = []
})

const signed = (body: string) =>
  `t=1777629600000,v1=${createHmac('sha256', 'the-key').update(`1777629600000.${body}`).digest('hex')}`

async function failure(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(BridgeError)
  return error as BridgeError
}

describe('requests to the bridge application', () => {
  test('discovery and health check are signed GET requests', async () => {
    app.plays(({ query }) => ({
      body: query.action === 'discover' ? { workflows: [{ workflowId: 'a' }], agents: [] } : ok,
    }))
    expect(await bridge.healthCheck(target())).toEqual(ok)
    expect(await bridge.discover(target({ type: 'prod' }))).toEqual([{ workflowId: 'a' }])
    expect(app.asked).toMatchObject([
      { method: 'GET', path: '/api/bridge', query: { action: 'health-check', environmentType: 'dev' }, body: '' },
      { method: 'GET', query: { action: 'discover', environmentType: 'prod' } },
    ])
    for (const { headers } of app.asked)
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'svc-signature': signed('{}'),
        'bypass-tunnel-reminder': 'true',
      })
  })

  test('execute and preview send everything the step may depend on, and the signature covers all of it', async () => {
    app.plays(() => ({ body: rendered }))
    expect(await bridge.execute(target(), { ...ids, jobId: 'j1' }, event)).toEqual(rendered)
    expect(await bridge.preview(target(), ids, event)).toEqual(rendered)
    const body = JSON.stringify(event)
    expect(app.asked).toMatchObject([
      {
        method: 'POST',
        query: { action: 'execute', workflowId: 'order-shipped', stepId: 'mail', jobId: 'j1', environmentType: 'dev' },
        headers: { 'svc-signature': signed(body) },
        body,
      },
      { method: 'POST', query: { action: 'preview', workflowId: 'order-shipped', stepId: 'mail' }, body },
    ])
    expect(app.asked[1]?.query).not.toHaveProperty('jobId')
  })

  test('every call times out after five seconds', async () => {
    const watched = new WatchedHttp({ clock, allowPrivateAddresses: true })
    const watchedBridge = new Bridge({ http: watched, clock, signatureHeader: 'svc-signature', pause })
    app.plays(({ query }) => ({ body: query.action === 'health-check' ? ok : { ...rendered, workflows: [] } }))
    await watchedBridge.healthCheck(target())
    await watchedBridge.discover(target())
    await watchedBridge.preview(target(), ids, event)
    await watchedBridge.execute(target(), { ...ids, jobId: 'j1' }, event)
    expect(watched.timeouts).toEqual([5_000, 5_000, 5_000, 5_000])
    await watched.close()
  })

  test('query parameters already in the URL are kept', async () => {
    app.plays(() => ({ body: ok }))
    await bridge.healthCheck(target({ url: `${app.url}/b?tenant=a%20b&action=mine` }))
    expect(app.asked[0]?.query).toEqual({ tenant: 'a b', action: 'health-check', environmentType: 'dev' })
  })

  test('an answer may leave out optional members', async () => {
    app.plays(() => ({ body: { outputs: {}, options: { skip: true } } }))
    expect(await bridge.preview(target(), ids, event)).toEqual({
      outputs: {},
      providers: {},
      options: { skip: true },
      metadata: {},
    })
  })
})

describe('transient failures are retried', () => {
  const execute = () => bridge.execute(target(), { ...ids, jobId: 'j1' }, event)

  test.each([408, 429, 500, 503, 504, 521, 522, 524])('after status %i, with exponential backoff', async (status) => {
    const replies: VendorReply[] = [
      { status, body: {} },
      { status, body: {} },
      { status, body: {} },
      { body: rendered },
    ]
    app.plays(() => replies.shift() ?? { status: 418, body: {} })
    expect(await execute()).toEqual(rendered)
    expect(pauses).toEqual([500, 1000, 2000])
  })

  test('up to three times for execute, once for everything else', async () => {
    app.plays(() => 'hang up')
    expect(await failure(execute())).toMatchObject({ code: 'BridgeEndpointUnavailable' })
    expect(app.asked).toHaveLength(4)
    for (const work of [bridge.discover(target()), bridge.healthCheck(target()), bridge.preview(target(), ids, event)])
      expect(await failure(work)).toMatchObject({ code: 'BridgeEndpointUnavailable' })
    expect(app.asked).toHaveLength(10)
  })

  test.each([400, 401, 403, 404, 405, 413, 502])('but not after status %i', async (status) => {
    app.plays(() => ({ status, body: {} }))
    await failure(execute())
    expect(app.asked).toHaveLength(1)
    expect(pauses).toEqual([])
  })

  test('each retry gets a signature of its own', async () => {
    const times = [new Date(1000), new Date(2000)]
    const ticking = { now: () => times.shift() ?? clock.now() }
    const patient = new Bridge({ http, clock: ticking, signatureHeader: 'svc-signature', pause })
    app.plays(() => ({ status: 500, body: {} }))
    await failure(patient.healthCheck(target()))
    expect(app.asked.map(({ headers }) => String(headers['svc-signature']).split(',')[0])).toEqual(['t=1000', 't=2000'])
  })
})

describe('errors have a code', () => {
  test("the application's own code and message, if it sends them", async () => {
    const body = { message: 'Step is invalid', code: 'ExecutionStateControlInvalidError', data: [{ path: '/subject' }] }
    app.plays(() => ({ status: 400, body }))
    expect(await failure(bridge.preview(target(), ids, event))).toMatchObject(body)
  })

  test.each<[string, VendorReply]>([
    ['BridgeAuthenticationFailed', { status: 401, body: {} }],
    ['BridgeEndpointUnavailable', { status: 404, body: '<html>' }],
    ['BridgeMethodNotConfigured', { status: 405, body: '' }],
    ['BridgeRequestTimeout', { status: 504, body: '' }],
    ['PayloadTooLarge', { status: 413, body: '' }],
    ['BridgeEndpointNotFound', { status: 502, body: '' }],
    ['UnknownBridgeRequestError', { status: 403, body: '' }],
    ['TunnelNotFound', { status: 404, body: '404 tunnel abc.example.com not found' }],
    ['MaximumRedirectsExceeded', { status: 307, headers: { location: '?again' }, body: '' }],
    ['ResponseParseError', { body: '<html>Welcome</html>' }],
    ['ResponseParseError', { body: [] }],
    ['ResponseParseError', { body: {} }],
    ['ResponseParseError', { body: { workflows: {} } }],
    ['ResponseParseError', { body: '{"workflows":["a\\u0000"]}' }],
    ['ResponseParseError', { body: `{"workflows":${'['.repeat(200)}${']'.repeat(200)}}` }],
    ['ResponseReadError', { body: ' '.repeat(25 * 1024 * 1024 + 1) }],
  ])('%s', async (code, reply) => {
    app.plays(() => reply)
    expect(await failure(bridge.discover(target()))).toMatchObject({ code, message: expect.stringMatching(/\w+ \w+/) })
  })

  test('an answer to execute or health check that is not one', async () => {
    for (const body of [{}, { outputs: [] }, { outputs: {}, providers: 1 }, { outputs: {}, metadata: null }]) {
      app.plays(() => ({ body }))
      expect(await failure(bridge.preview(target(), ids, event))).toMatchObject({ code: 'ResponseParseError' })
    }
    expect(await failure(bridge.healthCheck(target()))).toMatchObject({ code: 'ResponseParseError' })
  })

  test.each([
    ['InvalidBridgeUrl', 'no url'],
    ['InvalidBridgeUrl', ''],
    ['UnsupportedProtocol', 'ftp://example.com'],
  ])('%s for "%s"', async (code, url) => {
    expect(await failure(bridge.discover(target({ url })))).toMatchObject({ code })
    expect(pauses).toEqual([])
  })

  test('a self-signed certificate, accepted in development only', async () => {
    // Has a self-signed certificate, and does not speak HTTP.
    const mail = new SMTPServer({ secure: true })
    mail.on('error', () => undefined)
    await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(mail.server.address() as AddressInfo).port}`
    expect(await failure(bridge.discover(target({ url, type: 'prod' })))).toMatchObject({
      code: 'SelfSignedCertificate',
    })
    expect(await failure(bridge.discover(target({ url, type: 'dev' })))).toMatchObject({ code: 'ResponseParseError' })
    await new Promise<void>((resolve) => mail.close(resolve))
  })

  test('an address that must not be called', async () => {
    const guarded = new HttpClient({ clock, allowPrivateAddresses: false })
    const careful = new Bridge({ http: guarded, clock, signatureHeader: 'svc-signature', pause })
    expect(await failure(careful.discover(target()))).toMatchObject({
      code: 'InvalidBridgeUrl',
      message: expect.stringContaining('private or reserved'),
    })
    expect(app.asked).toEqual([])
    await guarded.close()
  })
})

describe('an application written with the public library', () => {
  const real = useApplication()
  // The library checks signatures against the real time, and expects this header name.
  const caller = new Bridge({ http, clock: { now: () => new Date() }, signatureHeader: 'novu-signature', pause })
  const there = () => target({ url: real.url })
  const named = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
  const controlSchema = {
    type: 'object',
    properties: { subject: { type: 'string', default: 'Hello' } },
    required: ['subject'],
    additionalProperties: false,
  } as const
  const digest = workflow(
    'order-shipped',
    async ({ step, payload, subscriber }) => {
      const { events } = await step.digest('collect', () => ({ amount: 1, unit: 'hours' }))
      await step.email(
        'mail',
        ({ subject }) => ({ subject, body: `<p>${payload.name}, ${events.length}, ${subscriber.subscriberId}</p>` }),
        { controlSchema, skip: () => payload.name === 'nobody' },
      )
    },
    { payloadSchema: named },
  )
  const collected = {
    stepId: 'collect',
    outputs: { events: [{ id: 'e1', time: '2026-01-01T00:00:00.000Z', payload: {} }], eventCount: 1 },
    state: { status: 'completed' },
  }
  const run = (more: Partial<BridgeEvent> = {}) =>
    caller.execute(there(), { ...ids, jobId: 'j1' }, { ...event, state: [collected], ...more })

  test('runs a step, or skips it', async () => {
    real.serves([digest], 'the-key')
    expect(await run({ controls: { subject: 'Hi {{payload.name}}' } })).toEqual({
      outputs: { subject: 'Hi Ann', body: '<p>Ann, 1, u1</p>' },
      providers: {},
      options: { skip: false },
      metadata: { status: 'success', error: false, duration: expect.any(Number) },
    })
    expect(await run({ payload: { name: 'nobody' } })).toMatchObject({ outputs: {}, options: { skip: true } })
    expect(real.actions).toEqual(['execute', 'execute'])
  })

  test('reports missing and invalid input', async () => {
    real.serves([digest], 'the-key')
    expect(await failure(run({ state: [] }))).toMatchObject({ code: 'ExecutionStateCorruptError' })
    expect(await failure(run({ controls: { subject: 7 } }))).toMatchObject({
      code: 'ExecutionStateControlInvalidError',
      data: [{ path: '/subject', message: 'must be string' }],
    })
    const late = new Bridge({ http, clock, signatureHeader: 'novu-signature', pause })
    expect(await failure(late.discover(there()))).toMatchObject({ code: 'SignatureExpiredError' })
    const unsigned = new Bridge({ http, clock, signatureHeader: 'svc-signature', pause })
    expect(await failure(unsigned.discover(there()))).toMatchObject({ code: 'SignatureNotFoundError' })
    real.serves([digest], 'another-key')
    expect(await failure(run())).toMatchObject({ code: 'SignatureMismatchError' })
  })
})
