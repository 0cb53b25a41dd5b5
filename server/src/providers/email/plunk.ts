import { at, bearer, emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { base64, some, someOf } from './mail.ts'

export const plunk = emailProvider({
  id: 'plunk',
  name: 'Plunk',
  docs: 'https://docs.useplunk.com/guides/send-a-transactional-email',
  credentials: { apiKey: secret('Secret key'), ...mailSender },

  async send(message, { apiKey }, { deliver }) {
    const { from, senderName, to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const { json } = await deliver('https://api.useplunk.com/v1/send', {
      headers: bearer(apiKey),
      json: {
        from,
        name: senderName,
        // Plunk has no cc or bcc, and sends each recipient a separate mail, so recipients do not see each other.
        to: [...to, ...cc, ...bcc],
        subject,
        body: html || text,
        reply: replyTo,
        headers: someOf(headers),
        attachments: some(
          attachments.map(({ name, file, mime }) => ({ filename: name, content: base64(file), contentType: mime })),
        ),
      },
    })
    // The newer API wraps its answer once more.
    const sent = at(json, 'data') ?? json
    const [email, contact] = [textAt(sent, 'emails.0.email'), textAt(sent, 'emails.0.contact.id')]
    return { providerMessageId: email ?? contact, date: textAt(sent, 'timestamp') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess && at(body, 'success') !== false) return undefined
    return { says: textAt(body, 'message') ?? textAt(body, 'error.message') ?? textAt(body, 'error') }
  },
})
