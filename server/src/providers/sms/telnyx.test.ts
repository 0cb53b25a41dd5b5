import { generateKeyPairSync, sign } from 'node:crypto'
import { testProvider } from '../../../test/provider-suite.ts'
import { telnyx } from './telnyx.ts'

const url = 'https://api.telnyx.com/v2/messages'
const headers = { authorization: 'Bearer KEY-secret' }
const result = { providerMessageId: '40385f64', date: '2026-05-01T10:00:00.000+00:00' }
const refusal = (code: string, title: string) => ({ status: 400, body: { errors: [{ code, title, detail: title }] } })

const eventOf = (status: string, errors: unknown[] = []) => ({
  data: {
    event_type: 'message.finalized',
    id: 'event-1',
    payload: { id: '40385f64', to: [{ phone_number: '+15550100', status }], errors },
  },
})
const delivered = eventOf('delivered')
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const configurations = {
  inboundWebhookSigningKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
}
const signed = (timestamp: string, body: unknown = delivered) => ({
  'telnyx-timestamp': timestamp,
  'telnyx-signature-ed25519': sign(null, Buffer.from(`${timestamp}|${JSON.stringify(body)}`), privateKey).toString(
    'base64',
  ),
})
const now = String(Date.parse('2026-05-01T10:00:00Z') / 1000)
const report = { providerMessageId: '40385f64', externalId: 'event-1' }

testProvider(telnyx, {
  credentials: { apiKey: 'KEY-secret', messageProfileId: 'profile-1', from: '+15550199' },
  accepted: { body: { data: { id: '40385f64', received_at: '2026-05-01T10:00:00.000+00:00' } } },
  errorBody: (detail) => ({ errors: [{ code: '10015', title: 'Bad Request', detail }] }),

  sends: [
    {
      title: 'from the configured number',
      requests: [
        {
          url,
          headers,
          json: { to: '+15550100', from: '+15550199', text: 'Hi', messaging_profile_id: 'profile-1' },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own",
      message: {
        from: '+15550111',
        providerData: { messagingProfileId: 'profile-2', webhookUrl: 'https://a.example' },
      },
      requests: [
        {
          url,
          json: {
            to: '+15550100',
            from: '+15550111',
            text: 'Hi',
            messaging_profile_id: 'profile-2',
            webhook_url: 'https://a.example',
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    ['the number is none', refusal('40310', "Invalid 'to' address"), { code: 'recipient_refused', kind: 'address' }],
    ['the recipient said stop', refusal('40300', 'Blocked due to STOP message'), { kind: 'address' }],
    ['there is no money left', refusal('20100', 'Insufficient Funds'), { code: 'quota_exhausted' }],
    ['the text is too long', refusal('40302', 'Message too large'), { code: 'message_refused', kind: 'never' }],
    ['its queue is full', refusal('40318', 'Message queue full'), { code: 'rate_limited', kind: 'later' }],
  ],

  events: [
    { title: 'delivered', body: delivered, events: [{ ...report, status: 'delivered' }] },
    { title: 'queued', body: eventOf('queued'), events: [{ ...report, status: 'queued' }] },
    { title: 'sending', body: eventOf('sending'), events: [{ ...report, status: 'sending' }] },
    { title: 'sent', body: eventOf('sent'), events: [{ ...report, status: 'sent' }] },
    { title: 'not sent', body: eventOf('sending_failed'), events: [{ ...report, status: 'failed' }] },
    {
      title: 'not delivered, and why',
      body: eventOf('delivery_failed', [{ code: '40008', title: 'Undeliverable' }]),
      events: [{ ...report, status: 'failed', response: 'Undeliverable' }],
    },
    { title: 'unconfirmed', body: eventOf('delivery_unconfirmed'), events: [{ ...report, status: 'undelivered' }] },
    { title: 'something else', body: eventOf('webhook_delivered'), events: [] },
    {
      title: 'signed',
      configurations,
      headers: signed(now),
      body: delivered,
      events: [{ ...report, status: 'delivered' }],
    },
    { title: 'signed long ago', configurations, headers: signed('1777600000'), body: delivered, events: undefined },
    { title: 'signed for other words', configurations, headers: signed(now, {}), body: delivered, events: undefined },
    { title: 'unsigned where signatures are asked for', configurations, body: delivered, events: undefined },
    {
      title: 'signed for a key that is none',
      configurations: { inboundWebhookSigningKey: 'key' },
      headers: signed(now),
      body: delivered,
      events: undefined,
    },
  ],
})
