// What the service pushes, over the part of the socket.io protocol that a listener needs: the library would be a third of all
// that a page loads. Falls back to long polling where a proxy lets no WebSocket through.

export interface SocketListener {
  /** Connected, or connected again: what came in between was missed. */
  onConnect(): void
  onDisconnect(): void
  onEvent(name: string, payload: unknown): void
}

interface Handshake {
  sid: string
  pingInterval: number
  pingTimeout: number
}

/** One connection, whichever way it is made. */
interface Transport {
  send(packet: string): void
  close(): void
}

const longestRetryMs = 10_000
/** After this many WebSockets that never opened, polling is tried, then a WebSocket again, and so on. */
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
  #alive: ReturnType<typeof setTimeout> | undefined
  #patienceMs = 45_000

  constructor(url: string, token: { get(): Promise<string>; refused(): void }, listener: SocketListener) {
    this.#url = `${url.replace(/\/+$/, '')}/socket.io/`
    this.#token = token
    this.#listener = listener
  }

  /** Connects, and connects again whenever the connection is lost. At once, even if it was waiting to try again. */
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
      this.#tryLater()
      return
    }
    if (this.#isClosed || this.#transport) return
    const query = `EIO=4&token=${encodeURIComponent(token)}&transport=`
    // Whatever an earlier connection still has to say is about nothing anymore.
    const own = { current: undefined as Transport | undefined }
    const onPacket = (packet: string) => {
      if (this.#transport === own.current) this.#receive(packet)
    }
    const onEnd = () => {
      if (this.#transport !== own.current) return
      this.#drop()
      this.#tryLater()
    }
    const polls = attempt > failuresBeforePolling && attempt % 2 === 1
    own.current = (polls ? poll : openWebSocket)(`${this.#url}?${query}`, onPacket, onEnd)
    this.#transport = own.current
    this.#watch()
  }

  #receive(packet: string): void {
    this.#watch()
    const [kind, rest] = [packet[0], packet.slice(1)]
    if (kind === '0') {
      const { pingInterval, pingTimeout } = JSON.parse(rest) as Handshake
      this.#patienceMs = pingInterval + pingTimeout
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
      // Refused, or put out: the token is no longer good.
      this.#token.refused()
      this.#drop()
      this.#tryLater()
    }
  }

  /** A connection that is silent for longer than the service's pings are apart is dead, whatever the system says. */
  #watch(): void {
    clearTimeout(this.#alive)
    this.#alive = setTimeout(() => {
      this.#drop()
      this.#tryLater()
    }, this.#patienceMs)
  }

  #drop(): void {
    clearTimeout(this.#alive)
    const transport = this.#transport
    this.#transport = undefined
    transport?.close()
    if (!this.#isConnected) return
    this.#isConnected = false
    this.#listener.onDisconnect()
  }

  #tryLater(): void {
    if (this.#isClosed) return
    const delayMs = Math.min(longestRetryMs, 1_000 * 1.5 ** Math.max(0, this.#attempt - 1))
    // Not all at once, when a server that many pages were connected to comes back.
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
