// Brings back a version of a workflow or layout, with its texts; also of one that was deleted.
import type { Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { refuseOwned } from '../../db/queries/definition-files.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { findLayout, type LayoutFields, layoutFieldsOf, lockLayout, saveLayout } from '../../db/queries/layouts.ts'
import { removeTexts, type TranslatedType, writeTranslations } from '../../db/queries/translations.ts'
import { keepTexts } from '../../db/queries/version-texts.ts'
import type { Authorship, VersionContent } from '../../db/queries/versions.ts'
import {
  fieldsOf,
  findWorkflow,
  lockWorkflow,
  saveWorkflow,
  type WorkflowFields,
  type WorkflowRow,
  type WorkflowStep,
} from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import { allSteps, mapSteps } from '../../steps/contract/tree.ts'
import { refuseOneTooMany, showLayout, switchTranslation } from '../content/layouts.ts'
import type { Services } from '../edge/resource.ts'
import { type StepInput, showWorkflow } from '../workflows/shape.ts'
import { withLayouts } from '../workflows/steps.ts'
import { followSwitch, reservePlace } from '../workflows/write.ts'

/** A workflow or layout, or what is left of a deleted one. */
export interface Found {
  id: string
  identifier: string
  version: number
  isDeleted?: boolean
}

export const workflowIn = ({ definition, payload_schema }: VersionContent): WorkflowFields => {
  const fields = definition as unknown as WorkflowFields
  return payload_schema === null ? fields : { ...fields, payload_schema }
}

export interface Restoring {
  environmentId: string
  userId: string
  now: Date
  by: Authorship
}
type Restored = { version: number; shown: () => Promise<{ revision: string }> }

/** Identifier and origin stay; steps are matched by `stepId` and `type`. A deleted one is made anew, and goes on with its history. */
export async function restoreWorkflow(
  tx: Tx,
  services: Services,
  restoring: Restoring,
  { id, identifier: name, isDeleted = false }: Found,
  content: VersionContent,
): Promise<Restored> {
  const { environmentId, now } = restoring
  const then = workflowIn(content)
  if (isDeleted) {
    await reservePlace(tx, environmentId, services.config.limits.workflows)
    if (await findWorkflow(tx, environmentId, name)) throw fail('workflow_exists', { workflowId: name })
    await withLayouts(tx, environmentId, then.steps as unknown as StepInput[])
    const made = await saveWorkflow(
      tx,
      { ...restoring, id: newId(now) },
      { ...withoutRowMembers(then), identifier: name },
    )
    await followSwitch(tx, made, false)
    const version = await restoreTexts(tx, restoring, 'workflow', made, content)
    return { version, shown: () => showWorkflow(services, { ...made, version }) }
  }
  // Layouts are locked before workflows everywhere. A layout that is gone by now is refused.
  await withLayouts(tx, environmentId, then.steps as unknown as StepInput[])
  const row = await lockWorkflow(tx, environmentId, id)
  if (!row) throw fail('workflow_not_found')
  const { identifier, origin, data } = row
  const fields = { ...fieldsOf(row), ...withoutRowMembers(then), identifier, origin, data, steps: matched(then, row) }
  const saved = await saveWorkflow(tx, { ...restoring, id }, fields)
  await followSwitch(tx, saved, row.is_translation_enabled)
  const version = await restoreTexts(tx, restoring, 'workflow', saved, content)
  return { version, shown: () => showWorkflow(services, { ...saved, version }) }
}

/** Its texts become those of the version, if it holds them. @returns the current version afterwards */
async function restoreTexts(
  tx: Tx,
  { environmentId, now, by }: Restoring,
  resourceType: TranslatedType,
  { id, is_translation_enabled }: { id: string; is_translation_enabled: boolean },
  { translations }: VersionContent,
): Promise<number> {
  if (translations !== null && is_translation_enabled) {
    const there = await tx
      .selectFrom('translations')
      .select(['locale', 'content'])
      .where('environment_id', '=', environmentId)
      .where('resource_type', '=', resourceType)
      .where('resource_row_id', '=', id)
      .execute()
    // The order of texts is part of them.
    const before = new Map(there.map(({ locale, content }) => [locale, JSON.stringify(content)]))
    const gone = there.filter(
      ({ locale, content }) => Object.keys(content).length > 0 && !Object.hasOwn(translations, locale),
    )
    const texts = Object.entries(translations)
      .filter(([locale, content]) => before.get(locale) !== JSON.stringify(content))
      .map(([locale, content]) => ({ resourceType, resourceRowId: id, locale, content }))
    const changed = [...gone, ...texts].map(({ locale }) => locale)
    await refuseOwned(tx, environmentId, 'translation', changed)
    if (texts.length > 0) await writeTranslations(tx, environmentId, texts, now)
    await removeTexts(
      tx,
      environmentId,
      gone.map(({ locale }) => ({ resourceType, resourceRowId: id, locale })),
      now,
    )
  }
  await keepTexts(tx, environmentId, resourceType, [id], { now, by })
  const { version } = await tx
    .selectFrom(resourceType === 'workflow' ? 'workflows' : 'layouts')
    .select('version')
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return version
}

/** Version rows also hold the id and the version. */
function withoutRowMembers(fields: WorkflowFields): WorkflowFields {
  const { id: _, version: __, ...rest } = fields as WorkflowFields & { id?: string; version?: number }
  return rest
}

/** A step that exists by its `stepId` keeps its id; one that is gone comes back with the id it had. */
function matched({ steps }: WorkflowFields, row: WorkflowRow): WorkflowStep[] {
  const there = allSteps(row.steps)
  return mapSteps(steps, (step) => {
    const now = there.find(({ stepId, type }) => stepId === step.stepId && type === step.type)
    return { ...step, _id: now?._id ?? step._id }
  })
}

/** Whether it is the default belongs to the environment, and stays. */
export async function restoreLayout(
  tx: Tx,
  services: Services,
  restoring: Restoring,
  { id, identifier, isDeleted = false }: Found,
  content: VersionContent,
): Promise<Restored> {
  const { environmentId, now } = restoring
  const { name, is_translation_enabled, content: email } = content.definition as unknown as LayoutFields
  if (isDeleted) {
    await lockEnvironment(tx, environmentId)
    await refuseOneTooMany(tx, environmentId, services.config.limits.layouts)
    if (await findLayout(tx, environmentId, { identifier })) throw fail('layout_exists', { layoutId: identifier })
    const made = await saveLayout(
      tx,
      { ...restoring, id: newId(now) },
      { identifier, name, is_default: false, is_translation_enabled, content: email },
    )
    await switchTranslation(tx, { ...made, is_translation_enabled: false }, is_translation_enabled, now)
    const version = await restoreTexts(tx, restoring, 'layout', made, content)
    return { version, shown: () => showLayout(services, { ...made, version }) }
  }
  const row = await lockLayout(tx, environmentId, id)
  if (!row) throw fail('layout_not_found')
  await switchTranslation(tx, row, is_translation_enabled, restoring.now)
  const saved = await saveLayout(
    tx,
    { ...restoring, id },
    { ...layoutFieldsOf(row), name, is_translation_enabled, content: email },
  )
  const version = await restoreTexts(tx, restoring, 'layout', saved, content)
  return { version, shown: () => showLayout(services, { ...saved, version }) }
}
