// Identifiers of what the source has. They stay as they are where the service allows it.
import { identifierProblem } from '../../../server/src/http/workflows/shape.ts'
import type { Report, SourceKind } from './report.ts'

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

/** Undefined unless it is text with something in it, or a number. Of a larger integer JSON has lost digits: two ids could become one. */
export function givenId(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  const isExact = typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value))
  return isExact ? String(value) : undefined
}

/** The id under the first of these names that has one. What has none is listed by its place, and must not be taken. */
export function takeId(
  value: object,
  names: string[],
  { report, kind, place }: { report: Report; kind: SourceKind; place: string },
): string | undefined {
  const members = new Map(Object.entries(value))
  const id = names.map((name) => givenId(members.get(name))).find((each) => each !== undefined)
  if (id === undefined)
    report.unmapped({
      ...{ kind, id: place, path: '', code: 'no_id' },
      why: `it has no ${names.join(' or ')} that is text, or a number of at most 15 digits`,
    })
  return id
}
