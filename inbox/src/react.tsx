// The elements as React components, and the headless client as hooks. Everything else is in the elements.
import {
  type ComponentType,
  createContext,
  createElement,
  forwardRef,
  type HTMLAttributes,
  type ReactNode,
  type Ref,
  useContext,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { InboxOptions, UnreadCount } from './data/api.ts'
import { InboxClient, type InboxState } from './data/client.ts'
import { FilterCounts } from './data/counts.ts'
import type { ListState, NotificationList } from './data/list.ts'
import type { ActionType, Filter, Notification } from './data/notification.ts'
import type { Appearance, BelfryElement } from './elements/element.ts'
import './main.ts'
import type { Preferences, PreferencesState } from './data/preferences.ts'
import type { Store } from './data/store.ts'
import type { Texts } from './view/texts.ts'
import type { PreferenceGroup, Renderers, Tab } from './view/ui.ts'

export interface ElementProps extends Partial<InboxOptions> {
  locale?: string
  theme?: 'light' | 'dark' | 'system'
  localization?: Texts
  appearance?: Appearance
  renderers?: Renderers
  onReceived?(notification: Notification): void
  onCounts?(unread: UnreadCount): void
  className?: string
  style?: HTMLAttributes<HTMLElement>['style']
  ref?: Ref<BelfryElement>
}

export interface ListProps extends ElementProps {
  tabs?: Tab[]
  pageSize?: number
  badge?: 'unread' | 'unseen' | 'dot' | 'none'
  preferenceGroups?: PreferenceGroup[]
  onNotificationClick?(notification: Notification): void
  onActionClick?(detail: { notification: Notification; type: ActionType }): void
  /** Called instead of leaving the page. */
  onNavigate?(redirect: { url: string; target: string }): void
}

export interface InboxProps extends ListProps {
  open?: boolean
  placement?: string
  offset?: number
  onOpen?(): void
  onClose?(): void
}

const ownOptions = [
  ...['backendUrl', 'applicationIdentifier', 'subscriber', 'subscriberHash', 'context', 'contextHash'],
  ...['defaultSchedule', 'socketUrl'],
]
const ownProperties = ['localization', 'appearance', 'renderers', 'tabs', 'preferenceGroups', 'open']

const dashed = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `onNotificationClick` handles `belfry-notification-click`; handling `onNavigate` replaces the navigation. */
function wrap<Props extends object>(tag: string): ComponentType<Props> {
  // React 18 hands refs to such components only.
  return forwardRef<BelfryElement, Props>((props, ref) => {
    const element = useRef<BelfryElement>(null)
    const latest = useRef(props as Record<string, unknown>)
    latest.current = props as Record<string, unknown>
    const { className, style, children, ...rest } = latest.current
    const listeners = Object.keys(rest).filter((name) => /^on[A-Z]/.test(name))
    const options = Object.fromEntries(ownOptions.flatMap((name) => (name in rest ? [[name, rest[name]]] : [])))
    const key = JSON.stringify(options)
    useImperativeHandle(ref, () => element.current as BelfryElement)
    // Options are compared by value.
    useEffect(() => {
      if (element.current && Object.keys(options).length > 0) element.current.options = options
    }, [key])
    useEffect(
      () => {
        for (const name of ownProperties)
          if (element.current && name in latest.current)
            Object.assign(element.current, { [name]: latest.current[name] })
      },
      ownProperties.map((name) => rest[name]),
    )
    const heard = listeners.join()
    useEffect(() => {
      const stopping = new AbortController()
      for (const name of heard === '' ? [] : heard.split(',')) {
        const event = `belfry-${dashed(name.slice(2)).slice(1)}`
        element.current?.addEventListener(
          event,
          (given) => {
            if (name === 'onNavigate') given.preventDefault()
            ;(latest.current[name] as ((detail: unknown) => void) | undefined)?.((given as CustomEvent).detail)
          },
          { signal: stopping.signal },
        )
      }
      return () => stopping.abort()
    }, [heard])
    const attributes = Object.fromEntries(
      Object.entries(rest)
        .filter(([name]) => !ownOptions.includes(name) && !ownProperties.includes(name) && !listeners.includes(name))
        .map(([name, value]) => [dashed(name), value]),
    )
    return createElement(tag, { ...attributes, class: className, style, ref: element }, children as ReactNode)
  }) as unknown as ComponentType<Props>
}

export const Inbox = wrap<InboxProps>('belfry-inbox')
export const Notifications = wrap<ListProps>('belfry-notifications')
export const Bell = wrap<ListProps & { onBellClick?(): void }>('belfry-bell')
export const PreferencesPage = wrap<ElementProps & { preferenceGroups?: PreferenceGroup[] }>('belfry-preferences')
export const FollowButton = wrap<ElementProps & { topic: string; topicName?: string; workflows?: string }>(
  'belfry-follow',
)
export const ConnectButton = wrap<
  ElementProps & { provider: 'slack' | 'msteams'; integration: string; connection?: string; mode?: string }
>('belfry-connect')
export const Toasts = wrap<ElementProps & { placement?: string; duration?: number }>('belfry-toasts')

// ---- Hooks for pages that draw their own inbox ----

const ClientContext = createContext<InboxClient | undefined>(undefined)

/** Shares one client with all hooks below it. */
export function InboxProvider({ children, ...options }: InboxOptions & { children?: ReactNode }): ReactNode {
  const key = JSON.stringify(options)
  // Options are compared by value.
  const client = useMemo(() => new InboxClient(options), [key])
  useEffect(() => {
    client.start()
    return () => client.close()
  }, [client])
  return createElement(ClientContext.Provider, { value: client }, children)
}

function useClient(): InboxClient {
  const client = useContext(ClientContext)
  if (!client) throw new Error('Put an <InboxProvider> around what uses this.')
  return client
}

/** On a server it is what it begins with. */
function useStore<State extends object>(store: Store<State>): Readonly<State> {
  const read = () => store.state
  return useSyncExternalStore(store.subscribe, read, read)
}

export function useInbox(): { client: InboxClient; state: Readonly<InboxState> } {
  const client = useClient()
  return { client, state: useStore(client) }
}

export function useNotifications(filter?: Filter, pageSize?: number): Readonly<ListState> & { list: NotificationList } {
  const client = useClient()
  const key = JSON.stringify([filter, pageSize])
  // Filters are compared by value.
  const list = useMemo(() => client.list(filter, pageSize), [client, key])
  useEffect(() => {
    list.open()
    return () => list.close()
  }, [list])
  return { ...useStore(list), list }
}

export function useCounts(filters: Filter[]): number[] {
  const client = useClient()
  const key = JSON.stringify(filters)
  // Filters are compared by value.
  const counts = useMemo(() => new FilterCounts(client, filters), [client, key])
  useEffect(() => {
    counts.open()
    return () => counts.close()
  }, [counts])
  return useStore(counts).counts
}

export function usePreferences(): Readonly<PreferencesState> & { preferences: Preferences } {
  const client = useClient()
  const [preferences] = useState(() => client.preferences())
  useEffect(() => void preferences.load(), [preferences])
  return { ...useStore(preferences), preferences }
}
