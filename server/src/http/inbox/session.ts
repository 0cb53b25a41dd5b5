// Inbox sessions of browsers: identify the subscriber, check the page's HMAC hash, and issue a token.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Db } from '../../db/core/database.ts'
import { readSigning } from '../../db/core/signing.ts'
import { countContexts, resolveContexts } from '../../db/queries/contexts.ts'
import { usualProfileFields } from '../../db/queries/inbox-access.ts'
import { listIntegrations } from '../../db/queries/integrations.ts'
import { countUnread, type InboxCounts } from '../../db/queries/messages.ts'
import {
  holdSubscriber,
  type PreferenceOwner,
  readPreferences,
  saveGlobalPreference,
} from '../../db/queries/preferences.ts'
import {
  findSubscriber,
  insertSubscriber,
  type SubscriberFields,
  type SubscriberRow,
  updateSubscriber,
} from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import { logOf, type Resource, type Services } from '../edge/resource.ts'
import { Body, ContextPayload, FreeObject } from '../edge/schema.ts'
import { compileValidator } from '../edge/validation.ts'
import { readSchedule, Schedule } from '../subscribers/preferences.ts'
import { subscriberFields } from '../subscribers/subscribers.ts'
import { longestSnoozeHours, mostCounted } from './items.ts'
import { InboxLimits } from './limit.ts'
import { InboxTokens } from './token.ts'

const SubscriberInput = Type.Unsafe<string | (SubscriberFields & { subscriberId?: string })>({
  type: ['string', 'object'],
  maxLength: 255,
  additionalProperties: false,
  properties: {
    ...subscriberFields,
    // Filled in by browsers, some of which have unknown zones.
    timezone: { type: ['string', 'null'] },
    subscriberId: Type.String({ maxLength: 255 }),
  },
  texts: { type: 'must be a subscriber id or an object with one' },
})
/** Names, addresses and a little data. */
const mostAnonymousBytes = 4_096
type SessionContext = Record<string, unknown> | undefined
const Hash = Type.Optional(Type.String())
const Counts = Type.Object({
  high: Type.Integer(),
  medium: Type.Integer(),
  low: Type.Integer(),
  none: Type.Integer(),
})
const UnreadCount = Type.Object({ total: Type.Integer(), severity: Counts })

/** As the browser shows it, up to "99+". */
export const toUnreadCount = ({ unread }: InboxCounts): Static<typeof UnreadCount> => {
  const shown = Object.fromEntries(Object.entries(unread).map(([name, count]) => [name, Math.min(count, mostCounted)]))
  return { total: Math.min(totalOf(unread), mostCounted), severity: shown as InboxCounts['unread'] }
}
export const totalOf = (unread: InboxCounts['unread']) => Object.values(unread).reduce((sum, count) => sum + count, 0)

