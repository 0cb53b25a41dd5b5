// Preferences of a subscriber: which channels it wants, globally and per workflow, and when.
import { type Static, Type } from 'typebox'
import { type Db, retryConflicts, type Tx } from '../../db/core/database.ts'
import type { ChannelChoices } from '../../db/core/tables.ts'
import { resolveContexts } from '../../db/queries/contexts.ts'
import {
  findSnooze,
  holdSubscriber,
  holdWorkflows,
  listActiveWorkflows,
  type PreferenceOwner,
  type PreferenceWorkflow,
  readPreferences,
  type SubscriberPreferences,
  saveGlobalPreference,
  saveSnooze,
  saveWorkflowPreferences,
} from '../../db/queries/preferences.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import {
  type Channel as ChannelName,
  channelNames,
  isCritical,
  type PreferenceLayers,
  type PreferenceReason,
  resolvePreference,
} from '../../engine/core/preferences.ts'
import { dayNames, type Schedule as StoredSchedule, timePattern } from '../../engine/core/schedule.ts'
import { fail } from '../../errors.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { Resource } from '../edge/resource.ts'
import {
  Body,
  Channel,
  ContextPayload,
  Enum,
  FreeObject,
  Identifier,
  Nullable,
  QueryList,
  Timestamp,
} from '../edge/schema.ts'
import { idIn, slugOf } from '../edge/slug.ts'
import { generalError } from '../edge/validation.ts'

export const mostInBulk = 100

const Choice = Type.Optional(Type.Boolean())
export const choices = { email: Choice, sms: Choice, in_app: Choice, chat: Choice, push: Choice }
const Choices = Body(choices)
export const Channels = Type.Object(choices)

const Time = Type.String({ pattern: timePattern, texts: { pattern: 'must be a time such as 09:00 AM' } })
const Day = Body({
  isEnabled: Type.Boolean(),
  hours: Type.Optional(Type.Array(Body({ start: Time, end: Time }), { maxItems: 48 })),
})
export const Schedule = Body({
  isEnabled: Type.Boolean(),
  // `readSchedule` refuses unknown days, so they are not dropped here.
  weeklySchedule: Type.Optional(
    Type.Unsafe<StoredSchedule['weeklySchedule']>({
      type: 'object',
      properties: Object.fromEntries(dayNames.map((day) => [day, Day])),
    }),
  ),
})

/** The end of a pause from commercial messages. */
export const SnoozedUntil = Type.Unsafe<Date>({
  ...Timestamp,
  description: 'Until then, commercial email, SMS, chat and push messages are left out; absent without a pause',
})
export const GivenSnooze = Nullable(
  Type.String({
    format: 'date-time',
    description: 'Pauses commercial messages until then, up to 365 days; null ends the pause',
  }),
)
const longestSnoozeDays = 365
const dayMs = 86_400_000

/** @param given null ends the pause */
export function readSnooze(given: string | null, now: Date): Date | null {
  if (given === null) return null
  const until = new Date(given)
  if (!(until > now) || until.getTime() > now.getTime() + longestSnoozeDays * dayMs)
    throw fail('snooze_invalid', { days: longestSnoozeDays })
  return until
}

const WorkflowPreference = Type.Object({
  enabled: Type.Boolean(),
  channels: Channels,
  overrides: Type.Array(
    Type.Object({ channel: Channel, source: Enum(['template', 'workflowOverride', 'subscriber']) }),
    { description: 'Which layer decided about each channel' },
  ),
  workflow: Type.Object({
    slug: Type.String(),
    identifier: Type.String(),
    name: Type.String(),
    updatedAt: Timestamp,
  }),
  updatedAt: Type.Optional(Timestamp),
})

const Preferences = Type.Object({
  global: Type.Object({
    enabled: Type.Boolean(),
    channels: Channels,
    schedule: Type.Optional(FreeObject),
    snoozedUntil: Type.Optional(SnoozedUntil),
  }),
  workflows: Type.Array(WorkflowPreference),
})

const BulkResult = Type.Array(
  Type.Object({
    level: Enum(['global', 'template']),
    workflow: Type.Object({
      id: Type.String(),
      identifier: Type.String(),
      name: Type.String(),
      critical: Type.Boolean(),
      tags: Type.Array(Type.String()),
      data: Type.Optional(FreeObject),
      severity: Type.String(),
    }),
    enabled: Type.Boolean(),
    channels: Channels,
  }),
)

const Params = Type.Object({ subscriberId: Type.String() })

/** The channels a workflow has a step for. */
const channelsOf = ({ step_types }: PreferenceWorkflow): ChannelName[] => {
  const used = new Set(step_types.map((type) => stepKinds[type as keyof typeof stepKinds]?.channel))
  return channelNames.filter((channel) => used.has(channel))
}

export function layersOf(
  workflow: PreferenceWorkflow,
  { global, byWorkflow }: SubscriberPreferences,
): PreferenceLayers {
  return {
    workflow: workflow.preferences,
    user: workflow.user_preferences,
    isMarkedCritical: workflow.critical,
    subscriberGlobal: global?.channels,
    subscriberWorkflow: byWorkflow.get(workflow.id)?.channels,
  }
}

