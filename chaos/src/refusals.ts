// People who refuse: some click the link in an offer, the mail of others bounces, and others complain. Each is repeated until it
// is answered, as mail programs and providers do. What was answered has to hold.
import { createHmac } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './database.ts'
import { Random } from './random.ts'

export const refusalKinds = { click: 'unsubscribe', bounce: 'hard_bounce', complaint: 'complaint' } as const
type RefusalKind = keyof typeof refusalKinds

interface Refusal {
  kind: RefusalKind
  /** Undefined until it is answered. */
  answeredAt?: number
}

/** An offer as the provider got it. */
export interface Offer {
  id: string
  headers: Record<string, string>
}

/** Of the people; the others take every offer. */
const share = 0.4
const patienceMs = 8_000
/**
 * A request that was handed over before the answer may arrive after it: its connection is opened, or its process is paused
 * for some seconds.
 */
const onTheWayMs = 10_000

export class Refusals {
  readonly #seed: string
  readonly #urls: () => string[]
  readonly #path: string
  readonly #over = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  /** By person. */
  readonly all = new Map<string, Refusal>()
  /** How many were answered with 500. */
  faults = 0

  /** @param path where the integration takes reports */
  constructor(seed: string, urls: () => string[], path: string) {
    this.#seed = seed
    this.#urls = urls
    this.#path = path
    // Any number of them wait at once.
    setMaxListeners(0, this.#over.signal)
  }

  /** Somebody got an offer. */
  tell(who: string, offer: Offer): void {
    const random = new Random(`${this.#seed}/refusal/${who}`)
    if (this.all.has(who) || !random.chance(share)) return
    const kind = random.pick(Object.keys(refusalKinds) as RefusalKind[])
    const refusal: Refusal = { kind }
    this.all.set(who, refusal)
    const telling = this.#insist(refusal, offer, random.int(0, 3_000)).finally(() => this.#underWay.delete(telling))
    this.#underWay.add(telling)
  }

  /** Stops: from now on `all` is final. */
  async end(): Promise<void> {
    this.#over.abort()
    await Promise.all(this.#underWay)
  }

  get answered(): number {
    return [...this.all.values()].filter(({ answeredAt }) => answeredAt !== undefined).length
  }

  async #insist(refusal: Refusal, offer: Offer, afterMs: number): Promise<void> {
    const { signal } = this.#over
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined)
    await pause(afterMs)
    for (let tries = 1; !signal.aborted && tries < 40; tries += 1) {
      const urls = this.#urls()
      const url = urls[tries % urls.length] ?? ''
      const status = await (refusal.kind === 'click' ? click(url, offer) : this.#report(url, refusal.kind, offer))
      if (status === 500) this.faults += 1
      if (status === 200) {
        refusal.answeredAt = Date.now()
        return
      }
      await pause(Math.min(3_000, 300 * tries))
    }
  }

  /** A report on a message that is not recorded yet is not understood: it comes again. */
  async #report(url: string, kind: RefusalKind, { id }: Offer): Promise<number> {
    const said = kind === 'bounce' ? { status: 'bounced', permanent: true } : { status: 'complaint' }
    const body = JSON.stringify({ events: [{ id, eventId: `${kind} ${id}`, ...said }] })
    const signature = createHmac('sha256', 'key').update(body).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-svc-signature': signature }
    const answer = await post(url + this.#path, body, headers)
    return answer?.status === 200 && answer.text === '[]' ? 0 : (answer?.status ?? 0)
  }
}

async function click(url: string, { headers }: Offer): Promise<number> {
  const link = /<([^>]+)>/.exec(headers['List-Unsubscribe'] ?? '')?.[1]
  if (link === undefined) return 0
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  return (await post(url + new URL(link).pathname, 'List-Unsubscribe=One-Click', form))?.status ?? 0
}

async function post(url: string, body: string, headers: Record<string, string>) {
  try {
    const reply = await fetch(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(patienceMs) })
    return { status: reply.status, text: await reply.text() }
  } catch {
    return undefined
  }
}

/** What is wrong: mail after an answer, entries that are missing or there twice. */
export async function checkRefusals(
  { all }: Refusals,
  { asked }: { asked: ReadonlyMap<string, ReadonlyArray<{ at: number }>> },
  { database, environmentId }: { database: Database; environmentId: string },
): Promise<Array<{ kind: 'lost' | 'duplicated'; what: string }>> {
  const found: Array<{ kind: 'lost' | 'duplicated'; what: string }> = []
  for (const [mark, requests] of asked) {
    const [, who = '', step = ''] = /^\[\d+\/([\w-]+)\/(\w+)\]$/.exec(mark) ?? []
    const { kind, answeredAt } = all.get(who) ?? {}
    // Who clicks refuses offers; an address that is dead or has complained gets no mail at all.
    const isRefused = kind === 'click' ? step === 'offer' : step === 'offer' || step === 'mail'
    if (answeredAt === undefined || !isRefused) continue
    for (const { at } of requests)
      if (at > answeredAt + onTheWayMs)
        found.push({
          kind: 'duplicated',
          what: `${mark} was sent ${at - answeredAt} ms after ${who} refused (${kind})`,
        })
  }
  const rows = await database.query<{ address: string; reason: string; count: number }>(
    'SELECT address, reason, count(*)::int AS count FROM suppressions WHERE environment_id = $1 GROUP BY 1, 2',
    [environmentId],
  )
  const counts = new Map(rows.map(({ address, reason, count }) => [`${address} ${reason}`, count]))
  for (const [who, { kind, answeredAt }] of all) {
    const entry = `${who}@example.com ${refusalKinds[kind]}`
    const count = counts.get(entry) ?? 0
    counts.delete(entry)
    if (count > 1) found.push({ kind: 'duplicated', what: `the list has ${count} entries ${entry}` })
    if (count === 0 && answeredAt !== undefined)
      found.push({ kind: 'lost', what: `the list has no entry ${entry}, though the ${kind} was answered` })
  }
  for (const entry of counts.keys())
    found.push({ kind: 'duplicated', what: `the list has the entry ${entry}, for no reason` })
  return found
}
