import { type EventStatus, eventOf } from '../events.ts'
import { secret, smsProvider, smsSender, textAt } from '../provider.ts'

const means: Record<string, EventStatus> = {
  accepted: 'queued',
  queued: 'queued',
  sending: 'sending',
  sent: 'sent',
  failed: 'failed',
  error: 'failed',
  delivered: 'delivered',
  undelivered: 'undelivered',
}

export const imedia = smsProvider({
  id: 'imedia',
  name: 'iMedia',
  docs: 'https://mobilebranding.vn/',
  credentials: { token: secret('Token'), ...smsSender },

  async send(message, { token, ...credentials }, { deliver }) {
    const answer = await deliver('https://api.mobilebranding.vn/api/SMSBrandname/SendSMS', {
      headers: { token },
      json: {
        to: message.to,
        from: message.from ?? credentials.from,
        message: message.content,
        scheduled: '',
        requestId: message.id,
        useUnicode: 1,
        type: 1,
      },
    })
    return { providerMessageId: textAt(answer.json, 'referentId') }
  },

  problem({ body, isSuccess }) {
    const code = textAt(body, 'errorCode')
    if (isSuccess && (body === undefined || code === '000')) return undefined
    const says = textAt(body, 'errorMessage')
    return { says: isSuccess ? `iMedia API error: ${code ?? ''} - ${says ?? ''}` : says }
  },

  events: {
    read({ body }) {
      const word = (textAt(body, 'status') ?? textAt(body, 'MessageStatus'))?.toLowerCase() ?? ''
      return eventOf(body, {
        id: textAt(body, 'referentId') ?? textAt(body, 'MessageSid'),
        // It sends undocumented statuses too; all of them come after sending.
        event: Object.hasOwn(means, word) ? word : 'sent',
        means,
        response: textAt(body, 'errorMessage'),
      })
    },
  },
})
