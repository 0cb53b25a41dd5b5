// The time axis: round moments, the pins of the inputs, a lane per person, and the place in time that one looks at.
import { Ban, CloudOff, Eye, MailOpen, Zap } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import type { Simulation } from '../../../api/simulations.ts'
import { cn } from '../../../ui/base/class-names.ts'
import { momentText, pinText } from './happenings.ts'
import { Lane } from './lane.tsx'
import { niceStep, type Person, type Pin, type PinType, type Scenario, zoneOf } from './scenario.ts'
import { leftOf, type Span } from './span.ts'
import { clockAt, clockChanges, dayAt, ticks } from './zones.ts'

export const pinIcons: Record<PinType, typeof Zap> = {
  trigger: Zap,
  read: MailOpen,
  seen: Eye,
  cancel: Ban,
  fault: CloudOff,
}

interface AxisProps {
  scenario: Scenario
  span: Span
  zoom: number
  played: Simulation | undefined
  cursor: number
  chosen: string | undefined
  editing: string | undefined
  stepName: (stepId: string) => string
  onCursor: (at: number) => void
  onChoose: (subscriberId: string) => void
  onEdit: (pinId: string) => void
  onAdd: (at: number) => void
  onMove: (pinId: string, at: number) => void
  onRemove: (pinId: string) => void
  /** While a pin is dragged, the axis stays as it is. */
  onDragging: (isDragging: boolean) => void
}

const tickPx = 88
/** Of the slider's thumb, which the browser keeps within the slider. */
const thumbPx = 14

export function Axis(props: AxisProps) {
  const { scenario, span, zoom, played, cursor, chosen, stepName, onCursor, onChoose } = props
  const zone = zoneOf(scenario)
  const inner = useRef<HTMLDivElement>(null)
  const width = useWidth(inner)
  const nameOf = useNames(scenario.people)
  const shown = useMemo(
    () => ticks(zone, span.from, span.to, Math.max(2, Math.floor(width / tickPx))),
    [zone, span.from, span.to, width],
  )
  const seams = useMemo(() => clockChanges(zone, span.from, span.to), [zone, span.from, span.to])
  const step = niceStep(span.to - span.from)
  const scrub = (event: PointerEvent<HTMLElement>) => {
    if (event.buttons !== 1) return
    const box = event.currentTarget.getBoundingClientRect()
    const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))
    onCursor(span.from + part * (span.to - span.from))
  }
  return (
    <div className="flex min-h-0 min-w-0">
      <div className="w-24 shrink-0 border-r pt-17 sm:w-32">
        {scenario.people.map((person) => (
          <button
            key={person.subscriberId}
            type="button"
            aria-pressed={chosen === person.subscriberId}
            onClick={() => onChoose(person.subscriberId)}
            className={cn(
              'flex h-24 w-full flex-col items-start justify-center border-t px-3 text-left hover:bg-hover',
              chosen === person.subscriberId && 'bg-hover shadow-[inset_2px_0_0_var(--accent)]',
            )}
          >
            <span className="w-full truncate text-sm font-medium" dir="auto">
              {person.firstName}
            </span>
            <span className="w-full truncate text-xs text-muted">{person.timezone.replaceAll('_', ' ')}</span>
          </button>
        ))}
      </div>
      <div className="min-w-0 flex-1 overflow-x-auto overflow-y-hidden">
        <div ref={inner} className="relative mx-4" style={{ width: `calc(${zoom * 100}% - 32px)` }}>
          <Pins {...props} zone={zone} step={step} nameOf={nameOf} />
          <div className="relative h-9">
            {shown.map((at, index) => {
              const before = shown[index - 1]
              const isNewDay = before === undefined || dayAt(zone, before) !== dayAt(zone, at)
              return (
                <span
                  key={at}
                  aria-hidden
                  className="absolute top-0 -translate-x-1/2 text-center text-2xs whitespace-nowrap text-muted tabular-nums first:translate-x-0"
                  style={{ left: leftOf(span, at) }}
                >
                  {isNewDay && index > 0 ? dayAt(zone, at) : clockAt(zone, at)}
                </span>
              )
            })}
            <input
              type="range"
              aria-label="Moment"
              aria-valuetext={momentText(zone, cursor, scenario.startAt)}
              min={span.from}
              max={span.to}
              step="any"
              value={cursor}
              onChange={(event) => onCursor(Number(event.target.value))}
              className="absolute top-4 h-5 cursor-pointer appearance-none bg-transparent accent-accent [&::-webkit-slider-runnable-track]:h-0.5 [&::-webkit-slider-runnable-track]:bg-line-strong [&::-webkit-slider-thumb]:-mt-1.5 [&::-webkit-slider-thumb]:size-3.5 [&::-webkit-slider-thumb]:appearance-none [&::-webkit-slider-thumb]:rounded-full [&::-webkit-slider-thumb]:bg-accent"
              style={{ left: -thumbPx / 2, width: `calc(100% + ${thumbPx}px)` }}
            />
          </div>
          <div
            className="relative touch-pan-y"
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId)
              scrub(event)
            }}
            onPointerMove={scrub}
          >
            {scenario.people.map((person) => (
              <Lane
                key={person.subscriberId}
                person={person}
                span={span}
                played={played}
                cursor={cursor}
                stepName={stepName}
                onCursor={onCursor}
              />
            ))}
            {shown.map((at) => (
              <Line key={at} at={at} span={span} className="border-line/70" />
            ))}
            {seams.map(({ at, byMs }) => (
              <Line key={at} at={at} span={span} className="border-warn border-dashed">
                <span className="absolute bottom-1 left-1 rounded-sm bg-page px-1 text-2xs whitespace-nowrap text-warn">
                  Clocks {byMs > 0 ? 'forward' : 'back'} {Math.abs(byMs) / 3_600_000} h
                </span>
              </Line>
            ))}
            <Line at={cursor} span={span} className="z-2 border-accent" />
          </div>
        </div>
      </div>
    </div>
  )
}

