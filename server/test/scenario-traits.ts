// Which generated scenarios to compare: as few as have together whatever hundreds of them have.

type Members = Record<string, unknown>

/** Members whose values are traits of their own: each kind of step, each night the clocks change, each fault. */
const told = new Set([
  ...['type', 'cron', 'unit', 'fault', 'channel', 'startAt', 'timezone', 'dynamicKey', 'action', 'status', 'method'],
  ...['active', 'delete', 'isEnabled'],
])

/** `digest.lookBackWindow`, `inputs.fault=timeout`: every member that a step, an input or a person has, and some values. */
export function traitsOf(value: unknown, within = 'scenario', found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const each of value) traitsOf(each, within, found)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return found
  const { type } = value as Members
  const name = typeof type === 'string' ? type : within
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    // Answers are by the ids of steps, hours by the days of the week.
    const isName = /-\d+$|day$/.test(key)
    if (!isName && name !== 'payload') {
      found.add(`${name}.${key}`)
      if (told.has(key)) found.add(`${within}.${key}=${String(member)}`)
    }
    traitsOf(member, key === 'controlValues' ? name : isName ? within : key, found)
  }
  return found
}

/**
 * The numbers whose scenarios have together every trait of all of these: always the one that adds most.
 * @param known traits that other scenarios have
 */
export function numbersOfAll(
  make: (number: number) => Members,
  { from, count, known }: { from: number; count: number; known: Set<string> },
): number[] {
  const all = Array.from({ length: count }, (_, index) => [from + index, traitsOf(make(from + index))] as const)
  const left = new Set(all.flatMap(([, traits]) => [...traits]).filter((trait) => !known.has(trait)))
  const chosen: number[] = []
  while (left.size > 0) {
    const added = (traits: Set<string>) => [...traits].filter((trait) => left.has(trait)).length
    const [number, traits] = all.reduce((best, next) => (added(next[1]) > added(best[1]) ? next : best))
    chosen.push(number)
    for (const trait of traits) {
      left.delete(trait)
      known.add(trait)
    }
  }
  return chosen
}
