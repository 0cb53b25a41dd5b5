import { DeliveryError } from '../delivery-error.ts'
import { type EventStatus, eventOf, hmac, isSame } from '../events.ts'
import { bearer, emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { address, base64, some, someOf } from './mail.ts'

const base = 'https://api.resend.com'
/** An older signature is a replay. */
const oldestSeconds = 5 * 60

const means: Record<string, EventStatus> = {
  'email.sent': 'sent',
  'email.failed': 'rejected',
  'email.delivered': 'delivered',
  'email.delivery_delayed': 'delayed',
  'email.bounced': 'bounced',
  'email.opened': 'opened',
  'email.clicked': 'clicked',
  'email.complained': 'complaint',
}

/** https://resend.com/docs/api-reference/errors */
const codes = {
  daily_quota_exceeded: 'quota_exhausted',
  monthly_quota_exceeded: 'quota_exhausted',
  concurrent_idempotent_requests: 'unavailable',
  // Despite its status this is not about the key: the sender's domain, or a test account's allowed recipients.
  validation_error: 'rejected',
} as const

export const resend = emailProvider({
  id: 'resend',
  name: 'Resend',
  docs: 'https://resend.com/docs/api-reference/emails/send-email',
  credentials: { apiKey: secret('API key'), ...mailSender },
  // Resend's SDK uses the same names in camel case.
  naming: { casing: 'snake' },
  idempotent: true,

  async send(message, { apiKey }, { deliver }) {
    const { id, to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const answer = await deliver(`${base}/emails`, {
      headers: { ...bearer(apiKey), 'idempotency-key': id },
      json: {
        from: address(message.from, message.senderName),
        to,
        cc: some(cc),
        bcc: some(bcc),
        reply_to: replyTo,
        subject,
        html,
        text,
        headers: someOf(headers),
        attachments: some(
          attachments.map(({ name, file, mime, cid }) => ({
            filename: name,
            content: base64(file),
            content_type: mime,
            content_id: cid,
          })),
        ),
      },
    })
    return { providerMessageId: textAt(answer.json, 'id') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const [name = '', words = ''] = [textAt(body, 'name'), textAt(body, 'message')]
    return { says: `${name}: ${words}`, code: codes[name as keyof typeof codes] }
  },

  async check({ apiKey }, { ask }) {
    try {
      await ask(`${base}/domains`, { headers: bearer(apiKey) })
    } catch (error) {
      // A send-only key cannot read; the error with this name shows that the key itself is valid.
      if (!(error instanceof DeliveryError && error.says?.startsWith('restricted_api_key:'))) throw error
    }
  },

  events: {
    /** https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests */
    verify({ headers, rawBody }, { signingKey }, { clock }) {
      if (signingKey === undefined) return true
      const { 'svix-id': id = '', 'svix-timestamp': timestamp = '', 'svix-signature': signatures = '' } = headers
      if (!(Math.abs(clock.now().getTime() / 1000 - Number(timestamp)) <= oldestSeconds)) return false
      const key = Buffer.from(signingKey.replace(/^whsec_/, ''), 'base64')
      const expected = hmac('sha256', key, Buffer.concat([Buffer.from(`${id}.${timestamp}.`), rawBody]))
      return signatures
        .split(' ')
        .some((signature) => signature.startsWith('v1,') && isSame(Buffer.from(signature.slice(3), 'base64'), expected))
    },
    read: ({ body, headers }) =>
      eventOf(body, {
        id: textAt(body, 'data.email_id'),
        event: textAt(body, 'type'),
        means,
        at: textAt(body, 'created_at'),
        externalId: headers['svix-id'],
        response: textAt(body, 'data.bounce.message') ?? textAt(body, 'data.failed.reason'),
        // It lists whom the mail was addressed to, not whom the event is about.
        permanent: textAt(body, 'data.bounce.type') === 'Permanent',
      }),
  },
})
