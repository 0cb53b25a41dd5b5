// Plays everything outside: providers of all channels, the target of HTTP requests, and the application with code-first
// workflows. It records every request and answers as the weather and the seed decide.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Weather } from './plan.ts'
import { Random } from './random.ts'
import type { Offer } from './refusals.ts'
import { markOf } from './workflows.ts'

/** How a request was answered. */
type Manner = 'taken' | 'slow' | 'refused' | 'limited' | 'lost before' | 'lost after' | 'unanswered' | 'half answered'

const fair: Record<Manner, number> = {
  taken: 82,
  slow: 5,
  refused: 4,
  limited: 3,
  'lost before': 1,
  'lost after': 2,
  unanswered: 1.5,
  'half answered': 1.5,
}
const bad: Record<Weather, Partial<Record<Manner, number>>> = {
  refusing: { refused: 9, taken: 1 },
  limiting: { limited: 9, taken: 1 },
  slow: { slow: 1 },
  hanging: { unanswered: 3, 'half answered': 2, slow: 3 },
  breaking: { 'lost before': 2, 'lost after': 2, taken: 4 },
}
const isTakenBy: Record<Manner, boolean> = {
  ...{ taken: true, slow: true, 'lost after': true, unanswered: true, 'half answered': true },
  ...{ refused: false, limited: false, 'lost before': false },
}

export interface Asked {
  mark: string
  manner: Manner
  at: number
  /** The message was accepted, even if the service does not know. */
  isTaken: boolean
  /** The complete answer was written to the network. */
  isAnswered: boolean
  /** The text after the mark. */
  content: string
}

/** A step fails after four failed calls to the application, so this one answers the third at the latest. */
const mostBridgeFaults = 2

export class Provider {
  readonly #seed: string
  readonly #server: Server
  /** By mark. */
  readonly asked = new Map<string, Asked[]>()
  readonly manners: Partial<Record<Manner, number>> = {}
  weather: Weather | undefined
  url = ''
  /** Called once, at the next message. */
  onNext: (() => void) | undefined
  /** Called with the message id of each push message accepted and answered. */
  onPush: ((id: string) => void) | undefined
  /** Called with each offer accepted and answered, and whom it went to. */
  onOffer: ((who: string, offer: Offer) => void) | undefined
  #count = 0

  constructor(seed: string) {
    this.#seed = seed
    this.#server = createServer((request, response) => {
      void this.#meet(request, response).catch(() => response.destroy())
    })
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  /** No more failures from now on. */
  calm(): void {
    this.#isCalm = true
    this.weather = undefined
    this.onNext = undefined
  }
  #isCalm = false

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #meet(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url)
    const body = await text(request)
    if (url.pathname === '/bridge') return this.#bridge(url.searchParams, body, response)
    const { mark = '', content = '' } = findMark(body)
    const asked = this.#note(mark, content, url.pathname === '/ask')
    const next = this.onNext
    this.onNext = undefined
    next?.()
    this.#count += 1
    const id = `theirs-${this.#count}`
    response.on('finish', () => {
      asked.isAnswered = asked.isTaken
      if (asked.isTaken && url.pathname === '/push')
        this.onPush?.((JSON.parse(body) as { messageId: string }).messageId)
      const [, who] = /^\[\d+\/([\w-]+)\/offer\]$/.exec(mark) ?? []
      if (asked.isTaken && who !== undefined) this.onOffer?.(who, JSON.parse(body) as Offer)
    })
    await this.#answer(asked, { id, answer: 42 }, response)
  }

  #note(mark: string, content: string, isGentle = false): Asked {
    const known = this.asked.get(mark) ?? []
    this.asked.set(mark, known)
    const manner = this.#mannerFor(`${mark}/${known.length}`, isGentle)
    this.manners[manner] = (this.manners[manner] ?? 0) + 1
    const asked = { mark, manner, at: Date.now(), isTaken: isTakenBy[manner], isAnswered: false, content }
    known.push(asked)
    return asked
  }

  /** Each manner once, so that none depends on luck; then derived from message and attempt, in any order of arrival. */
  #mannerFor(name: string, isGentle: boolean): Manner {
    if (this.#isCalm) return 'taken'
    const unmet = (Object.keys(fair) as Manner[]).find((manner) => this.manners[manner] === undefined)
    if (unmet && !isGentle) return unmet
    const weights = this.weather && !isGentle ? bad[this.weather] : fair
    return new Random(`${this.#seed}/${name}`).weighted(weights as Record<Manner, number>)
  }

  async #answer({ manner, mark }: Asked, body: object, response: ServerResponse): Promise<void> {
    switch (manner) {
      case 'slow':
        await sleep(new Random(`${this.#seed}/${mark}/slow`).int(300, 3_500))
        break
      case 'refused':
        response.writeHead(500).end('{"message":"out of order"}')
        return
      case 'limited':
        response.writeHead(429, { 'retry-after': '1' }).end('{"message":"too many"}')
        return
      case 'lost before':
      case 'lost after':
        response.socket?.resetAndDestroy()
        return
      case 'unanswered':
        return
      case 'half answered':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"id":')
        return
      case 'taken':
        break
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  /** One workflow whose steps are computed here. */
  async #bridge(query: URLSearchParams, body: string, response: ServerResponse): Promise<void> {
    const say = (answer: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    const action = query.get('action')
    if (action === 'discover') {
      const steps = [
        { stepId: 'sum', type: 'custom' },
        { stepId: 'note', type: 'in_app' },
      ]
      return void say({ workflows: [{ workflowId: 'coded', steps }] })
    }
    if (action !== 'execute') return void say({ status: 'ok' })
    const stepId = query.get('stepId') ?? ''
    const { payload, subscriber, state } = JSON.parse(body) as BridgeEvent
    const mark = markOf(payload.n, subscriber.subscriberId, stepId)
    const asked = this.#note(`${mark} of code`, '', true)
    const before = (this.asked.get(asked.mark)?.length ?? 0) - 1
    if (before < mostBridgeFaults && !isTakenBy[asked.manner]) return this.#answer(asked, {}, response)
    const twice = stepId === 'sum' ? payload.n * 2 : state.find((step) => step.stepId === 'sum')?.outputs.twice
    const outputs = stepId === 'sum' ? { twice } : { body: `${mark}${twice}` }
    say({
      outputs,
      providers: {},
      options: { skip: false },
      metadata: { status: 'success', error: false, duration: 1 },
    })
  }
}

/** The mark may occur several times; the longest text after it is the complete one. */
function findMark(body: string): { mark?: string; content?: string } {
  const found = [...body.matchAll(/(?<mark>\[\d+\/[\w-]+\/\w+\])(?<content>[\d,]*)/g)].map(({ groups }) => groups ?? {})
  return found.sort((one, other) => (other.content?.length ?? 0) - (one.content?.length ?? 0))[0] ?? {}
}

interface BridgeEvent {
  payload: { n: number }
  subscriber: { subscriberId: string }
  state: Array<{ stepId: string; outputs: { twice?: number } }>
}
