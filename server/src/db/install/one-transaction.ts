// A pool whose connections are all the same one, inside one transaction: what commits by itself elsewhere becomes a savepoint. So
// work that is written for a pool happens as a whole, or not at all.
import { EventEmitter } from 'node:events'
import type pg from 'pg'

export class OneTransaction extends EventEmitter {
  readonly #client: pg.Client
  #depth = 0

  /** The client is inside a transaction. */
  constructor(client: pg.Client) {
    super()
    this.#client = client
    // The queue warns about pools that nobody listens to. Whoever gave the connection hears of its errors.
    for (const name of ['error', 'connect']) this.on(name, () => undefined)
  }

  /** For code that takes a pool. */
  asPool(): pg.Pool {
    return this as unknown as pg.Pool
  }

  async connect(): Promise<pg.PoolClient> {
    const query = this.query.bind(this)
    const own: Record<PropertyKey, unknown> = { query, release: () => undefined }
    return new Proxy(this.#client, {
      get: (client, name) => {
        if (Object.hasOwn(own, name)) return own[name]
        const member: unknown = Reflect.get(client, name)
        return typeof member === 'function' ? member.bind(client) : member
      },
    }) as unknown as pg.PoolClient
  }

  async query(given: unknown, ...more: unknown[]): Promise<unknown> {
    const query = this.#client.query.bind(this.#client) as (...args: unknown[]) => Promise<unknown>
    const text = typeof given === 'string' ? given : (given as { text?: unknown } | null)?.text
    const inner = typeof text === 'string' ? this.#savepoint(text) : undefined
    if (inner !== undefined) return query(inner)
    // Outside of a transaction, a statement that fails leaves the next one alone. The queue looks this way for its tables.
    await query('SAVEPOINT attempt')
    try {
      const answer = await query(given, ...more)
      await query('RELEASE SAVEPOINT attempt')
      return answer
    } catch (error) {
      await query('ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt')
      throw error
    }
  }

  /** Somebody else's transaction begins or ends. */
  #savepoint(text: string): string | undefined {
    const word = /^\s*(begin|start transaction|commit|rollback)\b(?!\s+to\b)/i.exec(text)?.[1]?.toLowerCase()
    switch (word) {
      case 'begin':
      case 'start transaction':
        this.#depth += 1
        return `SAVEPOINT inner_${this.#depth}`
      case 'commit': {
        const name = `inner_${this.#depth}`
        this.#depth -= 1
        // Deferred triggers happen at a commit; a table with pending ones cannot be altered.
        return `SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED; RELEASE SAVEPOINT ${name}`
      }
      case 'rollback': {
        const name = `inner_${this.#depth}`
        this.#depth -= 1
        return `ROLLBACK TO SAVEPOINT ${name}; RELEASE SAVEPOINT ${name}`
      }
      default:
        return undefined
    }
  }
}
