// Browser tabs with the same inbox share one socket: the tab that holds the lock owns it and relays its messages. When that
// tab closes, the next one takes over.
import { Socket } from './socket.ts'

/** Messages between tabs. */
export type TabMessage =
  | { kind: 'event'; name: string; payload: unknown }
  | { kind: 'connected' | 'disconnected' | 'hello' }
  | { kind: 'changed'; item: unknown }
  | { kind: 'removed'; id: string }
  /** A bulk change, or one to a notification this tab may not know. */
  | { kind: 'stale' }

export interface SharingOptions {
  /** Identifies the tabs that share a socket. */
  name: string
  url: string
  token: { get(): Promise<string>; refused(): void }
  onMessage(message: TabMessage): void
}

export class SharedSocket {
  readonly #socket: Socket
  readonly #channel: BroadcastChannel | undefined
  readonly #leaving = new AbortController()
  readonly #name: string
  #isLeader = false
  #isConnected = false
  /** Set while the machine is offline. */
  #isPaused = false

  constructor({ name, url, token, onMessage }: SharingOptions) {
    this.#name = `belfry ${name}`
    const tell = (message: TabMessage) => {
      this.#channel?.postMessage(message)
      onMessage(message)
    }
    this.#socket = new Socket(url, token, {
      onConnect: () => {
        this.#isConnected = true
        tell({ kind: 'connected' })
      },
      onDisconnect: () => {
        this.#isConnected = false
        tell({ kind: 'disconnected' })
      },
      onEvent: (eventName, payload) => tell({ kind: 'event', name: eventName, payload }),
    })
    if (typeof BroadcastChannel === 'undefined') return
    this.#channel = new BroadcastChannel(this.#name)
    this.#channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      if (data.kind !== 'hello') onMessage(data)
      else if (this.#isLeader && this.#isConnected) this.#channel?.postMessage({ kind: 'connected' })
    }
  }

  start(): void {
    // Insecure pages have no locks; each of their tabs opens its own socket.
    if (!navigator.locks || !this.#channel) {
      this.#lead()
      return
    }
    const { signal } = this.#leaving
    const untilLeft = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve())
    })
    navigator.locks
      .request(this.#name, { signal }, () => {
        this.#lead()
        return untilLeft
      })
      // Rejected only if this tab closes before it gets the lock.
      .catch(() => undefined)
    this.#channel.postMessage({ kind: 'hello' } satisfies TabMessage)
  }

  /** To the other tabs. */
  tell(message: TabMessage): void {
    this.#channel?.postMessage(message)
  }

  pause(): void {
    this.#isPaused = true
    this.#socket.close()
  }

  /** Also retries at once if a retry was scheduled. */
  resume(): void {
    this.#isPaused = false
    if (this.#isLeader) this.#socket.connect()
    else this.#channel?.postMessage({ kind: 'hello' } satisfies TabMessage)
  }

  close(): void {
    this.#socket.close()
    this.#leaving.abort()
    this.#channel?.close()
  }

  #lead(): void {
    this.#isLeader = true
    if (!this.#isPaused) this.#socket.connect()
  }
}
