// Messages before and after a change, rendered for real people: what a plan, or a comparison of two versions, shows.
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../db/core/database.ts'
import type { EnvironmentAccess } from '../../db/core/environment-access.ts'
import type { LayoutRow } from '../../db/queries/layouts.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import type { TranslatedType } from '../../db/queries/translations.ts'
import type { WorkflowRow, WorkflowStep } from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import { noTranslations, type TranslationGroup, type Translator, translatorFor } from '../../render/translations.ts'
import type { StepType } from '../../steps/contract/kind.ts'
import { subscriberVariablesOf } from '../../steps/contract/step-run.ts'
import { allSteps } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { dataFor, missingLayout, previewHere, type TextSource } from './preview.ts'
import { type RenderAsked, readViewers, type Viewer } from './render-people.ts'

/** More than anybody looks at. */
const mostRenders = 200

type Members = Record<string, unknown>
type SideLayout = Pick<LayoutRow, 'id' | 'identifier' | 'is_default' | 'is_translation_enabled' | 'content'>

/** What messages are made from, on one side of a change. */
export interface Content {
  workflows: WorkflowRow[]
  layouts: SideLayout[]
  translations: Array<{ resource_type: string; resource_row_id: string; locale: string; content: Members }>
}

export interface Change {
  before: Content
  after: Content
  /** Identifiers of the workflows that change themselves. Those that use what changes are found. */
  changed: ReadonlySet<string>
}

export interface Render {
  workflowId: string
  stepId: string
  channel: string
  /** Null for the person of previews. */
  subscriberId: string | null
  /** The trigger whose data it is; null for an example. */
  transactionId: string | null
  same: boolean
  /** Null where the step does not exist, or its message cannot be rendered. */
  before: Members | null
  after: Members | null
  error: string | null
}

interface Surroundings {
  access: EnvironmentAccess
  defaultLocale: string
  branding: string
  linkBase: string
  now: Date
}

interface Pair {
  workflowId: string
  before: WorkflowRow | undefined
  after: WorkflowRow
}

/** Reads for whom, in the caller's snapshot; then renders without a database. */
export async function readRenders(
  tx: Tx,
  environmentId: string,
  change: Change,
  asked: RenderAsked,
): Promise<{ pairs: Pair[]; viewers: Viewer[] }> {
  const subscribers = await namedSubscribers(tx, environmentId, asked.subscriberIds)
  const pairs = affectedBy(change)
  // A workflow that is new has no runs; its id is only a name here.
  const ids = pairs.map(({ after }) => after.id)
  return { pairs, viewers: await readViewers(tx, environmentId, ids, { asked, subscribers, most: mostRenders }) }
}

/** In the order in which they were named. */
async function namedSubscribers(tx: Tx, environmentId: string, ids: string[]): Promise<SubscriberRow[]> {
  if (ids.length === 0) return []
  const rows = await tx
    .selectFrom('subscribers')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('subscriber_id', 'in', ids)
    .execute()
  return [...new Set(ids)].map((subscriberId) => {
    const row = rows.find(({ subscriber_id }) => subscriber_id === subscriberId)
    if (!row) throw fail('subscriber_not_found', { subscriberId })
    return row
  })
}

/** Workflows with messages that change, or whose layouts or texts do; by identifier. Code declares others, and is not called. */
function affectedBy({ before, after, changed }: Change): Pair[] {
  const known = new Map(before.workflows.map((row) => [row.identifier, row]))
  return after.workflows
    .filter((row) => row.origin !== 'external' && messageStepsOf(row).length > 0)
    .map((row) => ({ workflowId: row.identifier, before: known.get(row.identifier), after: row }))
    .filter(
      (pair) =>
        changed.has(pair.workflowId) ||
        !pair.before ||
        !isDeepStrictEqual(neededBy(pair.before, before), neededBy(pair.after, after)),
    )
    .sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1))
}

/** The texts and layouts that its messages are made with. */
function neededBy(workflow: WorkflowRow, content: Content): unknown {
  const layouts = allSteps(workflow.steps)
    .filter(({ type }) => stepKinds[type as StepType]?.usesLayout)
    .map(({ controlValues }) => layoutIn(content, controlValues?.layoutId))
  return [
    textsIn(content, 'workflow', workflow),
    ...layouts.map((layout) => layout && [layout.content, textsIn(content, 'layout', layout)]),
  ]
}

const textsIn = (
  { translations }: Content,
  type: TranslatedType,
  { id, is_translation_enabled: isTranslated }: { id: string; is_translation_enabled: boolean },
): Record<string, Members> =>
  isTranslated
    ? Object.fromEntries(
        translations
          .filter((row) => row.resource_type === type && row.resource_row_id === id)
          .map(({ locale, content }) => [locale, content]),
      )
    : {}

