// Previews one step of a workflow with example data. Nothing is sent or stored.
import type { Db } from '../../db/core/database.ts'
import { type EnvironmentAccess, envOf } from '../../db/core/environment-access.ts'
import { type LayoutRow, layoutOfStep } from '../../db/queries/layouts.ts'
import { loadTranslations, type TranslatedType } from '../../db/queries/translations.ts'
import type { WorkflowRow, WorkflowStep } from '../../db/queries/workflows.ts'
import { readDocument } from '../../render/blocks.ts'
import type { EmailLayout } from '../../render/email.ts'
import { RenderError } from '../../render/limits.ts'
import { compileTemplate, type Situation, situation } from '../../render/liquid.ts'
import { noTranslations, type Translator, translatorFor } from '../../render/translations.ts'
import { renderValues } from '../../render/values.ts'
import { usedPaths, variablesOfSteps } from '../../steps/check/inspect.ts'
import { type ControlValues, type StepKind, type StepType, withoutNulls } from '../../steps/contract/kind.ts'
import { mapSteps, placeOf } from '../../steps/contract/tree.ts'
import { linkNames } from '../../steps/delivery/consent-links.ts'
import { compileOwnSchema } from '../../steps/json-schema/json-schema.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { type Bridge, BridgeError, type BridgeEvent, targetIn } from '../core/bridge.ts'
import { type PreviewError, previewError } from './preview-error.ts'
import { type PreviewData, type PreviewPayload, previewData } from './preview-example.ts'

export interface Surroundings {
  db: Db
  bridge: Bridge
  /** The branding of emails, from `brandingOf`. */
  branding: string
  /** Where links in messages lead. */
  linkBase: string
  access: EnvironmentAccess
  now: Date
}

interface Previewed {
  workflow: WorkflowRow
  step: WorkflowStep
  /** Instead of the stored ones. */
  controlValues?: ControlValues | null | undefined
  previewPayload?: PreviewPayload | undefined
}

export interface StepPreview {
  type: string
  /** Empty if it could not be made. */
  preview: Record<string, unknown>
  /** Why not. */
  error?: PreviewError
  data: PreviewData
  /** The variables that the step can use. */
  schema: JsonSchema
}

export async function previewStep(surroundings: Surroundings, previewed: Previewed): Promise<StepPreview> {
  const { access, now } = surroundings
  const { workflow, step, controlValues = step.controlValues, previewPayload = {} } = previewed
  const values = controlValues ?? {}
  const data = dataFor(access, { workflow, step, values, given: previewPayload, now })
  const task = { workflow, step, values, data }
  const isCode = workflow.origin === 'external'
  const rendered = isCode
    ? await previewByBridge(surroundings, task)
    : await previewHere(surroundings, task, new Texts(surroundings.db, access.id, workflow))
  return { type: step.type, ...rendered, data, schema: schemaFor(access, task) }
}

/** The workflow as if the values were stored. */
const withValues = ({ workflow, step, values }: Pick<Task, 'workflow' | 'step' | 'values'>): WorkflowRow => ({
  ...workflow,
  steps: mapSteps(workflow.steps, (each) => (each._id === step._id ? { ...each, controlValues: values } : each)),
})

interface Example extends Pick<Task, 'workflow' | 'step' | 'values'> {
  given: PreviewPayload
  now: Date
  isExact?: boolean
}

/** An example of everything the step can read, without secrets. */
export function dataFor(access: EnvironmentAccess, { given, now, isExact = false, ...task }: Example): PreviewData {
  const { workflow, step } = task
  return previewData(given, {
    payloadSchema: workflow.payload_schema,
    used: usedPaths(withValues(task)),
    previous: stepsBefore(workflow, step),
    env: envOf(access, { showSecrets: false }),
    now,
    isExact,
  })
}

const stepsBefore = ({ steps }: WorkflowRow, step: WorkflowStep) => placeOf(steps, step._id)?.earlier ?? []

