// A subscriber's own preferences in the browser: global, per workflow, per topic subscription, and the schedule.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { type Db, retryConflicts, type Tx } from '../../db/core/database.ts'
import {
  findSnooze,
  holdSubscriber,
  listActiveWorkflows,
  type PreferenceOwner,
  type PreferenceWorkflow,
  readPreferences,
  type SubscriberPreferences,
  saveGlobalPreference,
  saveSnooze,
  saveWorkflowPreferences,
} from '../../db/queries/preferences.ts'
import { readChoices, savePreference } from '../../db/queries/subscription-preferences.ts'
import { addSuppressions } from '../../db/queries/suppressions.ts'
import type { SubscriptionRow } from '../../db/queries/topic-subscriptions.ts'
import { refusalsIn } from '../../engine/consent/page-choices.ts'
import { fail } from '../../errors.ts'
import { given } from '../activity/message-shape.ts'
import type { InboxSession, Resource } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Identifier, QueryList } from '../edge/schema.ts'
import {
  Channels,
  choices,
  GivenSnooze,
  globalChannels,
  holdChangeable,
  holdNamed,
  isCriticalWorkflow,
  mergeChoices,
  mostInBulk,
  readSchedule,
  readSnooze,
  resolveChannels,
  Schedule,
  SnoozedUntil,
} from '../subscribers/preferences.ts'
import { Severity } from '../workflows/shape.ts'
import { severityOfQuery } from './filter.ts'
import { findOwnSubscription } from './subscriptions.ts'

const Preference = Type.Object({
  level: Enum(['global', 'template']),
  enabled: Type.Boolean(),
  channels: Channels,
  schedule: Type.Optional(FreeObject),
  snoozedUntil: Type.Optional(SnoozedUntil),
  condition: Type.Optional(FreeObject),
  subscriptionId: Type.Optional(Type.String({ description: 'The identifier of the topic subscription it is for' })),
  workflow: Type.Optional(
    Type.Object({
      id: Type.String(),
      identifier: Type.String(),
      name: Type.String(),
      critical: Type.Boolean(),
      tags: Type.Array(Type.String()),
      data: Type.Optional(FreeObject),
      severity: Type.String(),
    }),
  ),
})
type Preference = Static<typeof Preference>

const One = Type.Object({ data: Preference })
const Many = Type.Object({ data: Type.Array(Preference) })

const subscriptionChoices = {
  ...choices,
  enabled: Type.Optional(Type.Boolean()),
  condition: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'JSON Logic over the payload; replaces `enabled`',
    }),
  ),
}
type SubscriptionChoices = Static<ReturnType<typeof Body<typeof subscriptionChoices>>>
const BulkItem = Body({
  workflowId: Identifier(),
  subscriptionIdentifier: Type.Optional(Type.String({ maxLength: 1000 })),
  ...subscriptionChoices,
})

const toGlobal = (
  workflows: PreferenceWorkflow[],
  preferences: SubscriberPreferences,
  snoozedUntil: Date | undefined,
): Preference => ({
  level: 'global',
  enabled: true,
  channels: globalChannels(workflows, preferences),
  ...given({ schedule: preferences.global?.schedule, snoozedUntil }),
})

const toPreference = (workflow: PreferenceWorkflow, preferences: SubscriberPreferences): Preference => ({
  level: 'template',
  enabled: true,
  channels: resolveChannels(workflow, preferences).channels,
  workflow: {
    id: workflow.id,
    identifier: workflow.identifier,
    name: workflow.name,
    critical: isCriticalWorkflow(workflow),
    tags: workflow.tags,
    severity: workflow.severity,
    ...given({ data: workflow.data }),
  },
})