export const inboxSession: Resource = (app, services) => {
  const { db, clock, brand, people } = services
  const tokens = new InboxTokens(services)
  const limits = new InboxLimits(clock)
  const connections = new Connections(services)
  const word = brand.word.charAt(0).toUpperCase() + brand.word.slice(1)
  // The public clients look for the second, whatever our brand.
  const removeBranding = [`remove${word}Branding`, 'removeNovuBranding']
  const forEach = <T>(names: string[], value: T) => Object.fromEntries(names.map((name) => [name, value]))

  /** Of what a page without a hash would store: anybody can send it. */
  const refuseExcess = async (
    environmentId: string,
    address: string,
    { subscriberId, fields, context }: { subscriberId: string; fields: object; context: SessionContext },
  ): Promise<void> => {
    const bytes = Buffer.byteLength(JSON.stringify({ ...fields, context }))
    if (bytes > mostAnonymousBytes) throw fail('anonymous_profile_too_large', { limit: mostAnonymousBytes })
    const [known, isComplete] = await Promise.all([
      findSubscriber(db, environmentId, subscriberId),
      context === undefined || countContexts(db, environmentId, context).then(({ missing }) => missing === 0),
    ])
    if (!known || !isComplete) limits.takeCreation(address, environmentId)
  }

  app.post(
    '/v1/inbox/session',
    {
      config: { public: true },
      onRequest: async ({ ip }) => limits.takeSession(ip),
      schema: {
        tags: ['Inbox in browsers'],
        summary: 'Start a session for a subscriber, who is created if missing',
        description: 'Needs no key: the page names the environment by its application identifier.',
        body: Body(
          {
            applicationIdentifier: Type.Optional(Type.String()),
            subscriber: Type.Optional(SubscriberInput),
            subscriberId: Type.Optional(Type.String({ maxLength: 255, deprecated: true })),
            subscriberHash: Hash,
            context: Type.Optional(ContextPayload()),
            contextHash: Hash,
            defaultSchedule: Type.Optional(
              Type.Unknown({ description: 'The schedule of the subscriber, until it sets another' }),
            ),
          },
          { examples: [{ applicationIdentifier: 'aB3dE5fG7h', subscriber: { subscriberId: 'ada' } }] },
        ),
        response: {
          201: Type.Object({
            data: Type.Object({
              token: Type.String(),
              totalUnreadCount: Type.Integer({ deprecated: true }),
              unreadCount: UnreadCount,
              ...forEach(removeBranding, Type.Boolean()),
              isDevelopmentMode: Type.Boolean(),
              maxSnoozeDurationHours: Type.Integer(),
              applicationIdentifier: Type.String(),
              contextKeys: Type.Array(Type.String()),
              schedule: Type.Optional(FreeObject),
            }),
          }),
        },
      },
    },
    async (request, reply) => {
      const { applicationIdentifier, subscriberHash, context, contextHash, defaultSchedule } = request.body
      const { subscriberId, ...given } = subscriberOf(request.body)
      if (!applicationIdentifier) throw fail(subscriberId ? 'application_identifier_missing' : 'keyless_not_offered')
      if (applicationIdentifier.startsWith('pk_keyless_')) throw fail('keyless_not_offered')
      if (!subscriberId) throw fail('session_subscriber_missing')
      const environment = await findEnvironment(db, applicationIdentifier)
      const integrations = await listIntegrations(db, environment.id, { onlyActive: true })
      const inApp = integrations.filter(({ channel }) => channel === 'in_app')
      const [integration] = inApp
      if (!integration) throw fail('in_app_integration_not_found')

      const requiresHash = inApp.some(({ credentials }) => credentials.hmac === true)
      const keys = new HashKeys(services, environment.id)
      const vouchedBy = await keys.match(subscriberId, subscriberHash)
      const isContextVouchedFor = context !== undefined && (await keys.matchContext(context, contextHash))
      if (requiresHash && vouchedBy === undefined) throw fail('subscriber_hash_invalid')
      if (requiresHash && context !== undefined && !isContextVouchedFor) throw fail('context_hash_invalid')
      const allowed = environment.inbox_access?.profileFields ?? usualProfileFields(requiresHash)
      const fields: SubscriberFields = Object.fromEntries(
        Object.entries(given).filter(([name]) => allowed.includes(name)),
      )
      if (vouchedBy === undefined || (context !== undefined && !isContextVouchedFor))
        await refuseExcess(environment.id, request.ip, { subscriberId, fields, context })
      if (environment.clock_seed !== null) await request.enterHeld(reply, environment.id)
      const now = request.now()
      const contextKeys = await resolveContexts(db, environment.id, context, now)
      const isTrusted = vouchedBy !== undefined
      const subscriber = await findOrAdd(db, environment.id, { subscriberId, ...fields }, { isTrusted, now })
      const owner = { environmentId: environment.id, subscriberRowId: subscriber.id, contextKeys }
      const ownSchedule = defaultSchedule === undefined ? undefined : scheduleIn(defaultSchedule)
      if (defaultSchedule !== undefined && !ownSchedule)
        logOf(request).warn({ environmentId: environment.id }, 'ignoring an invalid default schedule from a page')
      const [schedule, [counts]] = await Promise.all([
        scheduleOf(db, owner, subscriberId, { given: ownSchedule, now }),
        countUnread(services.pool, [owner], mostCounted + 1),
      ])
      if (!isOwnPage(request, subscriberId, people)) {
        if (!integration.connected) await markConnected(db, environment.id, integration.id)
        await connections.note(environment.id, originOf(request))
      }

      const unreadCount = toUnreadCount(counts as InboxCounts)
      return reply.code(201).send({
        data: {
          token: tokens.issue({
            subscriber,
            environmentId: environment.id,
            organizationId: environment.organization_id,
            ...{ contextKeys, vouchedBy, isContextVouchedFor, generation: environment.inbox_generation },
          }),
          totalUnreadCount: unreadCount.total,
          unreadCount,
          ...forEach(removeBranding, true),
          isDevelopmentMode: environment.type !== 'prod',
          maxSnoozeDurationHours: longestSnoozeHours,
          applicationIdentifier,
          contextKeys,
          ...(schedule ? { schedule } : {}),
        },
      })
    },
  )
}

