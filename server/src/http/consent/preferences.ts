// The page of preferences behind a link in a message, and the link for those who want to show it elsewhere.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type Db, retryConflicts, type Tx } from '../../db/core/database.ts'
import { type Link, makeLink, noAddress, noId } from '../../db/core/link-tokens.ts'
import { afterWish } from '../../db/core/refusals.ts'
import { consentOf } from '../../db/queries/consent.ts'
import { resolveContexts } from '../../db/queries/contexts.ts'
import { timeIn } from '../../db/queries/environments.ts'
import { findSnooze, listActiveWorkflows, type PreferenceOwner, readPreferences } from '../../db/queries/preferences.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import {
  addressesOf,
  entriesAbout,
  hasAddressOf,
  type MovedSwitch,
  type PageChoices,
  refusesAll,
  savePageChoices,
} from '../../engine/consent/page-choices.ts'
import { holdsBack } from '../../engine/consent/rules.ts'
import { fail } from '../../errors.ts'
import type { App, Resource, Services } from '../edge/resource.ts'
import { Body, ContextPayload, Nullable, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { InboxTokens } from '../inbox/token.ts'
import { isCriticalWorkflow, resolveChannels } from '../subscribers/preferences.ts'
import { Brand } from './brand.ts'
import { openLink } from './open-link.ts'
import type { PageBrand } from './page.ts'
import { type PageChannel, preferencePage, type ShownWorkflow, snoozeDays } from './preference-page.ts'

const dayMs = 86_400_000
const usualDays = 180
const longestDays = 365

export const preferencesLink: Resource = (app, { db, secrets, config }) => {
  app.post(
    '/v2/subscribers/:subscriberId/preferences-link',
    {
      config: { act: 'subscriber.preferences-link-created' },
      schema: {
        tags: ['Preferences'],
        summary: "Make a link to a subscriber's page of preferences",
        description: 'Whoever has the link can change the preferences until it expires.',
        params: Type.Object({ subscriberId: Type.String() }),
        body: Body(
          {
            context: Type.Optional(ContextPayload()),
            expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: longestDays, default: usualDays })),
          },
          { examples: [{ expiresInDays: 30 }] },
        ),
        response: { 201: Type.Object({ url: Type.String(), expiresAt: Timestamp }) },
      },
    },
    async (request, reply) => {
      const { environment, params, body } = request
      const now = request.now()
      const subscriber = await findSubscriber(db, environment.id, params.subscriberId)
      if (!subscriber) throw fail('subscriber_not_found', params)
      const contextKeys = await resolveContexts(db, environment.id, body.context, now)
      const seconds = Math.floor(now.getTime() / 1000) * 1000
      const expiresAt = new Date(seconds + (body.expiresInDays ?? usualDays) * dayMs)
      const token = makeLink(secrets, {
        ...{ purpose: 'p', environmentId: environment.id, subscriberRowId: subscriber.id, messageId: noId },
        ...{ workflowId: noId, category: null, channel: 'email', hasContexts: false, addressHash: noAddress },
        ...{ expiresAt, contextIds: await idsOf(db, environment.id, contextKeys) },
      })
      const { consent } = await db
        .selectFrom('environments')
        .select('consent')
        .where('id', '=', environment.id)
        .executeTakeFirstOrThrow()
      const base = (consentOf(consent).brand.linkBaseUrl ?? config.publicUrl).replace(/\/+$/, '')
      return reply.code(201).send({ url: `${base}/l/p/${token}`, expiresAt })
    },
  )
}

async function idsOf(db: Db, environmentId: string, contextKeys: string[]): Promise<string[]> {
  if (contextKeys.length === 0) return []
  const rows = await db
    .selectFrom('contexts')
    .select(['id', 'type', 'context_id'])
    .where('environment_id', '=', environmentId)
    .where((where) =>
      where.or(
        contextKeys.map((key) => {
          const at = key.indexOf(':')
          return where.and([where('type', '=', key.slice(0, at)), where('context_id', '=', key.slice(at + 1))])
        }),
      ),
    )
    .execute()
  return rows.map(({ id }) => id)
}

