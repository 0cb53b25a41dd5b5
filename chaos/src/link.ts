// The connection between one process and PostgreSQL. It can be cut, go silent, and watch statements, so that a process dies
// between exactly two of them.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Fires at a statement: before PostgreSQL gets it, or after it has answered. */
export interface Ambush {
  /** The statement's name; any if omitted. */
  statement?: string
  /** How many matching statements pass first. */
  after: number
  side: 'before' | 'after'
  spring(): void
}

interface Connection {
  near: Socket
  far: Socket
}

export class Link {
  readonly #server: Server
  readonly #to: string
  readonly #open = new Set<Connection>()
  #ambush: Ambush | undefined
  #isSilent = false
  port = 0

  /** @param socket PostgreSQL's Unix socket */
  constructor(socket: string) {
    this.#to = socket
    this.#server = createServer((near) => this.#connect(near))
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.port = (this.#server.address() as AddressInfo).port
    return this
  }

  lie(ambush: Ambush | undefined): void {
    this.#ambush = ambush
  }

  /** Resets both ends. */
  cut(): number {
    const count = this.#open.size
    for (const { near, far } of this.#open) {
      near.resetAndDestroy()
      far.destroy()
    }
    return count
  }

  /** Connections stay open but no data passes; new ones get no answer. */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent
    for (const { near, far } of this.#open) {
      for (const socket of [near, far]) {
        if (isSilent) socket.pause()
        else socket.resume()
      }
    }
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #connect(near: Socket): void {
    const far = connect(this.#to)
    const connection = { near, far }
    this.#open.add(connection)
    const end = () => {
      this.#open.delete(connection)
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      socket.setNoDelay(true)
      socket.on('error', end)
      socket.on('close', end)
    }
    const statements = new Statements()
    near.on('data', (bytes) => {
      if (this.#meets(statements.read(bytes), far, bytes)) return
      if (!far.write(bytes)) near.pause()
    })
    far.on('drain', () => this.#isSilent || near.resume())
    near.on('drain', () => this.#isSilent || far.resume())
    far.on('data', (bytes) => {
      if (!near.write(bytes)) far.pause()
    })
    if (this.#isSilent) {
      near.pause()
      far.pause()
    }
  }

  /** @returns whether to withhold the data */
  #meets(names: string[], far: Socket, bytes: Buffer): boolean {
    const ambush = this.#ambush
    if (!ambush) return false
    const met = names.filter((name) => ambush.statement === undefined || name === ambush.statement).length
    ambush.after -= met
    if (met === 0 || ambush.after >= 0) return false
    this.#ambush = undefined
    if (ambush.side === 'before') {
      ambush.spring()
      return true
    }
    // PostgreSQL executes it, and nobody receives the answer.
    far.removeAllListeners('data')
    far.once('data', () => ambush.spring())
    far.write(bytes)
    return true
  }
}

const longestStartup = 10_000

/** Names of the statements that pass; unnamed ones by their first words. */
class Statements {
  #rest: Buffer = Buffer.alloc(0)
  #hasBegun = false

  read(bytes: Buffer): string[] {
    const names: string[] = []
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    for (;;) {
      const head = this.#hasBegun ? 1 : 0
      if (this.#rest.length < head + 4) return names
      const length = this.#rest.readUInt32BE(head)
      if (!this.#hasBegun && length > longestStartup) return names
      if (this.#rest.length < head + length) return names
      const type = this.#hasBegun ? String.fromCharCode(this.#rest[0] ?? 0) : ''
      const body = this.#rest.subarray(head + 4, head + length)
      this.#rest = this.#rest.subarray(head + length)
      this.#hasBegun = true
      if (type === 'Q') names.push(textOf(body).trim().split(/\s+/, 1)[0]?.toUpperCase() ?? '')
      if (type === 'B') names.push(textOf(body.subarray(body.indexOf(0) + 1)))
    }
  }
}

/** Up to the terminating zero. */
function textOf(body: Buffer): string {
  const end = body.indexOf(0)
  return body.toString('latin1', 0, end < 0 ? body.length : end)
}
