// The demo: a subscriber's inbox beside buttons that trigger workflows, in Development. The page holds no secrets and anybody
// may load it. Its requests work only from this machine, where somebody has just started the service, and for signed-in
// editors; a stranger must not send messages. It hands out no key: it can trigger its own workflows, for its own
// subscriber, and nothing else.
import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { readSigning } from '../../db/core/signing.ts'
import { fail } from '../../errors.ts'
import { environmentHeader } from '../edge/chosen-environment.ts'
import { refuseOtherSites } from '../edge/people.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { Body, Nullable, Timestamp } from '../edge/schema.ts'
import { InboxLimits } from '../inbox/limit.ts'
import { addDemoWorkflows, demoWorkflows } from './demo-workflows.ts'

const subscriber = { subscriberId: 'demo', firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' }
const mostMails = 5

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: https:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Belfry demo</title>
<link rel="icon" href="data:,">
<script src="inbox.js" defer></script>
<script src="inbox/demo.js" defer></script>
<noscript>The demo is made of scripts, which this browser does not run.</noscript>
</html>
`

const Demo = Type.Object({
  applicationIdentifier: Type.String(),
  subscriberId: Type.String(),
  subscriberHash: Type.String(),
  workflows: Type.Array(
    Type.Object({
      identifier: Type.String(),
      name: Type.String(),
      description: Type.String(),
      tags: Type.Array(Type.String()),
      payload: Type.Record(Type.String(), Type.String()),
    }),
  ),
})
const Mail = Type.Object({
  id: Type.String(),
  subject: Nullable(Type.String()),
  to: Type.Array(Type.String()),
  createdAt: Timestamp,
})

export const demo: Resource = (app, services) => {
  const { db, clock, engine, people, secrets, config: settings } = services
  const limits = new InboxLimits(clock)
  const config = { public: true }
  const path = '/v1/demo'
  let sent = 0

  /** The Development environment of the client. */
  const enter = async (request: FastifyRequest): Promise<Development> => {
    refuseOtherSites(request, settings)
    // Another site's page cannot send this header without a preflight, which we refuse.
    if (request.headers[environmentHeader] === undefined) throw fail('cross_site_request')
    const token = people.tokenOf(request)
    let own: Environment | undefined
    if (token !== undefined) {
      await people.authenticate(request, token)
      own = request.environment
    } else if (!isAtThisMachine(request)) throw fail('demo_closed')
    const development = await findDevelopment(db, own)
    if (!development) throw fail('demo_without_development')
    limits.takeRequest(development.id, request.method)
    return development
  }

  app.get('/demo', { config, schema: { hide: true } }, async (_request, reply) =>
    reply
      .headers({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(page),
  )

  app.post(
    path,
    { config: { ...config, role: 'editor' }, schema: { hide: true, body: Body({}), response: { 200: Demo } } },
    async (request) => {
      const { id, identifier, userId } = await enter(request)
      const now = clock.now()
      const [secret = ''] = (await readSigning(db, secrets, id)).keysFor('inbox', now)
      await db
        .transaction()
        .execute((tx) => addDemoWorkflows(tx, { environmentId: id, userId, now, limit: settings.limits.workflows }))
      return {
        applicationIdentifier: identifier,
        subscriberId: subscriber.subscriberId,
        subscriberHash: createHmac('sha256', secret).update(subscriber.subscriberId).digest('hex'),
        workflows: demoWorkflows.map(({ identifier: name, ...workflow }) => ({
          ...{ identifier: name, name: workflow.name, description: workflow.description, tags: workflow.tags },
          payload: workflow.payloads[0] ?? {},
        })),
      }
    },
  )

  app.post(
    `${path}/:workflowId`,
    {
      config: { ...config, role: 'editor' },
      schema: {
        hide: true,
        params: Type.Object({ workflowId: Type.String() }),
        body: Body({}),
        response: { 201: Type.Object({ transactionId: Type.String(), status: Type.String() }) },
      },
    },
    async (request, reply) => {
      const { id } = await enter(request)
      const { workflowId } = request.params
      const workflow = demoWorkflows.find(({ identifier }) => identifier === workflowId)
      if (!workflow) throw fail('workflow_not_found')
      sent += 1
      const { transactionId, status } = await engine.trigger({
        ...{ environmentId: id, name: workflowId, recipients: [subscriber], overrides: {} },
        payload: workflow.payloads[sent % workflow.payloads.length] ?? {},
        ...{ transactionId: undefined, actor: undefined, tenant: undefined, context: undefined },
      })
      return reply.code(201).send({ transactionId, status })
    },
  )

  app.get(
    `${path}/mails`,
    { config: { ...config, role: 'editor' }, schema: { hide: true, response: { 200: Type.Array(Mail) } } },
    async (request) => {
      const { id } = await enter(request)
      const rows = await db
        .selectFrom('sandbox_messages')
        .select(['id', 'subject', 'recipients', 'created_at'])
        .where('environment_id', '=', id)
        .where('subscriber_id', '=', subscriber.subscriberId)
        .where('channel', '=', 'email')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(mostMails)
        .execute()
      return rows.map(({ id: mailId, subject, recipients, created_at }) => ({
        id: mailId,
        subject,
        to: recipients,
        createdAt: created_at,
      }))
    },
  )
}

interface Development {
  id: string
  identifier: string
  userId: string
}

/** Of the person's organization, else of the oldest one. */
async function findDevelopment(db: Db, own: Environment | undefined): Promise<Development | undefined> {
  return db
    .selectFrom('environments as e')
    .innerJoin('organizations as o', 'o.id', 'e.organization_id')
    .select(['e.id', 'e.identifier', 'o.owner_user_id as userId'])
    .where('e.type', '=', 'dev')
    .$if(own !== undefined, (query) => query.where('e.organization_id', '=', own?.organizationId ?? ''))
    .orderBy('e.created_at')
    .orderBy('e.id')
    .limit(1)
    .executeTakeFirst()
}

const ownNames = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/
const ownAddresses = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
const headersOfProxies = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/**
 * Requires a loopback name, against DNS rebinding, and no proxy in between, behind which anybody could be. A proxy that adds
 * no header passes as a person at this machine; the demo is not worth more protection.
 */
function isAtThisMachine({ socket, headers }: FastifyRequest): boolean {
  return (
    ownAddresses.has(socket.remoteAddress ?? '') &&
    ownNames.test(headers.host ?? '') &&
    !headersOfProxies.some((name) => headers[name] !== undefined)
  )
}
