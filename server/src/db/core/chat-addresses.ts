// The URL of an incoming chat webhook lets anybody who has it post in that chat: a credential, encrypted wherever it is stored.
import type { Secrets } from './secrets.ts'
import type { SubscriberChannel } from './tables.ts'

/** Replaces the stored form of an address by another form. */
type Change = (address: string) => string

const inEndpoint = <T extends { url?: unknown }>(endpoint: T, change: Change): T =>
  typeof endpoint.url === 'string' ? { ...endpoint, url: change(endpoint.url) } : endpoint

const inChannels = (channels: SubscriberChannel[], change: Change): SubscriberChannel[] =>
  channels.map((channel) => {
    const { webhookUrl } = channel.credentials
    return typeof webhookUrl === 'string'
      ? { ...channel, credentials: { ...channel.credentials, webhookUrl: change(webhookUrl) } }
      : channel
  })

export const sealEndpoint = <T extends object>(endpoint: T, secrets: Secrets): T =>
  inEndpoint(endpoint, (url) => secrets.encrypt(url))
export const showEndpoint = <T extends object>(endpoint: T, show: Change): T => inEndpoint(endpoint, show)
export const openEndpoint = <T extends object>(endpoint: T, secrets: Pick<Secrets, 'decrypt'>): T =>
  inEndpoint(endpoint, (url) => secrets.decrypt(url))

export const sealChannels = (channels: SubscriberChannel[], secrets: Secrets): SubscriberChannel[] =>
  inChannels(channels, (url) => secrets.encrypt(url))
export const showChannels = inChannels
export const openChannels = (channels: SubscriberChannel[], secrets: Pick<Secrets, 'decrypt'>): SubscriberChannel[] =>
  inChannels(channels, (url) => secrets.decrypt(url))

/** Those that the subscriber has; deleted ones are kept for imports only. */
export const heldChannels = (channels: SubscriberChannel[]): SubscriberChannel[] =>
  channels.filter(({ deletedAt }) => deletedAt === undefined)
