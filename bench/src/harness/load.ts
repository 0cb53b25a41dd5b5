// Sends many concurrent requests from one client over keep-alive connections.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Load {
  url: string
  apiKey: string
  connections: number
}

export interface LoadResult {
  perSecond: number
  /** Latency of each request, in milliseconds. */
  took: number[]
}

/** Shorter than the service's Retry-After: it can mostly accept again within moments, and nobody else competes. */
const pauseMs = 100

interface Answer {
  status: number
  text: string
}

/**
 * A minimal HTTP client: one request after another on one connection. A full client takes three times the processor time per
 * request, on a machine shared with the measured service and its database.
 */
class Connection {
  readonly #url: URL
  #socket: Socket | undefined
  #received = ''
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined

  constructor(url: URL) {
    this.#url = url
  }

  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket ??= this.#open()
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket?.end()
  }

  #open(): Socket {
    const socket = connect(Number(this.#url.port), this.#url.hostname)
    socket.setNoDelay(true)
    // One character per byte, because Content-Length counts bytes.
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#receive(text))
    socket.on('error', (error) => this.#lose(error))
    socket.on('close', () => this.#lose(new Error('the service closed the connection')))
    return socket
  }

  #receive(text: string): void {
    this.#received += text
    const head = this.#received.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = /\ncontent-length: (\d+)/i.exec(this.#received)?.[1]
    if (length === undefined) {
      this.#lose(new Error(`a response without Content-Length: ${this.#received}`))
      return
    }
    const end = head + 4 + Number(length)
    if (this.#received.length < end) return
    const answer = { status: Number(this.#received.slice(9, 12)), text: this.#received.slice(head + 4, end) }
    this.#received = ''
    this.#waiting?.resolve(answer)
  }

  #lose(error: Error): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#received = ''
    this.#waiting?.reject(error)
  }
}

/** A pool: each request to the path uses a free connection. */
class Connections {
  readonly #all: Connection[]
  readonly #free: Connection[]
  readonly #waiting: Array<(free: Connection) => void> = []
  readonly #path: string
  readonly #head: string

  constructor({ url, apiKey, connections }: Load, path: string) {
    const address = new URL(url)
    this.#all = Array.from({ length: connections }, () => new Connection(address))
    this.#free = [...this.#all]
    this.#path = path
    this.#head = `POST ${path} HTTP/1.1\r\nhost: ${address.host}\r\nauthorization: ApiKey ${apiKey}\r\ncontent-type: application/json\r\n`
  }

  /** On a busy machine the service refuses some requests; they are sent again, as a polite client would. */
  async post(body: string): Promise<void> {
    const connection = this.#free.pop() ?? (await new Promise<Connection>((resolve) => this.#waiting.push(resolve)))
    const request = `${this.#head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    for (;;) {
      const { status, text } = await connection.send(request)
      if (status < 300) break
      if (status !== 429 && status !== 503) throw new Error(`POST ${this.#path}: ${status} ${text}`)
      await sleep(pauseMs)
    }
    const next = this.#waiting.shift()
    if (next) next(connection)
    else this.#free.push(connection)
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }
}

/**
 * Sends `count` requests, one at a time per connection. Any answer but a success or a refusal is an error. `between` is awaited
 * after each.
 */
export async function sendMany(
  load: Load,
  path: string,
  count: number,
  bodyOf: (number: number) => unknown,
  between: (tookMs: number) => Promise<unknown> = async () => undefined,
): Promise<LoadResult> {
  const connections = new Connections(load, path)
  const took: number[] = []
  let next = 0
  const began = performance.now()
  const worker = async () => {
    while (next < count) {
      const number = next
      next += 1
      const start = performance.now()
      await connections.post(JSON.stringify(bodyOf(number)))
      const tookMs = performance.now() - start
      took.push(tookMs)
      await between(tookMs)
    }
  }
  try {
    await Promise.all(Array.from({ length: load.connections }, worker))
    return { perSecond: count / ((performance.now() - began) / 1000), took }
  } finally {
    connections.close()
  }
}

/** Sends at a steady rate, without waiting for earlier answers. */
export async function sendSteadily(
  load: Load,
  path: string,
  { perSecond, seconds }: { perSecond: number; seconds: number },
  bodyOf: (number: number) => unknown,
): Promise<void> {
  const connections = new Connections(load, path)
  const began = performance.now()
  const sent: Promise<void>[] = []
  try {
    for (let number = 0; number < perSecond * seconds; number += 1) {
      const waitMs = began + (number * 1000) / perSecond - performance.now()
      if (waitMs > 1) await sleep(waitMs)
      sent.push(connections.post(JSON.stringify(bodyOf(number))))
    }
    await Promise.all(sent)
  } finally {
    connections.close()
  }
}
