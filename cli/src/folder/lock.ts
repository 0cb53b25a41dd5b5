// One process at a time. Each has a file of its own, with its number in the name, and has the lock while there is no file of
// another process that runs. So a file that was left can be removed by several at once: it never is the one of somebody new.
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The work takes milliseconds. Whoever has the lock for longer has another process's number by chance. */
const patienceMs = 5_000
const pauseMs = 10
/** In a container every run may have the same number. */
const own = `${process.pid}-${randomUUID()}`

export interface Holder {
  pid: number
  file: string
}

export function withLock(place: string, work: () => void): void {
  for (let holder = lock(place, patienceMs); holder; holder = lock(place, patienceMs))
    rmSync(holder.file, { force: true })
  try {
    work()
  } finally {
    unlock(place)
  }
}

/** @returns who has it all this time; undefined once it was got, and `unlock` gives it back */
export function lock(place: string, waitMs: number): Holder | undefined {
  mkdirSync(path.dirname(place), { recursive: true })
  const until = Date.now() + waitMs
  for (;;) {
    // In this order: of two that come in the same instant, at least one sees the other.
    writeFileSync(`${place}.${own}`, '', { flag: 'wx', mode: 0o600 })
    const holder = otherAt(place)
    if (!holder) return undefined
    unlock(place)
    if (Date.now() >= until) return holder
    // Both may have stepped back, and have to come at different times.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs * (1 + Math.random()))
  }
}

export function unlock(place: string): void {
  rmSync(`${place}.${own}`, { force: true })
}

function otherAt(place: string): Holder | undefined {
  const folder = path.dirname(place)
  for (const name of readdirSync(folder)) {
    const [, pid, token] = name.startsWith(`${path.basename(place)}.`) ? (/\.(\d+)-([^.]+)$/.exec(name) ?? []) : []
    if (pid === undefined || `${pid}-${token}` === own) continue
    const file = path.join(folder, name)
    if (isRunning(Number(pid))) return { pid: Number(pid), file }
    rmSync(file, { force: true })
  }
  return undefined
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
