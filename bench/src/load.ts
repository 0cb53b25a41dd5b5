// Many requests at a time, from one client with connections that stay open.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'

export interface Load {
  url: string
  apiKey: string
  connections: number
}

export interface LoadResult {
  perSecond: number
  /** Of each request, in milliseconds. */
  took: number[]
}

/** Less than the service asks for: what it cannot take now it mostly can a moment later, and nobody else is waiting. */
const pauseMs = 100

/** A machine that is busy otherwise makes the service refuse some; they are sent again, as by any client that is polite. */
async function post(pool: Pool, { apiKey }: Load, path: string, body: string): Promise<void> {
  const headers = { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' }
  for (;;) {
    const reply = await pool.request({ method: 'POST', path, headers, body })
    const text = await reply.body.text()
    if (reply.statusCode < 300) return
    if (reply.statusCode !== 429 && reply.statusCode !== 503)
      throw new Error(`POST ${path}: ${reply.statusCode} ${text}`)
    await sleep(pauseMs)
  }
}

/** Sends `count` requests, as many at a time as there are connections. Any answer but a success or a refusal is an error. */
export async function sendMany(
  load: Load,
  path: string,
  count: number,
  bodyOf: (number: number) => unknown,
): Promise<LoadResult> {
  const pool = new Pool(load.url, { connections: load.connections, pipelining: 1 })
  const took: number[] = []
  let next = 0
  const began = performance.now()
  const worker = async () => {
    while (next < count) {
      const number = next
      next += 1
      const start = performance.now()
      await post(pool, load, path, JSON.stringify(bodyOf(number)))
      took.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: load.connections }, worker))
  const perSecond = count / ((performance.now() - began) / 1000)
  await pool.close()
  return { perSecond, took }
}

/** Sends at a steady rate, whether or not earlier requests have been answered. */
export async function sendSteadily(
  load: Load,
  path: string,
  { perSecond, seconds }: { perSecond: number; seconds: number },
  bodyOf: (number: number) => unknown,
): Promise<void> {
  const pool = new Pool(load.url, { connections: load.connections, pipelining: 1 })
  const began = performance.now()
  const sent: Promise<void>[] = []
  for (let number = 0; number < perSecond * seconds; number += 1) {
    const waitMs = began + (number * 1000) / perSecond - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    sent.push(post(pool, load, path, JSON.stringify(bodyOf(number))))
  }
  await Promise.all(sent)
  await pool.close()
}
