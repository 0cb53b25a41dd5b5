// Values whose texts are templates, where a text that is nothing but one expression keeps the type of its value.
import { DEPTH_LIMIT, guarded, tooDeep } from './limits.ts'
import { compileExpression, renderTemplate, type Situation } from './liquid.ts'
import { Run, toValue } from './run.ts'

/** Undefined where an expression finds nothing. */
export function renderTyped(value: unknown, of: Situation, depth = 0): unknown {
  if (typeof value === 'string') return renderOne(value, of)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH_LIMIT) throw tooDeep()
  if (Array.isArray(value)) return value.map((item) => renderTyped(item, of, depth + 1) ?? null)
  const members = Object.entries(value).map(([name, member]) => [name, renderTyped(member, of, depth + 1)] as const)
  return Object.fromEntries(members.filter(([, member]) => member !== undefined))
}

const oneExpression = /^\s*\{\{-?((?:(?!\{\{|\}\}|\{%)[\s\S])*?)-?\}\}\s*$/

function renderOne(text: string, of: Situation): unknown {
  const source = oneExpression.exec(text)?.[1]
  if (source === undefined) return renderTemplate(text, of)
  const { data, now, budget } = of
  return guarded(() => copied(toValue(compileExpression(source.trim())(new Run(data, budget, now, '"')))))
}

/** What is stored does not share objects with the data. */
const copied = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (JSON.parse(JSON.stringify(value)) as unknown) : value
