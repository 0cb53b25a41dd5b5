// The folder of an installation that brings its own database: who uses it, and the secrets generated into it.
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

/** Makes the folder, if need be, and claims it for this process until `release`; refuses while another process has it. */
export async function claimDataDir(dataDir: string): Promise<{ release(): void }> {
  const mine = path.join(dataDir, claimOf(process.pid))
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o755 })
    for (let attempt = 1; ; attempt += 1) {
      // First the claim, then a look around: of two that start at once, at least one sees the other. A claim is named
      // after its process and its start, so removing a dead one can never hit a living one.
      writeFileSync(mine, '')
      const rival = livingClaims(dataDir).find((pid) => pid !== process.pid)
      if (rival === undefined) return { release: () => rmSync(mine, { force: true }) }
      rmSync(mine, { force: true })
      if (attempt === 3) throw inUse(dataDir, rival)
      // Both may have stepped back; they hardly come again at the same moment.
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
      `folder, or join its database by DATABASE_URL (see ${path.join(dataDir, 'database-url')}).`,
  )
}

/** The start time tells a process from a later one that was given the same pid. */
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

/** The secrets of this folder, made on first use. */
export function generatedSecrets(dataDir: string): GeneratedSecrets {
  const file = path.join(dataDir, 'secrets.json')
  if (existsSync(file)) return readSecrets(file)
  keepSecretKey(dataDir, randomBytes(32).toString('hex'))
  return readSecrets(file)
}

/** Secrets of which the key is known: that of a backup. */
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

/** Readable by the owner only, and never half written. */
export function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}
