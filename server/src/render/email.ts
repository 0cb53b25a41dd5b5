// Renders an email: subject, HTML and plain text, from a template of either editor, with or without a layout.
import { decodeHTML, escapeUTF8 } from 'entities'
import { blockNodes } from './block-nodes.ts'
import { BlockCompiler, type BlockNode, readDocument } from './blocks.ts'
import { withBranding } from './branding.ts'
import { Cache } from './cache.ts'
import { guarded, RenderError } from './limits.ts'
import { compileTemplate, renderEmit, type Situation } from './liquid.ts'
import { plainText } from './plain-text.ts'
import type { Emit } from './run.ts'
import { sanitize } from './sanitize.ts'
import { withShell } from './shell.ts'
import { noTranslations, type Translator, translate } from './translations.ts'
import { renderText } from './values.ts'

/** A block document, as an object or as JSON text, or HTML. */
export type EmailBody = string | Readonly<Record<string, unknown>>

export interface EmailTemplate {
  subject: string
  body: EmailBody
  disableOutputSanitization?: boolean
  from?: { email?: string; name?: string }
  replyTo?: string
  layout?: EmailLayout | null
  /** From `brandingOf`, if it is to be shown. */
  branding?: string | null
}

export interface EmailLayout {
  body: EmailBody
  /** A layout has translations of its own. */
  translator?: Translator
}

export interface RenderedEmail {
  subject: string
  html: string
  text: string
  from?: { email?: string; name?: string }
  replyTo?: string
}

export function renderEmail(template: EmailTemplate, of: Situation, translator = noTranslations): RenderedEmail {
  const html = renderEmailHtml(template, of, translator)
  const { from, replyTo } = template
  const header = (text: string) => renderHeader(text, of, translator)
  return {
    subject: header(template.subject),
    html,
    text: guarded(() => plainText(html)),
    ...(from && {
      from: {
        ...(from.email !== undefined && { email: header(from.email) }),
        ...(from.name !== undefined && { name: header(from.name) }),
      },
    }),
    ...(replyTo !== undefined && { replyTo: header(replyTo) }),
  }
}

/** Only the HTML, for previews. */
export function renderEmailHtml(template: EmailTemplate, of: Situation, translator = noTranslations): string {
  const isRaw = template.disableOutputSanitization === true
  const { layout, branding } = template
  const body = compileBody(template.body, translator, layout ? 'content' : 'body')
  let html = renderEmit(body.emit, of)
  let isBlocks = body.isBlocks
  if (layout) {
    const around = compileBody(layout.body, layout.translator ?? noTranslations, isRaw ? 'raw layout' : 'layout')
    html = renderEmit(around.emit, { ...of, data: Object.assign({}, of.data, { content: html }) })
    isBlocks = around.isBlocks
  }
  if (isBlocks) html = withShell(html)
  html = html.replace(/(<p(?:\s[^<>]*)?>)[ \t\r\n\f]+(?=<\/p>)/gi, '$1')
  const safe = isRaw ? html : guarded(() => sanitize(html))
  return branding ? withBranding(safe, branding) : safe
}

/** Text for a mail header: always one line. */
export const renderHeader = (text: string, of: Situation, translator: Translator = noTranslations): string =>
  headerText(renderText(text, of, translator))

/** The same for rendered text. Decodes HTML entities, because a header is plain text. */
export const headerText = (text: string): string =>
  decodeHTML(text).replace(/[\s\p{Cc}]+/gu, (gap) => (/[^ \u00a0]/.test(gap) ? ' ' : gap))

/** The preview text that mail clients show beside the subject: first in the body, and hidden there. */
export function withPreheader(html: string, words: string): string {
  const hidden = `<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${escapeUTF8(headerText(words))}</div>`
  const body = /<body\b[^<>]*>/i.exec(html)
  const at = body ? body.index + body[0].length : 0
  return html.slice(0, at) + hidden + html.slice(at)
}

/** `content` is a body with a layout around it. */
type Role = 'body' | 'content' | 'layout' | 'raw layout'

interface CompiledBody {
  emit: Emit
  isBlocks: boolean
}

const compiledTexts = new WeakMap<Translator, Record<Role, Cache<CompiledBody>>>()
const compiledDocuments = new WeakMap<object, WeakMap<Translator, Partial<Record<Role, CompiledBody>>>>()

/** Compiled once per body, language and role. */
function compileBody(body: EmailBody, translator: Translator, role: Role): CompiledBody {
  if (typeof body === 'string') {
    const caches = compiledTexts.get(translator) ?? {
      body: makeCache(),
      content: makeCache(),
      layout: makeCache(),
      'raw layout': makeCache(),
    }
    compiledTexts.set(translator, caches)
    return caches[role].get(body, () => makeBody(body, translator, role))
  }
  const byTranslator = compiledDocuments.get(body) ?? new WeakMap<Translator, Partial<Record<Role, CompiledBody>>>()
  compiledDocuments.set(body, byTranslator)
  const byRole = byTranslator.get(translator) ?? {}
  byTranslator.set(translator, byRole)
  byRole[role] ??= makeBody(body, translator, role)
  return byRole[role]
}

const makeCache = () => new Cache<CompiledBody>(4 * 1024 * 1024)

function makeBody(body: EmailBody, translator: Translator, role: Role): CompiledBody {
  const document = readDocument(body)
  const isLayout = role === 'layout' || role === 'raw layout'
  if (document !== undefined) return { emit: compileDocument(document, translator, isLayout), isBlocks: true }
  if (typeof body !== 'string') {
    throw new RenderError('invalid_document', 'The body is neither HTML nor a block document of type "doc"')
  }
  // The sanitizer drops comments too, but only after parsing the whole document.
  const bare = role === 'raw layout' ? body : withoutComments(body, !isLayout)
  const html = role === 'content' ? withoutDocument(bare) : bare
  return { emit: compileTemplate(translate(html, translator)), isBlocks: false }
}

const compileDocument = (document: BlockNode, translator: Translator, isLayout: boolean): Emit =>
  new BlockCompiler(blockNodes, translator, isLayout).document(document)

/** Removes comments and, in a step's body, the doctype, which belongs to the document around it. */
function withoutComments(html: string, alsoDoctype: boolean): string {
  let kept = ''
  let at = 0
  for (;;) {
    const begin = html.indexOf('<!--', at)
    const end = begin < 0 ? -1 : html.indexOf('-->', begin + 4)
    if (end < 0) break
    kept += html.slice(at, begin)
    at = end + 3
  }
  const rest = kept + html.slice(at)
  return alsoDoctype ? rest.replace(/<!doctype[^<>]*>/gi, '') : rest
}

/** The body and style sheets of a whole document, because a layout has its own document. */
function withoutDocument(html: string): string {
  const bodies = [/<body\b[^<>]*>/gi, /<\/body\s*>/gi].map((tag) => html.match(tag)?.length ?? 0)
  const isPaired = bodies[0] === bodies[1]
  return withoutTitle(html)
    .replace(/<\/?(?:html|head)\b[^<>]*>|<meta\b[^<>]*>/gi, '')
    .replace(/<body\b([^<>]*)>/gi, isPaired ? '<div$1>' : '')
    .replace(/<\/body\s*>/gi, isPaired ? '</div>' : '')
}

/** Removes one title, as a document has only one: a global pattern would rescan from every unclosed title. */
function withoutTitle(html: string): string {
  const begin = html.search(/<title\b[^<>]*>/i)
  const end = begin < 0 ? null : /<\/title\s*>/i.exec(html.slice(begin))
  return end ? html.slice(0, begin) + html.slice(begin + end.index + end[0].length) : html
}
