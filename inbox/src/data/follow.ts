// Whether a subscriber follows a topic.
import type { Api, InboxError, TopicSubscription } from './api.ts'
import { Store } from './store.ts'

export interface FollowOptions {
  topicKey: string
  topicName?: string | undefined
  /** Generated if omitted. */
  identifier?: string | undefined
  /** Identifiers of workflows that can be turned off for this topic alone. */
  workflows?: string[] | undefined
}

export interface FollowState {
  status: 'loading' | 'ready' | 'failed'
  subscription?: TopicSubscription | undefined
  error?: InboxError | undefined
}

export class TopicFollow extends Store<FollowState> {
  readonly #api: Api
  readonly #options: FollowOptions
  readonly #path: string

  constructor(api: Api, options: FollowOptions) {
    super({ status: 'loading' })
    this.#api = api
    this.#options = options
    this.#path = `/topics/${encodeURIComponent(options.topicKey)}/subscriptions`
  }

  async load(): Promise<void> {
    const { identifier } = this.#options
    await this.#run(async () => {
      const { data } = await this.#api.call<{ data: TopicSubscription[] }>('GET', this.#path)
      return identifier ? data.find((each) => each.identifier === identifier) : data[0]
    })
  }

  async follow(): Promise<void> {
    const { identifier = '', topicName, workflows } = this.#options
    const body = {
      identifier,
      ...(topicName ? { topic: { name: topicName } } : {}),
      ...(workflows ? { preferences: workflows } : {}),
    }
    await this.#run(async () => {
      const { data } = await this.#api.call<{ data: TopicSubscription }>('POST', this.#path, { body })
      return data
    })
  }

  async unfollow(): Promise<void> {
    const { subscription } = this.state
    if (!subscription) return
    await this.#run(async () => {
      await this.#api.call('DELETE', `${this.#path}/${encodeURIComponent(subscription.identifier)}`)
      return undefined
    })
  }

  /** Turns one workflow of this topic on or off. */
  async setWorkflow(workflowId: string, enabled: boolean): Promise<void> {
    const { subscription } = this.state
    if (!subscription) return
    await this.#run(async () => {
      const path = `/subscriptions/${encodeURIComponent(subscription.identifier)}/preferences/${workflowId}`
      await this.#api.call('PATCH', path, { body: { enabled } })
      const preferences = subscription.preferences.map((each) =>
        each.workflow.id === workflowId ? { ...each, enabled } : each,
      )
      return { ...subscription, preferences }
    })
  }

  async #run(work: () => Promise<TopicSubscription | undefined>): Promise<void> {
    this.set({ status: 'loading', error: undefined })
    try {
      this.set({ status: 'ready', subscription: await work() })
    } catch (error) {
      this.set({ status: 'failed', error: error as InboxError })
    }
  }
}
