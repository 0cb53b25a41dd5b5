import { createHmac } from 'node:crypto'
import { testProvider } from '../../../test/provider-suite.ts'
import { plivo } from './plivo.ts'

const url = 'https://api.plivo.com/v1/Account/MA1/Message/'
const headers = { authorization: `Basic ${Buffer.from('MA1:auth-token').toString('base64')}` }
const inbound = 'https://belfry.example.com/v2/inbound-webhooks/delivery-providers/e/i'
const sign = (text: string, key = 'auth-token') => createHmac('sha256', key).update(text).digest('base64')
const body = 'Status=delivered&MessageUUID=db3ce55a&To=15550100'
const members = 'MessageUUIDdb3ce55aStatusdeliveredTo15550100'
const delivered = [{ providerMessageId: 'db3ce55a', status: 'delivered' as const }]
const second = (text: string, key?: string) => ({
  'X-Plivo-Signature-V2': sign(text, key),
  'X-Plivo-Signature-V2-Nonce': '12345',
})
const third = (text: string, key?: string) => ({
  'X-Plivo-Signature-V3': `${sign('another')},${sign(text, key)}`,
  'X-Plivo-Signature-V3-Nonce': '12345',
})

const signed = { url: inbound, headers: second(`${inbound}12345`) }

testProvider(plivo, {
  credentials: { accountSid: 'MA1', token: 'auth-token', from: '+15550199' },
  accepted: {
    status: 202,
    body: { message: 'message(s) queued', message_uuid: ['db3ce55a'], api_id: 'db342550' },
  },
  errorBody: (error) => ({ api_id: 'db342550', error }),

  sends: [
    {
      title: 'from the configured number, and its id is kept',
      requests: [{ url, headers, json: { src: '+15550199', dst: '+15550100', text: 'Hi' } }],
      result: { providerMessageId: 'db3ce55a' },
    },
    {
      title: "with members of the provider's own",
      message: {
        from: '+15550111',
        providerData: { optionalParams: { url: 'https://a.example' }, _passthrough: { body: { log: false } } },
      },
      requests: [
        { url, json: { src: '+15550111', dst: '+15550100', text: 'Hi', url: 'https://a.example', log: false } },
      ],
      result: { providerMessageId: 'db3ce55a' },
    },
    {
      title: 'from whatever number a powerpack chooses',
      message: { providerData: { powerpackUUID: 'pp-1' } },
      requests: [{ url, json: { dst: '+15550100', text: 'Hi', powerpack_uuid: 'pp-1' } }],
      result: { providerMessageId: 'db3ce55a' },
    },
  ],

  events: [
    { title: 'delivered', ...signed, body, events: delivered },
    {
      title: 'undelivered, and why',
      ...signed,
      body: { status: 'undelivered', messageUuid: 'db3ce55a', ErrorCode: '450' },
      events: [{ providerMessageId: 'db3ce55a', status: 'undelivered', response: '450' }],
    },
    ...(['queued', 'sent', 'failed', 'rejected'] as const).map((status) => ({
      title: status,
      ...signed,
      body: `Status=${status}&MessageUUID=db3ce55a`,
      events: [{ providerMessageId: 'db3ce55a', status }],
    })),
    { title: 'something else', ...signed, body: 'Status=read&MessageUUID=db3ce55a', events: [] },
    { title: 'signed', url: inbound, headers: second(`${inbound}12345`), body, events: delivered },
    {
      title: 'signed by somebody else',
      url: inbound,
      headers: second(`${inbound}12345`, 'guess'),
      body,
      events: undefined,
    },
    {
      title: 'signed with its content',
      url: inbound,
      headers: third(`${inbound}?${members}.12345`),
      body,
      events: delivered,
    },
    {
      title: 'signed with its content and a query',
      url: `${inbound}?b=2&a=1`,
      headers: third(`${inbound}?a=1&b=2.${members}.12345`),
      body,
      events: delivered,
    },
    {
      title: 'signed for other words',
      url: inbound,
      headers: third(`${inbound}?Status.12345`),
      body,
      events: undefined,
    },
    {
      title: 'unsigned (hole 11)',
      body,
      events: undefined,
    },
  ],
})
