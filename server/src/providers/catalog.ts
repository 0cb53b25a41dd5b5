// Every provider an integration can name: id, display name, channel and the credentials it takes, as its own file declares
// them. Stored ids of the service's own providers start with `svc`; callers see the brand instead.
import { deliveryProviders, extraProviders } from './index.ts'
import { type Channel, type Field, flag, optional, secret, text } from './provider.ts'

export type ProviderChannel = Channel | 'in_app'

export interface Provider {
  id: string
  name: string
  /** The runtime of a conversational bot has no channel. */
  channel: ProviderChannel | undefined
  /** Agents hold conversations; only delivery providers can be set up as integrations. */
  kind: 'delivery' | 'agent'
  /** The vendor's documentation. */
  docs: string | undefined
  credentials: ProviderCredential[]
}

export interface ProviderCredential {
  name: string
  label: string
  type: Field['type']
  /** Needed to deliver. An integration can be saved without it and completed later. */
  required: boolean
  secret: boolean
  help?: string
  choices?: readonly string[]
  formerly?: string
}

interface Listed {
  id: string
  name: string
  channel?: ProviderChannel
  docs?: string
  credentials: Record<string, Field>
}

/** Not delivery providers: the inbox is part of this service, and agents only have an entry here. */
const inbox: Listed = {
  id: 'svc',
  name: 'Belfry Inbox',
  channel: 'in_app',
  credentials: { hmac: flag('Require a hash of the subscriber id') },
}
const agents: Listed[] = [
  {
    id: 'svc-email-agent',
    name: 'Belfry Email Agent',
    channel: 'email',
    credentials: {
      outboundIntegrationId: optional(text('Outbound integration')),
      useFromAddressOverride: flag('Use another from address'),
      fromAddressOverride: optional(text('From address')),
    },
  },
  { id: 'anthropic', name: 'Anthropic', credentials: { apiKey: secret('API key') } },
]

const channels: Array<ProviderChannel | undefined> = ['email', 'sms', 'chat', 'push', 'in_app', undefined]

const entry =
  (kind: Provider['kind']) =>
  (listed: Listed): Provider => ({
    id: listed.id,
    name: listed.name,
    channel: listed.channel,
    kind,
    docs: listed.docs || undefined,
    credentials: Object.entries(listed.credentials).map(([name, field]) => {
      const { label, type, required, secret, help, choices, formerly } = field
      return {
        ...{ name, label, type, required, secret },
        ...(help === undefined ? {} : { help }),
        ...(choices === undefined ? {} : { choices }),
        ...(formerly === undefined ? {} : { formerly }),
      }
    }),
  })

/** By channel and id. */
export const providers: readonly Provider[] = [
  ...[...deliveryProviders.filter(({ unlisted }) => !unlisted), inbox].map(entry('delivery')),
  ...agents.map(entry('agent')),
].sort((a, b) => channels.indexOf(a.channel) - channels.indexOf(b.channel) || (a.id < b.id ? -1 : 1))

/** Offered only if the operator turns them on: public clients fail on ids outside their closed set. */
export const extras: readonly Provider[] = extraProviders.map(entry('delivery'))

/** Of those, offered everywhere. */
export const alwaysOffered: readonly string[] = ['web-push']

const byId = new Map([...providers, ...extras].map((provider) => [provider.id, provider]))

/** By its stored id. */
export const findProvider = (id: string): Provider | undefined => byId.get(id)

const unlisted = new Map(
  deliveryProviders
    .filter((provider) => provider.unlisted)
    .map(entry('delivery'))
    .map((provider) => [provider.id, provider]),
)

/** Also one that is not offered, but that every environment begins with. */
export const findStoredProvider = (id: string): Provider | undefined => byId.get(id) ?? unlisted.get(id)

/** The full set of provider ids, stored form. */
export const providerIds: readonly string[] = providers.map(({ id }) => id)

/** Providers that a subscriber has credentials for, stored form. */
export const chatAndPushIds: readonly string[] = providers
  .filter(({ channel }) => channel === 'chat' || channel === 'push')
  .map(({ id }) => id)

/** Providers that report delivery events to our inbound webhook, stored form. */
export const reportingIds: ReadonlySet<string> = new Set(
  deliveryProviders.filter(({ events }) => events).map(({ id }) => id),
)

/** The credentials of a provider that verify its reports without a signing key. */
export const reportsCheckedBy: ReadonlyMap<string, readonly string[]> = new Map(
  deliveryProviders.map(({ id, events }) => [id, events?.checkedBy ?? []]),
)

const declared = providers.flatMap(({ credentials }) => credentials)
/** The public client has this credential; no provider uses it. */
const unused = [{ name: 'AppBaseUrl', type: 'text' }]
const namesOf = (type: Field['type']) =>
  [...new Set([...declared, ...unused].flatMap((each) => (each.type === type ? [each.name] : [])))].sort()

/** All credential names, by the type of their value. */
export const credentialNames = { text: namesOf('text'), flag: namesOf('flag'), object: namesOf('object') }

/** Credentials that are secret with any provider: encrypted at rest. */
export const secretCredentials: ReadonlySet<string> = new Set(
  declared.filter(({ secret }) => secret).map(({ name }) => name),
)
