// A subscriber's browser for inbox tests: a session, and requests with its token.
import { io as connect, type Socket } from 'socket.io-client'
import { afterEach, expect, vi } from 'vitest'
import { type Answer, Api, type TestServer } from './server.ts'

/** Sends requests with the token of a session. */
export class InboxClient extends Api {
  readonly token: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
  readonly session: any

  constructor(api: Api, session: { token: string }) {
    super(api.url, '', api.environmentId, api.organizationId)
    this.token = session.token
    this.session = session
  }

  override send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const json = { 'content-type': 'application/json' }
    return super.send(method, `/v1/inbox${path}`, body, { authorization: `Bearer ${this.token}`, ...json, ...headers })
  }
}

/** The identifier that pages use for the environment. */
export async function identifierOf({ database }: TestServer, api: Api): Promise<string> {
  const { identifier } = await database.db
    .selectFrom('environments')
    .select('identifier')
    .where('id', '=', api.environmentId)
    .executeTakeFirstOrThrow()
  return identifier
}

export async function openInbox(
  server: TestServer,
  api: Api,
  subscriberId: string,
  more: object = {},
): Promise<InboxClient> {
  const applicationIdentifier = await identifierOf(server, api)
  const answer = await api.post('/v1/inbox/session', { applicationIdentifier, subscriber: { subscriberId }, ...more })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return new InboxClient(api, answer.body.data)
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
type Payload = Record<string, any>
type Heard = [event: string, payload: Payload]

/** A browser's socket, with the events received so far. */
export class InboxSocket {
  readonly socket: Socket
  readonly heard: Heard[] = []

  constructor(url: string, options: Parameters<typeof connect>[1]) {
    this.socket = connect(url, { transports: ['websocket'], forceNew: true, ...options })
    this.socket.onAny((event: string, payload: Payload) => this.heard.push([event, payload]))
  }

  /** Waits for an event, and drops all events up to it. */
  async hears(event: string, payload: object = {}): Promise<Payload> {
    return vi.waitFor(
      () => {
        const at = this.heard.findIndex(([name, given]) => name === event && matches(given, payload))
        if (at < 0) throw new Error(`${event} ${JSON.stringify(payload)} is not among ${JSON.stringify(this.heard)}`)
        return this.heard.splice(0, at + 1).at(-1)?.[1] ?? {}
      },
      { timeout: 30_000, interval: 5 },
    )
  }

  /** Received events, in order. */
  get events(): string[] {
    return this.heard.map(([event]) => event)
  }
}

const matches = (value: unknown, part: object): boolean => {
  try {
    expect(value).toMatchObject(part)
    return true
  } catch {
    return false
  }
}

/** Sockets that are closed after each test. */
export function useSockets() {
  const opened: InboxSocket[] = []
  afterEach(() => {
    for (const { socket } of opened.splice(0)) socket.disconnect()
  })
  return {
    /** A socket that may be refused. */
    open(url: string, options: Parameters<typeof connect>[1] = {}): InboxSocket {
      const socket = new InboxSocket(url, options)
      opened.push(socket)
      return socket
    },
    /** Connected, and with the initial state received. */
    async connect(inbox: InboxClient, url = inbox.url): Promise<InboxSocket> {
      const socket = this.open(url, { query: { token: inbox.token } })
      await socket.hears('unread_count_changed')
      return socket
    },
  }
}
