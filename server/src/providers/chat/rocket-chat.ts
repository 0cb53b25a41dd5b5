import { at, chatProvider, secret, text, textAt } from '../provider.ts'
import { webhookOf } from './webhook.ts'

/** Error codes in brackets at the end of its message. */
const codes = {
  'error-too-many-requests': 'rate_limited',
  'error-invalid-room': 'recipient_refused',
  'error-room-not-found': 'recipient_refused',
  'error-room-archived': 'recipient_refused',
  'error-message-size-exceeded': 'message_refused',
  'error-not-allowed': 'unauthorized',
} as const

export const rocketChat = chatProvider({
  id: 'rocket-chat',
  name: 'Rocket.Chat',
  docs: 'https://developer.rocket.chat/apidocs/send-message',
  credentials: { token: secret('Auth token'), user: text('User ID') },
  naming: { casing: 'snake' },

  async send(message, { token, user }, { deliver, error }) {
    const { url, channel } = webhookOf(message, 'Rocket.Chat', error)
    if (!channel) throw error('recipient_refused', { says: 'The room of the chat channel is missing' })
    const answer = await deliver(`${url.replace(/\/+$/, '')}/api/v1/chat.sendMessage`, {
      headers: { 'x-auth-token': token, 'x-user-id': user },
      json: { message: { rid: channel, msg: message.content } },
    })
    return { providerMessageId: textAt(answer.json, 'message._id'), date: textAt(answer.json, 'message.ts') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess && at(body, 'success') !== false) return undefined
    const says = textAt(body, 'error') ?? textAt(body, 'message')
    const word = textAt(body, 'errorType') ?? /\[([\w-]+)\]\s*$/.exec(says ?? '')?.[1]
    return { says, code: codes[word as keyof typeof codes] }
  },
})
