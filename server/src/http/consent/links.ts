// The links in messages, for people and for mail programs (RFC 8058). Fetching one changes nothing, however often and by whomever:
// robots follow every link. Nothing here sets or reads a cookie, needs a key, or redirects.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type Link, readLink } from '../../db/core/link-tokens.ts'
import { resubscribe, unsubscribe } from '../../engine/consent/unsubscribe.ts'
import { fail, RequestError } from '../../errors.ts'
import { consentTexts } from '../../render/consent-texts.ts'
import { alwaysSent, asPage, languageOf, takeForms } from '../edge/link-pages.ts'
import type { App, Resource } from '../edge/resource.ts'
import { InboxLimits } from '../inbox/limit.ts'
import { findBrand } from './brand.ts'
import { messagePage, type PageState, unsubscribePage } from './page.ts'

const Params = Type.Object({ token: Type.String() })
const Page = {
  description: 'A page, in the language of the reader',
  content: { 'text/html': { schema: Type.String() } },
}
const PageOrWord = {
  description: 'A page for people, one word for mail programs',
  content: { ...Page.content, 'text/plain': { schema: Type.String() } },
}

export const links: Resource = (app, { db, clock, secrets }) => {
  const tags = ['Links']
  const limits = new InboxLimits(clock)

  void app.register(async (scope: App) => {
    scope.addHook('onRequest', async ({ ip }, reply) => {
      reply.headers(alwaysSent)
      limits.takeSession(ip)
    })
    takeForms(scope)
    // People get a page, others JSON.
    scope.setErrorHandler(async (error, request, reply) => {
      if (!(error instanceof RequestError) || !request.headers.accept?.includes('text/html')) throw error
      const language = languageOf(request)
      const words = error.code === 'link_unknown' ? consentTexts[language].unknown : error.message
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

    const linkOf = (token: string): Link => {
      const link = readLink(secrets, 'u', token)
      if (!link) throw fail('link_unknown')
      return link
    }
    const show = async (request: FastifyRequest, reply: FastifyReply, link: Link, state: PageState) => {
      const { brand, locale } = await findBrand(db, link)
      return asPage(reply, unsubscribePage({ state, brand, language: languageOf(request, locale) }))
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
          response: { 200: Page },
        },
      },
      async (request, reply) => show(request, reply, linkOf(request.params.token), 'question'),
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
          response: { 200: PageOrWord },
        },
      },
      async (request, reply) => {
        const link = linkOf(request.params.token)
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
  })
}
