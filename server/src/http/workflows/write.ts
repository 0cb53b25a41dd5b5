// Makes and replaces workflows: from the body of a request to what is stored.
import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import type { Tx } from '../../db/core/database.ts'
import { newId, randomLower } from '../../db/core/ids.ts'
import { refuseOwnedTexts } from '../../db/queries/definition-files.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { disableTranslations, enableTranslations } from '../../db/queries/translations.ts'
import { keepTexts } from '../../db/queries/version-texts.ts'
import type { Authorship } from '../../db/queries/versions.ts'
import { fieldsOf, saveWorkflow, type WorkflowFields, type WorkflowRow } from '../../db/queries/workflows.ts'
import { completePreferences, isCritical, type WorkflowPreferences } from '../../engine/core/preferences.ts'
import { ownOrigin } from '../../engine/definitions/content.ts'
import { openPayload } from '../../engine/definitions/workflow-definition.ts'
import { fail } from '../../errors.ts'
import { RenderError } from '../../render/limits.ts'
import { compileTemplate } from '../../render/liquid.ts'
import { checkCondition } from '../../steps/conditions/check.ts'
import { compileOwnSchema, compileSchema } from '../../steps/json-schema/json-schema.ts'
import { type JsonSchema, SchemaError } from '../../steps/json-schema/run.ts'
import { entriesSchema } from '../../steps/kinds/awaiting.ts'
import { generalError } from '../edge/validation.ts'
import {
  consentAfter,
  type JourneyInput,
  journeyAfter,
  type messageClasses,
  type PreferencesInput,
  type Severity,
  type StepInput,
  type TrackingInput,
} from './shape.ts'
import { planSteps, storedValues, withLayouts } from './steps.ts'
import { readSteps } from './tree.ts'

/** The body of a creation, but for its identifier. */
export interface WorkflowBody {
  name: string
  steps: StepInput[]
  description?: string | null | undefined
  tags?: string[] | null | undefined
  active?: boolean | null | undefined
  validatePayload?: boolean | null | undefined
  payloadSchema?: JsonSchema | null | undefined
  isTranslationEnabled?: boolean | null | undefined
  severity?: Static<typeof Severity> | null | undefined
  messageClass?: (typeof messageClasses)[number] | null | undefined
  consentCategory?: string | null | undefined
  tracking?: TrackingInput | null | undefined
  journey?: JourneyInput | null | undefined
  preferences?: Static<typeof PreferencesInput> | null | undefined
}

/** Author, environment and time of a write. */
export interface Writing {
  environmentId: string
  userId: string
  now: Date
  /** For the history. */
  by?: Authorship | undefined
}

/** Refuses what cannot be stored, and puts the steps into the form in which they are. */
export function readBody(
  body: Pick<WorkflowBody, 'steps' | 'payloadSchema' | 'journey'>,
  limits: { steps: number },
): void {
  body.steps = readSteps(body.steps, limits)
  refuseSchema(body.payloadSchema)
  refuseJourney(body.journey)
}

/** A template that cannot be read would never give a key, and a goal that says nothing would never be met. */
export function refuseJourney(journey: WorkflowBody['journey']): void {
  const problems = journeyProblems(journey)
  if (problems.length > 0) throw generalError(problems)
}

export function journeyProblems(journey: WorkflowBody['journey']): string[] {
  const names = (journey?.goals ?? []).map(({ name }) => name)
  return [
    ...unreadable('journey.cancellationKey', journey?.cancellationKey),
    ...(journey?.goals ?? []).flatMap((goal, index) => goalProblems(goal, `journey.goals.${index}`)),
    ...(new Set(names).size < names.length ? ['journey.goals must have different names'] : []),
  ]
}

function unreadable(path: string, template: string | null | undefined): string[] {
  try {
    if (template) compileTemplate(template)
    return []
  } catch (error) {
    if (error instanceof RenderError) return [`${path} ${error.message}`]
    throw error
  }
}

const checkEntries = compileOwnSchema(entriesSchema)

function goalProblems(goal: NonNullable<JourneyInput['goals']>[number], path: string): string[] {
  if (!goal.for && !goal.condition) return [`${path} must have what it waits for, or a condition`]
  const entries = goal.for ?? []
  return [
    ...(goal.for
      ? checkEntries(goal.for).map((problem) => `${path}.for.${problem.path.join('.')} ${problem.message}`)
      : []),
    ...entries.flatMap(({ key }, index) =>
      unreadable(`${path}.for.${index}.key`, typeof key === 'string' ? key : null),
    ),
    ...[goal.condition, ...entries.map(({ condition }) => condition)].flatMap((rule) =>
      rule === undefined || rule === null
        ? []
        : checkCondition(rule, () => true).map(({ message }) => `${path} condition: ${message}`),
    ),
  ]
}

/** Refuses an invalid schema on writing, not at the first trigger. */
export function refuseSchema(schema: JsonSchema | null | undefined): void {
  if (!schema) return
  try {
    compileSchema(schema)
  } catch (error) {
    if (error instanceof SchemaError)
      throw generalError([`payloadSchema must be a valid JSON schema: ${error.message}`])
    throw error
  }
}

