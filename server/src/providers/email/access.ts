// Where email vendors are reached and how a caller proves who he is there, for what is asked besides sending.
import type { Credentials } from '../check.ts'
import type { HttpClient } from '../http-client.ts'

export interface Access {
  base(credentials: Credentials): string
  headers(credentials: Credentials): Record<string, string>
}

/** Addresses to use instead of the vendors' own, by provider id. */
export type BaseUrls = Record<string, string>

const bearer = ({ apiKey }: Credentials) => ({ authorization: `Bearer ${String(apiKey)}` })
export const basic = (user: unknown, password: unknown) => ({
  authorization: `Basic ${Buffer.from(`${String(user)}:${String(password)}`).toString('base64')}`,
})
const inRegion = ({ region }: Credentials, worldwide: string, eu: string) =>
  region === 'eu' || region === 'true' ? eu : worldwide

export const access: Record<string, Access> = {
  sendgrid: {
    base: (credentials) => inRegion(credentials, 'https://api.sendgrid.com', 'https://api.eu.sendgrid.com'),
    headers: bearer,
  },
  mailgun: {
    base: ({ baseUrl }) => (typeof baseUrl === 'string' && baseUrl !== '' ? baseUrl : 'https://api.mailgun.net'),
    headers: ({ user, apiKey }) => basic(user, apiKey),
  },
  mailjet: {
    base: () => 'https://api.mailjet.com',
    headers: ({ apiKey, secretKey }) => basic(apiKey, secretKey),
  },
  mailersend: { base: () => 'https://api.mailersend.com', headers: bearer },
  resend: { base: () => 'https://api.resend.com', headers: bearer },
  sendinblue: { base: () => 'https://api.brevo.com', headers: ({ apiKey }) => ({ 'api-key': String(apiKey) }) },
  sparkpost: {
    base: (credentials) => inRegion(credentials, 'https://api.sparkpost.com', 'https://api.eu.sparkpost.com'),
    headers: ({ apiKey }) => ({ authorization: String(apiKey) }),
  },
}

interface Question {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH'
  headers: Record<string, string>
  body?: object | URLSearchParams
  timeoutMs: number
}

/** One request. Redirects are not followed: an address the caller chose must not lead to one he may not reach. */
export async function ask(http: HttpClient, url: string, { method = 'GET', headers, body, timeoutMs }: Question) {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) throw new Error(`"${url}" is not an http(s) URL`)
  const content = body instanceof URLSearchParams ? { form: body } : body ? { json: body } : {}
  const { status, text } = await http.exchange(url, { method, headers, ...content, timeoutMs })
  return { status, isSuccess: status >= 200 && status < 300, text }
}
