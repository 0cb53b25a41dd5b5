// Compiles block documents, which the visual editor stores, to HTML. A document is walked once; each rendering only fills in
// variables, conditions and repeats.
import { type Html, toEmit } from './block-html.ts'
import { BLOCK_LIMIT, DEPTH_LIMIT, guarded, RenderError, tooDeep } from './limits.ts'
import { compileExpression, compileTemplate, hasLiquid } from './liquid.ts'
import {
  type Emit,
  type Evaluate,
  escapeHtml,
  Item,
  isTruthy,
  Loop,
  Overlay,
  type Run,
  readProperty,
  type Scope,
  toValue,
} from './run.ts'
import { checkSource, parsePath } from './syntax.ts'
import { type Translator, translate } from './translations.ts'

export interface BlockNode {
  type: string
  attrs?: Record<string, unknown>
  content?: BlockNode[]
  marks?: BlockMark[]
  text?: string
}

export interface BlockMark {
  type: string
  attrs?: Record<string, unknown>
}

/** The surroundings of a node. */
export interface Place {
  /** Whether the space below the node is dropped: before a spacer, and at the end of a box. */
  isFlush: boolean
  isInList: boolean
}

export type RenderNode = (node: BlockNode, place: Place, compiler: BlockCompiler) => Html

/** The document in a body, or undefined if the body is HTML. */
export function readDocument(body: unknown): BlockNode | undefined {
  const document = typeof body === 'string' ? parseObject(body) : body
  if (!isNode(document) || document.type !== 'doc') return undefined
  checkSource(typeof body === 'string' ? body : JSON.stringify(body))
  return document
}

