import { type EventStatus, eventOf, eventsIn } from '../events.ts'
import { at, emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { address, base64, some } from './mail.ts'

const base = 'https://api.postmarkapp.com'
const token = (apiKey: string) => ({ 'x-postmark-server-token': apiKey })

const means: Record<string, EventStatus> = {
  Open: 'opened',
  Click: 'clicked',
  Delivery: 'delivered',
  Bounce: 'bounced',
  SpamComplaint: 'spam',
  Unsubscribe: 'unsubscribed',
}

/** Kinds of bounces that are something else. https://postmarkapp.com/developer/api/bounce-api#bounce-types */
const bounceMeans: Record<string, keyof typeof means | undefined> = {
  SpamComplaint: 'SpamComplaint',
  Unsubscribe: 'Unsubscribe',
  Subscribe: undefined,
  AutoResponder: undefined,
  AddressChange: undefined,
  ChallengeVerification: undefined,
}

/** Why Postmark stops writing to an address; somebody who subscribes again is reported by the same name. */
const stopMeans: Record<string, keyof typeof means> = {
  HardBounce: 'Bounce',
  SpamComplaint: 'SpamComplaint',
  ManualSuppression: 'Unsubscribe',
}

function wordOf(event: unknown): keyof typeof means | undefined {
  const record = textAt(event, 'RecordType')
  if (record === 'SubscriptionChange')
    return at(event, 'SuppressSending') === false
      ? undefined
      : (stopMeans[textAt(event, 'SuppressionReason') ?? ''] ?? 'Unsubscribe')
  const kind = textAt(event, 'Type') ?? ''
  return record === 'Bounce' && Object.hasOwn(bounceMeans, kind) ? bounceMeans[kind] : record
}

const timeNames = ['BouncedAt', 'DeliveredAt', 'ReceivedAt', 'ChangedAt']

/** https://postmarkapp.com/developer/api/overview#error-codes */
const codes = {
  10: 'unauthorized',
  100: 'unavailable',
  405: 'quota_exhausted',
  406: 'recipient_refused',
  429: 'rate_limited',
} as const

export const postmark = emailProvider({
  id: 'postmark',
  name: 'Postmark',
  docs: 'https://postmarkapp.com/developer/api/email-api',
  credentials: { apiKey: secret('Server API token'), ...mailSender },
  naming: { casing: 'pascal' },

  async send(message, { apiKey }, { deliver }) {
    const { to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const answer = await deliver(`${base}/email`, {
      headers: token(apiKey),
      json: {
        From: address(message.from, message.senderName),
        To: to.join(','),
        Cc: cc.join(',') || undefined,
        Bcc: bcc.join(',') || undefined,
        Subject: subject,
        HtmlBody: html,
        TextBody: text,
        ReplyTo: replyTo,
        Headers: some(Object.entries(headers).map(([Name, Value]) => ({ Name, Value }))),
        Attachments: some(
          attachments.map(({ name, file, mime, cid }) => ({
            Name: name,
            Content: base64(file),
            ContentType: mime,
            ContentID: cid && `cid:${cid}`,
          })),
        ),
      },
    })
    return { providerMessageId: textAt(answer.json, 'MessageID'), date: textAt(answer.json, 'SubmittedAt') }
  },

  problem({ body, isSuccess }) {
    const code = at(body, 'ErrorCode')
    if (isSuccess && (code === 0 || code === undefined)) return undefined
    return { says: textAt(body, 'Message'), code: codes[code as keyof typeof codes] }
  },

  check: ({ apiKey }, { ask }) => ask(`${base}/server`, { headers: token(apiKey) }),

  events: {
    read: ({ body }) =>
      eventsIn(body).flatMap((event) =>
        eventOf(event, {
          id: textAt(event, 'MessageID'),
          event: wordOf(event),
          means,
          at: timeNames.map((name) => textAt(event, name)).find((time) => time !== undefined),
          externalId: textAt(event, 'ID'),
          response: textAt(event, 'Details') ?? textAt(event, 'Description'),
          recipient: textAt(event, 'Email') ?? textAt(event, 'Recipient'),
          permanent: ['HardBounce', 'BadEmailAddress'].includes(
            textAt(event, 'Type') ?? textAt(event, 'SuppressionReason') ?? '',
          ),
        }),
      ),
  },
})
