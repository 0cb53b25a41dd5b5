// Mail over SMTP, for every provider that is such a server. Connections stay open between messages, up to five for an
// integration; nodemailer does the protocol and the MIME, and is read with the first message.
import { Transform, type TransformCallback } from 'node:stream'
import type Mail from 'nodemailer/lib/mailer/index.js'
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js'
import { DeliveryError, type DeliveryErrorCode, transportError } from '../delivery-error.ts'
import type { EmailMessage, SendResult, Tools } from '../provider.ts'
import { mailOf } from './mime.ts'

export interface SmtpServer {
  host: string
  port: string
  auth?: { user: string; pass: string }
  /** Encrypted from the start. Otherwise it is as soon as the server offers it. */
  secure?: boolean
  requireTls?: boolean
  ignoreTls?: boolean
  tlsOptions?: Record<string, unknown> | undefined
  dkim?: { domainName: string; keySelector: string; privateKey: string }
}

/** What a caller may decide about TLS. Anything else, such as a socket path, is not a matter of encryption. */
const tlsMembers = [
  ...['rejectUnauthorized', 'servername', 'minVersion', 'maxVersion', 'ciphers'],
  ...['ca', 'cert', 'key', 'passphrase'],
]

const mostConnections = 5
/** After which a server may be tired of a connection. */
const mostMessages = 100

export async function sendMail(message: EmailMessage, server: SmtpServer, tools: Tools): Promise<SendResult> {
  const { body, headers } = tools.extend({ ...mailOf(message, tools.clock.now()) })
  const mail = { ...body, headers: { ...(body.headers as Record<string, string>), ...headers } } as Mail.Options
  const transport = await tools.keep(() => open(server, tools, { pool: true }))
  try {
    const { messageId } = await within(tools.timeoutMs, transport.sendMail(mail), server)
    return { providerMessageId: messageId }
  } catch (error) {
    throw problem(error, server, tools)
  }
}

/** Waiting for a connection counts: a server that hangs must not gather those who wait for it. */
async function within<T>(timeoutMs: number, work: Promise<T>, { host }: SmtpServer): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeliveryError('timeout', { host })), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Connects and signs in, without sending anything. */
export async function checkServer(server: SmtpServer, tools: Tools): Promise<void> {
  const transport = await open(server, tools, { pool: true, maxConnections: 1 })
  try {
    await transport.verify()
  } catch (error) {
    throw problem(error, server, tools)
  } finally {
    transport.close()
  }
}

async function open(server: SmtpServer, tools: Tools, pool: { pool: true; maxConnections?: number }) {
  const { createTransport } = await import('nodemailer')
  const options = { ...smtpOptions(server, tools), maxConnections: mostConnections, maxMessages: mostMessages, ...pool }
  const transport = createTransport(options)
  // Whoever's message fails is told; an idle connection that ends is nobody's concern.
  transport.on('error', () => undefined)
  transport.use('stream', (mail, callback) => {
    mail.message.transform(new Gathered())
    callback()
  })
  return transport
}

const largestPiece = 64 * 1024

/** The library hands a mail over line by line, and each would be sent, and encrypted, by itself. */
export class Gathered extends Transform {
  #waiting: Buffer[] = []
  #size = 0

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#waiting.push(chunk)
    this.#size += chunk.length
    if (this.#size >= largestPiece) this.#handOn()
    done()
  }

  override _flush(done: TransformCallback): void {
    if (this.#size > 0) this.#handOn()
    done()
  }

  #handOn(): void {
    this.push(Buffer.concat(this.#waiting, this.#size))
    this.#waiting = []
    this.#size = 0
  }
}

export function smtpOptions(
  server: SmtpServer,
  { http, timeoutMs, error }: Pick<Tools, 'http' | 'timeoutMs' | 'error'>,
) {
  const { host, auth, dkim, tlsOptions, secure = false, requireTls = false, ignoreTls = false } = server
  const port = Number(server.port)
  if (!(Number.isInteger(port) && port > 0 && port < 65_536))
    throw error('incomplete_credentials', { says: `The port "${server.port}" is not a number from 1 to 65535` })
  const getSocket: SMTPPool.Options['getSocket'] = (_, callback) =>
    void http.connect(host, port).then(
      (connection) => callback(null, { connection }),
      (reason: unknown) => callback(reason as Error, undefined),
    )
  return {
    host,
    port,
    name: host,
    secure,
    requireTLS: requireTls,
    ignoreTLS: ignoreTls,
    tls: {
      ...http.authorities,
      ...Object.fromEntries(Object.entries(tlsOptions ?? {}).filter(([name]) => tlsMembers.includes(name))),
    },
    ...(auth ? { auth } : {}),
    ...(dkim ? { dkim } : {}),
    getSocket,
    disableFileAccess: true,
    disableUrlAccess: true,
    // Whether to send again is not for the pool to decide.
    maxRequeues: 0,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  }
}

interface SmtpFailure extends Error {
  code?: string
  /** The server's three digits. */
  responseCode?: number
  response?: string
  command?: string
}

function problem(failure: unknown, { host }: SmtpServer, tools: Tools): DeliveryError {
  if (failure instanceof DeliveryError) return failure
  const error = failure as SmtpFailure
  const { code, responseCode, command } = error
  const told = (as: DeliveryErrorCode) => tools.error(as, { says: error.message })
  if (responseCode !== undefined && responseCode < 500) return told('unavailable')
  switch (code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return told('unauthorized')
    case 'EENVELOPE':
      if (command === 'API') return told('message_refused')
      return told(isAboutRecipient(error) ? 'recipient_refused' : 'rejected')
    case 'EMESSAGE':
      return told(command === 'API' ? 'message_refused' : 'rejected')
    case 'EFILEACCESS':
    case 'EURLACCESS':
    case 'ESTREAM':
      return told('message_refused')
    case 'EDNS':
      return transportError(host, 'ENOTFOUND')
    case 'ETIMEDOUT':
      return new DeliveryError('timeout', { host })
    case 'ETLS':
      return told('certificate_refused')
    case 'EPROTOCOL':
      return told('rejected')
    case 'ESOCKET':
    case 'ECONNECTION':
      return /certificate|self.signed/i.test(error.message)
        ? told('certificate_refused')
        : new DeliveryError('connection_lost', { host })
    default:
      // Without a code it is the end of the connection, or a mail that cannot be put together.
      return code === undefined && !/\bclosed?\b/i.test(error.message)
        ? told('message_refused')
        : new DeliveryError('connection_lost', { host })
  }
}

/** RFC 3463: 5.1.x is about addresses, 5.2.x about mailboxes; 550, 551 and 553 without one of them too. */
function isAboutRecipient({ command, response = '', responseCode = 0 }: SmtpFailure): boolean {
  if (command !== 'RCPT TO') return false
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})/.exec(response)?.[1]
  return enhanced === undefined ? [550, 551, 553].includes(responseCode) : /^5\.[12]\./.test(enhanced)
}
