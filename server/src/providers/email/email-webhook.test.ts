import { createHmac } from 'node:crypto'
import { fullMail, plainMail, testProvider } from '../../../test/provider-suite.ts'
import { emailWebhook } from './email-webhook.ts'

const { id } = plainMail
const webhookUrl = 'https://hooks.acme.example/mail?key=hidden'
const plain = {
  to: ['ada@example.com'],
  subject: 'Hello',
  html: '<p>Hi</p>',
  from: 'news@acme.example',
  attachments: [],
  id,
  cc: [],
  bcc: [],
  headers: {},
  customData: {},
  payloadDetails: {},
  notificationDetails: { transactionId: 'tx-1', workflowIdentifier: 'welcome', subscriberId: 'ada' },
}
const signature = (body: unknown) => createHmac('sha256', 'wh-secret').update(JSON.stringify(body)).digest('hex')
const result = { providerMessageId: id }

testProvider(emailWebhook, {
  credentials: { webhookUrl, secretKey: 'wh-secret' },
  accepted: { body: 'thanks' },
  notJson: 'accepted',
  errorBody: (message) => ({ message }),

  sends: [
    {
      title: 'signed over the exact body',
      requests: [{ url: webhookUrl, headers: { 'x-acme-signature': signature(plain) }, json: plain }],
      result,
    },
    {
      title: "with everything a mail can have, and members of the receiver's own",
      message: { ...fullMail, payload: { order: 7 }, providerData: { fooBar: 1 } },
      requests: [
        {
          url: webhookUrl,
          json: {
            ...plain,
            to: ['ada@example.com', 'bob@example.com'],
            cc: ['cc@example.com'],
            bcc: ['bcc@example.com'],
            senderName: 'Acme',
            replyTo: 'help@acme.example',
            text: 'Hi',
            headers: { 'X-Campaign': 'spring' },
            attachments: [
              { file: { type: 'Buffer', data: [80, 68, 70] }, mime: 'application/pdf', name: 'bill.pdf' },
              { file: { type: 'Buffer', data: [255, 0] }, mime: 'image/png', name: 'logo.png', cid: 'logo' },
            ],
            payloadDetails: { order: 7 },
            fooBar: 1,
          },
        },
      ],
      result,
    },
  ],
})
