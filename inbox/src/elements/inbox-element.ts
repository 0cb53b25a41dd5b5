// <belfry-inbox>: a bell with a count that opens the inbox. <belfry-notifications> is the inbox without the bell.
import type { InboxClient } from '../data/client.ts'
import type { PushDevice } from '../data/push.ts'
import { type Child, h } from '../view/dom.ts'
import { ListView } from '../view/list-view.ts'
import { closeMenu } from '../view/menu.ts'
import { PreferencesView, type PreferencesViewOptions } from '../view/preferences-view.ts'
import { pushBanner } from '../view/push-view.ts'
import { float, iconButton, type PreferenceGroup, place, type Tab, type Ui } from '../view/ui.ts'
import { BelfryElement, parsed } from './element.ts'

const severities = ['high', 'medium', 'low'] as const

/** What the badge shows: `unread` (default), `unseen`, `dot` or `none`. */
export function bell(ui: Ui, options: { badge: string; isOpen: boolean; onClick(): void }): Child {
  const { unread, unseen } = ui.client.state
  const { badge, isOpen, onClick } = options
  const count = badge === 'unseen' ? unseen : unread.total
  const severity = severities.find((name) => unread.severity[name] > 0) ?? 'none'
  const shown = count > 99 ? '99+' : String(count)
  return h(
    'button',
    {
      key: 'bell',
      type: 'button',
      class: 'bell',
      part: 'bellContainer',
      'data-severity': severity,
      'aria-haspopup': 'dialog',
      'aria-expanded': String(isOpen),
      'aria-label': count > 0 ? ui.t('inbox.bell.unread', { count: shown }) : ui.t('inbox.bell'),
      onClick,
    },
    ui.renderers.bell?.(unread) ?? [
      ui.icon('bell'),
      count > 0 &&
        badge !== 'none' &&
        (badge === 'dot'
          ? h('span', { class: 'badge dot-badge', part: 'bellDot' })
          : h('span', { class: 'badge', part: 'bellBadge', 'aria-hidden': 'true' }, shown)),
    ],
  )
}

abstract class InboxPages extends BelfryElement {
  #list: ListView | undefined
  #preferences: PreferencesView | undefined
  #groups: PreferenceGroup[] = []
  #sort: PreferencesViewOptions['sort']
  #filter: PreferencesViewOptions['filter']
  #tabs: Tab[] | undefined
  #lastUnread = 0
  #push: PushDevice | undefined

  protected override get properties(): string[] {
    return ['tabs', 'preferenceGroups', 'preferencesSort', 'preferencesFilter']
  }

  get tabs(): Tab[] {
    return this.#tabs ?? parsed<Tab[]>(this.getAttribute('tabs') ?? '[]', [])
  }

  set tabs(tabs: Tab[]) {
    this.#tabs = tabs
    this.#renew()
  }

  set preferenceGroups(groups: PreferenceGroup[]) {
    this.#groups = groups
  }

  set preferencesSort(sort: PreferencesViewOptions['sort']) {
    this.#sort = sort
  }

  set preferencesFilter(filter: PreferencesViewOptions['filter']) {
    this.#filter = filter
  }

  /** Whether the list is on screen. */
  protected abstract get isShown(): boolean

  protected override onSetting(name: string): void {
    if (name === 'tabs' || name === 'page-size') this.#renew()
  }

