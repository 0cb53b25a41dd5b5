// What every command has: where the folder and the service are, and how to write.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { Failure } from './failure.ts'
import { readFolder } from './folder/read.ts'
import { writeWhole } from './folder/write.ts'
import { Service } from './service.ts'
import { Terminal, type TerminalOptions } from './terminal.ts'

export interface GlobalOptions extends TerminalOptions {
  dir?: string
  url?: string
}

export class Context {
  readonly dir: string
  readonly terminal: Terminal
  readonly env: NodeJS.ProcessEnv
  readonly #url: string | undefined

  constructor({ dir = 'belfry', url, ...output }: GlobalOptions, env: NodeJS.ProcessEnv) {
    this.dir = dir
    this.env = env
    this.terminal = new Terminal(output, env)
    this.#url = url
  }

  /** `--url`, else BELFRY_URL, else the first environment in belfry.yaml. CI sets what it does not have to an empty text. */
  url(): string {
    const ofFolder = () => (existsSync(this.dir) ? readFolder(this.dir).settings.environments[0]?.url : undefined)
    const url = this.#url ?? (this.env.BELFRY_URL || ofFolder())
    if (!url) throw new Failure('usage', 'no_url', 'Where is the service? Set BELFRY_URL, or say --url')
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new Failure('usage', 'no_url', `"${url}" is no address that begins with http:// or https://`)
    return url.replace(/\/+$/, '')
  }

  /** @param asksHere false for what an application would send: it goes on to a service behind the environment */
  service({ asksHere = true } = {}): Service {
    const url = this.url()
    const key = this.env.BELFRY_API_KEY || this.keys().get(url)
    if (!key)
      throw new Failure('usage', 'no_key', `There is no key for ${url}; set BELFRY_API_KEY, or run "belfry login"`)
    // A key of the organization opens several environments.
    return new Service({ url, key, environment: this.env.BELFRY_ENVIRONMENT, asksHere })
  }

  #keyFile(): string {
    const config = this.env.XDG_CONFIG_HOME || path.join(this.env.HOME || homedir(), '.config')
    return path.join(config, 'belfry', 'keys.json')
  }

  /** What `login` keeps, by address. */
  keys(): Map<string, string> {
    const file = this.#keyFile()
    if (!existsSync(file)) return new Map()
    try {
      return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>))
    } catch {
      throw new Failure('usage', 'keys_unreadable', `${file} cannot be read; remove it and log in again`)
    }
  }

  keepKeys(keys: ReadonlyMap<string, string>): string {
    const file = this.#keyFile()
    if (keys.size === 0) rmSync(file, { force: true })
    else writeWhole(file, `${JSON.stringify(Object.fromEntries(keys), null, 2)}\n`, 0o600)
    return file
  }
}
