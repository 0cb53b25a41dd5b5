import { isSignedBy, ownLimit, ownReports } from '../own-reports.ts'
import { emailProvider, mailSender, secret, textAt } from '../provider.ts'
import { signed } from '../webhook-signature.ts'

export const emailWebhook = emailProvider({
  id: 'email-webhook',
  name: 'Email Webhook',
  docs: '/docs#tag/integrations',
  credentials: { webhookUrl: secret('Webhook URL'), secretKey: secret('Secret key'), ...mailSender },

  async send(message, { webhookUrl, secretKey }, { deliver, brand }) {
    const { id, to, cc, bcc, from, senderName, replyTo, subject, html, text, headers, customData } = message
    const { details, payload, ipPoolName, attachments } = message
    await deliver(webhookUrl, {
      json: {
        to,
        subject,
        html,
        from,
        text,
        // A Buffer's JSON form, which receivers of this webhook expect.
        attachments: attachments.map(({ file, ...rest }) => ({ ...rest, file: Buffer.from(file).toJSON() })),
        id,
        replyTo,
        cc,
        bcc,
        headers,
        senderName,
        ipPoolName,
        customData,
        payloadDetails: payload,
        notificationDetails: {
          transactionId: details.transactionId,
          workflowIdentifier: details.workflowId,
          subscriberId: details.subscriberId,
        },
      },
      sign: signed(brand, secretKey),
    })
    return { providerMessageId: id }
  },

  problem({ body, isSuccess }) {
    return isSuccess ? undefined : { says: textAt(body, 'message') ?? textAt(body, 'error') }
  },

  events: {
    checkedBy: ['secretKey'],
    verify: (request, { signingKey, credentials: { secretKey } }, { brand }) =>
      isSignedBy(signingKey ?? secretKey, brand, request),
    read: ownReports,
    limit: ownLimit,
  },
})