function schemaFor({ variables }: EnvironmentAccess, task: Task): JsonSchema {
  const envKeys = variables.map(({ key }) => key)
  return variablesOfSteps(withValues(task), envKeys).get(task.step._id) ?? {}
}

interface Task {
  workflow: WorkflowRow
  step: WorkflowStep
  values: ControlValues
  data: PreviewData
}
type Rendered = Pick<StepPreview, 'preview' | 'error'>

/** What the data of a preview means to templates and conditions. */
export const situationFor = (
  { workflow, step, data }: Pick<Task, 'workflow' | 'step' | 'data'>,
  now: Date,
  linkBase: string,
): Situation => {
  const own = stepKinds[step.type as StepType]?.ownVariables?.of(data.steps)
  const links = Object.fromEntries(Object.keys(linkNames).map((name) => [name, `${linkBase}/l/preview`]))
  return situation({ ...data, ...own, ...links, workflow: workflowVariables(workflow) }, now)
}

/** The translations and layouts that a message is rendered with. */
export interface TextSource {
  translator(locale: string | null): Promise<Translator>
  /** Null for none. A missing one is a `RenderError`. */
  layout(layoutId: unknown, locale: string | null): Promise<EmailLayout | null>
}

export async function previewHere(
  { access, now, ...more }: Pick<Surroundings, 'access' | 'now' | 'branding' | 'linkBase'>,
  task: Task,
  texts: TextSource,
): Promise<Rendered> {
  const { step, values, data } = task
  const kind = stepKinds[step.type as StepType] as StepKind | undefined
  if (!kind) return { preview: {} }
  const normal = presentable(kind, values)
  const of = situationFor(task, now, more.linkBase)
  const locale = typeof data.subscriber.locale === 'string' ? data.subscriber.locale : null
  try {
    const translator = await texts.translator(locale)
    const layout = kind.usesLayout ? await texts.layout(normal.layoutId, locale) : null
    const branding = access.hasBranding ? more.branding : null
    const preview =
      kind.preview?.(normal, { of, translator, layout, branding }) ?? filledIn(kind, normal, of, translator)
    return { preview }
  } catch (error) {
    if (error instanceof RenderError) return { preview: {}, error: previewError(error) }
    throw error
  }
}

const workflowVariables = ({ identifier, name, description, tags, severity }: WorkflowRow) => ({
  workflowId: identifier,
  name,
  description,
  tags,
  severity,
})

/** Renders the values' templates; the condition decides whether the step runs, and is not shown. */
function filledIn(kind: StepKind, values: ControlValues, of: Situation, translator: Translator): ControlValues {
  const { skip: _, ...shown } = values
  const isLiteral = ([name]: [string, unknown]) => kind.literals?.includes(name) ?? false
  const members = Object.entries(shown)
  const templates = Object.fromEntries(members.filter((member) => !isLiteral(member)))
  const rendered = renderValues(templates, of, translator)
  return { ...rendered, ...Object.fromEntries(members.filter(isLiteral)) }
}

/** The translations of a workflow and the layouts of its steps, each read once. */
export class Texts implements TextSource {
  readonly #known = new Map<string, Promise<unknown>>()
  readonly #db: Db
  readonly #environmentId: string
  readonly #workflow: WorkflowRow

  constructor(db: Db, environmentId: string, workflow: WorkflowRow) {
    this.#db = db
    this.#environmentId = environmentId
    this.#workflow = workflow
  }

  translator(locale: string | null): Promise<Translator> {
    return this.#once('translator', () =>
      translatorOf(this.#db, this.#environmentId, 'workflow', this.#workflow, locale),
    )
  }

  layout(layoutId: unknown, locale: string | null): Promise<EmailLayout | null> {
    return this.#once(`layout ${JSON.stringify(layoutId)}`, () =>
      layoutFor(this.#db, this.#environmentId, layoutId, locale),
    )
  }

  #once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const known = (this.#known.get(name) as Promise<T> | undefined) ?? read()
    this.#known.set(name, known)
    return known
  }
}

