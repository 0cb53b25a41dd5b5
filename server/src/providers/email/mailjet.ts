import { type EventStatus, eventOf, eventsIn } from '../events.ts'
import { at, basic, emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { base64, some, someOf } from './mail.ts'

const base = 'https://api.mailjet.com'

const means: Record<string, EventStatus> = {
  open: 'opened',
  click: 'clicked',
  sent: 'sent',
  bounce: 'bounced',
  blocked: 'blocked',
  spam: 'spam',
  unsub: 'unsubscribed',
}

export const mailjet = emailProvider({
  id: 'mailjet',
  name: 'Mailjet',
  docs: 'https://dev.mailjet.com/email/guides/send-api-v31/',
  credentials: { apiKey: secret('API key'), secretKey: secret('Secret key'), ...mailSender },
  naming: {
    casing: 'pascal',
    names: {
      ContentId: 'ContentID',
      HtmlPart: 'HTMLPart',
      TemplateId: 'TemplateID',
      CustomId: 'CustomID',
      UrlTags: 'URLTags',
    },
  },

  async send(message, { apiKey, secretKey }, { deliver }) {
    const { from, senderName, to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const recipients = (list: string[]) => some(list.map((Email) => ({ Email })))
    const files = attachments.map(({ file, name, mime, cid }) => ({
      ContentType: mime,
      Filename: name,
      Base64Content: base64(file),
      ContentID: cid,
    }))
    const answer = await deliver(`${base}/v3.1/send`, {
      headers: basic(apiKey, secretKey),
      json: {
        From: { Email: from, Name: senderName },
        To: recipients(to),
        Cc: recipients(cc),
        Bcc: recipients(bcc),
        Subject: subject,
        TextPart: text,
        HTMLPart: html,
        ReplyTo: replyTo && { Email: replyTo },
        Headers: someOf(headers),
        Attachments: some(files.filter(({ ContentID }) => !ContentID)),
        InlinedAttachments: some(files.filter(({ ContentID }) => ContentID)),
      },
      wrap: (body) => ({ Messages: [body] }),
    })
    // Throws if the answer is not JSON.
    const id = textAt(answer.json && parse(answer.text), 'Messages.0.To.0.MessageID')
    return { providerMessageId: id }
  },

  problem({ body, isSuccess }) {
    if (isSuccess && textAt(body, 'Messages.0.Status') !== 'error') return undefined
    const error = at(body, 'Messages.0.Errors.0')
    const isAboutRecipient =
      textAt(error, 'ErrorCode') === 'mj-0013' && /^(To|Cc|Bcc)\b/.test(textAt(error, 'ErrorRelatedTo.0') ?? '')
    return {
      says: textAt(error, 'ErrorMessage') ?? textAt(body, 'ErrorMessage'),
      code: isAboutRecipient ? 'recipient_refused' : undefined,
      isDead: isAboutRecipient,
    }
  },

  check: ({ apiKey, secretKey }, { ask }) =>
    ask(`${base}/v3/REST/sender`, { headers: basic(apiKey, secretKey), query: { Limit: 1 } }),

  events: {
    read: ({ rawBody }) =>
      eventsIn(parse(rawBody.toString('utf8'))).flatMap((event) =>
        eventOf(event, {
          id: textAt(event, 'MessageID'),
          event: textAt(event, 'event'),
          means,
          at: Number(textAt(event, 'time')) * 1000 || undefined,
          response: textAt(event, 'comment') || textAt(event, 'error') || textAt(event, 'smtp_reply'),
          recipient: textAt(event, 'email'),
          permanent: textAt(event, 'event') === 'bounce' && at(event, 'hard_bounce') === true,
        }),
      ),
  },
})

/** Ids exceed JavaScript's safe integers, so read them as text. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json.replace(/("MessageID"\s*:\s*)(\d+)/g, '$1"$2"')) as unknown
  } catch {
    return undefined
  }
}
