// The base of all elements: settings from attributes or from the page's inbox, a client shared between elements with equal
// settings, a shadow root that page styles cannot reach and that works under a strict content security policy, and a
// language.
import type { InboxOptions, Workflow } from '../data/api.ts'
import { InboxClient } from '../data/client.ts'
import { type Child, h, patch } from '../view/dom.ts'
import { type IconName, icon } from '../view/icons.ts'
import { closeMenu } from '../view/menu.ts'
import { styles } from '../view/styles.ts'
import { directionOf, languageFor, loadLanguage, type TextKey, type Texts, translate } from '../view/texts.ts'
import type { Renderers, Ui } from '../view/ui.ts'

export interface Appearance {
  /** `colorPrimary` and the others, named as in themes for the public client. */
  variables?: Record<string, string>
  /** CSS properties in camelCase, by the name of the part. */
  elements?: Record<string, Record<string, string>>
  icons?: Partial<Record<IconName, () => Node>>
}

const settings = [
  ...['application-identifier', 'subscriber-id', 'subscriber-hash', 'context', 'context-hash', 'backend-url'],
  ...['socket-url', 'locale'],
]

/** The service's address defaults to this script's origin. */
export const origin = { url: '' }

interface Shared {
  client: InboxClient
  users: number
}
const clients = new Map<string, Shared>()

function takeClient(options: InboxOptions): { client: InboxClient; key: string } {
  const key = JSON.stringify(options)
  const shared = clients.get(key) ?? { client: new InboxClient(options), users: 0 }
  shared.users += 1
  clients.set(key, shared)
  shared.client.start()
  return { client: shared.client, key }
}

function leaveClient(key: string): void {
  const shared = clients.get(key)
  if (!shared) return
  shared.users -= 1
  if (shared.users > 0) return
  clients.delete(key)
  shared.client.close()
}

let sheet: CSSStyleSheet | undefined
/** Elements on the page, in order of insertion. */
const elements = new Set<BelfryElement>()

/** Where pages are rendered on a server there is no DOM; the module can still be imported. */
const Base = globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement)

export abstract class BelfryElement extends Base implements Ui {
  static observedAttributes = [
    ...settings,
    'theme',
    'tabs',
    'badge',
    'open',
    'page-size',
    'topic',
    'integration',
    'provider',
  ]

  readonly root: ShadowRoot
  openMenu: string | undefined
  #client: InboxClient | undefined
  #key = ''
  #options: Partial<InboxOptions> = {}
  #texts: Texts = {}
  #language: Texts | undefined
  #wantedLanguage: string | undefined
  #appearance: Appearance = {}
  #renderers: Renderers = {}
  #stops: Array<() => void> = []
  #isDrawing = false
  #said = ''
  #ownSheet: CSSStyleSheet | undefined
  #saved: Record<string, unknown> = {}

  constructor() {
    super()
    this.root = this.attachShadow({ mode: 'open' })
    sheet ??= new CSSStyleSheet()
    if (sheet.cssRules.length === 0) sheet.replaceSync(styles)
    this.root.adoptedStyleSheets = [sheet]
  }

  // ---- Settings ----

  /** All settings at once, for programs; attributes win. */
  get options(): Partial<InboxOptions> {
    return this.#options
  }

  set options(options: Partial<InboxOptions>) {
    this.#options = options
    this.#settle()
  }

  /** The page's own texts, and workflow names under `dynamic`. */
  get localization(): Texts {
    return this.#texts
  }

  set localization(texts: Texts) {
    this.#texts = texts
    this.update()
  }

  get appearance(): Appearance {
    return this.#appearance
  }

  set appearance(appearance: Appearance) {
    this.#appearance = appearance
    for (const [name, value] of Object.entries(appearance.variables ?? {}))
      this.style.setProperty(`--belfry-${dashed(name)}`, value)
    this.#ownSheet ??= new CSSStyleSheet()
    this.#ownSheet.replaceSync(rulesOf(appearance.elements ?? {}))
    this.root.adoptedStyleSheets = [...(sheet ? [sheet] : []), this.#ownSheet]
    this.update()
  }

  get renderers(): Renderers {
    return this.#renderers
  }

  set renderers(renderers: Renderers) {
    this.#renderers = renderers
    this.update()
  }

  get #isOwn(): boolean {
    const { applicationIdentifier, preferencesToken } = this.#options
    return this.hasAttribute('application-identifier') || (applicationIdentifier ?? preferencesToken) !== undefined
  }

