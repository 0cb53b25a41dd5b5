// Which channels a notification may use: the workflow's defaults, what users set for it, and the subscriber's choices.
import type { ChannelChoices } from '../../db/core/tables.ts'
import { evaluateCondition } from '../../steps/conditions/conditions.ts'

export const channelNames = ['email', 'sms', 'in_app', 'chat', 'push'] as const
export type Channel = (typeof channelNames)[number]

/** Complete preferences of a workflow. `readOnly` makes it critical: subscribers have no say. */
export type WorkflowPreferences = {
  all: { enabled: boolean; readOnly: boolean }
  channels: Record<Channel, { enabled: boolean }>
}

/** The same as callers and code may give them. */
export interface PartialPreferences {
  all?: { enabled?: boolean; readOnly?: boolean } | null
  channels?: { [channel in Channel]?: { enabled?: boolean } | null } | null
}

/** A channel not mentioned follows `all`, and is on without it. */
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

/** The sources of preferences, least specific first. */
export const layerNames = ['workflow', 'user', 'tenant', 'subscriberGlobal', 'subscriberWorkflow'] as const
export type Layer = (typeof layerNames)[number]

export interface PreferenceLayers {
  /** The workflow's own default. */
  workflow?: PartialPreferences | null | undefined
  /** Set for the workflow by a user of the product. */
  user?: PartialPreferences | null | undefined
  /** How workflows were marked critical before `readOnly`. */
  isMarkedCritical?: boolean
  /** Set for the workflow by the trigger's tenant. */
  tenant?: ChannelChoices | null | undefined
  subscriberGlobal?: ChannelChoices | null | undefined
  subscriberWorkflow?: ChannelChoices | null | undefined
}

/** The layer that decided, and whether it named the channel or all channels; `nobody` if no layer did. */
export type PreferenceReason = { decidedBy: Layer; through: 'channel' | 'all' } | { decidedBy: 'nobody' }

export interface PreferenceResolution {
  enabled: boolean
  critical: boolean
  reason: PreferenceReason
  /** The most specific layer that counts, even if it does not mention this channel: the activity feed names this one. */
  mostSpecific: Layer
}

/** Only the workflow's own two layers can make it critical. */
export const isCritical = ({ workflow, user, isMarkedCritical }: PreferenceLayers): boolean =>
  isMarkedCritical === true || workflow?.all?.readOnly === true || user?.all?.readOnly === true

/**
 * Whether a channel step may reach the subscriber. The most specific layer that names the channel decides. Failing that, the
 * more specific of the workflow's layers that names all channels. Failing that, it may. So a subscriber can turn on what the
 * workflow turns off, unless the workflow is critical.
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

/** The activity feed's text for a step that preferences held back, by the most specific layer. */
export const filteredTexts: Readonly<Record<Layer, string>> = {
  workflow: 'Step filtered by workflow preferences',
  user: 'Step filtered by user preferences',
  tenant: 'Step filtered by tenant workflow override',
  subscriberGlobal: 'Step filtered by subscriber global preferences',
  subscriberWorkflow: 'Step filtered by subscriber workflow preferences',
}

/** A topic subscription's stored choice for one workflow. */
export interface SubscriptionChoice {
  enabled: boolean
  condition: Record<string, unknown> | null
}

export interface SubscriptionResolution {
  passes: boolean
  reason: 'no_choice' | 'enabled' | 'disabled' | 'condition_met' | 'condition_not_met' | 'condition_failed'
}

/**
 * Whether a workflow reaches the subscriber through one of its topic subscriptions. A condition alone decides, and only the
 * value true lets it through: someone who wrote anything else did not ask to receive everything.
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
