// The folder of an installation that brings its own database: who uses it, and the secrets generated into it.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

interface GeneratedSecrets {
  secretKey: string
  databasePassword: string
}

interface Holder {
  pid: number
  /** Tells this process from a later one that was given the same pid. */
  started: string
}

export class DataDirInUse extends Error {}

/** Claims the folder for this process until `release`; refuses while another living process holds it. */
export function claimDataDir(dataDir: string): { release(): void } {
  mkdirSync(dataDir, { recursive: true, mode: 0o755 })
  const lock = path.join(dataDir, 'belfry.lock')
  const mine: Holder = { pid: process.pid, started: startOf(process.pid) ?? '' }
  const draft = `${lock}.${process.pid}`
  writeFileSync(draft, JSON.stringify(mine))
  try {
    // A link either makes the lock whole or finds one there. Three tries: a stale one may be cleared by a rival start.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      try {
        linkSync(draft, lock)
        return { release: () => rmSync(lock, { force: true }) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const holder = readHolder(lock)
      if (holder && startOf(holder.pid) === holder.started) {
        throw new DataDirInUse(
          `Belfry is already running with the data in ${dataDir} (pid ${holder.pid}). Stop it first, set BELFRY_DATA_DIR to another ` +
            `folder, or join its database by DATABASE_URL (see ${path.join(dataDir, 'database-url')}).`,
        )
      }
      rmSync(lock, { force: true })
    }
    throw new DataDirInUse(`Another Belfry is starting with the data in ${dataDir} at this moment.`)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** The secrets of this folder, made on first use. */
export function generatedSecrets(dataDir: string): GeneratedSecrets {
  const file = path.join(dataDir, 'secrets.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as GeneratedSecrets
  const secrets = { secretKey: randomBytes(32).toString('hex'), databasePassword: randomBytes(24).toString('hex') }
  writeWhole(file, JSON.stringify(secrets, undefined, 2))
  return secrets
}

/** Readable by the owner only, and never half written. */
export function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

function readHolder(lock: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(lock, 'utf8')) as Holder
  } catch {
    // Gone since, or cut short by a full disk: nobody can be recognised by it.
    return undefined
  }
}

/** When the living process with this pid started, in the system's own words; undefined when there is none. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name in parentheses may hold anything; counted from behind it, the start time is the 20th field.
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
  } catch {
    return undefined
  }
}
