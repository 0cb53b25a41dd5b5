// The push step: one message for each of the subscriber's devices.
import { heldChannels } from '../../db/core/chat-addresses.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { PushKeys, PushSubscriptionRow } from '../../db/queries/push-subscriptions.ts'
import { findProvider } from '../../providers/catalog.ts'
import type { PushMessage, PushSubscription } from '../../providers/provider.ts'
import { type Data, merge } from '../../providers/provider-data.ts'
import { type PushMessage as PushTexts, renderPush } from '../../render/messages.ts'
import type { CallTools } from '../contract/call-tools.ts'
import { messageIdFor, type NewMessage } from '../contract/message.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import { digestOf, type StepRun, subscriberVariablesOf } from '../contract/step-run.ts'
import type { Destination } from '../delivery/attempt.ts'
import { type LinkName, linkedSituation } from '../delivery/consent-links.ts'
import { dispatch, openingDetails } from '../delivery/dispatch.ts'
import {
  channelOverrides,
  integrationById,
  objectIn,
  providerDataFor,
  selected,
  textIn,
  textsIn,
} from '../delivery/integration-choice.ts'
import { isKnown } from '../delivery/progress.ts'
import { deliveredMessage, deliveryOutcome } from '../delivery/report.ts'
import { textFrom, textStep } from './text-step.ts'

const channel = 'push'
const links = ['unsubscribe_url', 'preferences_url'] as const satisfies readonly LinkName[]
/** The highest badge an app shows. */
const highestBadge = 99

export const push = textStep({
  type: channel,
  fields: { subject: 'PUSH_SUBJECT', body: 'PUSH_BODY' },
  render: renderPush,
  call,
  links,
})

/** Devices of one app, or a topic. */
interface Audience {
  integration: IntegrationRow
  targets: string[]
  /** Whether they are the subscriber's own, to be removed once invalid. */
  isStored: boolean
  /** Of web push, by the id of each; the targets are these ids. */
  browsers?: ReadonlyMap<string, PushSubscriptionRow>
}

async function call(of: StepRun, tools: CallTools): Promise<StepOutcome> {
  const { run } = of
  // One text for all devices, so its links speak for no address.
  const linked = { channel, messageId: messageIdFor(of.job.id, channel), address: undefined } as const
  const texts = of.isRendered
    ? { subject: textFrom(of.values.subject), body: textFrom(of.values.body) }
    : renderPush(of.values, linkedSituation(of, tools, linked, links), run.translator)
  const { audiences, details: problems, isSkipped } = audiencesOf(of, tools.brand, await browsersOf(of, tools))
  if (audiences.length === 0 && problems.length === 0)
    return { kind: 'skip', reason: 'missing_push_token', details: [detail('no_channel')] }

  const details: Detail[] = of.job.delivery === null ? [...openingDetails(of), ...problems] : []
  const destinations: Destination[] = []
  const tokens = new Map<string, string[]>()
  const devices = new Map<string, string>()
  const gone = new Set<string>()
  for (const { integration, targets, isStored, browsers } of audiences) {
    const overrides = withBadge(
      channelOverrides(of, channel, integration.provider_id, tools.brand),
      await badgeOf(of, tools, integration),
    )
    if (!targets.every((target) => isKnown(of, keyOf(integration, target))))
      details.push(selected(integration, of, tools.brand))
    for (const target of targets) {
      const key = keyOf(integration, target)
      const id = messageIdFor(of.job.id, key)
      tokens.set(key, targets)
      devices.set(key, target)
      if (!isKnown(of, key))
        details.push(detail('message_created', undefined, { providerId: integration.provider_id, messageId: id }))
      destinations.push({
        key,
        messageId: id,
        integrations: [integration],
        told: { deviceToken: target },
        message: (_, attempt) => {
          const browser = browsers?.get(target)
          const subscription = browser && subscriptionOf(browser, tools)
          return composed(of, tools.brand, integration, { id, attempt, target, texts, overrides, subscription })
        },
        async forget(error) {
          gone.add(key)
          if (browsers) return forgetBrowser(of, tools, integration, target, error)
          return isStored ? forgetToken(of, tools, integration, target, error) : []
        },
      })
    }
  }
  const report = await dispatch(of, tools, destinations)
  const changed = destinations.filter(({ key }) => report.changed.has(key))
  const messages = changed.map(({ key, messageId }): NewMessage => {
    const state = deliveredMessage(report, [key], 'unexpected_push_error')
    return {
      id: messageId,
      channel,
      subject: tools.storesContent ? texts.subject : null,
      content: tools.storesContent ? texts.body : null,
      device_tokens: tokens.get(key) ?? null,
      device_token: devices.get(key) ?? '',
      ...(state.status === 'error' ? { device_error: gone.has(key) ? 'token_invalid' : 'generic_error' } : {}),
      ...state,
      // Apps report on a message by our id.
      identifier: state.status === 'sent' ? messageId : null,
    }
  })
  return deliveryOutcome(report, {
    details,
    messages,
    skipped: isSkipped ? { reason: 'missing_push_token', line: detail('push_some_skipped') } : undefined,
    failedLine: detail('push_all_failed'),
  })
}

const keyOf = ({ id }: IntegrationRow, target: string) => `${id} ${target}`

