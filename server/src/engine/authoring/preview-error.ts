// Why there is nothing to see in a preview, for whoever is still writing what it shows.
import type { RenderError, RenderErrorCode } from '../../render/limits.ts'

export interface PreviewError {
  /** A code: one of rendering, or what went wrong with an application of the user's. */
  title: string
  message: string
  hint: string
}

export const previewError = ({ code, message }: RenderError): PreviewError => ({
  title: code,
  message,
  hint: hints[code],
})

const simpler = 'Make the template shorter, or have it go through less.'
const hints: Readonly<Record<RenderErrorCode, string>> = {
  template_syntax: 'Correct the template where the message says.',
  template_too_large: simpler,
  template_too_deep: simpler,
  work_limit: simpler,
  output_limit: simpler,
  filter_failed: 'See what the filters of the template are given.',
  translation_missing:
    'Switch translation on for the workflow or layout, and write the text in its default locale at least.',
  invalid_document: 'Send HTML, or a document of the block editor.',
  unknown_block: 'Take the block out, or use one that the block editor has.',
  layout_missing: 'Name a layout of this environment, or null for none.',
  not_a_list: 'Repeat over a list, or preview with a payload that has one at this path.',
  empty_content: 'Fill in what is missing.',
}
