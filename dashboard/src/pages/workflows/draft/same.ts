// Whether two values are the same as JSON: the order of members does not count, and an undefined member is an absent one.

type Members = Record<string, unknown>

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((value, index) => same(value, b[index]))
  if (!isMembers(a) || !isMembers(b)) return false
  return namesIn(a, b).every((name) => same(memberOf(a, name), memberOf(b, name)))
}

/** The names of all members, each once. */
export const namesIn = (...objects: Members[]): string[] => [...new Set(objects.flatMap((each) => Object.keys(each)))]

/** Undefined for what an object only inherits, such as `constructor`. */
export const memberOf = (object: Members, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined
