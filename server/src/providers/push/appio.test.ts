import { describe, expect, test } from 'vitest'
import { plainPush, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor, type VendorReply } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import type { Credentials, PushMessage } from '../provider.ts'
import { appio } from './appio.ts'

const base = 'https://api.io.pagopa.it/api/v1'
const headers = { 'ocp-apim-subscription-key': 'subscription-key' }
const target = 'AAAAAA00A00A000A'
const profile = { url: `${base}/profiles`, headers, json: { fiscal_code: target } }
const content = { subject: 'Hello', markdown: 'Hi' }
const result = { providerMessageId: '01EDGBC3B5' }

testProvider(appio, {
  credentials: { apiKey: 'subscription-key' },
  message: { target },
  before: [{ body: { sender_allowed: true } }],
  accepted: { status: 201, body: { id: '01EDGBC3B5' } },
  errorBody: (detail) => ({ title: 'Bad request', status: 400, detail }),

  sends: [
    {
      title: 'for somebody who allows it',
      requests: [profile, { url: `${base}/messages`, headers, json: { fiscal_code: target, content } }],
      result,
    },
    {
      title: "elsewhere, with the workflow's own key, which is not in the body",
      credentials: { AppIOBaseUrl: 'https://io.example/v1/' },
      message: { providerData: { apiKey: 'other', timeToLive: 3600, content: { dueDate: '2026-06-01' } } },
      requests: [
        { ...profile, url: 'https://io.example/v1/profiles', headers: { 'ocp-apim-subscription-key': 'other' } },
        {
          url: 'https://io.example/v1/messages',
          headers: { 'ocp-apim-subscription-key': 'other' },
          json: { fiscal_code: target, content: { ...content, due_date: '2026-06-01' }, time_to_live: 3600 },
        },
      ],
      result,
    },
  ],
})

describe('App IO refuses', () => {
  const vendor = useVendor()
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })
  const send = (message: Partial<PushMessage>, credentials: Credentials = { apiKey: 'subscription-key' }) =>
    delivery.send(appio, { id: 'one', credentials }, { ...plainPush, target, ...message })

  test.each<[string, VendorReply]>([
    ['does not allow it', { body: { sender_allowed: false } }],
    ['is not there', { status: 404, body: { title: 'Not found' } }],
  ])('a message for somebody who %s', async (_, reply) => {
    vendor.plays(() => reply)
    const says = 'Recipient is not allowed or not found in App IO'
    await expect(send({})).rejects.toMatchObject({ code: 'message_refused', kind: 'never', says })
    expect(vendor.asked).toHaveLength(1)
  })

  test.each<[string, Partial<PushMessage>, Credentials | undefined, object]>([
    ['nobody', { target: '' }, undefined, { says: 'Missing target (fiscal_code) in push options' }],
    ['a message without a title', { title: '' }, undefined, { says: 'Missing title or content in push options' }],
    ['anything without a key', {}, {}, { code: 'incomplete_credentials', says: 'Missing apiKey for App IO' }],
  ])('and gets no request for %s', async (_, message, credentials, error) => {
    await expect(send(message, credentials)).rejects.toMatchObject(error)
    expect(vendor.asked).toEqual([])
  })
})
