// The log of a step, as it is stored. Nearly all steps have the same few lines, written with the step and never read again: those
// are stored as numbers, in a seventh of the space.
import { storableJson } from './storable.ts'
import type { LogEntry, StoredDetail } from './tables.ts'

/**
 * A line is stored as twice its place here, plus one if it names the step's provider. The numbers stay: lines are only added, at
 * the end.
 */
const usual: ReadonlyArray<Pick<StoredDetail, 'detail' | 'status'> & { showsOutput?: true }> = [
  { detail: 'Step queued', status: 'Pending' },
  { detail: 'Message created', status: 'Pending' },
  { detail: 'Message sent', status: 'Success' },
  { detail: 'The run goes on in an arm of the branch', status: 'Success', showsOutput: true },
]

const numbers = new Map<string, number>(usual.map(({ detail }, place) => [detail, place]))

/** Many lines share one moment; format it once. */
const latest = { moment: new Date(0), text: '' }

export function isoOf(moment: Date): string {
  if (moment !== latest.moment) Object.assign(latest, { moment, text: moment.toISOString() })
  return latest.text
}

/** What a number leaves out. */
interface Step {
  createdAt: Date
  providerId: string | null
  output: unknown
}

/** The log of a new step, for storing. */
export function shortLog(lines: StoredDetail[], { createdAt, providerId, output }: Step): LogEntry[] {
  const at = isoOf(createdAt)
  return lines.map((line) => {
    const place = numbers.get(line.detail)
    if (place === undefined) return line
    const { status, showsOutput } = usual[place] ?? {}
    const hasProvider = line.providerId === undefined ? 0 : 1
    const isUsual =
      line.at === at &&
      line.status === status &&
      (hasProvider === 0 || line.providerId === providerId) &&
      (!showsOutput || line.raw === storableJson(output)) &&
      Object.keys(line).length === 3 + hasProvider + (showsOutput ? 1 : 0)
    return isUsual ? place * 2 + hasProvider : line
  })
}

/** The lines of a stored log. */
export function wholeLog(entries: LogEntry[], { createdAt, providerId, output }: Step): StoredDetail[] {
  if (!entries.some((entry) => typeof entry === 'number')) return entries as StoredDetail[]
  const at = createdAt.toISOString()
  return entries.map((entry): StoredDetail => {
    if (typeof entry === 'object') return entry
    const { detail, status, showsOutput } = usual[Math.floor(entry / 2)] ?? {
      ...{ detail: `Unknown line ${entry}`, status: 'Pending' as const, showsOutput: undefined },
    }
    return {
      ...{ at, detail, status },
      ...(entry % 2 === 1 && providerId !== null ? { providerId } : {}),
      ...(showsOutput ? { raw: JSON.stringify(output) } : {}),
    }
  })
}
