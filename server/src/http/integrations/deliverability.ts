// The check of a sender's domain: whether mail from it can arrive, and what to publish in the DNS.
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { consentOf } from '../../db/queries/consent.ts'
import { findIntegration, type IntegrationRow } from '../../db/queries/integrations.ts'
import { checkDomain, type DomainReport, DomainReports } from '../../engine/domain/check.ts'
import { domainOfAddress, readDomain, type Sender } from '../../engine/domain/sender.ts'
import { checkIds, checkStatuses } from '../../engine/domain/verdict.ts'
import { fail } from '../../errors.ts'
import { smtpServerOf } from '../../providers/delivery.ts'
import { deliveryProvider } from '../../providers/index.ts'
import { openIntegration } from '../../steps/delivery/integration-choice.ts'
import type { Resource, Services } from '../edge/resource.ts'
import { Enum, FreeObject, Timestamp } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'

const Status = Enum(checkStatuses)
const Report = Type.Object({
  integrationId: Type.String(),
  domain: Type.String(),
  checkedAt: Timestamp,
  status: Type.Unsafe<Static<typeof Status>>({
    ...Status,
    description: 'The worst of all checks that were not skipped, apart from `bimi`',
  }),
  checks: Type.Array(
    Type.Object({
      id: Enum(checkIds),
      status: Status,
      summary: Type.String(),
      records: Type.Array(Type.String(), { description: 'As the DNS has them' }),
      details: FreeObject,
      publish: Type.Optional(
        Type.Object(
          { type: Enum(['TXT', 'MX']), name: Type.String(), value: Type.String() },
          { description: 'A record that would make it better' },
        ),
      ),
    }),
  ),
})

export const deliverability: Resource = (app, services) => {
  const { db, clock, config } = services
  const reports = new DomainReports(clock)

  app.get(
    '/v1/integrations/:integrationId/deliverability',
    {
      schema: {
        tags: ['Integrations'],
        summary: "Check the domain of an email integration's sender",
        description:
          'Asks the DNS about SPF, DKIM, DMARC, MX and BIMI, and looks at the mail server of SMTP integrations. It takes up to ten seconds; what is not answered by then is skipped. The answer is remembered for a minute.',
        params: Type.Object({ integrationId: Type.String({ description: 'Its `_id`' }) }),
        querystring: Type.Object({
          domain: Type.Optional(
            Type.String({ minLength: 1, maxLength: 253, description: 'Default: that of the From address' }),
          ),
          selector: Type.Optional(
            Type.String({
              pattern: '^[a-zA-Z0-9](?:[a-zA-Z0-9._-]{0,62})$',
              texts: { pattern: 'must be a DKIM selector' },
              description: 'Of the DKIM key. Default: the one Belfry signs with',
            }),
          ),
          fresh: Type.Optional(Type.Boolean({ description: 'Ask again now' })),
        }),
        response: { 200: Report },
      },
    },
    async ({ environment, params, query }) => {
      const row = await findIntegration(db, environment.id, params.integrationId)
      if (!row) throw fail('integration_not_found', { id: params.integrationId })
      if (row.channel !== 'email') throw fail('deliverability_not_offered')
      const sender = await senderFor(services, row, query)
      const { domain, selector, linkBase, envelopeDomain } = sender
      const about = [environment.id, row.id, row.updated_at.toISOString(), domain, selector, linkBase, envelopeDomain]
      const report = await reports.get(JSON.stringify(about), query.fresh ?? false, () =>
        checkDomain(sender, config.dnsServers, clock.now()),
      )
      return { integrationId: row.id, ...shown(report) }
    },
  )
}

const shown = ({ checks, ...report }: DomainReport) => ({
  ...report,
  checks: checks.map(({ publish, ...check }) => ({ ...check, ...(publish ? { publish } : {}) })),
})

async function senderFor(
  { db, secrets, http, config }: Services,
  row: IntegrationRow,
  asked: { domain?: string; selector?: string },
): Promise<Sender> {
  const { credentials } = openIntegration(row, secrets)
  const { type, dns, consent } = await findEnvironment(db, row.environment_id)
  const provider = deliveryProvider(row.provider_id)
  return {
    domain: domainOf(asked.domain, credentials.from),
    selector: asked.selector,
    providerId: row.provider_id,
    smtp: provider && smtpServerOf(provider, credentials),
    envelopeDomain:
      row.configurations.bounceAddress === true && config.inboundMail
        ? dns.inboundParseDomain?.toLowerCase()
        : undefined,
    takesHeaders: provider?.takesNoHeaders !== true,
    linkBase: consentOf(consent).brand.linkBaseUrl ?? config.publicUrl,
    http: type === 'dev' ? http.development : http,
  }
}

function domainOf(asked: string | undefined, from: unknown): string {
  if (asked !== undefined) {
    const domain = readDomain(asked)
    if (domain === undefined) throw generalError(['domain must be the name of a domain'])
    return domain
  }
  const own = typeof from === 'string' ? domainOfAddress(from) : undefined
  if (own === undefined) throw fail('deliverability_no_sender')
  return own
}

const findEnvironment = (db: Db, id: string) =>
  db.selectFrom('environments').select(['type', 'dns', 'consent']).where('id', '=', id).executeTakeFirstOrThrow()