interface Showing {
  /** Sends a page in the reader's language, or JSON to whoever wants no page. */
  page(
    request: FastifyRequest,
    reply: FastifyReply,
    link: Link,
    as: {
      make: (of: Pick<Parameters<typeof preferencePage>[0], 'brand' | 'language'>) => string
      json: (brand: PageBrand) => object
    },
  ): Promise<FastifyReply>
}

/** Registered with the other links, whose limits and headers they share. */
export function preferencePages(scope: App, services: Services, { page }: Showing): void {
  const { db, secrets, clock } = services
  const tags = ['Links']
  const config = { public: true }
  const Params = Type.Object({ token: Type.String() })
  const Page = {
    description: 'A page for browsers, in the language of the reader; JSON for others',
    content: { 'text/html': { schema: Type.String() }, 'application/json': { schema: PageAsJson } },
  }
  const tokens = new InboxTokens(services)

  const inPage = <T>(token: string, work: (tx: Tx, found: Found) => Promise<T>): Promise<T> =>
    retryConflicts(() =>
      db.transaction().execute(async (tx) => {
        const link = openLink(secrets, 'p', token)
        const now = await timeIn(tx, link.environmentId, clock.now())
        if (link.expiresAt && link.expiresAt <= now) throw fail('link_expired')
        return work(tx, { link, now, ...(await findPerson(tx, link)) })
      }),
    )
  const show = (request: FastifyRequest, reply: FastifyReply, { link, person, seen }: Shown, isSaved: boolean) =>
    page(request, reply, link, {
      make: (of) => preferencePage({ ...of, ...seen, timezone: person.timezone, isSaved }),
      json: (brand) => ({ ...asJson(seen), timezone: person.timezone, saved: isSaved, brand }),
    })

  scope.get(
    '/l/p/:token',
    {
      config,
      schema: {
        tags,
        summary: 'Show the page of preferences',
        params: Params,
        querystring: Type.Object({ lang: Type.Optional(Type.String()) }),
        response: { 200: Page },
      },
    },
    async (request, reply) => {
      const shown = await inPage(request.params.token, async (tx, found) => ({ ...found, seen: await see(tx, found) }))
      return show(request, reply, shown, false)
    },
  )

  scope.post(
    '/l/p/:token',
    {
      config,
      schema: {
        tags,
        summary: 'Save the page of preferences',
        description:
          'For each switch that was shown `shown=<workflowId>:<channel>`, and `on=` with the same where it is on. A page that may be old adds `was=on:<workflowId>:<channel>` or `was=off:…`, as it showed the switch: only what differs from that is moved. `all=off` refuses everything commercial, `all=on` allows it again, `snooze=7`, `30` or `90` pauses it for so many days, `snooze=0` ends that.',
        consumes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
        params: Params,
        body: Type.Unsafe<Record<string, unknown> | undefined>({}),
        response: { 200: Page },
      },
    },
    async (request, reply) => {
      const form = request.body ?? {}
      let isSaved = true
      const shown = await inPage(request.params.token, async (tx, found) => {
        const { link, person, owner, now } = found
        const before = await see(tx, found)
        const choices = readForm(form, before, now)
        // Without an address there is nothing to refuse with, so nothing would be saved.
        isSaved = choices.all !== 'off' || before.canStop
        if (!(await savePageChoices(tx, owner, person, choices, now))) throw fail('link_unknown')
        return { link, person, owner, now, seen: await see(tx, found) }
      })
      return show(request, reply, shown, isSaved)
    },
  )

  scope.post(
    '/l/p/:token/session',
    {
      config,
      schema: {
        tags,
        summary: 'Begin a session that opens preferences only',
        params: Params,
        response: { 201: Type.Object({ token: Type.String() }) },
      },
    },
    async (request, reply) => {
      const begun = await inPage(request.params.token, async (tx, { person, owner }) => {
        const environment = await tx
          .selectFrom('environments')
          .select(['organization_id', 'inbox_generation'])
          .where('id', '=', owner.environmentId)
          .executeTakeFirst()
        if (!environment) throw fail('link_unknown')
        return { person, owner, environment }
      })
      const { person, owner, environment } = begun
      const token = tokens.issueForPreferences({
        subscriber: person,
        ...{ environmentId: owner.environmentId, contextKeys: owner.contextKeys, isContextVouchedFor: true },
        organizationId: environment.organization_id,
        generation: environment.inbox_generation,
      })
      return reply.code(201).send({ token })
    },
  )
}

