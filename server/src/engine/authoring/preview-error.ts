// Why a preview cannot be shown, for the author of the template.
import type { RenderError, RenderErrorCode } from '../../render/limits.ts'

export interface PreviewError {
  /** The code of a render error or of a bridge error. */
  title: string
  message: string
  hint: string
}

export const previewError = ({ code, message }: RenderError): PreviewError => ({
  title: code,
  message,
  hint: hints[code],
})

const simpler = 'Make the template shorter, or let it loop over less.'
const hints: Readonly<Record<RenderErrorCode, string>> = {
  template_syntax: 'Correct the template at the place the message names.',
  template_too_large: simpler,
  template_too_deep: simpler,
  work_limit: simpler,
  output_limit: simpler,
  filter_failed: 'Check the values that the template passes to its filters.',
  translation_missing:
    'Turn on translation for the workflow or layout, and add the text at least in its default locale.',
  invalid_document: 'Send HTML, or a document of the block editor.',
  unknown_block: 'Remove the block, or use one that the block editor offers.',
  layout_missing: 'Name a layout of this environment, or null for none.',
  not_a_list: 'Repeat over a list, or preview with a payload that has a list at this path.',
  empty_content: 'Fill in the missing content.',
}
