// The data folder of an installation with the embedded database: which process holds it, and its generated secrets.
import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../../errors.ts'
import { sha256 } from '../core/secrets.ts'
import { startOf } from './processes.ts'

interface GeneratedSecrets {
  secretKey: string
  databasePassword: string
}

/** Creates the folder if needed and claims it for this process until `release`; refuses while another process holds it. */
export async function claimDataDir(dataDir: string): Promise<{ release(): void }> {
  const mine = path.join(dataDir, claimOf(process.pid))
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o755 })
    for (let attempt = 1; ; attempt += 1) {
      // Claim first, then look for others: of two concurrent starts, at least one sees the other. A claim is named after its
      // process and start time, so removing a dead claim can never remove a live one.
      writeFileSync(mine, '')
      const rival = livingClaims(dataDir).find((pid) => pid !== process.pid)
      if (rival === undefined) return { release: () => rmSync(mine, { force: true }) }
      rmSync(mine, { force: true })
      if (attempt === 3) throw inUse(dataDir, rival)
      // Both may have backed off; the random pause separates them.
      await sleep(randomInt(20, 200))
    }
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    throw new StartError(`The data folder ${dataDir} cannot be used. Set BELFRY_DATA_DIR to another one.`, { cause })
  }
}

function inUse(dataDir: string, pid: number): StartError {
  return new StartError(
    `Belfry is already running with the data in ${dataDir} (pid ${pid}). Stop it first, set BELFRY_DATA_DIR to another ` +
      `folder, or connect to its database with DATABASE_URL (see ${path.join(dataDir, 'database-url')}).`,
  )
}

/** The start time distinguishes a process from a later one with the same pid. */
function claimOf(pid: number): string {
  return `belfry-${pid}-${sha256(startOf(pid) ?? 'gone').slice(0, 12)}.lock`
}

function livingClaims(dataDir: string): number[] {
  const living: number[] = []
  for (const file of readdirSync(dataDir)) {
    const pid = Number(/^belfry-(\d+)-[0-9a-f]+\.lock$/.exec(file)?.[1])
    if (!pid) continue
    if (startOf(pid) !== undefined && file === claimOf(pid)) living.push(pid)
    else rmSync(path.join(dataDir, file), { force: true })
  }
  return living
}

/** The secrets of this folder, generated on first use. */
export function generatedSecrets(dataDir: string): GeneratedSecrets {
  const file = path.join(dataDir, 'secrets.json')
  if (existsSync(file)) return readSecrets(file)
  keepSecretKey(dataDir, randomBytes(32).toString('hex'))
  return readSecrets(file)
}

export function storedSecretKey(dataDir: string): string | undefined {
  const file = path.join(dataDir, 'secrets.json')
  return existsSync(file) ? readSecrets(file).secretKey : undefined
}

/** Writes secrets with a known key: that of a backup. */
export function keepSecretKey(dataDir: string, secretKey: string): void {
  const secrets = { secretKey, databasePassword: randomBytes(24).toString('hex') }
  writeWhole(path.join(dataDir, 'secrets.json'), JSON.stringify(secrets, undefined, 2))
}

function readSecrets(file: string): GeneratedSecrets {
  try {
    const { secretKey, databasePassword } = JSON.parse(readFileSync(file, 'utf8')) as Partial<GeneratedSecrets>
    if (secretKey && databasePassword) return { secretKey, databasePassword }
  } catch (cause) {
    throw new StartError(`${file} cannot be read. The data is encrypted with it: restore it from a backup.`, { cause })
  }
  throw new StartError(`${file} is incomplete. The data is encrypted with it: restore it from a backup.`)
}

/** Readable by the owner only, and written atomically. */
export function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}
