import { at, choice, emailProvider, mailSender, optional, secret, textAt } from '../provider.ts'
import { base64, some, someOf } from './mail.ts'

/** Older integrations store `true`. */
const baseOf = (region: string | undefined) =>
  region === 'eu' || region === 'true' ? 'https://api.eu.sparkpost.com/api/v1' : 'https://api.sparkpost.com/api/v1'

export const sparkpost = emailProvider({
  id: 'sparkpost',
  name: 'SparkPost',
  docs: 'https://developers.sparkpost.com/api/transmissions/',
  credentials: { apiKey: secret('API key'), ...mailSender, region: optional(choice('Region', ['us', 'eu'])) },
  naming: { casing: 'snake' },

  async send(message, { apiKey, region }, { deliver }) {
    const { from, senderName, to, cc, bcc, subject, html, text, replyTo, headers, attachments } = message
    const shown = to.join(',')
    const copied = [...cc, ...bcc].map((email) => ({ address: { email, header_to: shown || undefined } }))
    const files = attachments.map(({ mime, name, file, cid }) => ({
      name: cid ?? name,
      type: mime,
      data: base64(file),
    }))
    const answer = await deliver(`${baseOf(region)}/transmissions`, {
      headers: { authorization: apiKey },
      json: {
        recipients: [
          ...to.map((email) => ({ address: { email, header_to: to.length > 1 ? shown : undefined } })),
          ...copied,
        ],
        content: {
          from: { email: from, name: senderName },
          subject,
          reply_to: replyTo,
          text,
          html,
          headers: someOf({ ...headers, ...(cc.length > 0 ? { CC: cc.join(',') } : {}) }),
          attachments: some(files.filter((_, index) => !attachments[index]?.cid)),
          inline_images: some(files.filter((_, index) => attachments[index]?.cid)),
        },
      },
    })
    return { providerMessageId: textAt(answer.json, 'results.id') }
  },

  problem({ body, isSuccess, status }) {
    if (isSuccess) {
      const isForNobody = at(body, 'results.total_accepted_recipients') === 0
      return isForNobody ? { code: 'recipient_refused', says: 'no recipient was accepted' } : undefined
    }
    const error = at(body, 'errors.0')
    const says = [textAt(error, 'message'), textAt(error, 'description')].filter((part) => part).join(': ')
    // SparkPost's own status: the hourly or daily limit is reached.
    return { says, code: status === 420 ? 'quota_exhausted' : undefined }
  },

  check: ({ apiKey, region }, { ask }) => ask(`${baseOf(region)}/account`, { headers: { authorization: apiKey } }),
})
