// What an integration's row says by itself: whether its channel has a primary, whether it is the sandbox, and its secrets.
import type { Secrets } from './secrets.ts'

/** These channels deliver through one primary integration. The others use every integration that reaches a subscriber. */
export const hasPrimary = (channel: string) => channel === 'email' || channel === 'sms'

/** Keeps messages for the developer to look at, and delivers none. */
export const isSandbox = ({ provider_id }: { provider_id: string }): boolean => provider_id.startsWith('svc-')

type Members = Record<string, unknown>

/** For storage: encrypts the members with these names. */
export const sealSecrets = (members: Members, names: ReadonlySet<string>, secrets: Secrets): Members =>
  mapSecrets(members, names, (text) => secrets.encrypt(text))

/** Decrypts them. */
export const openSecrets = (stored: Members, names: ReadonlySet<string>, secrets: Pick<Secrets, 'decrypt'>): Members =>
  mapSecrets(stored, names, (text) => secrets.decrypt(text))

function mapSecrets(members: Members, names: ReadonlySet<string>, change: (text: string) => string): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, names.has(name) ? mapTexts(value, change) : value]),
  )
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, change)]))
}
