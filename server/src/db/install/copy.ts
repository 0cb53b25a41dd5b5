// Streams whole tables with COPY in PostgreSQL's text format, holding only a few rows in memory.
import type pg from 'pg'

/** Bytes that may wait to be read before we pause the socket. */
const mostWaiting = 1_000_000

type Chunk = { chunk: Buffer }

/** Members that are missing in the driver's types. */
interface Connection extends pg.Connection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Common to both directions: one COPY statement and its end. */
abstract class Copy implements pg.Submittable {
  readonly #text: string
  #settle: { resolve(rows: number): void; reject(error: Error): void } = {
    resolve: () => undefined,
    reject: () => undefined,
  }
  #rows = 0
  /** The number of rows, when all have been copied. */
  readonly rows: Promise<number>

  constructor(text: string) {
    this.#text = text
    this.rows = new Promise<number>((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // The reader of the rows sees the failure too, so this promise may be ignored.
    this.rows.catch(() => undefined)
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#text)
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/^COPY (\d+)/.exec(text)?.[1])
  }

  handleReadyForQuery(): void {
    this.#settle.resolve(this.#rows)
  }

  handleError(error: Error): void {
    this.#settle.reject(error)
  }
}

class CopyOut extends Copy {
  readonly #chunks: Buffer[] = []
  #waiting = 0
  #isOver = false
  #failure: Error | undefined
  #connection: pg.Connection | undefined
  #wake: () => void = () => undefined

  override submit(connection: pg.Connection): void {
    this.#connection = connection
    super.submit(connection)
  }

  handleCopyData({ chunk }: Chunk): void {
    // The driver reuses its buffer.
    this.#chunks.push(Buffer.from(chunk))
    this.#waiting += chunk.length
    if (this.#waiting > mostWaiting) this.#connection?.stream.pause()
    this.#wake()
  }

  override handleReadyForQuery(): void {
    super.handleReadyForQuery()
    this.#isOver = true
    this.#wake()
  }

  override handleError(error: Error): void {
    super.handleError(error)
    this.#failure = error
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const chunks = this.#chunks.splice(0)
      this.#waiting = 0
      this.#connection?.stream.resume()
      if (chunks.length > 0) yield Buffer.concat(chunks)
      else if (this.#failure) throw this.#failure
      else if (this.#isOver) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}

class CopyIn extends Copy {
  #open: (connection: Connection) => void = () => undefined
  readonly opened = new Promise<Connection>((resolve) => {
    this.#open = resolve
  })

  handleCopyInResponse(connection: Connection): void {
    this.#open(connection)
  }
}

/** The rows of a query. A caller that stops early must close the connection. */
export function copyOut(client: pg.ClientBase, query: string): AsyncIterable<Buffer> & { rows: Promise<number> } {
  return client.query(new CopyOut(`COPY (${query}) TO STDOUT`))
}

/** Adds rows to `target`, a table with its columns. A caller that stops early must close the connection. @returns how many */
export async function copyIn(client: pg.ClientBase, target: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  const copy = client.query(new CopyIn(`COPY ${target} FROM STDIN`))
  // A refused statement never opens its stream.
  const opened = await Promise.race([copy.opened, copy.rows])
  if (typeof opened === 'number') throw new Error(`COPY ${target} took no rows.`)
  const { stream } = opened
  for await (const chunk of chunks) {
    opened.sendCopyFromChunk(chunk)
    if (stream.writableNeedDrain)
      await Promise.race([new Promise<void>((resolve) => stream.once('drain', resolve)), copy.rows])
  }
  opened.endCopyFrom()
  return copy.rows
}
