// This process's cache of environments: workflows, integrations, texts. Each entry belongs to a revision of the environment.
// Statements that act on cached data compare it with the database's revision, so stale data is never used.
import { sql } from 'kysely'
import type { Changes } from '../../db/core/changes.ts'
import type { Db } from '../../db/core/database.ts'
import { envOf, findEnvironmentAccess } from '../../db/core/environment-access.ts'
import { makeAnswerLink } from '../../db/core/link-tokens.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { Brake, ConsentChoices, EnvironmentRetention, Guards, ShadowSettings } from '../../db/core/tables.ts'
import { consentOf } from '../../db/queries/consent.ts'
import { guardsOf } from '../../db/queries/guards.ts'
import { type IntegrationRow, listIntegrations } from '../../db/queries/integrations.ts'
import { layoutOfVersion, type StepLayout } from '../../db/queries/layouts.ts'
import { loadTranslations, type TranslatedType } from '../../db/queries/translations.ts'
import { wantedTypes } from '../../db/queries/webhook-events.ts'
import type { WorkflowFields, WorkflowRow } from '../../db/queries/workflows.ts'
import { noTranslations, type TranslationGroup, type Translator, translatorFor } from '../../render/translations.ts'
import type { EnvironmentFacts } from '../../steps/contract/step-run.ts'
import { sandboxOnly } from '../../steps/delivery/mirrored.ts'

/** A workflow at one version. */
export interface WorkflowVersion extends WorkflowFields {
  id: string
  version: number
  /** At this moment, not at that version. */
  brake?: Brake | null
  /** The application that described it, for a workflow that is not stored. */
  bridge_url?: string
}

/** A version with what counts as it is now: preferences, the brake, and whether people may refuse it. */
export function asOfNow(then: WorkflowVersion, current: WorkflowVersion): WorkflowVersion {
  const { preferences, user_preferences, critical, brake = null } = current
  const old = { ...then, preferences, user_preferences, critical, brake }
  // People can refuse from the moment it is commercial, whatever it was when the run began.
  if (current.message_class !== 'commercial' || then.message_class === 'commercial') return old
  const { message_class, consent_category = null } = current
  return { ...old, message_class, consent_category }
}

interface Surroundings {
  db: Db
  secrets: Secrets
  changes: Changes
  /** For links in messages. */
  publicUrl: string
  /** How long activity is kept where the environment does not say; 0 is forever. */
  activityDays: number
}

/** Environments in the cache; beyond this, the least recently used is dropped. */
const mostEnvironments = 500
/** Entries for one environment: enough for all workflows and layouts with their versions and languages, short of extremes. */
const mostLoaded = 5_000

/** Shorter values appear in many texts by coincidence. */
const shortestSecret = 6

export class Memory {
  readonly #surroundings: Surroundings
  readonly #environments = new Map<string, Promise<RememberedEnvironment | undefined>>()
  /** The most recently used. */
  #latest: Promise<RememberedEnvironment | undefined> | undefined

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    const { changes } = surroundings
    for (const subject of ['workflows', 'integrations', 'layouts', 'api_keys', 'webhook_endpoints'] as const)
      changes.on(subject, (environmentId) => this.forget(environmentId))
    changes.onLoss(() => this.#environments.clear())
  }