export const isCriticalWorkflow = (workflow: PreferenceWorkflow) =>
  isCritical(layersOf(workflow, { global: undefined, byWorkflow: new Map() }))

/** The workflow's channels, each with its setting and the layer that decided. */
export function resolveChannels(workflow: PreferenceWorkflow, preferences: SubscriberPreferences) {
  const layers = layersOf(workflow, preferences)
  const resolved = channelsOf(workflow).map((channel) => ({ channel, ...resolvePreference(layers, channel) }))
  return {
    channels: Object.fromEntries(resolved.map(({ channel, enabled }) => [channel, enabled])) as ChannelChoices,
    overrides: resolved.map(({ channel, reason }) => ({ channel, source: sourceOf(reason) })),
  }
}

function sourceOf({ decidedBy }: PreferenceReason): 'template' | 'workflowOverride' | 'subscriber' {
  switch (decidedBy) {
    case 'nobody':
    case 'workflow':
      return 'template'
    case 'user':
    case 'tenant':
      return 'workflowOverride'
    case 'subscriberGlobal':
    case 'subscriberWorkflow':
      return 'subscriber'
  }
}

/** The subscriber's global choices, for the channels that any of the workflows has. */
export function globalChannels(workflows: PreferenceWorkflow[], { global }: SubscriberPreferences): ChannelChoices {
  const used = new Set(workflows.flatMap(channelsOf))
  const channels = channelNames.filter((channel) => used.has(channel))
  return Object.fromEntries(channels.map((channel) => [channel, global?.channels[channel] ?? true]))
}

type Criticality = 'critical' | 'nonCritical' | 'all'

async function show(
  db: Db | Tx,
  owner: PreferenceOwner,
  { criticality, now }: { criticality: Criticality; now: Date },
): Promise<Static<typeof Preferences>> {
  const workflows = await listActiveWorkflows(db, owner.environmentId)
  const preferences = await readPreferences(db, owner)
  const { global, byWorkflow } = preferences
  const snoozedUntil = await findSnooze(db, owner, now)
  const listed = workflows.filter(
    (workflow) => criticality === 'all' || isCriticalWorkflow(workflow) === (criticality === 'critical'),
  )
  return {
    global: {
      enabled: true,
      channels: globalChannels(workflows, preferences),
      ...(global?.schedule ? { schedule: global.schedule } : {}),
      ...(snoozedUntil ? { snoozedUntil } : {}),
    },
    workflows: listed.map((workflow) => {
      const own = byWorkflow.get(workflow.id)
      return {
        enabled: true,
        ...resolveChannels(workflow, preferences),
        workflow: {
          slug: slugOf(workflow.name, 'wf', workflow.id),
          identifier: workflow.identifier,
          name: workflow.name,
          updatedAt: workflow.updated_at,
        },
        ...(own ? { updatedAt: own.updated_at } : {}),
      }
    }),
  }
}

/** An enabled schedule needs valid days; a disabled one keeps those that are valid. */
export function readSchedule(given: Static<typeof Schedule>): StoredSchedule {
  const { isEnabled, weeklySchedule } = given
  if (weeklySchedule === undefined) return { isEnabled }
  const days = Object.keys(weeklySchedule)
  const unknown = days.filter((day) => !dayNames.some((name) => name === day))
  if (isEnabled && days.length === 0)
    throw generalError(['schedule.weeklySchedule must have at least one day while schedule.isEnabled is true'])
  if (isEnabled && unknown.length > 0)
    throw generalError(unknown.slice(0, 10).map((day) => `schedule.weeklySchedule.${day} is not a day of the week`))
  const known = Object.entries(weeklySchedule).filter(([day]) => !unknown.includes(day))
  return { isEnabled, weeklySchedule: Object.fromEntries(known) }
}

/** The named workflows, locked, in that order. All must exist. */
export async function holdNamed(tx: Tx, environmentId: string, names: string[]): Promise<PreferenceWorkflow[]> {
  const rows = await holdWorkflows(tx, environmentId, {
    identifiers: names,
    ids: names.flatMap((name) => idIn(name, 'wf') ?? []),
  })
  // Text that looks like an id or a slug may be an identifier, which then wins.
  const found = names.map(
    (name) => rows.find((row) => row.identifier === name) ?? rows.find((row) => row.id === idIn(name, 'wf')),
  )
  const unknown = names.filter((_, index) => found[index] === undefined)
  if (unknown.length > 0) throw fail('preference_workflows_not_found', { workflowIds: [...new Set(unknown)] })
  return found.filter((workflow) => workflow !== undefined)
}

/** The same, but refuses critical workflows, which subscribers cannot turn off. */
export async function holdChangeable(tx: Tx, environmentId: string, names: string[]): Promise<PreferenceWorkflow[]> {
  const workflows = await holdNamed(tx, environmentId, names)
  const critical = names.filter((_, index) => workflows[index] && isCriticalWorkflow(workflows[index]))
  if (critical.length > 0) throw fail('preference_workflows_critical', { workflowIds: [...new Set(critical)] })
  return workflows
}

