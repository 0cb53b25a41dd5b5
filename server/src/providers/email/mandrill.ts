import { type EventStatus, eventOf, eventsIn, hmac, isSame } from '../events.ts'
import { at, emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { base64, some, someOf } from './mail.ts'

const base = 'https://mandrillapp.com/api/1.0'

const means: Record<string, EventStatus> = {
  open: 'opened',
  click: 'clicked',
  send: 'sent',
  hard_bounce: 'bounced',
  soft_bounce: 'bounced',
  spam: 'spam',
  reject: 'rejected',
  unsub: 'unsubscribed',
  deferral: 'deferred',
  delivered: 'delivered',
}

/** https://mailchimp.com/developer/transactional/docs/fundamentals/#error-responses: all of them come with status 500. */
const codes = {
  Invalid_Key: 'unauthorized',
  PaymentRequired: 'quota_exhausted',
  ValidationError: 'rejected',
  Unknown_Template: 'rejected',
  Unknown_Subaccount: 'rejected',
} as const

/** Reject reasons that are not about the recipient. */
const ofTheSender = new Set(['rule', 'custom', 'test-mode-limit', 'unsigned', 'invalid-sender', 'recipients'])

export const mandrill = emailProvider({
  id: 'mandrill',
  name: 'Mandrill',
  docs: 'https://mailchimp.com/developer/transactional/api/messages/send-new-message/',
  credentials: { apiKey: secret('API key'), ...mailSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey }, { deliver }) {
    const { from, senderName, to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const { templateId, variables } = message.customData
    const typed = (type: string, list: string[]) => list.map((email) => ({ email, type }))
    const files = attachments.map(({ mime, name, file, cid }) => ({
      type: mime,
      name: cid ?? name,
      content: base64(file),
    }))
    const answer = await deliver(`${base}/messages/${templateId ? 'send-template' : 'send'}`, {
      json: {
        key: apiKey,
        ...(templateId ? { template_name: templateId, template_content: [] } : {}),
        message: {
          from_email: from,
          from_name: senderName,
          subject,
          ...(templateId ? { global_merge_vars: mergeVars(variables) } : { html, text }),
          to: [...typed('to', to), ...typed('cc', cc), ...typed('bcc', bcc)],
          headers: someOf({ ...headers, ...(replyTo ? { 'Reply-To': replyTo } : {}) }),
          attachments: some(files.filter((_, index) => !attachments[index]?.cid)),
          images: some(files.filter((_, index) => attachments[index]?.cid)),
        },
      },
    })
    return { providerMessageId: textAt(answer.json, '0._id') }
  },

  problem({ body, isSuccess }) {
    if (!isSuccess) return { says: textAt(body, 'message'), code: codes[textAt(body, 'name') as keyof typeof codes] }
    const status = textAt(body, '0.status')
    if (status !== 'rejected' && status !== 'invalid') return undefined
    const reason = textAt(body, '0.reject_reason') ?? status
    const isDead = reason === 'hard-bounce' || reason === 'invalid'
    return { says: reason, code: ofTheSender.has(reason) ? 'rejected' : 'recipient_refused', isDead }
  },

  check: ({ apiKey }, { ask }) => ask(`${base}/users/ping2`, { json: { key: apiKey } }),

  events: {
    /** https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/#authenticating-webhook-requests */
    verify({ headers, url, form }, { signingKey }) {
      if (signingKey === undefined) return true
      const pairs = Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1))
      const signed = url + pairs.map(([name, value]) => name + value).join('')
      return isSame(Buffer.from(headers['x-mandrill-signature'] ?? '', 'base64'), hmac('sha1', signingKey, signed))
    },
    read: ({ body }) =>
      eventsIn(listIn(body)).flatMap((event) =>
        eventOf(event, {
          id: textAt(event, '_id') ?? textAt(event, 'msg._id'),
          event: textAt(event, 'event'),
          means,
          at: Number(textAt(event, 'ts')) * 1000 || undefined,
          response: textAt(event, 'msg.diag') ?? textAt(event, 'msg.bounce_description'),
          recipient: textAt(event, 'msg.email'),
          permanent: textAt(event, 'event') === 'hard_bounce',
        }),
      ),
  },
})

const mergeVars = (variables: unknown) =>
  some(
    Object.entries((variables ?? {}) as Record<string, unknown>).map(([name, value]) => ({
      name,
      content: typeof value === 'string' ? value : JSON.stringify(value),
    })),
  )

/** The vendor posts a form with the list in one member. */
function listIn(body: unknown): unknown {
  const list = at(body, 'mandrill_events')
  if (typeof list !== 'string') return body
  try {
    return JSON.parse(list) as unknown
  } catch {
    return []
  }
}
