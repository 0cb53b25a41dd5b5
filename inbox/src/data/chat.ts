// Connecting a chat workspace or a bot. The subscriber signs in in another tab; this one polls until the connection appears.
import type { Api, Connection, InboxError } from './api.ts'
import { Store } from './store.ts'

export interface ChatOptions {
  provider: 'slack' | 'msteams' | 'telegram'
  integrationIdentifier: string
  /** Defaults to one built from the provider and the subscriber. */
  connectionIdentifier?: string | undefined
  /** `shared` is for everybody in the same context. */
  mode?: 'subscriber' | 'shared' | undefined
}

export interface ChatState {
  status: 'loading' | 'ready' | 'waiting' | 'failed'
  connection?: Connection | undefined
  error?: InboxError | undefined
}

const pollMs = 2_500
const giveUpAfterMs = 5 * 60_000

export class ChatConnection extends Store<ChatState> {
  readonly #api: Api
  readonly #options: ChatOptions
  readonly #identifier: string
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(api: Api, options: ChatOptions) {
    super({ status: 'loading' })
    this.#api = api
    this.#options = options
    const { provider, mode = 'subscriber', connectionIdentifier } = options
    const suffix = mode === 'subscriber' ? `-${api.subscriber.subscriberId}` : ''
    this.#identifier = connectionIdentifier ?? `chconn-${provider}-default${suffix}`
  }

  get #path(): string {
    return `/channel-connections/${encodeURIComponent(this.#identifier)}`
  }

  async load(): Promise<void> {
    try {
      this.set({ status: 'ready', connection: await this.#find(), error: undefined })
    } catch (error) {
      this.set({ status: 'failed', error: error as InboxError })
    }
  }

  /** Telegram has no workspaces: a subscriber links a chat by messaging the bot. */
  get #isBot(): boolean {
    return this.#options.provider === 'telegram'
  }

  async #find(): Promise<Connection | undefined> {
    const { mode = 'subscriber', integrationIdentifier } = this.#options
    if (this.#isBot) {
      const query = new URLSearchParams({ integrationIdentifier, limit: '1' })
      const { data } = await this.#api.call<{ data: Connection[] }>('GET', `/channel-endpoints?${query}`)
      return data[0]
    }
    try {
      return await this.#api.call<Connection>('GET', `${this.#path}?connectionMode=${mode}`)
    } catch (error) {
      if ((error as InboxError).status === 404) return undefined
      throw error
    }
  }

  /** Returns the sign-in address and starts to poll for the connection. */
  async connect(): Promise<string> {
    const { integrationIdentifier, mode = 'subscriber' } = this.#options
    const workspace = {
      ...{ integrationIdentifier, connectionIdentifier: this.#identifier, connectionMode: mode },
      autoLinkUser: mode === 'subscriber',
    }
    const [path, body] = this.#isBot
      ? ['/channel-endpoints/link', { integrationIdentifier }]
      : ['/channel-connections/oauth', workspace]
    try {
      const { data } = await this.#api.call<{ data: { url: string } }>('POST', path, { body })
      this.set({ status: 'waiting', error: undefined })
      this.#pollUntil(Date.now() + giveUpAfterMs)
      return data.url
    } catch (error) {
      this.set({ status: 'failed', error: error as InboxError })
      throw error
    }
  }

  #pollUntil(end: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#poll(end), pollMs)
  }

  async #poll(end: number): Promise<void> {
    const connection = await this.#find().catch(() => undefined)
    if (connection) this.set({ status: 'ready', connection })
    else if (Date.now() < end) this.#pollUntil(end)
    else this.set({ status: 'ready' })
  }

  async disconnect(): Promise<void> {
    const { identifier = '' } = this.state.connection ?? {}
    this.set({ status: 'loading', error: undefined })
    try {
      await this.#api.call('DELETE', this.#isBot ? `/channel-endpoints/${encodeURIComponent(identifier)}` : this.#path)
      this.set({ status: 'ready', connection: await this.#find() })
    } catch (error) {
      this.set({ status: 'failed', error: error as InboxError })
    }
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}
