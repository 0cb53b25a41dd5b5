import { withToken } from '../access-token.ts'
import { type EventStatus, eventOf, isSame } from '../events.ts'
import { at, basic, bearer, flag, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

const means: Record<string, EventStatus> = {
  Received: 'accepted',
  Queued: 'queued',
  Sent: 'sent',
  SendingFailed: 'failed',
  DeliveryFailed: 'failed',
  Delivered: 'delivered',
}

export const ringCentral = smsProvider({
  id: 'ring-central',
  name: 'RingCentral',
  docs: 'https://developers.ringcentral.com/api-reference/SMS/createSMSMessage',
  credentials: {
    clientId: text('Client ID'),
    secretKey: secret('Client secret'),
    token: secret('JWT'),
    secure: flag('Sandbox', 'Send through the sandbox of the vendor'),
    ...smsSender,
  },

  async send(message, { clientId, secretKey, token, secure, ...credentials }, tools) {
    const server = secure ? 'https://platform.devtest.ringcentral.com' : 'https://platform.ringcentral.com'
    const signIn = async () => {
      const answer = await tools.ask(`${server}/restapi/oauth/token`, {
        headers: basic(clientId, secretKey),
        form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: token },
      })
      const value = textAt(answer.json, 'access_token')
      if (value === undefined) throw tools.error('unreadable_answer', { says: 'RingCentral returned no access token' })
      return { value, seconds: Number(textAt(answer.json, 'expires_in') ?? 0) }
    }
    const answer = await withToken(tools, 'access', signIn, (access) =>
      tools.deliver(`${server}/restapi/v1.0/account/~/extension/~/sms`, {
        headers: bearer(access),
        json: {
          from: { phoneNumber: message.from ?? credentials.from },
          to: [{ phoneNumber: message.to }],
          text: message.content,
        },
      }),
    )
    return { providerMessageId: textAt(answer.json, 'id'), date: textAt(answer.json, 'creationTime') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    // A refused sign-in has status 400; RFC 6749, section 5.2.
    const isSigningIn = /^(invalid_grant|invalid_client|unauthorized_client)$/.test(textAt(body, 'error') ?? '')
    const isRecipient = /^to\b/.test(textAt(body, 'errors.0.parameterName') ?? textAt(body, 'parameterName') ?? '')
    return {
      says: textAt(body, 'error_description') ?? textAt(body, 'message'),
      code: isSigningIn ? 'unauthorized' : isRecipient ? 'recipient_refused' : undefined,
    }
  },

  events: {
    /** https://developers.ringcentral.com/guide/notifications/webhooks/creating-webhooks; a shared token. */
    verify({ headers }, { signingKey }) {
      if (signingKey === undefined) return true
      return isSame(Buffer.from(headers['verification-token'] ?? ''), Buffer.from(signingKey))
    },
    greet({ headers }) {
      const token = headers['validation-token']
      return token === undefined ? undefined : { 'validation-token': token }
    },
    read({ body }) {
      const event = at(body, 'body') ?? body
      const attempts = Number(textAt(event, 'smsSendingAttemptsCount'))
      return eventOf(body, {
        id: textAt(event, 'id'),
        event: textAt(event, 'messageStatus'),
        means,
        at: textAt(event, 'creationTime'),
        externalId: textAt(body, 'uuid'),
        attempts: attempts > 0 ? attempts : 1,
        response: textAt(event, 'deliveryErrorCode'),
      })
    },
  },
})
