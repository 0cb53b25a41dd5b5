// Texts by key: stored nested, edited flat.
import type { Texts } from '../../api/translations.ts'

/** `['order', 'title']` is written `{{t.order.title}}`. */
export interface Text {
  path: string[]
  text: string
}

const separator = '\u0000'
export const idOf = (path: readonly string[]): string => path.join(separator)
export const nameOf = (path: readonly string[]): string => path.join('.')

const isObject = (value: unknown): value is Texts =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** All texts. Other values (numbers, lists) appear only in the JSON view. */
export function flat(texts: Texts, above: string[] = []): Text[] {
  return Object.entries(texts).flatMap(([key, value]) => {
    const path = [...above, key]
    if (isObject(value)) return flat(value, path)
    return typeof value === 'string' ? [{ path, text: value }] : []
  })
}

/** Sets the text at a path. An empty text removes the key, so that the default locale's is used. */
export function withText(texts: Texts, path: readonly string[], text: string): Texts {
  const [key, ...rest] = path
  if (key === undefined) return texts
  const { [key]: before, ...others } = texts
  if (rest.length > 0) {
    const inner = withText(isObject(before) ? before : {}, rest, text)
    return Object.keys(inner).length === 0 ? others : { ...texts, [key]: inner }
  }
  return text === '' ? others : { ...texts, [key]: text }
}
