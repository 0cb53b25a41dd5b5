// Converts the stored block document to the form of the editor and back. Unknown parts survive untouched: nodes and marks as
// sealed pieces, attributes in `more`.

export interface BlockNode {
  type: string
  attrs?: Record<string, unknown>
  content?: BlockNode[]
  marks?: BlockMark[]
  text?: string
}

interface BlockMark {
  type: string
  attrs?: Record<string, unknown>
}

const isNode = (value: unknown): value is BlockNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

export function readDocument(body: string): BlockNode | undefined {
  if (!body.trimStart().startsWith('{')) return undefined
  try {
    const document: unknown = JSON.parse(body)
    return isNode(document) && document.type === 'doc' ? document : undefined
  } catch {
    return undefined
  }
}

export const isDocument = (body: string): boolean => readDocument(body) !== undefined

/** Whether a body has nothing to read: no text, or only empty paragraphs. */
export function isEmptyBody(body: string): boolean {
  const document = readDocument(body)
  if (!document) return body.trim() === ''
  return (document.content ?? []).every(({ type, content = [] }) => type === 'paragraph' && content.length === 0)
}

/** What each known node may contain. Its other attributes are kept in `more`. */
const blocks = new Set([
  ...['paragraph', 'heading', 'bulletList', 'orderedList', 'listItem', 'blockquote', 'horizontalRule', 'spacer'],
  ...[
    'button',
    'image',
    'logo',
    'section',
    'columns',
    'column',
    'repeat',
    'for',
    'htmlCodeBlock',
    'footer',
    'linkCard',
  ],
])
const inlines = new Set(['text', 'hardBreak', 'variable', 'inlineImage'])
const knownMarks = new Set(['bold', 'italic', 'underline', 'strike', 'code', 'link', 'textStyle'])

/** Attributes the editor itself uses. All others are in `more`. */
const own: Readonly<Record<string, readonly string[]>> = { heading: ['level'], orderedList: ['start'] }

const textBlocks = new Set(['paragraph', 'heading', 'footer'])

/** Allowed children of each node. A child that is not allowed is sealed; its siblings are not. */
function fits(parent: string, child: string): boolean {
  if (textBlocks.has(parent)) return inlines.has(child)
  if (parent === 'bulletList' || parent === 'orderedList') return child === 'listItem'
  if (parent === 'columns') return child === 'column'
  if (parent === 'htmlCodeBlock') return child === 'text' || child === 'variable'
  return blocks.has(child) && child !== 'listItem' && child !== 'column'
}

const leaves = new Set([
  'horizontalRule',
  'spacer',
  'button',
  'image',
  'logo',
  'linkCard',
  'variable',
  'inlineImage',
  'hardBreak',
  'text',
])

export function toEditor(document: BlockNode): BlockNode {
  const content = (document.content ?? []).map((node) => nodeToEditor(node, 'doc'))
  return { type: 'doc', content: content.length > 0 ? content : [{ type: 'paragraph' }] }
}

const sealed = (node: unknown, isInline: boolean): BlockNode => ({
  type: isInline ? 'unknownInline' : 'unknownBlock',
  attrs: { json: JSON.stringify(node) },
})

function nodeToEditor(node: BlockNode, parent: string): BlockNode {
  const isInline = textBlocks.has(parent) || parent === 'htmlCodeBlock'
  const content = Array.isArray(node.content) ? node.content : []
  const cannotHold = !fits(parent, node.type) || (leaves.has(node.type) && content.length > 0)
  const hasUnknownMark = (node.marks ?? []).some(({ type }) => !knownMarks.has(type))
  const isHollow = node.type === 'text' && (typeof node.text !== 'string' || node.text === '')
  // Lists and columns allow one kind of child. Any other child seals the whole list, to keep the order.
  const isStrict = ['bulletList', 'orderedList', 'columns'].includes(node.type)
  const hasUnknownChild = isStrict && (content.length === 0 || content.some((child) => !fits(node.type, child.type)))
  if (cannotHold || hasUnknownMark || isHollow || hasUnknownChild) return sealed(node, isInline)
  const { attrs = {} } = node
  const names = own[node.type] ?? []
  const kept = Object.entries(attrs).filter(([name]) => !names.includes(name))
  const taken = Object.entries(attrs).filter(([name, value]) => names.includes(name) && typeof value === 'number')
  const inner = content.map((child) => nodeToEditor(child, node.type))
  const needsBlock =
    ['listItem', 'blockquote', 'section', 'column', 'repeat', 'for'].includes(node.type) && inner.length === 0
  return {
    type: node.type,
    ...(node.type === 'text' ? {} : { attrs: { ...Object.fromEntries(taken), more: Object.fromEntries(kept) } }),
    ...(inner.length > 0 ? { content: inner } : needsBlock ? { content: [{ type: 'paragraph' }] } : {}),
    ...(node.marks ? { marks: node.marks.map(markToEditor) } : {}),
    ...(node.text === undefined ? {} : { text: node.text }),
  }
}

const markToEditor = ({ type, attrs }: BlockMark): BlockMark =>
  attrs === undefined ? { type } : { type, attrs: { more: attrs } }

export function fromEditor(document: BlockNode): BlockNode {
  return { type: 'doc', content: (document.content ?? []).map(nodeFromEditor) }
}

function nodeFromEditor(node: BlockNode): BlockNode {
  if (node.type === 'unknownBlock' || node.type === 'unknownInline')
    return JSON.parse(String(node.attrs?.json)) as BlockNode
  const names = own[node.type] ?? []
  const taken = Object.entries(node.attrs ?? {}).filter(
    ([name, value]) => names.includes(name) && value !== null && !(name === 'start' && value === 1),
  )
  const attrs = { ...Object.fromEntries(taken), ...moreOf(node.attrs) }
  return {
    type: node.type,
    ...(Object.keys(attrs).length > 0 ? { attrs } : {}),
    ...(node.content ? { content: node.content.map(nodeFromEditor) } : {}),
    ...(node.marks ? { marks: node.marks.map(markFromEditor) } : {}),
    ...(node.text === undefined ? {} : { text: node.text }),
  }
}

function markFromEditor({ type, attrs }: BlockMark): BlockMark {
  const more = moreOf(attrs)
  return Object.keys(more).length > 0 ? { type, attrs: more } : { type }
}

export function moreOf(attrs: Record<string, unknown> | undefined): Record<string, unknown> {
  const more = attrs?.more
  return typeof more === 'object' && more !== null ? (more as Record<string, unknown>) : {}
}
