import { fullMail, testProvider } from '../../../test/provider-suite.ts'
import { sparkpost } from './sparkpost.ts'

const url = 'https://api.sparkpost.com/api/v1/transmissions'
const headers = { authorization: 'spark-key' }
const plain = {
  recipients: [{ address: { email: 'ada@example.com' } }],
  content: { from: { email: 'news@acme.example' }, subject: 'Hello', html: '<p>Hi</p>' },
}
const result = { providerMessageId: '11668787484950529' }
const header_to = 'ada@example.com,bob@example.com'

testProvider(sparkpost, {
  credentials: { apiKey: 'spark-key' },
  accepted: {
    body: { results: { total_rejected_recipients: 0, total_accepted_recipients: 1, id: '11668787484950529' } },
  },
  errorBody: (message) => ({ errors: [{ message, code: '1400' }] }),

  sends: [
    { title: 'that is plain', requests: [{ url, headers, json: plain }], result },
    {
      title: 'with everything a mail can have, in Europe',
      credentials: { region: 'eu' },
      message: fullMail,
      requests: [
        {
          url: 'https://api.eu.sparkpost.com/api/v1/transmissions',
          json: {
            recipients: ['ada', 'bob', 'cc', 'bcc'].map((name) => ({
              address: { email: `${name}@example.com`, header_to },
            })),
            content: {
              from: { email: 'news@acme.example', name: 'Acme' },
              subject: 'Hello',
              reply_to: 'help@acme.example',
              text: 'Hi',
              html: '<p>Hi</p>',
              headers: { 'X-Campaign': 'spring', CC: 'cc@example.com' },
              attachments: [{ name: 'bill.pdf', type: 'application/pdf', data: 'UERG' }],
              inline_images: [{ name: 'logo', type: 'image/png', data: '/wA=' }],
            },
          },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own, from an integration of old",
      credentials: { region: 'true' },
      message: { providerData: { campaignId: 'spring', options: { openTracking: false } } },
      requests: [
        {
          url: 'https://api.eu.sparkpost.com/api/v1/transmissions',
          json: { ...plain, campaign_id: 'spring', options: { open_tracking: false } },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'its words come in two parts',
      {
        status: 400,
        body: { errors: [{ message: 'Invalid domain', description: 'Unconfigured Sending Domain', code: '7001' }] },
      },
      { code: 'rejected', says: 'Invalid domain: Unconfigured Sending Domain' },
    ],
    [
      'the account has sent enough for now',
      { status: 420, body: { errors: [{ message: 'Exceed Sending Limit (daily)', code: '2102' }] } },
      { code: 'quota_exhausted', kind: 'failover' },
    ],
    [
      'nobody of the recipients is accepted',
      { body: { results: { total_rejected_recipients: 1, total_accepted_recipients: 0, id: '1' } } },
      { code: 'recipient_refused', kind: 'address' },
    ],
  ],

  check: { url: 'https://api.sparkpost.com/api/v1/account', headers },
})
