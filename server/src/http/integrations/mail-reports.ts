// Reads mail that comes back: delivery reports (RFC 3464) and feedback reports (RFC 5965). The library takes the mail apart; the
// fields of a report are lines such as those of a header.
import type { Attachment, ParsedMail } from 'mailparser'
import type { MailReport } from '../../engine/feedback/mail-reports.ts'
import { idHeader } from '../../steps/delivery/consent-links.ts'
import { fingerprintOf, parseMail } from './mail-parts.ts'

const mostRecipients = 100
const mostRead = 256 * 1024

export async function mailReport(raw: Buffer, parsed: ParsedMail): Promise<MailReport> {
  const automatic = String(parsed.headers.get('auto-submitted') ?? 'no').trim()
  const common = { fingerprint: fingerprintOf(raw, parsed), isAutomatic: !/^no\b/i.test(automatic), recipients: [] }
  switch (reportTypeOf(parsed)) {
    case 'delivery-status': {
      const { attachments } = await parseMail(raw, { keepDeliveryStatus: true })
      return { ...common, recipients: recipientsIn(textOf(attachments, 'message/delivery-status')) }
    }
    case 'feedback-report':
      return { ...common, feedback: feedbackIn(await parseMail(withPartsApart(raw))) }
    default:
      return common
  }
}

/** The library merges a mail that is enclosed `inline` into the text, and its headers are gone. */
const withPartsApart = (raw: Buffer): Buffer =>
  Buffer.from(
    raw.toString('latin1').replace(/^content-disposition:[ \t]*inline/gim, 'Content-Disposition: attachment'),
    'latin1',
  )

function reportTypeOf({ headers }: ParsedMail): string | undefined {
  const type = headers.get('content-type') as { value?: string; params?: Record<string, string> } | undefined
  if (type?.value?.toLowerCase() !== 'multipart/report') return undefined
  return type.params?.['report-type']?.toLowerCase()
}

const textOf = (attachments: Attachment[], type: string): string =>
  attachments
    .find(({ contentType }) => contentType.toLowerCase() === type)
    ?.content.subarray(0, mostRead)
    .toString('utf8') ?? ''

/** The first block is about the report, each other about a recipient. */
function recipientsIn(text: string): MailReport['recipients'] {
  const blocks = text.replace(/\r\n?/g, '\n').split(/\n[ \t]*\n+/)
  return blocks.slice(0, mostRecipients).flatMap((block) => {
    const fields = fieldsIn(block)
    const action = fields.get('action')?.toLowerCase()
    if (action === undefined) return []
    const addresses = ['original-recipient', 'final-recipient'].flatMap((name) => addressIn(fields.get(name)))
    const status = /\d\.\d{1,3}\.\d{1,3}/.exec(fields.get('status') ?? '')?.[0] ?? ''
    return [{ addresses, action, status, says: fields.get('diagnostic-code')?.slice(0, 500) }]
  })
}

function feedbackIn({ attachments }: ParsedMail): MailReport['feedback'] {
  const fields = fieldsIn(textOf(attachments, 'message/feedback-report'))
  const enclosed = textOf(attachments, 'message/rfc822') || textOf(attachments, 'text/rfc822-headers')
  const [head = ''] = enclosed.replace(/\r\n?/g, '\n').split(/\n[ \t]*\n/, 1)
  const recipient = fields.get('original-rcpt-to')?.replace(/^<|>$/g, '')
  return {
    type: fields.get('feedback-type')?.toLowerCase() ?? '',
    recipients: recipient?.includes('@') ? [recipient] : [],
    mailId: fieldsIn(head).get(idHeader.toLowerCase()),
  }
}

/** By lower-case name, unfolded; the first of several. */
function fieldsIn(block: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of block
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .split('\n')) {
    const at = line.indexOf(':')
    const name = line.slice(0, at).trim().toLowerCase()
    if (at > 0 && !fields.has(name)) fields.set(name, line.slice(at + 1).trim())
  }
  return fields
}

/** `rfc822; ada@example.com`, with the escapes of RFC 3461. */
function addressIn(field: string | undefined): string[] {
  const [, text] = /^\s*(?:rfc822|utf-8)\s*;\s*(.+)$/i.exec(field ?? '') ?? []
  if (text === undefined) return []
  return [
    text.trim(),
    text.trim().replace(/\+([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  ]
}
