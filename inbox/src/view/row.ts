// One notification in a list.
import { ignoring } from '../data/client.ts'
import { type ActionType, type Notification, type Redirect, safeUrl } from '../data/notification.ts'
import { type Child, h } from './dom.ts'
import type { IconName } from './icons.ts'
import { markdown, plain } from './markdown.ts'
import { closeMenu, type MenuItem, menu, openMenu } from './menu.ts'
import { snoozeMenu } from './snooze.ts'
import { swipe } from './swipe.ts'
import { absoluteTime, relativeTime, soonTime } from './time.ts'
import { iconButton, type Renderers, type Ui } from './ui.ts'

export interface RowOptions {
  position: number
  /** Number of rows; -1 if more may follow. */
  size: number
  /** Reached by Tab; the other rows by arrow keys. */
  isCurrent: boolean
  onMake(element: HTMLElement): void
  onFocus(): void
}

interface Tool {
  key: string
  icon: IconName
  label: string
  run(): void
}

export function row(ui: Ui, item: Notification, options: RowOptions): Child {
  const { position, size, isCurrent, onMake, onFocus } = options
  const { id, isRead, severity } = item
  const tabindex = isCurrent ? 0 : -1
  const own = drawnByPage(ui, 'notification', item)
  return h(
    'article',
    {
      key: id,
      class: `row ${isRead ? 'read' : 'unread'}${item.redirect ? ' linked' : ''}`,
      part: `notification notification-${isRead ? 'read' : 'unread'}`,
      'data-id': id,
      'data-severity': severity,
      tabindex,
      'aria-posinset': position,
      'aria-setsize': size,
      'aria-labelledby': own ? null : `s-${id}`,
      'aria-describedby': own ? null : `b-${id}`,
      ref: onMake as never,
      onFocus,
      onClick: (event: MouseEvent) => {
        if (!isHandled(event)) open(ui, item)
      },
      onKeydown: (event: KeyboardEvent) => press(ui, item, event),
      ...swipe(ui, {
        towardsEnd: () => toggleRead(ui, item),
        towardsStart: () => (item.isArchived ? ignoring(ui.client.unarchive(item)) : ignoring(ui.client.archive(item))),
      }),
    },
    h('span', { class: 'swipe-hint start', 'aria-hidden': 'true' }, ui.icon(isRead ? 'unread' : 'read')),
    h('span', { class: 'swipe-hint end', 'aria-hidden': 'true' }, ui.icon(item.isArchived ? 'unarchive' : 'archive')),
    h('div', { class: 'card' }, [
      severity !== 'none' &&
        h('span', { class: 'bar', part: 'severityBar', title: ui.t(`notification.severity.${severity}`) }),
      ...(own ?? content(ui, item, tabindex)),
      tools(ui, item, tabindex),
    ]),
  )
}

function content(ui: Ui, item: Notification, tabindex: number): Child[] {
  const { id, subject, body, isRead, severity, createdAt, deliveredAt = [] } = item
  const { locale } = ui
  const title = subject ?? ui.nameOf(item.workflow ?? { identifier: '', name: ui.t('inbox.bell') })
  const notes = [
    item.isSnoozed && item.snoozedUntil
      ? ui.t('notification.snoozedUntil', { date: soonTime(item.snoozedUntil, locale) })
      : deliveredAt.length > 1 && ui.t('notification.returned'),
  ]
  return [
    ...(drawnByPage(ui, 'avatar', item) ?? [avatar(item, title)]),
    h('div', { class: 'text' }, [
      h('div', { class: 'head' }, [
        h('span', { class: 'subject', part: 'notificationSubject', id: `s-${id}`, dir: 'auto' }, [
          !isRead && h('span', { class: 'hidden' }, `${ui.t('notification.unread')}. `),
          severity !== 'none' && h('span', { class: 'hidden' }, `${ui.t(`notification.severity.${severity}`)}. `),
          ...(drawnByPage(ui, 'subject', item) ?? markdown(title, { withoutLinks: true })),
        ]),
        h(
          'time',
          { class: 'time', part: 'notificationDate', datetime: createdAt, title: absoluteTime(createdAt, locale) },
          relativeTime(createdAt, Date.now(), locale),
        ),
        !isRead && h('span', { class: 'dot', part: 'notificationDot', 'aria-hidden': 'true' }),
      ]),
      h(
        'div',
        { class: 'body', part: 'notificationBody', id: `b-${id}`, dir: 'auto' },
        drawnByPage(ui, 'body', item) ?? markdown(body),
      ),
      ...notes.map((note) => note && h('div', { class: 'note' }, ui.icon('snooze'), note)),
      ...(drawnByPage(ui, 'actions', item) ?? [buttons(ui, item, tabindex)]),
    ]),
  ]
}

