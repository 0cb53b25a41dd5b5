// Whole mails, for those who send them as such: SMTP servers and SES. Nodemailer puts them together, stream by stream, which
// took half a millisecond of a mail through the engine; one of text and HTML alone, as nearly all are, takes 0.1 here.
import { randomUUID } from 'node:crypto'
import type { Transport } from 'nodemailer'
import type Mail from 'nodemailer/lib/mailer/index.js'
import type MimeWords from 'nodemailer/lib/mime-funcs/index.js'
import type { EmailMessage, Tools } from '../provider.ts'
import { domainOf, some } from './mail.ts'

/** The mail as it travels, and to whom. Who gets a blind copy stands nowhere in it. */
export interface WholeMail {
  messageId: string
  from: string
  recipients: string[]
  /** Of a text each character is a byte. */
  content: string | Buffer
}

/** As Nodemailer wants it. */
export function mailOf(message: EmailMessage, date: Date): Mail.Options {
  const { from, senderName, to, cc, bcc, replyTo, subject, html, text, headers, attachments } = message
  return {
    messageId: messageIdOf(message),
    date,
    from: senderName ? { name: senderName, address: from } : from,
    to: isHidden(message) ? 'undisclosed-recipients:;' : to,
    ...(some(cc) ? { cc } : {}),
    ...(some(bcc) ? { bcc } : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
    subject,
    html,
    ...(text === undefined ? {} : { text }),
    headers,
    attachments: attachments.map(({ file, mime, name, cid, disposition }) => ({
      filename: name,
      content: Buffer.from(file),
      contentType: mime,
      ...(cid === undefined ? {} : { cid }),
      contentDisposition: disposition ?? (cid === undefined ? 'attachment' : 'inline'),
    })),
  }
}

/** The same in every attempt, so that whoever gets it twice can tell. */
const messageIdOf = ({ id, from }: EmailMessage) => `<${id}@${domainOf(from)}>`

const isHidden = ({ to, cc, bcc }: EmailMessage) => to.length === 0 && cc.length + bcc.length > 0

/** By the library, with everything it knows about mails. */
export async function composed(
  mail: Mail.Options,
  { error }: Pick<Tools, 'error'>,
): Promise<WholeMail & { content: Buffer }> {
  const { createTransport } = await import('nodemailer')
  const composer: Transport<WholeMail> = {
    name: 'composer',
    version: '1',
    send({ message }, done) {
      const { from, to } = message.getEnvelope()
      message.build((failure, content) =>
        done(failure, { messageId: message.messageId(), from: from || '', recipients: to, content }),
      )
    },
  }
  try {
    const options = { ...mail, newline: 'windows', disableFileAccess: true, disableUrlAccess: true }
    // Its types know what the library's own ways to send give back.
    return (await createTransport(composer).sendMail(options)) as unknown as WholeMail & { content: Buffer }
  } catch (reason) {
    // Only what a caller added can be unfit, such as a file of this machine.
    throw error('message_refused', { says: (reason as Error).message })
  }
}

const plainAddress = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d-]+(?:\.[a-z\d-]+)*$/i
const ownHeader = /^(?:X|List)-[\w-]+$/i
const printable = /^[\x20-\x7e]*$/
const longestLine = 76

let words: Promise<{ default: typeof MimeWords }> | undefined

/** A mail of text and HTML; undefined where there is more to it, or anything whose spelling takes the library. */
export async function simpleMail(message: EmailMessage, date: Date): Promise<WholeMail | undefined> {
  const { from, senderName = '', to, cc, bcc, replyTo, subject, html, text, headers, attachments } = message
  const recipients = [...to, ...cc, ...bcc]
  if (attachments.length > 0 || Object.keys(message.providerData).length > 0 || to.length === 0) return undefined
  if (![from, ...(replyTo === undefined ? [] : [replyTo]), ...recipients].every((each) => plainAddress.test(each)))
    return undefined
  if (/\p{Cc}/u.test(subject + senderName) || subject.trim() === '' || html === '') return undefined
  const own = Object.entries(headers)
  if (!own.every(([name, value]) => ownHeader.test(name) && printable.test(value) && value.trim() !== ''))
    return undefined
  words ??= import('nodemailer/lib/mime-funcs/index.js')
  const { foldLines, encodeWord } = (await words).default
  const line = (name: string, value: string) => {
    const whole = `${name}: ${value}`
    return whole.length > longestLine ? foldLines(whole, longestLine) : whole
  }
  const encoded = (text: string) => encodeWord(text, 'B', 52)
  const sender = printable.test(senderName) ? quoted(senderName) : encoded(senderName)
  const messageId = messageIdOf(message)
  const lines = [
    ...own.map(([name, value]) => line(name, value)),
    line('From', senderName.trim() === '' ? from : `${sender} <${from}>`),
    line('To', to.join(', ')),
    ...(cc.length > 0 ? [line('Cc', cc.join(', '))] : []),
    ...(replyTo === undefined ? [] : [line('Reply-To', replyTo)]),
    line('Subject', printable.test(subject) ? subject : encoded(subject)),
    line('Message-ID', messageId),
    `Date: ${date.toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
  ]
  const body = text ? alternatives(text, html) : part('html', html)
  const content = `${lines.join('\r\n')}\r\n${body}\r\n`
  return { messageId, from, recipients: [...new Set(recipients)], content }
}

function quoted(name: string): string {
  return /^[\w ]*$/.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`
}

function alternatives(text: string, html: string): string {
  // In what is quoted-printable an equals sign is never followed by this one.
  const boundary = `=_${randomUUID()}`
  return [
    'Content-Type: multipart/alternative;',
    ` boundary="${boundary}"`,
    '',
    `--${boundary}`,
    part('plain', text),
    `--${boundary}`,
    part('html', html),
    `--${boundary}--`,
  ].join('\r\n')
}

function part(type: 'plain' | 'html', text: string): string {
  const isAsItIs = /^[\t\r\n\x20-\x7e]*$/.test(text) && !tooLong.test(text)
  const [encoding, body] = isAsItIs
    ? ['7bit', text.replace(lineEnds, '\r\n')]
    : ['quoted-printable', quotedPrintable(text)]
  return `Content-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`
}

const tooLong = new RegExp(`[^\\r\\n]{${longestLine + 1}}`)
const lineEnds = /\r\n|\r|\n/g

/** Beside the equals sign. RFC 2045, section 6.7: a space or tab at the end of a line would be lost on the way. */
const unsafe = /[^\t\x20-\x7e]|[\t ]$/g
const escapes = Array.from({ length: 256 }, (_, byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`)

export function quotedPrintable(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1')
  return bytes
    .split(lineEnds)
    .map((each) => each.replaceAll('=', '=3D').replace(unsafe, (byte) => escapes[byte.charCodeAt(0)] ?? ''))
    .map(withSoftBreaks)
    .join('\r\n')
}

function withSoftBreaks(encoded: string): string {
  if (encoded.length <= longestLine) return encoded
  const pieces: string[] = []
  let from = 0
  while (encoded.length - from > longestLine) {
    let to = from + longestLine - 1
    // Not within an escape.
    if (encoded[to - 1] === '=') to -= 1
    else if (encoded[to - 2] === '=') to -= 2
    pieces.push(encoded.slice(from, to))
    from = to
  }
  pieces.push(encoded.slice(from))
  return pieces.join('=\r\n')
}
