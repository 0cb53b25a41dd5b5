// A small DNS server for tests: it knows what the test says, and stays silent where the test wants that.
import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from 'dns-packet'
import { afterAll, beforeAll, beforeEach } from 'vitest'

type RecordType = 'TXT' | 'MX' | 'A' | 'AAAA' | 'PTR'
/** Names with their records; `silent` never answers. An MX is written `10 mx.acme.example`. */
export type Zone = Record<string, Partial<Record<RecordType, string[]>> | 'silent'>

export class DnsServer {
  readonly #socket = createSocket('udp4')
  #zone: Zone = {}
  /** Questions in the order in which they came, as `TXT acme.example`. */
  asked: string[] = []

  knows(zone: Zone): void {
    this.#zone = zone
    this.asked = []
  }

  get address(): string {
    return `127.0.0.1:${(this.#socket.address() as AddressInfo).port}`
  }

  async open(): Promise<void> {
    this.#socket.on('message', (bytes, { port, address }) => {
      const answer = this.#answer(decode(bytes))
      if (answer) this.#socket.send(encode(answer), port, address)
    })
    await new Promise<void>((resolve) => this.#socket.bind(0, '127.0.0.1', resolve))
  }

  close(): void {
    this.#socket.close()
  }

  #answer({ id, questions = [] }: Packet): Packet | undefined {
    const [question] = questions
    if (!question || id === undefined) return undefined
    const { name, type } = question
    this.asked.push(`${type} ${name}`)
    const known = this.#zone[name.toLowerCase()]
    if (known === 'silent') return undefined
    const records = known?.[type as RecordType] ?? []
    return {
      ...{ type: 'response', id, questions },
      flags: AUTHORITATIVE_ANSWER | (known ? 0 : 3),
      answers: records.map((text) => recordOf(name, type as RecordType, text)),
    }
  }
}

function recordOf(name: string, type: RecordType, text: string): Answer {
  const common = { name, ttl: 60 }
  if (type === 'TXT')
    return { ...common, type, data: (text.match(/.{1,255}/gs) ?? ['']).map((part) => Buffer.from(part)) }
  if (type !== 'MX') return { ...common, type, data: text }
  const [preference = '', exchange = ''] = text.split(' ')
  return { ...common, type, data: { preference: Number(preference), exchange } }
}

/** Open during the tests of a file, and empty before each. */
export function useDns(): DnsServer {
  const server = new DnsServer()
  beforeAll(() => server.open())
  beforeEach(() => server.knows({}))
  afterAll(() => server.close())
  return server
}
