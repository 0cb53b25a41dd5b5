// CORS: browsers on any page may use the inbox, and nothing else of the service. Their token limits what they see and do, and
// no cookie is ever used.
// Not @fastify/cors: its hook costs every other request too (30 µs of 100), and it answers OPTIONS outside of the inbox.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Brand } from '../edge/brand.ts'

const inboxPath = /^\/v1\/inbox(\/|\?|$)/

/** Sets the CORS headers, also on errors. @returns whether it is a preflight, which needs no further answer */
export function openToBrowsers(request: FastifyRequest, reply: FastifyReply, { word }: Brand): boolean {
  if (!inboxPath.test(request.url)) return false
  reply.headers({ 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' })
  if (request.method !== 'OPTIONS') return false
  const usual = ['authorization', 'content-type', ...clientHeaders.map((name) => `${word}-${name}`)].join(', ')
  reply.headers({
    'Access-Control-Allow-Methods': 'GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS',
    // Echoes the requested headers, since a star would not cover `authorization`.
    'Access-Control-Allow-Headers': request.headers['access-control-request-headers'] ?? usual,
    'Access-Control-Max-Age': '86400',
    Vary: 'Access-Control-Request-Headers',
  })
  return true
}

const clientHeaders = ['api-version', 'client-version', 'application-identifier']
