// Removes everything that could run from HTML, by a list of allowed tags, attributes and URLs.
// The tokenizer reads HTML as the standard says, and so as browsers do. What is written is made anew from its tokens: known
// tags, quoted attributes, escaped text. So safety rests on the writer alone, and not on two parsers that agree.
import type { Token } from 'parse5'
import { Cache } from './cache.ts'
import { BoundedTokenizer, rawText } from './html-tokens.ts'
import { countTags, HTML_TAG_LIMIT, RenderError } from './limits.ts'

const blockTags =
  'address article aside footer header h1 h2 h3 h4 h5 h6 hgroup main nav section blockquote dd div dl dt figcaption figure hr li menu ol p pre ul'
const inlineTags =
  'a abbr b bdi bdo br cite code data dfn em i kbd mark q rb rp rt rtc ruby s samp small span strong sub sup time u var wbr'
const tableTags = 'caption col colgroup table tbody td tfoot th thead tr'
const documentTags = 'style img html head body link meta title'
const allowed = new Set([blockTags, inlineTags, tableTags, documentTags].join(' ').split(' '))
const voidTags = new Set('br hr wbr col img link meta'.split(' '))
const imageAttributes = new Set(
  'src alt width height loading srcset sizes crossorigin usemap ismap class id style title dir lang'.split(' '),
)
const urlAttributes = new Set(
  'href src cite action formaction data xlink:href poster background ping longdesc usemap codebase classid archive profile manifest itemid dynsrc lowsrc'.split(
    ' ',
  ),
)
const urlSchemes = new Set(['http', 'https', 'ftp', 'mailto', 'tel', 'cid'])
/** A longer one is dropped, not read. */
const longestSrcset = 8_192

/** Each of these ends an option. */
const optionEnds = new Set(['option', 'optgroup', 'select', 'datalist'])

const isAllowedAttribute = (tag: string, name: string) =>
  !/^on/i.test(name) && (tag !== 'img' || imageAttributes.has(name))

/** A refresh leads the reader elsewhere. */
const isAllowedPragma = (value: string) => /^(?:content-type|content-language|x-ua-compatible)$/i.test(value.trim())

/** Browsers skip blanks and control characters before a scheme, and line breaks inside it. */
function isAllowedUrl(url: string): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.replace(/[\0-\x20]+/g, ''))?.[1]
  return scheme === undefined || urlSchemes.has(scheme.toLowerCase())
}

/** The result is safe to show. Text without tags is returned unchanged. */
export const sanitize = (html: string): string => (isClean(html) ? html : rewrite(html))

