// What replaces a workflow: the body of a PUT, and the fields that it gives a stored one. An impact asks what they would do.
import { type Static, Type } from 'typebox'
import type { Tx } from '../../db/core/database.ts'
import { fieldsOf, type WorkflowFields, type WorkflowRow } from '../../db/queries/workflows.ts'
import { canonicalJson, revisionOf } from '../../engine/definitions/revision.ts'
import { fail } from '../../errors.ts'
import type { Brand } from '../edge/brand.ts'
import { Body, Enum } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'
import { BaseVersion } from './newer-version.ts'
import {
  consentAfter,
  journeyAfter,
  Maybe,
  origins,
  PreferencesInput,
  type StepInput,
  workflowFields,
} from './shape.ts'
import { planSteps, storedValues, withLayouts } from './steps.ts'
import { refuseInCode } from './tree.ts'
import { givenPreferences, preferenceFields } from './write.ts'

const upsert = workflowFields('UpsertWorkflowCommand', 'workflowDto')
const replaced = workflowFields('UpsertWorkflowCommand', 'workflowDto', { anyStepId: true })

export const replacementBody = (brand: Brand) =>
  Body({
    name: upsert.name,
    steps: replaced.steps,
    preferences: Type.Optional({ ...PreferencesInput, description: 'Required, except with `upsert`' }),
    origin: Type.Optional(
      Enum(
        origins.map((origin) => brand.toWire(origin)),
        { description: 'Required, except with `upsert`. Ignored: a workflow keeps its origin' },
      ),
    ),
    workflowId: Maybe(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Applied to code-first workflows only. With `upsert` it must be the one in the path',
      }),
    ),
    description: Maybe(upsert.description),
    tags: Maybe(upsert.tags),
    active: Maybe(upsert.active),
    validatePayload: Maybe(upsert.validatePayload),
    payloadSchema: Maybe(upsert.payloadSchema),
    isTranslationEnabled: Maybe(upsert.isTranslationEnabled),
    severity: Maybe(upsert.severity),
    messageClass: Maybe(upsert.messageClass),
    consentCategory: Maybe(upsert.consentCategory),
    tracking: Maybe(upsert.tracking),
    journey: Maybe(upsert.journey),
    baseVersion: BaseVersion,
  })
export type Replacement = Static<ReturnType<typeof replacementBody>>

export function refuseIncomplete({ preferences, origin }: { preferences?: unknown; origin?: unknown }): void {
  const messages = [
    ...(preferences === undefined ? ['preferences should not be null or undefined'] : []),
    ...(origin === undefined ? ['origin should not be empty'] : []),
  ]
  if (messages.length > 0) throw generalError(messages)
}

/** The steps of the body as they are stored. @param isRead nothing is written, so nothing is locked */
export async function stepsFor(
  tx: Tx,
  { origin, identifier, environment_id }: WorkflowRow,
  { steps }: Replacement,
  options?: { isRead: boolean },
): Promise<StepInput[]> {
  if (origin === 'external') refuseInCode(identifier, steps)
  return origin === 'svc-cloud' ? withLayouts(tx, environment_id, storedValues(steps), options) : steps
}

/** The identifier stays. @param given its steps, from `stepsFor` */
export const fieldsAfter = (row: WorkflowRow, body: Replacement, given: StepInput[], now: Date): WorkflowFields => ({
  ...fieldsOf(row),
  name: body.name,
  description: body.description ?? row.description,
  active: body.active ?? false,
  severity: body.severity ?? row.severity,
  ...consentAfter(body, row),
  ...journeyAfter(body.journey, row),
  tags: body.tags ?? row.tags,
  steps: planSteps(given, row.steps, now),
  payload_schema: body.payloadSchema === undefined ? row.payload_schema : body.payloadSchema,
  validate_payload: body.validatePayload ?? row.validate_payload,
  is_translation_enabled: body.isTranslationEnabled ?? row.is_translation_enabled,
  ...(body.preferences ? preferenceFields(row, givenPreferences(body.preferences)) : {}),
})

/** Stands for this draft on this version. */
export const draftToken = (
  { environment_id, id, version }: Pick<WorkflowRow, 'environment_id' | 'id' | 'version'>,
  { baseVersion: _, ...draft }: Replacement,
): string => revisionOf(['draft', environment_id, id, version, canonicalJson(draft)])

/** Refuses a draft that is not the one that was looked at, or on another version. */
export function refuseUnseen(token: string | string[] | undefined, row: WorkflowRow, body: Replacement): void {
  if (token !== undefined && token !== draftToken(row, body)) throw fail('impact_stale')
}
