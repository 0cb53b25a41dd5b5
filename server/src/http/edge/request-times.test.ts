import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { RequestTimes } from './request-times.ts'

test('durations read as those of the library for metrics', async () => {
  const registry = new Registry()
  const theirs = new Histogram({
    name: 'belfry_http_request_seconds',
    help: 'Duration of HTTP requests by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  const ours = new RequestTimes()
  for (const [method, route, status, seconds] of [
    ['POST', '/v1/events/trigger', 201, 0.0005],
    ['POST', '/v1/events/trigger', 201, 0.001],
    ['POST', '/v1/events/trigger', 201, 7],
    ['POST', '/v1/events/trigger', 422, 0.3],
    ['GET', '/files/:"name"\\*', 404, 0.02],
  ] as const) {
    theirs.observe({ method, route, status }, seconds)
    ours.note(method, route, status, seconds)
  }
  expect(ours.text().trim()).toBe((await registry.metrics()).trim())
})
