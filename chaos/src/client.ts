// The application that uses the service: it triggers, cancels, posts events and answers questions as planned, and repeats
// unanswered requests under the same id.
import { setTimeout as sleep } from 'node:timers/promises'
import { cancellationKeyOf, eventIdOf, type FollowUp, type Plan, type Sending, type Trigger } from './plan.ts'
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
  /** Ids of posted events that were answered with 201. */
  readonly posted = new Set<string>()
  /** By question: the answers that were taken. */
  readonly answers = new Map<string, Set<string>>()
  /** By cancellation key: how many runs each request cancelled; undefined if an earlier one may have. */
  readonly byKey = new Map<string, Array<number | undefined>>()
  /** Number of answers by status; 0 means no answer. */
  readonly statuses = new Map<number, number>()
  /** Answers that are wrong under any circumstances. */
  readonly refusals: string[] = []
  /** What the client waited for in vain. */
  readonly missed: string[] = []
}

export class Client {
  readonly ledger = new Ledger()
  readonly #urls: () => string[]
  readonly #sandboxMail: string
  /** As long as faults are played, and then some. */
  readonly #patienceMs: number
  #turn = 0

  constructor(urls: () => string[], { sandboxMail, minutes }: { sandboxMail: string; minutes: number }) {
    this.#urls = urls
    this.#sandboxMail = sandboxMail
    this.#patienceMs = minutes * 60_000 + longestMs
  }

  /** Sends at the planned times, or as soon afterwards as the service accepts. */
  async perform({
    sendings,
    cancellings,
    followUps,
  }: Pick<Plan, 'sendings' | 'cancellings' | 'followUps'>): Promise<void> {
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
      ...followUps.flatMap((followUp) =>
        Array.from({ length: followUp.isDoubled ? 2 : 1 }, () => ({
          atMs: followUp.atMs,
          work: () => this.#follow(followUp),
        })),
      ),
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

  /** What ends the runs of a trigger comes after its acceptance. */
  async #follow(followUp: FollowUp): Promise<void> {
    const { n, kind, transactionId } = followUp
    await this.#until(() => this.ledger.accepted.has(transactionId), `${transactionId} to be accepted`)
    switch (kind) {
      case 'event': {
        const id = eventIdOf(n)
        const event = { id, name: 'paid', key: String(n), payload: { n } }
        const { answer } = await this.#insist('POST', '/v2/events', event)
        if ((answer.body as { id?: string }).id === id) this.ledger.posted.add(id)
        return
      }
      case 'cancel by key': {
        const key = cancellationKeyOf(n)
        const { answer, tries } = await this.#insist('POST', '/v1/events/cancel', { key })
        const { canceled } = answer.body as { canceled?: number }
        this.ledger.byKey.set(key, [...(this.ledger.byKey.get(key) ?? []), tries > 1 ? undefined : canceled])
        return
      }
      case 'answer':
        return this.#answer(followUp)
    }
  }

  /** Everybody gives two answers at once: one of them counts. */
  async #answer({ transactionId, people }: FollowUp): Promise<void> {
    const path = `/v2/questions?transactionId=${transactionId}&limit=50`
    let questions: Array<{ id: string; asked: Array<{ subscriberId: string }> }> = []
    await this.#until(async () => {
      const { answer } = await this.#insist('GET', path)
      questions = (answer.body as { data?: typeof questions }).data ?? []
      return questions.length >= people.length
    }, `the questions of ${transactionId}`)
    const give = async (id: string, subscriberId: string | undefined, answer: string) => {
      const given = await this.#insist('POST', `/v2/questions/${id}/answer`, { answer, subscriberId }, [409])
      if (given.answer.status === 200)
        this.ledger.answers.set(id, (this.ledger.answers.get(id) ?? new Set()).add(answer))
    }
    await Promise.all(
      questions.flatMap(({ id, asked }) => ['yes', 'no'].map((answer) => give(id, asked[0]?.subscriberId, answer))),
    )
  }

  /** A trigger that was accepted may have to wait: the queue tries again within minutes, and processes are killed meanwhile. */
  async #until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const began = performance.now()
    while (!(await isSo())) {
      if (performance.now() - began > this.#patienceMs) {
        this.ledger.missed.push(what)
        return
      }
      await sleep(100)
    }
  }

  /** Repeats until there is a definite answer. @param expected refusals that are right */
  async #insist(
    method: string,
    path: string,
    body?: unknown,
    expected: number[] = [],
  ): Promise<{ answer: Answer; tries: number }> {
    const began = performance.now()
    for (let tries = 1; ; tries += 1) {
      const urls = this.#urls()
      this.#turn += 1
      const answer = await ask(urls[this.#turn % urls.length] ?? '', method, path, body)
      const status = answer?.status ?? 0
      this.ledger.statuses.set(status, (this.ledger.statuses.get(status) ?? 0) + 1)
      if (answer && status < 500 && status !== 429) {
        if (status < 300 || expected.includes(status)) return { answer, tries }
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
      ...(workflow === 'paid' || workflow === 'answered' ? { cancellationKey: cancellationKeyOf(n) } : {}),
      ...(workflow === 'sandboxed' ? { overrides: { email: { integrationIdentifier: this.#sandboxMail } } } : {}),
    }
  }
}
