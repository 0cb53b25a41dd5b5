import { awsSignature, isRegion } from '../aws.ts'
import { DeliveryError } from '../delivery-error.ts'
import { emailProvider, mailSender, secret, type Tools, text, textAt } from '../provider.ts'
import { isPlain, rename } from '../provider-data.ts'
import { base64 } from './mail.ts'
import { composed, mailOf } from './mime.ts'
import { isFromSns, snsEvents } from './ses-events.ts'

/** https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html#API_SendEmail_Errors */
const codes = {
  TooManyRequestsException: 'rate_limited',
  ThrottlingException: 'rate_limited',
  LimitExceededException: 'quota_exhausted',
  AccountSuspendedException: 'rejected',
  SendingPausedException: 'rejected',
} as const

export const ses = emailProvider({
  id: 'ses',
  name: 'Amazon SES',
  docs: 'https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html',
  credentials: {
    apiKey: secret('Access key ID'),
    secretKey: secret('Secret access key'),
    region: text('Region', 'Such as eu-west-1'),
    ...mailSender,
  },

  async send(message, keys, tools) {
    const { body, headers, query } = tools.extend({
      ...mailOf({ senderName: 'no-reply', ...message }, tools.clock.now()),
    })
    const { ses: settings, ...mail } = body
    const { content, recipients } = await composed(mail, tools)
    const answer = await tools.deliver(`${endpoint(keys.region, tools)}/v2/email/outbound-emails`, {
      isExtended: true,
      headers,
      query,
      json: {
        // All recipients, because blind copies are not in the mail's headers.
        Destination: { ToAddresses: recipients },
        Content: { Raw: { Data: base64(content) } },
        ConfigurationSetName: tools.configurations.configurationSetName,
        ...(isPlain(settings) ? (rename(settings, { casing: 'pascal' }) as object) : {}),
      },
      sign: awsSignature('ses', keys, tools.clock.now()),
    })
    return { providerMessageId: textAt(answer.json, 'MessageId') }
  },

  problem({ body, headers, isSuccess }) {
    if (isSuccess) return undefined
    const name = (headers['x-amzn-errortype'] ?? '').replace(/:.*$/, '')
    const words = textAt(body, 'message') ?? textAt(body, 'Message')
    return { says: [name, words].filter((part) => part).join(': '), code: codes[name as keyof typeof codes] }
  },

  async check(keys, tools) {
    const sign = awsSignature('ses', keys, tools.clock.now())
    try {
      await tools.ask(`${endpoint(keys.region, tools)}/v2/email/account`, { sign })
    } catch (error) {
      // A send-only key is valid; SES answers with this name.
      if (!(error instanceof DeliveryError && error.says?.startsWith('AccessDeniedException'))) throw error
    }
  },

  events: {
    checkedBy: ['region'],
    verify: (request, { credentials: { region } }, tools) => isFromSns(request, region, tools),
    read: (request, tools) => snsEvents(request, tools),
  },
})

function endpoint(region: string, { error }: Tools): string {
  if (!isRegion(region)) throw error('incomplete_credentials', { says: `"${region}" is not a region of AWS` })
  return `https://email.${region}.amazonaws.com`
}
