// What browsers of subscribers may do in an environment (its own choices, or those of the service), and the end of their
// sessions.
import { createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { readSigning } from '../../db/core/signing.ts'
import type { InboxAccessChoices } from '../../db/core/tables.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import {
  endInboxSessions,
  endSessionsOf,
  findInboxAccess,
  inboxRequiresHash,
  profileFields,
  usualProfileFields,
} from '../../db/queries/inbox-access.ts'
import { fail } from '../../errors.ts'
import { requireOwn } from '../edge/reach.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, Enum, Nullable, Timestamp } from '../edge/schema.ts'
import { signedIn } from './account.ts'

const Fields = Type.Array(Enum(profileFields), { uniqueItems: true, maxItems: profileFields.length })
const openTopics =
  'Whether browsers may join every topic, and create topics. Otherwise only topics with joinableFromBrowser'
const fields = 'The profile fields that a page may give for its subscriber; others are ignored'
const InboxAccess = Type.Object({
  openTopics: Nullable(Type.Boolean({ description: `${openTopics}. Null: as usual` })),
  profileFields: Nullable(Type.Array(Type.String(), { description: `${fields}. Null: as usual` })),
  usual: Type.Object(
    { openTopics: Type.Boolean(), profileFields: Type.Array(Type.String()) },
    { description: 'What applies where nothing is chosen' },
  ),
  requiresHash: Type.Boolean({ description: 'Whether the in-app integration requires a hash of the subscriber id' }),
  connection: Nullable(
    Type.Object(
      { at: Timestamp, origin: Nullable(Type.String({ description: 'Of the page, if the browser said' })) },
      { description: 'When a page last opened an inbox here. Null: none has connected yet' },
    ),
  ),
})
const Params = Type.Object({ environmentId: Type.String() })

export const inboxAccess: Resource = (app, { db, clock, secrets, brand }) => {
  const tags = ['Environments']
  const path = '/v2/environments/:environmentId/inbox-access'
  const toAccess = async (
    from: Db | Tx,
    environmentId: string,
    chosen: InboxAccessChoices,
  ): Promise<Static<typeof InboxAccess>> => {
    const requiresHash = await inboxRequiresHash(from, environmentId)
    const connection = await from
      .selectFrom('inbox_connections')
      .select(['connected_at as at', 'origin'])
      .where('environment_id', '=', environmentId)
      .executeTakeFirst()
    return {
      openTopics: chosen.openTopics ?? null,
      profileFields: chosen.profileFields ?? null,
      usual: { openTopics: brand.startsOpen, profileFields: [...usualProfileFields(requiresHash)] },
      requiresHash,
      connection: connection ?? null,
    }
  }

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Retrieve what browsers of subscribers may do',
        params: Params,
        response: { 200: InboxAccess },
      },
    },
    async (request) => {
      const { environmentId } = request.params
      requireOwn(request, environmentId)
      const chosen = await findInboxAccess(db, environmentId, request.environment.organizationId)
      return toAccess(db, environmentId, chosen)
    },
  )

  app.patch(
    path,
    {
      config: { role: 'admin', act: 'environment.inbox-access-changed' },
      schema: {
        tags,
        summary: 'Change what browsers of subscribers may do',
        params: Params,
        body: Body(
          {
            openTopics: Type.Optional(Nullable(Type.Boolean({ description: openTopics }))),
            profileFields: Type.Optional(Nullable({ ...Fields, description: fields })),
          },
          { examples: [{ openTopics: false, profileFields: ['locale', 'timezone'] }] },
        ),
        response: { 200: InboxAccess },
      },
    },
    async (request) => {
      const { organizationId } = request.environment
      const { environmentId } = request.params
      requireOwn(request, environmentId)
      return db.transaction().execute(async (tx) => {
        await lockOrganization(tx, organizationId)
        const current = await findInboxAccess(tx, environmentId, organizationId)
        const wanted = Object.entries({ ...current, ...request.body }).filter(([, choice]) => choice !== null)
        const chosen: InboxAccessChoices = Object.fromEntries(wanted)
        await tx
          .updateTable('environments')
          .set({ inbox_access: JSON.stringify(chosen), updated_at: clock.now() })
          .where('id', '=', environmentId)
          .execute()
        return toAccess(tx, environmentId, chosen)
      })
    },
  )

  app.post(
    '/v2/environments/:environmentId/inbox-preview',
    {
      config: { people: true, role: 'editor' },
      schema: {
        tags,
        summary: 'Whose inbox the dashboard shows as a preview',
        description: 'A subscriber for the signed-in person, with the hash that an inbox with HMAC needs.',
        params: Params,
        body: Body({}),
        response: { 200: Type.Object({ subscriberId: Type.String(), subscriberHash: Type.String() }) },
      },
    },
    async (request) => {
      const { environmentId } = request.params
      requireOwn(request, environmentId)
      await findInboxAccess(db, environmentId, request.environment.organizationId)
      const [secret = ''] = (await readSigning(db, secrets, environmentId)).keysFor('inbox', clock.now())
      // The prefix keeps it apart from real subscribers.
      const subscriberId = `start-${signedIn(request.person).email.split('@', 1)[0]}`
      return { subscriberId, subscriberHash: createHmac('sha256', secret).update(subscriberId).digest('hex') }
    },
  )

  const description = 'Their tokens are refused from now on, and their sockets are closed. Pages start new sessions.'

  app.delete(
    '/v2/environments/:environmentId/inbox-sessions',
    {
      config: { role: 'admin', act: 'inbox.sessions-ended' },
      schema: {
        tags,
        summary: 'End all inbox sessions of an environment',
        description,
        params: Params,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { environmentId } = request.params
      requireOwn(request, environmentId)
      await db.transaction().execute(async (tx) => {
        await findInboxAccess(tx, environmentId, request.environment.organizationId)
        await endInboxSessions(tx, [environmentId])
      })
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/v1/auth/inbox-sessions',
    {
      config: { people: true, role: 'admin', act: 'inbox.sessions-ended-everywhere' },
      schema: {
        tags,
        summary: 'End all inbox sessions of all environments of the organization',
        description,
        response: { 204: Empty },
      },
    },
    async ({ person }, reply) => {
      const { organizationId } = signedIn(person)
      await db.transaction().execute(async (tx) => {
        const rows = await tx
          .selectFrom('environments')
          .select('id')
          .where('organization_id', '=', organizationId)
          .orderBy('id')
          .execute()
        await endInboxSessions(
          tx,
          rows.map(({ id }) => id),
        )
      })
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/v2/subscribers/:subscriberId/inbox-sessions',
    {
      config: { act: 'subscriber.inbox-sessions-ended' },
      schema: {
        tags: ['Subscribers'],
        summary: 'End all inbox sessions of a subscriber',
        description,
        params: Type.Object({ subscriberId: Type.String() }),
        response: { 204: Empty },
      },
    },
    async ({ environment, params }, reply) => {
      const isKnown = await db.transaction().execute((tx) => endSessionsOf(tx, environment.id, params.subscriberId))
      if (!isKnown) throw fail('subscriber_not_found', params)
      return reply.code(204).send(null)
    },
  )
}
