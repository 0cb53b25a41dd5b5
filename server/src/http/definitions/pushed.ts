// Definitions in a push: their shape, and what would be stored of them.
import { Type } from 'typebox'
import type { DefinitionKind } from '../../db/core/tables.ts'
import { type LayoutFields, type LayoutRow, plainContent } from '../../db/queries/layouts.ts'
import { isRefusable, type WorkflowFields, type WorkflowRow } from '../../db/queries/workflows.ts'
import { withBlockText } from '../../engine/definitions/definition-values.ts'
import type { Definition } from '../../engine/definitions/workflow-definition.ts'
import { RequestError } from '../../errors.ts'
import { allSteps, mapSteps } from '../../steps/contract/tree.ts'
import { allowedValues, compileOwnSchema, compileSchema } from '../../steps/json-schema/json-schema.ts'
import { type JsonSchema, SchemaError } from '../../steps/json-schema/run.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { contentIssues, variablesWith } from '../content/layout-content.ts'
import { largestContent } from '../content/translations.ts'
import { supportedLocale } from '../edge/locales.ts'
import { Body, Enum, FreeObject, Identifier, Nullable } from '../edge/schema.ts'
import { newWorkflowFields, OwnIdentifier, type StepInput, workflowFields } from '../workflows/shape.ts'
import { storedValues } from '../workflows/steps.ts'
import { messagesOf, readSteps } from '../workflows/tree.ts'
import { createdFields, journeyProblems, replacedFields, type WorkflowBody } from '../workflows/write.ts'
import { IntegrationDefinition, TopicDefinition, VariableDefinition } from './pushed-settings.ts'

export interface Problem {
  kind: DefinitionKind
  id: string
  path: string
  message: string
}
/** Reports what is wrong with one definition. */
export type Report = (path: string, message: string) => void

const fields = workflowFields('PushCommand')
const { _id: _, ...stepProperties } = fields.steps.items.properties

/** The body of a creation; files have no ids of steps, and no members that we do not know. */
const WorkflowDefinition = Body({
  workflowId: OwnIdentifier,
  name: fields.name,
  ...newWorkflowFields(fields),
  steps: Type.Array(Body(stepProperties)),
})

const LayoutDefinition = Body({
  layoutId: OwnIdentifier,
  name: Identifier(),
  isDefault: Type.Optional(Type.Boolean()),
  isTranslationEnabled: Type.Optional(Type.Boolean()),
  controlValues: Type.Optional(
    Nullable(
      Body({ email: Type.Optional(Body({ body: Type.String(), editorType: Type.Optional(Enum(['block', 'html'])) })) }),
    ),
  ),
})

const texts = Type.Record(Type.String(), FreeObject)
const TranslationDefinition = Body({ workflows: Type.Optional(texts), layouts: Type.Optional(texts) })

export const shapes: Record<DefinitionKind, { schema: JsonSchema; idIn?: string }> = {
  workflow: { schema: WorkflowDefinition as object as JsonSchema, idIn: 'workflowId' },
  layout: { schema: LayoutDefinition as object as JsonSchema, idIn: 'layoutId' },
  translation: { schema: TranslationDefinition as object as JsonSchema },
  topic: { schema: TopicDefinition as object as JsonSchema, idIn: 'key' },
  integration: { schema: IntegrationDefinition as object as JsonSchema, idIn: 'identifier' },
  variable: { schema: VariableDefinition as object as JsonSchema, idIn: 'key' },
}

/** @returns whether it has the shape of its kind */
export function checkShape(kind: DefinitionKind, id: string, definition: Definition, report: Report): boolean {
  const { schema, idIn } = shapes[kind]
  const problems = compileOwnSchema(schema)(definition)
  for (const problem of problems) {
    const { path, message, keyword, property } = problem
    const allowed = keyword === 'enum' ? allowedValues(schema, problem) : undefined
    if (keyword === 'additionalProperties' && property !== undefined)
      report([...path, property].join('.'), 'there is no such member; is it misspelled?')
    else report(path.join('.'), allowed === undefined ? message : `must be one of ${allowed}`)
  }
  if (problems.length > 0) return false
  if (idIn !== undefined && definition[idIn] !== id) report(idIn, `is not the id "${id}" under which it was sent`)
  if (kind === 'translation' && supportedLocale(id) !== id)
    report('', `"${id}" is not a supported locale, such as en_US`)
  return true
}

interface Surroundings {
  /** Identifiers of all layouts after the push. */
  layouts: ReadonlySet<string>
  limits: { steps: number }
  now: Date
}

