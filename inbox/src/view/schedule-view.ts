// The hours in which a subscriber wants to be notified, in a named timezone.
import { type Day, type DaySchedule, days, type Schedule } from '../data/api.ts'
import type { Preferences } from '../data/preferences.ts'
import { type Child, h } from './dom.ts'
import { deviceTimezone, fromClock, offsetOf, toClock, weekday } from './time.ts'
import { iconButton, toggle, type Ui } from './ui.ts'

const usualHours = [{ start: '09:00 AM', end: '05:00 PM' }]
const weekend: Day[] = ['saturday', 'sunday']

const usualWeek = (): NonNullable<Schedule['weeklySchedule']> =>
  Object.fromEntries(days.map((day) => [day, { isEnabled: !weekend.includes(day), hours: usualHours }]))

export function scheduleSection(ui: Ui, preferences: Preferences): Child {
  const { general, timezone = 'UTC' } = preferences.state
  const schedule = general?.schedule ?? { isEnabled: false }
  const week = { ...(schedule.weeklySchedule ?? (schedule.isEnabled ? {} : usualWeek())) }
  const title = ui.t('preferences.schedule.title')
  const save = (next: Partial<Schedule>) =>
    void preferences.setSchedule({ isEnabled: schedule.isEnabled, weeklySchedule: week, ...next })
  return h('section', { class: 'section schedule', key: 'schedule', part: 'scheduleContainer' }, [
    h('div', { class: 'section-head' }, [
      h('h3', null, title),
      toggle({
        label: title,
        isOn: schedule.isEnabled,
        onChange: (isEnabled) => save({ isEnabled, weeklySchedule: Object.keys(week).length > 0 ? week : usualWeek() }),
      }),
    ]),
    h('p', { class: 'hint' }, ui.t('preferences.schedule.description')),
    ...(schedule.isEnabled
      ? [
          h(
            'div',
            { class: 'week' },
            days.map((day, index) =>
              dayRow(ui, index, week[day] ?? { isEnabled: false }, {
                change: (changed) => save({ weeklySchedule: { ...week, [day]: changed } }),
                copy: (hours) =>
                  save({
                    weeklySchedule: Object.fromEntries(
                      days.map((each) => [each, { isEnabled: week[each]?.isEnabled ?? false, hours }]),
                    ),
                  }),
              }),
            ),
          ),
          zone(ui, preferences, timezone),
        ]
      : []),
  ])
}

interface DayActions {
  change(day: DaySchedule): void
  copy(hours: NonNullable<DaySchedule['hours']>): void
}

function dayRow(ui: Ui, index: number, day: DaySchedule, { change, copy }: DayActions): Child {
  const name = weekday(index, ui.locale)
  const { isEnabled, hours = usualHours } = day
  const [{ start, end } = { start: '09:00 AM', end: '05:00 PM' }, ...others] = hours
  const time = (part: 'start' | 'end', label: string) =>
    h('input', {
      type: 'time',
      value: toClock(part === 'start' ? start : end),
      'aria-label': `${name}: ${label}`,
      required: true,
      onChange: ({ target }: Event) => {
        const { value } = target as HTMLInputElement
        if (value) change({ isEnabled, hours: [{ start, end, [part]: fromClock(value) }, ...others] })
      },
    })
  return h('div', { class: `day${isEnabled ? '' : ' off'}`, key: name, part: 'scheduleBodyRow' }, [
    toggle({ label: name, isOn: isEnabled, onChange: (isOn) => change({ isEnabled: isOn, hours }) }),
    h('span', { class: 'day-name', 'aria-hidden': 'true', title: name }, weekday(index, ui.locale, 'short')),
    ...(isEnabled
      ? [
          h('span', { class: 'times' }, [
            time('start', ui.t('preferences.schedule.from')),
            h('span', { 'aria-hidden': 'true' }, '–'),
            time('end', ui.t('preferences.schedule.to')),
            toClock(end) < toClock(start) && h('span', { class: 'hint' }, ui.t('preferences.schedule.nextDay')),
          ]),
          iconButton(ui, 'copy', `${name}: ${ui.t('preferences.schedule.copyTimesTo')}`, () => copy(hours), {
            title: ui.t('preferences.schedule.copyTimesTo'),
          }),
        ]
      : []),
  ])
}

function zone(ui: Ui, preferences: Preferences, timezone: string): Child {
  const device = deviceTimezone()
  const known = Intl.supportedValuesOf('timeZone')
  const zones = [...new Set([timezone, device, ...known])].sort()
  const now = new Date()
  return h('div', { class: 'zone' }, [
    h('label', { class: 'zone-label' }, [
      h('span', null, ui.t('preferences.schedule.timezone')),
      h(
        'select',
        {
          value: timezone,
          onChange: ({ target }: Event) => void preferences.setTimezone((target as HTMLSelectElement).value),
        },
        zones.map((name) =>
          h(
            'option',
            { value: name, key: name },
            name === timezone ? `${readable(name)} (${offsetOf(name, now, ui.locale)})` : readable(name),
          ),
        ),
      ),
    ]),
    device !== timezone &&
      h(
        'button',
        { type: 'button', class: 'text-button', onClick: () => void preferences.setTimezone(device) },
        ui.t('preferences.schedule.useDevice', { name: readable(device) }),
      ),
  ])
}

const readable = (zoneName: string) => zoneName.replaceAll('_', ' ')
