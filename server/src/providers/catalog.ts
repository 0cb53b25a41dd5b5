// Every provider an integration can name: id, display name, channel and the credentials it takes.
// Stored ids of the service's own providers start with `svc`; callers see the brand instead.

export type ProviderChannel = 'in_app' | 'email' | 'sms' | 'chat' | 'push'

export interface Provider {
  id: string
  name: string
  /** The runtime of a conversational bot has no channel. */
  channel: ProviderChannel | undefined
  /** Agents hold conversations; only delivery providers can be set up as integrations. */
  kind: 'delivery' | 'agent'
  credentials: ProviderCredential[]
}

export interface ProviderCredential {
  name: string
  /** Without it nothing can be delivered. It can be saved without, and completed later. */
  required: boolean
}

const texts = [
  'apiKey apiToken secretKey token password serviceAccount signingSecret accessKey webhookUrl',
  'user domain host port region accountSid messageProfileId from senderName projectName applicationId clientId baseUrl',
  'redirectUrl ipPoolName apiKeyRequestHeader secretKeyRequestHeader idPath datePath authenticationTokenKey instanceId',
  'alertUid title imageUrl state externalLink channelId phoneNumberIdentification appSid senderId tenantId',
  'businessAccountId outboundIntegrationId fromAddressOverride AppBaseUrl AppIOBaseUrl apiURL appID apiVersion contentType',
  'servicePlanId',
]
const flags = ['secure requireTls ignoreTls hmac authenticateByToken useFromAddressOverride']
const objects = ['tlsOptions']

/** All credential members there are, by the type of their value. */
export const credentialNames = { text: words(texts), flag: words(flags), object: words(objects) }

/** Members that open the door to somebody's account: encrypted at rest. TLS options can hold a private key. */
export const secretCredentials: ReadonlySet<string> = new Set(
  words(['apiKey apiToken secretKey token password serviceAccount signingSecret accessKey webhookUrl tlsOptions']),
)

interface Group {
  channel?: ProviderChannel
  kind?: Provider['kind']
  /** Credentials every provider of the group takes; `*` marks the required ones. */
  base: string
  rows: Array<[id: string, name: string, credentials: string]>
}

