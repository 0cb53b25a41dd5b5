// Composes runs: new ones before their first step, and what existing ones are given anew whenever they go on. Nothing here does
// I/O.
import type { Selectable } from 'kysely'
import { type ChannelChoices, type EventTable, liveMark, type RunTopic } from '../../db/core/tables.ts'
import type { RecipientPreferences } from '../../db/queries/preferences.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import type { AskedPerson } from '../../steps/contract/question.ts'
import type { EnvironmentFacts, EventFacts, RunFacts } from '../../steps/contract/step-run.ts'
import { stepsIn } from '../../steps/contract/tree.ts'
import type { RememberedEnvironment, WorkflowVersion } from '../core/memory.ts'
import { isCriticalWorkflow, type JobState, newJob, noEffects, type RunState, resultOf } from './run-state.ts'

export type EventRow = Selectable<EventTable>

export interface StoredPreference {
  workflow_id: string | null
  context_keys: string[]
  channels: ChannelChoices
  schedule: Record<string, unknown> | null
}

export type RecipientRow = SubscriberRow & { preferences: StoredPreference[] | null }

/** A trigger's own data and what it refers to, ready for all its runs. */
export interface PreparedEvent {
  row: EventRow
  facts: EventFacts
  contextKeys: string[]
  environment: Pick<RememberedEnvironment, 'facts' | 'translator'> & Partial<Pick<RememberedEnvironment, 'shadow'>>
  definition: WorkflowVersion
}

/** The environment as the runs of a trigger see it. In front of another service, what was passed on is not delivered here too. */
export const environmentOf = (
  { facts, shadow }: PreparedEvent['environment'],
  { overrides }: Pick<EventFacts, 'overrides'>,
): EnvironmentFacts => (shadow && overrides[liveMark] !== true ? shadow.mirrored : facts)

/** The preferences that apply to one workflow in one set of contexts. */
export function preferencesFor(
  all: StoredPreference[] | null,
  workflowId: string,
  contextKeys: string[],
): RecipientPreferences | undefined {
  const own = all?.filter(({ context_keys }) => sameKeys(context_keys, contextKeys)) ?? []
  const general = own.find(({ workflow_id }) => workflow_id === null)
  const specific = own.find(({ workflow_id }) => workflow_id === workflowId)
  if (!general && !specific) return undefined
  return { global: general?.channels, workflow: specific?.channels, schedule: general?.schedule ?? null }
}

export const sameKeys = (a: string[], b: string[]) => a.length === b.length && a.every((key, index) => key === b[index])

interface Begun {
  now: Date
  /** Makes the ids of the run, its steps and its messages. */
  newId: RunFacts['newId']
  topics?: RunTopic[] | null
}

/** A run before its first step. */
export async function newRun(
  prepared: PreparedEvent,
  recipient: RecipientRow,
  { now, newId, topics = null }: Begun,
): Promise<RunState> {
  const { definition, environment, facts, contextKeys } = prepared
  const severity = facts.overrides.severity
  return {
    id: newId(now),
    transactionId: prepared.row.transaction_id,
    contextKeys,
    severity: severities.has(severity) ? String(severity) : definition.severity,
    critical: isCriticalWorkflow(definition),
    event: facts,
    subscriber: recipient,
    workflow: definition,
    contentOf: definition,
    environment: environmentOf(environment, facts),
    translator: await environment.translator('workflow', definition, recipient.locale),
    results: {},
    newId,
    definition,
    preferences: preferencesFor(recipient.preferences, definition.id, contextKeys),
    topics,
    people: new Map(),
    translatorFor: (locale) => environment.translator('workflow', definition, locale),
    status: 'processing',
    digestedInto: null,
    goals: null,
    jobs: stepsIn(definition.steps).map(({ step, position }) => newJob(step, position, { now, newId })),
    createdAt: now,
    isNew: true,
    isPartial: false,
    effects: noEffects(),
  }
}

/** Somebody whom a run asks, with what their copies obey. */
export const personOf = async (run: RunState, { preferences, ...subscriber }: RecipientRow): Promise<AskedPerson> => ({
  subscriber,
  preferences: preferencesFor(preferences, run.workflow.id, run.contextKeys),
  translator: await run.translatorFor(subscriber.locale),
})

const severities: ReadonlySet<unknown> = new Set(['high', 'medium', 'low', 'none'])

export const isActive = ({ active }: Pick<WorkflowStep, 'active'>) => active !== false

/** The keys of a trigger's contexts, in the form that rows have. */
export const contextKeysOf = (context: Record<string, unknown> | null): string[] =>
  Object.entries(context ?? {})
    .map(([type, value]) => `${type}:${contextIdOf(value)}`)
    .sort()

export const contextIdOf = (value: unknown) =>
  typeof value === 'string' ? value : String((value as { id?: unknown } | null)?.id ?? '')

/** A tenant, and the channels it has set, by workflow. */
export type TenantRow = NonNullable<EventFacts['tenant']> & { overrides: Record<string, ChannelChoices> | null }

/** What a trigger refers to, as it is now. */
export interface References {
  actor: SubscriberRow | undefined
  tenant: TenantRow | undefined
  contextData(type: string, id: string): object | undefined
}

/** A trigger as its runs see it. */
export const factsFrom = (event: EventRow, { actor, tenant, contextData }: References): EventFacts => ({
  id: event.id,
  payload: event.payload,
  overrides: event.overrides,
  actor,
  tenant: tenant && { identifier: tenant.identifier, name: tenant.name ?? null, data: tenant.data ?? null },
  tenantChannels: tenant?.overrides?.[event.workflow_id],
  tenantIdentifier: event.tenant ? String(event.tenant.identifier) : undefined,
  context: Object.fromEntries(
    Object.entries(event.context ?? {}).map(([type, value]) => {
      const id = contextIdOf(value)
      return [type, { id, data: contextData(type, id) ?? {} }]
    }),
  ),
  createdAt: event.created_at,
  trace: event.trace ?? null,
  startedBy: event.started_by ?? undefined,
})

export function resultsOf(jobs: JobState[]): Record<string, unknown> {
  const results: Record<string, unknown> = {}
  for (const job of jobs)
    if (job.status !== 'pending' && job.status !== 'merged' && !job.asked) results[job.step.stepId] = resultOf(job)
  return results
}

/** A run as it would be read back now that it is stored, for a call of one of its steps. A copy of a question needs no others. */
export function asStored(run: RunState, of: number): RunState {
  const isCopy = run.jobs.some(({ asked, position }) => asked && position === of)
  const jobs = isCopy ? run.jobs.filter(({ asked, position }) => !asked || position === of) : run.jobs
  return {
    ...run,
    results: resultsOf(run.jobs),
    jobs: jobs.map((job) => ({ ...job, storedDetails: job.details.length, isChanged: false, isNew: false })),
    isNew: false,
    effects: noEffects(),
  }
}

/** A message's state for later steps, with dates in ISO form as everywhere else. */
export function isoDates(seen: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  if (!seen) return undefined
  const iso = (value: unknown) => (typeof value === 'string' ? new Date(value).toISOString() : null)
  return { ...seen, lastSeenDate: iso(seen.lastSeenDate), lastReadDate: iso(seen.lastReadDate) }
}
