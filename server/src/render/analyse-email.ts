// The variables and filters in the body of an email, from either editor.
import { type Analysis, analyseExpression, analyseTemplate, emptyAnalysis, type Names } from './analyse.ts'
import { blockNodes } from './block-nodes.ts'
import { type BlockNode, readDocument, withoutBraces } from './blocks.ts'
import type { EmailBody } from './email.ts'
import { guarded, RenderError } from './limits.ts'
import { hasLiquid } from './liquid.ts'
import { translationKeys } from './translations.ts'

/** Attributes that hold the path of a variable if the other attribute is true. */
const flags: Record<string, string> = {
  text: 'isTextVariable',
  url: 'isUrlVariable',
  href: 'isUrlVariable',
  src: 'isSrcVariable',
  externalLink: 'isExternalLinkVariable',
}

/** In a layout `content` is the body of the step. */
export function analyseBody(body: EmailBody, { isLayout }: { isLayout: boolean }): Analysis {
  const names: Names = new Map(isLayout ? [['content', undefined]] : [])
  try {
    const document = readDocument(body)
    if (document !== undefined) return guarded(() => merge([...inNode(document, names, true)]))
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    return problem(error.message)
  }
  return typeof body === 'string' ? analyseTemplate(body, names) : problem('The body is not a block document')
}

function* inNode(node: BlockNode, names: Names, isRoot = false): Generator<Analysis> {
  if (!isRoot && !Object.hasOwn(blockNodes, node.type)) yield problem(`Unknown block type "${node.type}"`)
  const isRepeat = node.type === 'repeat' || node.type === 'for'
  yield* inAttributes(node.attrs ?? {}, names, node.type)
  if (typeof node.text === 'string' && hasLiquid(node.text)) yield analyseTemplate(node.text, names)
  for (const mark of Array.isArray(node.marks) ? node.marks : [])
    yield* inAttributes(mark.attrs ?? {}, names, mark.type)
  let inner = names
  if (isRepeat) {
    const each = typeof node.attrs?.each === 'string' ? withoutBraces(node.attrs.each) : ''
    if (each === '') yield problem('Choose the list that the Repeat block goes through', true)
    const list = listOf(each, names)
    const item = list && [...list, null]
    inner = new Map([...names, ['current', item], ['forloop', undefined]])
    if (list && item) yield { ...nothing, items: [item], lists: [{ segments: list, text: each }] }
  }
  for (const child of Array.isArray(node.content) ? node.content : []) yield* inNode(child, inner)
}

/** The path of the list that a repeat names. */
function listOf(each: string, names: Names): Analysis['items'][number] | undefined {
  if (each === '') return undefined
  const { variables, items } = analyseExpression(each, names)
  return variables[0]?.segments ?? items[0]
}

function* inAttributes(attrs: Readonly<Record<string, unknown>>, names: Names, type: string) {
  const { id, aliasFor, showIfKey, each, fallback } = attrs
  const paths = [showIfKey, ...(type === 'repeat' || type === 'for' ? [each] : [])]
  if (type === 'variable') paths.push(typeof aliasFor === 'string' && aliasFor !== '' ? aliasFor : id)
  for (const path of paths) {
    if (typeof path !== 'string' || withoutBraces(path) === '') continue
    const found = analyseExpression(withoutBraces(path), names)
    const isOptional = path === showIfKey || (type === 'variable' && typeof fallback === 'string' && fallback !== '')
    yield isOptional ? { ...found, optional: found.variables.map((variable) => variable.path) } : found
  }
  // A variable block with a key is written as if it were text.
  if (type === 'variable' && typeof id === 'string')
    yield { ...nothing, keys: translationKeys(`{{${withoutBraces(id)}}}`) }
  for (const [name, value] of Object.entries(attrs)) {
    const isPath = name in flags && attrs[flags[name] ?? ''] === true
    if (typeof value !== 'string' || value === '' || ['id', 'aliasFor', 'showIfKey', 'each'].includes(name)) continue
    if (hasLiquid(value)) yield analyseTemplate(value, names)
    else if (isPath)
      yield analyseExpression(
        type === 'link' && typeof aliasFor === 'string' && aliasFor !== '' ? aliasFor : value,
        names,
      )
  }
}

const nothing = emptyAnalysis()
const problem = (message: string, isMissing = false): Analysis => ({
  ...nothing,
  problems: [{ message, text: '', position: undefined, ...(isMissing ? { isMissing } : {}) }],
})

const merge = (parts: readonly Analysis[]): Analysis => ({
  variables: parts.flatMap((part) => part.variables),
  items: parts.flatMap((part) => part.items),
  filters: parts.flatMap((part) => part.filters),
  keys: [...new Set(parts.flatMap((part) => part.keys))],
  optional: parts.flatMap((part) => part.optional),
  lists: parts.flatMap((part) => part.lists),
  problems: parts.flatMap((part) => part.problems),
})
