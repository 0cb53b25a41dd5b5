// Time zone options, with the current time in each.
import type { Option } from '../../ui/form/select.tsx'

const clock = (timeZone: string, now: Date) =>
  new Intl.DateTimeFormat('en', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(now)

/** "14:32"; undefined for a zone this browser does not know. */
export function timeIn(timeZone: string, now = new Date()): string | undefined {
  try {
    return clock(timeZone, now)
  } catch {
    return undefined
  }
}

let known: readonly Option[] | undefined

export function timeZoneOptions(): readonly Option[] {
  known ??= ['UTC', ...Intl.supportedValuesOf('timeZone')].map((value) => ({
    value,
    label: value.replaceAll('_', ' '),
    hint: timeIn(value),
  }))
  return known
}