const Line = ({
  at,
  span,
  className,
  children,
}: {
  at: number
  span: Span
  className: string
  children?: ReactNode
}) => (
  <div
    aria-hidden
    className={cn('pointer-events-none absolute inset-y-0 border-l', className)}
    style={{ left: leftOf(span, at) }}
  >
    {children}
  </div>
)

export function useNames(people: readonly Person[]): (subscriberId: string) => string {
  return useMemo(() => {
    const names = new Map(people.map(({ subscriberId, firstName }) => [subscriberId, firstName]))
    return (subscriberId) => names.get(subscriberId) ?? subscriberId
  }, [people])
}

interface PinsProps extends AxisProps {
  zone: string
  step: number
  nameOf: (subscriberId: string) => string
}

function Pins({ scenario, span, zone, step, nameOf, editing, onEdit, onAdd, onMove, onRemove, onDragging }: PinsProps) {
  const row = useRef<HTMLDivElement>(null)
  const drag = useRef<{ id: string; hasMoved: boolean } | undefined>(undefined)
  /** From the start, rounded. */
  const placeAt = (clientX: number): number => {
    const box = row.current?.getBoundingClientRect()
    if (!box) return 0
    const part = Math.min(1, Math.max(0, (clientX - box.left) / box.width))
    return Math.max(0, Math.round((part * (span.to - span.from)) / step) * step)
  }
  const onKey = (event: KeyboardEvent, pin: Pin) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by !== undefined) onMove(pin.id, Math.max(0, pin.at + by * step * (event.shiftKey ? 10 : 1)))
    else if (event.key === 'Delete' || event.key === 'Backspace') onRemove(pin.id)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a button beside it adds pins too
    // biome-ignore lint/a11y/useKeyWithClickEvents: a button beside it adds pins too
    <div
      ref={row}
      data-pins
      className="relative h-8 cursor-copy"
      title="Click to add a trigger here"
      onClick={(event) => event.target === row.current && onAdd(placeAt(event.clientX))}
    >
      {scenario.pins.map((pin) => {
        const Icon = pinIcons[pin.type]
        const at = span.from + pin.at
        return (
          <button
            key={pin.id}
            type="button"
            aria-label={`${momentText(zone, at, scenario.startAt)}: ${pinText(pin, nameOf)}`}
            aria-expanded={editing === pin.id}
            aria-keyshortcuts="ArrowLeft ArrowRight Delete"
            style={{ left: leftOf(span, at) }}
            className={cn(
              'absolute top-1 grid size-6 -translate-x-1/2 cursor-grab touch-none place-items-center rounded-full border bg-page text-ink shadow-float active:cursor-grabbing [&_svg]:size-3.5',
              pin.type === 'fault' && 'border-warn text-warn',
              editing === pin.id ? 'z-2 border-accent text-accent' : 'border-line-strong',
            )}
            onKeyDown={(event) => onKey(event, pin)}
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId)
              drag.current = { id: pin.id, hasMoved: false }
            }}
            onPointerMove={(event) => {
              if (drag.current?.id !== pin.id || event.buttons !== 1) return
              const place = placeAt(event.clientX)
              if (place === pin.at) return
              if (!drag.current.hasMoved) onDragging(true)
              drag.current.hasMoved = true
              onMove(pin.id, place)
            }}
            onPointerUp={() => onDragging(false)}
            onPointerCancel={() => onDragging(false)}
            onClick={(event) => {
              event.stopPropagation()
              const wasDragged = drag.current?.hasMoved === true
              drag.current = undefined
              if (!wasDragged) onEdit(pin.id)
            }}
          >
            <Icon aria-hidden />
          </button>
        )
      })}
    </div>
  )
}

/** The width of an element; 0 until it is known. */
function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!element.current) return
    const resizing = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    resizing.observe(element.current)
    return () => resizing.disconnect()
  }, [element])
  return width
}
