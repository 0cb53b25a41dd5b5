// What happens to one person: closed hours, digest windows as brackets, waits as bars, attempts as dots, messages as icons.
import { useMemo } from 'react'
import type { SimulatedMessage, SimulatedWait, Simulation } from '../../../api/simulations.ts'
import { cn } from '../../../ui/base/class-names.ts'
import { counted } from '../../../ui/base/counted.ts'
import { lookOf } from '../../../ui/domain/step-kind.tsx'
import { attemptText, barsOf } from './happenings.ts'
import type { Person } from './scenario.ts'
import { leftOf, percentOf, type Span } from './span.ts'
import { closedHours } from './zones.ts'

interface LaneProps {
  person: Person
  span: Span
  played: Simulation | undefined
  cursor: number
  stepName: (stepId: string) => string
  onCursor: (at: number) => void
}

/** Bars that overlap stand below each other, in so many rows. */
const mostRows = 3

export function Lane({ person, span, played, cursor, stepName, onCursor }: LaneProps) {
  const { subscriberId, schedule, timezone } = person
  const shut = useMemo(() => closedHours(schedule, timezone, span.from, span.to), [schedule, timezone, span])
  const own = useMemo(() => ownOf(played, subscriberId), [played, subscriberId])
  const between = (from: number, to: number) => ({
    left: leftOf(span, from),
    width: `${Math.max(0, percentOf(span, Math.min(to, span.to)) - Math.max(0, percentOf(span, from)))}%`,
  })
  return (
    // The list says the same in words.
    <div aria-hidden className="relative h-24 border-t" data-lane={subscriberId}>
      {shut.map(([from, to]) => (
        <div
          key={from}
          title="Outside their hours"
          className="absolute inset-y-0 bg-[repeating-linear-gradient(135deg,var(--hover)_0_6px,transparent_6px_12px)]"
          style={between(from, to)}
        />
      ))}
      {own.windows.map((window) => {
        const from = Date.parse(window.openedAt)
        const to = Date.parse(window.closedAt ?? window.endsAt ?? window.openedAt)
        const count = window.joins.filter((at) => at <= cursor).length
        const total = Math.max(window.eventCount, window.joins.length, 1)
        return (
          <div
            key={window.id}
            title={`${stepName(window.stepId)}: ${counted(window.eventCount, 'event')}`}
            className="absolute top-1.5 h-6 overflow-hidden rounded-b-control border border-t-0"
            style={{ ...between(from, to), borderColor: 'var(--hue-digest)' }}
          >
            <div
              className="absolute inset-x-0 bottom-0 transition-[height] duration-120 motion-reduce:transition-none"
              style={{
                height: `${(count / total) * 100}%`,
                background: 'color-mix(in oklab, var(--hue-digest) 22%, transparent)',
              }}
            />
            {count > 0 && (
              <span className="absolute inset-0 grid place-items-center text-2xs font-medium whitespace-nowrap tabular-nums">
                {count}
              </span>
            )}
          </div>
        )
      })}
      {own.bars.map((bar) => (
        <div
          key={`${bar.stepId} ${bar.from} ${bar.row}`}
          title={`${stepName(bar.stepId)}: ${whys[bar.why]}`}
          className={cn('absolute h-1.5 rounded-full', bar.why === 'retry' && 'border border-dashed border-warn')}
          style={{
            ...between(bar.from, bar.until),
            top: 36 + bar.row * 8,
            ...(bar.why === 'retry'
              ? {}
              : { background: bar.why === 'schedule' ? 'var(--warn)' : 'var(--hue-delay)', opacity: 0.7 }),
          }}
        />
      ))}
      {own.attempts.map(({ at, isSent, text, key }) => (
        <span
          key={key}
          title={text}
          className={cn(
            'absolute top-15 size-2 -translate-x-1/2 rounded-full border',
            isSent ? 'border-good bg-good' : 'border-bad bg-page',
          )}
          style={{ left: leftOf(span, at) }}
        />
      ))}
      {own.messages.map((message) => (
        <MessageIcon
          key={message.id}
          message={message}
          left={leftOf(span, Date.parse(message.at))}
          isAhead={Date.parse(message.at) > cursor}
          onOpen={() => onCursor(Date.parse(message.at))}
        />
      ))}
    </div>
  )
}

const whys: Record<Exclude<SimulatedWait['why'], 'digest'>, string> = {
  delay: 'waits',
  schedule: 'waits for their hours',
  retry: 'tries again',
  event: 'waits for an event',
  question: 'waits for an answer',
}

interface MessageIconProps {
  message: SimulatedMessage
  left: string
  isAhead: boolean
  onOpen: () => void
}

function MessageIcon({ message: { channel, status, subject, text }, left, isAhead, onOpen }: MessageIconProps) {
  const { icon: Icon, hue, label } = lookOf(channel)
  const isSent = status === 'sent'
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the list has a button for it
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has a button for it
    <span
      data-message={channel}
      title={`${label}: ${isSent ? subject || text || '' : 'could not be sent'}`}
      onPointerDown={(event) => event.stopPropagation()}
      onClick={onOpen}
      className={cn(
        'absolute bottom-1 grid size-5 -translate-x-1/2 cursor-pointer place-items-center rounded-sm bg-page',
        isAhead && 'opacity-35',
        !isSent && 'outline outline-bad outline-dashed',
      )}
      style={{ left, color: isSent ? hue : 'var(--bad)' }}
    >
      <Icon className="size-4" />
    </span>
  )
}

function ownOf(played: Simulation | undefined, subscriberId: string) {
  const runs = (played?.runs ?? []).filter((run) => run.subscriberId === subscriberId)
  const joins = new Map<string, number[]>()
  for (const { kind, windowId = '', at } of played?.timeline ?? [])
    if (kind === 'window_opened' || kind === 'window_joined')
      joins.set(windowId, [...(joins.get(windowId) ?? []), Date.parse(at)])
  const ends: number[] = []
  const bars = runs
    .flatMap(barsOf)
    .map((wait) => ({ ...wait, from: Date.parse(wait.from), until: Date.parse(wait.until) }))
    .sort((a, b) => a.from - b.from)
    .map((wait) => {
      const free = ends.findIndex((end) => end <= wait.from)
      const row = free >= 0 ? free : Math.min(ends.length, mostRows - 1)
      ends[row] = wait.until
      return { ...wait, row }
    })
  return {
    bars,
    windows: (played?.windows ?? [])
      .filter((window) => window.kind === 'digest' && window.subscriberId === subscriberId)
      .map((window) => ({ ...window, joins: joins.get(window.id) ?? [] })),
    attempts: runs.flatMap((run) =>
      run.steps.flatMap((step) =>
        step.attempts.map((attempt, index) => ({
          key: `${run.id} ${step.stepId} ${index}`,
          at: Date.parse(attempt.at),
          isSent: attempt.outcome === 'sent',
          text: attempt.outcome === 'sent' ? `${attempt.providerId} took it` : attemptText(attempt),
        })),
      ),
    ),
    messages: (played?.messages ?? []).filter((message) => message.subscriberId === subscriberId),
  }
}
