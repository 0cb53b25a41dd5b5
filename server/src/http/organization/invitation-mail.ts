// Mails an invitation through an email integration of the organization. A failure is a normal answer, since the inviting
// person also gets the link.
import { type Selectable, sql } from 'kysely'
import { newId } from '../../db/core/ids.ts'
import type { InvitationTable } from '../../db/core/tables.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { Delivery } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { deliveryProvider } from '../../providers/index.ts'
import type { EmailMessage } from '../../providers/provider.ts'
import { openIntegration } from '../../steps/delivery/integration-choice.ts'
import type { Environment, Services } from '../edge/resource.ts'

/** Short, because a person waits for the answer. */
const patienceMs = 10_000

interface Sending {
  row: Selectable<InvitationTable>
  link: string
}

interface Mailed {
  status: 'sent' | 'not_configured' | 'failed'
  integration: string | null
  reason: string | null
}

type Candidate = IntegrationRow & { environment_type: 'dev' | 'prod'; organization: string }

export async function mailInvitation(services: Services, environment: Environment, sending: Sending): Promise<Mailed> {
  const integration = await mailer(services, environment)
  const provider = integration && deliveryProvider(integration.provider_id)
  if (!integration || provider?.channel !== 'email')
    return { status: 'not_configured', integration: null, reason: null }
  const { http, clock, brand, secrets } = services
  const delivery = new Delivery({ http, clock, brand: brand.word, timeoutMs: patienceMs })
  const opened = { ...openIntegration(integration, secrets), isDevelopment: integration.environment_type === 'dev' }
  try {
    await delivery.send(provider, opened, messageOf(sending, integration, opened.credentials, clock.now()))
    return { status: 'sent', integration: integration.name, reason: null }
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error
    return { status: 'failed', integration: integration.name, reason: error.message }
  } finally {
    await delivery.close()
  }
}

/** Prefers the person's current environment, and primary integrations. Never the sandbox, which sends nothing. */
async function mailer({ db }: Services, { id, organizationId }: Environment): Promise<Candidate | undefined> {
  const { rows } = await sql<Candidate>`
    SELECT i.*, e.type AS environment_type, o.name AS organization
    FROM integrations i JOIN environments e ON e.id = i.environment_id JOIN organizations o ON o.id = e.organization_id
    WHERE e.organization_id = ${organizationId} AND i.channel = 'email' AND i.kind = 'delivery' AND i.active
      AND i.deleted_at IS NULL AND i.provider_id NOT LIKE 'svc-%' AND i.conditions = '[]'
    ORDER BY e.id = ${id} DESC, e.type = 'prod' DESC, i.is_primary DESC, i.priority DESC, i.id
    LIMIT 1`.execute(db)
  return rows[0]
}

function messageOf(
  { row, link }: Sending,
  { organization }: Candidate,
  { from, senderName }: Record<string, unknown>,
  now: Date,
): EmailMessage {
  const sentence = `${row.invited_by} invites you to ${organization} on Belfry, as ${article(row.role)}.`
  const until = `The link works once, until ${row.expires_at.toISOString().slice(0, 10)}.`
  return {
    channel: 'email',
    id: newId(now),
    attempt: 1,
    to: [row.email],
    cc: [],
    bcc: [],
    from: typeof from === 'string' && from !== '' ? from : 'no-reply@localhost',
    ...(typeof senderName === 'string' && senderName !== '' ? { senderName } : {}),
    subject: oneLine(`${row.invited_by} invites you to ${organization}`),
    html: `<p>${escaped(sentence)}</p><p><a href="${escaped(link)}">Accept the invitation</a></p><p>${until}</p>`,
    text: `${sentence}\n\n${link}\n\n${until}\n`,
    headers: {},
    attachments: [],
    details: { transactionId: row.id, workflowId: 'invitation', subscriberId: row.email },
    payload: {},
    providerData: {},
    customData: {},
  }
}

const article = (role: string) => (/^[aeo]/.test(role) ? `an ${role}` : `a ${role}`)
const oneLine = (text: string) => text.replace(/\s+/g, ' ')
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