/** Reads HTML once and writes what is allowed of it. */
export function rewrite(html: string): string {
  if (countTags(html) > HTML_TAG_LIMIT) throw tooManyTags()
  const doctype = /^\s*<!doctype [\w\s"./:-]*>/i.exec(html)?.[0] ?? ''
  return doctype + new Writer().rewrite(html.slice(doctype.length))
}

class Writer {
  readonly #tokenizer = new BoundedTokenizer({}, this)
  #html = ''
  /** Read, but not written yet. */
  #text = ''
  #isInStyle = false
  /** The element whose content is dropped. */
  #dropped: string | undefined

  rewrite(html: string): string {
    this.#tokenizer.write(html, true)
    return this.#html
  }

  onStartTag({ tagName, attrs }: Token.TagToken): void {
    if (this.#dropped !== undefined) return
    this.#flush()
    const mode = rawText.get(tagName)
    if (mode !== undefined) this.#tokenizer.state = mode
    if (allowed.has(tagName)) {
      this.#html += `<${tagName}${attributesOf(tagName, attrs)}${voidTags.has(tagName) ? ' />' : '>'}`
      this.#isInStyle = tagName === 'style'
    } else if (mode !== undefined || tagName === 'option') {
      this.#dropped = tagName
    }
  }

  onEndTag({ tagName }: Token.TagToken): void {
    if (this.#dropped !== undefined) {
      if (tagName === this.#dropped || (this.#dropped === 'option' && optionEnds.has(tagName)))
        this.#dropped = undefined
      return
    }
    this.#flush()
    this.#isInStyle = false
    // A browser reads `</br>` as `<br>`, and drops the end tags of other void elements.
    if (allowed.has(tagName) && !voidTags.has(tagName)) this.#html += `</${tagName}>`
    else if (tagName === 'br') this.#html += '<br />'
  }

  onCharacter({ chars }: Token.CharacterToken): void {
    if (this.#dropped === undefined) this.#text += chars
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token)
  }

  onEof(): void {
    this.#flush()
    if (this.#isInStyle) this.#html += '</style>'
  }

  onNullCharacter(): void {}
  onComment(): void {}
  onDoctype(): void {}

  #flush(): void {
    this.#html += this.#isInStyle ? styleText(this.#text) : escapeText(this.#text)
    this.#text = ''
  }
}

function attributesOf(tag: string, attributes: readonly Token.Attribute[]): string {
  let text = ''
  for (const { name, value } of attributes) {
    const kept = attributeValue(tag, name, value)
    if (kept !== undefined) text += ` ${name}="${escapeText(kept).replaceAll('"', '&quot;')}"`
  }
  return text
}

/** @returns the value to write, or undefined if the attribute goes */
function attributeValue(tag: string, name: string, value: string): string | undefined {
  // Other names would be read differently by one parser or another.
  if (!/^[a-z_][\w:.-]*$/i.test(name) || !isAllowedAttribute(tag, name)) return undefined
  if (name.endsWith('srcset')) return value.length > longestSrcset ? undefined : srcsetOf(value)
  if (urlAttributes.has(name) && !isAllowedUrl(value)) return undefined
  if (name === 'http-equiv' && !isAllowedPragma(value)) return undefined
  return value
}

/** The candidates with an allowed URL. One that ends with a comma has no descriptor. */
function srcsetOf(value: string): string | undefined {
  const candidates = (value.match(/[^\s,]\S*(?:(?<=,)|[^,]*)/g) ?? []).map((candidate) =>
    candidate.replace(/(?<![\s,])[\s,]+$/, ''),
  )
  const kept = candidates.filter((candidate) => isAllowedUrl(candidate.split(/\s/, 1)[0] ?? ''))
  return kept.length === 0 ? undefined : kept.join(', ')
}

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/**
 * A sheet in which no parser finds a tag, whatever it takes the element for. Outside of strings CSS needs `<` for comparisons
 * only, which may have a blank after it.
 */
function styleText(css: string): string {
  // Left from browsers that did not know style elements.
  const sheet = /^\s*<!--/.test(css) ? css.replace(/^\s*<!--/, '').replace(/-->\s*$/, '') : css
  return sheet.replace(/"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|<(?=[a-z/!?])/gi, (piece) =>
    piece === '<' ? '< ' : piece.replace(/<(?=[a-z/!?])/gi, '\\3c '),
  )
}

const tooManyTags = () => new RenderError('output_limit', `The HTML has more than ${HTML_TAG_LIMIT} tags`)

// The parser needs 400 µs for a digest of ten rows, and nearly all HTML is clean: made by us, or by an author who knows HTML.
// So a scan of some 10 µs comes first. It accepts only what every parser reads the same way: known tags, quoted attributes
// without angle brackets, and nothing else that starts with "<". All other documents are rewritten.

const piece =
  /<!doctype [\w\s"./:-]*>|<style(?: type="text\/css")?>[^<]*<\/style>|<\/[a-z][a-z0-9]*>|<([a-z][a-z0-9]*)((?:[ \t\n\f\r]+[a-z][a-z0-9-]*(?:="[^"<>]*"|='[^'<>]*'|=[\w#%.-]+)?)*)[ \t\n\f\r]*\/?>|[^<]+|<(?![a-z/!?])(?!$)/giy

function isClean(html: string): boolean {
  if (!html.includes('<')) return true
  let at = 0
  let pieces = 0
  while (at < html.length) {
    if (++pieces > 8 * HTML_TAG_LIMIT) throw tooManyTags()
    piece.lastIndex = at
    const match = piece.exec(html)
    if (match === null) return false
    if (match[1] !== undefined && !isCleanTag(match[0], match[1], match[2] ?? '')) return false
    at = piece.lastIndex
  }
  return true
}

const verdicts = new Cache<boolean>(512 * 1024)
const attribute = /([a-z][a-z0-9-]*)(?:=(?:"([^"]*)"|'([^']*)'|([\w#%.-]+)))?/gi

const isCleanTag = (whole: string, tag: string, attributes: string) =>
  attributes === ''
    ? isPlainTag(tag)
    : verdicts.get(whole, () => isPlainTag(tag) && hasCleanAttributes(tag, attributes))

/** Browsers parse no tags inside a title or style. */
const isPlainTag = (tag: string) => {
  const name = tag.toLowerCase()
  return allowed.has(name) && name !== 'style'
}

function hasCleanAttributes(tag: string, attributes: string): boolean {
  for (const [, written = '', quoted, single, bare] of attributes.matchAll(attribute)) {
    const name = written.toLowerCase()
    if (!isAllowedAttribute(tag.toLowerCase(), name) || name === 'srcset' || name === 'imagesrcset') return false
    const value = quoted ?? single ?? bare ?? ''
    if (urlAttributes.has(name) && !isPlainUrl(value)) return false
    if (name === 'http-equiv' && !isAllowedPragma(value)) return false
  }
  return true
}

/** An entity could hide a scheme, but not behind an explicit one. */
const isPlainUrl = (url: string) => /^(?:$|[#?]|\/(?!&)|(?:https?|ftp):\/\/|mailto:|tel:|cid:)[^\0-\x20]*$/i.test(url)

/** All strings in a value, except under `data` at the top. Strings that end up empty stay; the caller decides. */
export function sanitizeValues(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, name === 'data' ? value : sanitizeValue(value)]),
  )
}

function sanitizeValue(value: unknown): unknown {
  if (typeof value === 'string') return sanitize(value)
  if (Array.isArray(value)) return value.map(sanitizeValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sanitizeValue(member)]))
}
