import { escapeUTF8 } from 'entities'
import { type EventStatus, eventOf, hmac, isSame, textOf } from '../events.ts'
import { basic, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'
import { rename } from '../provider-data.ts'

const means: Record<string, EventStatus> = {
  accepted: 'accepted',
  queued: 'queued',
  sending: 'sending',
  sent: 'sent',
  failed: 'failed',
  delivered: 'delivered',
  undelivered: 'undelivered',
}

/** https://www.twilio.com/docs/api/errors */
const codes = {
  20003: 'unauthorized',
  20429: 'rate_limited',
  21211: 'recipient_refused',
  21217: 'recipient_refused',
  21610: 'recipient_refused',
  21614: 'recipient_refused',
  21617: 'message_refused',
  63038: 'quota_exhausted',
} as const

/** No number, or one that takes no texts. */
const deadNumbers: ReadonlySet<number> = new Set([21211, 21614])

/** Twilio's SDKs, and so provider data, say `messagingServiceSid`; the API says `MessagingServiceSid`. */
const inPascalCase = (body: Record<string, unknown>) => rename(body, { casing: 'pascal' }) as Record<string, unknown>

export const twilio = smsProvider({
  id: 'twilio',
  name: 'Twilio',
  docs: 'https://www.twilio.com/docs/messaging/api/message-resource',
  credentials: { accountSid: text('Account SID'), token: secret('Auth token'), ...smsSender },

  async send(message, { accountSid, token, ...credentials }, { deliver }) {
    const from = message.from ?? credentials.from
    const isService = /^MG[0-9a-f]{32}$/i.test(from ?? '')
    const answer = await deliver(
      `https://api.twilio.com/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`,
      {
        headers: basic(accountSid, token),
        form: { to: message.to, [isService ? 'messagingServiceSid' : 'from']: from, body: message.content },
        wrap: inPascalCase,
      },
    )
    return { providerMessageId: textAt(answer.json, 'sid'), date: textAt(answer.json, 'date_created') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const code = Number(textAt(body, 'code'))
    return { says: textAt(body, 'message'), code: codes[code as keyof typeof codes], isDead: deadNumbers.has(code) }
  },

  events: {
    /** https://www.twilio.com/docs/usage/security#validating-requests */
    checkedBy: ['token'],
    verify({ headers, url, form }, { signingKey, credentials: { token } }) {
      const signature = headers['x-twilio-signature'] ?? ''
      const pairs = Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1))
      const signed = url + pairs.map(([name, value]) => name + value).join('')
      return isSame(Buffer.from(signature, 'base64'), hmac('sha1', signingKey ?? token, signed))
    },
    read: ({ form }) =>
      eventOf(form, { id: form.MessageSid, event: form.MessageStatus, means, response: form.ErrorCode }),
    /** https://www.twilio.com/docs/messaging/guides/webhook-request; with OptOutType, Twilio has answered. */
    texts: ({ form }) =>
      form.MessageStatus !== undefined
        ? []
        : textOf({ id: form.MessageSid, from: form.From, to: form.To, text: form.Body }).map((text) =>
            form.OptOutType ? { ...text, isAnswered: true } : text,
          ),
    answerText: (text) => ({
      type: 'text/xml; charset=utf-8',
      body: `<?xml version="1.0" encoding="UTF-8"?>${text === undefined ? '<Response/>' : `<Response><Message>${escapeUTF8(text)}</Message></Response>`}`,
    }),
  },
})
