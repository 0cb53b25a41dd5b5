import { testProvider } from '../../../test/provider-suite.ts'
import { ringCentral } from './ring-central.ts'

const server = 'https://platform.ringcentral.com'
const signIn = {
  url: `${server}/restapi/oauth/token`,
  headers: { authorization: `Basic ${Buffer.from('client-1:client-secret').toString('base64')}` },
  form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: 'jwt.of.user' },
}
const path = '/restapi/v1.0/account/~/extension/~/sms'
const headers = { authorization: 'Bearer access-1' }
const plain = { from: { phoneNumber: '+15550199' }, to: [{ phoneNumber: '+15550100' }], text: 'Hi' }
const result = { providerMessageId: '1427', date: '2026-05-01T10:00:00.000Z' }
const event = (messageStatus: string, more: object = {}) => ({
  id: 1427,
  messageStatus,
  creationTime: '2026-05-01T10:00:00.000Z',
  ...more,
})
const report = { providerMessageId: '1427', date: new Date('2026-05-01T10:00:00.000Z'), attempts: 1 }
const configurations = { inboundWebhookSigningKey: 'agreed-word' }

testProvider(ringCentral, {
  credentials: { clientId: 'client-1', secretKey: 'client-secret', token: 'jwt.of.user', from: '+15550199' },
  before: [{ body: { access_token: 'access-1', token_type: 'bearer', expires_in: 3600 } }],
  accepted: { body: { id: 1427, creationTime: '2026-05-01T10:00:00.000Z', messageStatus: 'Queued' } },
  errorBody: (message) => ({ errorCode: 'CMN-101', message, errors: [] }),

  sends: [
    {
      title: 'after signing in',
      requests: [signIn, { url: `${server}${path}`, headers, json: plain }],
      result,
    },
    {
      title: "in the sandbox, with members of the provider's own",
      credentials: { secure: true },
      message: { from: '+15550111', providerData: { to: [{ phoneNumber: '+15550101' }], country: { isoCode: 'US' } } },
      requests: [
        { ...signIn, url: 'https://platform.devtest.ringcentral.com/restapi/oauth/token' },
        {
          url: `https://platform.devtest.ringcentral.com${path}`,
          json: {
            from: { phoneNumber: '+15550111' },
            to: [{ phoneNumber: '+15550100' }, { phoneNumber: '+15550101' }],
            text: 'Hi',
            country: { isoCode: 'US' },
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'the number is none',
      {
        status: 400,
        body: {
          errorCode: 'CMN-101',
          message: 'Parameter [to.phoneNumber] value is invalid',
          errors: [{ errorCode: 'CMN-101', parameterName: 'to.phoneNumber' }],
        },
      },
      { code: 'recipient_refused', kind: 'address', says: 'Parameter [to.phoneNumber] value is invalid' },
    ],
    [
      'the JWT is not accepted',
      { status: 400, body: { error: 'invalid_grant', error_description: 'JWT jwt.of.user is expired' } },
      { code: 'unauthorized', kind: 'credentials', says: 'JWT *** is expired' },
    ],
  ],

  events: [
    { title: 'received', body: event('Received'), events: [{ ...report, status: 'accepted' }] },
    { title: 'queued', body: event('Queued'), events: [{ ...report, status: 'queued' }] },
    { title: 'sent', body: event('Sent'), events: [{ ...report, status: 'sent' }] },
    {
      title: 'not sent, after how many attempts and why',
      body: event('SendingFailed', { smsSendingAttemptsCount: 3, deliveryErrorCode: 'SMS-RC-413' }),
      events: [{ ...report, status: 'failed', attempts: 3, response: 'SMS-RC-413' }],
    },
    { title: 'not delivered', body: event('DeliveryFailed'), events: [{ ...report, status: 'failed' }] },
    {
      title: 'delivered, in the envelope of a subscription',
      body: { uuid: 'event-1', event: '/restapi/v1.0/account/1/extension/2/message-store', body: event('Delivered') },
      events: [{ ...report, status: 'delivered', externalId: 'event-1' }],
    },
    { title: 'something else', body: event('Read'), events: [] },
    {
      title: 'with the word agreed on',
      configurations,
      headers: { 'Verification-Token': 'agreed-word' },
      body: event('Sent'),
      events: [{ ...report, status: 'sent' }],
    },
    { title: 'without the word agreed on', configurations, body: event('Sent'), events: undefined },
  ],
})
