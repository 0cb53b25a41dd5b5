// Asks an email provider to report what becomes of messages: registers our inbound webhook there.
import type { Provider } from '../catalog.ts'
import { type Credentials, withoutSecrets } from '../check.ts'
import type { HttpClient } from '../http-client.ts'
import { access, ask, type BaseUrls, basic } from './access.ts'

const timeoutMs = 10_000

export interface AutoConfigured {
  success: boolean
  message: string
  /** To be merged into the integration's configurations. */
  configurations?: { inboundWebhookEnabled: boolean; inboundWebhookSigningKey: string }
}

type Call = (method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: object) => Promise<Record<string, unknown>>
type Configure = (call: Call, credentials: Credentials, webhookUrl: string) => Promise<AutoConfigured>

const configurable: Record<string, Configure> = { sendgrid: configureSendGrid, mailgun: configureMailgun }

/** Failing is an answer like any other. */
export async function autoConfigure(
  http: HttpClient,
  provider: Provider,
  credentials: Credentials,
  webhookUrl: string,
  urls: BaseUrls = {},
): Promise<AutoConfigured> {
  const { id, name } = provider
  const [configure, vendor] = [configurable[id], access[id]]
  if (!configure || !vendor) {
    const message = `${name} does not currently offer automatic inbound webhook configuration. Please configure your webhook manually.`
    return { success: false, message }
  }
  const base = (urls[id] ?? vendor.base(credentials)).replace(/\/+$/, '')
  const call: Call = async (method, path, body) => {
    // Mailgun lets nobody but the account itself, named `api`, read the signing key.
    const headers = path.startsWith('/v5/') ? basic('api', credentials.apiKey) : vendor.headers(credentials)
    const answer = await ask(http, base + path, { method, headers, ...(body ? { body } : {}), timeoutMs })
    if (!answer.isSuccess) throw new Error(`it answered with HTTP status ${answer.status}`)
    return JSON.parse(answer.text) as Record<string, unknown>
  }
  try {
    return await configure(call, credentials, webhookUrl)
  } catch (error) {
    const message = `${name} webhook configuration failed: ${(error as Error).message}`
    return { success: false, message: withoutSecrets(message, credentials) }
  }
}

async function configureSendGrid(call: Call, _: Credentials, url: string): Promise<AutoConfigured> {
  const settings = '/v3/user/webhooks/event/settings'
  const { webhooks = [] } = (await call('GET', `${settings}/all`)) as { webhooks?: Array<{ id: string; url: string }> }
  // Asking twice must not have every event reported twice.
  const existing = webhooks.find((webhook) => webhook.url === url)
  const events = { delivered: true, open: true, click: true, bounce: true, dropped: true }
  const { id } = existing ?? (await call('POST', settings, { enabled: true, url, ...events }))
  const { public_key } = await call('PATCH', `${settings}/signed/${encodeURIComponent(String(id))}`, { enabled: true })
  return {
    success: true,
    message: 'SendGrid webhook configured successfully with signature verification enabled',
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: String(public_key) },
  }
}

async function configureMailgun(call: Call, { domain }: Credentials, url: string): Promise<AutoConfigured> {
  const path = `/v3/domains/${encodeURIComponent(String(domain))}/webhooks`
  const { webhooks = {} } = (await call('GET', path)) as { webhooks?: Record<string, unknown> }
  for (const event of ['delivered', 'opened', 'clicked', 'permanent_fail']) {
    if (webhooks[event] == null) await call('POST', path, new URLSearchParams({ id: event, url }))
    else await call('PUT', `${path}/${event}`, new URLSearchParams({ url }))
  }
  // Keys made for one domain may not read the signing key; events then arrive all the same, only unverified.
  const { http_signing_key: signingKey = '' } = await call('GET', '/v5/accounts/http_signing_key').catch(
    (): Record<string, unknown> => ({}),
  )
  return {
    success: true,
    message: signingKey
      ? 'Mailgun webhooks configured successfully with signature verification enabled'
      : 'Mailgun webhooks configured successfully. Please add the HTTP webhook signing key of your account by hand.',
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: String(signingKey) },
  }
}
