// The entries of a wait: events with a key and a condition, or what becomes of the messages of an earlier step.

export interface AwaitedEntry {
  event?: string | undefined
  key?: string | undefined
  condition?: unknown
  message?: string | undefined
  happens?: string[] | undefined
}

const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What can become of a message, as in "is read". */
export const happenings = [
  { value: 'seen', label: 'seen' },
  { value: 'read', label: 'read' },
  { value: 'archived', label: 'archived' },
  { value: 'acted', label: 'acted on' },
  { value: 'delivered', label: 'delivered' },
  { value: 'opened', label: 'opened' },
  { value: 'clicked', label: 'clicked' },
  { value: 'bounced', label: 'bounced' },
]

export const entriesIn = (value: unknown): AwaitedEntry[] =>
  (Array.isArray(value) ? value : []).map((entry) => (isMembers(entry) ? (entry as AwaitedEntry) : {}))

const listed = new Intl.ListFormat('en', { type: 'disjunction' })

/** "cart.paid", or "Receipt is read or clicked". */
export function entryInWords(
  { event, message, happens = [] }: AwaitedEntry,
  nameOf = (stepId: string) => stepId,
): string {
  if (message !== undefined) {
    const words = happens.map((name) => happenings.find(({ value }) => value === name)?.label ?? name)
    return `${message === '' ? '…' : nameOf(message)} is ${words.length === 0 ? '…' : listed.format(words)}`
  }
  return event ?? '…'
}

/** "Until cart.paid, or Receipt is read". */
export function awaitedInWords(entries: readonly AwaitedEntry[]): string {
  const named = entries.map((entry) => entryInWords(entry)).filter((words) => words !== '…')
  return named.length > 0 ? `Until ${listed.format(named)}` : 'Waits for nothing yet'
}

/** The request that ends the wait: the first event, with what the payload says for its key. */
export function endingEvent(
  entries: readonly AwaitedEntry[],
  payload: Record<string, unknown>,
  subscriberId: string,
): { name: string; key?: string; subscriberId?: string; payload: object } | undefined {
  const found = entries.find(({ event }) => event !== undefined && event !== '')
  if (found?.event === undefined) return undefined
  const key = found.key?.replaceAll(/\{\{\s*payload((?:\.\w+)+)\s*\}\}/g, (whole, path: string) => {
    const value = path
      .slice(1)
      .split('.')
      .reduce<unknown>((inner, name) => (isMembers(inner) ? inner[name] : undefined), payload)
    return value === undefined || typeof value === 'object' ? whole : String(value)
  })
  return { name: found.event, ...(key === undefined ? { subscriberId } : { key }), payload: {} }
}
