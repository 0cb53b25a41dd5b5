// Provider data: members that a workflow or a caller adds to one provider's request, renamed to the provider's casing, and
// `_passthrough`, which goes out unchanged. Specification: providers.md, section 1.3.

export type Casing = 'camel' | 'pascal' | 'snake' | 'kebab' | 'constant'

/** Plain data, as it came out of JSON. */
export type Data = Record<string, unknown>

export interface Naming {
  casing: Casing
  /** Exceptions, by the name that the casing gives. */
  names?: Record<string, string>
}

export interface Extended {
  body: Data
  headers: Record<string, string>
  query: Record<string, string>
}

/** The body with provider data merged in, and the headers and query it adds. */
export function extend(base: Data, providerData: Data, naming: Naming): Extended {
  const { _passthrough, ...known } = providerData
  const passthrough = isPlain(_passthrough) ? _passthrough : {}
  const named = rename(known, naming) as Data
  return {
    body: merge(merge(base, named), isPlain(passthrough.body) ? passthrough.body : {}) as Data,
    headers: Object.fromEntries(
      texts(passthrough.headers)
        .map(([name, value]) => [name.toLowerCase(), value] as const)
        .filter(([name]) => !connectionHeaders.has(name)),
    ),
    query: Object.fromEntries(texts(passthrough.query)),
  }
}

/** Headers that the HTTP client sets itself. */
const connectionHeaders = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'expect'])

const texts = (value: unknown): Array<[string, string]> =>
  Object.entries(isPlain(value) ? value : {}).flatMap(([name, inner]) =>
    ['string', 'number', 'boolean'].includes(typeof inner) ? [[name, String(inner)]] : [],
  )

/** Later values win and lists are joined, so that callers can add recipients. Undefined is ignored. */
export function merge(base: unknown, added: unknown): unknown {
  if (added === undefined) return base
  if (Array.isArray(base) && Array.isArray(added)) return [...(base as unknown[]), ...(added as unknown[])]
  if (!isPlain(base) || !isPlain(added)) return added
  return mergeMembers(base, added, merge)
}

/**
 * Merges provider data from the step's code, the workflow and the step; the last wins. Here lists are merged index by index.
 */
export function mergeSources(...sources: Array<Data | undefined>): Data {
  return sources.reduce<Data>((merged, source) => byIndex(merged, source ?? {}) as Data, {})
}

function byIndex(base: unknown, added: unknown): unknown {
  if (added === undefined) return base
  if (Array.isArray(base) && Array.isArray(added)) {
    const length = Math.max(base.length, added.length)
    return Array.from({ length }, (_, index) => byIndex(base[index] as unknown, added[index] as unknown))
  }
  if (!isPlain(base) || !isPlain(added)) return added
  return mergeMembers(base, added, byIndex)
}

function mergeMembers(base: Data, added: Data, mergeMember: (base: unknown, added: unknown) => unknown): Data {
  const more = Object.keys(added)
  // The usual case, for every message.
  if (more.length === 0) return base
  const names = new Set([...Object.keys(base), ...more])
  // From entries, so that __proto__ is an ordinary member.
  return Object.fromEntries(
    [...names].map((name) => [name, mergeMember(own(base, name), own(added, name))] as [string, unknown]),
  )
}

const own = (data: Data, name: string): unknown => (Object.hasOwn(data, name) ? data[name] : undefined)

/** Bytes, files and dates count as values; only plain objects are merged. */
export function isPlain(value: unknown): value is Data {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Members at every depth. */
export function rename(value: unknown, naming: Naming): unknown {
  if (Array.isArray(value)) return value.map((item) => rename(item, naming))
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const cased = inCase(name, naming.casing)
      const { names = {} } = naming
      return [Object.hasOwn(names, cased) ? (names[cased] ?? cased) : cased, rename(inner, naming)]
    }),
  )
}

const upperFirst = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

export function inCase(name: string, casing: Casing): string {
  const words = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
  switch (casing) {
    case 'camel':
      return words.map((word, index) => (index === 0 ? word : upperFirst(word))).join('')
    case 'pascal':
      return words.map(upperFirst).join('')
    case 'snake':
      return words.join('_')
    case 'kebab':
      return words.join('-')
    case 'constant':
      return words.join('_').toUpperCase()
  }
}
