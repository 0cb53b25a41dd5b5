// Every filter a template can use: the service's own, the list and date filters, and LiquidJS's for text and numbers.
import { filters as liquidFilters } from 'liquidjs'
import pluralizeWord from 'pluralize'
import { dateFilters } from './date-filters.ts'
import { OUTPUT_LIMIT, outputTooLarge } from './limits.ts'
import { listFilters } from './list-filters.ts'
import { type Filter, type FilterArguments, printJson, type Run, readPath, toText, toValue } from './run.ts'

// Each was reviewed in LiquidJS 10.30: linear time, no backtracking regular expression, no state between calls. Review a filter
// of a later version before you list it here.
const taken =
  'escape xml_escape escape_once newline_to_br strip_html abs at_least at_most ceil divided_by floor minus plus modulo times round url_decode url_encode cgi_escape uri_escape slugify append prepend lstrip downcase upcase remove remove_first remove_last rstrip split strip strip_newlines squish capitalize replace replace_first replace_last truncate truncatewords normalize_whitespace number_of_words array_to_sentence_string base64_encode base64_decode sha256 hmac_sha256 default raw to_integer'.split(
    ' ',
  )
const searching = new Set('remove remove_first remove_last split replace replace_first replace_last'.split(' '))

type Handler = (this: unknown, value: unknown, ...args: unknown[]) => unknown

/** The part of LiquidJS's context that these filters use. */
const surroundings = {
  context: {
    opts: { jsTruthy: false },
    ownPropertyOnly: true,
    memoryLimit: {
      // LiquidJS calls it with the size of a result beforehand.
      use(characters: number) {
        if (characters > OUTPUT_LIMIT) throw outputTooLarge()
      },
    },
  },
}

function takeFromLiquid(name: string): Filter {
  const implementation = (liquidFilters as Record<string, unknown>)[name]
  const handler = (typeof implementation === 'function' ? implementation : (value: unknown) => value) as Handler
  return {
    apply: (_, value, args, options) =>
      handler.call(surroundings, toValue(value), ...args.map(toValue), ...Object.entries(options)),
    searches: searching.has(name),
  }
}

/** A list's items as text, or the value at a path of each. */
function textsOf(run: Run, value: unknown, keyPath: unknown): string[] | undefined {
  const list = toValue(value)
  if (!Array.isArray(list)) return undefined
  const path = typeof keyPath === 'string' && keyPath !== '' ? keyPath.split('.') : undefined
  run.budget.spend(list.length)
  return list.map((item) => textOf(run, path === undefined ? item : readPath(item, path, run.budget)))
}

function textOf(run: Run, of: unknown): string {
  const value = toValue(of)
  if (typeof value !== 'object' || value === null) return run.print(value)
  return Object.keys(value).length === 0 ? '' : printJson(value, run.budget, '"')
}

const limitOf = (value: unknown, otherwise: number) => {
  const limit = Math.floor(Number(toValue(value)))
  return value === undefined || Number.isNaN(limit) ? otherwise : Math.max(limit, 0)
}

const optionalText = (value: unknown, otherwise: string) => (value === undefined ? otherwise : toText(value))

/** "John, Josh and 2 others" */
function digest(run: Run, value: unknown, [max, keyPath, separator]: FilterArguments): string {
  const texts = textsOf(run, value, keyPath) ?? []
  // Two are always named: "1 other" would be no shorter.
  if (texts.length <= 2) return texts.join(' and ')
  const limit = limitOf(max, 2)
  const between = optionalText(separator, ', ')
  if (limit >= texts.length) return `${texts.slice(0, -1).join(between)} and ${texts.at(-1)}`
  const rest = texts.length - limit
  return [texts.slice(0, limit).join(between), countOf(rest, 'other')].filter((part) => part !== '').join(' and ')
}

/** "John, Josh, and 2 others" */
function toSentence(run: Run, value: unknown, args: FilterArguments): string {
  const [keyPath, max, suffix, words, two, last] = args
  const texts = textsOf(run, value, keyPath) ?? []
  const limit = limitOf(max, 2)
  const betweenWords = optionalText(words, ', ')
  const betweenTwo = optionalText(two, ' and ')
  const beforeLast = optionalText(last, ', and ')
  if (texts.length <= 2) return texts.join(betweenTwo)
  if (limit >= texts.length) return `${texts.slice(0, -1).join(betweenWords)}${beforeLast}${texts.at(-1)}`
  const rest = countOf(texts.length - limit, optionalText(suffix, 'other'))
  if (limit === 0) return rest
  return `${texts.slice(0, limit).join(betweenWords)}${limit === 1 ? betweenTwo : beforeLast}${rest}`
}

function pluralize(value: unknown, [singular, plural, showCount]: FilterArguments): string {
  const count = countIn(toValue(value))
  if (!(count > 0)) return ''
  const one = optionalText(singular, '')
  const word = count === 1 ? one : optionalText(plural, '') || inflect(one)
  const isShown = toText(showCount) !== 'false'
  return isShown ? `${count} ${word}`.trimEnd() : word
}

function countIn(value: unknown): number {
  if (Array.isArray(value)) return value.length
  if (typeof value === 'object' && value !== null) return Object.keys(value).length
  if (typeof value === 'string') return value.trim() === '' ? 0 : Number(value)
  return typeof value === 'number' ? value : 0
}

const countOf = (count: number, word: string) => `${count} ${count === 1 ? word : inflect(word)}`.trimEnd()

/** The library tries about a hundred patterns; a longer text is no English word. */
const inflect = (word: string) => (word.length > 64 ? word : pluralizeWord(word))

function json(run: Run, value: unknown, [indent]: FilterArguments): string {
  const plain = toValue(value)
  if (typeof plain !== 'object' || plain === null) return run.print(plain)
  return printJson(plain, run.budget, run.quote, limitOf(indent, 0))
}

const own: Record<string, Filter['apply']> = {
  digest,
  toSentence,
  pluralize: (_, value, args) => pluralize(value, args),
  json,
  jsonify: json,
  inspect: json,
}

export const filterTable: Readonly<Record<string, Filter>> = Object.assign(
  Object.create(null),
  Object.fromEntries(taken.map((name) => [name, takeFromLiquid(name)])),
  Object.fromEntries(
    Object.entries({ ...listFilters, ...dateFilters, ...own }).map(([name, apply]) => [name, { apply }]),
  ),
)

export const isFilter = (name: string) => name in filterTable
