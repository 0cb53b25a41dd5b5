// The templates in a step's control values: every string with Liquid, block documents, and the fields of its condition.
import { type Analysis, analyseTemplate, emptyAnalysis } from '../../render/analyse.ts'
import { analyseBody } from '../../render/analyse-email.ts'
import { Cache } from '../../render/cache.ts'
import { DEPTH_LIMIT } from '../../render/limits.ts'
import { hasLiquid } from '../../render/liquid.ts'
import { pathOf } from '../conditions/check.ts'
import type { ControlValues, OwnCondition, StepKind } from '../contract/kind.ts'

/** One string of the values, by its dotted path, with its analysis. */
export interface StepTemplate {
  path: string
  analysis: Analysis
}

/** For one step. Text beyond this is reported as a problem instead of analysed, so that no workflow takes long to show. */
const mostCharacters = 1024 * 1024

const analyses = new Cache<Analysis>(8 * 1024 * 1024)
const nothing = emptyAnalysis()

/** As much of a kind as its templates need. */
type Templated = Pick<StepKind, 'literals' | 'conditionsOf'>

/** Every condition in a step's values. */
export const conditionsIn = (values: ControlValues, kind: Templated | undefined): OwnCondition[] => [
  { path: 'skip', rule: values.skip, isRequired: false },
  ...(kind?.conditionsOf?.(values) ?? []),
]

export function stepTemplates(values: ControlValues, kind: Templated | undefined = undefined): StepTemplate[] {
  const found: StepTemplate[] = []
  let left = mostCharacters
  const conditions = new Set(conditionsIn(values, kind).map(({ path }) => path))
  const look = (value: unknown, path: string) => {
    if (typeof value === 'string') {
      if (!hasLiquid(value) && !looksLikeDocument(value)) return
      left -= value.length
      const analysis = left < 0 ? refused(tooLong) : analyses.get(value, () => analyse(value))
      if (analysis !== nothing) found.push({ path, analysis })
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        const inner = path === '' ? name : `${path}.${name}`
        if (hasLiquid(name)) look(name, inner)
        if (!conditions.has(inner)) look(member, inner)
      }
    }
  }
  for (const [name, value] of Object.entries(values))
    if (name !== 'skip' && !kind?.literals?.includes(name)) look(value, name)
  for (const { path, rule } of conditionsIn(values, kind)) for (const text of textsIn(rule)) look(text, path)
  return found
}

/** The values that a condition compares with; its fields are paths, not templates. */
function textsIn(rule: unknown, depth = 0): string[] {
  if (typeof rule === 'string') return [rule]
  if (typeof rule !== 'object' || rule === null || depth > DEPTH_LIMIT) return []
  return Object.entries(rule).flatMap(([name, value]) => (name === 'var' ? [] : textsIn(value, depth + 1)))
}

const tooLong = `The templates of a step have more than ${mostCharacters} characters`
const refused = (message: string): Analysis => ({
  ...nothing,
  problems: [{ message, text: '', position: undefined }],
})

const looksLikeDocument = (text: string) => /^\s*\{/.test(text) && text.includes('"doc"')

function analyse(text: string): Analysis {
  if (looksLikeDocument(text)) return analyseBody(text, { isLayout: false })
  return hasLiquid(text) ? analyseTemplate(text) : nothing
}

export type Path = readonly (string | number | null)[]

/** Every variable that a step's templates and conditions read, as the parts of its path. */
export function pathsIn(templates: StepTemplate[], ...conditions: unknown[]): Path[] {
  const paths: Path[] = templates.flatMap(({ analysis }) => [
    ...analysis.variables.map(({ segments }) => segments),
    ...analysis.items,
  ])
  for (const condition of conditions) fieldsIn(condition, paths, 0)
  return paths.flatMap(ofPayload)
}

/** What the templates read and nothing stands in for: no other text, and no tag that asks whether it is there. */
export const neededIn = (templates: StepTemplate[]): Path[] =>
  templates
    .flatMap(({ analysis: { variables, optional } }): Path[] =>
      variables.filter(({ path }) => !optional.includes(path)).map(({ segments }) => segments),
    )
    .flatMap(ofPayload)

/** The events of a digest are triggers of the same workflow: what is read of their payload is read of the payload. */
function ofPayload(path: Path): Path[] {
  const [root, , events, ...rest] = path
  if (root !== 'steps' || events !== 'events') return [path]
  const inEvent = rest[0] === 'payload' ? rest : rest.slice(1)
  return inEvent[0] === 'payload' && inEvent.length > 1 ? [path, inEvent] : [path]
}

function fieldsIn(rule: unknown, paths: Path[], depth: number): void {
  if (typeof rule !== 'object' || rule === null || depth > DEPTH_LIMIT) return
  for (const [name, value] of Object.entries(rule)) {
    const field: unknown = name === 'var' && Array.isArray(value) ? value[0] : value
    if (name === 'var' && typeof field === 'string') paths.push(pathOf(field))
    else fieldsIn(value, paths, depth + 1)
  }
}