/** Older clients send only the id, beside or instead of the subscriber. */
function subscriberOf({ subscriber, subscriberId = '' }: SessionBody): SubscriberFields & { subscriberId: string } {
  const { subscriberId: own = '', ...fields } =
    typeof subscriber === 'string' ? { subscriberId: subscriber } : (subscriber ?? {})
  if (fields.timezone && !isTimeZone(fields.timezone)) delete fields.timezone
  return { ...fields, subscriberId: own.trim() || subscriberId.trim() }
}

interface SessionBody {
  subscriber?: Static<typeof SubscriberInput>
  subscriberId?: string
}

const checkZone = compileValidator({
  schema: Type.String({ format: 'timezone' }),
  method: 'POST',
  url: '',
  httpPart: 'body',
})
const isTimeZone = (zone: string) => 'value' in (checkZone(zone) as object)

const checkSchedule = compileValidator({ schema: Schedule, method: 'POST', url: '', httpPart: 'body' })

/** Undefined if invalid: a mistake here must not break the inbox. */
function scheduleIn(given: unknown): object | undefined {
  const checked = checkSchedule(given) as { value?: Static<typeof Schedule> }
  if (checked.value === undefined) return undefined
  try {
    return readSchedule(checked.value)
  } catch {
    return undefined
  }
}

async function findEnvironment(db: Db, identifier: string) {
  const row = await db
    .selectFrom('environments')
    .select(['id', 'organization_id', 'type', 'inbox_access', 'inbox_generation', 'clock_seed'])
    .where('identifier', '=', identifier)
    .executeTakeFirst()
  if (!row) throw fail('application_identifier_unknown')
  return row
}

/** A page may change an existing subscriber only with a valid HMAC hash. */
async function findOrAdd(
  db: Db,
  environmentId: string,
  { subscriberId, ...fields }: SubscriberFields & { subscriberId: string },
  { isTrusted, now }: { isTrusted: boolean; now: Date },
): Promise<SubscriberRow> {
  for (;;) {
    const found = isTrusted
      ? await updateSubscriber(db, environmentId, subscriberId, fields, now)
      : await findSubscriber(db, environmentId, subscriberId)
    // Empty if a concurrent request created it first; then we find that one.
    const row = found ?? (await insertSubscriber(db, environmentId, { subscriberId, ...fields }, now))
    if (row) return row
  }
}

/** The stored schedule, or else stores the given one. */
async function scheduleOf(
  db: Db,
  owner: PreferenceOwner,
  subscriberId: string,
  { given, now }: { given: object | undefined; now: Date },
): Promise<Record<string, unknown> | undefined> {
  const { global } = await readPreferences(db, owner)
  if (global?.schedule || !given) return global?.schedule ?? undefined
  return db.transaction().execute(async (tx) => {
    await holdSubscriber(tx, owner.environmentId, subscriberId)
    const { global: meanwhile } = await readPreferences(tx, owner)
    if (meanwhile?.schedule) return meanwhile.schedule
    await saveGlobalPreference(tx, owner, { schedule: given }, now)
    return given as Record<string, unknown>
  })
}

