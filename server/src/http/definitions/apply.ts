// Carries out a planned push, in the caller's transaction, which holds the environment's lock.
import type { Tx } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import {
  deleteDefinitionFiles,
  refuseOwned,
  refuseOwnedTexts,
  writeDefinitionFiles,
} from '../../db/queries/definition-files.ts'
import { deleteLayouts, saveLayouts } from '../../db/queries/layouts.ts'
import {
  deleteTranslations,
  enableAllTranslations,
  removeTexts,
  type TranslatedType,
  writeTranslations,
} from '../../db/queries/translations.ts'
import { keepTexts } from '../../db/queries/version-texts.ts'
import { deleteWorkflows, saveWorkflows } from '../../db/queries/workflows.ts'
import type { Writing } from '../workflows/write.ts'
import type { Writes } from './plan.ts'
import { applySettings } from './pushed-settings.ts'

export interface Source {
  repository?: string | null
  commit?: string | null
  url?: string | null
  dirty?: boolean | null
  /** The service that an importer read the definitions from. */
  importedFrom?: string | null
}

export async function applyPush(
  tx: Tx,
  { organizationId, secrets, ...writing }: Writing & { organizationId: string; secrets: Secrets },
  writes: Writes,
  source: Source,
): Promise<void> {
  const { environmentId, now } = writing
  // Importers push, too, and they are not the files that own something.
  const isPushed = !source.importedFrom
  const pushing = { ...writing, isPushed }
  if (!isPushed) await refuseOwnedBesides(tx, environmentId, writes)
  await applySettings(tx, { environmentId, organizationId, secrets, now }, writes.settings)
  await saveLayouts(tx, pushing, writes.layouts)
  await followSwitches(tx, writing, 'layout', writes.layouts)
  await saveWorkflows(tx, pushing, writes.workflows)
  await followSwitches(tx, writing, 'workflow', writes.workflows)
  if (writes.texts.length > 0) await writeTranslations(tx, environmentId, writes.texts, now)
  await removeTexts(tx, environmentId, writes.removedTexts, now)
  await deleteWorkflows(tx, environmentId, writes.deletedWorkflows, now, { isPushed })
  // No workflow uses them: the plan refuses that.
  await deleteLayouts(tx, environmentId, writes.deletedLayouts, now)
  await keepWrittenTexts(tx, writing, writes)
  const owned = isPushed ? writes.owned : []
  await writeDefinitionFiles(
    tx,
    owned.map(({ kind, id, path = null, revision }) => ({
      ...{ environment_id: environmentId, kind, id, revision, path },
      ...{ repository: source.repository ?? null, commit: source.commit ?? null, url: source.url ?? null },
      pushed_at: now,
    })),
  )
  await deleteDefinitionFiles(tx, environmentId, writes.released)
}

/** Where others than files push: saving workflows and layouts refuses owned ones by itself. */
async function refuseOwnedBesides(tx: Tx, environmentId: string, writes: Writes): Promise<void> {
  const locales = [...writes.texts, ...writes.removedTexts].map(({ locale }) => locale)
  await refuseOwned(tx, environmentId, 'translation', [...new Set(locales)])
  const gone = writes.released.filter(({ kind }) => kind === 'layout').map(({ id }) => id)
  await refuseOwned(tx, environmentId, 'layout', gone)
  for (const [type, written] of [['layout', writes.layouts] as const, ['workflow', writes.workflows] as const]) {
    const off = written.filter(({ fields, wasTranslated }) => wasTranslated && !fields.is_translation_enabled)
    await refuseOwnedTexts(
      tx,
      environmentId,
      type,
      off.map(({ id }) => id),
    )
  }
}

/** Creates or deletes the texts where translation is turned on or off. */
async function followSwitches(
  tx: Tx,
  { environmentId, now }: Writing,
  resourceType: TranslatedType,
  written: Array<{ id: string; fields: { is_translation_enabled: boolean }; wasTranslated: boolean }>,
): Promise<void> {
  const switched = (isOn: boolean) =>
    written
      .filter(({ fields, wasTranslated }) => fields.is_translation_enabled === isOn && wasTranslated !== isOn)
      .map(({ id }) => ({ resourceType, resourceRowId: id }))
  await enableAllTranslations(tx, environmentId, switched(true), now)
  const off = switched(false)
  if (off.length > 0) await deleteTranslations(tx, environmentId, off)
}

/** A change of texts is a version of what they belong to. */
async function keepWrittenTexts(tx: Tx, { environmentId, now, by }: Writing, writes: Writes): Promise<void> {
  const texts = [...writes.texts, ...writes.removedTexts]
  for (const kind of ['layout', 'workflow'] as const) {
    const written = kind === 'layout' ? writes.layouts : writes.workflows
    const own = texts.filter(({ resourceType }) => resourceType === kind).map(({ resourceRowId }) => resourceRowId)
    await keepTexts(tx, environmentId, kind, [...new Set([...own, ...written.map(({ id }) => id)])], { now, by })
  }
}