/** The browsers that the subscriber has registered, if the environment has web push. */
async function browsersOf({ run }: StepRun, { findBrowsers }: CallTools): Promise<Audience[]> {
  const integration = run.environment.integrations.find(({ provider_id }) => provider_id === 'web-push')
  if (!integration) return []
  const rows = await findBrowsers({ environmentId: run.environment.id, subscriberRowId: run.subscriber.id })
  const browsers = new Map(rows.map((row) => [row.id, row]))
  return rows.length === 0 ? [] : [{ integration, targets: [...browsers.keys()], isStored: true, browsers }]
}

function subscriptionOf(row: PushSubscriptionRow, { secrets, publicUrl }: CallTools): PushSubscription {
  const { protocol, hostname } = new URL(publicUrl)
  const contact = protocol === 'https:' ? publicUrl : `mailto:belfry@${hostname}`
  const keys = JSON.parse(secrets.decrypt(row.sealed)) as PushKeys
  return { ...keys, page: row.page, contact }
}

function audiencesOf(
  of: StepRun,
  brand: string,
  browsers: Audience[],
): { audiences: Audience[]; details: Detail[]; isSkipped: boolean } {
  const held = heldChannels(of.run.subscriber.channels)
  const entries = held.filter(({ providerId }) => findProvider(providerId)?.channel === channel)
  const audiences: Audience[] = [...browsers]
  const details: Detail[] = []
  let isSkipped = false
  for (const entry of entries) {
    const { providerId } = entry
    const stored = entry.credentials.deviceTokens ?? []
    const given = textsIn(channelOverrides(of, channel, providerId, brand).deviceTokens)
    const targets = [...new Set(given.length > 0 ? given : stored)]
    const integration = integrationById(of, channel, entry._integrationId)
    if (targets.length === 0) {
      isSkipped = true
      details.push(detail('missing_tokens', entry, { providerId }))
    } else if (!integration) {
      const raw = { integrationIdentifier: entry.integrationIdentifier ?? entry._integrationId }
      details.push(detail('no_integration', raw, { providerId }))
    } else audiences.push({ integration, targets, isStored: given.length === 0 })
  }
  if (!entries.some(({ providerId }) => providerId === 'fcm')) audiences.push(...namedByTrigger(of, brand))
  if (entries.length === 0 && audiences.length === 0) audiences.push(...sandboxOf(of))
  return { audiences, details, isSkipped }
}

/** Firebase devices or a topic that the trigger names, for subscribers without a device there. */
function namedByTrigger(of: StepRun, brand: string): Audience[] {
  const data = providerDataFor(of, 'fcm', brand)
  const topic = textIn(data.topic)
  const targets = topic === undefined ? [...new Set(textsIn(data.tokens))] : [topic]
  const integration = of.run.environment.integrations.findLast(({ provider_id }) => provider_id === 'fcm')
  return integration && targets.length > 0 ? [{ integration, targets, isStored: false }] : []
}

/** The sandbox stands in for a missing device. */
function sandboxOf({ run }: StepRun): Audience[] {
  const integration = run.environment.integrations.find(({ provider_id }) => provider_id === 'svc-push')
  return integration ? [{ integration, targets: [run.subscriber.subscriber_id], isStored: false }] : []
}

/** The subscriber's inbox count, if the integration wants it as a badge. */
async function badgeOf({ run }: StepRun, { countInbox }: CallTools, { configurations }: IntegrationRow) {
  const { inboxCount } = configurations
  if (inboxCount !== 'unread' && inboxCount !== 'unseen') return undefined
  const filter = { archived: false, snoozed: false, contextKeys: run.contextKeys }
  const counted = inboxCount === 'unread' ? { ...filter, read: false } : { ...filter, seen: false }
  const inbox = { environmentId: run.environment.id, subscriberRowId: run.subscriber.id }
  return countInbox(inbox, counted, highestBadge)
}

const withBadge = (overrides: Data, badge: number | undefined): Data =>
  badge === undefined
    ? overrides
    : (merge(
        { android: { notification: { notificationCount: badge } }, apns: { payload: { aps: { badge } } } },
        overrides,
      ) as Data)

interface Parts {
  id: string
  attempt: number
  target: string
  texts: PushTexts
  overrides: Data
  subscription: PushSubscription | undefined
}

function composed(
  of: StepRun,
  brand: string,
  { provider_id }: IntegrationRow,
  { texts, overrides, ...parts }: Parts,
): PushMessage {
  const { run } = of
  return {
    channel,
    ...parts,
    title: texts.subject,
    content: texts.body,
    payload: { ...run.event.payload, __nvMessageId: parts.id },
    overrides,
    subscriber: subscriberVariablesOf(run.subscriber),
    severity: run.severity,
    step: digestOf(run.results),
    providerData: providerDataFor(of, provider_id, brand),
    customData: objectIn(overrides.customData),
  }
}

async function forgetBrowser(
  { run }: StepRun,
  { forgetBrowser: forget }: CallTools,
  { provider_id: providerId }: IntegrationRow,
  id: string,
  { message }: Error,
): Promise<Detail[]> {
  const where = { environmentId: run.environment.id, subscriberRowId: run.subscriber.id }
  if (!(await forget(where, id))) return []
  return [detail('token_removed', { deviceToken: id, providerError: message }, { providerId })]
}

async function forgetToken(
  { run }: StepRun,
  { forgetDevice, clock }: CallTools,
  { id, provider_id: providerId }: IntegrationRow,
  token: string,
  { message }: Error,
): Promise<Detail[]> {
  const where = { environmentId: run.environment.id, subscriberRowId: run.subscriber.id, integrationId: id }
  if (!(await forgetDevice(where, token, clock.now()))) return []
  return [detail('token_removed', { deviceToken: token, providerError: message }, { providerId })]
}
