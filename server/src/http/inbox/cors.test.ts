import type { IncomingMessage, ServerResponse } from 'node:http'
import cors from 'cors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { Brand } from '../edge/brand.ts'
import { openToBrowsers } from './cors.ts'

const headersBy = (answer: (set: (name: string, value: string) => void) => void) => {
  const headers: Record<string, string> = {}
  answer((name, value) => {
    headers[name.toLowerCase()] = value
  })
  return headers
}

/** As the library that most services use answers, set up to allow the same. */
const expected = (request: object) =>
  headersBy((set) => {
    const reply = { setHeader: set, getHeader: () => undefined, end: () => undefined, statusCode: 0 }
    const allowed = { origin: '*', maxAge: 86_400, methods: 'GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS' }
    cors(allowed)(request as IncomingMessage, reply as unknown as ServerResponse, () => undefined)
  })

const answered = (request: object) =>
  headersBy((set) => {
    const reply = {
      headers: (all: Record<string, string>) => {
        for (const [name, value] of Object.entries(all)) set(name, value)
      },
    }
    openToBrowsers(request as FastifyRequest, reply as unknown as FastifyReply, new Brand('novu'))
  })

test.each([
  ['OPTIONS', { origin: 'https://shop.example', 'access-control-request-headers': 'authorization, x-mine' }],
  ['GET', { origin: 'https://shop.example' }],
  ['DELETE', {}],
])('a browser that sends %s hears what the usual library tells it', (method, headers) => {
  const { 'content-length': _, ...told } = expected({ method, headers })
  const request = { method, url: '/v1/inbox/session', headers }
  expect(answered(request)).toEqual({ ...told, 'cross-origin-resource-policy': 'cross-origin' })
  expect(answered({ ...request, url: '/v2/subscribers' })).toEqual({})
})