/** What the page shows. */
const PageAsJson = Type.Object({
  workflows: Type.Array(
    Type.Object({
      workflowId: Type.String(),
      name: Type.String(),
      messageClass: Type.Union([Type.Literal('transactional'), Type.Literal('commercial')]),
      category: Nullable(Type.String()),
      locked: Type.Boolean({ description: 'Nobody can switch it off' }),
      channels: Type.Array(
        Type.Object({
          channel: Type.String(),
          on: Type.Boolean(),
          fixed: Type.Boolean({ description: 'Held back by what a switch does not end, such as STOP by text message' }),
        }),
      ),
    }),
  ),
  stopped: Type.Union([Type.Literal('none'), Type.Literal('some'), Type.Literal('all')], {
    description: 'Which of their addresses refuse everything commercial',
  }),
  snoozedUntil: NullableTimestamp,
  timezone: Nullable(Type.String()),
  saved: Type.Boolean(),
  brand: Brand,
})

const asJson = ({ workflows, stopped, snoozedUntil }: Seen) => ({
  stopped,
  snoozedUntil: snoozedUntil ?? null,
  workflows: workflows.map(({ identifier: workflowId, name, isCommercial, category, isLocked: locked, channels }) => ({
    ...{ workflowId, name, messageClass: isCommercial ? 'commercial' : 'transactional', category, locked },
    channels: channels.map(({ channel, isOn: on, isFixed: fixed }) => ({ channel, on, fixed })),
  })),
})

type Person = Exclude<Awaited<ReturnType<typeof findSubscriber>>, undefined>

interface Found {
  link: Link
  person: Person
  owner: PreferenceOwner
  now: Date
}

interface Shown extends Found {
  seen: Seen
}

/** A stranger who got a message by mistake does not see or change anything: the subscriber has another address by now. */
async function findPerson(tx: Tx, link: Link): Promise<Pick<Found, 'person' | 'owner'>> {
  const { environmentId, subscriberRowId, addressHash } = link
  const person = await tx
    .selectFrom('subscribers')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', subscriberRowId)
    .executeTakeFirst()
  if (!person) throw fail('link_unknown')
  if (!addressHash.equals(noAddress) && !hasAddressOf(person, link)) throw fail('link_expired')
  return { person, owner: { environmentId, subscriberRowId, contextKeys: await contextsOf(tx, link) } }
}

async function contextsOf(tx: Tx, { environmentId, messageId, hasContexts, contextIds }: Link): Promise<string[]> {
  if (contextIds.length > 0) {
    const rows = await tx
      .selectFrom('contexts')
      .select(['type', 'context_id'])
      .where('environment_id', '=', environmentId)
      .where('id', 'in', contextIds)
      .execute()
    if (rows.length < contextIds.length) throw fail('link_expired')
    return rows.map((row) => `${row.type}:${row.context_id}`).sort()
  }
  if (!hasContexts) return []
  const message = await tx
    .selectFrom('messages')
    .select('context_keys')
    .where('environment_id', '=', environmentId)
    .where('id', '=', messageId)
    .executeTakeFirst()
  // Only the message says which contexts it had.
  if (!message) throw fail('link_expired')
  return message.context_keys
}

interface Seen {
  workflows: Array<ShownWorkflow & { id: string }>
  snoozedUntil: Date | undefined
  /** Which of their addresses refuse everything commercial. */
  stopped: 'none' | 'some' | 'all'
  /** Whether they have an address that could. */
  canStop: boolean
  /** The list holds back what the preferences alone let pass, or would if a switch were moved. */
  isHeldBack: boolean
}

