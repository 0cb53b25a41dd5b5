// The weekly hours in which a subscriber accepts messages outside the inbox, in their time zone.
import { CopyCheck, Plus, X } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Schedule, type Subscriber, subscribers } from '../../api/subscribers.ts'
import { Button } from '../../ui/base/button.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { FieldFrame, FormError, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Checkbox, Switch } from '../../ui/form/switch.tsx'
import { timeIn, timeZoneOptions } from './time-zones.ts'

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
type Day = (typeof days)[number]

/** Hours in the format of a time input: `17:30`. */
interface Hours {
  start: string
  end: string
}
interface DayHours {
  isEnabled: boolean
  hours: Hours[]
}
interface Week {
  isEnabled: boolean
  days: Record<Day, DayHours>
}

/** `05:30 PM` is `17:30`. */
export function toField(time: string): string {
  const [, hour = '0', minute = '00', half = 'A'] = /^(\d{1,2}):(\d\d)\s?([ap])m$/i.exec(time) ?? []
  const hours = (Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0)
  return `${String(hours).padStart(2, '0')}:${minute}`
}

export function fromField(time: string): string {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${two(hours % 12 || 12)}:${two(minutes)} ${hours < 12 ? 'AM' : 'PM'}`
}

const office: Hours = { start: '09:00', end: '17:00' }
const isWorkday = (day: Day) => day !== 'saturday' && day !== 'sunday'

function weekOf(stored: Schedule | undefined): Week {
  const entries = days.map((day): [Day, DayHours] => {
    // A new schedule starts with office hours.
    if (!stored?.weeklySchedule) return [day, { isEnabled: isWorkday(day), hours: [office] }]
    const { isEnabled = false, hours = [] } = stored.weeklySchedule[day] ?? {}
    return [day, { isEnabled, hours: hours.map(({ start, end }) => ({ start: toField(start), end: toField(end) })) }]
  })
  return { isEnabled: stored?.isEnabled ?? false, days: Object.fromEntries(entries) as Week['days'] }
}

function scheduleOf({ isEnabled, days: week }: Week): Schedule {
  const entries = days.map((day) => {
    const hours = week[day].hours.map(({ start, end }) => ({ start: fromField(start), end: fromField(end) }))
    return [day, { isEnabled: week[day].isEnabled, hours }]
  })
  return { isEnabled, weeklySchedule: Object.fromEntries(entries) }
}

interface WeeklyScheduleProps {
  subscriber: Subscriber
  stored: unknown
}

export function WeeklySchedule({ subscriber, stored }: WeeklyScheduleProps) {
  const canEdit = useCan('editor')
  const { subscriberId } = subscriber
  const form = useForm({
    initial: weekOf(stored as Schedule | undefined),
    submit: (week) => subscribers.changePreferences(subscriberId, { schedule: scheduleOf(week) }),
    refresh: ['subscribers'],
    done: 'Schedule saved',
  })
  const zone = useAction({
    do: (timezone: string) => subscribers.change(subscriberId, { timezone }),
    refresh: ['subscribers'],
    done: 'Time zone saved',
  })
  const { isEnabled, days: week } = form.values
  const setDay = (day: Day, patch: Partial<DayHours>) =>
    form.set({ days: { ...week, [day]: { ...week[day], ...patch } } })
  const timezone = subscriber.timezone ?? 'UTC'
  const now = timeIn(timezone)
  return (
    <section aria-label="Schedule">
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <h3 className="text-sm font-semibold">Weekly schedule</h3>
          <p className="mt-0.5 text-xs text-pretty text-muted">
            Outside these hours, email, SMS, chat and push messages are skipped, or held until the next opening where
            quiet hours are set to hold. The inbox is always open.
          </p>
        </div>
        <Switch
          aria-label="Use the schedule"
          value={isEnabled}
          disabled={!canEdit}
          onValue={(isEnabled) => form.set({ isEnabled })}
        />
      </div>
      <FieldFrame
        label="Time zone"
        hint={
          now && `It is ${now} there now.${subscriber.timezone ? '' : ' Their time zone is unknown, so UTC is used.'}`
        }
        className="mt-4 max-w-72"
      >
        {(control) => (
          <Combobox
            {...control}
            value={timezone}
            options={timeZoneOptions()}
            disabled={!canEdit || zone.isPending}
            onValue={(timezone) => zone.mutate(timezone)}
          />
        )}
      </FieldFrame>
      {isEnabled && (
        <fieldset disabled={!canEdit} className="mt-4">
          <legend className="sr-only">Hours of each day</legend>
          {days.map((day) => (
            <DayRow
              key={day}
              day={day}
              value={week[day]}
              canEdit={canEdit}
              onValue={(patch) => setDay(day, patch)}
              onCopy={() => form.set({ days: copied(week, day) })}
            />
          ))}
        </fieldset>
      )}
      <div className="mt-4 space-y-3">
        <FormError form={form} />
        {canEdit && form.isDirty && (
          <div className="flex gap-2">
            <Button variant="primary" pending={form.isPending} onClick={form.submit}>
              Save schedule
            </Button>
            <Button onClick={() => form.reset()}>Discard</Button>
          </div>
        )}
      </div>
    </section>
  )
}

/** Copies the hours of one day to every enabled day. */
const copied = (week: Week['days'], from: Day): Week['days'] => {
  const entries = days.map((day) => [day, week[day].isEnabled ? { ...week[day], hours: week[from].hours } : week[day]])
  return Object.fromEntries(entries)
}

interface DayRowProps {
  day: Day
  value: DayHours
  canEdit: boolean
  onValue: (patch: Partial<DayHours>) => void
  onCopy: () => void
}

function DayRow({ day, value, canEdit, onValue, onCopy }: DayRowProps) {
  const { isEnabled, hours } = value
  const name = day[0]?.toUpperCase() + day.slice(1)
  const setHours = (index: number, patch: Partial<Hours>) =>
    onValue({ hours: hours.map((one, place) => (place === index ? { ...one, ...patch } : one)) })
  return (
    <div className="flex min-h-12 flex-wrap items-start gap-x-3 gap-y-2 border-b py-2 last:border-b-0">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the checkbox inside is one */}
      <label className="flex h-8 w-28 items-center gap-2.5 text-sm">
        <Checkbox
          aria-label={name}
          value={isEnabled}
          onValue={(isEnabled) => onValue({ isEnabled, hours: hours.length === 0 ? [office] : hours })}
        />
        {name}
      </label>
      {isEnabled ? (
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2">
          {hours.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two ranges may be equal
            <span key={index} className="inline-flex items-center gap-1">
              <Input
                type="time"
                required
                aria-label={`${name} from`}
                value={one.start}
                onValue={(start) => start && setHours(index, { start })}
                className="w-28"
              />
              <span className="text-muted">–</span>
              <Input
                type="time"
                required
                aria-label={`${name} until`}
                value={one.end}
                onValue={(end) => end && setHours(index, { end })}
                className="w-28"
              />
              {canEdit && (
                <Button
                  variant="ghost"
                  size="icon-sm"
                  hint="Remove these hours"
                  onClick={() => onValue({ hours: hours.filter((_, place) => place !== index) })}
                >
                  <X />
                </Button>
              )}
            </span>
          ))}
          {hours.length === 0 && <span className="text-sm text-muted">No hours: no messages</span>}
          {canEdit && (
            <span className="inline-flex">
              <Button
                variant="ghost"
                size="icon"
                hint="Add hours"
                onClick={() =>
                  onValue({ hours: [...hours, hours.length === 0 ? office : { start: '18:00', end: '20:00' }] })
                }
              >
                <Plus />
              </Button>
              <Button variant="ghost" size="icon" hint="Copy to all enabled days" onClick={onCopy}>
                <CopyCheck />
              </Button>
            </span>
          )}
        </div>
      ) : (
        <span className="flex h-8 items-center text-sm text-muted">No messages</span>
      )}
    </div>
  )
}
