// Identifiers of workflows, steps and layouts: they stay as they are where the service allows it.
import { identifierProblem } from '../../../server/src/http/workflows/shape.ts'

const longest = 255
const separators = ['-', '_', '.']
export const whyRenamed = 'letters and digits only, with single hyphens, underscores or periods between them'

/** The nearest that can be one; empty if nothing is left. */
export function identifierOf(text: string): string {
  if (identifierProblem(text) === undefined) return text
  return text
    .replaceAll(
      /[^A-Za-z0-9]+/g,
      (between) => separators.find((each) => each.repeat(between.length) === between) ?? '-',
    )
    .replace(/^[-_.]/, '')
    .slice(0, longest)
    .replace(/[-_.]$/, '')
}
