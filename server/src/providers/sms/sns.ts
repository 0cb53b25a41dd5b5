import { decodeXML } from 'entities'
import { awsSignature, isRegion } from '../aws.ts'
import type { DeliveryErrorCode } from '../delivery-error.ts'
import { confirmSubscription, isFromSns, snsMessage } from '../email/ses-events.ts'
import { textOf } from '../events.ts'
import { secret, smsProvider, text, textAt } from '../provider.ts'
import { type Data, isPlain } from '../provider-data.ts'

/** https://docs.aws.amazon.com/sns/latest/api/API_Publish.html#API_Publish_Errors */
const codes: Record<string, DeliveryErrorCode> = {
  OptedOut: 'recipient_refused',
  Throttled: 'rate_limited',
  Throttling: 'rate_limited',
  RequestExpired: 'unauthorized',
}

export const sns = smsProvider({
  id: 'sns',
  name: 'Amazon SNS',
  docs: 'https://docs.aws.amazon.com/sns/latest/api/API_Publish.html',
  credentials: {
    apiKey: secret('Access key ID'),
    secretKey: secret('Secret access key'),
    region: text('Region', 'Such as eu-west-1'),
  },
  naming: {
    casing: 'pascal',
    names: {
      AwsSnsSmsSenderId: 'AWS.SNS.SMS.SenderID',
      AwsSnsSmsSmsType: 'AWS.SNS.SMS.SMSType',
      AwsSnsSmsMaxPrice: 'AWS.SNS.SMS.MaxPrice',
      AwsMmSmsOriginationNumber: 'AWS.MM.SMS.OriginationNumber',
      AwsMmSmsEntityId: 'AWS.MM.SMS.EntityId',
      AwsMmSmsTemplateId: 'AWS.MM.SMS.TemplateId',
    },
  },

  async send({ to, from, content }, keys, { deliver, error, clock }) {
    const { region } = keys
    if (!isRegion(region)) throw error('incomplete_credentials', { says: `"${region}" is not a region of AWS` })
    const answer = await deliver(`https://sns.${region}.amazonaws.com/`, {
      headers: { accept: 'text/xml' },
      form: {
        Action: 'Publish',
        Version: '2010-03-31',
        PhoneNumber: to,
        Message: content,
        MessageAttributes: from === undefined ? undefined : senderOf(from),
      },
      wrap: inOneLevel,
      sign: awsSignature('sns', keys, clock.now()),
    })
    return { providerMessageId: tagged(answer.text, 'MessageId') }
  },

  problem({ isSuccess, text }) {
    if (isSuccess) return tagged(text, 'MessageId') === undefined ? { code: 'unreadable_answer' } : undefined
    const says = tagged(text, 'Message')
    const isRecipient = tagged(text, 'Code') === 'InvalidParameter' && /\bPhoneNumber\b/.test(says ?? '')
    return { says, code: isRecipient ? 'recipient_refused' : codes[tagged(text, 'Code') ?? ''] }
  },

  events: {
    checkedBy: ['region'],
    verify: (request, { credentials: { region } }, tools) => isFromSns(request, region, tools),
    async read(request, tools) {
      await confirmSubscription(request, tools)
      return []
    },
    /** https://docs.aws.amazon.com/sms-voice/latest/userguide/two-way-sms-payload.html */
    texts: (request) => {
      const message = snsMessage(request)
      return textOf({
        id: textAt(message, 'inboundMessageId'),
        from: textAt(message, 'originationNumber'),
        to: textAt(message, 'destinationNumber'),
        text: textAt(message, 'messageBody'),
      })
    },
  },
})

/** A sender name is shown unchanged; a number must belong to the account. */
const senderOf = (from: string) => ({
  [/^\+?\d+$/.test(from) ? 'AWS.MM.SMS.OriginationNumber' : 'AWS.SNS.SMS.SenderID']: {
    DataType: 'String',
    StringValue: from,
  },
})

/** Forms have no objects, so attributes are numbered. */
function inOneLevel({ MessageAttributes, ...body }: Data): Data {
  const attributes = isPlain(MessageAttributes) ? Object.entries(MessageAttributes) : []
  const members = attributes.flatMap(([name, value], index) => [
    [`MessageAttributes.entry.${index + 1}.Name`, name],
    [`MessageAttributes.entry.${index + 1}.Value.DataType`, textAt(value, 'DataType') ?? 'String'],
    [`MessageAttributes.entry.${index + 1}.Value.StringValue`, textAt(value, 'StringValue')],
  ])
  return { ...body, ...(Object.fromEntries(members) as Data) }
}

function tagged(xml: string, tag: string): string | undefined {
  const [, content] = new RegExp(`<${tag}>([^<]+)</${tag}>`).exec(xml) ?? []
  return content === undefined ? undefined : decodeXML(content)
}
