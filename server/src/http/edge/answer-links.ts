// Stored messages have the links with which people answer questions. Whoever may not answer for others sees them masked, wherever
// a message is shown: in lists, logs, requests to providers and events of webhooks.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { answerTokenStart, viewTokenStart } from '../../db/core/link-tokens.ts'
import { isAtLeast, roleIn } from './roles.ts'

/** Whether the caller may answer questions for those who were asked. */
export const mayAnswer = ({ person, key, environment }: FastifyRequest): boolean =>
  person ? isAtLeast(roleIn(person, environment.id), 'editor') : key?.may('send') === true

/** By how their tokens begin, so in every encoding. A page that shows a message shows its links, too. */
export function hideAnswerLinks(text: string, environmentId: string): string {
  const starts = [answerTokenStart(environmentId), viewTokenStart(environmentId)].filter((each) => text.includes(each))
  return starts.reduce((clean, start) => clean.replace(new RegExp(`${start}[\\w-]*`, 'g'), '***'), text)
}

/** Not on the hot path, whose answers have no messages, and not for subscribers, who answer for themselves. */
export function registerAnswerLinks(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('onRoute', (route) => {
    const { public: isPublic, inbox, hot } = route.config ?? {}
    if (isPublic || inbox || hot) return
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request, _reply, payload, done) => {
        const isShown = typeof payload !== 'string' || !request.environment || mayAnswer(request)
        done(null, isShown ? payload : hideAnswerLinks(payload, request.environment.id))
      },
    ]
  })
}
