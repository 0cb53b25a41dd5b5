import { describe, expect, test } from 'vitest'
import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import type { ChatTarget } from '../provider.ts'
import { telegram } from './telegram.ts'

const url = 'https://api.telegram.org/bot110201543:AAHdqTcv/sendMessage'
const target: ChatTarget = { type: 'webhook', url: 'https://t.me/acme', channel: '-100123' }
const result = { providerMessageId: '77' }
const refusal = (error_code: number, description: string, more: object = {}) => ({
  status: error_code,
  body: { ok: false, error_code, description, ...more },
})

testProvider(telegram, {
  credentials: { token: '110201543:AAHdqTcv' },
  message: { target },
  accepted: { body: { ok: true, result: { message_id: 77, date: 1777629600 } } },
  errorBody: (description) => ({ ok: false, error_code: 400, description }),

  sends: [
    { title: 'in a chat', requests: [{ url, json: { chat_id: '-100123', text: 'Hi' } }], result },
    {
      title: 'in a public channel, by its link, with what the caller wishes',
      message: {
        target: { type: 'webhook', url: 'https://t.me/acme_news' },
        customData: { parse_mode: 'HTML' },
        providerData: { disableNotification: true },
      },
      requests: [{ url, json: { chat_id: '@acme_news', text: 'Hi', parse_mode: 'HTML', disable_notification: true } }],
      result,
    },
  ],

  refusals: [
    [
      'they blocked the bot',
      refusal(403, 'Forbidden: bot was blocked by the user'),
      { code: 'recipient_refused', kind: 'address' },
    ],
    ['there is no such chat', refusal(400, 'Bad Request: chat not found'), { kind: 'address' }],
    ['it is too long', refusal(400, 'Bad Request: message is too long'), { code: 'message_refused', kind: 'never' }],
    [
      'too many at once, and says when to come again',
      refusal(429, 'Too Many Requests: retry after 35', { parameters: { retry_after: 35 } }),
      { code: 'rate_limited', afterSeconds: 35 },
    ],
    ['the token is none', refusal(404, 'Not Found'), { code: 'unauthorized' }],
  ],
})

describe('Telegram gets no request', () => {
  const vendor = useVendor()
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })
  const send = (to: ChatTarget, token = '1:A') =>
    delivery.send(telegram, { id: 'one', credentials: { token } }, { ...plainChat, target: to })

  test.each<[string, ChatTarget, string]>([
    ['for a place of another chat', { type: 'phone', phoneNumber: '+1' }, 'Invalid channel data for Telegram provider'],
    [
      'without a chat',
      { type: 'webhook', url: 'https://hooks.example.com/x' },
      'The chat to send to is missing: a chat id, or https://t.me/<name>',
    ],
  ])('%s', async (_, to, says) => {
    await expect(send(to)).rejects.toMatchObject({ says })
    expect(vendor.asked).toEqual([])
  })

  test('with an invalid token', async () => {
    await expect(send(target, '../x')).rejects.toMatchObject({ code: 'incomplete_credentials' })
    expect(vendor.asked).toEqual([])
  })
})
