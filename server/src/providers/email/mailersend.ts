import { at, bearer, emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { base64, emails, some } from './mail.ts'

const base = 'https://api.mailersend.com/v1'

export const mailersend = emailProvider({
  id: 'mailersend',
  name: 'MailerSend',
  docs: 'https://developers.mailersend.com/api/v1/email.html#send-an-email',
  credentials: { apiKey: secret('API token'), ...mailSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey }, { deliver }) {
    const { from, senderName, to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const { templateId, personalization } = message.customData
    const answer = await deliver(`${base}/email`, {
      headers: bearer(apiKey),
      json: {
        from: { email: from, name: senderName },
        to: emails(to),
        cc: some(emails(cc)),
        bcc: some(emails(bcc)),
        reply_to: replyTo && { email: replyTo },
        subject,
        html,
        text,
        headers: some(Object.entries(headers).map(([name, value]) => ({ name, value }))),
        attachments: some(
          attachments.map(({ file, name, cid, disposition }) => ({
            content: base64(file),
            filename: name,
            disposition: disposition ?? (cid ? 'inline' : 'attachment'),
            id: cid,
          })),
        ),
        personalization,
        template_id: templateId,
      },
    })
    return { providerMessageId: answer.headers['x-message-id'] }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const fields = Object.keys((at(body, 'errors') ?? {}) as object)
    const isAboutRecipient = fields.some((field) => /^(to|cc|bcc)\.\d+\.email$/.test(field))
    return {
      ...{ says: textAt(body, 'message'), code: isAboutRecipient ? 'recipient_refused' : undefined },
      isDead: isAboutRecipient,
    }
  },

  check: ({ apiKey }, { ask }) => ask(`${base}/api-quota`, { headers: bearer(apiKey) }),
})
