// Reads what a scenario refers to: once, in one read-only snapshot with a time limit, which is given back before anything is
// computed.
import { sql } from 'kysely'
import { addressChannels, comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import type { Db, Tx } from '../../db/core/database.ts'
import { envOf, findUnsignedAccess } from '../../db/core/environment-access.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { SubscriberChannel } from '../../db/core/tables.ts'
import { consentOf } from '../../db/queries/consent.ts'
import { guardsOf } from '../../db/queries/guards.ts'
import { type IntegrationRow, listIntegrations } from '../../db/queries/integrations.ts'
import type { LayoutRow } from '../../db/queries/layouts.ts'
import type { PushSubscriptionRow } from '../../db/queries/push-subscriptions.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import { hasLiquid } from '../../render/liquid.ts'
import type { TranslationGroup } from '../../render/translations.ts'
import { allSteps } from '../../steps/contract/tree.ts'
import { deepest } from '../../steps/kinds/start-workflow.ts'
import { asOfNow, type WorkflowVersion } from '../core/memory.ts'
import { peopleIn } from '../core/rota.ts'
import type { RecipientRow } from '../runs/compose.ts'
import { topicKeysOf } from '../runs/members.ts'
import type { TriggerRequest } from '../runs/trigger-request.ts'
import { limits, type Scenario, SimulationRefused, type Snapshot } from './scenario.ts'

const statementTimeoutMs = 10_000

/** One read-only snapshot with a time limit. */
export function inSnapshot<T>(db: Db, read: (tx: Tx) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`SELECT set_config('statement_timeout', ${String(statementTimeoutMs)}, true)`.execute(tx)
      return read(tx)
    })
}

/** What a snapshot is read with. */
export interface Means {
  secrets: Secrets
  /** How long activity is kept where the environment does not say; 0 is forever. */
  activityDays: number
}

export class Reading {
  readonly #tx: Tx
  readonly #environmentId: string
  readonly #scenario: Scenario
  readonly #requests: TriggerRequest[]
  /** Whom chains of questions name. */
  #asked: string[] = []
  /** The names of its variables. */
  envKeys: string[] = []
  /** All of them; the snapshot has only the active ones. */
  integrations: IntegrationRow[] = []
  /** Subscribers and topics that steps may start workflows for. */
  #started: string[] = []

  constructor(tx: Tx, environmentId: string, scenario: Scenario) {
    this.#tx = tx
    this.#environmentId = environmentId
    this.#scenario = scenario
    this.#requests = scenario.inputs.flatMap((input) => (input.type === 'trigger' ? [input.request] : []))
  }

