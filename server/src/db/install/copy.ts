// Whole tables through a connection, in PostgreSQL's own text format, without holding more of them than a few rows.
import type pg from 'pg'

/** What may wait to be read before the server is asked to pause. */
const mostWaiting = 1_000_000

type Chunk = { chunk: Buffer }

/** What the driver has for this beside what its types tell of. */
interface Connection extends pg.Connection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Common to both directions: one COPY statement, and when it is over. */
abstract class Copy implements pg.Submittable {
  readonly #text: string
  #settle: { resolve(rows: number): void; reject(error: Error): void } = {
    resolve: () => undefined,
    reject: () => undefined,
  }
  #rows = 0
  /** How many rows went through, once all have. */
  readonly rows: Promise<number>

  constructor(text: string) {
    this.#text = text
    this.rows = new Promise<number>((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // Whoever reads the rows hears of a failure there too; nobody need wait for both.
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
    // The driver writes what comes next over what it has handed out.
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

/** The rows a query finds. Whoever stops reading early has to close the connection. */
export function copyOut(client: pg.ClientBase, query: string): AsyncIterable<Buffer> & { rows: Promise<number> } {
  return client.query(new CopyOut(`COPY (${query}) TO STDOUT`))
}

/** Adds rows to `target`, a table with its columns. @returns how many; whoever gives up half-way has to close the connection */
export async function copyIn(client: pg.ClientBase, target: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  const copy = client.query(new CopyIn(`COPY ${target} FROM STDIN`))
  // A statement that is refused is never opened.
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
