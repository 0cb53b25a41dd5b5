import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { zulip } from './zulip.ts'

const url = 'https://acme.zulipchat.com/api/v1/external/slack_incoming?api_key=hook-secret&stream=general'
const result = { providerMessageId: plainChat.id }

testProvider(zulip, {
  credentials: {},
  message: { target: { type: 'webhook', url } },
  accepted: { body: { result: 'success', msg: '' } },
  errorBody: (msg) => ({ result: 'error', msg, code: 'BAD_REQUEST' }),
  notJson: 'accepted',

  sends: [
    { title: 'under our id, as it gives none', requests: [{ url, json: { text: 'Hi' } }], result },
    {
      title: 'with what the caller wishes, answering as Slack does',
      message: { providerData: { iconEmoji: ':bell:' } },
      replies: [{ body: { ok: true } }],
      requests: [{ url, json: { text: 'Hi', icon_emoji: ':bell:' } }],
      result,
    },
  ],

  refusals: [
    ['as Slack would', { body: { ok: false, error: 'no_text' } }, { code: 'rejected', says: 'no_text' }],
    ['the bot was removed', { status: 404, body: { result: 'error', msg: 'gone' } }, { kind: 'address', says: 'gone' }],
  ],
})
