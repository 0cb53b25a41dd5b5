// <belfry-follow>, <belfry-connect> and <belfry-toasts>: single buttons, and news in the corner of the page.
import type { ChatConnection, ChatOptions } from '../data/chat.ts'
import type { TopicFollow } from '../data/follow.ts'
import type { Notification } from '../data/notification.ts'
import { type Child, h } from '../view/dom.ts'
import { markdown, plain } from '../view/markdown.ts'
import { open } from '../view/row.ts'
import { float, iconButton } from '../view/ui.ts'
import { BelfryElement } from './element.ts'

export class FollowElement extends BelfryElement {
  #follow: TopicFollow | undefined

  protected override onEnter(): void {
    const topicKey = this.getAttribute('topic')
    if (!topicKey) return
    const workflows = this.getAttribute('workflows')?.split(/[\s,]+/)
    this.#follow = this.client.follow({ topicKey, topicName: this.getAttribute('topic-name') ?? undefined, workflows })
    this.#follow.subscribe(() => this.update())
    void this.#follow.load()
  }

  protected override onSetting(name: string): void {
    if (name === 'topic' && this.inbox) this.onEnter()
  }

  protected override view(): Child[] {
    const follow = this.#follow
    if (!follow) return []
    const { status, subscription } = follow.state
    const isFollowing = subscription !== undefined
    return [
      h(
        'button',
        {
          type: 'button',
          class: `action ${isFollowing ? 'secondary' : 'primary'} big`,
          part: 'subscription__button',
          'aria-pressed': String(isFollowing),
          disabled: status === 'loading',
          onClick: () => void (isFollowing ? follow.unfollow() : follow.follow()),
        },
        this.icon(isFollowing ? 'check' : 'bell'),
        this.t(isFollowing ? 'subscription.unsubscribe' : 'subscription.subscribe'),
      ),
      status === 'failed' && h('span', { class: 'problem', role: 'alert' }, this.t('inbox.notSaved')),
    ]
  }
}

const providerNames = { slack: 'Slack', msteams: 'Microsoft Teams', telegram: 'Telegram' }

export class ConnectElement extends BelfryElement {
  #chat: ChatConnection | undefined

  protected override onEnter(): void {
    const integrationIdentifier = this.getAttribute('integration')
    if (!integrationIdentifier) return
    this.#chat?.close()
    this.#chat = this.client.chat({
      integrationIdentifier,
      provider: this.#provider,
      connectionIdentifier: this.getAttribute('connection') ?? undefined,
      mode: this.getAttribute('mode') === 'shared' ? 'shared' : 'subscriber',
    })
    this.#chat.subscribe(() => this.update())
    void this.#chat.load()
  }

  get #provider(): ChatOptions['provider'] {
    const named = this.getAttribute('provider') ?? ''
    return Object.hasOwn(providerNames, named) ? (named as ChatOptions['provider']) : 'slack'
  }

  protected override onLeave(): void {
    this.#chat?.close()
  }

  protected override onSetting(name: string): void {
    if ((name === 'integration' || name === 'provider') && this.inbox) this.onEnter()
  }

  protected override view(): Child[] {
    const chat = this.#chat
    if (!chat) return []
    const { status, connection } = chat.state
    const name = connection?.workspace?.name ?? providerNames[this.#provider]
    const text = connection ? 'connect.connected' : status === 'waiting' ? 'connect.waiting' : 'connect.connect'
    return [
      h('span', { class: 'connect' }, [
        h(
          'button',
          {
            type: 'button',
            class: `action ${connection ? 'secondary' : 'primary'} big`,
            part: 'channelConnectButton',
            disabled: status === 'loading' || connection !== undefined,
            onClick: () => void this.#connect(chat),
          },
          this.icon(connection ? 'check' : 'chat'),
          this.t(text, { name }),
        ),
        connection &&
          h(
            'button',
            { type: 'button', class: 'text-button', onClick: () => void chat.disconnect() },
            this.t('connect.disconnect'),
          ),
        status === 'failed' && h('span', { class: 'problem', role: 'alert' }, this.t('inbox.notSaved')),
      ]),
    ]
  }

  /** Opens the tab within the click, as pop-up blockers require, and redirects it once the address is known. */
  async #connect(chat: ChatConnection): Promise<void> {
    const tab = window.open('', '_blank')
    try {
      const url = await chat.connect()
      if (tab) {
        tab.opener = null
        tab.location.replace(url)
      }
    } catch {
      tab?.close()
    }
  }
}

const toastMs = 6_000
const mostToasts = 3

export class ToastsElement extends BelfryElement {
  #toasts: Notification[] = []
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>()

  protected override onReceived(item: Notification): void {
    this.#toasts = [item, ...this.#toasts.filter(({ id }) => id !== item.id)].slice(0, mostToasts)
    this.#wait(item.id)
    this.update()
  }

  protected override onLeave(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#toasts = []
  }

  #wait(id: string): void {
    this.#stay(id)
    this.#timers.set(
      id,
      setTimeout(() => this.#dismiss(id), Number(this.getAttribute('duration') ?? toastMs)),
    )
  }

  #stay(id: string): void {
    clearTimeout(this.#timers.get(id))
  }

  #dismiss(id: string): void {
    this.#stay(id)
    this.#toasts = this.#toasts.filter((each) => each.id !== id)
    this.update()
  }

  protected override view(): Child[] {
    if (this.#toasts.length === 0) return []
    return [
      h(
        'div',
        {
          class: `toasts ${this.getAttribute('placement') ?? 'bottom-end'}`,
          role: 'log',
          'aria-label': this.t('inbox.bell'),
          ref: (element: never) => queueMicrotask(() => float(element)),
        },
        this.#toasts.map((item) =>
          h(
            'div',
            {
              key: item.id,
              class: 'toast',
              part: 'toast',
              'data-severity': item.severity,
              onPointerenter: () => this.#stay(item.id),
              onPointerleave: () => this.#wait(item.id),
              onFocusin: () => this.#stay(item.id),
              onFocusout: () => this.#wait(item.id),
            },
            h(
              'button',
              {
                type: 'button',
                class: 'toast-text',
                onClick: () => {
                  this.#dismiss(item.id)
                  open(this, item)
                },
              },
              item.subject && h('strong', { dir: 'auto' }, plain(item.subject)),
              h('span', { class: 'body', dir: 'auto' }, markdown(item.body, { withoutLinks: true })),
            ),
            iconButton(this, 'close', this.t('inbox.close'), () => this.#dismiss(item.id)),
          ),
        ),
      ),
    ]
  }
}
