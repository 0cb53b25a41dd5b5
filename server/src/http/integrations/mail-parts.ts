// Parses a mail into the format that the callback gets: content, sender and attachments.
import { createHash } from 'node:crypto'
import type { AddressObject, Attachment, HeaderLines, ParsedMail } from 'mailparser'
import type { ReceivedMail } from '../../engine/feedback/replies.ts'
import { plainText } from '../../render/plain-text.ts'

/** Longer HTML gets no text version: the conversion would block other requests. */
const mostHtmlToRead = 256 * 1024
/** Of the message ids that a mail references, the last ones, which are the closest. */
const mostAnswered = 20
const mostSenders = 10

/** The SMTP envelope. */
interface Envelope {
  from: string
  /** Only this recipient; the others are private. */
  to: string
  connection: { remoteAddress: string; clientHostname: string; hostNameAppearsAs: string; secure: boolean }
}

/** Rejects if it is not a mail. */
export async function parseMail(raw: Buffer, more: { keepDeliveryStatus?: boolean } = {}): Promise<ParsedMail> {
  const { simpleParser } = await import('mailparser')
  return simpleParser(raw, {
    // Otherwise long HTML would make parsing fail.
    skipHtmlToText: true,
    // Keeps the HTML unchanged, and its images among the attachments.
    skipImageLinks: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    ...more,
  })
}

/** Recognizes a mail that arrives twice. */
export const fingerprintOf = (raw: Buffer, { messageId }: ParsedMail): string =>
  createHash('sha256')
    .update(messageId ?? raw)
    .digest('hex')

export function receivedMail(raw: Buffer, parsed: ParsedMail, { from, to, connection }: Envelope): ReceivedMail {
  const { messageId, inReplyTo, references } = parsed
  const listed = [references ?? []].flat()
  return {
    fingerprint: fingerprintOf(raw, parsed),
    senders: [...addressesIn(parsed.from).map(({ address }) => address), from].filter(Boolean).slice(0, mostSenders),
    answers: [...idsIn(inReplyTo), ...listed.flatMap(idsIn).reverse()].slice(0, mostAnswered),
    content: {
      html: parsed.html || null,
      text: textOf(parsed),
      headers: headersOf(parsed.headerLines),
      subject: parsed.subject ?? '',
      messageId: messageId ?? null,
      inReplyTo: idsIn(inReplyTo),
      references: listed.flatMap(idsIn),
      priority: parsed.headers.get('priority') ?? 'normal',
      from: addressesIn(parsed.from),
      to: addressesIn(parsed.to),
      cc: addressesIn(parsed.cc),
      date: dateOf(parsed.date),
      // Not checked here: the mail server in front does that, and writes the result into the headers.
      dkim: null,
      spf: null,
      spamScore: null,
      language: null,
      attachments: parsed.attachments.map(fileOf),
      connection,
      envelopeFrom: { address: from },
      envelopeTo: [{ address: to }],
    },
  }
}

function textOf({ text, html }: ParsedMail): string | null {
  if (text?.trim()) return text
  return html && html.length <= mostHtmlToRead ? plainText(html) : null
}

const dateOf = (date: Date | undefined): string | null =>
  date && !Number.isNaN(date.getTime()) ? date.toISOString() : null

/** Including those in groups. */
function addressesIn(lists: AddressObject | AddressObject[] | undefined): Array<{ address: string; name: string }> {
  return [lists ?? []]
    .flat()
    .flatMap(({ value }) => value)
    .flatMap(({ group, ...one }) => [...(group ?? []), one])
    .flatMap(({ address, name }) => (address ? [{ address, name }] : []))
}

/** Message ids without their brackets. */
const idsIn = (text: string | undefined): string[] => text?.match(/[^<>\s,]+/g) ?? []

/** By lower-case name, each unfolded to one line; a list if a name occurs several times. */
function headersOf(lines: HeaderLines): Record<string, string | string[]> {
  const headers = new Map<string, string[]>()
  for (const { key, line } of lines) {
    const parts = line.slice(line.indexOf(':') + 1).split('\n')
    const value = parts.map((part) => part.trim()).join(' ')
    headers.set(key, [...(headers.get(key) ?? []), value.trim()])
  }
  return Object.fromEntries(
    [...headers].map(([key, values]) => [key, values.length === 1 ? String(values[0]) : values]),
  )
}

const fileOf = ({ filename, contentType, contentDisposition, contentId, size, content }: Attachment) => ({
  fileName: filename ?? null,
  contentType,
  contentDisposition: contentDisposition ?? 'attachment',
  contentId: contentId?.replace(/^<|>$/g, '') ?? null,
  length: size,
  /** In base64. */
  content: content.toString('base64'),
})
