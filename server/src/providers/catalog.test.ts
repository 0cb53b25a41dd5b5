import { ChatOrPushProviderEnum } from '@novu/api/models/components/chatorpushproviderenum.js'
import { ProvidersIdEnum } from '@novu/api/models/components/providersidenum.js'
import { describe, expect, test } from 'vitest'
import {
  chatAndPushIds,
  credentialNames,
  findProvider,
  providerIds,
  providers,
  reportingIds,
  secretCredentials,
} from './catalog.ts'

/** The credentials of each provider; a star marks those that forms require. */
const asked: Record<string, string> = {
  braze: 'apiKey* apiURL* appID* from* senderName*',
  'email-webhook': 'webhookUrl* secretKey* from* senderName*',
  emailjs: 'host* port* user password secure apiKey secretKey from* senderName*',
  'infobip-email': 'apiKey* baseUrl* from* senderName*',
  mailersend: 'apiKey* from* senderName*',
  mailgun: 'apiKey* user* domain* baseUrl from* senderName*',
  mailjet: 'apiKey* secretKey* from* senderName*',
  mailtrap: 'apiKey* from* senderName*',
  mandrill: 'apiKey* from* senderName*',
  netcore: 'apiKey* from* senderName*',
  nodemailer:
    'host* port* user password secure requireTls ignoreTls tlsOptions domain secretKey accountSid from* senderName*',
  outlook365: 'password* from* senderName*',
  plunk: 'apiKey* from* senderName*',
  postmark: 'apiKey* from* senderName*',
  resend: 'apiKey* from* senderName*',
  sendgrid: 'apiKey* region ipPoolName from* senderName*',
  sendinblue: 'apiKey* from* senderName*',
  ses: 'apiKey* secretKey* region* from* senderName*',
  sparkpost: 'apiKey* region from* senderName*',
  'svc-email': '',
  'svc-email-agent': 'outboundIntegrationId useFromAddressOverride fromAddressOverride',
  'africas-talking': 'apiKey* user* from*',
  'afro-message': 'apiKey* senderName* from*',
  'azure-sms': 'accessKey* from*',
  bandwidth: 'user* password* accountSid* from*',
  'brevo-sms': 'apiKey* from*',
  'bulk-sms': 'apiToken* from',
  'burst-sms': 'apiKey* secretKey*',
  clickatell: 'apiKey*',
  clicksend: 'apiKey* user* from*',
  'cm-telecom': 'apiToken* from*',
  'eazy-sms': 'apiKey* channelId*',
  firetext: 'apiKey* from*',
  'forty-six-elks': 'user* password* from*',
  'generic-sms':
    'baseUrl* apiKeyRequestHeader* apiKey* idPath* secretKeyRequestHeader secretKey datePath authenticateByToken domain ' +
    'authenticationTokenKey from*',
  gupshup: 'user* password*',
  imedia: 'token* from*',
  'infobip-sms': 'apiKey* baseUrl* from*',
  'isend-sms': 'apiToken* from contentType',
  'isendpro-sms': 'apiKey* from',
  kannel: 'host* port* user password from*',
  maqsam: 'apiKey* secretKey* from*',
  messagebird: 'accessKey* from*',
  mobishastra: 'baseUrl* user* password* from*',
  nexmo: 'apiKey* secretKey* from*',
  plivo: 'accountSid* token* from*',
  'ring-central': 'clientId* secretKey* token* secure from*',
  sendchamp: 'apiKey* from*',
  simpletexting: 'apiKey* from*',
  sinch: 'servicePlanId* apiToken* region* from*',
  'sms-central': 'user* password* baseUrl from*',
  sms77: 'apiKey* from*',
  smsmode: 'apiKey* from*',
  sns: 'apiKey* secretKey* region*',
  'svc-sms': '',
  telnyx: 'apiKey* messageProfileId* from*',
  termii: 'apiKey* from*',
  twilio: 'accountSid* token* from*',
  unifonic: 'appSid* senderId* from*',
  'chat-webhook': 'secretKey',
  discord: '',
  getstream: 'apiKey*',
  'grafana-on-call': 'alertUid title imageUrl state externalLink',
  mattermost: '',
  msteams: 'clientId secretKey tenantId redirectUrl',
  'rocket-chat': 'token* user*',
  ryver: '',
  slack: 'applicationId* clientId* secretKey* signingSecret* redirectUrl hmac',
  'svc-slack': '',
  'whatsapp-business': 'apiToken* phoneNumberIdentification* businessAccountId secretKey token',
  zulip: '',
  apns: 'secretKey* apiKey* projectName* applicationId* secure',
  appio: 'AppIOBaseUrl apiKey',
  expo: 'apiKey*',
  fcm: 'serviceAccount*',
  'one-signal': 'applicationId* apiKey* apiVersion',
  'push-webhook': 'webhookUrl* secretKey*',
  'pusher-beams': 'instanceId* secretKey*',
  pushpad: 'apiKey* applicationId*',
  svc: 'hmac',
  anthropic: 'apiKey*',
}

describe('the catalog', () => {
  test("under the public client's brand it has exactly the ids that client knows", () => {
    const wire = (ids: readonly string[]) => ids.map((id) => id.replace(/^svc\b/, 'novu')).sort()
    expect(wire(providerIds)).toEqual(Object.values(ProvidersIdEnum).sort())
    expect(wire(chatAndPushIds)).toEqual(Object.values(ChatOrPushProviderEnum).sort())
  })

  test('every id is unique, and finds its provider', () => {
    expect(new Set(providerIds).size).toBe(providers.length)
    for (const provider of providers) expect(findProvider(provider.id)).toBe(provider)
    expect(findProvider('carrier-pigeon')).toBeUndefined()
    for (const id of reportingIds) expect(findProvider(id)?.kind).toBe('delivery')
  })

  test("each provider's credentials have the names that existing integrations use", () => {
    const names = (text: string) => text.split(' ').filter(Boolean).sort()
    const declared = providers.map(({ id, credentials }) => [
      id,
      credentials.map(({ name, required }) => `${name}${required ? '*' : ''}`).sort(),
    ])
    const expected = Object.entries(asked).map(([id, text]) => [id, names(text)])
    expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(expected))
  })

  test('providers declare only known credentials, each once', () => {
    const known = new Set<string>(Object.values(credentialNames).flat())
    for (const { id, credentials } of providers) {
      const names = credentials.map(({ name }) => name)
      expect([id, names.filter((name) => !known.has(name))]).toEqual([id, []])
      expect([id, new Set(names).size]).toEqual([id, names.length])
    }
    expect([...secretCredentials].filter((name) => !known.has(name))).toEqual([])
  })

  test('credentials have all that a form needs', () => {
    expect(findProvider('postmark')).toEqual({
      id: 'postmark',
      name: 'Postmark',
      channel: 'email',
      kind: 'delivery',
      docs: 'https://postmarkapp.com/developer/api/email-api',
      credentials: [
        { name: 'apiKey', label: 'Server API token', type: 'text', required: true, secret: true },
        { name: 'from', label: 'From address', type: 'text', required: true, secret: false },
        { name: 'senderName', label: 'Sender name', type: 'text', required: true, secret: false },
      ],
    })
  })

  test('a credential that is secret for one provider is encrypted for all', () => {
    expect([...secretCredentials]).toEqual(
      expect.arrayContaining(['apiKey', 'secretKey', 'token', 'password', 'accessKey', 'webhookUrl', 'tlsOptions']),
    )
    expect([...secretCredentials].filter((name) => /^(from|host|port|user|region|senderName)$/.test(name))).toEqual([])
  })
})