type OwnPart = 'notification' | 'avatar' | 'subject' | 'body' | 'actions'
const drawn = new WeakMap<Ui, { by: Renderers; parts: WeakMap<Notification, Partial<Record<OwnPart, Node[]>>> }>()

/**
 * Cached until the notification changes. A mouse press focuses the row and redraws it; if that replaced its elements, the
 * click and the focus of a button would be lost.
 */
function drawnByPage(ui: Ui, name: OwnPart, item: Notification): Node[] | undefined {
  const { renderers } = ui
  const last = drawn.get(ui)
  const { parts } = last?.by === renderers ? last : { parts: new WeakMap() }
  drawn.set(ui, { by: renderers, parts })
  const ofItem = parts.get(item) ?? {}
  parts.set(item, ofItem)
  if (ofItem[name]) return ofItem[name]
  const node = renderers[name]?.(item)
  // A fragment is empty once it is on the page.
  if (node) ofItem[name] = node instanceof DocumentFragment ? [...node.childNodes] : [node]
  return ofItem[name]
}

const hues = 8

/** The picture, or initials on a colour that stays the same for each sender. */
function avatar({ avatar: url, workflow }: Notification, title: string): Child {
  const words = plain(title).match(/\p{L}+/gu) ?? ['?']
  // Two initials only in scripts where letters stand alone.
  const most = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u.test(words[0]) ? 2 : 1
  const initials = words
    .slice(0, most)
    .map((word) => [...word][0]?.toUpperCase())
    .join('')
  const hue = [...(workflow?.identifier ?? title)].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % hues
  return h(
    'span',
    { class: `avatar hue-${hue}`, part: 'notificationImage', 'aria-hidden': 'true', key: `a-${url ?? ''}` },
    [
      initials,
      safeUrl(url) !== undefined &&
        h('img', {
          src: url,
          alt: '',
          loading: 'lazy',
          referrerpolicy: 'no-referrer',
          // If the picture fails to load, hide it to show the initials. Removing it would load it again on every redraw.
          onError: ({ target }: Event) => ((target as HTMLElement).hidden = true),
        }),
    ],
  )
}

function buttons(ui: Ui, item: Notification, tabindex: number): Child {
  const { primaryAction, secondaryAction } = item
  if (!primaryAction && !secondaryAction) return null
  const button = (type: ActionType) => {
    const action = item[`${type}Action`]
    if (!action) return null
    const { label, isCompleted } = action
    return h(
      'button',
      {
        type: 'button',
        key: type,
        class: `action ${type}${isCompleted ? ' done' : ''}`,
        part: `notification${type === 'primary' ? 'Primary' : 'Secondary'}Action__button`,
        tabindex,
        'aria-pressed': String(isCompleted),
        onClick: () => act(ui, item, type),
      },
      isCompleted && ui.icon('check'),
      label,
    )
  }
  return h('div', { class: 'actions', part: 'notificationCustomActions' }, button('primary'), button('secondary'))
}

function toolsFor(ui: Ui, item: Notification): Tool[] {
  const { client } = ui
  const label = (name: 'read' | 'unread' | 'archive' | 'unarchive' | 'unsnooze' | 'delete') =>
    ui.t(`notification.actions.${name}.tooltip`)
  const tool = (name: Parameters<typeof label>[0], icon: IconName, key: string, run: () => void): Tool => ({
    ...{ key, icon, run },
    label: label(name),
  })
  return [
    ...(item.isArchived || item.isSnoozed
      ? []
      : [
          item.isRead
            ? tool('unread', 'unread', 'r', () => ignoring(client.unread(item)))
            : tool('read', 'read', 'r', () => ignoring(client.read(item))),
        ]),
    ...(item.isSnoozed ? [tool('unsnooze', 'snooze', 's', () => ignoring(client.unsnooze(item)))] : []),
    item.isArchived
      ? tool('unarchive', 'unarchive', 'a', () => ignoring(client.unarchive(item)))
      : tool('archive', 'archive', 'a', () => ignoring(client.archive(item))),
    tool('delete', 'delete', 'Delete', () => client.delete(item)),
  ]
}

