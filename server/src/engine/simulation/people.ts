// Everybody and everything that triggers of a scenario refer to, in memory: subscribers with their preferences and devices,
// topics, tenants and contexts.
import { chooseForWorkflow, chooseGlobally } from '../../db/core/preference-choices.ts'
import { columnsSaid, type SubscriberFields } from '../../db/core/subscriber-fields.ts'
import type { ChannelChoices, Recipient, SubscriberChannel } from '../../db/core/tables.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { StepPorts } from '../../steps/contract/call-tools.ts'
import type { FindTopicMembers, FoundMembers } from '../../steps/contract/need.ts'
import {
  contextIdOf,
  type EventRow,
  factsFrom,
  type RecipientRow,
  type StoredPreference,
  sameKeys,
} from '../runs/compose.ts'
import type { TenantChoice } from '../runs/judge.ts'
import { directOf, type Subscription, topicKeysOf } from '../runs/members.ts'
import type { InventedSubscriber, Members, Scenario, Snapshot } from './scenario.ts'

interface Surroundings {
  scenario: Scenario
  snapshot: Snapshot
  integrations: IntegrationRow[]
  /** The internal id of a workflow by its identifier. */
  workflowId(identifier: string): string | undefined
  newId(now: Date): string
  startAt: Date
}

interface Topic {
  id: string
  key: string
  members: Snapshot['topics'][number]['members']
}

