// Mails about accounts, invitations and links for a new password, through an email integration of the organization. A failure
// is a normal answer: the same link can be handed over in person.
import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import type { InvitationTable } from '../../db/core/tables.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { Delivery } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { deliveryProvider } from '../../providers/index.ts'
import { openIntegration } from '../../steps/delivery/integration-choice.ts'
import type { Environment, Services } from '../edge/resource.ts'

/** Short, because a person waits for the answer. */
const patienceMs = 10_000

interface Mailed {
  status: 'sent' | 'not_configured' | 'failed'
  integration: string | null
  reason: string | null
}

interface Mail {
  /** The workflow that providers with their own statistics see. */
  kind: 'invitation' | 'password-reset'
  id: string
  to: string
  subject: string
  sentences: string[]
  link: string
  linkText: string
  /** What stands below the link. */
  note: string
}

type Candidate = IntegrationRow & { environment_type: 'dev' | 'prod'; organization: string }

/** Whom a mail comes from: the organization, and the environment to prefer. */
type From = Pick<Environment, 'organizationId'> & { id?: string }

export function mailInvitation(
  services: Services,
  environment: Environment,
  { row, link }: { row: Selectable<InvitationTable>; link: string },
): Promise<Mailed> {
  return send(services, environment, (organization) => ({
    kind: 'invitation',
    id: row.id,
    to: row.email,
    subject: `${row.invited_by} invites you to ${organization}`,
    sentences: [`${row.invited_by} invites you to ${organization} on Belfry, as ${article(row.role)}.`],
    link,
    linkText: 'Accept the invitation',
    note: `The link works once, until ${row.expires_at.toISOString().slice(0, 10)}.`,
  }))
}

export function mailResetLink(
  services: Services,
  user: { id: string; organization_id: string; name: string; email: string },
  link: string,
): Promise<Mailed> {
  return send(services, { organizationId: user.organization_id }, (organization) => ({
    kind: 'password-reset',
    id: user.id,
    to: user.email,
    subject: `A new password for ${organization}`,
    sentences: [
      `${user.name}, somebody asked for a new password for your account at ${organization} on Belfry.`,
      'If it was not you, ignore this email: nothing has changed.',
    ],
    link,
    linkText: 'Choose a new password',
    note: 'The link works once, within a day.',
  }))
}

/** An integration for such mails: never the sandbox, which sends nothing, nor one for certain mails only. */
const canMail = sql`i.channel = 'email' AND i.kind = 'delivery' AND i.active AND i.deleted_at IS NULL
  AND i.provider_id NOT LIKE 'svc-%' AND i.conditions = '[]'`

/** Whether any organization of this service can mail links. */
export async function mailsLinks(db: Db): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM integrations i WHERE ${canMail} LIMIT 1`.execute(db)
  return rows.length > 0
}

export const mailsLinksOf = async (db: Db, organizationId: string): Promise<boolean> =>
  (await mailer(db, { organizationId })) !== undefined

async function send(services: Services, from: From, mailFor: (organization: string) => Mail): Promise<Mailed> {
  const integration = await mailer(services.db, from)
  const provider = integration && deliveryProvider(integration.provider_id)
  if (!integration || provider?.channel !== 'email')
    return { status: 'not_configured', integration: null, reason: null }
  const { http, clock, brand, secrets } = services
  const delivery = new Delivery({ http, clock, brand: brand.word, timeoutMs: patienceMs })
  const opened = { ...openIntegration(integration, secrets), isDevelopment: integration.environment_type === 'dev' }
  const { from: address, senderName } = opened.credentials
  const { kind, id, to, subject, sentences, link, linkText, note } = mailFor(integration.organization)
  const paragraphs = (texts: string[]) => texts.map((text) => `<p>${escaped(text)}</p>`).join('')
  try {
    await delivery.send(provider, opened, {
      channel: 'email',
      id: newId(clock.now()),
      attempt: 1,
      to: [to],
      cc: [],
      bcc: [],
      from: typeof address === 'string' && address !== '' ? address : 'no-reply@localhost',
      ...(typeof senderName === 'string' && senderName !== '' ? { senderName } : {}),
      subject: oneLine(subject),
      html: `${paragraphs(sentences)}<p><a href="${escaped(link)}">${linkText}</a></p>${paragraphs([note])}`,
      text: `${sentences.join('\n')}\n\n${link}\n\n${note}\n`,
      headers: {},
      attachments: [],
      details: { transactionId: id, workflowId: kind, subscriberId: to },
      payload: {},
      providerData: {},
      customData: {},
    })
    return { status: 'sent', integration: integration.name, reason: null }
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error
    return { status: 'failed', integration: integration.name, reason: error.message }
  } finally {
    await delivery.close()
  }
}

/** Prefers the given environment, then Production, and primary integrations. */
async function mailer(db: Db, { id = '', organizationId }: From): Promise<Candidate | undefined> {
  const { rows } = await sql<Candidate>`
    SELECT i.*, e.type AS environment_type, o.name AS organization
    FROM integrations i JOIN environments e ON e.id = i.environment_id JOIN organizations o ON o.id = e.organization_id
    WHERE e.organization_id = ${organizationId} AND ${canMail}
    ORDER BY e.id = ${id} DESC, e.type = 'prod' DESC, i.is_primary DESC, i.priority DESC, i.id
    LIMIT 1`.execute(db)
  return rows[0]
}

const article = (role: string) => (/^[aeo]/.test(role) ? `an ${role}` : `a ${role}`)
const oneLine = (text: string) => text.replace(/\s+/g, ' ')
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
