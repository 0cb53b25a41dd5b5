import { type EventStatus, eventOf, eventsIn } from '../events.ts'
import { emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { base64, emails, some } from './mail.ts'

const means: Record<string, EventStatus> = {
  open: 'opened',
  click: 'clicked',
  send: 'sent',
  bounce: 'bounced',
  invalid: 'bounced',
  spam: 'spam',
  unsub: 'unsubscribed',
  drop: 'dropped',
}

export const netcore = emailProvider({
  id: 'netcore',
  name: 'Netcore',
  docs: 'https://emaildocs.netcorecloud.com/reference/send-email',
  takesNoHeaders: true,
  credentials: { apiKey: secret('API key'), ...mailSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey }, { deliver }) {
    const { from, senderName, to, cc, bcc, subject, html, replyTo, attachments } = message
    const answer = await deliver('https://emailapi.netcorecloud.net/v5.1/mail/send', {
      headers: { api_key: apiKey },
      json: {
        from: { email: from, name: senderName },
        reply_to: replyTo,
        subject,
        content: [{ type: 'html', value: html }],
        personalizations: [
          {
            to: emails(to),
            cc: some(emails(cc)),
            bcc: some(emails(bcc)),
            attachments: some(attachments.map(({ name, file }) => ({ name, content: base64(file) }))),
          },
        ],
      },
    })
    return { providerMessageId: textAt(answer.json, 'data.message_id') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess && textAt(body, 'status') !== 'error') return undefined
    const says = textAt(body, 'error.0.message') ?? textAt(body, 'error.0.description') ?? textAt(body, 'message')
    return { says }
  },

  events: {
    read: ({ body }) =>
      eventsIn(body).flatMap((event) =>
        eventOf(event, {
          id: textAt(event, 'TRANSID'),
          event: textAt(event, 'EVENT'),
          means,
          at: Number(textAt(event, 'TIMESTAMP')) * 1000 || undefined,
          response: textAt(event, 'RESPONSE') ?? textAt(event, 'BOUNCE_REASON'),
          recipient: textAt(event, 'EMAIL'),
          permanent: /^hard/i.test(textAt(event, 'BOUNCE_TYPE') ?? ''),
        }),
      ),
  },
})
