// A block document rewritten for the HTML editor: the same mail, with its variables, conditions and repeats in Liquid.
import type { Html } from './block-html.ts'
import { blockNodes } from './block-nodes.ts'
import { BlockCompiler, type BlockNode, type Place, withoutBraces } from './blocks.ts'
import { guarded } from './limits.ts'
import { hasLiquid } from './liquid.ts'
import { escapeHtml } from './run.ts'
import { withShell } from './shell.ts'
import { parsePath, tagsIn } from './syntax.ts'
import { noTranslations } from './translations.ts'

/** `isWhole`: the email has no layout and needs its own document around it. */
export function documentToHtml(document: BlockNode, { isWhole }: { isWhole: boolean }): string {
  const html = guarded(() => textOf(new LiquidWriter().children(document, { isBox: false })))
  return indented(isWhole ? withShell(html) : html)
}

/** Here every part is a string: Liquid replaces the closures. */
const textOf = (html: Html) => html.filter((part) => typeof part === 'string').join('')

class LiquidWriter extends BlockCompiler {
  #names = 0

  constructor() {
    super(blockNodes, noTranslations, false)
  }

  override node(node: BlockNode, place: Place): Html {
    const { showIfKey, ...attrs } = node.attrs ?? {}
    const html = super.node({ ...node, attrs }, place)
    if (typeof showIfKey !== 'string' || showIfKey.trim() === '') return html
    const { before, name } = this.#named(withoutBraces(showIfKey), 'shown')
    return [`${before}{% unless ${name} == blank or ${name} == 0 %}`, ...html, '{% endunless %}']
  }

  override text(text: unknown): Html {
    const source = typeof text === 'string' || typeof text === 'number' ? String(text) : ''
    return [hasLiquid(source) ? mapLiquid(source, (tag) => tag, escapeHtml) : escapeHtml(source)]
  }

  override html(source: string): Html {
    return [source]
  }

  override variable(source: string, fallback: unknown): Html {
    const path = withoutBraces(source)
    const otherwise = typeof fallback === 'string' || typeof fallback === 'number' ? String(fallback) : ''
    if (path === '') return [escapeHtml(otherwise)]
    return [`{{ ${path}${otherwise === '' ? '' : ` | default: "${otherwise.replaceAll(/[\\"]/g, '\\$&')}"`} }}`]
  }

  /** Blocks in a repeat refer to an item by its list's path; Liquid needs a name for it. */
  override repeat(source: string, limit: number, content: Html): Html {
    const each = withoutBraces(source)
    const { before, name: list } = this.#named(each, 'list')
    const item = this.#name('item')
    const names = [...(parsePath(each) === undefined ? [] : [each]), 'current'].map(escapePattern)
    const pattern = new RegExp(`(?<![\\w.\\]-])(?:${names.join('|')})(?![\\w-])`, 'g')
    const body = mapLiquid(textOf(content), (tag) => tag.replaceAll(pattern, item))
    return [`${before}{% for ${item} in ${list}${limit > 0 ? ` limit: ${limit}` : ''} %}`, body, '{% endfor %}']
  }

  /** Tags cannot take a filtered value, so it is assigned to a name first. */
  #named(expression: string, kind: string): { before: string; name: string } {
    if (parsePath(expression) !== undefined) return { before: '', name: expression }
    const name = this.#name(kind)
    return { before: `{% assign ${name} = ${expression} %}`, name }
  }

  #name(kind: string): string {
    this.#names += 1
    return this.#names === 1 ? kind : `${kind}${this.#names}`
  }
}

/** Maps the tags, and the text between them. */
function mapLiquid(source: string, inTag: (tag: string) => string, between = (text: string) => text): string {
  let [result, at] = ['', 0]
  for (const [start, end] of tagsIn(source)) {
    result += between(source.slice(at, start)) + inTag(source.slice(start, end))
    at = end
  }
  return result + between(source.slice(at))
}

const escapePattern = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

const blocks = 'html|head|body|meta|style|table|tbody|tr|td|div|p|h1|h2|h3|ul|ol|li|blockquote|hr'
const blockTag = new RegExp(`(<(?:!DOCTYPE|/?(?:${blocks}))\\b[^<>]*>)`, 'i')
const isOpening = (part: string) => /^<[a-z]/i.test(part) && !/^<(?:meta|hr)\b/i.test(part)
const isClosing = (part: string) => part.startsWith('</')

/** One block per line, indented by depth. A block that holds only text stays on its line. */
function indented(html: string): string {
  const parts = html.split(blockTag).filter((part) => part !== '')
  const lines: string[] = []
  let depth = 0
  for (let i = 0; i < parts.length; i += 1) {
    const [part = '', next = '', last = ''] = parts.slice(i, i + 3)
    const holdsText = isOpening(part) && blockTag.test(part)
    if (isClosing(part)) depth = Math.max(depth - 1, 0)
    const indent = '  '.repeat(Math.min(depth, 40))
    if (holdsText && isClosing(next)) {
      lines.push(indent + part + next)
      i += 1
    } else if (holdsText && !blockTag.test(next) && isClosing(last)) {
      lines.push(indent + part + next + last)
      i += 2
    } else {
      lines.push(indent + part)
      if (holdsText) depth += 1
    }
  }
  return lines.join('\n')
}