async function translatorOf(
  db: Db,
  environmentId: string,
  resourceType: TranslatedType,
  { id, is_translation_enabled }: Pick<WorkflowRow, 'id' | 'is_translation_enabled'>,
  locale: string | null,
): Promise<Translator> {
  if (!is_translation_enabled) return noTranslations
  return translatorFor(await loadTranslations(db, { environmentId, resourceType, resourceRowId: id }, locale), locale)
}

export const missingLayout = (layoutId: unknown) =>
  new RenderError('layout_missing', `There is no layout "${String(layoutId).slice(0, 100)}"`)

async function layoutFor(
  db: Db,
  environmentId: string,
  layoutId: unknown,
  locale: string | null,
): Promise<EmailLayout | null> {
  const found = await layoutOfStep(db, environmentId, layoutId as string | null | undefined)
  if (found === 'missing') throw missingLayout(layoutId)
  if (found === 'none' || !found.content?.email) return null
  const translator = await translatorOf(db, environmentId, 'layout', found as LayoutRow, locale)
  return { body: found.content.email.body, translator }
}

const sampleUrl = 'https://www.example.com/search?query=placeholder'
/** Replaces missing or broken values, by the name of the control; others are left out. */
const standIns = new Map<string, string>([
  ['body', ' '],
  ['subject', ''],
  ['url', sampleUrl],
  ['avatar', sampleUrl],
  ['target', '_blank'],
])

/** Replaces unusable values, so that authors still see the rest of the message. */
function presentable(kind: StepKind, given: ControlValues): ControlValues {
  const values = structuredClone(kind.normalise(given))
  const problems = compileOwnSchema(kind.variantSchema?.(values) ?? kind.dataSchema)(structuredClone(values))
  for (const { path, property } of problems) replace(values, property === undefined ? [...path] : [...path, property])
  for (const path of brokenTemplates(values)) replace(values, path)
  return values
}

function replace(values: ControlValues, path: (string | number)[]): void {
  const name = path.at(-1)
  const holder = path.slice(0, -1).reduce<unknown>((inner, key) => (inner as ControlValues | undefined)?.[key], values)
  if (name === undefined || typeof holder !== 'object' || holder === null) return
  const standIn = standIns.get(String(name))
  if (standIn !== undefined) (holder as ControlValues)[name] = standIn
  else if (!Array.isArray(holder)) delete (holder as ControlValues)[name]
}

/** Paths with unreadable Liquid. Block documents are not Liquid; their errors show when they are rendered. */
function brokenTemplates(values: ControlValues): Array<(string | number)[]> {
  const broken: Array<(string | number)[]> = []
  const look = (value: unknown, path: (string | number)[]) => {
    if (typeof value === 'string') {
      if (!isReadable(value)) broken.push(path)
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) look(member, [...path, name])
    }
  }
  const { skip: _, ...shown } = values
  look(shown, [])
  return broken
}

function isReadable(text: string): boolean {
  try {
    if (readDocument(text) === undefined) compileTemplate(text)
    return true
  } catch (error) {
    if (error instanceof RenderError) return false
    throw error
  }
}

async function previewByBridge({ bridge, access }: Surroundings, task: Task): Promise<Rendered> {
  const ids = { workflowId: task.workflow.identifier, stepId: task.step.stepId }
  try {
    const { outputs } = await bridge.preview(targetIn(access), ids, bridgeEvent(task))
    return { preview: outputs }
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error
    const hint = 'The step is written in code: make sure that the application is running and its bridge URL is synced.'
    return { preview: {}, error: { title: error.code, message: error.message, hint } }
  }
}

/** What the application receives to preview a step: every earlier one is completed with its example result. */
export function bridgeEvent({ workflow, step, values, data }: Task): BridgeEvent {
  const { payload, subscriber, context, env } = data
  const state = stepsBefore(workflow, step).map(({ stepId }) => ({
    stepId,
    outputs: data.steps[stepId] as Record<string, unknown>,
    state: { status: 'completed' },
  }))
  return { payload, controls: withoutNulls(values), state: state.reverse(), subscriber, context, env }
}
