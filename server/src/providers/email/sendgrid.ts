import { createPublicKey, verify } from 'node:crypto'
import { type AutoConfigured, type EventStatus, eventOf, eventsIn, isRecent } from '../events.ts'
import {
  at,
  bearer,
  choice,
  emailProvider,
  mailSender,
  optional,
  secondsUntilReset,
  secret,
  type Tools,
  text,
  textAt,
} from '../provider.ts'
import { base64, emails, some, someOf } from './mail.ts'

const baseOf = (region: string | undefined) =>
  region === 'eu' ? 'https://api.eu.sendgrid.com' : 'https://api.sendgrid.com'

const means: Record<string, EventStatus> = {
  open: 'opened',
  click: 'clicked',
  bounce: 'bounced',
  blocked: 'blocked',
  dropped: 'dropped',
  delivered: 'delivered',
  spamreport: 'spam',
  unsubscribe: 'unsubscribed',
  group_unsubscribe: 'unsubscribed',
}

export const sendgrid = emailProvider({
  id: 'sendgrid',
  name: 'SendGrid',
  docs: 'https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send',
  credentials: {
    apiKey: secret('API key'),
    ...mailSender,
    region: optional(choice('Region', ['global', 'eu'])),
    ipPoolName: optional(text('IP pool')),
  },
  // SendGrid's SDK uses the same names in camel case.
  naming: { casing: 'snake' },

  async send(message, { apiKey, region, ipPoolName }, { deliver, brand }) {
    const { id, to, cc, bcc, from, senderName, replyTo, subject, headers, attachments, details } = message
    const { templateId, dynamicTemplateData, ...customData } = message.customData
    await deliver(`${baseOf(region)}/v3/mail/send`, {
      headers: bearer(apiKey),
      json: {
        personalizations: [
          {
            to: emails(to),
            // SendGrid rejects duplicate recipients.
            cc: some(emails(without(cc, to))),
            bcc: some(emails(without(bcc, [...to, ...cc]))),
            dynamic_template_data: dynamicTemplateData,
          },
        ],
        from: { email: from, name: senderName },
        reply_to: replyTo && { email: replyTo },
        subject,
        // SendGrid requires this order.
        content: [
          ...(message.text ? [{ type: 'text/plain', value: message.text }] : []),
          { type: 'text/html', value: message.html },
        ],
        attachments: some(
          attachments.map(({ file, name, mime, cid, disposition }) => ({
            content: base64(file),
            filename: name,
            type: mime,
            disposition: disposition ?? (cid ? 'inline' : 'attachment'),
            content_id: cid,
          })),
        ),
        headers: someOf(headers),
        categories: [details.workflowId],
        // SendGrid repeats them in events, which gives us our id.
        custom_args: inTexts({
          id,
          [`${brand}TransactionId`]: details.transactionId,
          [`${brand}MessageId`]: id,
          [`${brand}WorkflowIdentifier`]: details.workflowId,
          [`${brand}SubscriberId`]: details.subscriberId,
          ...customData,
        }),
        template_id: templateId,
        ip_pool_name: message.ipPoolName ?? ipPoolName,
      },
    })
    return { providerMessageId: id }
  },

  problem({ body, isSuccess, headers, now }) {
    if (isSuccess) return undefined
    const says = textAt(body, 'errors.0.message')
    // Both come with the status of a bad key.
    if (/maximum credits exceeded/i.test(says ?? '')) return { says, code: 'quota_exhausted' }
    if (/verified sender identity/i.test(says ?? '')) return { says, code: 'rejected' }
    if (/^personalizations\.\d+\.to\./.test(textAt(body, 'errors.0.field') ?? ''))
      return { says, code: 'recipient_refused', isDead: true }
    return { says, afterSeconds: secondsUntilReset({ headers, now }) }
  },

  check: ({ apiKey, region }, { ask }) => ask(`${baseOf(region)}/v3/scopes`, { headers: bearer(apiKey) }),

  events: {
    /** https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features */
    verify({ headers, rawBody }, { signingKey }, { clock }) {
      const signature = headers['x-twilio-email-event-webhook-signature']
      const timestamp = headers['x-twilio-email-event-webhook-timestamp']
      if (!signature || !timestamp) return signingKey === undefined
      return (
        signingKey !== undefined &&
        isRecent(timestamp, clock.now()) &&
        isSigned(Buffer.from(timestamp + rawBody.toString('latin1'), 'latin1'), signature, signingKey)
      )
    },
    read: ({ body }) =>
      eventsIn(body).flatMap((event) =>
        eventOf(event, {
          id: textAt(event, 'id'),
          event: textAt(event, 'event'),
          means,
          at: secondsAt(event, 'timestamp'),
          externalId: textAt(event, 'sg_event_id'),
          attempts: Number(textAt(event, 'attempt')) || undefined,
          response: textAt(event, 'response') ?? textAt(event, 'reason'),
          recipient: textAt(event, 'email'),
          // The other type, `blocked`, passes.
          permanent: textAt(event, 'event') === 'bounce' && textAt(event, 'type') === 'bounce',
        }),
      ),
    configure: (webhookUrl, { apiKey, region }, tools) => configure(webhookUrl, baseOf(region), bearer(apiKey), tools),
  },
})

function without(list: string[], others: string[]): string[] {
  const named = new Set(others.map((email) => email.toLowerCase()))
  return list.filter((email) => !named.has(email.toLowerCase()))
}

/** SendGrid accepts nothing else here. */
const inTexts = (values: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
  )

function secondsAt(event: unknown, path: string): number | undefined {
  const seconds = at(event, path)
  return typeof seconds === 'number' ? seconds * 1000 : undefined
}

function isSigned(content: Buffer, signature: string, publicKey: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
    return verify('sha256', content, key, Buffer.from(signature, 'base64'))
  } catch {
    // The text is not a key.
    return false
  }
}

async function configure(
  url: string,
  base: string,
  headers: Record<string, string>,
  { ask }: Tools,
): Promise<AutoConfigured> {
  const settings = `${base}/v3/user/webhooks/event/settings`
  const { json } = await ask(`${settings}/all`, { headers })
  // Configuring twice must not report every event twice.
  const existing = eventsIn(at(json, 'webhooks')).find((webhook) => textAt(webhook, 'url') === url)
  const reported = { delivered: true, open: true, click: true, bounce: true, dropped: true }
  const events = { ...reported, spam_report: true, unsubscribe: true, group_unsubscribe: true }
  const webhook = existing ?? (await ask(settings, { headers, json: { enabled: true, url, ...events } })).json
  const id = encodeURIComponent(textAt(webhook, 'id') ?? '')
  const signed = await ask(`${settings}/signed/${id}`, { method: 'PATCH', headers, json: { enabled: true } })
  return {
    success: true,
    message: 'SendGrid webhook configured successfully with signature verification enabled',
    configurations: {
      inboundWebhookEnabled: true,
      inboundWebhookSigningKey: textAt(signed.json, 'public_key') ?? '',
    },
  }
}
