// One process at a time: a file with the number of the process that is at work.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The work takes milliseconds. A lock that is there for longer has another process's number by chance. */
const patienceMs = 5_000
const pauseMs = 10

export function withLock(file: string, work: () => void): void {
  take(file)
  try {
    work()
  } finally {
    rmSync(file, { force: true })
  }
}

function take(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  const until = Date.now() + patienceMs
  while (!isMade(file)) {
    if (isLeft(file) || Date.now() > until) rmSync(file, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
  }
}

function isMade(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Whether the process that made it is gone. */
function isLeft(file: string): boolean {
  try {
    const maker = Number(readFileSync(file, 'utf8'))
    // In a container every run may have the same number.
    if (maker === process.pid) return true
    // It is empty for a moment.
    if (maker > 0) process.kill(maker, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
