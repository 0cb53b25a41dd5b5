// Control values, in which every string is a template. They are compiled once per object and language.

import { DEPTH_LIMIT, tooDeep } from './limits.ts'
import { compileTemplate, hasLiquid, renderEmit, type Situation } from './liquid.ts'
import type { Emit } from './run.ts'
import { noTranslations, type Translator, translate } from './translations.ts'

export type Values = Readonly<Record<string, unknown>>
type Render = (of: Situation) => unknown

const compiled = new WeakMap<Values, WeakMap<Translator, Render>>()

/** The values with all templates rendered. `values` must not change between calls. */
export function renderValues(values: Values, of: Situation, translator: Translator = noTranslations): Values {
  const byTranslator = compiled.get(values) ?? new WeakMap<Translator, Render>()
  compiled.set(values, byTranslator)
  const render = byTranslator.get(translator) ?? compileObject(values, translator, 0, false)
  byTranslator.set(translator, render)
  return render(of) as Values
}

function compileValue(value: unknown, translator: Translator, depth: number, isData: boolean): Render {
  if (typeof value === 'string') return compileText(value, translator, isData)
  if (typeof value !== 'object' || value === null) return () => value
  if (depth > DEPTH_LIMIT) throw tooDeep()
  if (!Array.isArray(value)) return compileObject(value as Values, translator, depth + 1, isData)
  const items = value.map((item: unknown) => compileValue(item, translator, depth + 1, isData))
  return (of) => items.map((item) => item(of))
}

function compileObject(values: Values, translator: Translator, depth: number, isData: boolean): Render {
  const members = Object.entries(values).map(([name, value]) => ({
    // Member names are templates only inside `data`.
    name: isData ? compileText(name, translator, false) : () => name,
    render: compileValue(value, translator, depth, isData || (depth === 0 && name === 'data')),
  }))
  return (of) => Object.fromEntries(members.map(({ name, render }) => [name(of), render(of)]))
}

function compileText(text: string, translator: Translator, isData: boolean): (of: Situation) => string {
  if (!hasLiquid(text)) return () => text
  const emit = compileTemplate(translate(text, translator))
  return isData ? (of) => renderData(emit, of) : (of) => renderEmit(emit, of)
}

/**
 * Objects print with single quotes, which is not JSON. If a text in `data` is meant to be JSON, they print as JSON; it stays a
 * text either way.
 */
function renderData(emit: Emit, of: Situation): string {
  const text = renderEmit(emit, of)
  const trimmed = text.trim()
  const looksLikeJson =
    (trimmed.startsWith('{') && trimmed.endsWith('}')) || (trimmed.startsWith('[') && trimmed.endsWith(']'))
  if (!looksLikeJson || isJson(text)) return text
  const printed = renderEmit(emit, of, '"')
  return isJson(printed) ? printed : text
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** One text of the values. A value that is not a string, in a workflow saved with issues, renders empty. */
export function renderText(text: unknown, of: Situation, translator: Translator = noTranslations): string {
  if (typeof text !== 'string') return ''
  return hasLiquid(text) ? renderEmit(compileTemplate(translate(text, translator)), of) : text
}
