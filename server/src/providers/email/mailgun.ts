import { type AutoConfigured, type EventStatus, eventOf, hmac, isRecent, isSame } from '../events.ts'
import {
  at,
  basic,
  emailProvider,
  FilePart,
  mailSender,
  optional,
  secret,
  type Tools,
  text,
  textAt,
} from '../provider.ts'
import { address, some } from './mail.ts'

const baseOf = (baseUrl: string | undefined) => (baseUrl ?? 'https://api.mailgun.net').replace(/\/+$/, '')

const means: Record<string, EventStatus> = {
  delivered: 'delivered',
  opened: 'opened',
  clicked: 'clicked',
  unsubscribed: 'unsubscribed',
  complained: 'complaint',
  permanent_fail: 'rejected',
  failed: 'rejected',
}

export const mailgun = emailProvider({
  id: 'mailgun',
  name: 'Mailgun',
  docs: 'https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages',
  credentials: {
    apiKey: secret('API key'),
    user: text('User', 'Usually “api”'),
    domain: text('Domain'),
    ...mailSender,
    baseUrl: optional(text('Base URL', 'https://api.eu.mailgun.net for domains in the EU')),
  },
  naming: {
    casing: 'camel',
    names: {
      ampHtml: 'amp-html',
      tVersion: 't:version',
      tText: 't:text',
      oTag: 'o:tag',
      oDkim: 'o:dkim',
      oDeliverytime: 'o:deliverytime',
      oDeliverytimeOptimizePeriod: 'o:deliverytime-optimize-period',
      oTimeZoneLocalize: 'o:time-zone-localize',
      oTestmode: 'o:testmode',
      oTracking: 'o:tracking',
      oTrackingClicks: 'o:tracking-clicks',
      oTrackingOpens: 'o:tracking-opens',
      oRequireTls: 'o:require-tls',
      oSkipVerification: 'o:skip-verification',
      recipientVariables: 'recipient-variables',
    },
  },

  async send(message, { apiKey, user, domain, baseUrl }, { deliver }) {
    const { to, cc, bcc, subject, html, replyTo, headers, attachments } = message
    const answer = await deliver(`${baseOf(baseUrl)}/v3/${encodeURIComponent(domain)}/messages`, {
      headers: basic(user, apiKey),
      multipart: {
        from: address(message.from, message.senderName),
        to,
        cc: cc.join(',') || undefined,
        bcc: bcc.join(',') || undefined,
        subject,
        html,
        text: message.text,
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`h:${name}`, value])),
        'h:Reply-To': replyTo,
        attachment: some(
          attachments.filter(({ cid }) => !cid).map(({ file, name, mime }) => new FilePart(file, name, mime)),
        ),
        // Here the HTML refers to an inline file by its name.
        inline: some(attachments.flatMap(({ file, cid, mime }) => (cid ? [new FilePart(file, cid, mime)] : []))),
      },
    })
    return { providerMessageId: textAt(answer.json, 'id') }
  },

  problem({ body, text, isSuccess }) {
    if (isSuccess) return undefined
    const says = textAt(body, 'message') ?? (body === undefined && !text.startsWith('<') ? text : undefined)
    if (/'to' parameter is not a valid address|to parameter is missing/i.test(says ?? ''))
      return { says, code: 'recipient_refused', isDead: /not a valid address/i.test(says ?? '') }
    return { says }
  },

  check: ({ apiKey, user, domain, baseUrl }, { ask }) =>
    ask(`${baseOf(baseUrl)}/v3/domains/${encodeURIComponent(domain)}`, { headers: basic(user, apiKey) }),

  events: {
    /** https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks */
    verify({ body }, { signingKey }, { clock }) {
      if (signingKey === undefined) return true
      if (!isRecent(textAt(body, 'signature.timestamp'), clock.now())) return false
      const signed = `${textAt(body, 'signature.timestamp') ?? ''}${textAt(body, 'signature.token') ?? ''}`
      const given = Buffer.from(textAt(body, 'signature.signature') ?? '', 'hex')
      return isSame(given, hmac('sha256', signingKey, signed))
    },
    read({ body }) {
      const event = at(body, 'event-data')
      const id = textAt(at(event, 'message'), 'headers.message-id')
      const seconds = at(event, 'timestamp')
      // Mailgun will retry.
      const isTemporary = textAt(event, 'severity') === 'temporary'
      return eventOf(body, {
        id: id && (id.startsWith('<') ? id : `<${id}>`),
        event: textAt(event, 'event'),
        means: isTemporary ? { failed: 'delayed' } : means,
        at: typeof seconds === 'number' ? seconds * 1000 : undefined,
        externalId: textAt(event, 'id'),
        attempts: Number(textAt(event, 'delivery-status.attempt-no')) || undefined,
        response: textAt(event, 'delivery-status.message') ?? textAt(event, 'delivery-status.description'),
        recipient: textAt(event, 'recipient'),
        permanent:
          textAt(event, 'severity') === 'permanent' &&
          ['bounce', 'suppress-bounce'].includes(textAt(event, 'reason') ?? ''),
      })
    },
    configure: (webhookUrl, credentials, tools) => configure(webhookUrl, credentials, tools),
  },
})

interface Given {
  apiKey: string
  user: string
  domain: string
  baseUrl: string | undefined
}

async function configure(url: string, given: Given, { ask }: Tools): Promise<AutoConfigured> {
  const { apiKey, user, domain, baseUrl } = given
  const webhooks = `${baseOf(baseUrl)}/v3/domains/${encodeURIComponent(domain)}/webhooks`
  const headers = basic(user, apiKey)
  const existing = at((await ask(webhooks, { headers })).json, 'webhooks')
  for (const event of ['delivered', 'opened', 'clicked', 'permanent_fail', 'complained', 'unsubscribed']) {
    if (at(existing, event) == null) await ask(webhooks, { headers, form: { id: event, url } })
    else await ask(`${webhooks}/${event}`, { method: 'PUT', headers, form: { url } })
  }
  // A key limited to one domain cannot read the signing key; events then arrive unverified. Only the account user `api` can.
  const signingKey = await ask(`${baseOf(baseUrl)}/v5/accounts/http_signing_key`, {
    headers: basic('api', apiKey),
  }).then(
    ({ json }) => textAt(json, 'http_signing_key') ?? '',
    () => '',
  )
  return {
    success: true,
    message: signingKey
      ? 'Mailgun webhooks configured successfully with signature verification enabled'
      : 'Mailgun webhooks configured successfully. Please add the HTTP webhook signing key of your account by hand.',
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: signingKey },
  }
}
