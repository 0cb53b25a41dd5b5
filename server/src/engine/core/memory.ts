// What this process remembers of environments: workflows, integrations, texts. Everything is tied to the environment's
// revision, which the statements that act on it compare with the database's: a stale memory is found out before it is used.
import { sql } from 'kysely'
import type { Changes } from '../../db/core/changes.ts'
import type { Db } from '../../db/core/database.ts'
import { envOf, findEnvironmentAccess } from '../../db/core/environment-access.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { listIntegrations } from '../../db/queries/integrations.ts'
import { type LayoutRow, layoutOfStep } from '../../db/queries/layouts.ts'
import { loadTranslations, type TranslatedType } from '../../db/queries/translations.ts'
import { wantedTypes } from '../../db/queries/webhook-events.ts'
import type { WorkflowFields, WorkflowRow } from '../../db/queries/workflows.ts'
import { noTranslations, type TranslationGroup, type Translator, translatorFor } from '../../render/translations.ts'
import type { EnvironmentFacts } from '../../steps/contract/step-run.ts'

/** A workflow as it was at one version. */
export interface WorkflowVersion extends WorkflowFields {
  id: string
  version: number
  /** The application that described it, where it is none of those stored. */
  bridge_url?: string
}

interface Surroundings {
  db: Db
  secrets: Secrets
  changes: Changes
}

/** Environments that were used lately; beyond this many the one not used for longest is forgotten. */
const mostEnvironments = 500
/** Of one environment: all its workflows and layouts with their versions and languages, unless somebody has very many. */
const mostLoaded = 5_000

/** What is shorter stands in many a text that has nothing to do with it. */
const shortestSecret = 6

export class Memory {
  readonly #surroundings: Surroundings
  readonly #environments = new Map<string, Promise<RememberedEnvironment | undefined>>()
  /** The one that was used last. */
  #latest: Promise<RememberedEnvironment | undefined> | undefined

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    const { changes } = surroundings
    for (const subject of ['workflows', 'integrations', 'layouts', 'api_keys', 'webhook_endpoints'] as const)
      changes.on(subject, (environmentId) => this.forget(environmentId))
    changes.onLoss(() => this.#environments.clear())
  }

  /** As last seen; undefined where there is no such environment (any more). */
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
    // Neither a failure nor an absence is remembered.
    const forget = () => this.#environments.get(environmentId) === loading && this.forget(environmentId)
    void loading.then((environment) => environment === undefined && forget(), forget)
    for (const oldest of this.#environments.keys()) {
      if (this.#environments.size <= mostEnvironments) break
      this.#environments.delete(oldest)
    }
    return loading
  }

  /** As it was at this revision or later. */
  async recallAt(environmentId: string, revision: string): Promise<RememberedEnvironment | undefined> {
    const known = await this.recall(environmentId)
    if (!known || known.revision === revision || BigInt(known.revision) > BigInt(revision)) return known
    this.forget(environmentId)
    return this.recall(environmentId)
  }

  forget(environmentId: string): void {
    this.#environments.delete(environmentId)
  }

  async #load(environmentId: string): Promise<RememberedEnvironment | undefined> {
    const { db, secrets } = this.#surroundings
    // The revision first: what is read after it may be newer than it says, but never older.
    const { rows } = await sql<{
      revision: string
      organization_id: string
      identifier: string
      remove_branding: boolean
      dns: EnvironmentFacts['dns']
    }>`
      SELECT coalesce(r.revision, 0)::text AS revision, e.organization_id, e.identifier, o.remove_branding, e.dns
      FROM environments e JOIN organizations o ON o.id = e.organization_id
      LEFT JOIN environment_revisions r ON r.environment_id = e.id
      WHERE e.id = ${environmentId}`.execute(db)
    const [row] = rows
    const [access, integrations, webhooks] = await Promise.all([
      findEnvironmentAccess(db, secrets, environmentId),
      listIntegrations(db, environmentId, { onlyActive: true }),
      wantedTypes(db, environmentId),
    ])
    if (!row || !access) return undefined
    const facts: EnvironmentFacts = {
      id: environmentId,
      organizationId: row.organization_id,
      type: access.type,
      apiKey: access.apiKey,
      bridgeUrl: access.bridgeUrl,
      env: envOf(access, { showSecrets: true }),
      secretValues: access.variables
        .filter(({ isSecret, value }) => isSecret && value.length >= shortestSecret)
        .map(({ value }) => value),
      dns: row.dns,
      integrations,
      webhooks,
    }
    return new RememberedEnvironment(db, row.revision, facts, { hasBranding: !row.remove_branding })
  }
}

/** One environment at one revision. What is not asked for is not loaded. */
export class RememberedEnvironment {
  readonly revision: string
  readonly facts: EnvironmentFacts
  readonly hasBranding: boolean
  readonly #db: Db
  readonly #loaded = new Map<string, Promise<unknown>>()

  constructor(db: Db, revision: string, facts: EnvironmentFacts, { hasBranding }: { hasBranding: boolean }) {
    this.#db = db
    this.revision = revision
    this.facts = facts
    this.hasBranding = hasBranding
  }

  workflow(identifier: string): Promise<WorkflowRow | undefined> {
    return this.#once(`workflow ${identifier}`, () => this.#findWorkflow('identifier', identifier))
  }

  workflowById(id: string): Promise<WorkflowRow | undefined> {
    return this.#once(`workflow by id ${id}`, () => this.#findWorkflow('id', id))
  }

  /**
   * The steps, and what is in them, are those of the version a run was started with. Who wants the workflow is asked when
   * they run.
   */
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
      if (!then || !current) return then
      const { preferences, user_preferences, critical } = current
      return { ...then, preferences, user_preferences, critical }
    })
  }

  layout(layoutId: string | null | undefined): Promise<LayoutRow | 'none' | 'missing'> {
    return this.#once(`layout ${JSON.stringify(layoutId)}`, () => layoutOfStep(this.#db, this.facts.id, layoutId))
  }

  async translator(
    resourceType: TranslatedType,
    { id, is_translation_enabled }: { id: string; is_translation_enabled: boolean },
    locale: string | null,
  ): Promise<Translator> {
    if (!is_translation_enabled) return noTranslations
    const group = await this.#once<TranslationGroup>(`translations ${resourceType} ${id} ${locale}`, () =>
      loadTranslations(this.#db, { environmentId: this.facts.id, resourceType, resourceRowId: id }, locale),
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
    // Neither a failure nor an absence is remembered: callers can name what does not exist in any number of ways.
    const forget = () => this.#loaded.get(key) === loading && this.#loaded.delete(key)
    void loading.then((found) => found === undefined && forget(), forget)
    return loading
  }
}
