// Where the links of an e-mail lead, and its image, if opens and clicks are counted. People get where they want to go, whatever
// becomes of the counting.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Link } from '../../db/core/link-tokens.ts'
import { visitorOf } from '../../engine/consent/visits.ts'
import { fail } from '../../errors.ts'
import type { App, Services } from '../edge/resource.ts'
import { openLink } from './open-link.ts'

/** One transparent pixel. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')
const imageEnding = '.gif'
const Params = Type.Object({ token: Type.String() })

export function trackingLinks(
  scope: App,
  { engine, secrets, log }: Pick<Services, 'engine' | 'secrets' | 'log'>,
): void {
  const tags = ['Links']

  const note = async ({ method, headers }: FastifyRequest, link: Link, url?: string) => {
    const visitor = visitorOf(method, headers, { isImage: url === undefined })
    if (visitor === 'unwanted') return
    const { environmentId, messageId } = link
    await engine
      .track({ environmentId, messageId, url, isRobot: visitor === 'robot' })
      .catch((error: unknown) => log.warn({ err: error }, 'an open or a click could not be counted'))
  }

  scope.get(
    '/l/c/:token',
    {
      config: { public: true },
      schema: {
        tags,
        summary: 'Count a click, and go where the link leads',
        description: 'The token is signed for one address: with another `u` it is unknown.',
        params: Params,
        querystring: Type.Object({ u: Type.Optional(Type.Unsafe<unknown>({ description: 'Where the link leads' })) }),
        response: { 302: { description: 'To exactly `u`', content: { 'text/plain': { schema: Type.String() } } } },
      },
    },
    async (request, reply) => {
      const { u: url } = request.query
      if (typeof url !== 'string' || url === '') throw fail('link_unknown')
      await note(request, openLink(secrets, 'c', request.params.token, url), url)
      return reply.code(302).header('Location', url).type('text/plain; charset=utf-8').send('')
    },
  )

  scope.get(
    '/l/o/:token',
    {
      config: { public: true },
      schema: {
        tags,
        summary: 'Count that a message was opened',
        description: 'The token ends with `.gif`. The answer is an image of one pixel.',
        params: Params,
        response: { 200: { description: 'One transparent pixel', content: { 'image/gif': { schema: Type.Any() } } } },
      },
    },
    async (request, reply) => {
      const { token } = request.params
      if (!token.endsWith(imageEnding)) throw fail('link_unknown')
      await note(request, openLink(secrets, 'o', token.slice(0, -imageEnding.length)))
      // Shown by mail programs that are pages of other origins.
      return reply.header('Cross-Origin-Resource-Policy', 'cross-origin').type('image/gif').send(pixel)
    },
  )
}
