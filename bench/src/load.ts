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

/** Sends `count` requests, as many at a time as there are connections. Any answer but a success is an error. */
export async function sendMany(
  { url, apiKey, connections }: Load,
  path: string,
  count: number,
  bodyOf: (number: number) => unknown,
): Promise<LoadResult> {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const headers = { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' }
  const took: number[] = []
  let next = 0
  const began = performance.now()
  const worker = async () => {
    while (next < count) {
      const number = next
      next += 1
      const start = performance.now()
      const reply = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(bodyOf(number)) })
      const text = await reply.body.text()
      if (reply.statusCode >= 300) throw new Error(`POST ${path}: ${reply.statusCode} ${text}`)
      took.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const perSecond = count / ((performance.now() - began) / 1000)
  await pool.close()
  return { perSecond, took }
}

/** Sends at a steady rate, whether or not earlier requests have been answered. */
export async function sendSteadily(
  { url, apiKey, connections }: Load,
  path: string,
  { perSecond, seconds }: { perSecond: number; seconds: number },
  bodyOf: (number: number) => unknown,
): Promise<void> {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const headers = { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' }
  const began = performance.now()
  const sent: Promise<void>[] = []
  for (let number = 0; number < perSecond * seconds; number += 1) {
    const waitMs = began + (number * 1000) / perSecond - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    const body = JSON.stringify(bodyOf(number))
    sent.push(
      pool.request({ method: 'POST', path, headers, body }).then(async (reply) => {
        const text = await reply.body.text()
        if (reply.statusCode >= 300) throw new Error(`POST ${path}: ${reply.statusCode} ${text}`)
      }),
    )
  }
  await Promise.all(sent)
  await pool.close()
}
