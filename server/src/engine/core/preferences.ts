// Which channels a notification may use: what the workflow says, what was set for it, and what the subscriber wants.
import type { ChannelChoices } from '../../db/core/tables.ts'
import { evaluateCondition } from '../../steps/conditions/conditions.ts'

export const channelNames = ['email', 'sms', 'in_app', 'chat', 'push'] as const
export type Channel = (typeof channelNames)[number]

/** A workflow's preferences with nothing left out. `readOnly` makes it critical: subscribers are not asked. */
export type WorkflowPreferences = {
  all: { enabled: boolean; readOnly: boolean }
  channels: Record<Channel, { enabled: boolean }>
}

/** The same as callers and code may give it. */
export interface PartialPreferences {
  all?: { enabled?: boolean; readOnly?: boolean } | null
  channels?: { [channel in Channel]?: { enabled?: boolean } | null } | null
}

/** A channel that is not mentioned follows `all`, and without that it is on. */
export function completePreferences(given: PartialPreferences | null | undefined): WorkflowPreferences {
  const enabled = given?.all?.enabled ?? true
  const channel = (name: Channel) => ({ enabled: given?.channels?.[name]?.enabled ?? enabled })
  return {
    all: { enabled, readOnly: given?.all?.readOnly ?? false },
    channels: {
      email: channel('email'),
      sms: channel('sms'),
      in_app: channel('in_app'),
      chat: channel('chat'),
      push: channel('push'),
    },
  }
}

/** Where a preference comes from, the more specific after the less specific. */
export const layerNames = ['workflow', 'user', 'tenant', 'subscriberGlobal', 'subscriberWorkflow'] as const
export type Layer = (typeof layerNames)[number]

export interface PreferenceLayers {
  /** The workflow's own default. */
  workflow?: PartialPreferences | null | undefined
  /** Set for the workflow by a user of the product. */
  user?: PartialPreferences | null | undefined
  /** The mark of workflows from before `readOnly`. */
  isMarkedCritical?: boolean
  /** What the tenant of the trigger has set for the workflow. */
  tenant?: ChannelChoices | null | undefined
  subscriberGlobal?: ChannelChoices | null | undefined
  subscriberWorkflow?: ChannelChoices | null | undefined
}

/** The layer that decided, and whether by naming the channel or by what it says of all; or nobody said anything. */
export type PreferenceReason = { decidedBy: Layer; through: 'channel' | 'all' } | { decidedBy: 'nobody' }

export interface PreferenceResolution {
  enabled: boolean
  critical: boolean
  reason: PreferenceReason
  /** The most specific layer that counts, whether or not it says anything of this channel: activity names this one. */
  mostSpecific: Layer
}

/** Either of the two layers that are not the subscriber's can make the workflow critical. */
export const isCritical = ({ workflow, user, isMarkedCritical }: PreferenceLayers): boolean =>
  isMarkedCritical === true || workflow?.all?.readOnly === true || user?.all?.readOnly === true

/**
 * Whether a channel step may reach the subscriber. The most specific layer that names the channel decides; where none does,
 * the more specific of the workflow's layers that speaks of all channels; where none does, it may. A subscriber can thus
 * switch on what the workflow switches off, unless it is critical.
 */
export function resolvePreference(layers: PreferenceLayers, channel: Channel): PreferenceResolution {
  const critical = isCritical(layers)
  const { workflow, user, tenant } = layers
  const [subscriberWorkflow, subscriberGlobal] = critical ? [] : [layers.subscriberWorkflow, layers.subscriberGlobal]
  const mostSpecific = subscriberWorkflow
    ? 'subscriberWorkflow'
    : subscriberGlobal
      ? 'subscriberGlobal'
      : tenant
        ? 'tenant'
        : user
          ? 'user'
          : 'workflow'
  const decided = (
    enabled: boolean,
    decidedBy: Layer,
    through: 'channel' | 'all' = 'channel',
  ): PreferenceResolution => ({
    enabled,
    critical,
    reason: { decidedBy, through },
    mostSpecific,
  })

  const perWorkflow = subscriberWorkflow?.[channel]
  if (perWorkflow !== undefined) return decided(perWorkflow, 'subscriberWorkflow')
  const global = subscriberGlobal?.[channel]
  if (global !== undefined) return decided(global, 'subscriberGlobal')
  const byTenant = tenant?.[channel]
  if (byTenant !== undefined) return decided(byTenant, 'tenant')
  const byUser = user?.channels?.[channel]?.enabled
  if (byUser !== undefined) return decided(byUser, 'user')
  const byWorkflow = workflow?.channels?.[channel]?.enabled
  if (byWorkflow !== undefined) return decided(byWorkflow, 'workflow')
  if (user?.all?.enabled !== undefined) return decided(user.all.enabled, 'user', 'all')
  if (workflow?.all?.enabled !== undefined) return decided(workflow.all.enabled, 'workflow', 'all')
  return { enabled: true, critical, reason: { decidedBy: 'nobody' }, mostSpecific }
}

/** What activity says of a step that a preference held back, by the most specific layer. */
export const filteredTexts: Readonly<Record<Layer, string>> = {
  workflow: 'Step filtered by workflow preferences',
  user: 'Step filtered by user preferences',
  tenant: 'Step filtered by tenant workflow override',
  subscriberGlobal: 'Step filtered by subscriber global preferences',
  subscriberWorkflow: 'Step filtered by subscriber workflow preferences',
}

/** What is stored for one workflow with a topic subscription. */
export interface SubscriptionChoice {
  enabled: boolean
  condition: Record<string, unknown> | null
}

export interface SubscriptionResolution {
  passes: boolean
  reason: 'no_choice' | 'enabled' | 'disabled' | 'condition_met' | 'condition_not_met' | 'condition_failed'
}

/**
 * Whether a workflow reaches the subscriber through one of its topic subscriptions. A condition decides alone, and only
 * the value true lets through: whoever wrote something else did not mean to receive everything.
 */
export function resolveSubscription(
  choice: SubscriptionChoice | undefined,
  { payload, now }: { payload: unknown; now: Date },
): SubscriptionResolution {
  if (choice === undefined) return { passes: true, reason: 'no_choice' }
  if (choice.condition === null)
    return choice.enabled ? { passes: true, reason: 'enabled' } : { passes: false, reason: 'disabled' }
  const result = evaluateCondition(choice.condition, { data: { payload }, now })
  if ('error' in result) return { passes: false, reason: 'condition_failed' }
  return result.value === true
    ? { passes: true, reason: 'condition_met' }
    : { passes: false, reason: typeof result.value === 'boolean' ? 'condition_not_met' : 'condition_failed' }
}
