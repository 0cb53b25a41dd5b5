// Whether an email provider accepts an integration's credentials: one authenticated read, nothing is sent.
import type { Provider } from '../catalog.ts'
import { type CheckResult, type Credentials, missingCredentials, refused, unresolvable } from '../check.ts'
import { DeliveryError } from '../delivery-error.ts'
import type { HttpClient } from '../http-client.ts'
import { access, ask, type BaseUrls } from './access.ts'

interface Probe {
  /** Something small that any genuine key may read. */
  path(credentials: Credentials): string
  /** A refusal that proves the key genuine all the same. */
  isGenuine?(answer: string): boolean
}

const probes: Record<string, Probe> = {
  sendgrid: { path: () => '/v3/scopes' },
  mailgun: { path: ({ domain }) => `/v3/domains/${encodeURIComponent(String(domain))}` },
  mailjet: { path: () => '/v3/REST/sender?Limit=1' },
  mailersend: { path: () => '/v1/api-quota' },
  // A key that may only send is refused every read, and is told so by this name.
  resend: { path: () => '/domains', isGenuine: (answer) => answer.includes('restricted_api_key') },
  sendinblue: { path: () => '/v3/account' },
  sparkpost: { path: () => '/api/v1/account' },
}

export interface Vendors {
  /** Where to ask instead of the vendors themselves, by provider id. */
  urls?: BaseUrls
  timeoutMs?: number
}

/** Providers that offer no cheap way to ask pass. */
export async function checkEmail(
  http: HttpClient,
  provider: Provider,
  credentials: Credentials,
  { urls = {}, timeoutMs = 5_000 }: Vendors = {},
): Promise<CheckResult> {
  const { id, name } = provider
  const [probe, vendor] = [probes[id], access[id]]
  if (!probe || !vendor) return { ok: true }
  // Sender details matter only once something is sent.
  const incomplete = missingCredentials(provider, credentials, ['from', 'senderName'])
  if (incomplete) return incomplete
  const url = (urls[id] ?? vendor.base(credentials)).replace(/\/+$/, '') + probe.path(credentials)
  try {
    const { status, isSuccess, text } = await ask(http, url, { headers: vendor.headers(credentials), timeoutMs })
    const isRefusal = status === 401 || status === 403
    if (isSuccess || (isRefusal && probe.isGenuine?.(text))) return { ok: true }
    const reason = isRefusal ? 'does not accept these credentials' : 'could not check the credentials'
    return refused(`${name} ${reason}; it answered with HTTP status ${status}`, credentials)
  } catch (error) {
    const code = error instanceof DeliveryError ? error.code : undefined
    if (code === 'host_unknown') return unresolvable(new URL(url).hostname)
    if (code === 'timeout') return refused(`${name} did not answer in time`, credentials)
    return refused(`${name} could not be reached: ${(error as Error).message}`, credentials)
  }
}
