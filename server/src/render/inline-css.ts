// HTML that an author pasted into a block. Its style sheets move into style attributes, because Gmail drops a style element
// in the middle of a body; doctype, html, head and body tags go.
// Not juice, which has no limit on its work: 256 KB of rules and elements took it over 25 s, here 20 ms. On newsletters of 6
// and 51 KB it took 7.7 and 75 ms, here 5 and 29; juice 12 takes as long and needs Node 22. The tests use it as their oracle.
import { selectAll } from 'css-select'
import { DomUtils, parseDocument } from 'htmlparser2'
import postcss, { type Rule } from 'postcss'
import { countTags, OUTPUT_LIMIT } from './limits.ts'
import { tagsIn } from './syntax.ts'

export function prepareHtmlBlock(source: string): string {
  const inlined = /<style/i.test(source) && countTags(source) <= TAG_LIMIT ? inlineStyles(source) : source
  return withoutElement(inlined, 'head').replace(/<!doctype[^<>]*>|<\/?(?:html|body)(?:\s[^<>]*)?>/gi, '')
}

function withoutElement(html: string, name: string): string {
  const lower = html.toLowerCase()
  const begin = lower.search(new RegExp(`<${name}[\\s>]`))
  const end = begin < 0 ? -1 : lower.indexOf(`</${name}>`, begin)
  return end < 0 ? html : html.slice(0, begin) + html.slice(end + name.length + 3)
}

/** In comparisons of an element with a selector; rules beyond it stay in the style sheet. The worst sheet found took 400 ms. */
const WORK_LIMIT = 100_000
/** A descendant selector (`div p`) may climb from every element to the root; a step up costs this part of a comparison. */
const STEPS_PER_COMPARISON = 20
/** Larger documents are left as they are, and so are the sheets beyond this many characters in all. */
const TAG_LIMIT = 2_000
const SHEET_LIMIT = 32 * 1024

type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number]
type Node = Parameters<typeof DomUtils.removeElement>[0]

/** A rule's declarations as text, those with `!important` apart. */
interface Declarations {
  usual: string
  important: string
}
type Match = Declarations & { specificity: number }

function inlineStyles(source: string): string {
  const { text, restore } = hideLiquid(source)
  const document = parseDocument(text, { decodeEntities: false, lowerCaseAttributeNames: false })
  const elements = DomUtils.getElementsByTagName('*', document)
  const costOf = selectorCost(elements)
  const matched = new Map<Element, Match[]>()
  const kept: string[] = []
  let [characters, work, written] = [0, 0, 0]
  for (const sheet of DomUtils.getElementsByTagName('style', document)) {
    const css = DomUtils.textContent(sheet)
    characters += css.length
    const rest =
      characters > SHEET_LIMIT
        ? css
        : applySheet(css, (selector, declarations) => {
            work += costOf(selector)
            if (work > WORK_LIMIT) return false
            const found = selectAll<Node, Element>(selector, document)
            written += found.length * (declarations.usual.length + declarations.important.length)
            if (written > OUTPUT_LIMIT) return false
            const match = { ...declarations, specificity: specificityOf(selector) }
            for (const element of found) {
              const matches = matched.get(element) ?? []
              matches.push(match)
              matched.set(element, matches)
            }
            return true
          })
    if (rest.trim() !== '') kept.push(`<style>${rest}</style>`)
    DomUtils.removeElement(sheet)
  }
  for (const [element, matches] of matched) element.attribs.style = merged(matches, element.attribs.style)
  return restore(kept.join('') + DomUtils.getInnerHTML(document, { decodeEntities: false }))
}

/** The price of matching a selector against all elements, at worst. */
function selectorCost(elements: readonly Element[]): (selector: string) => number {
  const depths = new Map<unknown, number>()
  let steps = 0
  for (const element of elements) {
    const depth = (depths.get(element.parent) ?? -1) + 1
    depths.set(element, depth)
    steps += depth
  }
  return (selector) => {
    const chains = selector.split('>').map((chain) => chain.trim().split(/\s+/).length)
    const descendants = chains.reduce((sum, length) => sum + length - 1, 0)
    return chains.length * elements.length + (descendants * steps) / STEPS_PER_COMPARISON
  }
}

/** Gives every simple rule to `apply`. @returns the rules that must stay in a style sheet: media queries, hover and the like */
function applySheet(css: string, apply: (selector: string, declarations: Declarations) => boolean): string {
  let root: postcss.Root
  try {
    root = postcss.parse(css)
  } catch {
    return css
  }
  const rules = root.nodes.filter((node): node is Rule => node.type === 'rule')
  for (const rule of rules) {
    const declarations = declarationsOf(rule)
    const left = rule.selectors.filter(
      (selector) => !(/^[\w\s.#>*-]+$/.test(selector) && apply(selector, declarations)),
    )
    if (left.length === 0) rule.remove()
    else rule.selectors = left
  }
  return root.toString()
}

function declarationsOf({ nodes }: Rule): Declarations {
  const all = nodes.filter((node) => node.type === 'decl')
  const text = (isImportant: boolean) =>
    all
      .filter(({ important = false }) => important === isImportant)
      .map(({ prop, value }) => `${prop}:${value.replaceAll('"', "'")}`)
      .join(';')
  return { usual: text(false), important: text(true) }
}

const specificityOf = (selector: string) => {
  const ids = selector.match(/#/g)?.length ?? 0
  const classes = selector.match(/\./g)?.length ?? 0
  const names = selector.match(/(?:^|[\s>])[a-z]/gi)?.length ?? 0
  return ids * 10_000 + classes * 100 + names
}

/** The element's own style beats every sheet, except `!important`. */
function merged(matches: readonly Match[], own = ''): string {
  const ranked = matches.toSorted((a, b) => a.specificity - b.specificity)
  const parts = [...ranked.map(({ usual }) => usual), own.replace(/;\s*$/, ''), ...ranked.map((each) => each.important)]
  return parts.filter((part) => part !== '').join(';')
}

/** Liquid is not HTML and must come through unchanged, so placeholders stand in for it. */
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