/** Null means none, undefined the default. @returns undefined for none and for a missing one */
function layoutIn({ layouts }: Content, layoutId: unknown): SideLayout | undefined {
  if (layoutId === null) return undefined
  if (layoutId === undefined) return layouts.find(({ is_default }) => is_default)
  return (
    layouts.find(({ identifier }) => identifier === layoutId) ?? layouts.find(({ id }) => id === layoutId) ?? undefined
  )
}

/** @returns at most 200, and whether there are more */
export async function renderChange(
  surroundings: Surroundings,
  { before, after }: Change,
  { pairs, viewers }: { pairs: Pair[]; viewers: Viewer[] },
): Promise<{ renders: Render[]; hasMore: boolean }> {
  const renders: Render[] = []
  for (const pair of pairs) {
    const sides = [pair.before && sideOf(surroundings, before, pair.before), sideOf(surroundings, after, pair.after)]
    for (const viewer of viewers.filter(({ workflowRowId }) => workflowRowId === pair.after.id))
      for (const stepId of stepIdsOf(pair)) {
        if (renders.length === mostRenders) return { renders, hasMore: true }
        // Rendering is work of the processor: others get their turn in between.
        await new Promise(setImmediate)
        const [then, now] = [await sides[0]?.(stepId, viewer), await sides[1]?.(stepId, viewer)]
        renders.push({
          ...{ workflowId: pair.workflowId, stepId, channel: now?.channel ?? then?.channel ?? '' },
          subscriberId: viewer.subscriber?.subscriber_id ?? null,
          transactionId: viewer.run?.transactionId ?? null,
          same: isDeepStrictEqual([then?.message, then?.error], [now?.message, now?.error]),
          ...{ before: then?.message ?? null, after: now?.message ?? null },
          error: now?.error ?? then?.error ?? null,
        })
      }
  }
  return { renders, hasMore: false }
}

const channelOf = ({ type }: WorkflowStep) => stepKinds[type as StepType]?.channel
const messageStepsOf = ({ steps }: WorkflowRow) => allSteps(steps).filter((step) => channelOf(step) !== undefined)

/** Those of the changed workflow in their order, then those that are gone. */
const stepIdsOf = ({ before, after }: Pair): string[] => [
  ...new Set([after, ...(before ? [before] : [])].flatMap((row) => messageStepsOf(row).map(({ stepId }) => stepId))),
]

interface Message {
  channel: string
  message: Members | undefined
  error: string | undefined
}

/** Renders messages of one side of a workflow; nothing for a step that it does not have. */
function sideOf(
  surroundings: Surroundings,
  content: Content,
  workflow: WorkflowRow,
): (stepId: string, viewer: Viewer) => Promise<Message | undefined> {
  const { access, defaultLocale, now } = surroundings
  const texts = textsFor(content, workflow, defaultLocale)
  return async (stepId, { subscriber, run }) => {
    const step = messageStepsOf(workflow).find((each) => each.stepId === stepId)
    const channel = step && channelOf(step)
    if (!step || channel === undefined) return undefined
    const values = step.controlValues ?? {}
    const given = {
      ...(subscriber ? { subscriber: subscriberVariablesOf(subscriber) } : {}),
      ...(run ? { payload: run.payload, context: run.context, steps: run.results } : {}),
    }
    const example = dataFor(access, { workflow, step, values, given, now, isExact: run !== undefined })
    const data = {
      ...example,
      ...(run ? { steps: { ...example.steps, ...run.results } } : {}),
      ...(run?.tenant ? { tenant: run.tenant } : {}),
      ...(run?.actor ? { actor: subscriberVariablesOf(run.actor) } : {}),
    }
    const { preview, error } = await previewHere(surroundings, { workflow, step, values, data }, texts)
    return { channel, message: error ? undefined : shown(channel, preview), error: error?.message }
  }
}

/** The body of an email is HTML, and says so. */
function shown(channel: string, { body, ...others }: Members): Members {
  return channel === 'email' ? { ...others, html: body } : { ...others, body }
}

/** A translator per group and language, so that compiled templates are used again. */
function textsFor(content: Content, workflow: WorkflowRow, defaultLocale: string): TextSource {
  const groups = new Map<string, TranslationGroup>()
  const translator = (
    type: TranslatedType,
    of: { id: string; is_translation_enabled: boolean },
    locale: string | null,
  ): Translator => {
    if (!of.is_translation_enabled) return noTranslations
    const key = `${type} ${of.id}`
    const group = groups.get(key) ?? { defaultLocale, locales: textsIn(content, type, of) }
    groups.set(key, group)
    return translatorFor(group, locale)
  }
  return {
    translator: async (locale) => translator('workflow', workflow, locale),
    async layout(layoutId, locale) {
      const layout = layoutIn(content, layoutId)
      if (!layout && typeof layoutId === 'string') throw missingLayout(layoutId)
      const body = layout?.content?.email?.body
      if (!layout || body === undefined) return null
      return { body, translator: translator('layout', layout, locale) }
    },
  }
}
