// What the body of an email asks for, in either editor.
import { type Analysis, analyseExpression, analyseTemplate } from './analyse.ts'
import { blockNodes } from './block-nodes.ts'
import { type BlockNode, readDocument, withoutBraces } from './blocks.ts'
import type { EmailBody } from './email.ts'
import { guarded, RenderError } from './limits.ts'
import { hasLiquid } from './liquid.ts'

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
  const locals = isLayout ? ['content'] : []
  try {
    const document = readDocument(body)
    if (document !== undefined) return guarded(() => merge([...inNode(document, locals, true)]))
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    return problem(error.message)
  }
  return typeof body === 'string' ? analyseTemplate(body, locals) : problem('The body is not a block document')
}

function* inNode(node: BlockNode, locals: readonly string[], isRoot = false): Generator<Analysis> {
  if (!isRoot && !Object.hasOwn(blockNodes, node.type)) yield problem(`Unknown block type "${node.type}"`)
  const isRepeat = node.type === 'repeat' || node.type === 'for'
  yield* inAttributes(node.attrs ?? {}, locals, node.type)
  if (typeof node.text === 'string' && hasLiquid(node.text)) yield analyseTemplate(node.text, locals)
  for (const mark of Array.isArray(node.marks) ? node.marks : [])
    yield* inAttributes(mark.attrs ?? {}, locals, mark.type)
  const inner = isRepeat ? [...locals, 'current', 'forloop'] : locals
  for (const child of Array.isArray(node.content) ? node.content : []) yield* inNode(child, inner)
}

function* inAttributes(attrs: Readonly<Record<string, unknown>>, locals: readonly string[], type: string) {
  const { id, aliasFor, showIfKey, each } = attrs
  const paths = [showIfKey, ...(type === 'repeat' || type === 'for' ? [each] : [])]
  if (type === 'variable') paths.push(typeof aliasFor === 'string' && aliasFor !== '' ? aliasFor : id)
  for (const path of paths) {
    if (typeof path === 'string' && path.trim() !== '') yield analyseExpression(withoutBraces(path), locals)
  }
  for (const [name, value] of Object.entries(attrs)) {
    const isPath = name in flags && attrs[flags[name] ?? ''] === true
    if (typeof value !== 'string' || value === '' || ['id', 'aliasFor', 'showIfKey', 'each'].includes(name)) continue
    if (hasLiquid(value)) yield analyseTemplate(value, locals)
    else if (isPath)
      yield analyseExpression(
        type === 'link' && typeof aliasFor === 'string' && aliasFor !== '' ? aliasFor : value,
        locals,
      )
  }
}

const problem = (message: string): Analysis => ({
  variables: [],
  filters: [],
  problems: [{ message, text: '', position: undefined }],
})

const merge = (parts: readonly Analysis[]): Analysis => ({
  variables: parts.flatMap((part) => part.variables),
  filters: parts.flatMap((part) => part.filters),
  problems: parts.flatMap((part) => part.problems),
})