export class People {
  readonly #surroundings: Surroundings
  readonly #subscribers = new Map<string, RecipientRow>()
  readonly #byRow = new Map<string, RecipientRow>()
  readonly #topics = new Map<string, Topic>()
  readonly #tenants = new Map<string, Snapshot['tenants'][number]>()
  readonly #contexts = new Map<string, Members>()
  /** The row ids of those who are replaced, and of who replaces them. */
  readonly #replaced = new Map<string, string>()
  /** Row ids of those who are not stored, whom a broadcast reaches. */
  readonly #invented = new Set<string>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    const { scenario, snapshot } = surroundings
    for (const row of snapshot.subscribers) this.#put(row)
    for (const each of scenario.subscribers) this.#invent(each)
    for (const topic of snapshot.topics) this.#topics.set(topic.key, { ...topic, members: this.#asReplaced(topic) })
    for (const { topicKey, subscriberIds } of scenario.topics) this.#inventTopic(topicKey, subscriberIds)
    for (const tenant of snapshot.tenants) this.#tenants.set(tenant.identifier, tenant)
    for (const { type, context_id, data } of snapshot.contexts) this.#contexts.set(`${type}:${context_id}`, data)
  }

  find(subscriberId: string): RecipientRow | undefined {
    return this.#subscribers.get(subscriberId)
  }

  /** As the subscriber is now; undefined once deleted. */
  byRow(id: string): RecipientRow | undefined {
    return this.#byRow.get(id)
  }

  #put(row: RecipientRow): RecipientRow {
    this.#subscribers.set(row.subscriber_id, row)
    this.#byRow.set(row.id, row)
    return row
  }

  #add(subscriberId: string, fields: SubscriberFields, now: Date): RecipientRow {
    const id = this.#surroundings.newId(now)
    this.#invented.add(id)
    return this.#put({
      environment_id: this.#surroundings.snapshot.environment.id,
      id,
      subscriber_id: subscriberId,
      first_name: null,
      last_name: null,
      email: null,
      phone: null,
      avatar: null,
      locale: null,
      timezone: null,
      data: null,
      channels: [],
      is_online: false,
      last_online_at: null,
      inbox_generation: 0,
      snoozed_until: null,
      created_at: now,
      updated_at: now,
      preferences: null,
      ...columnsSaid(fields),
    })
  }

  /** Changes fields; creates who is not known, as a trigger does. */
  say(subscriberId: string, fields: SubscriberFields, now: Date): RecipientRow {
    const known = this.find(subscriberId)
    if (!known) return this.#add(subscriberId, fields, now)
    return this.#put({ ...known, ...columnsSaid(fields), updated_at: now })
  }

  delete(subscriberId: string): void {
    const row = this.find(subscriberId)
    if (!row) return
    this.#subscribers.delete(subscriberId)
    this.#byRow.delete(row.id)
    for (const topic of this.#topics.values())
      topic.members = topic.members.filter((member) => member.subscriber_row_id !== row.id)
  }

  #invent({ subscriberId, isBased, channels, preferences, ...fields }: InventedSubscriber): void {
    const { startAt, workflowId } = this.#surroundings
    const stored = isBased ? undefined : this.find(subscriberId)
    if (stored) this.delete(subscriberId)
    const row = this.say(subscriberId, fields, startAt)
    if (stored) this.#replaced.set(stored.id, row.id)
    this.#invented.add(row.id)
    for (const channel of channels ?? []) this.#addChannel(subscriberId, channel)
    if (!preferences) return
    const { channels: general, schedule, snoozedUntil, workflows = {} } = preferences
    this.choose(subscriberId, { channels: general, schedule, snoozedUntil })
    for (const [identifier, choices] of Object.entries(workflows))
      this.choose(subscriberId, { channels: choices.channels, workflowId: workflowId(identifier) ?? identifier })
  }

  /** Who is replaced stays in their topics. */
  #asReplaced({ members }: Topic): Topic['members'] {
    return members.map((member) => {
      const other = this.#replaced.get(member.subscriber_row_id)
      return other === undefined ? member : { ...member, subscriber_row_id: other }
    })
  }

  #inventTopic(key: string, subscriberIds: string[]): void {
    const { newId, startAt } = this.#surroundings
    const members = [...new Set(subscriberIds)].map((subscriberId) => {
      const row = this.find(subscriberId) ?? this.#add(subscriberId, {}, startAt)
      return { identifier: `${key}:${subscriberId}`, subscriber_row_id: row.id, context_keys: [], choices: {} }
    })
    this.#topics.set(key, { id: newId(startAt), key, members })
  }

  /** By the rules of `PATCH …/preferences`. The schedule and the pause are global, even where a workflow is named. */
  choose(
    subscriberId: string,
    change: {
      channels?: ChannelChoices | undefined
      schedule?: Members | undefined
      snoozedUntil?: Date | null | undefined
      workflowId?: string | undefined
      contextKeys?: string[] | undefined
    },
  ): void {
    const row = this.find(subscriberId)
    if (!row) return
    const { channels, schedule, snoozedUntil = row.snoozed_until, workflowId, contextKeys = [] } = change
    const all = row.preferences ?? []
    const isOwn = ({ context_keys }: StoredPreference) => sameKeys(context_keys, contextKeys)
    const [own, others] = [all.filter(isOwn), all.filter((each) => !isOwn(each))]
    let rows: Array<Omit<StoredPreference, 'context_keys'>> = own
    if (workflowId !== undefined && channels && Object.keys(channels).length > 0)
      rows = chooseForWorkflow(rows, workflowId, channels)
    const general = workflowId === undefined ? channels : undefined
    if (schedule !== undefined || (general && Object.keys(general).length > 0))
      rows = chooseGlobally(rows, { channels: general, schedule })
    const preferences = [...others, ...rows.map((each) => ({ ...each, context_keys: contextKeys }))]
    this.#put({ ...row, preferences, snoozed_until: snoozedUntil })
  }

  /** The integration with its identifier or, without one, the provider's newest. One without an integration is left out. */
  #addChannel(
    subscriberId: string,
    channel: Pick<SubscriberChannel, 'providerId' | 'integrationIdentifier' | 'credentials'>,
  ): void {
    const row = this.find(subscriberId)
    const { providerId, integrationIdentifier, credentials } = channel
    const integration = this.#surroundings.integrations.findLast(
      ({ provider_id, identifier }) =>
        provider_id === providerId && (integrationIdentifier === undefined || identifier === integrationIdentifier),
    )
    if (!row || !integration) return
    const isSame = (other: SubscriberChannel) =>
      other.providerId === providerId && other._integrationId === integration.id
    const known = row.channels.find(isSame)
    const tokens = credentials.deviceTokens && {
      deviceTokens: [...new Set([...(known?.credentials.deviceTokens ?? []), ...credentials.deviceTokens])],
    }
    const entry = {
      providerId,
      _integrationId: integration.id,
      integrationIdentifier: integration.identifier,
      credentials: { ...known?.credentials, ...credentials, ...tokens },
    }
    const channels = known ? row.channels.map((each) => (each === known ? entry : each)) : [...row.channels, entry]
    this.#put({ ...row, channels })
  }

  forgetDevice: StepPorts['forgetDevice'] = async ({ subscriberRowId, integrationId }, token) => {
    const row = this.byRow(subscriberRowId)
    const entry = row?.channels.find(
      ({ _integrationId, credentials }) =>
        _integrationId === integrationId && credentials.deviceTokens?.includes(token),
    )
    if (!row || !entry) return false
    const deviceTokens = (entry.credentials.deviceTokens ?? []).filter((each) => each !== token)
    const left = { ...entry, credentials: { ...entry.credentials, deviceTokens } }
    this.#put({ ...row, channels: row.channels.map((each) => (each === entry ? left : each)) })
    return true
  }

  readonly #forgotten = new Set<string>()

  findBrowsers: StepPorts['findBrowsers'] = async ({ subscriberRowId }) =>
    this.#surroundings.snapshot.browsers.filter(
      (row) => row.subscriber_row_id === subscriberRowId && !this.#forgotten.has(row.id),
    )

  forgetBrowser: StepPorts['forgetBrowser'] = async (_, id) => {
    const isKnown = !this.#forgotten.has(id)
    this.#forgotten.add(id)
    return isKnown
  }

  findChats: StepPorts['findChats'] = async ({ subscriberId, contextKeys }) => {
    const { endpoints: all, connections } = this.#surroundings.snapshot
    const isStored = this.#surroundings.snapshot.subscribers.some(({ id }) => id === this.find(subscriberId)?.id)
    const endpoints = all.filter(
      (row) => isStored && row.subscriber_id === subscriberId && sameKeys(row.context_keys, contextKeys),
    )
    return { endpoints, connections: connections.filter((row) => sameKeys(row.context_keys, contextKeys)) }
  }

  /** What a trigger says about people, tenants and contexts, and who is new. */
  take(event: EventRow, now: Date): void {
    const actor = event.actor as ({ subscriberId: string } & Members) | null
    const direct = directOf(event)
    for (const said of (actor ? [...direct, actor] : direct) as Array<
      Extract<Recipient, { subscriberId: string }> & Members
    >) {
      const { subscriberId, channels } = said
      if (saysMore(said) || !this.find(subscriberId)) this.say(subscriberId, said as SubscriberFields, now)
      for (const channel of (channels ?? []) as SubscriberChannel[]) this.#addChannel(subscriberId, channel)
    }
    for (const [type, value] of Object.entries(event.context ?? {})) {
      const key = `${type}:${contextIdOf(value)}`
      const { data = {} } = (typeof value === 'object' ? value : {}) as { data?: Members }
      if (!this.#contexts.has(key)) this.#contexts.set(key, data)
    }
    const tenant = this.#tenants.get(String(event.tenant?.identifier))
    if (!event.tenant || !tenant) return
    const { name, data } = event.tenant as { name?: string | null; data?: Members | null }
    this.#tenants.set(tenant.identifier, {
      ...tenant,
      name: name ?? tenant.name ?? null,
      data: data ?? tenant.data ?? null,
    })
  }

  factsOf = (event: EventRow) =>
    factsFrom(event, {
      actor: event.actor ? this.find(String(event.actor.subscriberId)) : undefined,
      tenant: this.#tenants.get(String(event.tenant?.identifier)),
      contextData: (type, id) => this.#contexts.get(`${type}:${id}`),
    })

  tenantChoice(identifier: string, workflowId: string): TenantChoice | undefined {
    const tenant = this.#tenants.get(identifier)
    return tenant && { active: tenant.active[workflowId] ?? null }
  }

  /** The members of a trigger's topics, in the order of their row ids; for a broadcast, those who are not stored. */
  members(event: EventRow, contextKeys: string[]): Array<{ recipient: RecipientRow; via: Subscription[] | null }> {
    if (event.recipients === null) return this.#rows(this.#invented).map((recipient) => ({ recipient, via: null }))
    const topics = topicKeysOf(event.recipients).flatMap((key) => this.#topics.get(key) ?? [])
    const via = new Map<string, Subscription[]>()
    for (const { id, key, members } of new Set(topics))
      for (const { subscriber_row_id: row, identifier, context_keys, choices } of members) {
        if (!sameKeys(context_keys, contextKeys)) continue
        const subscription = { topic_id: id, topic_key: key, identifier, choice: choices[event.workflow_id] ?? null }
        via.set(row, [...(via.get(row) ?? []), subscription])
      }
    return this.#rows(via.keys()).map((recipient) => ({ recipient, via: via.get(recipient.id) ?? [] }))
  }

  /** In the order in which they subscribed. Where a page ends, they are counted. */
  topicMembers({ topicKey, contextKeys, after, most }: FindTopicMembers): FoundMembers {
    const all = this.#topics.get(topicKey)?.members ?? []
    const own = all.filter(({ context_keys }) => sameKeys(context_keys, contextKeys))
    const end = Number(after) + most
    const some = own.slice(Number(after), end)
    return {
      members: some.flatMap(({ subscriber_row_id }) => this.byRow(subscriber_row_id)?.subscriber_id ?? []),
      after: some.length === most ? String(end) : null,
    }
  }

  missingTopics({ recipients }: EventRow): string[] {
    return [...new Set(topicKeysOf(recipients ?? []))].filter((key) => !this.#topics.has(key))
  }

  #rows(ids: Iterable<string>): RecipientRow[] {
    return [...ids].sort((a, b) => (a < b ? -1 : 1)).flatMap((id) => this.byRow(id) ?? [])
  }
}

/** Whether a trigger says anything about a person but who it is, and their devices. */
const saysMore = (said: Members): boolean =>
  Object.keys(said).some((name) => name !== 'subscriberId' && name !== 'channels')
