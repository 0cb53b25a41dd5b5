// HTML an author has pasted into a block: its style sheets move into style attributes, because Gmail drops what it finds in
// the middle of a body, and what belongs around a body is taken off.
import { selectAll } from 'css-select'
import { DomUtils, parseDocument } from 'htmlparser2'
import postcss, { type Rule } from 'postcss'
import { countTags } from './limits.ts'
import { tagsIn } from './syntax.ts'

export function prepareHtmlBlock(source: string): string {
  const inlined = /<style/i.test(source) && countTags(source) <= TAGS ? inlineStyles(source) : source
  return withoutElement(inlined, 'head').replace(/<!doctype[^<>]*>|<\/?(?:html|body)(?:\s[^<>]*)?>/gi, '')
}

function withoutElement(html: string, name: string): string {
  const lower = html.toLowerCase()
  const begin = lower.search(new RegExp(`<${name}[\\s>]`))
  const end = begin < 0 ? -1 : lower.indexOf(`</${name}>`, begin)
  return end < 0 ? html : html.slice(0, begin) + html.slice(end + name.length + 3)
}

/** Selectors times elements; what goes beyond stays a style sheet. */
const WORK = 100_000
/** Elements of a document, and characters of a sheet, that are looked at. */
const TAGS = 2_000
const CHARACTERS = 32 * 1024

type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number]
type Node = Parameters<typeof DomUtils.removeElement>[0]

interface Declared {
  specificity: number
  name: string
  value: string
  isImportant: boolean
}

function inlineStyles(source: string): string {
  const { text, restore } = hideLiquid(source)
  const document = parseDocument(text, { decodeEntities: false, lowerCaseAttributeNames: false })
  const elements = DomUtils.getElementsByTagName('*', document)
  const declared = new Map<Element, Declared[]>()
  const kept: string[] = []
  let work = 0
  for (const sheet of DomUtils.getElementsByTagName('style', document)) {
    const rest = applySheet(DomUtils.textContent(sheet), (selector, declarations) => {
      work += elements.length
      if (work > WORK) return false
      for (const element of selectAll<Node, Element>(selector, document)) {
        const list = declared.get(element) ?? []
        list.push(...declarations)
        declared.set(element, list)
      }
      return true
    })
    if (rest.trim() !== '') kept.push(`<style>${rest}</style>`)
    DomUtils.removeElement(sheet)
  }
  for (const [element, list] of declared) element.attribs.style = merged(list, element.attribs.style)
  return restore(kept.join('') + DomUtils.getInnerHTML(document, { decodeEntities: false }))
}

/** Gives every simple rule to `apply` and answers what has to stay a style sheet: media queries, hover and the like. */
function applySheet(css: string, apply: (selector: string, declarations: Declared[]) => boolean): string {
  let root: postcss.Root
  if (css.length > CHARACTERS) return css
  try {
    root = postcss.parse(css)
  } catch {
    return css
  }
  const rules = root.nodes.filter((node): node is Rule => node.type === 'rule')
  for (const rule of rules) {
    const left = rule.selectors.filter((selector) => {
      if (!/^[\w\s.#>*-]+$/.test(selector)) return true
      return !apply(selector, declarationsOf(rule, specificityOf(selector)))
    })
    if (left.length === 0) rule.remove()
    else rule.selectors = left
  }
  return root.toString()
}

const declarationsOf = (rule: Rule, specificity: number): Declared[] =>
  rule.nodes.flatMap((node) =>
    node.type === 'decl'
      ? { specificity, name: node.prop, value: node.value, isImportant: node.important === true }
      : [],
  )

const specificityOf = (selector: string) => {
  const ids = selector.match(/#/g)?.length ?? 0
  const classes = selector.match(/\./g)?.length ?? 0
  const names = selector.match(/(?:^|[\s>])[a-z]/gi)?.length ?? 0
  return ids * 10_000 + classes * 100 + names
}

/** What the element says itself counts more than any sheet, unless the sheet insists. */
function merged(list: readonly Declared[], own: string | undefined): string {
  const ranked = list.toSorted((a, b) => a.specificity - b.specificity)
  const text = (of: readonly Declared[]) => of.map(({ name, value }) => `${name}:${value.replaceAll('"', "'")}`)
  const usual = text(ranked.filter(({ isImportant }) => !isImportant))
  const important = text(ranked.filter(({ isImportant }) => isImportant))
  return [...usual, ...(own ? [own.replace(/;\s*$/, '')] : []), ...important].join(';')
}

/** Liquid is no HTML and must come through unread, so it is replaced by letters that stand for it. */
function hideLiquid(source: string) {
  const hidden: string[] = []
  let text = ''
  let at = 0
  for (const [begin, end] of tagsIn(source)) {
    text += `${source.slice(at, begin)}\uE000${hidden.length}\uE001`
    hidden.push(source.slice(begin, end))
    at = end
  }
  const restore = (html: string) =>
    html.replace(/\uE000(\d+)\uE001/g, (_, index: string) => hidden[Number(index)] ?? '')
  return { text: text + source.slice(at), restore }
}
