import { useEffect, useState, useSyncExternalStore } from 'react'
import { cn } from './class-names.ts'

const units: Array<[unit: string, seconds: number]> = [
  ['y', 31_557_600],
  ['mo', 2_629_800],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
]
const absolute = new Intl.DateTimeFormat('en', {
  ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  hourCycle: 'h23',
  timeZoneName: 'short',
})

/** Where the clock of the environment is held, and the page shows what goes by it. */
let heldAt: number | undefined

/** The time that what is shown goes by. */
export const timeNow = (): number => heldAt ?? Date.now()

/** Relative times go by this moment, until it is moved or undefined. */
export function holdTime(at: number | undefined): void {
  if (heldAt === at) return
  heldAt = at
  tick()
}

export const absoluteTime = (at: string | Date) => absolute.format(new Date(at))

/** "3 min ago", "in 2 h": short, so that columns of them stay narrow. */
export function relativeTime(at: string | Date, now = timeNow()): string {
  const seconds = (new Date(at).getTime() - now) / 1000
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['s', 1]
  const count = Math.round(Math.abs(seconds) / size)
  if (unit === 's' && count < 5) return 'now'
  return seconds < 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`
}

/** When something happened. Clocks differ, but it does not lie in the future. */
export const timeSince = (at: string | Date, now = timeNow()) =>
  relativeTime(new Date(Math.min(new Date(at).getTime(), now)), now)

interface Shown {
  at: string | Date | null | undefined
  /** Something that is yet to happen, such as an expiry. */
  isAhead?: boolean
  className?: string
}

/** Relative time that keeps updating, with the exact time on hover. */
export function Time({ at, isAhead = false, className }: Shown) {
  const now = useNow()
  if (!at) return <span className="text-muted">—</span>
  return (
    <time dateTime={new Date(at).toISOString()} title={absoluteTime(at)} className={cn('whitespace-nowrap', className)}>
      {isAhead ? relativeTime(at, now) : timeSince(at, now)}
    </time>
  )
}

/** "1 h 59 min left", counted down; empty without a time. */
export function Countdown({ until, className }: { until: string | undefined; className?: string }) {
  const [, setSecond] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setSecond((before) => before + 1), 1_000)
    return () => clearInterval(timer)
  }, [])
  if (until === undefined) return null
  return (
    <time dateTime={until} title={absoluteTime(until)} className={cn('whitespace-nowrap tabular-nums', className)}>
      {timeLeft(until)}
    </time>
  )
}

/** "1 h 59 min left". */
export function timeLeft(until: string | Date, now = timeNow()): string {
  const left = new Date(until).getTime() - now
  if (left < 1_000) return 'any moment'
  return `${left < 10_000 ? `${Math.ceil(left / 1_000)} s` : duration(left)} left`
}

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const date = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' })

/** "14:03", or "Nov 3" on another day. */
export function momentOf(at: string | Date, now = timeNow()): string {
  const then = new Date(Math.min(new Date(at).getTime(), now))
  const isToday = then.toDateString() === new Date(now).toDateString()
  return isToday ? clock.format(then) : date.format(then)
}

/** Since when, by the clock on the wall. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={absoluteTime(at)} className="whitespace-nowrap">
      {momentOf(at)}
    </time>
  )
}

const everySeconds = 20
const subscribers = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  now = timeNow()
  for (const each of subscribers) each()
}

/** The current time, shared by all components that show one and updated regularly. */
function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

function subscribe(listener: () => void): () => void {
  if (subscribers.size === 0) now = timeNow()
  subscribers.add(listener)
  timer ??= setInterval(tick, everySeconds * 1000)
  return () => {
    subscribers.delete(listener)
    if (subscribers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** "340 ms", "2.4 s", "3 min 10 s", "2 h 5 min", "3 d". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const parts = (big: number, bigUnit: string, small: number, smallUnit: string) =>
    small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`
  if (seconds < 3600) return parts(Math.floor(seconds / 60), 'min', Math.round(seconds % 60), 's')
  if (seconds < 86_400) return parts(Math.floor(seconds / 3600), 'h', Math.round((seconds % 3600) / 60), 'min')
  return parts(Math.floor(seconds / 86_400), 'd', Math.round((seconds % 86_400) / 3600), 'h')
}
