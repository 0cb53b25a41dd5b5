// The links in messages, for people and for mail programs (RFC 8058). Fetching one changes nothing, however often and by whomever:
// robots follow every link. Nothing here sets or reads a cookie, or needs a key.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Link } from '../../db/core/link-tokens.ts'
import { resubscribe, unsubscribe } from '../../engine/consent/unsubscribe.ts'
import { fail, RequestError } from '../../errors.ts'
import { consentTexts } from '../../render/consent-texts.ts'
import {
  alwaysSent,
  asPage,
  ignoreTwoLanguages,
  languageOf,
  pagePolicy,
  takeForms,
  wantsPage,
} from '../edge/link-pages.ts'
import type { App, Resource } from '../edge/resource.ts'
import { Nullable } from '../edge/schema.ts'
import { InboxLimits } from '../inbox/limit.ts'
import { Brand, findBrand } from './brand.ts'
import { openLink } from './open-link.ts'
import { messagePage, type PageBrand, type PageState, unsubscribePage } from './page.ts'
import { preferencePages } from './preferences.ts'
import { trackingLinks } from './tracking.ts'

/** A page of preferences can have a thousand workflows. */
const largestForm = 1024 * 1024
const Params = Type.Object({ token: Type.String() })
const Page = {
  description: 'A page, in the language of the reader',
  content: { 'text/html': { schema: Type.String() } },
}
const PageOrJson = {
  description: 'A page for browsers, in the language of the reader; JSON for others',
  content: {
    ...Page.content,
    'application/json': {
      schema: Type.Object({
        state: Type.Union([Type.Literal('question'), Type.Literal('done'), Type.Literal('undone')], {
          description: 'Nothing has changed; unsubscribed; that unsubscription is undone',
        }),
        channel: Type.String(),
        category: Nullable(Type.String({ description: 'Whose workflows are unsubscribed together' })),
        brand: Brand,
      }),
    },
  },
}
const PageJsonOrWord = {
  description: 'A page for browsers, one word for mail programs, JSON for others',
  content: { ...PageOrJson.content, 'text/plain': { schema: Type.String() } },
}

/** The page of preferences loads scripts of ours, which talk to us. */
const preferencesPolicy = (brand: PageBrand) => `${pagePolicy(brand)}; script-src 'self'; connect-src 'self'`
/** A mail can contain anything. */
const messagePolicy = "sandbox; default-src 'none'; img-src https: data:; style-src 'unsafe-inline'"

export const links: Resource = (app, services) => {
  const { db, clock, secrets } = services
  const tags = ['Links']
  const limits = new InboxLimits(clock)

  void app.register(async (scope: App) => {
    scope.addHook('onRequest', async ({ ip }, reply) => {
      reply.headers(alwaysSent)
      limits.takeSession(ip)
    })
    scope.addHook('preValidation', ignoreTwoLanguages)
    takeForms(scope, { bodyLimit: largestForm })
    // People get a page, others JSON.
    scope.setErrorHandler(async (error, request, reply) => {
      if (!(error instanceof RequestError) || !wantsPage(request)) throw error
      const language = languageOf(request)
      const texts = consentTexts[language]
      const known: Record<string, string> = { link_unknown: texts.unknown, link_expired: texts.expired }
      const words = known[error.code] ?? error.message
      return asPage(reply.code(error.status).headers(error.headers), messagePage(words, language))
    })

    scope.get(
      '/l/whoami',
      {
        config: { public: true },
        schema: {
          tags,
          summary: 'Ask whether an address leads to this service',
          response: { 200: Type.Object({ service: Type.String() }) },
        },
      },
      async () => ({ service: 'belfry' }),
    )

    scope.get(
      '/l/preview',
      {
        config: { public: true },
        schema: { tags, summary: 'Stand in for the links of a preview', response: { 200: Page } },
      },
      async (request, reply) => {
        const brand = { name: null, logoUrl: null, primaryColor: null, postalAddress: null }
        return asPage(reply, unsubscribePage({ state: 'preview', brand, language: languageOf(request) }))
      },
    )

    const show = async (
      request: FastifyRequest,
      reply: FastifyReply,
      link: Link,
      state: Exclude<PageState, 'preview'>,
    ) => {
      const { brand, locale } = await findBrand(db, link)
      if (!wantsPage(request)) return reply.send({ state, channel: link.channel, category: link.category, brand })
      return asPage(reply, unsubscribePage({ state, brand, language: languageOf(request, locale) }), pagePolicy(brand))
    }

    scope.get(
      '/l/u/:token',
      {
        config: { public: true },
        schema: {
          tags,
          summary: 'Show the page that unsubscribes',
          description: 'It has one button. Fetching it changes nothing.',
          params: Params,
          querystring: Type.Object({ lang: Type.Optional(Type.String()) }),
          response: { 200: PageOrJson },
        },
      },
      async (request, reply) => show(request, reply, openLink(secrets, 'u', request.params.token), 'question'),
    )

    scope.post(
      '/l/u/:token',
      {
        config: { public: true },
        schema: {
          tags,
          summary: 'Unsubscribe',
          description:
            'With `List-Unsubscribe=One-Click`, as mail programs send it (RFC 8058), or `confirm=1` from the page; `undo=1` takes it back. Done when answered.',
          consumes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
          params: Params,
          body: Type.Unsafe<Record<string, unknown> | undefined>({}),
          response: { 200: PageJsonOrWord },
        },
      },
      async (request, reply) => {
        const link = openLink(secrets, 'u', request.params.token)
        const form = request.body ?? {}
        if (form['List-Unsubscribe'] === 'One-Click') {
          await unsubscribe(db, link, 'header', clock.now())
          return reply.type('text/plain; charset=utf-8').send('Unsubscribed\n')
        }
        if (form.confirm === '1') {
          await unsubscribe(db, link, 'page', clock.now())
          return show(request, reply, link, 'done')
        }
        if (form.undo !== '1') throw fail('unsubscribe_body')
        await resubscribe(db, link, clock.now())
        return show(request, reply, link, 'undone')
      },
    )

    trackingLinks(scope, services)

    preferencePages(scope, services, {
      async page(request, reply, link, { make, json }) {
        const { brand, locale } = await findBrand(db, link)
        if (!wantsPage(request)) return reply.send(json(brand))
        return asPage(reply, make({ brand, language: languageOf(request, locale) }), preferencesPolicy(brand))
      },
    })

    scope.get(
      '/l/v/:token',
      {
        config: { public: true },
        schema: {
          tags,
          summary: 'Show a message in the browser',
          params: Params,
          response: { 200: Page },
        },
      },
      async (request, reply) => {
        const link = openLink(secrets, 'v', request.params.token)
        // The message may be gone: the link goes by the clock of its environment all the same.
        const found = await db
          .selectFrom('environments as e')
          .leftJoin('messages as m', (join) =>
            join.onRef('m.environment_id', '=', 'e.id').on('m.id', '=', link.messageId),
          )
          .select(['m.content', 'e.clock_now'])
          .where('e.id', '=', link.environmentId)
          .executeTakeFirst()
        if (link.expiresAt && link.expiresAt <= (found?.clock_now ?? clock.now())) throw fail('link_expired')
        if (!found?.content) throw fail('link_unknown')
        return asPage(reply, found.content, messagePolicy)
      },
    )
  })
}
