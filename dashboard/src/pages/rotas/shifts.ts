// Shifts as the form has them: everything in fields, and back again as the API takes them.
import type { Rota } from '../../api/rotas.ts'

export type Shift = Rota['shifts'][number]

export const frequencies = ['hours', 'days', 'weeks', 'months'] as const
export type Frequency = (typeof frequencies)[number]
export const durationUnits = ['hours', 'days', 'weeks'] as const

export interface ShiftDraft {
  /** For React: a shift keeps its fields when it moves. */
  key: string
  isOnce: boolean
  start: string
  /** Of a shift that is once. */
  end: string
  who: string[]
  /** How often it comes again; undefined where the rule says more than that. */
  every: { amount: string; unit: Frequency } | undefined
  rrule: string
  duration: { amount: string; unit: string }
  turns: string[][]
}

const freqs: Record<Frequency, string> = { hours: 'HOURLY', days: 'DAILY', weeks: 'WEEKLY', months: 'MONTHLY' }

/** "FREQ=WEEKLY;INTERVAL=2" as two weeks; undefined for rules with anything else in them. */
export function everyIn(rrule: string): ShiftDraft['every'] {
  const parts = rrule
    .replace(/^RRULE:/i, '')
    .split(';')
    .filter((part) => part !== '')
    .map((part) => part.toUpperCase().split('='))
  const values = new Map(parts.map(([name = '', value = '']) => [name, value]))
  const unit = frequencies.find((each) => freqs[each] === values.get('FREQ'))
  const amount = values.get('INTERVAL') ?? '1'
  const isPlain = [...values.keys()].every((name) => name === 'FREQ' || name === 'INTERVAL')
  return unit && isPlain && /^[1-9]\d{0,3}$/.test(amount) ? { amount, unit } : undefined
}

const ruleOf = ({ amount, unit }: NonNullable<ShiftDraft['every']>): string =>
  `FREQ=${freqs[unit]}${amount === '1' ? '' : `;INTERVAL=${amount}`}`

/** What a browser's field takes: without seconds, unless they count. */
const localTime = (text: string) => text.replace(/^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}):00$/, '$1')

let made = 0
const newKey = () => {
  made += 1
  return `shift-${made}`
}

export function draftOf({ start, end, who, rrule, duration, turns }: Shift): ShiftDraft {
  return {
    ...{
      key: newKey(),
      isOnce: rrule === undefined,
      start: localTime(start),
      end: localTime(end ?? ''),
      who: who ?? [],
    },
    ...{ every: rrule === undefined ? { amount: '1', unit: 'weeks' } : everyIn(rrule), rrule: rrule ?? '' },
    duration: duration ? { amount: String(duration.amount), unit: duration.unit } : { amount: '1', unit: 'weeks' },
    turns: turns ?? [[]],
  }
}

/** @param monday of this week, as a local date */
export const newTurns = (monday: string): ShiftDraft =>
  draftOf({ start: `${monday}T09:00`, rrule: 'FREQ=WEEKLY', duration: { amount: 1, unit: 'weeks' }, turns: [[], []] })

export const newException = (day: string): ShiftDraft =>
  draftOf({ start: `${day}T09:00`, end: `${day}T17:00`, who: [] })

export function shiftOf({ isOnce, start, end, who, every, rrule, duration, turns }: ShiftDraft): Shift {
  if (isOnce) return { start, end, who }
  return {
    ...{ start, rrule: every ? ruleOf(every) : rrule.trim() },
    ...{ duration: { amount: Number(duration.amount), unit: duration.unit }, turns },
  }
}

/** What is missing, in a sentence; undefined if nothing is. */
export function missingIn({ isOnce, start, end, who, every, rrule, duration, turns }: ShiftDraft): string | undefined {
  if (start === '') return 'It needs a start.'
  if (isOnce) {
    if (end === '') return 'It needs an end.'
    if (end <= start) return 'Its end has to be after its start.'
    return who.length === 0 ? 'Nobody is on duty in it.' : undefined
  }
  if (every ? !isCount(every.amount) : rrule.trim() === '') return 'Choose how often it repeats.'
  if (!isCount(duration.amount)) return 'It needs to say how long it lasts.'
  return turns.every((turn) => turn.length === 0) ? 'Nobody has a turn yet.' : undefined
}

const isCount = (text: string) => /^[1-9]\d{0,5}$/.test(text)

/** The Monday of the week of a day. */
export function mondayOf(day: Date): string {
  const date = new Date(Date.UTC(day.getFullYear(), day.getMonth(), day.getDate()))
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.toISOString().slice(0, 10)
}

export const moved = <T>(list: readonly T[], from: number, to: number): T[] => {
  const next = [...list]
  const [one] = next.splice(from, 1)
  if (one !== undefined) next.splice(to, 0, one)
  return next
}
