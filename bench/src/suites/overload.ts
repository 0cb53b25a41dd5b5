// Overload: ten times as many callers as may have requests in flight. Accepted requests should take about as long as without
// overload, and refused callers are told when to retry.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { type Service, startService } from '../harness/service.ts'
import { type Options, type Outcome, percentile } from '../report/figures.ts'

/** For all environments together; one environment may have half. */
const mostRequests = 40
const taken = mostRequests / 2
const callers = taken * 10
/** Refused callers retry sooner than Retry-After says. */
const comeBackMs = 250
const rudeComeBackMs = 50

interface Measured {
  /** Latencies in milliseconds of accepted and of refused requests. */
  answered: number[]
  refused: number[]
  perSecond: number
}

export async function benchOverload({ quick }: Options): Promise<Outcome> {
  const [rounds, seconds] = quick ? [1, 0.3] : [5, 6]
  const service = await startService({ BELFRY_MAX_REQUESTS: String(mostRequests) })
  try {
    for (let number = 0; number < 200; number += 1)
      await service.send('POST', '/v2/subscribers', { subscriberId: `user-${number}`, firstName: `First ${number}` })
    const [alone, beside, hammered] = [emptyMeasure(), emptyMeasure(), emptyMeasure()]
    const pools = [taken, callers].map((connections) => new Pool(service.url, { connections, pipelining: 1 }))
    const [few, many] = pools as [Pool, Pool]
    // Opening so many connections is not what is measured.
    for (const [pool, count] of [
      [few, taken],
      [many, callers],
    ] as const)
      await ask(service, pool, count, Math.min(1, seconds))
    // In turns, so that a slow machine slows both.
    for (let round = 0; round < rounds; round += 1) {
      add(alone, await ask(service, few, taken, seconds), rounds)
      add(beside, await ask(service, many, callers, seconds), rounds)
      add(hammered, await ask(service, many, callers, seconds, rudeComeBackMs), rounds)
    }
    await Promise.all(pools.map((pool) => pool.close()))
    if (beside.refused.length === 0) throw new Error('nothing was refused: the load was too low')
    const against = `with ${taken} callers, all of whom are taken`
    return {
      figures: [
        {
          id: 'overload-p99',
          name: `p99 of what is taken, with ${callers} callers where ${taken} are taken at a time`,
          unit: 'ms',
          ours: percentile(beside.answered, 0.99),
          reference: percentile(alone.answered, 0.99),
          against,
          target: { atMost: 4 },
        },
        {
          // Refusing costs time too: this shows how much refusing it can stand.
          id: 'overload-rude-p99',
          name: `the same, with callers who come back after ${rudeComeBackMs} ms instead of ${comeBackMs}`,
          unit: 'ms',
          ours: percentile(hammered.answered, 0.99),
          reference: percentile(alone.answered, 0.99),
          against,
        },
        {
          id: 'overload-rate',
          name: 'requests answered meanwhile',
          unit: '/s',
          ours: beside.perSecond,
          reference: alone.perSecond,
          against,
        },
        {
          id: 'overload-refusal-p99',
          name: 'p99 of a refusal, each with a Retry-After',
          unit: 'ms',
          ours: percentile(beside.refused, 0.99),
          reference: percentile(alone.answered, 0.99),
          against: 'p99 of an answer without overload',
        },
      ],
      notes: {
        ...{ mostRequests, callers, comeBackMs, rudeComeBackMs, rounds, seconds },
        answered: beside.answered.length,
        refused: beside.refused.length,
      },
    }
  } finally {
    await service.stop()
  }
}

const emptyMeasure = (): Measured => ({ answered: [], refused: [], perSecond: 0 })

function add(sum: Measured, { answered, refused, perSecond }: Measured, rounds: number): void {
  for (const ms of answered) sum.answered.push(ms)
  for (const ms of refused) sum.refused.push(ms)
  sum.perSecond += perSecond / rounds
}

/** This many callers, each with one request at a time, who retry soon when refused. */
async function ask(
  { apiKey }: Service,
  pool: Pool,
  count: number,
  seconds: number,
  pauseMs = comeBackMs,
): Promise<Measured> {
  const [answered, refused]: number[][] = [[], []]
  const began = performance.now()
  const isOver = () => performance.now() - began > seconds * 1000
  const caller = async () => {
    while (!isOver()) {
      const start = performance.now()
      const reply = await pool.request({
        method: 'GET',
        path: '/v2/subscribers?limit=50',
        headers: { authorization: `ApiKey ${apiKey}` },
      })
      const text = await reply.body.text()
      const tookMs = performance.now() - start
      if (reply.statusCode === 200) answered?.push(tookMs)
      else if (reply.statusCode === 429 || reply.statusCode === 503) {
        if (!(Number(reply.headers['retry-after']) >= 1)) throw new Error(`a refusal without Retry-After: ${text}`)
        refused?.push(tookMs)
        await sleep(pauseMs)
      } else throw new Error(`GET /v2/subscribers: ${reply.statusCode} ${text}`)
    }
  }
  await Promise.all(Array.from({ length: count }, caller))
  const took = (performance.now() - began) / 1000
  return { answered: answered ?? [], refused: refused ?? [], perSecond: (answered?.length ?? 0) / took }
}