  /** As last seen; undefined if there is no such environment. */
  async recall(environmentId: string): Promise<RememberedEnvironment | undefined> {
    const known = this.#environments.get(environmentId)
    if (known) {
      if (known !== this.#latest) {
        this.#environments.delete(environmentId)
        this.#environments.set(environmentId, known)
        this.#latest = known
      }
      return known
    }
    const loading = this.#load(environmentId)
    this.#environments.set(environmentId, loading)
    // Failures and missing environments are not cached.
    const forget = () => this.#environments.get(environmentId) === loading && this.forget(environmentId)
    void loading.then((environment) => environment === undefined && forget(), forget)
    for (const oldest of this.#environments.keys()) {
      if (this.#environments.size <= mostEnvironments) break
      this.#environments.delete(oldest)
    }
    return loading
  }

  /** At this revision or a later one. */
  async recallAt(environmentId: string, revision: string): Promise<RememberedEnvironment | undefined> {
    const known = await this.recall(environmentId)
    if (!known || known.revision === revision || BigInt(known.revision) > BigInt(revision)) return known
    await this.forgetStale(known)
    return this.recall(environmentId)
  }

  forget(environmentId: string): void {
    this.#environments.delete(environmentId)
  }

  /** Hundreds find out at once that it is stale. Only the first of them has it loaded anew. */
  async forgetStale(stale: RememberedEnvironment): Promise<void> {
    const { id } = stale.facts
    const known = this.#environments.get(id)
    if (known && (await known) === stale && this.#environments.get(id) === known) this.forget(id)
  }

  async #load(environmentId: string): Promise<RememberedEnvironment | undefined> {
    const { db, secrets, publicUrl, activityDays } = this.#surroundings
    const linkBase = publicUrl.replace(/\/+$/, '')
    // Read the revision first: what is read after it may be newer than the revision says, never older.
    const { rows } = await sql<{
      revision: string
      organization_id: string
      identifier: string
      remove_branding: boolean
      dns: EnvironmentFacts['dns']
      consent: ConsentChoices | null
      guards: Partial<Guards> | null
      retention: EnvironmentRetention | null
      clock_seed: number | null
      shadow: ShadowSettings | null
    }>`
      SELECT coalesce(r.revision, 0)::text AS revision, e.organization_id, e.identifier, o.remove_branding, e.dns, e.consent,
             e.guards, e.retention, e.clock_seed, e.shadow
      FROM environments e JOIN organizations o ON o.id = e.organization_id
      LEFT JOIN environment_revisions r ON r.environment_id = e.id
      WHERE e.id = ${environmentId}`.execute(db)
    const [row] = rows
    const shadow = row?.shadow ?? undefined
    const [access, all, webhooks] = await Promise.all([
      findEnvironmentAccess(db, secrets, environmentId),
      listIntegrations(db, environmentId, { onlyActive: !shadow }),
      wantedTypes(db, environmentId),
    ])
    if (!row || !access) return undefined
    const facts: EnvironmentFacts = {
      id: environmentId,
      organizationId: row.organization_id,
      type: access.type,
      signing: access.signing,
      bridgeUrl: access.bridgeUrl,
      env: envOf(access, { showSecrets: true }),
      secretValues: access.variables
        .filter(({ isSecret, value }) => isSecret && value.length >= shortestSecret)
        .map(({ value }) => value),
      dns: row.dns,
      consent: consentOf(row.consent),
      guards: guardsOf(row.guards),
      activityDays: row.retention?.activityDays ?? activityDays,
      integrations: shadow ? all.filter(({ active }) => active) : all,
      webhooks,
      answerLink: (questionId, subscriberRowId) =>
        `${linkBase}/a/${makeAnswerLink(secrets, { environmentId, questionId, subscriberRowId })}`,
      ...(row.clock_seed === null ? {} : { clock: { seed: row.clock_seed } }),
      ...(shadow ? { shadow: 'live' as const } : {}),
    }
    const hasBranding = !row.remove_branding
    return new RememberedEnvironment(db, row.revision, facts, {
      hasBranding,
      shadow: shadow && shadowOf(facts, all, shadow),
    })
  }
}

/** Of an environment in front of another service. */
interface RememberedShadow {
  /** The workflows that are delivered here. */
  live: ReadonlySet<string>
  /** What runs see whose trigger was passed on: nothing of them leaves, and no webhook tells of them. */
  mirrored: EnvironmentFacts
}

const shadowOf = (facts: EnvironmentFacts, all: IntegrationRow[], { live }: ShadowSettings): RememberedShadow => ({
  live: new Set(live),
  mirrored: { ...facts, shadow: 'mirrored', integrations: sandboxOnly(facts.id, all), webhooks: new Set() },
})

/** One environment at one revision, loaded on demand. */
export class RememberedEnvironment {
  readonly revision: string
  readonly facts: EnvironmentFacts
  readonly hasBranding: boolean
  readonly shadow: RememberedShadow | undefined
  readonly #db: Db
  readonly #loaded = new Map<string, Promise<unknown>>()

