import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { chatWebhook } from './chat-webhook.ts'

const webhookUrl = 'https://hooks.example.com/hook-secret'
const target = { type: 'webhook' as const, url: webhookUrl }
const signature = (json: object, key: string) => ({
  'x-acme-signature': createHmac('sha256', key).update(JSON.stringify(json)).digest('hex'),
})
const plain = { content: 'Hi', webhookUrl }
const other = { content: 'Hi', webhookUrl: 'https://b.example/in', channel: 'general', extraField: 1 }
const phone = { content: 'Hi', webhookUrl: 'https://b.example/in', phoneNumber: '+15550100' }
const result = { providerMessageId: 'their-id' }

testProvider(chatWebhook, {
  credentials: { secretKey: 'signing-key' },
  message: { target },
  accepted: { body: { id: 'their-id' } },
  errorBody: (message) => ({ message }),
  notJson: 'accepted',

  sends: [
    { title: 'signed', requests: [{ url: webhookUrl, headers: signature(plain, 'signing-key'), json: plain }], result },
    {
      title: 'at another URL and signed with another key, which is not in the body',
      message: {
        target: { ...target, channel: 'general' },
        providerData: { webhookUrl: 'https://b.example/in', hmacSecretKey: 'other-key', extraField: 1 },
      },
      requests: [{ url: 'https://b.example/in', headers: signature(other, 'other-key'), json: other }],
      result,
    },
    {
      title: 'for a phone, at a URL the caller gives',
      message: {
        target: { type: 'phone', phoneNumber: '+15550100' },
        providerData: { webhookUrl: 'https://b.example/in' },
      },
      requests: [{ url: 'https://b.example/in', json: phone }],
      result,
    },
    {
      title: 'under our id where it gives none',
      replies: [{ status: 204, body: '' }],
      requests: [{ url: webhookUrl, json: plain }],
      result: { providerMessageId: plainChat.id },
    },
  ],
})

const vendor = useVendor()
const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })

test('without a key the request is not signed', async () => {
  vendor.plays(() => ({ body: {} }))
  await delivery.send(chatWebhook, { id: 'one', credentials: {} }, { ...plainChat, target })
  expect(vendor.asked[0]?.headers).not.toHaveProperty('x-acme-signature')
})

test('the URL and key of a caller are not sent in the body', async () => {
  vendor.plays(({ body }) => ({ status: 400, body: { message: `${body} other-key` } }))
  const providerData = { webhookUrl: 'https://b.example/secret-path', hmacSecretKey: 'other-key' }
  const sent = delivery.send(chatWebhook, { id: 'one', credentials: {} }, { ...plainChat, target, providerData })
  const error = String(await sent.catch((reason: unknown) => reason))
  expect(error).toContain('"content":"Hi"')
  expect(error).not.toMatch(/secret-path|other-key/)
})
