import { at, bearer, emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { base64, emails, some, someOf } from './mail.ts'

export const mailtrap = emailProvider({
  id: 'mailtrap',
  name: 'Mailtrap',
  docs: 'https://docs.mailtrap.io/developers/email-sending',
  credentials: { apiKey: secret('API token'), ...mailSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey }, { deliver }) {
    const { from, senderName, to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const answer = await deliver('https://send.api.mailtrap.io/api/send', {
      headers: bearer(apiKey),
      json: {
        from: { email: from, name: senderName },
        to: emails(to),
        cc: some(emails(cc)),
        bcc: some(emails(bcc)),
        reply_to: replyTo && { email: replyTo },
        subject,
        text,
        html,
        headers: someOf(headers),
        attachments: some(
          attachments.map(({ file, name, mime, cid, disposition }) => ({
            filename: name,
            content: base64(file),
            type: mime,
            disposition: disposition ?? (cid ? 'inline' : 'attachment'),
            content_id: cid,
          })),
        ),
      },
    })
    return { providerMessageId: textAt(answer.json, 'message_ids.0') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess && at(body, 'success') !== false) return undefined
    const says = textAt(body, 'errors.0') ?? textAt(body, 'error')
    return { says, code: /('to'|recipient).{0,200}invalid/i.test(says ?? '') ? 'recipient_refused' : undefined }
  },
})
