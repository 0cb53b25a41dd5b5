import { at, emailProvider, FilePart, mailSender, secret, text, textAt } from '../provider.ts'
import { address, some } from './mail.ts'

/** Infobip shows customers only the host. */
const baseOf = (baseUrl: string) => (/^https?:\/\//i.test(baseUrl) ? baseUrl : `https://${baseUrl}`).replace(/\/+$/, '')

export const infobipEmail = emailProvider({
  id: 'infobip-email',
  name: 'Infobip',
  docs: 'https://www.infobip.com/docs/api/channels/email/send-fully-featured-email',
  credentials: { apiKey: secret('API key'), baseUrl: text('Base URL'), ...mailSender },

  async send(message, { apiKey, baseUrl }, { deliver }) {
    const { to, cc, bcc, subject, html, replyTo, headers, attachments } = message
    const answer = await deliver(`${baseOf(baseUrl)}/email/3/send`, {
      headers: { authorization: `App ${apiKey}` },
      multipart: {
        from: address(message.from, message.senderName),
        to,
        cc: some(cc),
        bcc: some(bcc),
        replyTo,
        subject,
        text: message.text,
        html,
        headers: Object.keys(headers).length > 0 ? headers : undefined,
        attachment: some(
          attachments.filter(({ cid }) => !cid).map(({ file, name, mime }) => new FilePart(file, name, mime)),
        ),
        // Here the HTML refers to an inline file by its name.
        inlineImage: some(attachments.flatMap(({ file, cid, mime }) => (cid ? [new FilePart(file, cid, mime)] : []))),
      },
    })
    return { providerMessageId: textAt(messagesIn(answer.json).at(-1), 'messageId') }
  },

  problem({ body, isSuccess }) {
    if (!isSuccess) return { says: textAt(body, 'requestError.serviceException.text') }
    const messages = messagesIn(body)
    const isRefused = messages.length > 0 && messages.every((each) => textAt(each, 'status.groupName') === 'REJECTED')
    if (!isRefused) return undefined
    return { says: textAt(messages[0], 'status.description') ?? textAt(messages[0], 'status.name') }
  },
})

function messagesIn(body: unknown): unknown[] {
  const messages = at(body, 'messages')
  return Array.isArray(messages) ? (messages as unknown[]) : []
}
