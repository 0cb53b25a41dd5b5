import { at, chatProvider, secret, textAt } from '../provider.ts'

/** What Telegram says besides a status; it has no codes. https://core.telegram.org/bots/api#making-requests */
const unreachable = /chat not found|bot was (blocked|kicked)|user is deactivated|not a member|chat_id is empty/i
const unsendable = /message is too long|message text is empty|can't parse entities/i

export const telegram = chatProvider({
  id: 'telegram',
  name: 'Telegram',
  docs: 'https://core.telegram.org/bots/api#sendmessage',
  credentials: { token: secret('Bot token', 'From @BotFather') },
  naming: { casing: 'snake' },

  async send({ target, content, customData }, { token }, { deliver, error }) {
    if (target.type !== 'webhook')
      throw error('message_refused', { says: 'Invalid channel data for Telegram provider' })
    // A public channel or group has a link too.
    const chat = target.channel || target.url.replace(/^https:\/\/t\.me\/(\w+)\/?$/, '@$1')
    if (chat === '' || chat.includes('/'))
      throw error('recipient_refused', { says: 'The chat to send to is missing: a chat id, or https://t.me/<name>' })
    if (!/^[\w:-]+$/.test(token)) throw error('incomplete_credentials', { says: 'The bot token is none' })
    const answer = await deliver(`https://api.telegram.org/bot${token}/sendMessage`, {
      json: { chat_id: chat, text: content, ...customData },
    })
    return { providerMessageId: textAt(answer.json, 'result.message_id') }
  },

  problem({ body, status, isSuccess }) {
    if (isSuccess && at(body, 'ok') !== false) return undefined
    const says = textAt(body, 'description')
    const afterSeconds = at(body, 'parameters.retry_after')
    return {
      says,
      code: codeOf(status, says ?? ''),
      afterSeconds: typeof afterSeconds === 'number' ? afterSeconds : undefined,
    }
  },
})

function codeOf(status: number, says: string) {
  if (unreachable.test(says)) return 'recipient_refused'
  if (unsendable.test(says)) return 'message_refused'
  // A token that is none names no bot, and so no page.
  return status === 404 ? 'unauthorized' : undefined
}