const groups: Group[] = [
  {
    channel: 'email',
    base: 'from* senderName*',
    rows: [
      ['sendgrid', 'SendGrid', 'apiKey* region ipPoolName'],
      ['mailgun', 'Mailgun', 'apiKey* user* domain* baseUrl'],
      ['mailjet', 'Mailjet', 'apiKey* secretKey*'],
      ['postmark', 'Postmark', 'apiKey*'],
      ['ses', 'Amazon SES', 'apiKey* secretKey* region*'],
      ['resend', 'Resend', 'apiKey*'],
      ['sendinblue', 'Brevo', 'apiKey*'],
      ['mandrill', 'Mandrill', 'apiKey*'],
      ['sparkpost', 'SparkPost', 'apiKey* region'],
      ['mailersend', 'MailerSend', 'apiKey*'],
      ['mailtrap', 'Mailtrap', 'apiKey*'],
      ['plunk', 'Plunk', 'apiKey*'],
      ['netcore', 'Netcore', 'apiKey*'],
      ['infobip-email', 'Infobip', 'apiKey* baseUrl*'],
      ['braze', 'Braze', 'apiKey* apiURL* appID*'],
      [
        'nodemailer',
        'Custom SMTP',
        'host* port* user password secure requireTls ignoreTls tlsOptions domain secretKey accountSid',
      ],
      ['outlook365', 'Microsoft Outlook 365', 'password*'],
      ['emailjs', 'EmailJS', 'apiKey* secretKey* host port secure user password'],
      ['email-webhook', 'Email Webhook', 'webhookUrl* secretKey*'],
    ],
  },
  { channel: 'email', base: '', rows: [['svc-email', 'Belfry Email', '']] },
  {
    channel: 'email',
    kind: 'agent',
    base: '',
    rows: [
      ['svc-email-agent', 'Belfry Email Agent', 'outboundIntegrationId useFromAddressOverride fromAddressOverride'],
    ],
  },
  {
    channel: 'sms',
    base: 'from*',
    rows: [
      ['twilio', 'Twilio', 'accountSid* token*'],
      ['nexmo', 'Vonage (Nexmo)', 'apiKey* secretKey*'],
      ['plivo', 'Plivo', 'accountSid* token*'],
      ['telnyx', 'Telnyx', 'apiKey* messageProfileId*'],
      ['messagebird', 'MessageBird', 'accessKey*'],
      ['infobip-sms', 'Infobip', 'apiKey* baseUrl*'],
      ['sms77', 'sms77', 'apiKey*'],
      ['termii', 'Termii', 'apiKey*'],
      ['firetext', 'FireText', 'apiKey*'],
      ['clicksend', 'ClickSend', 'apiKey* user*'],
      ['bandwidth', 'Bandwidth', 'user* password* accountSid*'],
      ['simpletexting', 'SimpleTexting', 'apiKey*'],
      ['azure-sms', 'Azure SMS', 'accessKey*'],
      ['ring-central', 'RingCentral', 'clientId* secretKey* token* secure'],
      ['brevo-sms', 'Brevo', 'apiKey*'],
      ['kannel', 'Kannel', 'host* port* user password'],
      ['maqsam', 'Maqsam', 'apiKey* secretKey*'],
      ['africas-talking', "Africa's Talking", 'apiKey* user*'],
      ['sendchamp', 'Sendchamp', 'apiKey*'],
      ['forty-six-elks', '46elks', 'user* password*'],
      ['sms-central', 'SMS Central', 'user* password* baseUrl'],
      ['mobishastra', 'Mobishastra', 'baseUrl* user* password*'],
      ['afro-message', 'AfroMessage', 'apiKey* senderName*'],
      ['unifonic', 'Unifonic', 'appSid* senderId*'],
      ['smsmode', 'smsmode', 'apiKey*'],
      ['imedia', 'iMedia', 'token*'],
      ['sinch', 'Sinch', 'servicePlanId* apiToken* region*'],
      ['cm-telecom', 'CM.com', 'apiToken*'],
      [
        'generic-sms',
        'SMS Webhook',
        'baseUrl* apiKeyRequestHeader* apiKey* idPath* secretKeyRequestHeader secretKey datePath authenticateByToken domain authenticationTokenKey',
      ],
    ],
  },
  {
    channel: 'sms',
    base: '',
    rows: [
      ['sns', 'Amazon SNS', 'apiKey* secretKey* region*'],
      ['gupshup', 'Gupshup', 'user* password*'],
      ['clickatell', 'Clickatell', 'apiKey*'],
      ['burst-sms', 'Kudosity (BurstSMS)', 'apiKey* secretKey*'],
      ['bulk-sms', 'BulkSMS', 'apiToken* from'],
      ['isend-sms', 'iSend SMS', 'apiToken* from contentType'],
      ['isendpro-sms', 'iSendPro', 'apiKey* from'],
      ['eazy-sms', 'Eazy', 'apiKey* channelId*'],
      ['svc-sms', 'Belfry SMS', ''],
    ],
  },
  {
    channel: 'chat',
    base: '',
    rows: [
      ['slack', 'Slack', 'applicationId* clientId* secretKey* signingSecret* redirectUrl hmac'],
      ['msteams', 'Microsoft Teams', 'clientId secretKey tenantId redirectUrl'],
      ['discord', 'Discord', ''],
      ['mattermost', 'Mattermost', ''],
      ['ryver', 'Ryver', ''],
      ['zulip', 'Zulip', ''],
      ['rocket-chat', 'Rocket.Chat', 'token* user*'],
      ['getstream', 'GetStream', 'apiKey*'],
      ['grafana-on-call', 'Grafana OnCall', 'alertUid title imageUrl state externalLink'],
      [
        'whatsapp-business',
        'WhatsApp Business',
        'apiToken* phoneNumberIdentification* businessAccountId* secretKey* token',
      ],
      ['chat-webhook', 'Chat Webhook', 'secretKey'],
      ['svc-slack', 'Belfry Slack', ''],
    ],
  },
  {
    channel: 'push',
    base: '',
    rows: [
      ['fcm', 'Firebase Cloud Messaging', 'serviceAccount*'],
      ['apns', 'Apple Push Notification service', 'secretKey* apiKey* projectName* applicationId* secure'],
      ['expo', 'Expo Push', 'apiKey*'],
      ['one-signal', 'OneSignal', 'applicationId* apiKey* apiVersion'],
      ['pushpad', 'Pushpad', 'apiKey* applicationId*'],
      ['pusher-beams', 'Pusher Beams', 'instanceId* secretKey*'],
      ['appio', 'App IO', 'AppIOBaseUrl* apiKey'],
      ['push-webhook', 'Push Webhook', 'webhookUrl* secretKey*'],
    ],
  },
  { channel: 'in_app', base: '', rows: [['svc', 'Belfry Inbox', 'hmac']] },
  { kind: 'agent', base: '', rows: [['anthropic', 'Anthropic', 'apiKey*']] },
]

export const providers: readonly Provider[] = groups.flatMap(({ channel, kind = 'delivery', base, rows }) =>
  rows.map(([id, name, own]) => ({
    id,
    name,
    channel,
    kind,
    credentials: words([base, own]).map((word) => ({ name: word.replace('*', ''), required: word.endsWith('*') })),
  })),
)

const byId = new Map(providers.map((provider) => [provider.id, provider]))

/** By its stored id. */
export const findProvider = (id: string): Provider | undefined => byId.get(id)

/** The full set of provider ids, stored form. */
export const providerIds: readonly string[] = providers.map(({ id }) => id)

/** Those a subscriber holds credentials for, stored form. */
export const chatAndPushIds: readonly string[] = providers
  .filter(({ channel }) => channel === 'chat' || channel === 'push')
  .map(({ id }) => id)

/** Those that report what became of a message to our inbound webhook, stored form. */
export const reportingIds: ReadonlySet<string> = new Set(
  words([
    'sendgrid mailgun mailjet postmark ses resend sendinblue mandrill netcore',
    'twilio plivo telnyx termii ring-central imedia',
  ]),
)

function words(lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' ').filter((word) => word !== ''))
}
