// Every registered route, described or not, for tests that must not miss one.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import { afterAll, beforeAll } from 'vitest'

export interface Route {
  method: string
  /** With parameters in braces, as in the API description. */
  path: string
  config: FastifyContextConfig
  isHidden: boolean
  /** Response schemas by status. */
  answers: Record<string, unknown>
}

const channel = 'fastify.initialization'

/** Call it before `useServer`, so that it listens when the service is built. Read the result inside tests only. */
export function useRouteTable(): Route[] {
  const routes: Route[] = []
  const listen = (message: unknown) => {
    // With several processes, the first one is enough.
    if (routes.length > 0) return
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url, config = {}, schema = {} }) => {
      for (const each of [method].flat())
        if (each !== 'HEAD' && each !== 'OPTIONS')
          routes.push({
            method: each,
            path: url.replaceAll(/:(\w+)/g, '{$1}'),
            config,
            isHidden: (schema as { hide?: boolean }).hide === true,
            answers: (schema.response ?? {}) as Record<string, unknown>,
          })
    })
  }
  beforeAll(() => subscribe(channel, listen))
  afterAll(() => void unsubscribe(channel, listen))
  return routes
}