  /** Uses another element's settings if this one has none. */
  #read(): InboxOptions | undefined {
    const other = this.#isOwn ? undefined : [...elements].find((element) => element.#isOwn)
    if (other) return other.#read()
    const text = (name: string) => this.getAttribute(name) ?? undefined
    const context = text('context')
    const options = {
      backendUrl: text('backend-url') ?? this.#options.backendUrl ?? origin.url,
      applicationIdentifier: text('application-identifier') ?? this.#options.applicationIdentifier,
      subscriber: text('subscriber-id') ?? this.#options.subscriber,
      subscriberHash: text('subscriber-hash') ?? this.#options.subscriberHash,
      context: context ? parsed<Record<string, unknown>>(context, {}) : this.#options.context,
      contextHash: text('context-hash') ?? this.#options.contextHash,
      socketUrl: text('socket-url') ?? this.#options.socketUrl,
      defaultSchedule: this.#options.defaultSchedule,
      preferencesToken: this.#options.preferencesToken,
    }
    if (options.preferencesToken !== undefined) return { ...options, applicationIdentifier: '', subscriber: '' }
    const { applicationIdentifier, subscriber } = options
    return applicationIdentifier && subscriber ? { ...options, applicationIdentifier, subscriber } : undefined
  }

  // ---- Life ----

  connectedCallback(): void {
    // Properties set before the element was defined.
    for (const name of ['options', 'localization', 'appearance', 'renderers', ...this.properties]) {
      if (!Object.hasOwn(this, name)) continue
      this.#saved[name] = (this as unknown as Record<string, unknown>)[name]
      delete (this as unknown as Record<string, unknown>)[name]
    }
    Object.assign(this, this.#saved)
    this.#saved = {}
    elements.add(this)
    this.#settle()
    const onOutside = (event: Event) => {
      const path = event.composedPath()
      const isInMenu = path.some((node) => node instanceof Element && node.matches('.menu-anchor'))
      if (!isInMenu || !path.includes(this)) closeMenu(this, { keepFocus: true })
      this.onOutside(path)
    }
    document.addEventListener('pointerdown', onOutside)
    // Keeps “5 minutes ago” correct.
    const ticking = setInterval(() => this.update(), 30_000)
    this.#stops.push(
      () => document.removeEventListener('pointerdown', onOutside),
      () => clearInterval(ticking),
    )
  }

  disconnectedCallback(): void {
    for (const stop of this.#stops.splice(0)) stop()
    elements.delete(this)
    // An element that is moved within the page is reinserted at once.
    queueMicrotask(() => {
      if (!this.isConnected) this.#leave()
    })
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    // A new element gets its attributes one by one; it reads all of them once it is inserted.
    if (!elements.has(this) || before === after) return
    if (settings.includes(name)) this.#settle()
    else this.onSetting(name)
    this.update()
  }

  #settle(): void {
    if (!elements.has(this)) return
    const options = this.#read()
    const key = options ? JSON.stringify(options) : ''
    if (key !== this.#key) {
      this.#leave()
      if (options) this.#enter(options)
      if (this.#isOwn) for (const element of elements) if (!element.#isOwn) element.#settle()
    }
    void this.#speak()
    this.update()
  }

  #enter(options: InboxOptions): void {
    const { client, key } = takeClient(options)
    this.#client = client
    this.#key = key
    const stop = client.subscribe(() => this.update())
    const stopReceived = client.on('received', (item) => {
      this.tell('received', item)
      this.onReceived(item)
    })
    let unread = client.state.unread
    const stopCounts = client.subscribe(() => {
      if (client.state.unread === unread) return
      unread = client.state.unread
      this.tell('counts', unread)
    })
    this.#onLeave = () => {
      stop()
      stopReceived()
      stopCounts()
    }
    this.onEnter()
  }

  #onLeave: () => void = () => undefined

  #leave(): void {
    if (!this.#client) return
    this.onLeave()
    this.#onLeave()
    leaveClient(this.#key)
    this.#client = undefined
    this.#key = ''
  }

  /** Undefined until the subscriber is known. */
  get inbox(): InboxClient | undefined {
    return this.#client
  }

  get client(): InboxClient {
    if (!this.#client) throw new Error('The element has no application-identifier and subscriber-id yet.')
    return this.#client
  }

  /** The element's own properties, beyond the common ones. */
  protected get properties(): string[] {
    return []
  }
  protected onEnter(): void {}
  protected onLeave(): void {}
  protected onSetting(_name: string): void {}
  protected onReceived(_item: unknown): void {}
  protected onOutside(_path: EventTarget[]): void {}

  // ---- Language ----

  get locale(): string {
    const wanted = this.getAttribute('locale') ?? (this.#texts.locale as string | undefined) ?? ''
    const page = this.closest('[lang]')?.getAttribute('lang') ?? navigator.language
    try {
      return Intl.getCanonicalLocales((wanted || page).replaceAll('_', '-'))[0] ?? 'en'
    } catch {
      return 'en'
    }
  }

  get direction(): 'ltr' | 'rtl' {
    return directionOf(this.locale)
  }

  async #speak(): Promise<void> {
    const language = languageFor(this.locale)
    if (language === this.#wantedLanguage) return
    this.#wantedLanguage = language
    try {
      const texts = language ? await loadLanguage(this.#read()?.backendUrl ?? origin.url, language) : undefined
      if (language === this.#wantedLanguage) this.#language = texts
    } catch {
      // English is better than nothing.
      this.#wantedLanguage = undefined
    }
    this.update()
  }

  t(key: TextKey, params?: Record<string, string | number>): string {
    return translate([this.#texts, this.#language], key, params)
  }

  nameOf({ identifier, name }: Pick<Workflow, 'identifier' | 'name'>): string {
    const { dynamic } = this.#texts as { dynamic?: Record<string, string> }
    return dynamic?.[identifier] ?? name
  }

  icon(name: IconName): Child {
    return icon(name, this.#appearance.icons as Record<string, () => Node>)
  }

  say(text: string): void {
    this.#said = text
    this.update()
  }

  tell(name: string, detail?: unknown): boolean {
    return this.dispatchEvent(
      new CustomEvent(`belfry-${name}`, { detail, bubbles: true, composed: true, cancelable: true }),
    )
  }

  // ---- Drawing ----

  protected abstract view(): Child[]

  update(): void {
    if (this.#isDrawing) return
    this.#isDrawing = true
    queueMicrotask(() => {
      this.#isDrawing = false
      if (!this.isConnected) return
      patch(this.root, [
        h('div', { class: 'belfry', dir: this.direction, lang: this.locale, part: 'root' }, [
          ...(this.#client ? this.view() : []),
          h('span', { key: 'live', class: 'hidden', role: 'status', 'aria-live': 'polite' }, this.#said),
        ]),
      ])
    })
  }
}

export function parsed<Result>(text: string, otherwise: Result): Result {
  try {
    return JSON.parse(text) as Result
  } catch {
    return otherwise
  }
}

const dashed = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Skips names and values that could end the rule. */
function rulesOf(elements: NonNullable<Appearance['elements']>): string {
  const isPlain = (text: string) => !/[{}<>\\]/.test(text)
  return Object.entries(elements)
    .filter(([name, properties]) => /^[\w-]+$/.test(name) && typeof properties === 'object')
    .map(([name, properties]) => {
      const declarations = Object.entries(properties)
        .filter(([property, value]) => isPlain(property) && isPlain(String(value)))
        .map(([property, value]) => `${dashed(property)}:${value}`)
      return `[part~="${name}"]{${declarations.join(';')}}`
    })
    .join('')
}
