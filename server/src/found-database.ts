// Which database a process or a command works with: the given one, or the embedded one, started or as it runs.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'
import { openDatabase } from './db/core/database.ts'
import { claimDataDir, generatedSecrets } from './db/install/data-dir.ts'
import { beginEmbedded } from './db/install/embedded.ts'
import { StartError } from './errors.ts'
import type { Parts } from './parts.ts'

export interface FoundDatabase {
  databaseUrl: string
  databaseReady?: Promise<void>
  secretKey: string
}

export const say = (line: string) => process.stdout.write(`  ${line}\n`)

export async function findDatabase(config: Config, parts: Parts, log: Logger): Promise<FoundDatabase> {
  const { databaseUrl, secretKey = '', dataDir } = config
  if (databaseUrl !== undefined) return { databaseUrl, secretKey }
  const claim = await claimDataDir(dataDir)
  parts.add(() => claim.release())
  const generated = generatedSecrets(dataDir)
  const onRestart = (reason: string) => log.error({ reason }, 'the database stopped unexpectedly; restarting it')
  const { url, ready } = await beginEmbedded({ dataDir, password: generated.databasePassword, say, onRestart })
  const databaseReady = ready.then((embedded) => {
    parts.add(() => embedded.stop())
    void embedded.died.then((error) => {
      log.fatal(error.message)
      claim.release()
      process.exit(1)
    })
  })
  // Whoever waits for it hears of it too.
  databaseReady.catch(() => undefined)
  return { databaseUrl: url, databaseReady, secretKey: secretKey || generated.secretKey }
}

/** The embedded database: as Belfry runs it now, else started for this command. */
export async function findRunningDatabase(config: Config, parts: Parts): Promise<FoundDatabase> {
  const { databaseUrl, secretKey, dataDir } = config
  if (databaseUrl !== undefined) return { databaseUrl, secretKey: secretKey ?? '' }
  const address = path.join(dataDir, 'database-url')
  if (!existsSync(address))
    throw new StartError(`There is no data in ${dataDir} yet; start Belfry once, or set BELFRY_DATA_DIR.`)
  const url = readFileSync(address, 'utf8').trim()
  const running = openDatabase(url, { connections: 1, onError: () => undefined })
  const isRunning = await running.pool.query('SELECT 1').then(
    () => true,
    () => false,
  )
  await running.close()
  if (!isRunning) {
    const found = await findDatabase(config, parts, pino({ level: 'silent' }))
    await found.databaseReady
    return found
  }
  return { databaseUrl: url, secretKey: secretKey ?? generatedSecrets(dataDir).secretKey }
}
