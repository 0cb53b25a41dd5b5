// A mail taken apart: what it says, who it says it is from, and its files, as an application is told of it.
import { createHash } from 'node:crypto'
import type { AddressObject, Attachment, HeaderLines, ParsedMail } from 'mailparser'
import type { ReceivedMail } from '../../engine/feedback/replies.ts'
import { plainText } from '../../render/plain-text.ts'

/** Longer HTML is handed on as it is, without its text: turning it into text takes time that others wait for. */
const mostHtmlToRead = 256 * 1024
/** Of ids that a mail says it answers, the last ones, which are the nearest. */
const mostAnswered = 20
const mostSenders = 10

/** How it came. */
interface Envelope {
  from: string
  /** Only whom this is for: other recipients are others' business. */
  to: string
  connection: { remoteAddress: string; clientHostname: string; hostNameAppearsAs: string; secure: boolean }
}

/** Rejects what is no mail. */
export async function parseMail(raw: Buffer): Promise<ParsedMail> {
  const { simpleParser } = await import('mailparser')
  return simpleParser(raw, {
    // Else a mail with long HTML would be none.
    skipHtmlToText: true,
    // The HTML stays as it was written, and its pictures among the files.
    skipImageLinks: true,
    skipTextToHtml: true,
    skipTextLinks: true,
  })
}

export function receivedMail(raw: Buffer, parsed: ParsedMail, { from, to, connection }: Envelope): ReceivedMail {
  const { messageId, inReplyTo, references } = parsed
  const listed = [references ?? []].flat()
  return {
    fingerprint: createHash('sha256')
      .update(messageId ?? raw)
      .digest('hex'),
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
      // Nobody has looked: these belong to the mail server in front, which says so in the headers.
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

/** Those of groups too. */
function addressesIn(lists: AddressObject | AddressObject[] | undefined): Array<{ address: string; name: string }> {
  return [lists ?? []]
    .flat()
    .flatMap(({ value }) => value)
    .flatMap(({ group, ...one }) => [...(group ?? []), one])
    .flatMap(({ address, name }) => (address ? [{ address, name }] : []))
}

/** Message ids without their brackets. */
const idsIn = (text: string | undefined): string[] => text?.match(/[^<>\s,]+/g) ?? []

/** By lower-case name, as they were written, on one line each; a list where there are several of a name. */
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
