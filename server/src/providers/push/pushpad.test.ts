import { testProvider } from '../../../test/provider-suite.ts'
import { pushpad } from './pushpad.ts'

const url = 'https://pushpad.xyz/api/v1/projects/42/notifications'
const headers = { authorization: 'Bearer auth-token' }
const result = { providerMessageId: '123456' }

testProvider(pushpad, {
  credentials: { apiKey: 'auth-token', applicationId: '42' },
  message: { target: 'user-1' },
  accepted: { status: 201, body: { id: 123456, uids: ['user-1'] } },
  errorBody: (error) => ({ error }),

  sends: [
    {
      title: 'for a user of the site',
      requests: [{ url, headers, json: { title: 'Hello', body: 'Hi', uids: ['user-1'] } }],
      result,
    },
    {
      title: 'with what the caller wishes',
      message: {
        providerData: { targetUrl: 'https://acme.example', ttl: 60, _passthrough: { body: { custom_data: 'x' } } },
      },
      requests: [
        {
          url,
          json: {
            title: 'Hello',
            body: 'Hi',
            uids: ['user-1'],
            target_url: 'https://acme.example',
            ttl: 60,
            custom_data: 'x',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the message is not as it should be',
      { status: 422, body: { body: ["can't be blank"] } },
      { code: 'rejected', says: '{"body":["can\'t be blank"]}' },
    ],
  ],
})
