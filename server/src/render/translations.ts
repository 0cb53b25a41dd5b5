// Translations: `{{t.key}}` and filter arguments 't.key' are replaced by their texts before Liquid parses the template. A
// translation may contain Liquid; it is the author's text, like the template.
import { RenderError, SOURCE_LIMIT } from './limits.ts'
import { checkSource, tagsIn } from './syntax.ts'

export type TranslationContent = Record<string, unknown>

/** All languages of one workflow or layout. */
export interface TranslationGroup {
  defaultLocale: string
  locales: Readonly<Record<string, TranslationContent>>
}

/** The text of a key for one recipient, or undefined if neither their language nor the default has it. */
export type Translator = (key: string) => string | undefined

/** For when translation is off: every key is missing. */
export const noTranslations: Translator = () => undefined

const translators = new WeakMap<TranslationGroup, Map<string, Translator>>()

/** One translator per group and language, so that templates compiled with it can be cached. */
export function translatorFor(group: TranslationGroup, subscriberLocale: string | null | undefined): Translator {
  const known = translators.get(group) ?? new Map<string, Translator>()
  translators.set(group, known)
  const wanted = normalise(subscriberLocale ?? '')
  const locale = Object.keys(group.locales).find((name) => normalise(name) === wanted) ?? group.defaultLocale
  const translator = known.get(locale) ?? makeTranslator(group, locale)
  known.set(locale, translator)
  return translator
}

const normalise = (locale: string) => locale.replaceAll('-', '_').toLowerCase()

function makeTranslator(group: TranslationGroup, locale: string): Translator {
  const texts = flatten(group.locales[locale] ?? {})
  const fallback = locale === group.defaultLocale ? texts : flatten(group.locales[group.defaultLocale] ?? {})
  return (key) => texts.get(key) ?? fallback.get(key)
}

/** `{ a: { b: "x" }, "c.d": "y" }` holds the keys a.b and c.d. */
function flatten(content: TranslationContent, prefix = '', into = new Map<string, string>()): Map<string, string> {
  for (const [name, value] of Object.entries(content)) {
    const key = prefix + name
    if (typeof value === 'string') into.set(key, value)
    else if (typeof value === 'number' || typeof value === 'boolean') into.set(key, String(value))
    else if (typeof value === 'object' && value !== null) flatten(value as TranslationContent, `${key}.`, into)
  }
  return into
}

const KEY = String.raw`[\p{L}\p{N}\p{M}_.-]+`
const wholeOutput = new RegExp(String.raw`^\{\{-?\s*t\.(${KEY})\s*-?\}\}$`, 'iu')
const filteredOutput = new RegExp(String.raw`^(\{\{-?\s*)t\.(${KEY})(\s*\|)`, 'iu')
const argument = new RegExp(String.raw`([:,]\s*)(["'])t\.(${KEY})\2`, 'giu')

/** How far translations may refer to each other. */
const NESTING = 5

const mentionsTranslation = /\bt\./i

export function translate(source: string, translator: Translator): string {
  if (!mentionsTranslation.test(source)) return source
  checkSource(source)
  return new Resolver(translator).resolve(source, 0)
}

/** The keys that a template asks for, without those that their texts ask for. */
export function translationKeys(source: string): string[] {
  if (!mentionsTranslation.test(source)) return []
  const keys = [...tagsIn(source)].flatMap(([begin, end]) => {
    const tag = source.slice(begin, end)
    const output = wholeOutput.exec(tag)?.[1] ?? filteredOutput.exec(tag)?.[2]
    return [...(output === undefined ? [] : [output]), ...[...tag.matchAll(argument)].map(([, , , key = '']) => key)]
  })
  return [...new Set(keys)]
}

/** Why a key has no text: it, or one that its text refers to, is missing. Undefined if it has one. */
export function translationProblem(key: string, translator: Translator): string | undefined {
  try {
    new Resolver(translator).resolve(`{{t.${key}}}`, 0)
    return undefined
  } catch (error) {
    if (error instanceof RenderError) return error.message
    throw error
  }
}

class Resolver {
  readonly #translator: Translator
  #captures = 0
  #characters = 0

  constructor(translator: Translator) {
    this.#translator = translator
  }

  resolve(source: string, depth: number): string {
    let resolved = ''
    let at = 0
    for (const [begin, end] of tagsIn(source)) {
      resolved += source.slice(at, begin) + this.#tag(source.slice(begin, end), depth)
      at = end
    }
    return resolved + source.slice(at)
  }

  #tag(tag: string, depth: number): string {
    const whole = wholeOutput.exec(tag)
    if (whole?.[1] !== undefined) return this.#text(whole[1], depth)
    let before = ''
    // A text with Liquid is rendered before the filter gets it.
    const asValue = (key: string) => {
      const text = this.#text(key, depth)
      if (!/\{[{%]|[}%]\}/.test(text) && !(text.includes('"') && text.includes("'"))) {
        return text.includes('"') ? `'${text.replaceAll('\\', '\\\\')}'` : `"${text.replaceAll('\\', '\\\\')}"`
      }
      const name = `__t${this.#captures++}`
      before += `{% capture ${name} %}${text}{% endcapture %}`
      return name
    }
    const changed = tag
      .replace(filteredOutput, (_, open: string, key: string, rest: string) => `${open}${asValue(key)}${rest}`)
      .replace(argument, (_, open: string, _quote: string, key: string) => `${open}${asValue(key)}`)
    return before + changed
  }

  #text(key: string, depth: number): string {
    const text = this.#translator(key)
    if (text === undefined) {
      throw new RenderError('translation_missing', `There is no translation for "${key}"`)
    }
    if (depth >= NESTING) {
      throw new RenderError(
        'translation_missing',
        `The translation of "${key}" is nested too deeply; translations may refer to each other ${NESTING} levels deep`,
      )
    }
    this.#characters += text.length
    if (this.#characters > SOURCE_LIMIT) {
      throw new RenderError(
        'template_too_large',
        `The translations make the template longer than ${SOURCE_LIMIT} characters`,
      )
    }
    return mentionsTranslation.test(text) ? this.resolve(text, depth + 1) : text
  }
}
