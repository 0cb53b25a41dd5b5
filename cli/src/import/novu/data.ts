// Subscribers, preferences, credentials, subscriptions and inbox history of Novu as items of an import.
import { givenId, takeId } from '../identifier.ts'
import type { Intake } from '../intake.ts'
import { filled, isJson, type Json, Members } from '../members.ts'

/** What ids of the source stand for. */
export interface Ids {
  /** subscriberId by internal id. */
  subscribers: Map<string, string>
  /** workflowId by internal id. */
  workflows: Map<string, string>
  /** identifier by internal id. */
  integrations: Map<string, string>
}

const internal = [
  '_id',
  'id',
  '__v',
  '_organizationId',
  '_environmentId',
  '_subscriberId',
  'deleted',
  'deletedAt',
  'deletedBy',
]
const mask = '••••••••'

/** `novu-slack` is the service's own provider, and has another word here. */
export const providerIn = (id: unknown): string => String(id).replace(/^novu(?=-|$)/, 'svc')

/** Where a document without an identifier stands, for the report. */
export const placeOf = ({ _id }: Json): string => `_id ${givenId(_id) ?? 'missing'}`

/** @returns its id, unless it has none and is not taken */
export function takeSubscriber(intake: Intake, value: Json, ids: Ids): string | undefined {
  const { report } = intake
  const subscriberId = takeId(value, ['subscriberId'], { report, kind: 'subscribers', place: placeOf(value) })
  if (subscriberId === undefined) return undefined
  if (typeof value._id === 'string') ids.subscribers.set(value._id, subscriberId)
  const members = new Members(value, { report, kind: 'subscribers', id: subscriberId })
  members.renewed(internal)
  members.renewed(['isOnline', 'lastOnlineAt'], 'who is online shows again once they connect')
  members.renewed(['topics'], 'subscriptions to topics come as such')
  const updatedAt = members.text('updatedAt')
  const names = ['firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'timezone', 'data', 'createdAt']
  members.take('subscriberId')
  const fields = filled(Object.fromEntries(names.map((name) => [name, members.take(name)])))
  const isTaken = intake.add('subscribers', { subscriberId, ...fields, ...(updatedAt ? { updatedAt } : {}) })
  const channels = members.objects('channels')
  if (isTaken) for (const channel of channels) takeCredential(intake, subscriberId, channel, { ids, updatedAt })
  members.end()
  return subscriberId
}

function takeCredential(
  intake: Intake,
  subscriberId: string,
  channel: Json,
  { ids, updatedAt }: { ids: Ids; updatedAt: string | undefined },
): void {
  const { report } = intake
  const members = new Members(channel, { report, kind: 'credentials', id: subscriberId })
  members.renewed(['_id'])
  const providerId = providerIn(members.take('providerId'))
  const integrationId = members.text('_integrationId')
  const integrationIdentifier = members.text('integrationIdentifier') ?? ids.integrations.get(integrationId ?? '')
  const given = members.members('credentials')
  const credentials: Json = {}
  for (const name of [
    'deviceTokens',
    'webhookUrl',
    'channel',
    'alertUid',
    'title',
    'imageUrl',
    'state',
    'externalUrl',
  ]) {
    const value = given.take(name)
    if (value === mask || (typeof value === 'string' && value.startsWith('nvsk.')))
      report.unmapped({
        ...{ kind: 'credentials', id: subscriberId, path: `credentials.${name}`, code: 'secret' },
        why: 'it is hidden at the source; use a key that administers it',
      })
    else if (value !== undefined && value !== null && value !== '') credentials[name] = value
  }
  given.end()
  members.end()
  if (Object.keys(credentials).length === 0) return
  intake.add('credentials', {
    ...{ subscriberId, providerId },
    ...(integrationIdentifier ? { integrationIdentifier } : {}),
    ...credentials,
    ...(updatedAt ? { updatedAt } : {}),
  })
}

const channelNames = ['email', 'sms', 'in_app', 'chat', 'push']

/** Preferences as `GET …/preferences` answers them: what holds, and who decided. */
export function takeShownPreferences(intake: Intake, subscriberId: string, value: Json): void {
  const { report } = intake
  const members = new Members(value, { report, kind: 'preferences', id: subscriberId })
  const global = members.members('global')
  const workflows = members.objects('workflows')
  global.take('enabled')
  const schedule = global.take('schedule')
  const given = global.take('channels')
  listOtherChannels(global)
  for (const workflow of workflows) {
    const shown = new Members(workflow, { report, kind: 'preferences', id: subscriberId, path: 'workflows' })
    for (const name of ['enabled', 'overrides', 'workflow', 'updatedAt']) shown.take(name)
    listOtherChannels(shown)
    shown.end()
  }
  const channels: Json = {}
  const isOwn = (workflow: Json) => typeof workflow.updatedAt === 'string'
  const bySubscriber = (workflow: Json): string[] =>
    (Array.isArray(workflow.overrides) ? workflow.overrides.filter(isJson) : [])
      .filter(({ source }) => source === 'subscriber')
      .map(({ channel }) => String(channel))
  for (const name of channelNames) {
    if (!isJson(given) || typeof given[name] !== 'boolean') continue
    // "On" is the default; that it was chosen shows only where it overrides a workflow.
    const isChosen = workflows.some((workflow) => !isOwn(workflow) && bySubscriber(workflow).includes(name))
    if (given[name] === false || isChosen) channels[name] = given[name]
  }
  global.renewed(['snoozedUntil'], 'a pause from offers and news ends by itself')
  global.end()
  if (Object.keys(channels).length > 0 || isJson(schedule))
    intake.add('preferences', {
      subscriberId,
      ...(Object.keys(channels).length > 0 ? { channels } : {}),
      ...(isJson(schedule) ? { schedule } : {}),
    })
  for (const workflow of workflows) {
    if (!isOwn(workflow) || !isJson(workflow.workflow) || !isJson(workflow.channels)) continue
    const place = `${subscriberId} workflows`
    // Without it, the preference would be for all workflows.
    const workflowId = takeId(workflow.workflow, ['identifier'], { report, kind: 'preferences', place })
    if (workflowId === undefined) continue
    const shown = workflow.channels
    const chosen = bySubscriber(workflow).filter((name) => channels[name] !== shown[name] || !(name in channels))
    const own = Object.fromEntries(chosen.map((name) => [name, shown[name]]))
    if (chosen.length > 0)
      intake.add('preferences', {
        ...{ subscriberId, workflowId, channels: own, updatedAt: workflow.updatedAt },
      })
  }
  members.end()
}

function listOtherChannels(of: Members): void {
  const channels = of.members('channels')
  for (const name of channelNames) channels.take(name)
  channels.end('there is no such channel')
}

/** A row of the collection `preferences`. Those of workflows are part of their definitions. */
export function takeStoredPreference(intake: Intake, value: Json, ids: Ids): void {
  const { report } = intake
  const type = String(value.type)
  const subscriberId = ids.subscribers.get(String(value._subscriberId))
  const members = new Members(value, { report, kind: 'preferences', id: subscriberId ?? String(value._subscriberId) })
  const missing = (path: string, why: string) =>
    report.unmapped({ kind: 'preferences', id: members.id, path, code: 'not_found', why })
  if (subscriberId === undefined) {
    missing('_subscriberId', 'the subscriber is not in the export')
    return
  }
  members.renewed([...internal, 'createdAt', '_userId', 'level'])
  const isGlobal = type === 'SUBSCRIBER_GLOBAL'
  const templateId = String(members.take('_templateId') ?? '')
  const workflowId = isGlobal ? undefined : ids.workflows.get(templateId)
  members.take('type')
  if (!isGlobal && workflowId === undefined) {
    missing('_templateId', 'the workflow is not in the export')
    return
  }
  const channels = storedChoices(members, isGlobal)
  const schedule = members.take('schedule')
  const contextKeys = members.list('contextKeys')
  const updatedAt = members.text('updatedAt')
  members.end()
  if (Object.keys(channels).length === 0 && !isJson(schedule)) return
  intake.add('preferences', {
    subscriberId,
    ...(workflowId === undefined ? {} : { workflowId }),
    ...(Object.keys(channels).length > 0 ? { channels } : {}),
    ...(isJson(schedule) && isGlobal ? { schedule } : {}),
    ...(contextKeys.length > 0 ? { contextKeys } : {}),
    ...(updatedAt ? { updatedAt } : {}),
  })
}

/** What is said of all channels, and of each. */
function storedChoices(members: Members, isGlobal: boolean): Json {
  const preferences = members.members('preferences')
  const all = preferences.members('all')
  const usual = all.flag('enabled')
  // It is the workflow's, and a row of a subscriber repeats it.
  all.renewed(['readOnly'], 'workflows say it')
  all.end('a preference has no condition')
  const perChannel = preferences.members('channels')
  const channels: Json = {}
  for (const name of perChannel.rest()) {
    const own = perChannel.members(name)
    const enabled = own.flag('enabled') ?? (isGlobal ? undefined : usual)
    own.renewed(['readOnly'], 'workflows say it')
    own.end('a preference has no condition')
    if (!channelNames.includes(name)) perChannel.unmapped(name, 'no_equivalent', 'there is no such channel')
    else if (enabled !== undefined) channels[name] = enabled
  }
  preferences.end()
  if (usual !== undefined && !isGlobal) for (const name of channelNames) channels[name] ??= usual
  if (usual === false && isGlobal) for (const name of channelNames) channels[name] = false
  return channels
}

interface Choices {
  add(value: Json): void
  /** Those of the subscription with this internal id. */
  take(subscription: string | undefined): Json[]
  /** Lists those whose subscription did not come. */
  end(): void
}

/** Rows of the collection `preferences` that are of subscriptions to topics. They go with their subscriptions. */
export function choicesOfSubscriptions({ report }: Intake, ids: Ids): Choices {
  const bySubscription = new Map<string, Array<{ subscriberId: string; choice: Json }>>()
  return {
    add(value) {
      const subscriberId = ids.subscribers.get(String(value._subscriberId)) ?? String(value._subscriberId)
      const members = new Members(value, { report, kind: 'preferences', id: subscriberId })
      const list = (path: string, code: string, why: string) =>
        report.unmapped({ kind: 'preferences', id: subscriberId, path, code, why })
      members.renewed([...internal, 'createdAt', 'updatedAt', '_userId', 'level', 'type'])
      members.renewed(['_topicSubscriptionId', 'contextKeys'], 'it goes with its subscription')
      const workflowId = ids.workflows.get(String(members.take('_templateId')))
      const preferences = members.members('preferences')
      const all = preferences.members('all')
      const choice = filled({ workflowId, enabled: all.take('enabled'), condition: all.take('condition') })
      all.renewed(['readOnly'], 'workflows say it')
      all.end()
      const channels = preferences.members('channels')
      for (const name of channels.rest()) {
        const isOff = isJson(channels.take(name)) && channels.members(name).flag('enabled') === false
        if ((isOff && choice.enabled !== false) || !channelNames.includes(name))
          channels.unmapped(name, 'no_equivalent', 'a subscription is for all channels of a workflow')
      }
      preferences.end()
      members.end()
      if (workflowId === undefined) {
        list('_templateId', 'not_found', 'the workflow is not in the export')
        return
      }
      if (Object.keys(choice).length === 1) return
      const subscription = givenId(value._topicSubscriptionId) ?? ''
      bySubscription.set(subscription, [...(bySubscription.get(subscription) ?? []), { subscriberId, choice }])
    },
    take(subscription) {
      if (subscription === undefined) return []
      const own = bySubscription.get(subscription) ?? []
      bySubscription.delete(subscription)
      return own.map(({ choice }) => choice)
    },
    end() {
      for (const { subscriberId } of [...bySubscription.values()].flat())
        report.unmapped({
          ...{ kind: 'preferences', id: subscriberId, path: '_topicSubscriptionId', code: 'not_found' },
          why: 'the subscription is not in the export',
        })
    },
  }
}

/** A subscription with its topic, its subscriber, and, if they were asked for, its preferences. */
export function takeSubscription(
  intake: Intake,
  value: Json,
  { topicName, ...given }: { topicKey: unknown; topicName?: string | undefined; subscriberId: unknown },
): void {
  const at = { report: intake.report, kind: 'topic-subscriptions' as const, place: placeOf(value) }
  const topicKey = takeId(given, ['topicKey'], at)
  const subscriberId = takeId(given, ['subscriberId'], at)
  if (topicKey === undefined || subscriberId === undefined) return
  const members = new Members(value, { report: intake.report, kind: 'topic-subscriptions', id: subscriberId })
  members.renewed([...internal, '_topicId', 'updatedAt'])
  for (const name of ['topic', 'subscriber', 'topicKey', 'externalSubscriberId']) members.take(name)
  const preferences = members.objects('preferences').map((choice) => choiceOf(choice, intake, subscriberId))
  const contextKeys = members.list('contextKeys')
  intake.add('topic-subscriptions', {
    ...filled({
      topicKey,
      topicName,
      subscriberId,
      identifier: members.text('identifier'),
      name: members.text('name'),
    }),
    ...(contextKeys.length > 0 ? { contextKeys } : {}),
    ...(preferences.length > 0 ? { preferences } : {}),
    ...filled({ createdAt: members.text('createdAt') }),
  })
  members.end()
}

function choiceOf(value: Json, { report }: Intake, subscriberId: string): Json {
  const members = new Members(value, { report, kind: 'topic-subscriptions', id: subscriberId, path: 'preferences' })
  const [workflow, workflowId] = [members.take('workflow'), members.take('workflowId')]
  members.renewed(['subscriptionId'])
  const choice = filled({
    workflowId: isJson(workflow) ? workflow.identifier : workflowId,
    ...{ enabled: members.take('enabled'), condition: members.take('condition') },
  })
  members.end()
  return choice
}

const ofRuns = [
  ...['_templateId', '_messageTemplateId', '_notificationId', '_jobId', '_actorId', '_integrationId', '_feedId'],
  ...['payload', 'overrides', 'template', 'subscriber', 'actorSubscriber', 'actor', 'status', 'providerId', 'title'],
  ...['templateIdentifier', 'channel', 'email', 'phone', 'deviceTokens', 'directWebhookUrl', 'identifier', 'expireAt'],
  ...['critical', 'deliveredAt', 'lastSeenDate', 'senderName', 'sourceIdentifier', 'type'],
]

/** A message of the inbox; those of other channels are not history that anybody sees. */
export function takeMessage(intake: Intake, value: Json, ids: Ids): void {
  const { report } = intake
  const subscriber = isJson(value.subscriber) ? value.subscriber.subscriberId : undefined
  const subscriberId = givenId(subscriber) ?? ids.subscribers.get(String(value._subscriberId))
  // Without an id of its own it would come again with every import.
  const id = takeId(value, ['_id'], { report, kind: 'messages', place: `of ${subscriberId ?? 'nobody'}` })
  if (id === undefined) return
  const members = new Members(value, { report, kind: 'messages', id })
  if (subscriberId === undefined) {
    report.unmapped({
      ...{ kind: 'messages', id, path: '_subscriberId', code: 'not_found' },
      why: 'the subscriber is gone',
    })
    return
  }
  const workflowId = members.text('templateIdentifier') ?? ids.workflows.get(String(value._templateId))
  if (workflowId === undefined) {
    report.unmapped({
      ...{ kind: 'messages', id, path: '_templateId', code: 'not_found' },
      why: 'the workflow is gone',
    })
    return
  }
  const { redirect, buttons } = actionsOf(members)
  const [createdAt, updatedAt] = [members.text('createdAt'), members.text('updatedAt')]
  const isSeen = members.take('seen') === true
  const isRead = members.take('read') === true
  const isArchived = members.take('archived') === true
  const firstSeen = members.text('firstSeenDate')
  const [lastRead, archived] = [members.text('lastReadDate'), members.text('archivedAt')]
  const contextKeys = members.list('contextKeys')
  intake.add('messages', {
    ...{ id, subscriberId, workflowId },
    ...filled({
      stepId: members.text('stepId'),
      transactionId: members.text('transactionId'),
      subject: members.text('subject'),
      body: bodyOf(members),
      avatar: members.text('avatar'),
      redirect,
      primaryAction: buttons.get('primary'),
      secondaryAction: buttons.get('secondary'),
      tags: members.take('tags'),
      data: members.take('data'),
      severity: members.text('severity'),
      createdAt,
      deliveredAt: value.deliveredAt,
      // Without a time of its own, it happened with the last change at the latest.
      seenAt: isSeen ? (firstSeen ?? updatedAt ?? createdAt) : undefined,
      lastSeenAt: isSeen ? value.lastSeenDate : undefined,
      readAt: isRead ? (lastRead ?? updatedAt ?? createdAt) : undefined,
      archivedAt: isArchived ? (archived ?? updatedAt ?? createdAt) : undefined,
      snoozedUntil: members.text('snoozedUntil'),
      updatedAt,
    }),
    ...(contextKeys.length > 0 ? { contextKeys } : {}),
  })
  members.renewed(internal)
  members.renewed(ofRuns, 'it is of the run, which stays at the source')
  members.end()
}

const linkOf = (place: Members): Json | undefined => {
  const [url, target] = [place.text('url'), place.text('target')]
  return url === undefined ? undefined : filled({ url, target })
}

/** Where a message leads, and its buttons; the one that was pressed is completed. */
function actionsOf(message: Members): { redirect: Json | undefined; buttons: Map<string, Json> } {
  const cta = message.members('cta')
  cta.take('type')
  const data = cta.members('data')
  const redirect = linkOf(data)
  data.end()
  const action = cta.members('action')
  const result = action.members('result')
  const pressed = result.text('type')
  const isDone = action.text('status') === 'done'
  result.unmapped('payload', 'no_equivalent', 'what a button was pressed with is not kept')
  result.end()
  const buttons = new Map<string, Json>()
  for (const button of action.each('buttons')) {
    const type = button.text('type') ?? ''
    const [label, link] = [button.text('content'), linkOf(button)]
    button.renewed(['_id', 'resultContent'], 'it is of the run, which stays at the source')
    button.end()
    const isKnown = (type === 'primary' || type === 'secondary') && !buttons.has(type)
    if (!isKnown) button.lists('type', 'no_equivalent', 'a message has a primary and a secondary button')
    else if (label !== undefined)
      buttons.set(type, filled({ label, redirect: link, isCompleted: isDone && pressed === type ? true : undefined }))
  }
  action.renewed(['urlActionResult'], 'it is of the run, which stays at the source')
  action.end()
  cta.end()
  return { redirect, buttons }
}

/** Text, or blocks of text. */
function bodyOf(message: Members): string {
  if (!Array.isArray(message.take('content'))) return message.text('content') ?? ''
  return message
    .each('content')
    .map((block) => {
      const text = block.text('content') ?? ''
      block.renewed(block.rest(), 'a message of the inbox is text')
      return text
    })
    .join('\n')
}
