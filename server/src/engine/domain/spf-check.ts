// Whether the SPF record of a domain is right, and lets the integration send.
import { isIP } from 'node:net'
import type { Questions } from './dns.ts'
import type { Sender } from './sender.ts'
import { isSpf, mostLookups, mostVoid, parseSpf, SpfReader } from './spf.ts'
import type { Publish, Verdict } from './verdict.ts'

/** What vendors ask to be included for their own envelope addresses; not all want it. */
const includes: Record<string, string> = {
  mailersend: '_spf.mailersend.net',
  mailgun: 'mailgun.org',
  mailjet: 'spf.mailjet.com',
  mandrill: 'spf.mandrillapp.com',
  outlook365: 'spf.protection.outlook.com',
  sendinblue: 'spf.brevo.com',
  ses: 'amazonses.com',
}

export async function spfCheck(sender: Sender, questions: Questions): Promise<Verdict> {
  const { domain, smtp } = sender
  const texts = await questions.txt(domain)
  const records = texts.filter(isSpf)
  const publish = (value: string): Publish => ({ type: 'TXT', name: domain, value })
  const fresh = publish(`v=spf1 ${wordFor(sender)}-all`)
  const [record] = records
  if (record === undefined)
    return { status: 'fail', summary: `There is no SPF record at ${domain}`, records, publish: fresh }
  if (records.length > 1)
    return { status: 'fail', summary: `There are ${records.length} SPF records; one is allowed`, records }
  const parsed = parseSpf(record)
  if (typeof parsed === 'string')
    return { status: 'fail', summary: `The SPF record is not valid: ${parsed}`, records, publish: fresh }
  const reader = new SpfReader(questions)
  const tree = await reader.read(domain, parsed)
  const { lookups, voidLookups, usesPtr, problems } = reader.cost
  const details = { lookups, voidLookups, all: tree.all === undefined ? null : `${tree.all}all` }
  const verdict = (status: 'fail' | 'warn', summary: string, better?: Publish): Verdict => ({
    ...{ status, summary, records, details, publish: better },
  })
  if (lookups > mostLookups) return verdict('fail', `SPF needs ${lookups} look-ups; ten are allowed`)
  const [problem] = problems
  if (problem !== undefined) return verdict('fail', `The SPF record is not valid: ${problem}`)
  if (voidLookups > mostVoid)
    return verdict('fail', `${voidLookups} names in the SPF record lead nowhere; two are allowed`)
  const strict = publish(record.replace(/ [+?]?all(?= |$)/i, ' -all'))
  if (tree.all === '+') return verdict('fail', 'The SPF record lets everybody send (+all)', strict)
  if (smtp) {
    const addresses = await questions.addresses(smtp.host)
    const outside = addresses.filter((address) => tree.find(address) === 'other')
    if (outside.length > 0)
      return verdict(
        'fail',
        `The SPF record does not let ${smtp.host} (${outside.join(', ')}) send`,
        publish(record.replace(/^v=spf1/i, `$& ${wordFor(sender).trim()}`)),
      )
  }
  if (usesPtr) return verdict('warn', 'The SPF record uses ptr, which receivers may ignore')
  if (tree.all === undefined)
    return verdict(
      'warn',
      'The SPF record says nothing about other servers: end it with -all',
      publish(`${record} -all`),
    )
  if (tree.all === '?') return verdict('warn', 'The SPF record is neutral about other servers (?all)', strict)
  return {
    ...{ status: 'pass', records, details },
    summary: `The SPF record is valid and needs ${lookups} ${lookups === 1 ? 'look-up' : 'look-ups'}`,
  }
}

/** What lets this integration send, with a space behind it. */
function wordFor({ smtp, providerId }: Sender): string {
  const include = includes[providerId]
  if (include !== undefined) return `include:${include} `
  if (!smtp) return ''
  return isIP(smtp.host) === 0 ? `a:${smtp.host} ` : `ip${isIP(smtp.host)}:${smtp.host} `
}
