// The Markdown subset of bodies and subjects: bold, italic, code, links and line breaks. Text stays text, so nothing in it
// can run.

import { safeUrl } from '../data/notification.ts'
import { type Child, h } from './dom.ts'

/**
 * In this order: an escaped mark, code, a link, a bare address, then marks from the longest. Content within marks has a
 * length limit: otherwise each of many unclosed marks would scan the rest of the text.
 */
const pattern =
  /\\([\\*_`[\]()])|`([^`\n]+)`|\[([^\]\n]{1,300})\]\(([^()\s]{1,2000})\)|(https?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]])|(\*{1,3})(?=[^\s*])([\s\S]{0,500}?\S)\6(?!\*)|(\n)/

export interface MarkdownOptions {
  /** For text inside a link. */
  withoutLinks?: boolean
  depth?: number
}

/** The inbox shows three lines at most; longer or deeper nested text is left as written. */
const mostCharacters = 2_000
const mostDepth = 5

export function markdown(text: string, options: MarkdownOptions = {}): Child[] {
  const children: Child[] = []
  const { depth = 0 } = options
  let rest = text.slice(0, mostCharacters)
  while (rest !== '' && depth < mostDepth) {
    const found = pattern.exec(rest)
    if (!found) break
    children.push(rest.slice(0, found.index), toElement(found, { ...options, depth: depth + 1 }))
    rest = rest.slice(found.index + found[0].length)
  }
  return [...children, rest + text.slice(mostCharacters)].filter((child) => child !== '')
}

function toElement(found: RegExpExecArray, options: MarkdownOptions): Child {
  const [whole, escaped, code, label, target, address, marks, marked] = found
  if (escaped !== undefined) return escaped
  if (code !== undefined) return h('code', null, code)
  if (label !== undefined) return link(markdown(label, { withoutLinks: true }), target, whole, options)
  if (address !== undefined) return link([address.replace(/^https?:\/\//, '')], address, whole, options)
  if (marks !== undefined && marked !== undefined) {
    const inner = markdown(marked, options)
    if (marks === '*') return h('em', null, inner)
    return h('strong', null, marks === '**' ? inner : h('em', null, inner))
  }
  return h('br', null)
}

function link(label: Child[], target: string | undefined, whole: string, { withoutLinks }: MarkdownOptions): Child {
  const href = safeUrl(target)
  if (!href) return whole
  if (withoutLinks) return h('span', null, label)
  return h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, label)
}

/** Without the marks, for screen readers. */
export const plain = (text: string): string =>
  text
    .replaceAll(/\[([^\]\n]{1,300})\]\([^()\s]{1,2000}\)/g, '$1')
    .replaceAll(/(?<!\\)[*`]/g, '')
    .replaceAll(/\\([\\*_`[\]()])/g, '$1')