const canSnooze = (ui: Ui, item: Notification) =>
  !item.isSnoozed && !item.isArchived && (ui.client.state.session?.maxSnoozeDurationHours ?? 0) > 0

/** Shown on hover or focus; on touch screens, one button opens all of them. */
function tools(ui: Ui, item: Notification, tabindex: number): Child {
  const all = toolsFor(ui, item)
  const items: MenuItem[] = [
    ...all.map(({ label, icon, run }) => ({ label, icon, run })),
    ...(canSnooze(ui, item)
      ? [
          {
            label: ui.t('notification.actions.snooze.tooltip'),
            icon: 'snooze' as const,
            run: () => openMenu(ui, `snooze-${item.id}`),
          },
        ]
      : []),
  ]
  const isOpen = ui.openMenu?.endsWith(item.id)
  return h('div', { class: `tools${isOpen ? ' open' : ''}`, part: 'notificationDefaultActions' }, [
    ...all.slice(0, 1).map((tool) => toolButton(ui, tool, tabindex)),
    canSnooze(ui, item) && snoozeMenu(ui, item, tabindex),
    ...all.slice(1).map((tool) => toolButton(ui, tool, tabindex)),
    menu(ui, {
      id: `more-${item.id}`,
      label: ui.t('inbox.more'),
      trigger: [ui.icon('more')],
      triggerProps: { class: 'icon-button touch-only', tabindex },
      align: 'end',
      items,
    }),
  ])
}

const toolButton = (ui: Ui, { key, icon, label, run }: Tool, tabindex: number): Child =>
  iconButton(ui, icon, label, run, { tabindex, key: icon, title: `${label} (${key})`, class: 'icon-button tool' })

/** Clicks on a control inside the row. */
function isHandled(event: Event): boolean {
  const within = event.composedPath()
  const inside = within.slice(0, within.indexOf(event.currentTarget as EventTarget))
  return inside.some((node) => node instanceof Element && node.matches('button, a, .tools, .menu'))
}

function press(ui: Ui, item: Notification, event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey } = event
  if (ctrlKey || metaKey || altKey || event.target !== event.currentTarget) return
  const all = toolsFor(ui, item)
  const wanted = key === 'Backspace' ? 'Delete' : key
  const tool = all.find((each) => each.key === wanted)
  if (key === 'Enter' || key === ' ') open(ui, item)
  else if (key === 's' && canSnooze(ui, item)) openMenu(ui, `snooze-${item.id}`)
  else if (tool) tool.run()
  else return
  event.preventDefault()
  event.stopPropagation()
}

function toggleRead(ui: Ui, item: Notification): void {
  ignoring(item.isRead ? ui.client.unread(item) : ui.client.read(item))
}

/** Marks as read and follows the link. */
export function open(ui: Ui, item: Notification): void {
  closeMenu(ui, { keepFocus: true })
  if (!item.isRead) ignoring(ui.client.read(item))
  if (ui.tell('notification-click', item)) go(ui, item.redirect)
}

function act(ui: Ui, item: Notification, type: ActionType): void {
  const action = item[`${type}Action`]
  if (!action) return
  if (action.isCompleted) {
    ignoring(ui.client.revert(item, type))
    return
  }
  ignoring(ui.client.complete(item, type))
  if (ui.tell('action-click', { notification: item, type })) go(ui, action.redirect)
}

/** A page with its own router prevents the event and navigates itself. */
function go(ui: Ui, redirect: Redirect | undefined): void {
  const url = safeUrl(redirect?.url)
  if (!url) return
  const target = redirect?.target ?? (/^https?:/i.test(url) ? '_blank' : '_self')
  if (!ui.tell('navigate', { url, target })) return
  if (target === '_self') location.assign(url)
  else window.open(url, target, 'noopener,noreferrer')
}
