// Push messages on this device: whether they can be, are, or are blocked; and turning them on and off.
import { type Api, InboxError } from './api.ts'
import { Store } from './store.ts'

export interface PushState {
  /** `none` where the browser or the environment has no web push. */
  status: 'unknown' | 'none' | 'off' | 'on' | 'blocked'
  isBusy: boolean
  hasFailed: boolean
}

interface Key {
  publicKey: string
}

/** Safari has push messages without a worker. */
type WindowWithPush = Window & { pushManager?: PushManager }

const remembered = 'belfry-push'

export class PushDevice extends Store<PushState> {
  readonly #api: Api
  readonly #worker: string
  #key: string | undefined
  #loading: Promise<void> | undefined

  constructor(api: Api, worker: string) {
    super({ status: 'unknown', isBusy: false, hasFailed: false })
    this.#api = api
    this.#worker = worker
  }

  load(): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<void> {
    if (!isSupported()) return this.set({ status: 'none' })
    try {
      const { data } = await this.#api.call<{ data: Key }>('GET', '/push/key')
      this.#key = data.publicKey
    } catch (error) {
      // An older service has no such address; a failure is not worth a message here.
      this.#loading = error instanceof InboxError && error.status === 404 ? this.#loading : undefined
      return this.set({ status: 'none' })
    }
    if (Notification.permission === 'denied') return this.set({ status: 'blocked' })
    const manager = await this.#manager(false)
    const subscription = await manager?.getSubscription()
    this.set({ status: subscription && Notification.permission === 'granted' ? 'on' : 'off' })
  }

  /** In a click: the browser asks the person. */
  async turnOn(): Promise<boolean> {
    return this.#during(async () => {
      const permission = await Notification.requestPermission()
      if (permission !== 'granted') {
        this.set({ status: permission === 'denied' ? 'blocked' : 'off' })
        return false
      }
      const manager = await this.#manager(true)
      if (!manager || this.#key === undefined) throw new Error('The browser has no push messages.')
      const options = { userVisibleOnly: true, applicationServerKey: bytesOf(this.#key) }
      const subscription = await manager.subscribe(options).catch(async (error: unknown) => {
        // Registered with an earlier key.
        const old = await manager.getSubscription()
        if (!old) throw error
        await old.unsubscribe()
        return manager.subscribe(options)
      })
      const body = { ...subscription.toJSON(), label: navigator.userAgent.slice(0, 100) }
      const { data } = await this.#api.call<{ data: { id: string } }>('POST', '/push/subscriptions', { body })
      localStorage.setItem(remembered, data.id)
      this.set({ status: 'on' })
      return true
    })
  }

  async turnOff(): Promise<boolean> {
    return this.#during(async () => {
      const manager = await this.#manager(false)
      const subscription = await manager?.getSubscription()
      await subscription?.unsubscribe()
      const id = localStorage.getItem(remembered)
      localStorage.removeItem(remembered)
      this.set({ status: 'off' })
      if (id !== null) await this.#api.call('DELETE', `/push/subscriptions/${id}`).catch(ignoreGone)
      return true
    })
  }

  async #during(work: () => Promise<boolean>): Promise<boolean> {
    this.set({ isBusy: true, hasFailed: false })
    try {
      return await work()
    } catch {
      this.set({ hasFailed: true })
      return false
    } finally {
      this.set({ isBusy: false })
    }
  }

  async #manager(isNeeded: boolean): Promise<PushManager | undefined> {
    const { pushManager } = window as WindowWithPush
    if (pushManager) return pushManager
    const known = await navigator.serviceWorker.getRegistration(this.#worker)
    if (!isNeeded || known?.active) return known?.pushManager
    await navigator.serviceWorker.register(this.#worker)
    return (await navigator.serviceWorker.ready).pushManager
  }
}

const isSupported = () =>
  'Notification' in window &&
  ('pushManager' in window || ('serviceWorker' in navigator && 'PushManager' in window)) &&
  isSecureContext

/** It was removed elsewhere already. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof InboxError) || error.status !== 404) throw error
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
