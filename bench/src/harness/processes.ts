// Processor time and memory of the service and its database, read from Linux's /proc. On other systems, figures that need
// them are omitted.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Service } from './service.ts'

const canRead = existsSync('/proc/self/stat')
/** Linux reports processor time to programs in hundredths of a second, whatever its clock rate. */
const tickMs = 10

interface Stat {
  parent: number
  /** Of the process itself, in whole ticks. */
  ownMs: number
  /** Of its child processes that have ended. */
  endedMs: number
}

/**
 * To the nanosecond, of the threads that are alive; NaN where the kernel does not tell. In whole ticks, user and system time each, an
 * idle minute of twenty processes is a guess: what a connection has used is rounded away as long as it is open, and counted when it ends.
 */
function exactMs(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((id) =>
      readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'),
    )
    return threads.reduce((sum, text) => sum + Number.parseInt(text, 10) / 1e6, 0)
  } catch {
    return Number.NaN
  }
}

/** Whichever is more: only whole ticks include threads that have ended. */
const ownMsOf = (pid: number, { ownMs }: Stat): number => {
  const exact = exactMs(pid)
  return exact > ownMs ? exact : ownMs
}

function statOf(pid: number): Stat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // Skip the process name in parentheses, which may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (place: number) => Number(fields[place])
  return { parent: at(1), ownMs: (at(11) + at(12)) * tickMs, endedMs: (at(13) + at(14)) * tickMs }
}

/** Processor time of one process since its start, in milliseconds; NaN if it cannot be read. */
export function cpuMs(pid: number): number {
  const stat = statOf(pid)
  return stat ? ownMsOf(pid, stat) : Number.NaN
}

/** Resident memory of one process, shared pages included, in KB. */
export const residentKb = (pid: number): number =>
  canRead ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) : Number.NaN

/** PostgreSQL's parent process. */
export async function postmasterOf({ database }: Pick<Service, 'database'>): Promise<number> {
  const { rows } = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return statOf(rows[0]?.pid ?? 0)?.parent ?? Number.NaN
}

/** Processor time of a process and all its children; Linux adds the time of ended children to their parent. */
export function cpuMsOfAll(pid: number): number {
  const stat = statOf(pid)
  if (!stat) return Number.NaN
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ child: Number(name), its: statOf(Number(name)) }))
  return children.reduce(
    (sum, { child, its }) => sum + (its?.parent === pid ? ownMsOf(child, its) : 0),
    ownMsOf(pid, stat) + stat.endedMs,
  )
}

/** A process and all below it: how many, and their memory, of which each has its share of what they share (PSS). */
export function treeOf(pid: number): { processes: number; sharedFairlyKb: number } {
  if (!canRead) return { processes: Number.NaN, sharedFairlyKb: Number.NaN }
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), statOf(Number(name))?.parent]),
  )
  const tree = [pid]
  for (const each of tree) for (const [child, parent] of parents) if (parent === each) tree.push(child)
  const pss = (each: number) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
    } catch {
      // Ended meanwhile.
      return 0
    }
  }
  return { processes: tree.length, sharedFairlyKb: tree.reduce((sum, each) => sum + pss(each), 0) }
}

/** Processor time that `work` costs these processes, in milliseconds. */
export async function cpuOf<Name extends string>(
  measured: Record<Name, () => number>,
  work: () => Promise<unknown>,
): Promise<Record<Name, number>> {
  const entries = Object.entries(measured) as Array<[Name, () => number]>
  const before = entries.map(([, read]) => read())
  await work()
  return Object.fromEntries(
    entries.map(([name, read], place) => [name, read() - (before[place] ?? Number.NaN)]),
  ) as Record<Name, number>
}
