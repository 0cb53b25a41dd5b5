// Questions to the DNS about a sender's domain: two seconds for each, ten for all, and none twice.
import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

/** The DNS did not answer, so nothing is known. */
export class Unanswered extends Error {
  constructor(question: string) {
    super(`The DNS did not answer: ${question}`)
  }
}

export interface MxRecord {
  exchange: string
  priority: number
}

export const questionMs = 2_000
export const allMs = 10_000
/** A chain of records can be as long as its author likes. */
const mostQuestions = 150
const noRecord = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY', 'EFORMERR'])

export class Questions {
  readonly #resolver: Resolver
  readonly #asked = new Map<string, Promise<unknown[]>>()
  readonly #endsAt: number

  private constructor(resolver: Resolver, endsAt: number) {
    this.#resolver = resolver
    this.#endsAt = endsAt
  }

  /** @param servers as in the setting; none: the system's */
  static async open(servers: readonly string[]): Promise<Questions> {
    const endsAt = performance.now() + allMs
    const resolver = new Resolver({ timeout: questionMs, tries: 1 })
    if (servers.length > 0) resolver.setServers(await Promise.all(servers.map(addressed)))
    return new Questions(resolver, endsAt)
  }

  /** Each record as one text. */
  async txt(name: string): Promise<string[]> {
    const records = await this.#ask('TXT', name, () => this.#resolver.resolveTxt(name))
    return records.map((parts) => parts.join(''))
  }

  mx(name: string): Promise<MxRecord[]> {
    return this.#ask('MX', name, () => this.#resolver.resolveMx(name))
  }

  /** Of both families. */
  async addresses(name: string): Promise<string[]> {
    if (isIP(name) !== 0) return [name]
    const found = await Promise.all([
      this.#ask('A', name, () => this.#resolver.resolve4(name)),
      this.#ask('AAAA', name, () => this.#resolver.resolve6(name)),
    ])
    return found.flat()
  }

  /** The names of an address. */
  names(address: string): Promise<string[]> {
    const name = reverseName(address)
    return this.#ask('PTR', name, () => this.#resolver.resolvePtr(name))
  }

  /** How long something else than a question may take. */
  get patienceMs(): number {
    return Math.max(1, Math.min(questionMs, this.#endsAt - performance.now()))
  }

  #ask<T>(type: string, name: string, ask: () => Promise<T[]>): Promise<T[]> {
    const question = `${type} ${name}`
    const known = this.#asked.get(question)
    if (known) return known as Promise<T[]>
    const asked = this.#once(question, name, ask)
    this.#asked.set(question, asked)
    return asked
  }

  async #once<T>(question: string, name: string, ask: () => Promise<T[]>): Promise<T[]> {
    if (!isName(name)) return []
    if (this.#asked.size >= mostQuestions || performance.now() >= this.#endsAt) throw new Unanswered(question)
    let timer: NodeJS.Timeout | undefined
    // The resolver asks each of several servers for as long.
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Unanswered(question)), this.patienceMs)
    })
    try {
      return await Promise.race([ask(), silence])
    } catch (error) {
      if (noRecord.has((error as NodeJS.ErrnoException).code ?? '')) return []
      throw error instanceof Unanswered ? error : new Unanswered(question)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends questions that nobody waits for any more. */
  close(): void {
    this.#resolver.cancel()
  }
}

/** The resolver knows addresses only. */
async function addressed(server: string): Promise<string> {
  const [, bracketed, plain = '', port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? []
  const host = bracketed ?? (plain || server)
  const address = isIP(host) === 0 ? (await lookup(host)).address : host
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`
}

/** As the DNS can be asked: labels of up to 63 letters, 253 in all. */
export const isName = (name: string): boolean => name.length <= 254 && /^[\w-]{1,63}(?:\.[\w-]{1,63})*\.?$/.test(name)

function reverseName(address: string): string {
  if (isIP(address) === 4) return `${address.split('.').reverse().join('.')}.in-addr.arpa`
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const [start, end] = [groups(head), groups(tail)]
  const all = [...start, ...Array<string>(8 - start.length - end.length).fill('0'), ...end]
  const digits = all.map((group) => group.padStart(4, '0')).join('')
  return `${[...digits].reverse().join('.')}.ip6.arpa`
}