  #renew(): void {
    this.#list?.close()
    this.#list = undefined
    this.update()
  }

  /** Undefined where the page wants none. Asked for when the list is first shown. */
  get #device(): PushDevice | undefined {
    if (this.hasAttribute('hide-push') || this.client.options.preferencesToken !== undefined) return undefined
    if (!this.#push) {
      this.#push = this.client.push(this.#pushWorker)
      this.#push.subscribe(() => this.update())
      void this.#push.load()
    }
    return this.#push
  }

  /** Ours where the page is on our origin; else one that the page serves, and that imports ours. */
  get #pushWorker(): string {
    const named = this.getAttribute('push-worker')
    if (named) return named
    const ours = new URL('push-worker.js', `${this.client.options.backendUrl.replace(/\/+$/, '')}/`)
    return ours.origin === location.origin ? ours.href : '/belfry-push-worker.js'
  }

  protected override onLeave(): void {
    this.#push = undefined
    this.#list?.close()
    this.#preferences?.close()
    this.#list = undefined
    this.#preferences = undefined
  }

  /** Created when first shown: until then the bell needs one request only. */
  protected get list(): ListView {
    this.#list ??= new ListView(this, {
      tabs: this.tabs,
      pageSize: Number(this.getAttribute('page-size') ?? 10),
      showsArrivals: this.hasAttribute('show-arrivals'),
      onSettings: this.hasAttribute('hide-preferences') ? undefined : () => this.showPreferences(true),
    })
    return this.#list
  }

  protected get hasList(): boolean {
    return this.#list !== undefined
  }

  showPreferences(isShown: boolean): void {
    this.openMenu = undefined
    this.#preferences?.close()
    this.#preferences = isShown
      ? new PreferencesView(this, {
          groups: this.#groups,
          sort: this.#sort,
          filter: this.#filter,
          push: this.#device,
        })
      : undefined
    this.update()
    queueMicrotask(() =>
      queueMicrotask(() =>
        this.root.querySelector<HTMLElement>(isShown ? '.back' : '[part=preferences__button]')?.focus(),
      ),
    )
  }

  protected pages(closing: Child[] = []): Child[] {
    const preferences = this.#preferences
    const { connection } = this.client.state
    return [
      preferences
        ? h('header', { class: 'header', key: 'preferences-header', part: 'preferencesHeader' }, [
            iconButton(this, 'back', this.t('inbox.back'), () => this.showPreferences(false), {
              class: 'icon-button back',
              part: 'preferencesHeader__back__button',
            }),
            h('h2', { class: 'title' }, this.t('preferences.title')),
            h('span', { class: 'space' }),
            ...closing,
          ])
        : this.list.header(closing),
      connection === 'offline' &&
        h('div', { class: 'banner', key: 'banner', role: 'status' }, this.icon('offline'), this.t('inbox.offline')),
      !preferences && pushBanner(this, this.#device),
      ...(preferences ? [preferences.view()] : this.list.view()),
      feedback(this, this.client),
    ]
  }

  /** Announces the count to screen readers. */
  protected sayCount(): void {
    const { total } = this.client.state.unread
    if (total > this.#lastUnread) this.say(this.t('inbox.bell.unread', { count: total > 99 ? '99+' : total }))
    this.#lastUnread = total
  }
}

/** The last action with its undo button, or why it failed. */
function feedback(ui: Ui, client: InboxClient): Child {
  const { undo, problem } = client.state
  if (problem) {
    return h('div', { class: 'feedback bad', key: 'problem', role: 'alert' }, [
      ui.icon('error'),
      h('span', null, ui.t('inbox.notSaved')),
      iconButton(ui, 'close', ui.t('inbox.close'), () => client.forgetProblem()),
    ])
  }
  if (!undo) return null
  const stay = () => client.keepUndo()
  return h(
    'div',
    {
      class: 'feedback',
      key: `undo-${undo.kind}`,
      role: 'status',
      part: 'undo',
      onPointerenter: stay,
      onFocusin: stay,
    },
    [
      h('span', null, ui.t(`undo.${undo.kind}`)),
      h('button', { type: 'button', class: 'undo', onClick: () => client.undo() }, ui.t('inbox.undo')),
    ],
  )
}

export class InboxElement extends InboxPages {
  #isOpen = false
  #panel: HTMLElement | undefined

  protected override get properties(): string[] {
    return [...super.properties, 'open']
  }

  get open(): boolean {
    return this.#isOpen
  }

  set open(isOpen: boolean) {
    if (isOpen === this.#isOpen) return
    this.#isOpen = isOpen
    if (this.inbox) this.#settleOpen()
    this.update()
  }

  protected override get isShown(): boolean {
    return this.#isOpen
  }

  protected override onEnter(): void {
    if (this.hasAttribute('open')) this.#isOpen = true
    if (this.#isOpen) this.#settleOpen()
  }

  protected override onSetting(name: string): void {
    super.onSetting(name)
    if (name === 'open') this.open = this.hasAttribute('open')
  }

  #settleOpen(): void {
    this.tell(this.#isOpen ? 'open' : 'close')
    if (this.#isOpen || this.hasList) this.list.isRead = this.#isOpen
    if (!this.#isOpen) this.openMenu = undefined
  }

  #close({ returnFocus }: { returnFocus: boolean }): void {
    if (!this.#isOpen) return
    this.open = false
    this.showPreferences(false)
    if (returnFocus) this.root.querySelector<HTMLElement>('.bell')?.focus()
  }

  protected override onOutside(path: EventTarget[]): void {
    if (!path.includes(this)) this.#close({ returnFocus: false })
  }

  #appear(panel: HTMLElement): void {
    this.#panel = panel
    queueMicrotask(() => {
      if (!panel.isConnected) return
      float(panel)
      this.#place()
      this.root.querySelector<HTMLElement>('.panel .title-button')?.focus({ preventScroll: true })
    })
  }

  #place(): void {
    const anchor = this.root.querySelector('.bell')
    const [side, align = 'end'] = (this.getAttribute('placement') ?? 'bottom-end').split('-')
    if (!anchor || !this.#panel?.isConnected) return
    place(this.#panel, anchor, {
      align: align === 'start' ? 'start' : 'end',
      gap: Number(this.getAttribute('offset') ?? 8),
      above: side === 'top',
    })
  }

  override connectedCallback(): void {
    super.connectedCallback()
    addEventListener('resize', this.#onMove)
    addEventListener('keydown', this.#onKey)
    addEventListener('scroll', this.#onMove, { capture: true, passive: true })
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    removeEventListener('resize', this.#onMove)
    removeEventListener('keydown', this.#onKey)
    removeEventListener('scroll', this.#onMove, { capture: true })
  }

  readonly #onMove = () => {
    if (this.#isOpen) this.#place()
  }

  /** Escape closes the inbox even when nothing has the focus. */
  readonly #onKey = ({ key, target }: KeyboardEvent) => {
    if (key === 'Escape' && target === document.body) this.#close({ returnFocus: true })
  }

  protected override view(): Child[] {
    const isOpen = this.#isOpen
    this.sayCount()
    return [
      bell(this, {
        badge: this.getAttribute('badge') ?? 'unread',
        isOpen,
        onClick: () => {
          this.open = !isOpen
        },
      }),
      isOpen &&
        h(
          'div',
          {
            key: 'panel',
            class: 'panel',
            part: 'inbox__popoverContent',
            role: 'dialog',
            'aria-label': this.t('inbox.bell'),
            ref: (element: never) => this.#appear(element),
            onKeydown: (event: KeyboardEvent) => {
              if (event.key !== 'Escape') return
              event.stopPropagation()
              this.#close({ returnFocus: true })
            },
          },
          this.pages([
            iconButton(this, 'close', this.t('inbox.close'), () => this.#close({ returnFocus: true }), {
              class: 'icon-button narrow-only',
            }),
          ]),
        ),
    ]
  }
}

export class NotificationsElement extends InboxPages {
  protected override get isShown(): boolean {
    return true
  }

  protected override view(): Child[] {
    this.sayCount()
    return [
      h(
        'div',
        {
          class: 'inline',
          part: 'inboxContent',
          onKeydown: (event: KeyboardEvent) => {
            if (event.key === 'Escape') closeMenu(this)
          },
        },
        this.pages(),
      ),
    ]
  }
}

export class BellElement extends BelfryElement {
  protected override view(): Child[] {
    return [
      bell(this, {
        badge: this.getAttribute('badge') ?? 'unread',
        isOpen: false,
        // Lets the page show its own inbox.
        onClick: () => void this.tell('bell-click'),
      }),
    ]
  }
}

export class PreferencesElement extends BelfryElement {
  #view: PreferencesView | undefined
  #groups: PreferenceGroup[] = []
  #sort: PreferencesViewOptions['sort']
  #heading: PreferencesViewOptions['heading']

  protected override get properties(): string[] {
    return ['preferenceGroups', 'preferencesSort', 'preferencesHeading']
  }

  set preferencesSort(sort: PreferencesViewOptions['sort']) {
    this.#sort = sort
    this.onLeave()
    this.update()
  }

  set preferencesHeading(heading: PreferencesViewOptions['heading']) {
    this.#heading = heading
    this.onLeave()
    this.update()
  }

  set preferenceGroups(groups: PreferenceGroup[]) {
    this.#groups = groups
    this.onLeave()
    this.update()
  }

  protected override onLeave(): void {
    this.#view?.close()
    this.#view = undefined
  }

  protected override view(): Child[] {
    // The hosted page has no switch for everything: each no to a commercial workflow there is an unsubscription of its own.
    const hidesGeneral = this.client.options.preferencesToken !== undefined
    this.#view ??= new PreferencesView(this, {
      ...{ groups: this.#groups, sort: this.#sort, heading: this.#heading, hidesGeneral },
    })
    return [h('div', { class: 'inline' }, this.#view.view())]
  }
}
