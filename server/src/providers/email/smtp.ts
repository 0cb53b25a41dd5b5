// Mail over SMTP, for every provider that is an SMTP server. Connections stay open between messages. Nodemailer is loaded with
// the first message.
import type Mail from 'nodemailer/lib/mailer/index.js'
import { DeliveryError, type DeliveryErrorCode, transportError } from '../delivery-error.ts'
import type { EmailMessage, SendResult, Tools } from '../provider.ts'
import { enhancedStatus, isDeadReply } from './dead-address.ts'
import { composed, mailOf, simpleMail, type WholeMail } from './mime.ts'
import { SmtpPool } from './smtp-pool.ts'
import type { SmtpServer } from './smtp-server.ts'
import { type RefusedRecipient, type SessionOptions, SmtpSession } from './smtp-session.ts'

/** The TLS options a caller may set. Others, such as a socket path, have nothing to do with encryption. */
const tlsMembers = [
  ...['rejectUnauthorized', 'servername', 'minVersion', 'maxVersion', 'ciphers'],
  ...['ca', 'cert', 'key', 'passphrase'],
]

/**
 * The members of a mail that provider data may set. Nodemailer knows more: some write files where the caller says, or read
 * them, and some would have to be asked of the server, which the session does not do.
 */
const mailMembers = new Set([
  ...['messageId', 'date', 'from', 'sender', 'to', 'cc', 'bcc', 'replyTo', 'inReplyTo', 'references', 'envelope'],
  ...['subject', 'html', 'text', 'amp', 'watchHtml', 'headers', 'attachments', 'alternatives', 'icalEvent'],
  ...['priority', 'list', 'encoding', 'textEncoding'],
])

/** In the signature, where a mail has them. The library's own list lacks List-Unsubscribe-Post, which RFC 8058 asks for. */
const signedHeaders = [
  ...['From', 'Sender', 'Reply-To', 'Subject', 'Date', 'Message-ID', 'To', 'Cc', 'MIME-Version', 'Content-Type'],
  ...['Content-Transfer-Encoding', 'Content-ID', 'Content-Description', 'In-Reply-To', 'References'],
  ...['List-Id', 'List-Help', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'List-Subscribe', 'List-Post', 'List-Owner'],
  'List-Archive',
].join(':')

/** Opened on demand. 5, 10, 20 and 40 connections sent 1,050, 1,100, 1,500 and 1,600 mails/s. */
const mostConnections = 20
/** Per connection; servers close one that has sent many. */
const mostMails = 100

export async function sendMail(message: EmailMessage, server: SmtpServer, tools: Tools): Promise<SendResult> {
  const whole =
    (server.dkim ? undefined : await simpleMail(message, tools.clock.now())) ??
    (await wholeMail(message, server, tools))
  const mail = message.bounceAddress === undefined ? whole : { ...whole, from: message.bounceAddress }
  checkEnvelope(mail, tools)
  const pool = await tools.keep(() => open(server, tools))
  try {
    const refused = await pool.send(mail, tools.timeoutMs, (begin) => tools.start(begin))
    return {
      providerMessageId: mail.messageId,
      ...(refused.length === 0 ? {} : { refusedRecipients: refused.map(withDeath) }),
    }
  } catch (error) {
    throw problem(error, server, tools)
  }
}

const withDeath = (refused: RefusedRecipient) =>
  isDeadReply(refused.says) ? { ...refused, isDead: true as const } : refused

function wholeMail(message: EmailMessage, { dkim }: SmtpServer, tools: Tools): Promise<WholeMail> {
  const { body, headers } = tools.extend({ ...mailOf(message, tools.clock.now()) })
  const mail = { ...body, headers: { ...(body.headers as Record<string, string>), ...headers } } as Mail.Options
  const unfit = Object.keys(body).find((name) => body[name] !== undefined && !mailMembers.has(name))
  if (unfit !== undefined)
    throw tools.error('message_refused', { says: `${JSON.stringify(unfit.slice(0, 50))} cannot be set for a mail` })
  return composed({ ...mail, ...(dkim ? { dkim: { ...dkim, headerFieldNames: signedHeaders } } : {}) }, tools)
}