async function see(tx: Tx, { owner, person, now }: Found): Promise<Seen> {
  const { environmentId } = owner
  const workflows = await listActiveWorkflows(tx, environmentId)
  const preferences = await readPreferences(tx, owner)
  const entries = await entriesAbout(tx, environmentId, person, now)
  let isHeldBack = false
  const shown = workflows.map((workflow): ShownWorkflow & { id: string } => {
    const isLocked = isCriticalWorkflow(workflow)
    const isCommercial = workflow.message_class === 'commercial'
    const asking = {
      ...{ workflowId: workflow.identifier, category: workflow.consent_category, isCritical: isLocked },
      messageClass: isCommercial ? ('commercial' as const) : ('transactional' as const),
    }
    const channels = Object.entries(resolveChannels(workflow, preferences).channels).map(([channel, isOn]) => {
      const against = entries.filter((entry) => entry.channel === channel && holdsBack(entry, asking))
      // To want the workflow again would not end these.
      const isFixed = against.some((entry) => afterWish(entry, asking) === 'stays')
      if (isFixed || (isOn === true && against.length > 0)) isHeldBack = true
      return { channel: channel as PageChannel, isOn: isOn === true && against.length === 0, isFixed }
    })
    const { id, identifier, name, consent_category: category } = workflow
    return { id, identifier, name, isCommercial, category: isCommercial ? category : null, isLocked, channels }
  })
  return {
    workflows: shown.filter(({ channels }) => channels.length > 0),
    snoozedUntil: await findSnooze(tx, owner, now),
    isHeldBack,
    ...stoppingOf(person, entries),
  }
}

function stoppingOf(person: Person, entries: SuppressionRow[]): Pick<Seen, 'stopped' | 'canStop'> {
  const addresses = addressesOf(person)
  const refusing = addresses.filter(({ channel }) =>
    entries.some((entry) => entry.channel === channel && refusesAll(entry)),
  )
  const isAll = refusing.length > 0 && refusing.length === addresses.length
  return { canStop: addresses.length > 0, stopped: isAll ? 'all' : refusing.length > 0 ? 'some' : 'none' }
}

const textsOf = (value: unknown): string[] => [value ?? []].flat().filter((each) => typeof each === 'string')

/**
 * What the form changes: of the switches that it showed, those that were moved. Names it could not have shown are ignored.
 * @throws `preferences_body` if it is none of the page: nobody shall be told that it was saved
 */
function readForm(form: Record<string, unknown>, { workflows, stopped }: Seen, now: Date): PageChoices {
  const all = form.all === 'off' || form.all === 'on' ? form.all : undefined
  const isEmpty = form.shown === undefined && form.all === undefined && form.snooze === undefined
  if (isEmpty || form.all !== all) throw fail('preferences_body')
  const shown = new Set(textsOf(form.shown))
  const on = new Set(textsOf(form.on))
  const was = new Set(textsOf(form.was))
  const moved = workflows.flatMap(({ isLocked, channels, ...workflow }): MovedSwitch[] =>
    isLocked || (workflow.isCommercial && stopped === 'all')
      ? []
      : channels.flatMap(({ channel, isOn: isOnNow, isFixed }) => {
          const name = `${workflow.identifier}:${channel}`
          const isOn = on.has(name)
          // Another tab or a link in a mail may have moved it since the page was shown; this reader has not.
          const isLeft = was.has(`${isOn ? 'on' : 'off'}:${name}`)
          return shown.has(name) && isOn !== isOnNow && !isFixed && !isLeft ? [{ workflow, channel, isOn }] : []
        }),
  )
  return {
    ...{ moved, all },
    snoozedUntil: form.snooze === undefined ? undefined : readSnooze(form.snooze, now),
  }
}

function readSnooze(given: unknown, now: Date): Date | null {
  const days = Number(given)
  if (given !== '' && days === 0) return null
  if (!snoozeDays.includes(days)) throw fail('snooze_invalid', { days: Math.max(...snoozeDays) })
  return new Date(now.getTime() + days * dayMs)
}
