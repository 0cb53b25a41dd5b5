// The log of a step, as it is stored. Nearly all steps have the same few lines, written with the step and never read again: those
// are stored as numbers, in a seventh of the space.
import type { LogEntry, StoredDetail } from './tables.ts'

/**
 * A line is stored as twice its place here, plus one if it names the step's provider. The numbers stay: lines are only added, at
 * the end.
 */
const usual = [
  ['Step queued', 'Pending'],
  ['Message created', 'Pending'],
  ['Message sent', 'Success'],
] as const

const numbers = new Map<string, number>(usual.map(([detail], place) => [detail, place]))

/** What a number leaves out. */
interface Step {
  createdAt: Date
  providerId: string | null
}

/** The log of a new step, for storing. */
export function shortLog(lines: StoredDetail[], { createdAt, providerId }: Step): LogEntry[] {
  const at = createdAt.toISOString()
  return lines.map((line) => {
    const place = numbers.get(line.detail)
    const members = line.providerId === undefined ? 3 : 4
    const isUsual =
      place !== undefined &&
      line.at === at &&
      line.status === usual[place]?.[1] &&
      (members === 3 || line.providerId === providerId) &&
      Object.keys(line).length === members
    return isUsual ? place * 2 + members - 3 : line
  })
}

/** The lines of a stored log. */
export function wholeLog(entries: LogEntry[], { createdAt, providerId }: Step): StoredDetail[] {
  if (!entries.some((entry) => typeof entry === 'number')) return entries as StoredDetail[]
  const at = createdAt.toISOString()
  return entries.map((entry): StoredDetail => {
    if (typeof entry === 'object') return entry
    const [detail, status] = usual[Math.floor(entry / 2)] ?? [`Unknown line ${entry}`, 'Pending']
    return { at, detail, status, ...(entry % 2 === 1 && providerId !== null ? { providerId } : {}) }
  })
}
