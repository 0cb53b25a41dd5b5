// Runs commands of the tool and hears what they write.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, vi } from 'vitest'
import type { Api, TestServer } from '../../server/test/server.ts'
import { run } from '../src/run.ts'

export interface Ended {
  code: number
  stdout: string
  stderr: string
  /** The JSON value on stdout. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  json: any
}

export interface Place {
  url?: string
  key?: string
  env?: Record<string, string>
}

/** Runs commands in this process, each in a folder of its own that goes away. packages.test.ts runs the bundled program. */
export function useCommand() {
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  return {
    newFolder(): string {
      const folder = mkdtempSync(path.join(tmpdir(), 'belfry-files-'))
      folders.push(folder)
      return folder
    },
    async run(cwd: string, { url, key, env = {} }: Place, ...args: string[]): Promise<Ended> {
      const own = {
        ...{ PATH: process.env.PATH ?? '', HOME: cwd, XDG_CONFIG_HOME: path.join(cwd, '.config') },
        ...(url === undefined ? {} : { BELFRY_URL: url }),
        ...(key === undefined ? {} : { BELFRY_API_KEY: key }),
        ...env,
      }
      const [before, exitCode] = [process.cwd(), process.exitCode]
      const heard = { stdout: '', stderr: '' }
      const spies = (['stdout', 'stderr'] as const).map((name) =>
        vi.spyOn(process[name], 'write').mockImplementation((text) => {
          heard[name] += String(text)
          return true
        }),
      )
      process.chdir(cwd)
      process.exitCode = 0
      try {
        await run('0.0.0', args, own)
        const json = args.includes('--json') && !args.includes('tail') ? JSON.parse(heard.stdout) : undefined
        return { code: Number(process.exitCode), ...heard, json }
      } finally {
        for (const spy of spies) spy.mockRestore()
        process.chdir(before)
        process.exitCode = exitCode
      }
    },
  }
}

/** An organization and a folder that are new for every test, and the tool in them. */
export function useFolder(server: TestServer) {
  const command = useCommand()
  const here = {} as { api: Api; other: Api; place: Place; folder: string }
  beforeEach(async () => {
    const { development: api, production: other } = await server.freshOrganization()
    const folder = command.newFolder()
    Object.assign(here, { api, other, place: { url: api.url, key: api.key }, folder })
  })
  return {
    command,
    here,
    belfry: (...args: string[]) => command.run(here.folder, here.place, ...args),
    at: (...parts: string[]) => path.join(here.folder, 'belfry', ...parts),
  }
}

export function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const place = path.join(folder, name)
    mkdirSync(path.dirname(place), { recursive: true })
    writeFileSync(place, text)
  }
}

/** Every file below, by its path; generated schemas are left out. */
export function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('.schemas') && statSync(path.join(folder, file)).isFile())
    .sort()
  return Object.fromEntries(
    files.map((file) => [file.split(path.sep).join('/'), readFileSync(path.join(folder, file), 'utf8')]),
  )
}
