// How a layout looks around the content of an email, with example data.
import type { Db } from '../../db/core/database.ts'
import { type EnvironmentAccess, envOf } from '../../db/core/environment-access.ts'
import type { LayoutRow } from '../../db/queries/layouts.ts'
import { loadTranslations } from '../../db/queries/translations.ts'
import { renderEmailHtml } from '../../render/email.ts'
import { RenderError } from '../../render/limits.ts'
import { situation } from '../../render/liquid.ts'
import { noTranslations, translatorFor } from '../../render/translations.ts'
import { type PreviewError, previewError } from './preview-error.ts'
import { type PreviewData, type PreviewPayload, previewData } from './preview-example.ts'

/** Stands for the email's content. */
const placeholder =
  '<div style="padding:24px;background-color:#f4f4f5;border:1px dashed #d4d4d8;border-radius:6px;color:#71717a;font-family:sans-serif;font-size:14px;text-align:center">The content of the email</div>'

interface Previewed {
  layout: LayoutRow
  /** The content of the editor, unchecked. */
  body: unknown
  previewPayload: Pick<PreviewPayload, 'subscriber' | 'context'>
}

export interface LayoutPreview {
  /** The template and the result. */
  source: string
  html: string
  data: Pick<PreviewData, 'subscriber' | 'context'>
}

/** Or why it cannot be rendered. */
export async function previewLayout(
  { db, access, branding, now }: { db: Db; access: EnvironmentAccess; branding: string; now: Date },
  { layout, body, previewPayload }: Previewed,
): Promise<LayoutPreview | { error: PreviewError }> {
  if (typeof body !== 'string')
    return { error: previewError(new RenderError('empty_content', 'The layout has no body')) }
  const env = envOf(access, { showSecrets: false })
  const data = previewData(previewPayload, { payloadSchema: null, used: [], previous: [], env, now })
  const { subscriber, context } = data
  const locale = typeof subscriber.locale === 'string' ? subscriber.locale : null
  const resource = { environmentId: layout.environment_id, resourceType: 'layout', resourceRowId: layout.id } as const
  const translator = layout.is_translation_enabled
    ? translatorFor(await loadTranslations(db, resource, locale), locale)
    : noTranslations
  try {
    const mark = access.hasBranding ? branding : null
    const template = { subject: '', body: placeholder, layout: { body, translator }, branding: mark }
    const html = renderEmailHtml(template, situation({ ...data }, now))
    return { source: body, html, data: { subscriber, context } }
  } catch (error) {
    if (error instanceof RenderError) return { error: previewError(error) }
    throw error
  }
}