const originOf = ({ headers }: FastifyRequest): string | undefined => {
  const { origin } = headers
  return origin === undefined || origin.length > mostOriginCharacters || !URL.canParse(origin) ? undefined : origin
}
const mostOriginCharacters = 300

/** The demo, or a preview in the dashboard: that an inbox works there says nothing about the page of the user's product. */
function isOwnPage(request: FastifyRequest, subscriberId: string, people: Services['people']): boolean {
  const origin = originOf(request)
  if (origin === undefined || new URL(origin).host !== request.host) return false
  return subscriberId === 'demo' || people.tokenOf(request) !== undefined
}

const noteEveryMs = 60_000
const mostNoted = 10_000

/** Records the last connection of an environment, at most once a minute in each process. */
class Connections {
  readonly #services: Pick<Services, 'db' | 'clock'>
  readonly #notedAt = new Map<string, number>()

  constructor(services: Pick<Services, 'db' | 'clock'>) {
    this.#services = services
  }

  async note(environmentId: string, origin: string | undefined): Promise<void> {
    const { db, clock } = this.#services
    const now = clock.now()
    const name = `${environmentId} ${origin}`
    if (now.getTime() - (this.#notedAt.get(name) ?? Number.NEGATIVE_INFINITY) < noteEveryMs) return
    if (this.#notedAt.size >= mostNoted) this.#notedAt.clear()
    this.#notedAt.set(name, now.getTime())
    const values = { connected_at: now, origin: origin ?? null }
    await db
      .insertInto('inbox_connections')
      .values({ environment_id: environmentId, ...values })
      .onConflict((conflict) => conflict.column('environment_id').doUpdateSet(values))
      .execute()
  }
}

async function markConnected(db: Db, environmentId: string, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('integrations')
      .set({ connected: true })
      .where('environment_id', '=', environmentId)
      .where('id', '=', id)
      .where('connected', '=', false)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await announce(tx, 'integrations', environmentId)
  })
}

/**
 * Accepts hashes made with any inbox secret or compatible key of the environment, so that they can be rotated while pages are
 * open.
 */
export class HashKeys {
  readonly #services: Pick<Services, 'db' | 'secrets' | 'clock'>
  readonly #environmentId: string

  constructor({ db, secrets, clock }: Pick<Services, 'db' | 'secrets' | 'clock'>, environmentId: string) {
    this.#services = { db, secrets, clock }
    this.#environmentId = environmentId
  }

  /** The name of the key that made the hash; undefined if none did. */
  async match(text: string, hash: string | undefined): Promise<string | undefined> {
    if (hash === undefined) return undefined
    const { db, secrets, clock } = this.#services
    const signing = await readSigning(db, secrets, this.#environmentId)
    const given = Buffer.from(hash)
    const key = signing.acceptedFor('inbox', clock.now()).find(({ secret }) => {
      const made = createHmac('sha256', secret).update(text).digest('hex')
      const expected = Buffer.from(made)
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
    return key?.name
  }

  async matchContext(context: Record<string, unknown>, hash: string | undefined): Promise<boolean> {
    const text = canonical(context)
    return text !== undefined && (await this.match(text, hash)) !== undefined
  }
}

/**
 * The canonical JSON of a value, for hashing: members sorted, no white space, and only quotes and backslashes escaped in
 * strings. Undefined for fractions, which implementations write differently.
 */
export function canonical(value: unknown): string | undefined {
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : undefined
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) {
    const items = value.map(canonical)
    return items.includes(undefined) ? undefined : `[${items.join()}]`
  }
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [canonical(name), canonical(member)])
  return members.flat().includes(undefined) ? undefined : `{${members.map((pair) => pair.join(':')).join()}}`
}