/** An address must not break out of the brackets of its SMTP command. */
function checkEnvelope({ from, recipients }: WholeMail, { error }: Tools): void {
  const unfit = [from, ...recipients].find((address) => /[\r\n<>]/.test(address))
  if (unfit !== undefined) throw error('message_refused', { says: `Invalid address ${JSON.stringify(unfit)}` })
  if (recipients.length === 0) throw error('message_refused', { says: 'No recipients defined' })
}

/** Connects and signs in, without sending anything. */
export async function checkServer(server: SmtpServer, tools: Tools): Promise<void> {
  try {
    const session = await SmtpSession.open(sessionOptions(server, tools))
    session.quit()
  } catch (error) {
    throw problem(error, server, tools)
  }
}

function open(server: SmtpServer, tools: Tools): SmtpPool {
  const options = sessionOptions(server, tools)
  return new SmtpPool({
    open: () => SmtpSession.open(options),
    mostSessions: server.mostConnections ?? mostConnections,
    mostMails,
    idleMs: tools.timeoutMs,
  })
}

function sessionOptions(server: SmtpServer, { http, timeoutMs, error, mailName }: Tools): SessionOptions {
  const { host, auth, secure = false, requireTls = false, ignoreTls = false } = server
  const port = Number(server.port)
  if (!(Number.isInteger(port) && port > 0 && port < 65_536))
    throw error('incomplete_credentials', { says: `The port "${server.port}" is not a number from 1 to 65535` })
  return {
    host,
    port,
    name: mailName,
    secure,
    requireTLS: requireTls,
    ignoreTLS: ignoreTls,
    tls: tlsOf(server, http),
    ...(auth ? { auth } : {}),
    connect: () => http.connect(host, port),
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  }
}

/** How connections to it are encrypted. */
export const tlsOf = ({ tlsOptions }: SmtpServer, { authorities }: { authorities: { ca?: string } }) => ({
  ...authorities,
  ...Object.fromEntries(Object.entries(tlsOptions ?? {}).filter(([name]) => tlsMembers.includes(name))),
})

/** Nodemailer's errors, and a session's. */
interface Failure extends Error {
  code?: string
  responseCode?: number
  response?: string
  command?: string
  mayHaveArrived?: boolean
}

function problem(failure: unknown, { host }: SmtpServer, tools: Tools): DeliveryError {
  if (failure instanceof DeliveryError) return failure
  const error = failure as Failure
  const { code, responseCode, mayHaveArrived } = error
  const refused = (as: DeliveryErrorCode) => tools.error(as, { says: error.message })
  const lost = (as: DeliveryErrorCode) =>
    new DeliveryError(as, { host, ...(mayHaveArrived === undefined ? {} : { mayHaveArrived }) })
  if (responseCode !== undefined && responseCode < 500) return refused('unavailable')
  switch (code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return refused('unauthorized')
    case 'EENVELOPE':
      if (!isAboutRecipient(error)) return refused('rejected')
      return tools.error('recipient_refused', { says: error.message, isDead: isDeadReply(error.response ?? '') })
    case 'EMESSAGE':
    case 'EPROTOCOL':
      return refused('rejected')
    case 'EDNS':
      return transportError(host, 'ENOTFOUND')
    case 'ETIMEDOUT':
      return lost('timeout')
    case 'ETLS':
      return refused('certificate_refused')
    case 'ESOCKET':
    case 'ECONNECTION':
      return /certificate|self.signed/i.test(error.message) ? refused('certificate_refused') : lost('connection_lost')
    default:
      return lost('connection_lost')
  }
}

/** RFC 3463: 5.1.x is about addresses, 5.2.x about mailboxes; without such a code, 550, 551 and 553 are too. */
function isAboutRecipient({ command, response = '', responseCode = 0 }: Failure): boolean {
  if (command !== 'RCPT TO') return false
  const enhanced = enhancedStatus(response)
  return enhanced === undefined ? [550, 551, 553].includes(responseCode) : /^5\.[12]\./.test(enhanced)
}
