// Where tests keep their files: in memory, where there is room. A test file's database is a copy of a thousand files, and to make
// and remove it takes 0.2 s of processor time instead of 0.6 on a disk.
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import path from 'node:path'
import { isAlive } from '../src/db/install/processes.ts'

const memory = '/dev/shm'
const prefix = 'belfry-tests-'
const leastBytes = 6e9

/** A folder in memory for this process, and how to remove it; undefined where there is no room, or nothing there may be run. */
export function folderInMemory(): { path: string; remove(): void } | undefined {
  if (!hasRoom()) return undefined
  for (const name of readdirSync(memory))
    if (name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length)))) removeFolder(path.join(memory, name))
  const folder = path.join(memory, `${prefix}${process.pid}`)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  return { path: folder, remove: () => removeFolder(folder) }
}

function hasRoom(): boolean {
  if (process.platform !== 'linux') return false
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, place, kind]) => place === memory && kind === 'tmpfs')
  if (!mount || mount[3]?.split(',').includes('noexec')) return false
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, freemem()) >= leastBytes
}

/** What a killed run has left may still be mounted: that is told, and no reason to fail this one. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    process.stderr.write(`could not remove ${folder}: ${String(error)}\n`)
  }
}
