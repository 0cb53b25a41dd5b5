import { describe, expect, test } from 'vitest'
import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor, type VendorReply } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import type { ChatTarget } from '../provider.ts'
import { slack } from './slack.ts'

const url = 'https://slack.com/api/chat.postMessage'
const headers = { authorization: 'Bearer xoxb-token' }
const target: ChatTarget = { type: 'slack_channel', channelId: 'C1', token: 'xoxb-token' }
const hook: ChatTarget = { type: 'webhook', url: 'https://hooks.slack.com/services/T0/B0/hook-secret' }
const result = { providerMessageId: 'req-1' }
const refused = (error: string) => ({ body: { ok: false, error } })
const ok = { headers: { 'x-slack-req-id': 'req-1' }, body: 'ok' }

testProvider(slack, {
  credentials: { applicationId: 'A1', clientId: 'c', secretKey: 'client-secret', signingSecret: 'signing-secret' },
  message: { target },
  accepted: { headers: { 'x-slack-req-id': 'req-1' }, body: { ok: true, channel: 'C1', ts: '1503435956.000247' } },
  errorBody: (error) => ({ ok: false, error }),
  unauthorized: refused('invalid_auth'),

  sends: [
    { title: 'in a channel', requests: [{ url, headers, json: { channel: 'C1', text: 'Hi' } }], result },
    {
      title: 'for a person, with blocks and what else the caller wishes',
      message: {
        target: { type: 'slack_user', userId: 'U1', token: 'xoxb-token' },
        customData: { blocks: [{ type: 'divider' }] },
        providerData: {
          iconEmoji: ':bell:',
          webhookUrl: 'https://other.example',
          _passthrough: { body: { unfurl_links: false } },
        },
      },
      replies: [{ body: { ok: true, ts: '1503435956.000247' } }],
      requests: [
        {
          url,
          headers,
          json: {
            channel: 'U1',
            text: 'Hi',
            blocks: [{ type: 'divider' }],
            icon_emoji: ':bell:',
            unfurl_links: false,
          },
        },
      ],
      result: { providerMessageId: '1503435956.000247' },
    },
    {
      title: 'through a webhook',
      message: { target: hook, customData: { blocks: [{ type: 'divider' }] } },
      replies: [ok],
      requests: [{ url: hook.url, json: { text: 'Hi', blocks: [{ type: 'divider' }] } }],
      result,
    },
  ],

  refusals: [
    [
      'there is no such channel',
      refused('channel_not_found'),
      { code: 'recipient_refused', kind: 'address', says: 'Slack API Error: channel_not_found' },
    ],
    ['the app is not in the channel', refused('not_in_channel'), { kind: 'address' }],
    ['the workspace removed the app', refused('token_revoked'), { code: 'unauthorized' }],
    ['it is too long', refused('msg_too_long'), { code: 'message_refused', kind: 'never' }],
    [
      'too many at once',
      { status: 429, headers: { 'Retry-After': '30' }, ...refused('ratelimited') },
      { code: 'rate_limited', afterSeconds: 30 },
    ],
    ['Slack itself fails', refused('internal_error'), { code: 'unavailable', kind: 'later' }],
    ['for a reason of its own', refused('as_it_pleases'), { code: 'rejected' }],
  ],
})

describe('Slack gets no request, or refuses,', () => {
  const vendor = useVendor()
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })
  const send = (to: ChatTarget) => delivery.send(slack, { id: 'one', credentials: {} }, { ...plainChat, target: to })

  test.each<[string, VendorReply, object]>([
    ['a webhook that was removed', { status: 404, body: 'no_service' }, { kind: 'address' }],
    ['a payload it cannot read', { status: 400, body: 'invalid_payload' }, { code: 'message_refused' }],
    ['in words we do not know', { status: 200, body: 'hm' }, { code: 'rejected', says: 'Slack Webhook Error' }],
  ])('%s', async (_, reply, error) => {
    vendor.plays(() => reply)
    const problem: unknown = await send(hook).catch((reason: unknown) => reason)
    expect(problem).toMatchObject(error)
    expect(String(problem)).not.toContain('hook-secret')
  })

  test.each<[string, ChatTarget, object]>([
    [
      'for something that is no place in Slack',
      { type: 'phone', phoneNumber: '+1' },
      { code: 'message_refused', says: 'Unsupported endpoint format: phone' },
    ],
    ['without a token', { ...target, token: '' }, { code: 'unauthorized' }],
    ['without a URL', { type: 'webhook', url: '' }, { says: 'Webhook URL for the chat channel is missing' }],
  ])('%s', async (_, to, error) => {
    await expect(send(to)).rejects.toMatchObject(error)
    expect(vendor.asked).toEqual([])
  })
})
