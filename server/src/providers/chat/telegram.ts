import { hmac, type InboundRequest, isSame } from '../events.ts'
import { at, type ChatButton, chatProvider, optional, secret, type Tools, text, textAt } from '../provider.ts'

/** Telegram's error messages; it has no codes. https://core.telegram.org/bots/api#making-requests */
const unreachable = /chat not found|bot was (blocked|kicked)|user is deactivated|not a member|chat_id is empty/i
const unsendable = /message is too long|message text is empty|can't parse entities/i

/** What the bot receives after a link with `?start=`. https://core.telegram.org/bots/features#deep-linking */
const started = /^\/start ([\w-]{1,64})$/
/** Telegram limits calls of `setWebhook`. A cached value expires a minute early. */
const webhookSeconds = 2 * 60

export const telegram = chatProvider({
  id: 'telegram',
  name: 'Telegram',
  docs: 'https://core.telegram.org/bots/api#sendmessage',
  credentials: {
    token: secret('Bot token', 'From @BotFather'),
    baseUrl: optional(text('Bot API server', 'Where you run your own; https://api.telegram.org otherwise')),
  },
  naming: { casing: 'snake' },

  async send({ target, content, customData, buttons }, credentials, { deliver, error }) {
    if (target.type !== 'webhook')
      throw error('message_refused', { says: 'Invalid channel data for Telegram provider' })
    // A public channel or group has a link too.
    const chat = target.channel || target.url.replace(/^https:\/\/t\.me\/(\w+)\/?$/, '@$1')
    if (chat === '' || chat.includes('/'))
      throw error('recipient_refused', { says: 'The chat to send to is missing: a chat id, or https://t.me/<name>' })
    const answer = await deliver(methodUrl('sendMessage', credentials, error), {
      json: { chat_id: chat, text: content, ...(buttons ? { reply_markup: keyboardOf(buttons) } : {}), ...customData },
    })
    const message = textAt(answer.json, 'result.message_id')
    return { providerMessageId: message, ...(buttons && message !== undefined ? { place: { chat, message } } : {}) }
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

  // https://core.telegram.org/bots/api#callbackquery
  buttons: {
    fits: ({ type }) => type === 'webhook',
    verify: isFromTelegram,

    read({ body }) {
      const [query, id] = [textAt(body, 'callback_query.id'), textAt(body, 'callback_query.from.id')]
      const value = textAt(body, 'callback_query.data')
      if (query === undefined || id === undefined || value === undefined) return []
      const names = ['first_name', 'last_name'].flatMap((name) => textAt(body, `callback_query.from.${name}`) ?? [])
      const name = names.join(' ') || (textAt(body, 'callback_query.from.username') ?? null)
      return [{ value, user: { id, name }, reply: { method: 'answerCallbackQuery', callback_query_id: query } }]
    },

    change: ({ chat, message }, text, credentials, { ask, error }) =>
      ask(methodUrl('editMessageText', credentials, error), {
        json: { chat_id: chat, message_id: Number(message), text },
      }),
  },

  introductions: {
    async invite({ webhookUrl, word }, credentials, { ask, conceal, error, remember }) {
      const secretToken = secretTokenOf(credentials)
      conceal(secretToken)
      const botUsername = await remember('bot', async () => {
        const me = await ask(methodUrl('getMe', credentials, error))
        const name = textAt(me.json, 'result.username')
        if (name === undefined) throw error('unreadable_answer', { says: 'The bot has no user name' })
        await ask(methodUrl('setWebhook', credentials, error), {
          json: { url: webhookUrl, secret_token: secretToken, allowed_updates: ['message', 'callback_query'] },
        })
        return { value: name, seconds: webhookSeconds }
      })
      return { url: `https://t.me/${botUsername}?start=${word}`, botUsername }
    },

    verify: isFromTelegram,

    read({ body }) {
      const [, word] = started.exec(textAt(body, 'message.text') ?? '') ?? []
      const channel = textAt(body, 'message.chat.id')
      if (word === undefined || channel === undefined || at(body, 'message.chat.type') !== 'private') return []
      const url = `https://t.me/${textAt(body, 'message.from.username') ?? ''}`
      return [{ word, endpoint: { url, channel } }]
    },
  },
})

/** https://core.telegram.org/bots/api#setwebhook */
function isFromTelegram({ headers }: InboundRequest, credentials: Bot): boolean {
  const given = headers['x-telegram-bot-api-secret-token'] ?? ''
  return isSame(Buffer.from(given), Buffer.from(secretTokenOf(credentials)))
}

const keyboardOf = (buttons: ChatButton[]) => ({
  inline_keyboard: buttons.map(({ label, value }) => [{ text: label, callback_data: value }]),
})

interface Bot {
  token: string
  baseUrl?: string | undefined
}

function methodUrl(method: string, { token, baseUrl }: Bot, error: Tools['error']): string {
  if (!/^[\w:-]+$/.test(token)) throw error('incomplete_credentials', { says: 'The bot token is invalid' })
  return `${(baseUrl ?? 'https://api.telegram.org').replace(/\/+$/, '')}/bot${token}/${method}`
}

/** Telegram sends it with every update. Only the owner of the bot token can compute it. */
const secretTokenOf = ({ token }: Bot) => hmac('sha256', token, 'inbound webhook').toString('hex')

function codeOf(status: number, says: string) {
  if (unreachable.test(says)) return 'recipient_refused'
  if (unsendable.test(says)) return 'message_refused'
  // The token is part of the path, so an unknown one is a 404.
  return status === 404 ? 'unauthorized' : undefined
}