/** Call after locking the environment, so that the limit is exact. */
export async function refuseOneTooMany(tx: Tx, environmentId: string, limit: number): Promise<void> {
  const { count } = await tx
    .selectFrom('workflows')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('environment_id', '=', environmentId)
    .executeTakeFirstOrThrow()
  if (Number(count) >= limit)
    throw fail('too_many_workflows', { limit }, { ctx: { currentCount: Number(count), limit } })
}

/** Serializes the creation of workflows in an environment, so that the limit and unique identifiers are exact. */
export async function reservePlace(tx: Tx, environmentId: string, limit: number): Promise<void> {
  await lockEnvironment(tx, environmentId)
  await refuseOneTooMany(tx, environmentId, limit)
}

const mostTries = 3

/** The wanted identifier, or with a random suffix if another workflow has it. */
export async function freeIdentifier(tx: Tx, environmentId: string, wanted: string): Promise<string> {
  for (let i = 0; i < mostTries; i += 1) {
    const identifier = i === 0 ? wanted : `${wanted}-${randomLower(8)}`
    if (!(await isTaken(tx, environmentId, identifier))) return identifier
  }
  throw fail('workflow_id_taken', { workflowId: wanted })
}

export async function isTaken(tx: Tx, environmentId: string, identifier: string): Promise<boolean> {
  const row = await tx
    .selectFrom('workflows')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('identifier', '=', identifier)
    .executeTakeFirst()
  return row !== undefined
}

/** Creates or deletes the texts when translation is turned on or off. */
export async function followSwitch(tx: Tx, row: WorkflowRow, wasEnabled: boolean): Promise<void> {
  if (row.is_translation_enabled === wasEnabled) return
  const translated = { environmentId: row.environment_id, resourceType: 'workflow', resourceRowId: row.id } as const
  if (wasEnabled) {
    await refuseOwnedTexts(tx, row.environment_id, 'workflow', [row.id])
    await disableTranslations(tx, translated)
  } else await enableTranslations(tx, translated, row.updated_at)
  await keepTexts(tx, row.environment_id, 'workflow', [row.id], { now: row.updated_at })
}

/** The caller has locked the environment, and made sure that the identifier is free. */
export async function createWorkflow(
  tx: Tx,
  writing: Writing,
  identifier: string,
  body: WorkflowBody,
): Promise<WorkflowRow> {
  const { environmentId, now } = writing
  const given = await withLayouts(tx, environmentId, storedValues(body.steps))
  const saved = await saveWorkflow(tx, { ...writing, id: newId(now) }, createdFields(identifier, body, given, now))
  await followSwitch(tx, saved, false)
  return saved
}

/** `given` are its steps after `withLayouts`. */
export const createdFields = (
  identifier: string,
  body: WorkflowBody,
  given: StepInput[],
  now: Date,
): WorkflowFields => ({
  ...wholeFields(body),
  identifier,
  origin: ownOrigin,
  data: null,
  steps: planSteps(given, [], now),
})

/** The fields of a body, with the defaults of a creation for what is absent. */
function wholeFields(body: WorkflowBody): Omit<WorkflowFields, 'identifier' | 'origin' | 'data' | 'steps'> {
  const { workflow, user } = givenPreferences(body.preferences)
  return {
    name: body.name,
    description: body.description ?? '',
    active: body.active ?? false,
    critical: isCritical({ workflow, user }),
    severity: body.severity ?? 'none',
    ...consentAfter(body),
    ...journeyAfter(body.journey),
    tags: body.tags ?? [],
    payload_schema: body.payloadSchema ?? openPayload,
    validate_payload: body.validatePayload ?? !body.payloadSchema,
    is_translation_enabled: body.isTranslationEnabled ?? false,
    preferences: workflow,
    user_preferences: user,
  }
}

/** For a stored workflow that becomes exactly what the body says. `given` are its steps after `withLayouts`. */
export function replacedFields(row: WorkflowRow, body: WorkflowBody, given: StepInput[], now: Date): WorkflowFields {
  const fields = wholeFields(body)
  return {
    ...fieldsOf(row),
    ...fields,
    ...preferenceFields(row, givenPreferences(body.preferences)),
    // No schema, and one that allows anything, are the same.
    payload_schema: !body.payloadSchema && row.payload_schema === null ? null : fields.payload_schema,
    steps: planSteps(given, row.steps, now, { isWhole: true }),
  }
}

interface GivenPreferences {
  workflow: WorkflowPreferences
  user: WorkflowPreferences | null
}

/** Answers say `default` where requests say `workflow`. */
export function givenPreferences(given: Static<typeof PreferencesInput> | null | undefined): GivenPreferences {
  const workflow = given?.workflow === undefined ? given?.default : given.workflow
  return { workflow: completePreferences(workflow), user: given?.user ? completePreferences(given.user) : null }
}

/** Preferences that mean the same stay as they are stored, and so does whether the workflow is critical. */
export function preferenceFields(
  row: WorkflowRow,
  { workflow, user }: GivenPreferences,
): Pick<WorkflowFields, 'preferences' | 'user_preferences' | 'critical'> {
  const stored = { workflow: completePreferences(row.preferences), user: row.user_preferences }
  const isSame =
    isDeepStrictEqual(stored.workflow, workflow) &&
    isDeepStrictEqual(stored.user && completePreferences(stored.user), user)
  if (isSame) return { preferences: row.preferences, user_preferences: row.user_preferences, critical: row.critical }
  return { preferences: workflow, user_preferences: user, critical: isCritical({ workflow, user }) }
}