/** Of several choices for one workflow, later ones override earlier ones. */
export function mergeChoices(
  given: Array<[workflowId: string, channels: ChannelChoices]>,
): Map<string, ChannelChoices> {
  const merged = new Map<string, ChannelChoices>()
  for (const [workflowId, channels] of given) merged.set(workflowId, { ...merged.get(workflowId), ...channels })
  return merged
}

export const preferences: Resource = (app, { db }) => {
  const tags = ['Preferences']
  const change = <T>(work: (tx: Tx) => Promise<T>) => retryConflicts(() => db.transaction().execute(work))

  app.get(
    '/v2/subscribers/:subscriberId/preferences',
    {
      schema: {
        tags,
        summary: "Retrieve a subscriber's preferences",
        params: Params,
        querystring: Type.Object({
          criticality: Type.Optional(Enum(['critical', 'nonCritical', 'all'], { default: 'nonCritical' })),
          contextKeys: Type.Optional(QueryList),
        }),
        response: { 200: Preferences },
      },
    },
    async (request) => {
      const { environment, params, query } = request
      const subscriber = await findSubscriber(db, environment.id, params.subscriberId)
      if (!subscriber) throw fail('subscriber_not_found', params)
      const contextKeys = [...new Set(query.contextKeys)].filter((key) => key !== '').sort()
      const owner = { environmentId: environment.id, subscriberRowId: subscriber.id, contextKeys }
      return show(db, owner, { criticality: query.criticality ?? 'nonCritical', now: request.now() })
    },
  )

  app.patch(
    '/v2/subscribers/:subscriberId/preferences',
    {
      schema: {
        tags,
        summary: "Change a subscriber's preferences, globally or for one workflow",
        params: Params,
        body: Body({
          channels: Type.Optional(Choices),
          workflowId: Type.Optional(Identifier({ description: 'Without it the channels apply to all workflows' })),
          schedule: Type.Optional(Schedule),
          snoozedUntil: Type.Optional(GivenSnooze),
          context: Type.Optional(ContextPayload()),
        }),
        response: { 200: Preferences },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const { workflowId, channels } = body
      const schedule = body.schedule && readSchedule(body.schedule)
      return change(async (tx) => {
        const now = request.now()
        const owner = await holdOwner(tx, environment.id, params.subscriberId, { context: body.context, now })
        if (workflowId !== undefined) {
          const [workflow] = await holdChangeable(tx, environment.id, [workflowId])
          if (workflow && channels) await saveWorkflowPreferences(tx, owner, new Map([[workflow.id, channels]]), now)
        }
        // The schedule is global, even in a request that names a workflow.
        const general = workflowId === undefined ? channels : undefined
        if (schedule !== undefined || (general && Object.keys(general).length > 0))
          await saveGlobalPreference(tx, owner, { channels: general, schedule }, now)
        if (body.snoozedUntil !== undefined) await saveSnooze(tx, owner, readSnooze(body.snoozedUntil, now))
        return show(tx, owner, { criticality: 'nonCritical', now })
      })
    },
  )

  app.patch(
    '/v2/subscribers/:subscriberId/preferences/bulk',
    {
      schema: {
        tags,
        summary: "Change a subscriber's preferences for up to 100 workflows, all or none",
        params: Params,
        body: Body({
          preferences: Type.Array(Body({ workflowId: Identifier(), channels: Choices }), { maxItems: mostInBulk }),
          context: Type.Optional(ContextPayload()),
        }),
        response: { 200: BulkResult },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      if (body.preferences.length === 0) throw fail('no_preferences')
      return change(async (tx) => {
        const now = request.now()
        const owner = await holdOwner(tx, environment.id, params.subscriberId, { context: body.context, now })
        const names = body.preferences.map(({ workflowId }) => workflowId)
        const workflows = await holdChangeable(tx, environment.id, names)
        const given = workflows.map((workflow, index): [string, ChannelChoices] => [
          workflow.id,
          body.preferences[index]?.channels ?? {},
        ])
        await saveWorkflowPreferences(tx, owner, mergeChoices(given), now)
        const stored = await readPreferences(tx, owner)
        return workflows.map((workflow) => ({
          level: 'template' as const,
          workflow: {
            id: workflow.id,
            identifier: workflow.identifier,
            name: workflow.name,
            critical: false,
            tags: workflow.tags,
            ...(workflow.data === null ? {} : { data: workflow.data }),
            severity: workflow.severity,
          },
          enabled: true,
          channels: resolveChannels(workflow, stored).channels,
        }))
      })
    },
  )
}

/** The subscriber, locked, with the contexts of the request. */
export async function holdOwner(
  tx: Tx,
  environmentId: string,
  subscriberId: string,
  { context, now }: { context?: Record<string, unknown> | undefined; now: Date },
): Promise<PreferenceOwner> {
  const contextKeys = await resolveContexts(tx, environmentId, context, now)
  const subscriberRowId = await holdSubscriber(tx, environmentId, subscriberId)
  if (subscriberRowId === undefined) throw fail('subscriber_not_found', { subscriberId })
  return { environmentId, subscriberRowId, contextKeys }
}