  constructor(
    db: Db,
    revision: string,
    facts: EnvironmentFacts,
    { hasBranding, shadow }: { hasBranding: boolean; shadow: RememberedShadow | undefined },
  ) {
    this.#db = db
    this.revision = revision
    this.facts = facts
    this.hasBranding = hasBranding
    this.shadow = shadow
  }

  workflow(identifier: string): Promise<WorkflowRow | undefined> {
    return this.#once(`workflow ${identifier}`, () => this.#findWorkflow('identifier', identifier))
  }

  workflowById(id: string): Promise<WorkflowRow | undefined> {
    return this.#once(`workflow by id ${id}`, () => this.#findWorkflow('id', id))
  }

  /** Steps and content are those of the version that the run started with. Preferences are the current ones. */
  version(id: string, version: number): Promise<WorkflowVersion | undefined> {
    return this.#once(`version ${id} ${version}`, async () => {
      const current = await this.workflowById(id)
      if (current?.version === version) return current as WorkflowVersion
      const row = await this.#db
        .selectFrom('workflow_versions')
        .select('definition')
        .where('environment_id', '=', this.facts.id)
        .where('workflow_id', '=', id)
        .where('version', '=', version)
        .executeTakeFirst()
      const then = row?.definition as unknown as WorkflowVersion | undefined
      return then && current ? asOfNow(then, current as WorkflowVersion) : then
    })
  }

  /** For a step of this version of a workflow. */
  layout(
    layoutId: string | null | undefined,
    { id, version }: { id: string; version: number },
  ): Promise<StepLayout | 'none' | 'missing'> {
    return this.#once(`layout ${JSON.stringify(layoutId)} for ${id} ${version}`, async () => {
      const found = await layoutOfVersion(this.#db, this.facts.id, layoutId, { id, version })
      // Many workflows use the same one, and layouts are large.
      return typeof found === 'string' ? found : this.#once(`layout ${found.id} ${found.version}`, async () => found)
    })
  }

  /** For a workflow or layout at this version. */
  async translator(
    resourceType: TranslatedType,
    { id, version, is_translation_enabled }: { id: string; version: number; is_translation_enabled: boolean },
    locale: string | null,
  ): Promise<Translator> {
    if (!is_translation_enabled) return noTranslations
    const of = { environmentId: this.facts.id, resourceType, resourceRowId: id, version }
    const group = await this.#once<TranslationGroup>(`translations ${resourceType} ${id} ${version} ${locale}`, () =>
      loadTranslations(this.#db, of, locale),
    )
    return translatorFor(group, locale)
  }

  async #findWorkflow(column: 'id' | 'identifier', value: string): Promise<WorkflowRow | undefined> {
    const row = await this.#db
      .selectFrom('workflows')
      .selectAll()
      .where('environment_id', '=', this.facts.id)
      .where(column, '=', value)
      .executeTakeFirst()
    return row as WorkflowRow | undefined
  }

  #once<T>(key: string, load: () => Promise<T>): Promise<T> {
    const known = this.#loaded.get(key) as Promise<T> | undefined
    if (known) return known
    const loading = load()
    if (this.#loaded.size >= mostLoaded) this.#loaded.clear()
    this.#loaded.set(key, loading)
    // Failures and missing rows are not cached: callers can name any number of things that do not exist.
    const forget = () => this.#loaded.get(key) === loading && this.#loaded.delete(key)
    void loading.then((found) => found === undefined && forget(), forget)
    return loading
  }
}
