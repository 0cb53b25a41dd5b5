// The application that uses the service: it triggers and cancels as planned, and repeats unanswered requests under the same
// transaction id.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cancelling, Sending, Trigger } from './plan.ts'
import { apiKey } from './processes.ts'
import { isOdd } from './workflows.ts'

const patienceMs = 8_000
const mostAtOnce = 24
/** A client without any answer for this long gives up, and the run fails. */
const longestMs = 600_000

export interface Answer {
  status: number
  body: unknown
}

/** One request; undefined if there was no answer. */
export async function ask(url: string, method: string, path: string, body?: unknown): Promise<Answer | undefined> {
  try {
    const reply = await fetch(url + path, {
      method,
      headers: {
        authorization: `ApiKey ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(patienceMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = await reply.text()
    const isJson = reply.headers.get('content-type')?.startsWith('application/json') && answer !== ''
    return { status: reply.status, body: isJson ? JSON.parse(answer) : answer }
  } catch {
    return undefined
  }
}

/** What the client knows at the end. */
export class Ledger {
  /** Triggers answered with 201 and `processed`. */
  readonly accepted = new Set<string>()
  /** Results of cancels: `unsure` if an earlier, unanswered one may have done it. */
  readonly canceled = new Map<string, 'yes' | 'no' | 'unsure'>()
  /** Number of answers by status; 0 means no answer. */
  readonly statuses = new Map<number, number>()
  /** Answers that are wrong under any circumstances. */
  readonly refusals: string[] = []
}

export class Client {
  readonly ledger = new Ledger()
  readonly #urls: () => string[]
  readonly #sandboxMail: string
  #turn = 0

  constructor(urls: () => string[], sandboxMail: string) {
    this.#urls = urls
    this.#sandboxMail = sandboxMail
  }

  /** Sends at the planned times, or as soon afterwards as the service accepts. */
  async perform(sendings: Sending[], cancellings: Cancelling[]): Promise<void> {
    const works = [
      ...sendings.flatMap((sending) =>
        Array.from({ length: sending.isDoubled ? 2 : 1 }, () => ({
          atMs: sending.atMs,
          work: () => this.#send(sending),
        })),
      ),
      ...cancellings.map((cancelling) => ({
        atMs: cancelling.atMs,
        work: () => this.#cancel(cancelling.transactionId),
      })),
    ].sort((one, other) => one.atMs - other.atMs)
    const began = performance.now()
    const open = new Set<Promise<void>>()
    for (const { atMs, work } of works) {
      const waitMs = began + atMs - performance.now()
      if (waitMs > 0) await sleep(waitMs)
      while (open.size >= mostAtOnce) await Promise.race(open)
      const under = work().finally(() => open.delete(under))
      open.add(under)
    }
    await Promise.all(open)
  }

  async #send({ kind, triggers }: Sending): Promise<void> {
    const bodies = triggers.map((trigger) => this.#bodyOf(trigger))
    const [path, body] =
      kind === 'broadcast'
        ? (['/v1/events/trigger/broadcast', bodies[0]] as const)
        : kind === 'bulk'
          ? (['/v1/events/trigger/bulk', { events: bodies }] as const)
          : (['/v1/events/trigger', bodies[0]] as const)
    const { answer } = await this.#insist('POST', path, body)
    const results = [answer.body].flat() as Array<{ status?: string; transactionId?: string; error?: unknown }>
    for (const [place, { transactionId }] of triggers.entries()) {
      const result = results[place]
      if (result?.status === 'processed' && result.transactionId === transactionId)
        this.ledger.accepted.add(transactionId)
      else this.ledger.refusals.push(`${transactionId}: ${JSON.stringify(result)}`)
    }
  }

  async #cancel(transactionId: string): Promise<void> {
    const { answer, tries } = await this.#insist('DELETE', `/v1/events/trigger/${transactionId}`)
    this.ledger.canceled.set(transactionId, answer.body === true ? 'yes' : tries > 1 ? 'unsure' : 'no')
  }

  /** Repeats until there is a definite answer. */
  async #insist(method: string, path: string, body?: unknown): Promise<{ answer: Answer; tries: number }> {
    const began = performance.now()
    for (let tries = 1; ; tries += 1) {
      const urls = this.#urls()
      this.#turn += 1
      const answer = await ask(urls[this.#turn % urls.length] ?? '', method, path, body)
      const status = answer?.status ?? 0
      this.ledger.statuses.set(status, (this.ledger.statuses.get(status) ?? 0) + 1)
      if (answer && status < 500 && status !== 429) {
        if (status < 300) return { answer, tries }
        this.ledger.refusals.push(`${method} ${path}: ${status} ${JSON.stringify(answer.body).slice(0, 300)}`)
        return { answer, tries }
      }
      if (performance.now() - began > longestMs) {
        this.ledger.refusals.push(`${method} ${path}: only answered ${status} for ten minutes`)
        return { answer: answer ?? { status, body: undefined }, tries }
      }
      await sleep(Math.min(2_000, 100 * 2 ** Math.min(tries, 5)))
    }
  }

  #bodyOf({ n, transactionId, workflow, to, key, ballast }: Trigger): object {
    return {
      name: workflow,
      transactionId,
      ...(to === 'everyone' ? {} : { to: 'topic' in to ? { type: 'Topic', topicKey: to.topic } : to.people }),
      payload: { n, key, parity: isOdd(n) ? 'odd' : 'even', ...(ballast > 0 ? { ballast: 'x'.repeat(ballast) } : {}) },
      ...(workflow === 'sandboxed' ? { overrides: { email: { integrationIdentifier: this.#sandboxMail } } } : {}),
    }
  }
}
