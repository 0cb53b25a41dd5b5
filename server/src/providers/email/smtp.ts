// Mail over SMTP: any server by its host and port, and Outlook 365, which is one such server.
import { createTransport } from 'nodemailer'
import type SMTPTransport from 'nodemailer/lib/smtp-transport/index.js'
import { type CheckResult, type Credentials, refused, unresolvable } from '../check.ts'

export interface SmtpServer {
  host: string
  port: number
  /** Outlook 365 takes no mail before the connection is encrypted. */
  requireTls?: boolean
}

/** Services that differ from any other SMTP server only in their address. The user is the sender. */
export const wellKnownServers: Record<string, SmtpServer> = {
  outlook365: { host: 'smtp.office365.com', port: 587, requireTls: true },
}

/** What a caller may decide about TLS. Anything else, such as a socket path, is not a matter of encryption. */
const tlsMembers = [
  ...['rejectUnauthorized', 'servername', 'minVersion', 'maxVersion', 'ciphers'],
  ...['ca', 'cert', 'key', 'passphrase'],
]

const timeouts = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 }

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The connection these credentials describe; with `server`, to that one instead of the host and port they name. */
export function smtpOptions(credentials: Credentials, server?: SmtpServer): SMTPTransport.Options {
  const { secure, requireTls, ignoreTls, tlsOptions } = credentials
  const host = server?.host ?? text(credentials.host) ?? ''
  const user = server ? text(credentials.from) : text(credentials.user)
  const pass = text(credentials.password)
  const port = server?.port ?? (text(credentials.port) === undefined ? undefined : Number(credentials.port))
  return {
    host,
    name: host,
    ...(port === undefined ? {} : { port }),
    ...(user !== undefined && pass !== undefined ? { auth: { user, pass } } : {}),
    secure: !server && secure === true,
    requireTLS: server?.requireTls ?? requireTls === true,
    ignoreTLS: !server && ignoreTls === true,
    tls: Object.fromEntries(Object.entries(tlsOptions ?? {}).filter(([name]) => tlsMembers.includes(name))),
    disableFileAccess: true,
    disableUrlAccess: true,
    ...timeouts,
  }
}

/** Connects and signs in, without sending anything. */
export async function checkSmtp(credentials: Credentials, server?: SmtpServer): Promise<CheckResult> {
  const options = smtpOptions(credentials, server)
  const { port } = options
  if (port !== undefined && !(Number(port) > 0 && Number(port) < 65_536))
    return refused(`The port "${String(credentials.port)}" is not a number from 1 to 65535`, credentials)
  const transport = createTransport(options)
  try {
    await transport.verify()
    return { ok: true }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'EDNS' ? unresolvable(options.host ?? '') : refused(message, credentials)
  } finally {
    transport.close()
  }
}
