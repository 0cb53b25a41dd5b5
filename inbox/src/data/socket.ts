// Receives pushes over the part of the socket.io protocol that a listener needs; the library would be a third of all that a
// page loads. Falls back to long polling where a proxy blocks WebSockets.

export interface SocketListener {
  /** Connected or reconnected; events in between were missed. */
  onConnect(): void
  onDisconnect(): void
  onEvent(name: string, payload: unknown): void
}

interface Handshake {
  sid: string
  pingInterval: number
  pingTimeout: number
}

/** A connection, by WebSocket or long polling. */
interface Transport {
  send(packet: string): void
  close(): void
}

const longestRetryMs = 10_000
/** After this many WebSockets that never opened, attempts alternate between polling and WebSocket. */
const failuresBeforePolling = 2
const separator = '\u001e'

export class Socket {
  readonly #url: string
  readonly #token: { get(): Promise<string>; refused(): void }
  readonly #listener: SocketListener
  #transport: Transport | undefined
  #attempt = 0
  #isConnected = false
  #isClosed = true
  #retry: ReturnType<typeof setTimeout> | undefined
  #silenceTimer: ReturnType<typeof setTimeout> | undefined
  #silenceLimitMs = 45_000

  constructor(url: string, token: { get(): Promise<string>; refused(): void }, listener: SocketListener) {
    this.#url = `${url.replace(/\/+$/, '')}/socket.io/`
    this.#token = token
    this.#listener = listener
  }

  /** Connects at once, even if a retry was scheduled, and reconnects whenever the connection is lost. */
  connect(): void {
    if (!this.#isClosed && this.#transport) return
    this.#isClosed = false
    clearTimeout(this.#retry)
    void this.#open()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#drop()
  }

  async #open(): Promise<void> {
    const attempt = ++this.#attempt
    let token: string
    try {
      token = await this.#token.get()
    } catch {
      this.#retryLater()
      return
    }
    if (this.#isClosed || this.#transport) return
    const query = `EIO=4&token=${encodeURIComponent(token)}&transport=`
    // Ignore packets from earlier connections.
    const own = { current: undefined as Transport | undefined }
    const onPacket = (packet: string) => {
      if (this.#transport === own.current) this.#receive(packet)
    }
    const onEnd = () => {
      if (this.#transport !== own.current) return
      this.#drop()
      this.#retryLater()
    }
    const polls = attempt > failuresBeforePolling && attempt % 2 === 1
    own.current = (polls ? poll : openWebSocket)(`${this.#url}?${query}`, onPacket, onEnd)
    this.#transport = own.current
    this.#expectTraffic()
  }

  #receive(packet: string): void {
    this.#expectTraffic()
    const [kind, rest] = [packet[0], packet.slice(1)]
    if (kind === '0') {
      const { pingInterval, pingTimeout } = JSON.parse(rest) as Handshake
      this.#silenceLimitMs = pingInterval + pingTimeout
      this.#transport?.send('40')
    } else if (kind === '2') this.#transport?.send('3')
    else if (kind === '4') this.#receiveMessage(rest)
  }

  #receiveMessage(message: string): void {
    const [kind, rest] = [message[0], message.slice(1)]
    if (kind === '0') {
      this.#attempt = 0
      this.#isConnected = true
      this.#listener.onConnect()
    } else if (kind === '2') {
      const [name, payload] = JSON.parse(rest) as [string, unknown]
      this.#listener.onEvent(name, payload)
    } else if (kind === '1' || kind === '4') {
      // The service refused the connection or closed it: the token is no longer valid.
      this.#token.refused()
      this.#drop()
      this.#retryLater()
    }
  }

  /**
   * A connection that is silent for longer than the service's ping interval is dead, even if the browser reports it open.
   */
  #expectTraffic(): void {
    clearTimeout(this.#silenceTimer)
    this.#silenceTimer = setTimeout(() => {
      this.#drop()
      this.#retryLater()
    }, this.#silenceLimitMs)
  }

  #drop(): void {
    clearTimeout(this.#silenceTimer)
    const transport = this.#transport
    this.#transport = undefined
    transport?.close()
    if (!this.#isConnected) return
    this.#isConnected = false
    this.#listener.onDisconnect()
  }

  #retryLater(): void {
    if (this.#isClosed) return
    const delayMs = Math.min(longestRetryMs, 1_000 * 1.5 ** Math.max(0, this.#attempt - 1))
    // Jitter, so that pages do not all reconnect at once when a server comes back.
    this.#retry = setTimeout(() => void this.#open(), delayMs * (0.5 + Math.random() / 2))
  }
}

type Open = (url: string, onPacket: (packet: string) => void, onEnd: () => void) => Transport

const openWebSocket: Open = (url, onPacket, onEnd) => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}websocket`)
  socket.onmessage = ({ data }) => onPacket(String(data))
  socket.onclose = onEnd
  return {
    send: (packet) => socket.send(packet),
    close: () => {
      socket.onclose = null
      socket.close()
    },
  }
}

const poll: Open = (url, onPacket, onEnd) => {
  const stopping = new AbortController()
  let address = `${url}polling`
  const ask = async (body?: string): Promise<string> => {
    const response = await fetch(address, {
      signal: stopping.signal,
      cache: 'no-store',
      ...(body === undefined ? {} : { method: 'POST', body }),
    })
    if (!response.ok) throw new Error(response.statusText)
    return response.text()
  }
  const listen = async () => {
    for (;;) {
      for (const packet of (await ask()).split(separator)) {
        if (packet.startsWith('0{')) address += `&sid=${(JSON.parse(packet.slice(1)) as Handshake).sid}`
        onPacket(packet)
      }
    }
  }
  const end = () => {
    if (!stopping.signal.aborted) onEnd()
  }
  listen().catch(end)
  return {
    send: (packet) => {
      ask(packet).catch(end)
    },
    close: () => stopping.abort(),
  }
}
