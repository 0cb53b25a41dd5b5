// What each vendor sends when somebody answers a text, as its documentation shows it.
import { expect, test } from 'vitest'
import { InboundRequest } from '../events.ts'
import { deliveryProvider } from '../index.ts'

const text = { from: '+14155550123', to: '+15550001234', text: 'STOP' }
const form = (members: Record<string, string>) => new URLSearchParams(members).toString()

test.each([
  ['twilio', form({ MessageSid: 'SM1', From: text.from, To: text.to, Body: 'STOP' }), { ...text, id: 'SM1' }],
  [
    'plivo',
    form({ MessageUUID: 'u1', From: text.from, To: text.to, Text: 'STOP', Type: 'sms' }),
    { ...text, id: 'u1' },
  ],
  [
    'nexmo',
    { messageId: 'n1', msisdn: '14155550123', to: '15550001234', text: 'STOP', type: 'text' },
    { ...text, id: 'n1' },
  ],
  [
    'messagebird',
    { id: 'b1', originator: '14155550123', recipient: '15550001234', body: 'STOP' },
    { ...text, id: 'b1' },
  ],
  ['sinch', { id: 's1', type: 'mo_text', from: '14155550123', to: '15550001234', body: 'STOP' }, { ...text, id: 's1' }],
  [
    'telnyx',
    {
      data: {
        event_type: 'message.received',
        payload: { id: 't1', from: { phone_number: text.from }, to: [{ phone_number: text.to }], text: 'STOP' },
      },
    },
    { ...text, id: 't1' },
  ],
  [
    'infobip-sms',
    { results: [{ messageId: 'i1', from: '14155550123', to: '15550001234', text: 'STOP' }] },
    { ...text, id: 'i1' },
  ],
  [
    'sns',
    {
      Type: 'Notification',
      Message: JSON.stringify({
        ...{ originationNumber: text.from, destinationNumber: text.to, messageBody: 'STOP', inboundMessageId: 'a1' },
      }),
    },
    { ...text, id: 'a1' },
  ],
])('%s', (id, body, expected) => {
  const request = new InboundRequest({
    url: 'https://belfry.example.com/in',
    headers: { 'content-type': typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json' },
    rawBody: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  })
  expect(deliveryProvider(id)?.events?.texts?.(request)).toEqual([expected])
})

test('Twilio is told what to answer, and not where it has answered itself', () => {
  const answer = deliveryProvider('twilio')?.events?.answerText
  expect(answer?.('A & B').body).toContain('<Response><Message>A &amp; B</Message></Response>')
  expect(answer?.(undefined).body).toContain('<Response/>')
  const body = form({ MessageSid: 'SM1', From: text.from, To: text.to, Body: 'STOP', OptOutType: 'STOP' })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const request = new InboundRequest({ url: 'https://x.example', headers, rawBody: Buffer.from(body) })
  expect(deliveryProvider('twilio')?.events?.texts?.(request)).toMatchObject([{ isAnswered: true }])
})
