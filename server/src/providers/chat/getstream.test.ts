import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { getstream } from './getstream.ts'

const url = 'https://chat.example.com/in/hook-secret'
const headers = { 'x-api-key': 'stream-key' }

testProvider(getstream, {
  credentials: { apiKey: 'stream-key' },
  message: { target: { type: 'webhook', url } },
  accepted: { headers: { 'X-WEBHOOK-ID': 'w-1' }, body: '' },
  errorBody: (error) => ({ error }),
  notJson: 'accepted',

  sends: [
    {
      title: 'with the key in a header, and nowhere else',
      requests: [{ url, headers, json: { text: 'Hi' } }],
      result: { providerMessageId: 'w-1' },
    },
    {
      title: 'with what the caller wishes',
      message: { providerData: { showInChannel: true } },
      replies: [{ body: '' }],
      requests: [{ url, headers, json: { text: 'Hi', show_in_channel: true } }],
      result: { providerMessageId: plainChat.id },
    },
  ],
})
