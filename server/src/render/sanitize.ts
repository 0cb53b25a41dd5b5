// Removes everything that could run from HTML, by a list of allowed tags, attributes and URLs.
import sanitizeHtml from 'sanitize-html'
import { Cache } from './cache.ts'
import { countTags, HTML_TAG_LIMIT, RenderError } from './limits.ts'

const blockTags =
  'address article aside footer header h1 h2 h3 h4 h5 h6 hgroup main nav section blockquote dd div dl dt figcaption figure hr li menu ol p pre ul'
const inlineTags =
  'a abbr b bdi bdo br cite code data dfn em i kbd mark q rb rp rt rtc ruby s samp small span strong sub sup time u var wbr'
const tableTags = 'caption col colgroup table tbody td tfoot th thead tr'
const documentTags = 'style img html head body link meta title'
const allowedTags = [blockTags, inlineTags, tableTags, documentTags].join(' ').split(' ')
const imageAttributes = new Set(
  'src alt width height loading srcset sizes crossorigin usemap ismap class id style title dir lang'.split(' '),
)
const urlAttributes = new Set(sanitizeHtml.defaults.allowedSchemesAppliedToAttributes)

const isAllowedAttribute = (tag: string, name: string) =>
  !/^on/i.test(name) && (tag !== 'img' || imageAttributes.has(name))

const options: sanitizeHtml.IOptions = {
  allowedTags,
  allowVulnerableTags: true,
  allowedAttributes: false,
  allowedSchemes: ['http', 'https', 'ftp', 'mailto', 'tel', 'cid'],
  parseStyleAttributes: false,
  transformTags: {
    '*': (tagName, attribs) => ({
      tagName,
      attribs: Object.fromEntries(
        // Parsing a srcset of half a megabyte takes a quarter of a second.
        Object.entries(attribs).filter(
          ([name, value]) => isAllowedAttribute(tagName, name) && !(name.endsWith('srcset') && value.length > 8_192),
        ),
      ),
    }),
  },
}

/** The result is safe to show. Text without tags is returned unchanged. */
export const sanitize = (html: string): string => (isClean(html) ? html : rewrite(html))

/** Parses HTML and rebuilds it from what is allowed. */
export function rewrite(html: string): string {
  if (countTags(html) > HTML_TAG_LIMIT) throw tooManyTags()
  // A browser takes `</style/>` as a closing tag; the parser does not.
  const closed = html.replace(/<\/([a-z][a-z0-9]*)[\s/]+>/gi, '</$1>')
  const doctype = /^\s*<!doctype[^>]*>/i.exec(closed)?.[0] ?? ''
  return doctype + sanitizeHtml(closed.slice(doctype.length), options)
}

const tooManyTags = () => new RenderError('output_limit', `The HTML has more than ${HTML_TAG_LIMIT} tags`)

// The parser needs 400 µs for a digest of ten rows, and nearly all HTML is clean: made by us, or by an author who knows HTML.
// So a scan of some 10 µs comes first. It accepts only what every parser reads the same way: known tags, quoted attributes
// without angle brackets, and nothing else that starts with "<". All other documents are rewritten.

const piece =
  /<!doctype [\w\s"./:-]*>|<style(?: type="text\/css")?>[^<]*<\/style>|<\/[a-z][a-z0-9]*>|<([a-z][a-z0-9]*)((?:\s+[a-z][a-z0-9-]*(?:="[^"<>]*"|='[^'<>]*'|=[\w#%.-]+)?)*)\s*\/?>|[^<]+|<(?![a-z/!?])(?!$)/giy

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
const allowed = new Set(allowedTags)
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
    if (urlAttributes.has(name) && !isPlainUrl(quoted ?? single ?? bare ?? '')) return false
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
