// The page on which somebody answers a question. The token in the address is the only key. Fetching it changes nothing, however
// often and by whomever: robots follow every link.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type AnswerLink, readAnswerLink } from '../../db/core/link-tokens.ts'
import { consentOf } from '../../db/queries/consent.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import { fail, RequestError } from '../../errors.ts'
import { consentTexts } from '../../render/consent-texts.ts'
import { type QuestionWords, questionWords } from '../../render/question-texts.ts'
import { nameOf } from '../../steps/contract/question.ts'
import { messagePage, type PageBrand } from '../consent/page.ts'
import { alwaysSent, asPage, ignoreTwoLanguages, languageOf, pagePolicy, takeForms } from '../edge/link-pages.ts'
import type { App, Resource } from '../edge/resource.ts'
import { takeAttempt } from '../edge/sign-in-limit.ts'
import { questionPage } from './page.ts'
import { Answered } from './questions.ts'
import { PageQuestion, pageQuestion, type QuestionRow } from './shape.ts'

const Params = Type.Object({ token: Type.String() })
const page = { 'text/html': { schema: Type.String() } }

interface Found {
  link: AnswerLink
  question: QuestionRow
  subscriber: SubscriberRow
  brand: PageBrand
  /** Of the environment. */
  now: Date
}

export const answerPage: Resource = (app, { db, clock, secrets, engine }) => {
  const tags = ['Links']

  void app.register(async (scope: App) => {
    scope.addHook('onRequest', async (_, reply) => {
      reply.headers(alwaysSent)
    })
    scope.addHook('preValidation', ignoreTwoLanguages)
    takeForms(scope, { withJson: true })
    // People get a page, programs JSON.
    scope.setErrorHandler(async (error, request, reply) => {
      const isOurs = error instanceof RequestError
      const status = isOurs ? error.status : (error as { statusCode?: number }).statusCode
      // What is our fault is logged like everything else.
      const isRefusal = status !== undefined && (isOurs || status < 500)
      if (!isRefusal || !request.headers.accept?.includes('text/html')) throw error
      const language = languageOf(request)
      const words =
        isOurs && error.code === 'link_not_found' ? consentTexts[language].unknown : questionWords[language].failed
      return asPage(reply.code(status).headers(isOurs ? error.headers : {}), messagePage(words, language))
    })

    /** Tokens are guessed no faster than passwords. */
    async function find(request: FastifyRequest<{ Params: { token: string } }>): Promise<Found> {
      const refund = await takeAttempt(db, { address: request.ip }, clock.now())
      const link = readAnswerLink(secrets, request.params.token)
      if (!link) throw fail('link_not_found')
      const [question, subscriber, environment] = await Promise.all([
        db
          .selectFrom('questions')
          .selectAll()
          .where('environment_id', '=', link.environmentId)
          .where('id', '=', link.questionId)
          .executeTakeFirst(),
        db
          .selectFrom('subscribers')
          .selectAll()
          .where('environment_id', '=', link.environmentId)
          .where('id', '=', link.subscriberRowId)
          .executeTakeFirst(),
        db
          .selectFrom('environments')
          .select(['consent', 'clock_now'])
          .where('id', '=', link.environmentId)
          .executeTakeFirst(),
      ])
      if (!question || !subscriber || !environment) throw fail('link_not_found')
      await refund()
      return {
        ...{ link, question: question as QuestionRow, subscriber: subscriber as SubscriberRow },
        ...{ brand: consentOf(environment.consent).brand, now: environment.clock_now ?? clock.now() },
      }
    }

    const show = (
      request: FastifyRequest,
      reply: FastifyReply,
      { question, subscriber, brand, now }: Found,
      more: { isDone?: boolean; problem?: string; text?: string } = {},
    ) => {
      const language = languageOf(request, subscriber.locale)
      const { answer: chosen } = request.query as { answer?: string }
      const html = questionPage({ question: pageQuestion(question, now), brand, language, chosen, ...more })
      return asPage(reply, html, pagePolicy(brand))
    }

    scope.get(
      '/a/:token',
      {
        config: { public: true },
        schema: {
          tags,
          summary: 'Show the page that answers a question',
          description: 'A page for people, JSON for whoever accepts that. Fetching it changes nothing.',
          params: Params,
          querystring: Type.Object({
            answer: Type.Optional(Type.String({ description: 'The answer that comes first' })),
            lang: Type.Optional(Type.String()),
          }),
          response: {
            200: { description: 'The question', content: { ...page, 'application/json': { schema: PageQuestion } } },
          },
        },
      },
      async (request, reply) => {
        const found = await find(request)
        return wantsJson(request) ? reply.send(pageQuestion(found.question, found.now)) : show(request, reply, found)
      },
    )

    scope.post(
      '/a/:token',
      {
        config: { public: true, refusals: [409] },
        schema: {
          tags,
          summary: 'Answer a question',
          description: 'A form, or JSON with `answer` and, if the question asks for it, `text`. Done when answered.',
          consumes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
          params: Params,
          body: Type.Unsafe<Record<string, unknown> | undefined>({}),
          response: {
            200: { description: 'The answer', content: { ...page, 'application/json': { schema: Answered } } },
          },
        },
      },
      async (request, reply) => {
        const found = await find(request)
        const { answer, text } = request.body ?? {}
        // Forms send line breaks as two characters; the page counts one.
        const given = {
          answer: typeof answer === 'string' ? answer : '',
          text: typeof text === 'string' ? text.replaceAll('\r\n', '\n') : undefined,
        }
        const { subscriber, link } = found
        const by = { subscriberId: subscriber.subscriber_id, name: nameOf(subscriber), channel: 'page' }
        const answering = engine.answer({
          ...{ environmentId: link.environmentId, questionId: link.questionId, ...given, by },
        })
        if (wantsJson(request)) {
          const { isRepeated: _, ...answered } = await answering
          return reply.send(answered)
        }
        const refusal = await refusalOf(answering)
        // People see the question as it is now, and what to do.
        const now = await find(request)
        if (!refusal) return show(request, reply, now, { isDone: true })
        const refused = (reply as FastifyReply).code(refusal.status)
        if (refusal.code === 'question_closed') return show(request, refused, now)
        const language = languageOf(request, subscriber.locale)
        const words = questionWords[language]
        const problem = problemOf(refusal.code, words)
        if (problem !== undefined) {
          return show(request, refused, now, { problem, ...(given.text ? { text: given.text } : {}) })
        }
        // There is nothing that this reader could press.
        const said = refusal.code === 'not_asked' ? words.notAsked : words.failed
        return asPage(refused.headers(refusal.headers), messagePage(said, language))
      },
    )
  })
}

/** A page only for whoever asks for one; a browser always does. */
const wantsJson = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.includes('application/json') === true && !headers.accept.includes('text/html')

/** What the reader can mend. */
function problemOf(code: string, words: QuestionWords): string | undefined {
  if (code === 'answer_needs_text') return words.needsText
  if (code === 'answer_too_long') return words.tooLong
  return code === 'answer_unknown' ? words.unknownAnswer : undefined
}

async function refusalOf(work: Promise<unknown>): Promise<RequestError | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
}
