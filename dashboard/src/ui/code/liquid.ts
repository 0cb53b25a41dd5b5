// Completions for templates: the variables of a JSON Schema and the filters of the server.
import type { Completion, CompletionContext, CompletionSource } from '@codemirror/autocomplete'
import type { Diagnostic } from '@codemirror/lint'

export type JsonSchema = Record<string, unknown>

export interface Variable {
  /** `payload.items`, as it is written in a template. */
  path: string
  /** `string`, `number`, `list`… */
  type: string
}

const deepest = 7
const most = 1_000

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * All variables of a schema. Blocks inside a repeat use fields of an item by the path of its list; `inLists` adds those.
 */
export function variablesIn(schema: unknown, { inLists = false } = {}): Variable[] {
  const found: Variable[] = []
  const walk = (at: unknown, path: string, depth: number) => {
    if (!isObject(at) || depth > deepest || found.length >= most) return
    const properties = isObject(at.properties) ? Object.entries(at.properties) : []
    const branches = [at.anyOf, at.oneOf, at.allOf].flatMap((list) => (Array.isArray(list) ? list : []))
    const isList = at.type === 'array' || at.items !== undefined
    if (path !== '') {
      const type = isList ? 'list' : typeof at.type === 'string' ? at.type : properties.length > 0 ? 'object' : ''
      // Skip objects that only contain other variables, unless their fields are unknown.
      if (type !== 'object' || properties.length === 0) found.push({ path, type })
    }
    for (const [name, inner] of properties) walk(inner, join(path, name), depth + 1)
    for (const branch of branches) walk(isObject(branch) ? { ...branch, type: 'object' } : branch, path, depth + 1)
    if (isList && inLists && isObject(at.items) && isObject(at.items.properties))
      for (const [name, inner] of Object.entries(at.items.properties)) walk(inner, join(path, name), depth + 1)
  }
  walk(schema, '', 0)
  const seen = new Set<string>()
  return found.filter(({ path }) => !seen.has(path) && seen.add(path))
}

/** The variables of an example: the fields of a payload whose schema leaves them open. Fields of items as in `variablesIn`. */
export function variablesOfExample(example: unknown, path: string, { inLists = false } = {}): Variable[] {
  if (Array.isArray(example)) {
    const [item] = example as unknown[]
    const ofItem = inLists && isObject(item) ? variablesOfExample(item, path, { inLists }) : []
    return [{ path, type: 'list' }, ...ofItem]
  }
  if (!isObject(example)) return [{ path, type: example === null ? '' : typeof example }]
  return Object.entries(example).flatMap(([name, value]) => variablesOfExample(value, join(path, name), { inLists }))
}

