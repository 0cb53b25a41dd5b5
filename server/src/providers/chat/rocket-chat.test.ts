import { testProvider } from '../../../test/provider-suite.ts'
import { rocketChat } from './rocket-chat.ts'

const url = 'https://chat.example.com/api/v1/chat.sendMessage'
const headers = { 'x-auth-token': 'auth-token', 'x-user-id': 'user-1' }
const result = { providerMessageId: 'm-1', date: '2026-05-01T10:00:00.000Z' }

testProvider(rocketChat, {
  credentials: { token: 'auth-token', user: 'user-1' },
  message: { target: { type: 'webhook', url: 'https://chat.example.com/', channel: 'GENERAL' } },
  accepted: { body: { message: { _id: 'm-1', ts: '2026-05-01T10:00:00.000Z', rid: 'GENERAL' }, success: true } },
  errorBody: (error) => ({ success: false, error }),

  sends: [
    {
      title: 'in a room',
      requests: [{ url, headers, json: { message: { rid: 'GENERAL', msg: 'Hi' } } }],
      result,
    },
    {
      title: 'with what the caller wishes',
      message: { providerData: { message: { alias: 'Bell' }, previewUrls: [] } },
      requests: [{ url, json: { message: { rid: 'GENERAL', msg: 'Hi', alias: 'Bell' }, preview_urls: [] } }],
      result,
    },
  ],

  refusals: [
    [
      'there is no such room',
      { status: 400, body: { success: false, error: 'Invalid room [error-invalid-room]' } },
      { code: 'recipient_refused', kind: 'address' },
    ],
    [
      'it is too long',
      { status: 400, body: { success: false, error: 'Too long', errorType: 'error-message-size-exceeded' } },
      { code: 'message_refused', kind: 'never' },
    ],
    ['with success', { body: { success: false, error: 'no' } }, { code: 'rejected', says: 'no' }],
  ],
})
