// The line between a service and its database, which can be cut after so many statements: to the database, and so to every other
// process, that is what a killed process looks like.
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** The bytes that begin a simple query, the end of an extended one, and the parts that name its statement. */
const [query, sync, parse, bind] = ['Q', 'S', 'P', 'B'].map((letter) => letter.charCodeAt(0))

export class CutLine {
  /** What the service connects to. */
  readonly url: string
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'belfry-line-'))
  readonly #server: net.Server
  readonly #open = new Set<net.Socket>()
  #left = Number.POSITIVE_INFINITY
  #count = 0
  #atCut: () => void = () => undefined
  #statements: string[] = []
  #beside = /^never$/
  #holdAfter = Number.POSITIVE_INFINITY
  #atHold: () => Promise<void> = async () => undefined
  /** What waits to be sent, while it is held. */
  #held: Array<() => void> | undefined

  private constructor(databaseUrl: string) {
    const [, folder = ''] = /[?&]host=([^&]+)/.exec(databaseUrl) ?? []
    const [, port = '5432'] = /[?&]port=(\d+)/.exec(databaseUrl) ?? []
    const socket = `${decodeURIComponent(folder)}/.s.PGSQL.${port}`
    this.#server = net.createServer((client) => this.#join(client, net.connect(socket)))
    this.url = databaseUrl.replace(folder, encodeURIComponent(this.#folder)).replace(/([?&]port=)\d+/, '$15432')
  }

  static async to(databaseUrl: string): Promise<CutLine> {
    const line = new CutLine(databaseUrl)
    await new Promise<void>((resolve) => line.#server.listen(path.join(line.#folder, '.s.PGSQL.5432'), resolve))
    return line
  }

  /** Statements since the last time. */
  takeCount(): number {
    const count = this.#count
    this.#count = 0
    return count
  }

  /** What passed since the last time: the name of a prepared statement, else the beginning of its text. */
  takeStatements(): string[] {
    return this.#statements.splice(0)
  }

  /**
   * Nothing passes after so many more statements, until it is mended. The last one arrives, and its answer does not.
   * @param atCut what happens at that very moment, such as the death of the service
   * @param beside statements that do not count, such as those of other parts of the service
   */
  cutAfter(statements: number, atCut: () => void = () => undefined, beside = /^never$/): void {
    this.#left = statements
    this.#atCut = atCut
    this.#beside = beside
  }

  /**
   * The next statements wait, after so many more, until something else has happened: to the database, that is a service that is slow
   * at this very place. Statements `beside` do not count.
   * @returns what it does, once it has
   */
  holdAfter<T>(statements: number, meanwhile: () => Promise<T>, beside = /^never$/): Promise<T> {
    this.#holdAfter = statements
    this.#beside = beside
    return new Promise((resolve, reject) => {
      this.#atHold = async () => {
        this.#held = []
        await meanwhile().then(resolve, reject)
        const waiting = this.#held
        this.#held = undefined
        for (const send of waiting) send()
      }
    })
  }

  get isCut(): boolean {
    return this.#left <= 0
  }

  /** The service may connect again: one that was cut off can be cut off once more, for a fraction of another start. */
  mend(): void {
    this.cutAfter(Number.POSITIVE_INFINITY)
  }

  async close(): Promise<void> {
    this.#cut()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #join(client: net.Socket, server: net.Socket): void {
    for (const socket of [client, server]) {
      this.#open.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#open.delete(socket)
        client.destroy()
        server.destroy()
      })
    }
    if (this.isCut) {
      this.#cut()
      return
    }
    const messages = new Messages()
    let statement = ''
    client.on('data', (bytes: Buffer) => {
      for (const { type, rest } of messages.split(bytes)) {
        if (this.#held) this.#held.push(() => server.write(rest))
        else server.write(rest)
        if (type === query || type === parse || type === bind) statement = nameIn(type, rest) || statement
        if (type !== query && type !== sync) continue
        this.#count += 1
        if (this.#beside.test(statement)) continue
        this.#statements.push(statement)
        this.#left -= 1
        this.#holdAfter -= 1
        if (this.#holdAfter === 0) void this.#atHold()
        // It may be done by the time the connection is lost, or not.
        if (!this.isCut) continue
        this.#atCut()
        this.#cut()
        return
      }
    })
    server.on('data', (bytes: Buffer) => {
      if (!this.isCut) client.write(bytes)
    })
  }

  #cut(): void {
    this.#left = 0
    for (const socket of this.#open) socket.destroySoon()
  }
}

/** Of a message, behind its type and length. */
function nameIn(type: number | undefined, message: Buffer): string {
  const [first = '', second = ''] = message.toString('latin1', 5, 2_000).split('\0')
  const text = type === bind ? second : first === '' ? second : first
  return text.trim()
}

/** The messages of a client, each with its first byte; those that begin a connection have none. */
class Messages {
  #kept = Buffer.alloc(0)
  #isOpen = false

  split(bytes: Buffer): Array<{ type: number | undefined; rest: Buffer }> {
    const found: Array<{ type: number | undefined; rest: Buffer }> = []
    this.#kept = Buffer.concat([this.#kept, bytes])
    for (;;) {
      const head = this.#isOpen ? 1 : 0
      if (this.#kept.length < head + 4) return found
      const length = head + this.#kept.readUInt32BE(head)
      if (this.#kept.length < length) return found
      const rest = this.#kept.subarray(0, length)
      this.#kept = this.#kept.subarray(length)
      found.push({ type: this.#isOpen ? rest[0] : undefined, rest })
      this.#isOpen = true
    }
  }
}