/** What a workflow becomes; undefined if it cannot be stored. */
export function fieldsOfWorkflow(
  definition: Definition,
  row: WorkflowRow | undefined,
  { layouts, limits, now }: Surroundings,
  report: Report,
): WorkflowFields | undefined {
  const { workflowId, ...body } = definition as unknown as WorkflowBody & { workflowId: string }
  if (!readable(body, limits, report)) return undefined
  refuseSchema(body.payloadSchema, report)
  for (const problem of journeyProblems(body.journey)) report('journey', problem)
  refuseRepeated(body.steps, report)
  for (const { stepId, name: stepName, type, controlValues } of allSteps(body.steps)) {
    const layoutId = stepKinds[type].usesLayout ? controlValues?.layoutId : undefined
    if (typeof layoutId === 'string' && !layouts.has(layoutId))
      report(`steps.${stepId ?? stepName}.controlValues.layoutId`, `there is no layout "${layoutId}"`)
  }
  const compact = <T extends { controlValues?: Definition | null }>(of: T): T =>
    of.controlValues ? { ...of, controlValues: withBlockText(of.controlValues) } : of
  const given = mapSteps(storedValues(body.steps), (step) => ({
    ...compact(step),
    ...(step.variants ? { variants: step.variants.map(compact) } : {}),
  }))
  try {
    const stored = row ? replacedFields(row, body, given, now) : createdFields(workflowId, body, given, now)
    if (isRefusable(stored)) return stored
    report('messageClass', 'a critical workflow cannot be commercial: people could not refuse it')
    return undefined
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    report('steps', error.message)
    return undefined
  }
}

/** Puts the steps into the form in which they are stored. @returns whether they can be */
function readable(body: WorkflowBody, limits: { steps: number }, report: Report): boolean {
  try {
    body.steps = readSteps(body.steps, limits)
    return true
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    if (error.code === 'too_many_steps') report('steps', `has more than ${limits.steps} steps`)
    else for (const message of messagesOf(error)) report('steps', message)
    return false
  }
}

function refuseSchema(schema: JsonSchema | null | undefined, report: Report): void {
  if (!schema) return
  try {
    compileSchema(schema)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    report('payloadSchema', `must be a valid JSON schema: ${error.message}`)
  }
}

/** Elsewhere the second of two gets a random suffix; in a file that would be a surprise. */
function refuseRepeated(given: StepInput[], report: Report): void {
  const seen = new Set<string>()
  for (const { stepId } of allSteps(given)) {
    if (typeof stepId !== 'string') continue
    if (seen.has(stepId)) report(`steps.${stepId}`, 'another step has the same stepId')
    seen.add(stepId)
  }
}

/** What a layout becomes. Like elsewhere, content that cannot be shown is refused. */
export function fieldsOfLayout(definition: Definition, envKeys: string[], report: Report): LayoutFields {
  const {
    layoutId,
    name: layoutName,
    isDefault,
    isTranslationEnabled: isTranslated,
    controlValues,
  } = definition as {
    layoutId: string
    name: string
    isDefault?: boolean
    isTranslationEnabled?: boolean
    controlValues?: { email?: { body: string; editorType?: 'block' | 'html' } } | null
  }
  const email = controlValues?.email && withBlockText({ editorType: 'block' as const, ...controlValues.email })
  if (email)
    for (const { message } of contentIssues(email, variablesWith(envKeys, email.body)))
      report('controlValues.email.body', message)
  return {
    identifier: layoutId,
    name: layoutName,
    is_default: isDefault ?? false,
    is_translation_enabled: isTranslated ?? false,
    content: controlValues === undefined ? plainContent : email ? { email } : null,
  }
}

export type Texts = Record<'workflows' | 'layouts', Record<string, Definition>>

interface Translated {
  identifier: string
  is_translation_enabled: boolean
}

/** The texts of one locale, without empty ones, by identifier. Each must belong to a translated workflow or layout. */
export function textsOfLocale(
  definition: Definition,
  after: Record<'workflows' | 'layouts', ReadonlyMap<string, Translated>>,
  report: Report,
): Texts {
  const of = (list: 'workflows' | 'layouts') => {
    const given = Object.entries((definition[list] ?? {}) as Record<string, Definition>)
    const kept = given.filter(([, content]) => Object.keys(content).length > 0)
    for (const [identifier, content] of kept) {
      const path = `${list}.${identifier}`
      const resource = after[list].get(identifier)
      if (!resource) report(path, `there is no ${list.slice(0, -1)} "${identifier}"`)
      else if (!resource.is_translation_enabled)
        report(path, `"${identifier}" is not translated; say isTranslationEnabled`)
      if (JSON.stringify(content).length > largestContent) report(path, `is larger than ${largestContent} bytes`)
    }
    return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  return { workflows: of('workflows'), layouts: of('layouts') }
}

export const byIdentifier = <T extends WorkflowRow | LayoutRow>(rows: T[]): Map<string, T> =>
  new Map(rows.map((row) => [row.identifier, row]))
