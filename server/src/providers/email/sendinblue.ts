import { DeliveryError } from '../delivery-error.ts'
import { type EventStatus, eventOf, eventsIn } from '../events.ts'
import { emailProvider, mailSender, secret, textAt, uuidOf, type VendorRequest } from '../provider.ts'
import { inCase } from '../provider-data.ts'
import { base64, emails, some } from './mail.ts'

const base = 'https://api.brevo.com/v3'

/** Event names are in snake case, and in camel case in older documentation. */
const means: Record<string, EventStatus> = {
  opened: 'opened',
  uniqueOpened: 'opened',
  proxyOpen: 'opened',
  uniqueProxyOpen: 'opened',
  request: 'sent',
  delivered: 'delivered',
  complaint: 'complaint',
  hardBounce: 'bounced',
  softBounce: 'bounced',
  blocked: 'blocked',
  unsubscribed: 'unsubscribed',
  click: 'clicked',
  spam: 'spam',
  deferred: 'deferred',
  invalidEmail: 'dropped',
  error: 'dropped',
}

/** https://developers.brevo.com/docs/how-it-works */
const codes = {
  unauthorized: 'unauthorized',
  permission_denied: 'unauthorized',
  account_under_validation: 'rejected',
  not_enough_credits: 'quota_exhausted',
} as const

export const sendinblue = emailProvider({
  id: 'sendinblue',
  name: 'Brevo',
  docs: 'https://developers.brevo.com/reference/sendtransacemail',
  credentials: { apiKey: secret('API key'), ...mailSender },

  async send(message, { apiKey }, { deliver }) {
    const { id, from, senderName, to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const { templateId, templateParams } = message.customData
    const request: VendorRequest = {
      headers: { 'api-key': apiKey },
      json: {
        sender: { email: from, name: senderName },
        to: emails(to),
        cc: some(emails(cc)),
        bcc: some(emails(bcc)),
        subject,
        htmlContent: html,
        textContent: text,
        replyTo: replyTo && { email: replyTo },
        attachment: some(attachments.map(({ name, file }) => ({ name, content: base64(file) }))),
        // Brevo removes it from the mail's headers. It must be a UUID.
        headers: { ...headers, idempotencyKey: uuidOf(id) },
        templateId,
        params: templateParams,
      },
    }
    try {
      const answer = await deliver(`${base}/smtp/email`, request)
      return { providerMessageId: textAt(answer.json, 'messageId') }
    } catch (error) {
      // An earlier attempt succeeded and its answer was lost.
      const isKnown = error instanceof DeliveryError && error.kind !== 'later' && /idempoten/i.test(error.says ?? '')
      if (message.attempt > 1 && isKnown) return { providerMessageId: undefined }
      throw error
    }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    return { says: textAt(body, 'message'), code: codes[textAt(body, 'code') as keyof typeof codes] }
  },

  check: ({ apiKey }, { ask }) => ask(`${base}/account`, { headers: { 'api-key': apiKey } }),

  events: {
    read: ({ body }) =>
      eventsIn(body).flatMap((event) => {
        const name = textAt(event, 'event')
        return eventOf(event, {
          id: textAt(event, 'message-id'),
          event: name && inCase(name, 'camel'),
          means,
          at: Number(textAt(event, 'ts_epoch')) || Number(textAt(event, 'ts_event')) * 1000 || textAt(event, 'date'),
          response: textAt(event, 'reason'),
          recipient: textAt(event, 'email'),
          permanent: ['hardBounce', 'invalidEmail'].includes(name ? inCase(name, 'camel') : ''),
        })
      }),
  },
})