function join(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}['${name.replaceAll("'", "\\'")}']`
  return path === '' ? name : `${path}.${name}`
}

interface FilterHelp {
  name: string
  /** Inserted after the name. */
  rest?: string
  help: string
}

/** The most used filters first, then the others of the server. */
export const filters: readonly FilterHelp[] = [
  { name: 'default', rest: ": 'there'", help: 'This text if there is no value' },
  { name: 'capitalize', help: 'Capitalizes the first letter' },
  { name: 'upcase', help: 'UPPERCASE' },
  { name: 'downcase', help: 'lowercase' },
  { name: 'truncate', rest: ': 80', help: 'At most so many characters' },
  { name: 'truncatewords', rest: ': 12', help: 'At most so many words' },
  { name: 'date', rest: ": '%-d %B %Y'", help: 'A formatted date' },
  { name: 'pluralize', rest: ": 'comment', 'comments'", help: '1 comment, 2 comments' },
  { name: 'toSentence', rest: ": 'payload.author', 2, 'other'", help: 'Ada, Grace, and 2 others' },
  { name: 'digest', rest: ": 2, 'payload.author', ', '", help: 'Ada, Grace and 2 others' },
  { name: 'size', help: 'How many items, or characters' },
  { name: 'first', help: 'The first item' },
  { name: 'last', help: 'The last item' },
  { name: 'join', rest: ": ', '", help: 'Joins a list into a text' },
  { name: 'map', rest: ": 'name'", help: 'One field of each item' },
  { name: 'where', rest: ": 'status', 'open'", help: 'Items with this value' },
  { name: 'sort', rest: ": 'name'", help: 'Items in order' },
  { name: 'uniq', help: 'Each item once' },
  { name: 'compact', help: 'Removes empty items' },
  { name: 'reverse', help: 'Items in reverse order' },
  { name: 'slice', rest: ': 0, 5', help: 'Part of a list or text' },
  { name: 'sum', help: 'Sum of all numbers' },
  { name: 'plus', rest: ': 1', help: 'Adds' },
  { name: 'minus', rest: ': 1', help: 'Subtracts' },
  { name: 'times', rest: ': 2', help: 'Multiplies' },
  { name: 'divided_by', rest: ': 2', help: 'Divides' },
  { name: 'round', rest: ': 2', help: 'Rounds to so many digits' },
  { name: 'replace', rest: ": 'this', 'that'", help: 'Replaces a text' },
  { name: 'remove', rest: ": 'this'", help: 'Removes a text' },
  { name: 'append', rest: ": '!'", help: 'Appends a text' },
  { name: 'prepend', rest: ": '# '", help: 'Prepends a text' },
  { name: 'split', rest: ": ','", help: 'Splits a text into a list' },
  { name: 'strip', help: 'Removes space around it' },
  { name: 'strip_html', help: 'Removes HTML tags' },
  { name: 'escape', help: 'Escapes for HTML' },
  { name: 'newline_to_br', help: 'Line breaks for HTML' },
  { name: 'url_encode', help: 'Escapes for a URL' },
  { name: 'json', help: 'As JSON' },
]

const opening = /\{[{%](?:(?!\}\}|%\}).)*$/s

/** Variables after `{{`, filters after `|`. */
export function liquidCompletions(variables: readonly Variable[]): CompletionSource {
  const ofVariables: Completion[] = variables.map(({ path, type }) => ({
    label: path,
    detail: type,
    type: 'variable',
    // Variables of the workflow come before those of the server.
    boost: path.startsWith('payload') ? 2 : path.startsWith('subscriber') ? 1 : 0,
  }))
  const ofFilters: Completion[] = filters.map(({ name, rest = '', help }) => ({
    label: name,
    detail: help,
    type: 'function',
    apply: `${name}${rest}`,
  }))
  return (context: CompletionContext) => {
    const before = context.state.sliceDoc(Math.max(0, context.pos - 500), context.pos)
    const inside = opening.exec(before)?.[0]
    if (inside === undefined) return null
    const isFilter = /\|\s*\w*$/.test(inside)
    const word = context.matchBefore(isFilter ? /(?<!\w)\w*$/ : /(?<![\w.'[\]-])[\w.'[\]-]*$/)
    const isBehindPipe = isFilter && inside.includes('|')
    return {
      from: word?.from ?? context.pos,
      options: isBehindPipe ? ofFilters : ofVariables,
      validFor: isBehindPipe ? /^\w*$/ : /^[\w.'[\]-]*$/,
    }
  }
}

interface TemplateIssue {
  message: string
  variableName?: string | undefined
}

/** The position of each issue in the text; issues without one are shown only below the field. */
export function problemsIn(text: string, issues: readonly TemplateIssue[]): Diagnostic[] {
  const found: Diagnostic[] = []
  for (const { message, variableName } of issues) {
    if (!variableName) continue
    let from = text.indexOf(variableName)
    while (from !== -1 && found.length < 100) {
      found.push({ from, to: from + variableName.length, severity: 'error', message })
      from = text.indexOf(variableName, from + variableName.length)
    }
  }
  return found.sort((a, b) => a.from - b.from)
}
