// Mail that comes back: to unsubscribe, from a mail server that could not deliver (RFC 3464), or from a mail provider whose user
// has complained (RFC 5965). Each is recognized by a token that we signed, never by what else it says.
import { comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import type { Db } from '../../db/core/database.ts'
import { isSandbox } from '../../db/core/integration-facts.ts'
import { type MailReference, readMailToken } from '../../db/core/link-tokens.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { autoCommit, statement } from '../../db/core/transaction.ts'
import { isDeadStatus } from '../../providers/email/dead-address.ts'
import type { DeliveryEvent, EventStatus } from '../../providers/events.ts'
import { unsubscribe } from '../consent/unsubscribe.ts'
import type { EngineParts } from '../runs/start-runs.ts'
import { nameOf, takeReports } from './reports.ts'

/** What a mail says, as far as it matters here. */
export interface MailReport {
  /** Recognizes a mail that arrives twice. */
  fingerprint: string
  /** An answering machine sent it. */
  isAutomatic: boolean
  /** Of a delivery report. */
  recipients: Array<{ addresses: string[]; action: string; status: string; says?: string | undefined }>
  /** Of a feedback report. */
  feedback?: { type: string; recipients: string[]; mailId: string | undefined } | undefined
}

type Place = { kind: 'unsubscribe' | 'bounce'; token: string; domain: string } | { kind: 'feedback'; domain: string }

const feedbackMeans: Record<string, EventStatus> = {
  abuse: 'complaint',
  fraud: 'complaint',
  virus: 'complaint',
  'opt-out': 'unsubscribed',
  'opt-out-list': 'unsubscribed',
}

const findMailDomain = statement(
  'find_mail_domain',
  `SELECT e.id FROM environments e WHERE lower(e.dns ->> 'inboundParseDomain') = $1 LIMIT 1`,
)

/** The category is that of the version it was sent with, as in the link of the same mail. */
const findReturned = statement(
  'find_returned_mail',
  `SELECT m.id, m.subscriber_row_id, m.workflow_id, m.email, m.identifier, m.integration_id, m.provider_id, m.context_keys,
     (SELECT jsonb_agg(line -> 'recipients') FROM jobs j, jsonb_array_elements(j.details) line
      WHERE j.environment_id = e.id AND j.notification_id = m.notification_id AND j.id = m.job_id
        AND line ->> 'messageId' = m.id AND line ? 'recipients') AS recipients,
     CASE WHEN v.definition ->> 'message_class' = 'commercial' THEN v.definition ->> 'consent_category'
       ELSE w.consent_category END AS category
   FROM environments e
   JOIN messages m ON m.environment_id = e.id AND m.id = $2 AND m.channel = 'email'
   LEFT JOIN notifications n ON n.environment_id = e.id AND n.id = m.notification_id
   LEFT JOIN workflow_versions v ON v.environment_id = e.id AND v.workflow_id = m.workflow_id AND v.version = n.workflow_version
   LEFT JOIN workflows w ON w.environment_id = e.id AND w.id = m.workflow_id
   WHERE e.id = $1 AND lower(e.dns ->> 'inboundParseDomain') = $3`,
)

interface Returned {
  id: string
  subscriber_row_id: string
  workflow_id: string
  email: string | null
  identifier: string | null
  integration_id: string | null
  provider_id: string | null
  context_keys: string[]
  category: string | null
  /** Of each call, where it was not only for the mail's own address. */
  recipients: string[][] | null
}

interface Surroundings extends Pick<EngineParts, 'pool' | 'clock' | 'memory'> {
  db: Db
  secrets: Secrets
}

export class MailReports {
  readonly #surroundings: Surroundings

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** Whether it is an address for reports, genuine or not: nothing else lives there. */
  isPlace(address: string): boolean {
    return placeOf(address) !== undefined
  }

  async isKnown(address: string): Promise<boolean> {
    const place = placeOf(address)
    if (!place) return false
    if (place.kind === 'feedback') {
      const rows = await autoCommit(this.#surroundings.pool).run(findMailDomain, [place.domain])
      return rows.length > 0
    }
    return (await this.#find(this.#read(place.kind, place.token), place.domain)) !== undefined
  }

  /** Resolves once what it says is committed. */
  async take(address: string, report: MailReport): Promise<'taken' | 'unknown'> {
    const place = placeOf(address)
    if (!place) return 'unknown'
    const reference =
      place.kind === 'feedback' ? this.#read('id', report.feedback?.mailId ?? '') : this.#read(place.kind, place.token)
    const mail = await this.#find(reference, place.domain)
    if (!mail || !reference) return 'unknown'
    const { environmentId } = reference
    if (place.kind === 'unsubscribe') {
      if (!report.isAutomatic) await this.#unsubscribe(environmentId, mail)
      return 'taken'
    }
    const events = place.kind === 'bounce' ? bouncesIn(report, mail) : feedbackIn(report, mail)
    // What the sandbox kept has reached nobody.
    if (mail.integration_id !== null && !isSandbox({ provider_id: mail.provider_id ?? '' }))
      await takeReports(
        this.#surroundings,
        {
          ...{ environmentId, integrationId: mail.integration_id, providerId: mail.provider_id ?? '', wording: 'v2' },
          source: place.kind === 'bounce' ? 'dsn' : 'feedback',
        },
        events,
      )
    return 'taken'
  }

  #read(purpose: 'unsubscribe' | 'bounce' | 'id', token: string): MailReference | undefined {
    return readMailToken(this.#surroundings.secrets, purpose, token)
  }

  async #find(reference: MailReference | undefined, domain: string): Promise<Returned | undefined> {
    if (!reference) return undefined
    const values = [reference.environmentId, reference.messageId, domain]
    return (await autoCommit(this.#surroundings.pool).run<Returned>(findReturned, values))[0]
  }

  async #unsubscribe(environmentId: string, mail: Returned): Promise<void> {
    const { db, clock } = this.#surroundings
    if (mail.email === null) return
    await unsubscribe(
      db,
      {
        ...{ purpose: 'u', environmentId, subscriberRowId: mail.subscriber_row_id, messageId: mail.id },
        ...{ workflowId: mail.workflow_id, category: mail.category, channel: 'email', expiresAt: null, contextIds: [] },
        hasContexts: mail.context_keys.length > 0,
        addressHash: hashOfAddress(comparedAddress('email', mail.email)),
      },
      'mailto',
      clock.now(),
    )
  }
}

function placeOf(address: string): Place | undefined {
  const [, word = '', token = '', domain = ''] = /^(unsubscribe|bounce)\+([^@]+)@([^@]+)$/i.exec(address) ?? []
  const kind = word.toLowerCase()
  if (kind === 'unsubscribe' || kind === 'bounce') return { kind, token, domain: domain.toLowerCase() }
  const [, place] = /^(?:feedback|abuse)@([^@]+)$/i.exec(address) ?? []
  return place === undefined ? undefined : { kind: 'feedback', domain: place.toLowerCase() }
}

/** Those of the addresses that the mail went to. */
function recipientsAmong({ email, recipients }: Returned, addresses: string[]): string[] {
  const sentTo = recipients?.flat() ?? [email ?? '']
  const all = new Set(sentTo.map((each) => comparedAddress('email', each)))
  return [...new Set(addresses.map((each) => comparedAddress('email', each)))].filter((each) => all.has(each))
}

/** Recipients that the mail did not have are ignored; so is what is only late. */
function bouncesIn({ recipients, fingerprint }: MailReport, mail: Returned): DeliveryEvent[] {
  return recipients.flatMap(({ addresses, action, status, says }): DeliveryEvent[] => {
    const [recipient] = recipientsAmong(mail, addresses)
    if (action !== 'failed' || !/^[45]\.\d{1,3}\.\d{1,3}$/.test(status) || recipient === undefined) return []
    return [
      {
        ...{ providerMessageId: nameOf(mail), status: 'bounced', externalId: fingerprint, response: says ?? status },
        recipient,
        ...(isDeadStatus(status) ? { permanent: true as const } : {}),
        raw: { action, status, ...(says === undefined ? {} : { says }) },
      },
    ]
  })
}

/** One that names nobody is about the mail's only recipient, if it had one. */
function feedbackIn({ feedback, fingerprint }: MailReport, mail: Returned): DeliveryEvent[] {
  const status = feedbackMeans[feedback?.type ?? '']
  if (!feedback || status === undefined) return []
  const about = {
    providerMessageId: nameOf(mail),
    status,
    externalId: fingerprint,
    raw: { feedbackType: feedback.type },
  }
  if (feedback.recipients.length === 0) return [about]
  return recipientsAmong(mail, feedback.recipients).map((recipient) => ({ ...about, recipient }))
}
