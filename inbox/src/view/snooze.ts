// Snooze times: in an hour, tomorrow, next week, or at a chosen time.
import { ignoring } from '../data/client.ts'
import type { Notification } from '../data/notification.ts'
import { type Child, h } from './dom.ts'
import { closeMenu, type MenuItem, menu } from './menu.ts'
import { soonTime } from './time.ts'
import type { Ui } from './ui.ts'

const hourMs = 3_600_000
const soonestMs = 3 * 60_000
const morningHour = 9

const morning = (now: number, daysAhead: number): Date => {
  const date = new Date(now)
  date.setDate(date.getDate() + daysAhead)
  date.setHours(morningHour, 0, 0, 0)
  return date
}

/** The time being chosen; only one menu is open at a time. */
const draft = { id: '', until: '', isPicking: false }

export function snoozeMenu(ui: Ui, item: Notification, tabindex: number): Child {
  const menuId = `snooze-${item.id}`
  if (ui.openMenu !== menuId && draft.id === item.id) Object.assign(draft, { id: '', isPicking: false })
  const isPicking = draft.isPicking && draft.id === item.id
  const label = ui.t('notification.actions.snooze.tooltip')
  return menu(ui, {
    id: menuId,
    label,
    trigger: [ui.icon('snooze')],
    triggerProps: { class: 'icon-button tool', title: `${label} (s)`, tabindex, part: 'notificationSnooze__button' },
    align: 'end',
    items: presets(ui, item, menuId),
    ...(isPicking ? { content: picker(ui, item), role: 'dialog' as const } : {}),
  })
}

function presets(ui: Ui, item: Notification, menuId: string): MenuItem[] {
  const now = Date.now()
  const most = now + maxHours(ui) * hourMs
  const options = [
    { key: 'anHourFromNow', until: new Date(now + hourMs) },
    { key: 'inOneDay', until: morning(now, 1) },
    { key: 'inOneWeek', until: morning(now, 7) },
  ] as const
  return [
    ...options
      .filter(({ until }) => until.getTime() <= most)
      .map(({ key, until }) => ({
        label: ui.t(`snooze.options.${key}`),
        hint: soonTime(until, ui.locale),
        run: () => ignoring(ui.client.snooze(item, until)),
      })),
    {
      label: ui.t('snooze.options.customTime'),
      run: () => {
        Object.assign(draft, { id: item.id, isPicking: true, until: toInput(morning(Date.now(), 1)) })
        ui.openMenu = menuId
        ui.update()
      },
    },
  ]
}

const maxHours = (ui: Ui) => ui.client.state.session?.maxSnoozeDurationHours ?? 0

/** Local time to the minute, as `datetime-local` inputs expect. */
function toInput(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function picker(ui: Ui, item: Notification): Child[] {
  const now = Date.now()
  const latest = now + maxHours(ui) * hourMs
  const until = new Date(draft.until)
  const problem = !(until.getTime() >= now + soonestMs)
    ? ui.t('snooze.datePicker.pastDateTooltip')
    : until.getTime() > latest
      ? ui.t('snooze.datePicker.exceedingLimitTooltip', { days: Math.floor(maxHours(ui) / 24) })
      : undefined
  return [
    h('label', { class: 'picker', part: 'snoozeDatePicker' }, [
      h('span', null, ui.t('snooze.options.customTime')),
      h('input', {
        type: 'datetime-local',
        value: draft.until,
        min: toInput(new Date(now + soonestMs)),
        max: toInput(new Date(latest)),
        'aria-invalid': problem ? 'true' : null,
        onInput: ({ target }: Event) => {
          draft.until = (target as HTMLInputElement).value
          ui.update()
        },
      }),
    ]),
    problem && h('p', { class: 'problem', role: 'alert' }, problem),
    h('div', { class: 'picker-buttons' }, [
      h(
        'button',
        { type: 'button', class: 'action secondary', onClick: () => closeMenu(ui) },
        ui.t('snooze.datePicker.cancel'),
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'action primary',
          disabled: problem !== undefined,
          onClick: () => {
            closeMenu(ui)
            ignoring(ui.client.snooze(item, until))
          },
        },
        ui.t('snooze.datePicker.apply'),
      ),
    ]),
  ]
}
