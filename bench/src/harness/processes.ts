// What the service and its database take of the machine, as Linux tells it. Elsewhere there is nothing to read, and every
// figure that needs it is left out.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Service } from './service.ts'

const canRead = existsSync('/proc/self/stat')
/** Linux counts processor time for programs in hundredths of a second, whatever its own clock does. */
const tickMs = 10

interface Stat {
  parent: number
  /** Of the process itself. */
  ownMs: number
  /** Of those it started that have ended. */
  endedMs: number
}

function statOf(pid: number): Stat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name before it, in parentheses, may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (place: number) => Number(fields[place])
  return { parent: at(1), ownMs: (at(11) + at(12)) * tickMs, endedMs: (at(13) + at(14)) * tickMs }
}

/** Processor time of one process since it began, in milliseconds; not a number where it cannot be read. */
export const cpuMs = (pid: number): number => statOf(pid)?.ownMs ?? Number.NaN

/** Memory of one process that is its own or shared, in KB. */
export const residentKb = (pid: number): number =>
  canRead ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) : Number.NaN

/** The process that all of the database's processes are children of. */
export async function postmasterOf({ database }: Pick<Service, 'database'>): Promise<number> {
  const { rows } = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return statOf(rows[0]?.pid ?? 0)?.parent ?? Number.NaN
}

/** Processor time of a process and of all it has started: those that ended are counted by whoever started them. */
export function cpuMsOfAll(pid: number): number {
  const stat = statOf(pid)
  if (!stat) return Number.NaN
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((child) => child?.parent === pid)
  return children.reduce((sum, child) => sum + (child?.ownMs ?? 0), stat.ownMs + stat.endedMs)
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
