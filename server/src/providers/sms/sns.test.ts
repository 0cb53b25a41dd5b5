import { expect } from 'vitest'
import { testProvider } from '../../../test/provider-suite.ts'
import { sns } from './sns.ts'

const url = 'https://sns.eu-west-1.amazonaws.com/'
const fixed = { Action: 'Publish', Version: '2010-03-31', PhoneNumber: '+15550100', Message: 'Hi' }
const errorOf = (code: string, message: string) =>
  `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r-1</RequestId></ErrorResponse>`
const result = { providerMessageId: '567910cd-659e-55d4-8ccb-5aaf14679dc0' }

testProvider(sns, {
  credentials: { apiKey: 'AKIDEXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG', region: 'eu-west-1' },
  accepted: {
    headers: { 'content-type': 'text/xml' },
    body: '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>567910cd-659e-55d4-8ccb-5aaf14679dc0</MessageId></PublishResult></PublishResponse>',
  },
  errorBody: (words) => errorOf('ValidationError', words),
  notJson: { code: 'unreadable_answer', kind: 'later', mayHaveArrived: true },

  sends: [
    {
      title: 'signed',
      requests: [
        {
          url,
          headers: {
            accept: 'text/xml',
            'x-amz-date': '20260501T100000Z',
            authorization: expect.stringMatching(
              /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260501\/eu-west-1\/sns\/aws4_request, SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/,
            ),
          },
          form: fixed,
        },
      ],
      result,
    },
    {
      title: 'from a name',
      message: { from: 'Acme' },
      requests: [
        {
          url,
          form: {
            ...fixed,
            'MessageAttributes.entry.1.Name': 'AWS.SNS.SMS.SenderID',
            'MessageAttributes.entry.1.Value.DataType': 'String',
            'MessageAttributes.entry.1.Value.StringValue': 'Acme',
          },
        },
      ],
      result,
    },
    {
      title: "from a number, with attributes of the provider's own",
      message: {
        from: '+15550111',
        providerData: {
          messageAttributes: { 'AWS.SNS.SMS.SMSType': { dataType: 'String', stringValue: 'Transactional' } },
          _passthrough: { body: { MessageAttributes: { team: { StringValue: 'a' } } } },
        },
      },
      requests: [
        {
          url,
          form: {
            ...fixed,
            'MessageAttributes.entry.1.Name': 'AWS.MM.SMS.OriginationNumber',
            'MessageAttributes.entry.1.Value.DataType': 'String',
            'MessageAttributes.entry.1.Value.StringValue': '+15550111',
            'MessageAttributes.entry.2.Name': 'AWS.SNS.SMS.SMSType',
            'MessageAttributes.entry.2.Value.DataType': 'String',
            'MessageAttributes.entry.2.Value.StringValue': 'Transactional',
            'MessageAttributes.entry.3.Name': 'team',
            'MessageAttributes.entry.3.Value.DataType': 'String',
            'MessageAttributes.entry.3.Value.StringValue': 'a',
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
        body: errorOf('InvalidParameter', 'Invalid parameter: PhoneNumber Reason: &quot;1&quot; is not valid'),
      },
      {
        code: 'recipient_refused',
        kind: 'address',
        says: 'Invalid parameter: PhoneNumber Reason: "1" is not valid',
      },
    ],
    ['the recipient wants no more', { status: 400, body: errorOf('OptedOut', 'opted out') }, { kind: 'address' }],
    ['it is asked too often', { status: 400, body: errorOf('Throttling', 'Rate exceeded') }, { code: 'rate_limited' }],
    [
      'the signature is wrong',
      { status: 403, body: errorOf('SignatureDoesNotMatch', 'The request signature does not match') },
      { code: 'unauthorized', kind: 'credentials' },
    ],
  ],
})
