import { bearer, emailProvider, mailSender, secondsUntilReset, secret, text, textAt } from '../provider.ts'
import { address, base64, some, someOf } from './mail.ts'

export const braze = emailProvider({
  id: 'braze',
  name: 'Braze',
  docs: 'https://www.braze.com/docs/api/endpoints/messaging/send_messages/post_send_messages',
  credentials: {
    apiKey: secret('REST API key'),
    apiURL: text('REST endpoint', 'Such as https://rest.iad-01.braze.com'),
    appID: text('App identifier'),
    ...mailSender,
  },
  naming: { casing: 'snake' },

  async send(message, { apiKey, apiURL, appID }, { ask, deliver, error }) {
    const { to, cc, bcc, subject, html, replyTo, headers, attachments, payload } = message
    const base = apiURL.replace(/\/+$/, '')
    // Braze sends to its user ids, not to addresses, so look them up first. One at a time: this lookup has the strictest
    // rate limit.
    const found: Array<string | undefined> = []
    for (const email of [...to, ...cc]) {
      const json = { email_address: email, fields_to_export: ['external_id'] }
      const answer = await ask(`${base}/users/export/ids`, { headers: bearer(apiKey), json })
      found.push(textAt(answer.json, 'users.0.external_id'))
    }
    const ids = [...new Set(found.filter((id) => id !== undefined))]
    if (ids.length === 0) throw error('recipient_refused', { says: 'no Braze user has this address' })
    const answer = await deliver(`${base}/messages/send`, {
      headers: bearer(apiKey),
      json: {
        broadcast: false,
        external_user_ids: ids,
        messages: {
          email: {
            app_id: appID,
            subject,
            from: address(message.from, message.senderName),
            reply_to: replyTo,
            bcc: bcc.join(',') || undefined,
            body: html,
            plaintext_body: message.text,
            extras: someOf(payload),
            headers,
            should_inline_css: true,
            attachments: some(
              attachments.map(({ name, mime, file }) => ({
                file_name: name,
                url: `data:${mime};base64,${base64(file)}`,
              })),
            ),
          },
        },
      },
    })
    return { providerMessageId: textAt(answer.json, 'dispatch_id') }
  },

  problem({ body, isSuccess, headers, now }) {
    if (isSuccess) return undefined
    const says = textAt(body, 'message') ?? textAt(body, 'errors.0')
    return { says, afterSeconds: secondsUntilReset({ headers, now }) }
  },
})