export const inboxPreferences: Resource = (app, { db }) => {
  const tags = ['Inbox in browsers']
  const config = { public: true, inbox: true, preferences: true }
  const path = '/v1/inbox/preferences'

  const ownerOf = ({ subscriber, environmentId, contextKeys }: InboxSession): PreferenceOwner => ({
    environmentId,
    subscriberRowId: subscriber.id,
    contextKeys,
  })
  const readGlobal = async (from: Db | Tx, owner: PreferenceOwner, now: Date) =>
    toGlobal(
      await listActiveWorkflows(from, owner.environmentId),
      await readPreferences(from, owner),
      await findSnooze(from, owner, now),
    )
  /** Serializes changes of one subscriber's preferences. */
  const change = <T>({ session }: { session: InboxSession }, work: (tx: Tx, owner: PreferenceOwner) => Promise<T>) =>
    retryConflicts(() =>
      db.transaction().execute(async (tx) => {
        const { environmentId, subscriber } = session
        if ((await holdSubscriber(tx, environmentId, subscriber.subscriber_id)) !== subscriber.id)
          throw fail('unauthorized')
        return work(tx, ownerOf(session))
      }),
    )

  app.get(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'List preferences: the global ones, then those of each workflow',
        querystring: Type.Object({
          criticality: Type.Optional(Enum(['critical', 'nonCritical', 'all'], { default: 'nonCritical' })),
          tags: Type.Optional(QueryList),
          'tags[]': Type.Optional(QueryList),
          severity: Type.Optional(Type.Array(Severity)),
        }),
        response: { 200: Many },
      },
    },
    async (request) => {
      const { session, query } = request
      const { criticality = 'nonCritical' } = query
      const wantedTags = [...(query.tags ?? []), ...(query['tags[]'] ?? [])]
      const severity = severityOfQuery(query)
      const owner = ownerOf(session)
      const [workflows, preferences, snooze] = await Promise.all([
        listActiveWorkflows(db, owner.environmentId),
        readPreferences(db, owner),
        findSnooze(db, owner, request.now()),
      ])
      const listed = workflows.filter(
        (workflow) =>
          (criticality === 'all' || isCriticalWorkflow(workflow) === (criticality === 'critical')) &&
          (wantedTags.length === 0 || workflow.tags.some((tag) => wantedTags.includes(tag))) &&
          (severity?.includes(workflow.severity) ?? true),
      )
      return {
        data: [
          toGlobal(workflows, preferences, snooze),
          ...listed.map((workflow) => toPreference(workflow, preferences)),
        ],
      }
    },
  )

  app.get(
    `${path}/global`,
    { config, schema: { tags, summary: 'Retrieve the global preferences', response: { 200: One } } },
    async (request) => ({ data: await readGlobal(db, ownerOf(request.session), request.now()) }),
  )

  app.patch(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'Change the global preferences, the schedule, or the pause from commercial messages',
        body: Body(
          { ...choices, schedule: Type.Optional(Schedule), snoozedUntil: Type.Optional(GivenSnooze) },
          { examples: [{ email: false }] },
        ),
        response: { 200: One },
      },
    },
    async (request) => {
      const { schedule: sent, snoozedUntil, ...channels } = request.body
      const schedule = sent && readSchedule(sent)
      return change(request, async (tx, owner) => {
        if (schedule !== undefined || Object.keys(channels).length > 0)
          await saveGlobalPreference(tx, owner, { channels, schedule }, request.now())
        if (snoozedUntil !== undefined) await saveSnooze(tx, owner, readSnooze(snoozedUntil, request.now()))
        return { data: await readGlobal(tx, owner, request.now()) }
      })
    },
  )

  app.patch(
    `${path}/bulk`,
    {
      config,
      schema: {
        tags,
        summary: 'Change the preferences for up to 100 workflows, all or none',
        body: Body({ preferences: Type.Array(BulkItem, { maxItems: mostInBulk }) }),
        response: { 200: Many },
      },
    },
    async (request) => {
      const items = request.body.preferences
      if (items.length === 0) throw fail('no_preferences')
      return change(request, async (tx, owner) => {
        const workflows = await holdNamed(
          tx,
          owner.environmentId,
          items.map(({ workflowId }) => workflowId),
        )
        const entries = items.map((item, index) => ({ ...item, workflow: workflows[index] as PreferenceWorkflow }))
        const general = entries.filter(({ subscriptionIdentifier }) => !subscriptionIdentifier)
        const critical = general.filter(({ workflow }) => isCriticalWorkflow(workflow))
        if (critical.length > 0)
          throw fail('preference_workflows_critical', { workflowIds: critical.map(({ workflowId }) => workflowId) })
        const wanted = general.map(({ workflow, ...item }): [string, Static<typeof Channels>] => [
          workflow.id,
          channelsIn(item),
        ])
        await refuseOnPage(
          tx,
          request,
          general.map(({ workflow, ...item }) => [workflow, channelsIn(item)]),
        )
        await saveWorkflowPreferences(tx, owner, mergeChoices(wanted), request.now())
        const subscriptions = new Map<string, SubscriptionRow>()
        for (const { subscriptionIdentifier, workflow, ...item } of entries) {
          if (!subscriptionIdentifier) continue
          const known = subscriptions.get(subscriptionIdentifier)
          const row = known ?? (await findOwnSubscription(tx, request.session, subscriptionIdentifier, { lock: true }))
          subscriptions.set(subscriptionIdentifier, row)
          // A group may contain a critical workflow, which stays unchanged.
          if (!isCriticalWorkflow(workflow)) await saveChoice(tx, row, workflow, item)
        }
        const preferences = await readPreferences(tx, owner)
        const data: Preference[] = []
        for (const { subscriptionIdentifier, workflow } of entries) {
          const row = subscriptions.get(subscriptionIdentifier ?? '')
          const preference = toPreference(workflow, preferences)
          data.push(row ? await ofSubscription(tx, preference, row, workflow) : preference)
        }
        return { data }
      })
    },
  )

  app.patch(
    `${path}/:workflowIdOrIdentifier`,
    {
      config,
      schema: {
        tags,
        summary: 'Change the preferences for a workflow',
        params: Type.Object({ workflowIdOrIdentifier: Type.String() }),
        body: Body(choices, { examples: [{ email: false }] }),
        response: { 200: One },
      },
    },
    async (request) =>
      change(request, async (tx, owner) => {
        const [workflow] = await holdChangeable(tx, owner.environmentId, [request.params.workflowIdOrIdentifier])
        const { id } = workflow as PreferenceWorkflow
        await refuseOnPage(tx, request, [[workflow as PreferenceWorkflow, request.body]])
        await saveWorkflowPreferences(tx, owner, new Map([[id, request.body]]), request.now())
        return { data: toPreference(workflow as PreferenceWorkflow, await readPreferences(tx, owner)) }
      }),
  )

  app.patch(
    '/v1/inbox/subscriptions/:identifier/preferences/:workflowIdOrIdentifier',
    {
      config: { ...config, preferences: false },
      schema: {
        tags,
        summary: 'Change whether a workflow reaches the subscriber through a topic subscription',
        params: Type.Object({ identifier: Type.String(), workflowIdOrIdentifier: Type.String() }),
        body: Body(subscriptionChoices, { examples: [{ enabled: false }] }),
        response: { 200: One },
      },
    },
    async (request) =>
      change(request, async (tx, owner) => {
        const { identifier, workflowIdOrIdentifier } = request.params
        const [workflow] = await holdChangeable(tx, owner.environmentId, [workflowIdOrIdentifier])
        const row = await findOwnSubscription(tx, request.session, identifier, { lock: true })
        await saveChoice(tx, row, workflow as PreferenceWorkflow, request.body)
        const preference = toPreference(workflow as PreferenceWorkflow, await readPreferences(tx, owner))
        return { data: await ofSubscription(tx, preference, row, workflow as PreferenceWorkflow) }
      }),
  )
}

