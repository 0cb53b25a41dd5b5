// The templates in a step's control values: every text with Liquid in it, block documents, and the fields of its condition.
import { type Analysis, analyseExpression, analyseTemplate, type TemplateVariable } from '../render/analyse.ts'
import { type BlockNode, readDocument, withoutBraces } from '../render/blocks.ts'
import { Cache } from '../render/cache.ts'
import { DEPTH_LIMIT, RenderError } from '../render/limits.ts'
import { hasLiquid } from '../render/liquid.ts'
import { pathOf } from './condition-check.ts'
import type { ControlValues } from './kind.ts'

/** One text of the values, by its dotted path, and what it asks for. */
export interface StepTemplate {
  path: string
  analysis: Analysis
}

/** Of one step. What is beyond is reported as a problem instead of being read, so that no workflow takes long to look at. */
const mostCharacters = 1024 * 1024
const mostBlocks = 10_000

const analyses = new Cache<Analysis>(8 * 1024 * 1024)
const nothing: Analysis = { variables: [], filters: [], problems: [] }

export function stepTemplates(values: ControlValues, literals: readonly string[] = []): StepTemplate[] {
  const found: StepTemplate[] = []
  let left = mostCharacters
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
        look(member, inner)
      }
    }
  }
  for (const [name, value] of Object.entries(values)) {
    if (name === 'skip') for (const text of textsIn(value)) look(text, 'skip')
    else if (!literals.includes(name)) look(value, name)
  }
  return found
}

/** The values a condition compares with; its fields are paths, not templates. */
function textsIn(rule: unknown, depth = 0): string[] {
  if (typeof rule === 'string') return [rule]
  if (typeof rule !== 'object' || rule === null || depth > DEPTH_LIMIT) return []
  return Object.entries(rule).flatMap(([name, value]) => (name === 'var' ? [] : textsIn(value, depth + 1)))
}

const tooLong = `The templates of a step have more than ${mostCharacters} characters`
const refused = (message: string): Analysis => ({
  variables: [],
  filters: [],
  problems: [{ message, text: '', position: undefined }],
})

const looksLikeDocument = (text: string) => /^\s*\{/.test(text) && text.includes('"doc"')

function analyse(text: string): Analysis {
  try {
    const document = looksLikeDocument(text) ? readDocument(text) : undefined
    if (document) return analyseDocument(document)
  } catch (error) {
    if (error instanceof RenderError) return refused(error.message)
    throw error
  }
  return hasLiquid(text) ? analyseTemplate(text) : nothing
}

/** Which attribute is the path of a variable when the flag is set. */
const flags = {
  isTextVariable: ['text'],
  isUrlVariable: ['url', 'href'],
  isSrcVariable: ['src'],
  isExternalLinkVariable: ['externalLink'],
}

/** Names that blocks inside a repeat can use. */
const repeatNames = ['current', 'forloop']

/** A block document, as one template that says the same. */
export function analyseDocument(document: BlockNode, locals: readonly string[] = []): Analysis {
  const found: Analysis = { variables: [], filters: [], problems: [] }
  let left = mostBlocks
  const add = ({ variables, filters, problems }: Analysis) => {
    found.variables.push(...variables)
    found.filters.push(...filters)
    found.problems.push(...problems)
  }
  const expression = (source: unknown, names: readonly string[]) => {
    if (typeof source !== 'string') return
    const path = withoutBraces(source)
    if (path !== '' && !/^t\./i.test(path)) add(analyseExpression(path, names))
  }
  const attributes = (attrs: Record<string, unknown>, names: readonly string[]) => {
    const variables = Object.entries(flags).flatMap(([flag, of]) => (attrs[flag] === true ? of : []))
    for (const [name, value] of Object.entries(attrs)) {
      if (typeof value !== 'string') continue
      if (name === 'showIfKey') expression(value, names)
      else if (hasLiquid(value)) add(analyseTemplate(value, names))
      else if (variables.includes(name)) expression(attrs.aliasFor ?? value, names)
    }
  }
  const visit = (node: BlockNode, depth: number, names: readonly string[]) => {
    left -= 1
    if (left < 0 || depth > DEPTH_LIMIT || typeof node !== 'object' || node === null) return
    const attrs = typeof node.attrs === 'object' && node.attrs !== null ? node.attrs : {}
    let inner = names
    if (node.type === 'variable') {
      expression(attrs.aliasFor || attrs.id, names)
      expression(attrs.showIfKey, names)
    } else if (node.type === 'repeat' || node.type === 'for') {
      expression(attrs.each, names)
      expression(attrs.showIfKey, names)
      inner = [...names, ...repeatNames]
    } else attributes(attrs, names)
    if (typeof node.text === 'string' && hasLiquid(node.text)) add(analyseTemplate(node.text, names))
    for (const mark of Array.isArray(node.marks) ? node.marks : [])
      if (typeof mark?.attrs === 'object' && mark.attrs !== null) attributes(mark.attrs, names)
    for (const child of Array.isArray(node.content) ? node.content : []) visit(child, depth + 1, inner)
  }
  visit(document, 0, locals)
  return found
}

export type Path = readonly (string | number | null)[]

/** Every variable that a step's templates and condition read, as the parts of its path. */
export function pathsIn(templates: StepTemplate[], condition: unknown): Path[] {
  const paths: Path[] = templates.flatMap(({ analysis }) =>
    analysis.variables.map(({ segments }: TemplateVariable) => segments),
  )
  fieldsIn(condition, paths, 0)
  return paths
}

function fieldsIn(rule: unknown, paths: Path[], depth: number): void {
  if (typeof rule !== 'object' || rule === null || depth > DEPTH_LIMIT) return
  for (const [name, value] of Object.entries(rule)) {
    const field: unknown = name === 'var' && Array.isArray(value) ? value[0] : value
    if (name === 'var' && typeof field === 'string') paths.push(pathOf(field))
    else fieldsIn(value, paths, depth + 1)
  }
}
