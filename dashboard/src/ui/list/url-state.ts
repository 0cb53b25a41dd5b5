// Filters, sort and page live in the URL. A page declares its parameters in a schema; others are ignored.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

type Raw = string | string[] | undefined
interface Parser<Value> {
  parse: (raw: Raw) => Value
  /** The default; left out of the URL. */
  fallback: Value
}

const first = (raw: Raw) => (Array.isArray(raw) ? raw[0] : raw)

export const text = (fallback = ''): Parser<string> => ({ fallback, parse: (raw) => first(raw) ?? fallback })

export const oneOf = <const Value extends string>(
  values: readonly Value[],
  fallback: NoInfer<Value>,
): Parser<Value> => ({
  fallback,
  parse: (raw) => values.find((value) => value === first(raw)) ?? fallback,
})

/** All values in the URL; without a list of allowed values, any text. */
export const manyOf = <const Value extends string = string>(values?: readonly Value[]): Parser<Value[]> => ({
  fallback: [],
  parse: (raw) => {
    const given = raw === undefined ? [] : [raw].flat()
    return (values ? given.filter((one) => values.includes(one as Value)) : given) as Value[]
  },
})

export const wholeNumber = (fallback: number, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}): Parser<number> => ({
  fallback,
  parse: (raw) => {
    const value = Number(first(raw))
    return raw !== undefined && Number.isInteger(value) && value >= min && value <= max ? value : fallback
  },
})

export const flag = (): Parser<boolean> => ({ fallback: false, parse: (raw) => first(raw) === 'true' })

type Schema = Record<string, Parser<unknown>>
export type UrlState<S extends Schema> = { [Name in keyof S]: S[Name]['fallback'] }

interface ChangeOptions {
  /** Adds an entry to the browser history. By default a change replaces the current entry. */
  push?: boolean
}

/**
 *     const schema = { query: text(), status: manyOf(['active', 'inactive']), after: text(), before: text() }
 *     const [filters, setFilters] = useUrlState(schema)
 *     setFilters({ status: ['active'] })   // also goes back to the first page
 */
export function useUrlState<S extends Schema>(
  schema: S,
): [state: UrlState<S>, change: (patch: Partial<UrlState<S>>, options?: ChangeOptions) => void] {
  const search = useSearch({ strict: false }) as Record<string, Raw>
  const navigate = useNavigate()
  const state = useMemo(
    () =>
      Object.fromEntries(Object.entries(schema).map(([name, { parse }]) => [name, parse(search[name])])) as UrlState<S>,
    [schema, search],
  )
  const change = useCallback(
    (patch: Partial<UrlState<S>>, { push = false }: ChangeOptions = {}) => {
      void navigate({
        to: '.',
        replace: !push,
        resetScroll: false,
        search: ((previous: Record<string, unknown>) => searchAfter(schema, previous, patch)) as never,
      })
    },
    [navigate, schema],
  )
  return [state, change]
}

/** Where in a list the user is. */
const positions = ['after', 'before', 'page']

/**
 * The search parameters after a change. Page 7 of one filter is not page 7 of another, so every change goes back to the first
 * page unless the patch itself sets the position.
 */
export function searchAfter(
  schema: Schema,
  previous: Record<string, unknown>,
  patch: Record<string, unknown>,
): Record<string, unknown> {
  const firstPage = Object.fromEntries(positions.filter((name) => name in schema).map((name) => [name, undefined]))
  const next: Record<string, unknown> = { ...previous, ...firstPage, ...patch }
  for (const [name, { fallback }] of Object.entries(schema))
    if (JSON.stringify(next[name]) === JSON.stringify(fallback)) next[name] = undefined
  return next
}

/** `?status=a&status=b`: simple enough to write by hand or in other programs. */
export function parseSearch(search: string): Record<string, Raw> {
  const result: Record<string, Raw> = {}
  for (const [name, value] of new URLSearchParams(search)) {
    const before = result[name]
    result[name] = before === undefined ? value : [before, value].flat()
  }
  return result
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search))
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== '') params.append(name, String(one))
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}