/** On the hosted page, to switch a commercial workflow off is to unsubscribe. */
async function refuseOnPage(
  tx: Tx,
  request: FastifyRequest,
  chosen: Array<[PreferenceWorkflow, Static<typeof Channels>]>,
): Promise<void> {
  const { session } = request
  if (!session.isForPreferences) return
  const moved = chosen.flatMap(([{ id, identifier, message_class }, channels]) =>
    Object.entries(channels).map(([channel, isOn]) => ({
      workflow: { id, identifier, isCommercial: message_class === 'commercial' },
      channel: channel as keyof typeof channels,
      isOn,
    })),
  )
  await addSuppressions(tx, session.environmentId, refusalsIn(session.subscriber, moved), request.now())
}

const channelsIn = ({ email, sms, in_app, chat, push }: Static<typeof Channels>): Static<typeof Channels> =>
  given({ email, sms, in_app, chat, push })

/** A subscription has no channels: a check box that sends all of them with one value sets the whole workflow. */
async function saveChoice(tx: Tx, row: SubscriptionRow, { id }: PreferenceWorkflow, chosen: SubscriptionChoices) {
  const channels = Object.values(channelsIn(chosen))
  const enabled = chosen.enabled ?? (channels.length === 0 ? undefined : channels.includes(true))
  const { condition } = chosen
  await savePreference(tx, row.environment_id, row.id, {
    workflowId: id,
    enabled,
    ...(condition === undefined ? {} : { condition }),
  })
}

async function ofSubscription(
  tx: Tx,
  preference: Preference,
  row: SubscriptionRow,
  { id }: PreferenceWorkflow,
): Promise<Preference> {
  const choice = (await readChoices(tx, row.environment_id, id, [row.id])).get(row.id)
  return {
    ...preference,
    enabled: choice?.enabled ?? true,
    subscriptionId: row.identifier,
    ...given({ condition: choice?.condition }),
  }
}
