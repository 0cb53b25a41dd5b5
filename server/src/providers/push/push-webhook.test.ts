import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { plainPush, testProvider } from '../../../test/provider-suite.ts'
import { signed } from '../webhook-signature.ts'
import { pushWebhook } from './push-webhook.ts'

const url = 'https://hooks.example.com/push'
const body = (more: object = {}) => ({
  target: ['device-token'],
  title: 'Hello',
  content: 'Hi',
  overrides: {},
  messageId: plainPush.id,
  payload: { subscriber: plainPush.subscriber, step: plainPush.step },
  ...more,
})
const signature = (json: object, key: string) => ({
  'x-acme-signature': createHmac('sha256', key).update(JSON.stringify(json)).digest('hex'),
})
const overridden = body({ extraField: 1 })

testProvider(pushWebhook, {
  credentials: { webhookUrl: url, secretKey: 'signing-key' },
  accepted: { body: { id: 'their-id' } },
  errorBody: (message) => ({ message }),
  notJson: 'accepted',

  sends: [
    {
      title: 'signed',
      requests: [{ url, headers: signature(body(), 'signing-key'), json: body() }],
      result: { providerMessageId: 'their-id' },
    },
    {
      title: 'at another URL and signed with another key, neither of which is in the body',
      message: {
        providerData: { webhookUrl: 'https://b.example/in', hmacSecretKey: 'other', extraField: 1 },
      },
      requests: [{ url: 'https://b.example/in', headers: signature(overridden, 'other'), json: overridden }],
      result: { providerMessageId: 'their-id' },
    },
    {
      title: 'under our id where it gives none',
      replies: [{ status: 204, body: '' }],
      requests: [{ url, json: body() }],
      result: { providerMessageId: plainPush.id },
    },
  ],

  refusals: [['it says so in plain text', { status: 422, body: 'no such user' }, { says: 'no such user' }]],
})

test('the signature is a plain HMAC-SHA256 of the body', () => {
  expect(signed('acme', 'k')({ body: '{"a":1}' })).toEqual({
    'x-acme-signature': 'c3a92ff9e274cdcce27a58c15a78ec6dcbbdbd0038a87e7a11baef2028fd8bff',
  })
})
