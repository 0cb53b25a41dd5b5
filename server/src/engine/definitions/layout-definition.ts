// A layout as files and other environments know it.
import { isDeepStrictEqual } from 'node:util'
import { type LayoutRow, plainContent } from '../../db/queries/layouts.ts'
import { withBlockText } from './definition-values.ts'
import type { Definition } from './workflow-definition.ts'

type Defined = Pick<LayoutRow, 'identifier' | 'name' | 'is_default' | 'is_translation_enabled' | 'content'>

/** Content that only shows the email is left out: it is what a new layout has. Null stands for no content. */
export function layoutDefinition(row: Defined): Definition {
  const email = row.content?.email
  const content = email ? { email: withBlockText(email) } : null
  return {
    layoutId: row.identifier,
    name: row.name,
    ...(row.is_default ? { isDefault: true } : {}),
    ...(row.is_translation_enabled ? { isTranslationEnabled: true } : {}),
    ...(isDeepStrictEqual(content, plainContent) ? {} : { controlValues: content }),
  }
}
