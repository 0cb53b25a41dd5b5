import { expect, test } from 'vitest'
import { fullMail, plainMail, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { braze } from './braze.ts'

const base = 'https://rest.iad-01.braze.com'
const headers = { authorization: 'Bearer bz-key' }
const user = (external_id: string) => ({ body: { users: [{ external_id }], message: 'success' } })
const nobody = { body: { users: [], message: 'success' } }
const lookup = (email_address: string) => ({
  url: `${base}/users/export/ids`,
  headers,
  json: { email_address, fields_to_export: ['external_id'] },
})
const accepted = { status: 201, body: { dispatch_id: 'd-1', message: 'success' } }
const email = {
  app_id: 'app-1',
  subject: 'Hello',
  from: 'news@acme.example',
  body: '<p>Hi</p>',
  headers: {},
  should_inline_css: true,
}
const plain = { broadcast: false, external_user_ids: ['ada'], messages: { email } }
const result = { providerMessageId: 'd-1' }

testProvider(braze, {
  credentials: { apiKey: 'bz-key', apiURL: `${base}/`, appID: 'app-1' },
  before: [user('ada')],
  accepted,
  errorBody: (message) => ({ message }),

  sends: [
    {
      title: 'for somebody it knows',
      requests: [lookup('ada@example.com'), { url: `${base}/messages/send`, headers, json: plain }],
      result,
    },
    {
      title: 'with everything it takes, leaving out whom it does not know',
      message: { ...fullMail, to: ['ada@example.com'], cc: ['ghost@example.com'], payload: { order: 7 } },
      replies: [user('ada'), nobody, accepted],
      requests: [
        lookup('ada@example.com'),
        lookup('ghost@example.com'),
        {
          url: `${base}/messages/send`,
          json: {
            ...plain,
            messages: {
              email: {
                ...email,
                from: '"Acme" <news@acme.example>',
                reply_to: 'help@acme.example',
                bcc: 'bcc@example.com',
                plaintext_body: 'Hi',
                extras: { order: 7 },
                headers: { 'X-Campaign': 'spring' },
                attachments: [
                  { file_name: 'bill.pdf', url: 'data:application/pdf;base64,UERG' },
                  { file_name: 'logo.png', url: 'data:image/png;base64,/wA=' },
                ],
              },
            },
          },
        },
      ],
      result,
    },
    {
      title: "with members of the provider's own",
      message: { providerData: { campaignId: 'c', messages: { email: { messageVariationId: 'v' } } } },
      requests: [
        lookup('ada@example.com'),
        {
          url: `${base}/messages/send`,
          json: { ...plain, campaign_id: 'c', messages: { email: { ...email, message_variation_id: 'v' } } },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'it says when to come again',
      { status: 429, headers: { 'X-RateLimit-Reset': '1777629612' }, body: { message: 'slow down' } },
      { code: 'rate_limited', afterSeconds: 12 },
    ],
  ],
})

const vendor = useVendor()
const http = useHttpTo(vendor)
test('Braze cannot send to an unknown address', async () => {
  vendor.plays(() => nobody)
  const delivery = new Delivery({ http, clock: { now: () => new Date() }, brand: 'acme' })
  const credentials = { apiKey: 'bz-key', apiURL: base, appID: 'app-1' }
  const sent = delivery.send(braze, { id: 'i', credentials }, plainMail)
  await expect(sent).rejects.toMatchObject({ code: 'recipient_refused', kind: 'address' })
  expect(vendor.asked).toHaveLength(1)
})
