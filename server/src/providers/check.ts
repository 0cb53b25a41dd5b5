// What asking a vendor about credentials can end in, and how the reason is worded without giving any of them away.
import { type Provider, secretCredentials } from './catalog.ts'

/** An integration's credentials in clear. */
export type Credentials = Record<string, unknown>

export type CheckResult = { ok: true } | { ok: false; reason: string }

const longestReason = 500

export const unresolvable = (host: string): CheckResult => ({
  ok: false,
  reason: `Provider gateway can't resolve the host with the given hostname ${host}`,
})

/** What other programs say about a failure can repeat what they were sent: secrets are taken out of it. */
export function refused(reason: string, credentials: Credentials): CheckResult {
  return { ok: false, reason: withoutSecrets(reason, credentials).slice(0, longestReason) }
}

export function withoutSecrets(text: string, credentials: Credentials): string {
  const secrets = Object.entries(credentials).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' && secretCredentials.has(name) ? [value] : [],
  )
  const forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString('base64')])
  // The longest first: a secret that is part of another must not leave the rest of it behind.
  return forms.sort((a, b) => b.length - a.length).reduce((clean, secret) => clean.replaceAll(secret, '***'), text)
}

/** Says what is missing of the credentials the provider requires, those aside that play no part in the check. */
export function missingCredentials(
  provider: Provider,
  credentials: Credentials,
  aside: string[],
): CheckResult | undefined {
  const missing = provider.credentials
    .filter(({ name, required }) => required && !aside.includes(name) && !credentials[name])
    .map(({ name }) => name)
  if (missing.length === 0) return undefined
  return { ok: false, reason: `${provider.name} cannot be checked without these credentials: ${missing.join(', ')}` }
}
