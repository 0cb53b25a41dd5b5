import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { ryver } from './ryver.ts'

const url = 'https://acme.ryver.com/application/webhook/hook-secret'
const result = { providerMessageId: plainChat.id }

testProvider(ryver, {
  credentials: {},
  message: { target: { type: 'webhook', url } },
  accepted: { body: '' },
  errorBody: (message) => ({ message }),
  notJson: 'accepted',

  sends: [
    { title: 'under our id, as it gives none', requests: [{ url, json: { content: 'Hi' } }], result },
    {
      title: 'with what the caller wishes',
      message: { providerData: { create_source: { display_name: 'Bell' }, _passthrough: { body: { body: 'x' } } } },
      requests: [{ url, json: { content: 'Hi', createSource: { displayName: 'Bell' }, body: 'x' } }],
      result,
    },
  ],

  refusals: [['the webhook was removed', { status: 410, body: 'gone' }, { kind: 'address', says: 'gone' }]],
})