  /** @param known the workflow, where it is not the stored one, or has been read already */
  async all(means: Means, known: WorkflowVersion | undefined): Promise<Snapshot> {
    const { inputs, workflowId, version } = this.#scenario
    const names = [...new Set(this.#requests.map(({ name }) => name))].filter((name) => name !== workflowId)
    const stored = await this.#workflows([...names, ...(known ? [] : [workflowId])])
    const current = known ?? this.#named(stored, workflowId)
    const workflow = version === undefined ? current : await this.version(current, version)
    const named = names.map((name) => this.#named(stored, name))
    const wanted = inputs.flatMap((input) => (input.type === 'workflow' ? (input.version ?? []) : []))
    const versions: WorkflowVersion[] = []
    for (const each of new Set(wanted)) versions.push(await this.version(current, each))
    const drafts = inputs.flatMap((input) => (input.type === 'workflow' ? (input.draft ?? []) : []))
    const others = [...named, ...(await this.#startedBy([workflow, ...named, ...versions, ...drafts]))]
    const workflows = [workflow, ...others, ...versions]
    const chains = chainsIn([...workflows, ...drafts])
    this.#startsOf([...workflows, ...drafts])
    const topics = await this.#topics(workflows, chains.topicKeys)
    const rotas = await this.#rotas(chains.rotaIds)
    for (const { shifts } of rotas) chains.subscriberIds.push(...peopleIn(shifts))
    if (chains.subscriberIds.some(hasLiquid))
      chains.subscriberIds.push(...this.#requests.flatMap(({ payload }) => textsDeepIn(payload)))
    this.#asked = chains.subscriberIds
    const types = new Set([...workflows, ...drafts].flatMap(({ steps }) => allSteps(steps).map(({ type }) => type)))
    const layouts = types.has('email')
      ? await this.#all<LayoutRow>(sql`SELECT * FROM layouts WHERE environment_id = ${this.#environmentId}`)
      : []
    const subscribers = await this.#subscribers(topics)
    return {
      ...(await this.#environment(means)),
      ...{ workflow, versions, others, topics, rotas, layouts },
      translations: await this.#translations(workflows, layouts),
      subscribers,
      suppressions: await this.#suppressions(subscribers),
      browsers: types.has('push') ? await this.#browsers(subscribers) : [],
      ...(types.has('chat') ? await this.#chats(subscribers) : { endpoints: [], connections: [] }),
      tenants: await this.#tenants(),
      contexts: await this.#contexts(),
    }
  }

  /** Those that steps of these workflows start, and theirs. */
  async #startedBy(all: WorkflowVersion[]): Promise<WorkflowVersion[]> {
    const known = new Set(all.map(({ identifier }) => identifier))
    const found: WorkflowVersion[] = []
    let next = all
    for (let depth = 0; depth < deepest && next.length > 0; depth += 1) {
      const names = startsIn(next).map(({ workflowId }) => String(workflowId ?? ''))
      // A template may name any of them.
      next = names.some(hasLiquid)
        ? await this.#everyWorkflow()
        : await this.#workflows([...new Set(names)].filter((name) => !known.has(name)))
      next = next.filter(({ identifier }) => !known.has(identifier))
      for (const { identifier } of next) known.add(identifier)
      found.push(...next)
    }
    return found
  }

  async #everyWorkflow(): Promise<WorkflowVersion[]> {
    const rows = await this.#tx
      .selectFrom('workflows')
      .selectAll()
      .where('environment_id', '=', this.#environmentId)
      .orderBy('id')
      .limit(mostWorkflows)
      .execute()
    return rows as unknown as WorkflowVersion[]
  }

  /** Whom those steps may name: themselves, or by a template over what triggers bring along. */
  #startsOf(workflows: WorkflowVersion[]): void {
    const starts = startsIn(workflows)
    if (starts.length === 0) return
    const written = starts.flatMap(({ to }) => textsDeepIn(to))
    const brought = written.some(hasLiquid) ? this.#requests.flatMap(({ payload }) => textsDeepIn(payload)) : []
    this.#started = [...written, ...brought].filter((text) => text.length <= longestId && !hasLiquid(text))
  }

  async #all<Row>(query: ReturnType<typeof sql>): Promise<Row[]> {
    return (await query.execute(this.#tx)).rows as Row[]
  }

  async #environment({ secrets, activityDays }: Means): Promise<Pick<Snapshot, 'environment' | 'hasBranding'>> {
    const id = this.#environmentId
    const access = await findUnsignedAccess(this.#tx, secrets, id)
    const row = await this.#tx.selectFrom('environments').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row || !access) throw new Error('The environment no longer exists.')
    this.integrations = await listIntegrations(this.#tx, id)
    this.envKeys = access.variables.map(({ key }) => key)
    return {
      hasBranding: access.hasBranding,
      environment: {
        id,
        organizationId: row.organization_id,
        type: access.type,
        bridgeUrl: access.bridgeUrl,
        env: envOf(access, { showSecrets: false }),
        secretValues: [],
        consent: consentOf(row.consent),
        guards: guardsOf(row.guards),
        activityDays: row.retention?.activityDays ?? activityDays,
        dns: row.dns as Snapshot['environment']['dns'],
        integrations: this.integrations.filter(({ active }) => active),
      },
    }
  }

  async #workflows(identifiers: string[]): Promise<WorkflowVersion[]> {
    if (identifiers.length === 0) return []
    const rows = await this.#tx
      .selectFrom('workflows')
      .selectAll()
      .where('environment_id', '=', this.#environmentId)
      .where('identifier', 'in', identifiers)
      .execute()
    return rows as unknown as WorkflowVersion[]
  }

  #named(workflows: WorkflowVersion[], workflowId: string): WorkflowVersion {
    const found = workflows.find(({ identifier }) => identifier === workflowId)
    if (!found) throw new SimulationRefused({ code: 'workflow_not_found', params: { workflowId } })
    return found
  }

  /** As for runs of then. */
  async version(current: WorkflowVersion, version: number): Promise<WorkflowVersion> {
    if (current.version === version) return current
    const row = await this.#tx
      .selectFrom('workflow_versions')
      .select('definition')
      .where('environment_id', '=', this.#environmentId)
      .where('workflow_id', '=', current.id)
      .where('version', '=', version)
      .executeTakeFirst()
    const { identifier: workflowId } = current
    if (!row) throw new SimulationRefused({ code: 'workflow_version_not_found', params: { workflowId, version } })
    return asOfNow(row.definition as unknown as WorkflowVersion, current)
  }

  async #rotas(ids: string[]): Promise<Snapshot['rotas']> {
    if (ids.length === 0) return []
    return this.#all<Snapshot['rotas'][number]>(sql`
      SELECT rota_id, timezone, shifts FROM rotas
      WHERE environment_id = ${this.#environmentId} AND rota_id = ANY (${ids}::text[])`)
  }

  async #topics(workflows: WorkflowVersion[], asked: string[]): Promise<Snapshot['topics']> {
    const invented = new Set(this.#scenario.topics.map(({ topicKey }) => topicKey))
    const keys = this.#requests
      .flatMap(({ recipients }) => topicKeysOf(recipients ?? []))
      .concat(this.#started, asked)
      .filter((key) => !invented.has(key))
    if (keys.length === 0) return []
    // One more than can be played tells that there are too many.
    return this.#all<Snapshot['topics'][number]>(sql`
      SELECT o.id, o.key, coalesce((
        SELECT json_agg(m) FROM (
          SELECT t.identifier, t.subscriber_row_id, t.context_keys, coalesce((
            SELECT json_object_agg(c.workflow_id, json_build_object('enabled', c.enabled, 'condition', c.condition))
            FROM subscription_preferences c
            WHERE c.environment_id = t.environment_id AND c.subscription_id = t.id
              AND c.workflow_id = ANY (${workflows.map(({ id }) => id)}::text[])), '{}') AS choices
          FROM topic_subscriptions t WHERE t.environment_id = o.environment_id AND t.topic_id = o.id
          ORDER BY t.id LIMIT ${limits.runs + 1}) m), '[]') AS members
      FROM topics o WHERE o.environment_id = ${this.#environmentId} AND o.key = ANY (${keys}::text[])`)
  }

  /** Everybody whom the scenario names, and the members of its topics. */
  #subscribers(topics: Snapshot['topics']): Promise<RecipientRow[]> {
    const rows = [...new Set(topics.flatMap(({ members }) => members.map((member) => member.subscriber_row_id)))]
    return this.#all<RecipientRow>(sql`
      SELECT s.*, (
        SELECT json_agg(json_build_object('workflow_id', p.workflow_id, 'context_keys', p.context_keys,
                                          'channels', p.channels, 'schedule', p.schedule))
        FROM subscriber_preferences p
        WHERE p.environment_id = s.environment_id AND p.subscriber_row_id = s.id) AS preferences
      FROM subscribers s
      WHERE s.environment_id = ${this.#environmentId}
        AND (s.subscriber_id = ANY (${this.#people()}::text[]) OR s.id = ANY (${rows}::text[]))`)
  }

  /** What the list says about the addresses of these people, of those that the scenario makes up, and of overrides. */
  async #suppressions(subscribers: RecipientRow[]): Promise<SuppressionRow[]> {
    const { inputs, subscribers: invented } = this.#scenario
    const people: Array<{ email?: unknown; phone?: unknown; channels?: unknown }> = [
      ...subscribers,
      ...invented,
      ...this.#requests.flatMap(({ recipients }) => (recipients ?? []).filter((each) => 'subscriberId' in each)),
      ...inputs.flatMap((input) => (input.type === 'subscriber' && input.set ? [input.set] : [])),
    ]
    const texts = new Set<unknown>()
    for (const { email, phone, channels } of people) {
      texts.add(email).add(phone)
      for (const { credentials } of (channels ?? []) as SubscriberChannel[])
        for (const token of credentials.deviceTokens ?? []) texts.add(token)
    }
    for (const { overrides, payload } of this.#requests)
      for (const text of [...textsDeepIn(overrides), ...textsDeepIn(payload.phone)]) texts.add(text)
    const hashes = [...texts].flatMap((text) =>
      typeof text !== 'string' ? [] : addressChannels.map((channel) => hashOfAddress(comparedAddress(channel, text))),
    )
    if (hashes.length === 0) return []
    return this.#all<SuppressionRow>(sql`
      SELECT * FROM suppressions
      WHERE environment_id = ${this.#environmentId} AND address_hash = ANY (${hashes}::bytea[])`)
  }

  /** A simulation sends nothing, so it needs no keys. */
  #browsers(subscribers: RecipientRow[]): Promise<PushSubscriptionRow[]> {
    const ids = subscribers.map(({ id }) => id)
    return this.#all<PushSubscriptionRow>(sql`
      SELECT environment_id, id, subscriber_row_id, subscriber_id, endpoint_hash, '{}' AS sealed, origin, page, label,
        created_at, used_at
      FROM push_subscriptions
      WHERE environment_id = ${this.#environmentId} AND subscriber_row_id = ANY (${ids}::text[]) ORDER BY id DESC`)
  }

  async #chats(subscribers: RecipientRow[]): Promise<Pick<Snapshot, 'endpoints' | 'connections'>> {
    const endpoints = await this.#tx
      .selectFrom('channel_endpoints')
      .selectAll()
      .where('environment_id', '=', this.#environmentId)
      .where('subscriber_id', 'in', ['', ...subscribers.map(({ subscriber_id }) => subscriber_id)])
      .where('channel', '=', 'chat')
      .orderBy('id')
      .limit(limits.runs)
      .execute()
    const named = [...new Set(endpoints.flatMap(({ connection_identifier }) => connection_identifier ?? []))]
    const connections = await this.#tx
      .selectFrom('channel_connections')
      .selectAll()
      .where('environment_id', '=', this.#environmentId)
      .where('identifier', 'in', ['', ...named])
      .execute()
    return { endpoints, connections }
  }

  async #tenants(): Promise<Snapshot['tenants']> {
    const names = this.#requests.flatMap(({ tenant }) => tenant?.identifier ?? [])
    if (names.length === 0) return []
    return this.#all<Snapshot['tenants'][number]>(sql`
      SELECT t.identifier, t.name, t.data, o.overrides, coalesce(o.active, '{}') AS active
      FROM tenants t CROSS JOIN LATERAL (
        SELECT json_object_agg(o.workflow_id, o.channels) FILTER (WHERE o.channels <> '{}') AS overrides,
               json_object_agg(o.workflow_id, o.active) AS active
        FROM workflow_overrides o WHERE o.environment_id = t.environment_id AND o.tenant_id = t.id) o
      WHERE t.environment_id = ${this.#environmentId} AND t.identifier = ANY (${names}::text[])`)
  }

  async #contexts(): Promise<Snapshot['contexts']> {
    const named = this.#requests.flatMap(({ context }) =>
      Object.entries(context ?? {}).map(([type, value]) => ({
        type,
        id: typeof value === 'string' ? value : String((value as { id?: unknown }).id),
      })),
    )
    if (named.length === 0) return []
    return this.#all<Snapshot['contexts'][number]>(sql`
      SELECT type, context_id, data FROM contexts
      WHERE environment_id = ${this.#environmentId} AND (type, context_id) IN (
        SELECT * FROM unnest(${named.map(({ type }) => type)}::text[], ${named.map(({ id }) => id)}::text[]))`)
  }

  async #translations(workflows: WorkflowVersion[], layouts: LayoutRow[]): Promise<Snapshot['translations']> {
    const ids = [...workflows, ...layouts].filter((each) => each.is_translation_enabled).map(({ id }) => id)
    if (ids.length === 0) return {}
    const rows = await this.#all<{ name: string; default_locale: string; locales: TranslationGroup['locales'] }>(sql`
      SELECT t.resource_type || ' ' || t.resource_row_id AS name, o.default_locale, json_object_agg(t.locale, t.content) AS locales
      FROM translations t JOIN environments e ON e.id = t.environment_id JOIN organizations o ON o.id = e.organization_id
      WHERE t.environment_id = ${this.#environmentId} AND t.resource_row_id = ANY (${ids}::text[])
      GROUP BY 1, 2`)
    return Object.fromEntries(
      rows.map(({ name, default_locale: defaultLocale, locales }) => [name, { defaultLocale, locales }]),
    )
  }

  #people(): string[] {
    const { inputs, subscribers, topics } = this.#scenario
    return [
      ...this.#asked,
      ...this.#started,
      ...subscribers.map(({ subscriberId }) => subscriberId),
      ...topics.flatMap(({ subscriberIds }) => subscriberIds),
      ...inputs.flatMap((input) => ('subscriberId' in input ? (input.subscriberId ?? []) : [])),
      ...this.#requests.flatMap(({ recipients, actor }) => [
        ...(recipients ?? []).flatMap((each) => ('subscriberId' in each ? [String(each.subscriberId)] : [])),
        ...(actor ? [actor.subscriberId] : []),
      ]),
    ]
  }
}

/** What the chains of these workflows name. */
function chainsIn(workflows: WorkflowVersion[]): Record<'topicKeys' | 'rotaIds' | 'subscriberIds', string[]> {
  const levels = workflows.flatMap(({ steps }) =>
    allSteps(steps).flatMap(({ type, controlValues }) =>
      type === 'ask' && Array.isArray(controlValues?.chain)
        ? (controlValues.chain as Array<Record<string, unknown>>)
        : [],
    ),
  )
  const named = (name: string) =>
    levels.flatMap((level) => [level?.[name]].flat().filter((each): each is string => typeof each === 'string'))
  return {
    topicKeys: named('topicKey'),
    rotaIds: named('rota'),
    subscriberIds: [...named('subscriberId'), ...named('subscriberIds')],
  }
}

const mostWorkflows = 1_000
const longestId = 255

/** The values of every step that starts a workflow. */
export const startsIn = (workflows: WorkflowVersion[]): Array<Record<string, unknown>> =>
  workflows
    .flatMap(({ steps }) => allSteps(steps).filter(({ type }) => type === 'start_workflow'))
    .map(({ controlValues }) => controlValues ?? {})

/** Longer ones are no addresses. */
const longestAddress = 4_096

/** Every text in a value: overrides name addresses in several places. */
function textsDeepIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length > longestAddress ? [] : [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsDeepIn) : []
}
