// The service on real time in the test's own process, for tests that kill others: it costs a quarter of a program's start.
import { pino } from 'pino'
import { vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { type Service, startService } from '../src/main.ts'

export interface Here extends Service {
  /** Everything logged so far. */
  readonly output: string
  /** Waits until it has logged this text. */
  says(text: string): Promise<void>
}

/** @param env the settings, DATABASE_URL and BELFRY_SECRET_KEY among them */
export async function startHere(env: Record<string, string>): Promise<Here> {
  const { config } = readConfig({ PORT: '0', ...env })
  const { databaseUrl = '', secretKey = '' } = config
  const lines: string[] = []
  const log = pino({ level: config.logLevel }, { write: (line) => void lines.push(line) })
  const service = await startService(config, { databaseUrl, secretKey, clock: { now: () => new Date() }, log })
  let stopped: Promise<void> | undefined
  return {
    ...service,
    get output() {
      return lines.join('')
    },
    async says(text) {
      await vi.waitUntil(() => lines.some((line) => line.includes(text)), { timeout: 30_000, interval: 20 })
    },
    stop() {
      stopped ??= service.stop()
      return stopped
    },
  }
}