function parseObject(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isNode = (value: unknown): value is BlockNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

export class BlockCompiler {
  readonly #nodes: Readonly<Record<string, RenderNode>>
  readonly #translator: Translator
  readonly isLayout: boolean
  #depth = 0
  #count = 0

  constructor(nodes: Readonly<Record<string, RenderNode>>, translator: Translator, isLayout: boolean) {
    this.#nodes = nodes
    this.#translator = translator
    this.isLayout = isLayout
  }

  document(document: BlockNode): Emit {
    return guarded(() => toEmit(this.children(document, { isBox: false })))
  }

  /** In a box (section, column, repeat) the last child has no space below it. */
  children(parent: BlockNode, { isBox, isInList = false }: { isBox: boolean; isInList?: boolean }): Html {
    const nodes = this.nodesOf(parent)
    return nodes.flatMap((node, i) => {
      const isFlush = nodes[i + 1]?.type === 'spacer' || (isBox && i === nodes.length - 1)
      return this.node(node, { isFlush, isInList })
    })
  }

  nodesOf(parent: BlockNode): BlockNode[] {
    const { content } = parent
    if (content === undefined || content === null) return []
    if (!Array.isArray(content) || !content.every(isNode)) {
      throw new RenderError('invalid_document', `The content of the block "${parent.type}" is not a list of blocks`)
    }
    return content
  }

  node(node: BlockNode, place: Place): Html {
    if (!Object.hasOwn(this.#nodes, node.type)) {
      throw new RenderError('unknown_block', `Unknown block type "${node.type}"`)
    }
    if (++this.#count > BLOCK_LIMIT) {
      throw new RenderError('template_too_large', `The document has more than ${BLOCK_LIMIT} blocks`)
    }
    if (++this.#depth > DEPTH_LIMIT) throw tooDeep()
    const html = this.#nodes[node.type]?.(node, place, this) ?? []
    this.#depth--
    const condition = node.attrs?.showIfKey
    if (typeof condition !== 'string' || condition.trim() === '') return html
    const isShown = this.condition(condition)
    const emit = toEmit(html)
    return [(run) => (isShown(run) ? emit(run) : undefined)]
  }

  /** Text that may contain Liquid, as HTML. */
  text(text: unknown): Html {
    const source = typeof text === 'string' || typeof text === 'number' ? String(text) : ''
    return hasLiquid(source) ? [compileTemplate(translate(source, this.#translator), 'html')] : [escapeHtml(source)]
  }

  /** HTML that may contain Liquid, unescaped. */
  html(source: string): Html {
    return hasLiquid(source) ? [compileTemplate(translate(source, this.#translator))] : [source]
  }

  /** Text, or the path of a variable if the flag says so. */
  textOrVariable(text: unknown, isVariable: unknown, fallback?: unknown): Html {
    return isVariable === true && typeof text === 'string' && !hasLiquid(text)
      ? this.variable(text, fallback)
      : this.text(text)
  }

  /** The value of a path with optional filters, or else the fallback. */
  variable(source: string, fallback: unknown): Html {
    const path = withoutBraces(source)
    if (path === '') return [escapeHtml(textOf(fallback))]
    if (/^t\./i.test(path)) return this.text(`{{${path}}}`)
    const evaluate = compileExpression(path)
    // The body of the step is HTML already.
    if (this.isLayout && path === 'content') return [(run) => run.write(run.print(evaluate(run)))]
    const otherwise = escapeHtml(this.#fallback(fallback))
    return [
      (run) => {
        const value = toValue(evaluate(run))
        const isMissing = !isTruthy(value) || value === '' || (Array.isArray(value) && value.length === 0)
        run.write(isMissing ? otherwise : escapeHtml(run.print(value)))
      },
    ]
  }

  /** A fallback can be a translation key, like the argument of a filter. */
  #fallback(fallback: unknown): string {
    const text = textOf(fallback)
    return (/^t\.\S+$/i.test(text) ? this.#translator(text.slice(2)) : undefined) ?? text
  }

  condition(source: string): (run: Run) => boolean {
    const evaluate = compileExpression(withoutBraces(source))
    return (run) => !hidden.has(run.print(evaluate(run)).trim().toLowerCase())
  }

  /** Renders `content` once per item of a list. */
  repeat(source: string, limit: number, content: Html): Html {
    const each = withoutBraces(source)
    const path = parsePath(each)
    const evaluate = compileExpression(each)
    const body = toEmit(content)
    return [(run) => repeat(run, listOf(evaluate, run, each), limit, path, body)]
  }
}

const hidden = new Set(['', 'false', 'null', 'undefined', '0'])
const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

export const withoutBraces = (source: string) =>
  /^\s*\{\{-?([^{}]*?)-?\}\}\s*$/.exec(source)?.[1]?.trim() ?? source.trim()

function listOf(evaluate: Evaluate, run: Run, each: string): readonly unknown[] {
  const list = toValue(evaluate(run))
  if (Array.isArray(list)) return list
  throw new RenderError('not_a_list', `The repeat block needs a list, but "${each.slice(0, 100)}" is not one`)
}

/**
 * Blocks in a repeat refer to an item by its list's path: in a repeat over payload.items, payload.items.name is the name of
 * the current item. So the item replaces its list in the data, which makes nested repeats work without further rules. The
 * item is also called `current`.
 */
function repeat(run: Run, list: readonly unknown[], limit: number, path: Path | undefined, body: Emit) {
  const items = limit > 0 ? list.slice(0, limit) : list
  const loop = new Loop(items.length, 'repeat')
  const [root] = path ?? []
  const around = typeof root === 'string' ? run.lookup(root) : undefined
  for (const value of items) {
    run.budget.spend(4 + (path?.length ?? 0))
    const item = new Item(value, list)
    const scope: Scope = Object.create(null)
    if (path !== undefined) scope[String(root)] = withItem(around, path, 1, item, run)
    scope.current = value
    scope.forloop = loop
    run.scopes.push(scope)
    body(run)
    run.scopes.pop()
    loop.next()
  }
}

type Path = readonly (string | number)[]

/** The value with the item at the end of the path. */
function withItem(value: unknown, path: Path, at: number, item: Item, run: Run): unknown {
  const key = path[at]
  if (key === undefined) return item
  if (value instanceof Item) return new Item(withItem(value.value, path, at, item, run), value.list)
  const member = withItem(readProperty(value, key, run.budget), path, at + 1, item, run)
  return new Overlay(value, key, member, run.budget)
}
