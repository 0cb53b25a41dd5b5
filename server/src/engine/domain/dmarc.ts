// DMARC (RFC 7489): what receivers do with mail that neither SPF nor DKIM vouches for in the name of the From address.
import type { Questions } from './dns.ts'
import { organizationalDomain, type Sender } from './sender.ts'
import { tagsIn } from './tags.ts'
import type { Publish, Verdict } from './verdict.ts'

const policies = ['none', 'quarantine', 'reject']

export async function dmarcCheck(sender: Sender, questions: Questions): Promise<Verdict> {
  const { domain } = sender
  const organization = organizationalDomain(domain)
  const publish: Publish = {
    type: 'TXT',
    name: `_dmarc.${organization}`,
    value: `v=DMARC1; p=quarantine; rua=mailto:dmarc@${organization}`,
  }
  const own = await recordsAt(questions, domain)
  const isInherited = own.length === 0 && organization !== domain
  const records = isInherited ? await recordsAt(questions, organization) : own
  const failed = (summary: string, details = {}): Verdict => ({ status: 'fail', summary, records, details, publish })
  const [record] = records
  if (record === undefined)
    return failed(
      `There is no DMARC record at _dmarc.${domain}${organization === domain ? '' : `, nor at _dmarc.${organization}`}`,
    )
  if (records.length > 1) return failed(`There are ${records.length} DMARC records; one is allowed`)
  const tags = tagsIn(record)
  const at = isInherited ? organization : domain
  const policy = ((isInherited ? tags.get('sp') : undefined) ?? tags.get('p') ?? '').toLowerCase()
  const details = { domain: at, policy }
  if (!policies.includes(policy)) return failed(`The DMARC record says no policy (p=${policies.join(', ')})`, details)
  const alignment = alignmentOf(sender, tags)
  if (alignment.spf === false && alignment.dkim === false)
    return { ...failed('Neither SPF nor DKIM can be in the name of the From address', { ...details, ...alignment }) }
  const shown = { records, details: { ...details, ...alignment } }
  if (policy === 'none')
    return { status: 'warn', summary: 'The policy is none: receivers let forged mail pass', ...shown, publish }
  return {
    status: 'pass',
    summary: `Mail that is not yours is to be ${policy === 'reject' ? 'rejected' : 'quarantined'}`,
    ...shown,
  }
}

async function recordsAt(questions: Questions, domain: string): Promise<string[]> {
  const texts = await questions.txt(`_dmarc.${domain}`)
  return texts.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text))
}

/** Null where it cannot be known: another server chooses the envelope, or signs. */
function alignmentOf(
  { domain, smtp, envelopeDomain }: Sender,
  tags: Map<string, string>,
): { spf: boolean | null; dkim: boolean | null } {
  const aligned = (other: string, mode: string | undefined) =>
    mode?.toLowerCase() === 's' ? other === domain : organizationalDomain(other) === organizationalDomain(domain)
  return {
    spf: smtp ? aligned(envelopeDomain ?? domain, tags.get('aspf')) : null,
    dkim: smtp?.dkim ? aligned(smtp.dkim.domainName.toLowerCase(), tags.get('adkim')) : null,
  }
}
