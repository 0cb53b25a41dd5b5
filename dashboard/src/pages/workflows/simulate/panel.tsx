// Simulate: the draft as it stands, played in memory over days. A time axis with what happens to each person, and beside it what
// they have at that moment.
import { useQuery } from '@tanstack/react-query'
import {
  ChevronsLeft,
  ChevronsRight,
  ClipboardCopy,
  Pause,
  Play,
  Plus,
  Shapes,
  UserPlus,
  X,
  ZoomIn,
  ZoomOut,
} from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { toast } from 'sonner'
import { type Simulation, type SimulationRequest, simulations } from '../../../api/simulations.ts'
import type { Workflow } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { cn } from '../../../ui/base/class-names.ts'
import { copyText, tellNotCopied } from '../../../ui/base/copy-text.ts'
import { Skeleton } from '../../../ui/base/states.tsx'
import { StepIcon } from '../../../ui/domain/step-kind.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../../../ui/frame/menu.tsx'
import { changeOf, type Draft } from '../draft/draft.ts'
import { type PreviewData, useExamplePayload } from '../draft/preview-data.ts'
import { allSteps } from '../draft/tree.ts'
import { useDebounced } from '../draft/use-debounced.ts'
import { Axis, pinIcons, useNames } from './axis.tsx'
import { endOf, type Happening, happeningsOf, momentText } from './happenings.ts'
import { Moment } from './moment.tsx'
import { PersonForm, storedPerson } from './person-form.tsx'
import { PinForm } from './pin-form.tsx'
import { nextOf, previousOf, type Speed, speeds, usePlayback } from './playback.ts'
import {
  fileOf,
  inventPerson,
  newPinId,
  type Person,
  type Pin,
  type PinType,
  pinLabels,
  presets,
  requestOf,
  type Scenario,
  startScenario,
  zoneOf,
} from './scenario.ts'
import type { Span } from './span.ts'

interface SimulatePanelProps {
  workflow: Workflow
  draft: Draft
  isDirty: boolean
  /** Without the right to edit, the stored workflow is played: it is the same as the draft. */
  mayEdit: boolean
  data: PreviewData
  onClose: () => void
}

const pauseMs = 100
const dayMs = 86_400_000
const leastSpanMs = 10 * 60_000
const mostListed = 300
const mostZoom = 64

export function SimulatePanel({ workflow, draft, isDirty, mayEdit, data, onClose }: SimulatePanelProps) {
  const example = useExamplePayload(workflow)
  const payload = data.payload ?? example
  const zone = useMemo(() => new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC', [])
  const [scenario, setScenario] = useState<Scenario>(() => startScenario(inventPerson([], zone), payload, Date.now()))
  // The example comes from the server, after the panel is open.
  const isTouched = useRef(false)
  useEffect(() => {
    if (isTouched.current) return
    setScenario((before) => ({
      ...before,
      pins: before.pins.map((pin) => (pin.type === 'trigger' ? { ...pin, payload } : pin)),
    }))
  }, [payload])
  const { subscriberId } = data
  useEffect(() => {
    if (subscriberId === undefined || isTouched.current) return
    void storedPerson(subscriberId).then(
      (person) => {
        if (!isTouched.current) setScenario((before) => startScenario(person, payloadOf(before), before.startAt))
      },
      (error: unknown) => toast.error((error as Error).message),
    )
  }, [subscriberId])
  const change = (work: (before: Scenario) => Scenario) => {
    isTouched.current = true
    setScenario(work)
  }

  const source = useMemo(
    (): SimulationRequest['workflow'] =>
      ({
        workflowId: workflow.workflowId,
        ...(mayEdit ? { draft: { ...changeOf(draft, workflow.origin), active: true } } : {}),
      }) as SimulationRequest['workflow'],
    [workflow.workflowId, workflow.origin, draft, mayEdit],
  )
  const request = useDebounced(
    useMemo(() => requestOf(scenario, source), [scenario, source]),
    pauseMs,
  )
  const query = useQuery({ ...simulations.play(request), enabled: scenario.pins.length > 0 })
  // What cannot be played leaves the last picture.
  const last = useRef(query.data)
  if (query.data) last.current = query.data
  const played = scenario.pins.length > 0 ? (query.data ?? last.current) : undefined

  const [frozen, setFrozen] = useState<Span>()
  const fitted = useMemo(() => spanOf(scenario, played), [scenario, played])
  const span = frozen ?? fitted
  const [zoom, setZoom] = useState(1)
  // Undefined: at the end, wherever that is.
  const [at, setAt] = useState<number>()
  const cursor = Math.min(span.to, Math.max(span.from, at ?? span.to))
  const nameOf = useNames(scenario.people)
  const names = useMemo(() => new Map(allSteps(draft.steps).map((step) => [step.stepId, step.name])), [draft.steps])
  const stepName = (stepId: string) => names.get(stepId) ?? stepId
  const shownZone = zoneOf(scenario)
  const happenings = useMemo(
    () =>
      played
        ? happeningsOf(played, {
            ...{ scenario, zone: shownZone, nameOf },
            stepName: (stepId) => names.get(stepId) ?? stepId,
          })
        : [],
    [played, scenario, shownZone, nameOf, names],
  )
  const moments = useMemo(() => [...new Set(happenings.map((each) => each.at))].sort((a, b) => a - b), [happenings])
  const playback = usePlayback({ from: span.from, to: span.to, cursor, moments, onCursor: setAt })
  const go = (to: number | undefined) => {
    playback.stop()
    if (to !== undefined) setAt(to)
  }

  const [chosen, setChosen] = useState<string>()
  const person = scenario.people.find((each) => each.subscriberId === chosen) ?? scenario.people[0]
  const [editing, setEditing] = useState<{ pin: string } | { person: string } | undefined>()
  const pin = editing && 'pin' in editing ? scenario.pins.find(({ id }) => id === editing.pin) : undefined
  const edited =
    editing && 'person' in editing ? scenario.people.find((each) => each.subscriberId === editing.person) : undefined

  const setPin = (next: Pin) =>
    change((before) => ({ ...before, pins: before.pins.map((each) => (each.id === next.id ? next : each)) }))
  const removePin = (id: string) =>
    change((before) => ({ ...before, pins: before.pins.filter((each) => each.id !== id) }))
  const add = (type: PinType, where: number) => {
    const made = newPin(type, where, scenario, payload)
    change((before) => ({ ...before, pins: [...before.pins, made] }))
    setEditing({ pin: made.id })
  }
  const addPerson = () =>
    change((before) => {
      const made = inventPerson(before.people, zoneOf(before))
      return {
        ...before,
        people: [...before.people, made],
        pins: before.pins.map((each) =>
          each.type === 'trigger' ? { ...each, to: [...each.to, made.subscriberId] } : each,
        ),
      }
    })
  const removePerson = (subscriberId: string) => {
    setEditing(undefined)
    change((before) => withoutPerson(before, subscriberId))
  }
  const copy = () => {
    const { draft: _, ...stored } = source
    // One that is inactive takes no triggers, but here it is played as if it did.
    const file = fileOf(scenario, isDirty || !draft.active ? source : stored, played)
    void copyText(file).then(() => toast.success('Copied as a scenario file'), tellNotCopied)
  }

  return (
    <section
      aria-label="Simulate"
      className="flex min-h-0 flex-col bg-page max-lg:h-full lg:h-[48%] lg:min-h-72 lg:shrink-0 lg:border-t"
    >
      <header className="flex flex-wrap items-center gap-x-2 gap-y-1.5 border-b px-4 py-2">
        <h2 className="mr-1 text-sm font-semibold">Simulate</h2>
        <Menu
          align="start"
          className="w-72"
          trigger={
            <Button size="sm" icon={<Shapes />}>
              Presets
            </Button>
          }
        >
          {presets.map((preset) => (
            <MenuItem
              key={preset.name}
              onSelect={() => {
                setEditing(undefined)
                setAt(undefined)
                change((before) => preset.make(before, payload))
              }}
            >
              <span className="block truncate">{preset.name}</span>
              <span className="block truncate text-xs text-muted">{preset.about}</span>
            </MenuItem>
          ))}
        </Menu>
        <Menu
          align="start"
          trigger={
            <Button size="sm" icon={<Plus />}>
              Add
            </Button>
          }
        >
          <MenuLabel>At {momentText(shownZone, cursor, scenario.startAt)}</MenuLabel>
          {(Object.keys(pinLabels) as PinType[]).map((type) => {
            const Icon = pinIcons[type]
            const isOff = type === 'cancel' && !scenario.pins.some((each) => each.type === 'trigger')
            return (
              <MenuItem
                key={type}
                icon={<Icon />}
                disabled={isOff}
                onSelect={() => add(type, Math.round(cursor - span.from))}
              >
                {pinLabels[type]}
              </MenuItem>
            )
          })}
          <MenuSeparator />
          <MenuItem icon={<UserPlus />} onSelect={addPerson}>
            A recipient
          </MenuItem>
        </Menu>
        <div className="flex items-center gap-1 sm:ml-2">
          <Button
            size="icon-sm"
            variant="ghost"
            hint="The thing before"
            disabled={previousOf(moments, cursor) === undefined}
            onClick={() => go(previousOf(moments, cursor))}
          >
            <ChevronsLeft />
          </Button>
          <Button size="icon-sm" hint={playback.isPlaying ? 'Pause' : 'Play'} onClick={playback.toggle}>
            {playback.isPlaying ? <Pause /> : <Play />}
          </Button>
          <Button
            size="icon-sm"
            variant="ghost"
            hint="The next thing"
            disabled={nextOf(moments, cursor) === undefined}
            onClick={() => go(nextOf(moments, cursor))}
          >
            <ChevronsRight />
          </Button>
          <Select
            aria-label="Speed"
            className="h-7 w-24 text-xs"
            value={String(playback.speed)}
            onValue={(speed) => playback.setSpeed(Number(speed) as Speed)}
            options={speeds.map((speed) => ({ value: String(speed), label: `${speed.toLocaleString('en')}×` }))}
          />
        </div>
        <time className="text-sm tabular-nums" dateTime={new Date(cursor).toISOString()}>
          {momentText(shownZone, cursor, scenario.startAt)}
        </time>
        <span className="text-xs text-muted max-md:hidden">{shownZone.replaceAll('_', ' ')}</span>
        <div className="ml-auto flex items-center gap-1">
          <Button
            size="icon-sm"
            variant="ghost"
            hint="Zoom out"
            disabled={zoom <= 1}
            onClick={() => setZoom((before) => Math.max(1, before / 2))}
          >
            <ZoomOut />
          </Button>
          <Button
            size="icon-sm"
            variant="ghost"
            hint="Zoom in"
            disabled={zoom >= mostZoom}
            onClick={() => setZoom((before) => Math.min(mostZoom, before * 2))}
          >
            <ZoomIn />
          </Button>
          <Button size="sm" icon={<ClipboardCopy />} onClick={copy}>
            <span className="max-sm:sr-only">Copy as scenario</span>
          </Button>
          <Button size="icon-sm" variant="ghost" hint="Close" onClick={onClose}>
            <X />
          </Button>
        </div>
      </header>
      {query.error && (
        <p role="alert" className="border-b bg-bad/8 px-4 py-2 text-sm text-bad">
          {query.error.message}
        </p>
      )}
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] max-lg:overflow-y-auto lg:grid-cols-[minmax(0,1fr)_380px]">
        <div className="min-w-0 lg:overflow-y-auto" aria-busy={query.isFetching}>
          <Axis
            scenario={scenario}
            span={span}
            zoom={zoom}
            played={played}
            cursor={cursor}
            chosen={person?.subscriberId}
            editing={pin?.id}
            stepName={stepName}
            onCursor={(moment) => go(moment)}
            onChoose={(subscriber) => {
              const isAgain = subscriber === person?.subscriberId
              setChosen(subscriber)
              setEditing(isAgain ? { person: subscriber } : undefined)
            }}
            onEdit={(id) => setEditing({ pin: id })}
            onAdd={(where) => add('trigger', where)}
            onMove={(id, where) => {
              const moved = scenario.pins.find((each) => each.id === id)
              if (moved) setPin({ ...moved, at: where })
            }}
            onRemove={removePin}
            onDragging={(isDragging) => setFrozen(isDragging ? fitted : undefined)}
          />
          {played ? (
            <Happenings happenings={happenings} zone={shownZone} scenario={scenario} cursor={cursor} onCursor={go} />
          ) : scenario.pins.length === 0 ? (
            <p className="border-t p-4 text-sm text-muted">Add a trigger: click above the axis, or use Add.</p>
          ) : (
            <div className="space-y-2 border-t p-4" role="status" aria-label="Playing">
              <Skeleton className="w-2/3" />
              <Skeleton className="w-1/2" />
            </div>
          )}
          {played && <Notes played={played} stepName={stepName} isPlayedAsActive={mayEdit && !draft.active} />}
        </div>
        <div className="min-w-0 border-l max-lg:border-t max-lg:border-l-0 lg:overflow-y-auto">
          {pin ? (
            <PinForm
              key={pin.id}
              scenario={scenario}
              pin={pin}
              onChange={setPin}
              onRemove={() => {
                setEditing(undefined)
                removePin(pin.id)
              }}
              onDone={() => setEditing(undefined)}
            />
          ) : edited ? (
            <PersonForm
              person={edited}
              canRemove={scenario.people.length > 1}
              onChange={(next) => {
                change((before) => replaced(before, edited.subscriberId, next))
                setChosen(next.subscriberId)
                setEditing({ person: next.subscriberId })
              }}
              onRemove={() => removePerson(edited.subscriberId)}
              onDone={() => setEditing(undefined)}
            />
          ) : (
            person && (
              <>
                <Moment scenario={scenario} person={person} played={played} cursor={cursor} zone={shownZone} />
                <p className="px-4 pb-4">
                  <Button size="sm" onClick={() => setEditing({ person: person.subscriberId })}>
                    Change {person.firstName}
                  </Button>
                </p>
              </>
            )
          )}
        </div>
      </div>
    </section>
  )
}

const payloadOf = ({ pins }: Scenario): Record<string, unknown> =>
  pins.flatMap((pin) => (pin.type === 'trigger' ? [pin.payload] : []))[0] ?? {}

function newPin(type: PinType, at: number, { people, pins }: Scenario, payload: Record<string, unknown>): Pin {
  const id = newPinId()
  const subscriberId = people[0]?.subscriberId ?? ''
  const trigger = pins.findLast((each) => each.type === 'trigger')
  switch (type) {
    case 'trigger':
      return { id, at, type, to: people.map((each) => each.subscriberId), payload: trigger?.payload ?? payload }
    case 'read':
    case 'seen':
      return { id, at, type, subscriberId }
    case 'cancel':
      return { id, at, type, transactionId: trigger?.id ?? '' }
    case 'fault':
      return { id, at, type, fault: 'outage', channel: undefined, lastsMs: 3_600_000 }
  }
}

function withoutPerson(scenario: Scenario, subscriberId: string): Scenario {
  return {
    ...scenario,
    people: scenario.people.filter((each) => each.subscriberId !== subscriberId),
    pins: scenario.pins.flatMap((pin): Pin[] => {
      if (pin.type === 'trigger') {
        const to = pin.to.filter((id) => id !== subscriberId)
        return to.length === 0 ? [] : [{ ...pin, to }]
      }
      return 'subscriberId' in pin && pin.subscriberId === subscriberId ? [] : [pin]
    }),
  }
}

function replaced(scenario: Scenario, subscriberId: string, { before: _, ...next }: Person): Scenario {
  const rename = (id: string) => (id === subscriberId ? next.subscriberId : id)
  return {
    ...scenario,
    people: scenario.people.map((each) => (each.subscriberId === subscriberId ? next : each)),
    pins: scenario.pins.map((pin): Pin => {
      if (pin.type === 'trigger') return { ...pin, to: pin.to.map(rename) }
      return 'subscriberId' in pin ? { ...pin, subscriberId: rename(pin.subscriberId) } : pin
    }),
  }
}

/** A little longer than what happens, so that the end can be seen. */
function spanOf(scenario: Scenario, played: Simulation | undefined): Span {
  const from = scenario.startAt
  const last = played ? endOf(played, scenario) : from + Math.max(0, ...scenario.pins.map(({ at }) => at))
  return { from, to: from + Math.max(leastSpanMs, (last - from) * 1.06) }
}

interface HappeningsProps {
  happenings: Happening[]
  zone: string
  scenario: Scenario
  cursor: number
  onCursor: (at: number) => void
}

/** The axis in words: for screen readers, and for everybody who wants to know exactly. */
function Happenings({ happenings, zone, scenario, cursor, onCursor }: HappeningsProps) {
  const current = happenings.findLastIndex(({ at }) => at <= cursor)
  return (
    <ol aria-label="What happens" className="border-t py-1">
      {happenings.slice(0, mostListed).map((each, index) => {
        const Pinned = pinIcons[each.icon as PinType] as (typeof pinIcons)[PinType] | undefined
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is made anew as a whole
          <li key={index}>
            <button
              type="button"
              aria-current={index === current ? 'step' : undefined}
              onClick={() => onCursor(each.at)}
              className={cn(
                'flex min-h-7 w-full items-center gap-2.5 px-4 py-0.5 text-left text-sm hover:bg-hover',
                index === current && 'bg-hover',
                each.at > cursor && 'text-muted',
              )}
            >
              <time
                className="w-24 shrink-0 text-xs text-muted tabular-nums"
                dateTime={new Date(each.at).toISOString()}
              >
                {momentText(zone, each.at, scenario.startAt)}
              </time>
              {Pinned ? (
                <Pinned className="size-4 shrink-0 text-muted" aria-hidden />
              ) : (
                <StepIcon kind={each.icon} tone={each.tone === 'bad' || each.tone === 'warn' ? each.tone : undefined} />
              )}
              <span className="min-w-0 flex-1" dir="auto">
                {each.text}
              </span>
            </button>
          </li>
        )
      })}
      {happenings.length > mostListed && (
        <li className="px-4 py-1 text-xs text-muted">
          And {(happenings.length - mostListed).toLocaleString('en')} more; the axis shows them.
        </li>
      )}
    </ol>
  )
}

interface NotesProps {
  played: Simulation
  stepName: (stepId: string) => string
  isPlayedAsActive: boolean
}

function Notes({ played, stepName, isPlayedAsActive }: NotesProps) {
  const days = Math.round((Date.parse(played.endAt) - Date.parse(played.startAt)) / dayMs)
  const notes = [
    ...(played.stoppedBy === 'horizon'
      ? [
          `${played.waiting.length === 1 ? 'One step still waits' : `${played.waiting.length} steps still wait`} after ${days} days.`,
        ]
      : []),
    ...played.assumed.map(({ stepId }) => `“${stepName(stepId)}” gets an example as its answer; nothing is called.`),
    ...(isPlayedAsActive ? ['The workflow is inactive; it is played as if it were active.'] : []),
  ]
  if (notes.length === 0) return null
  return (
    <ul className="space-y-0.5 border-t px-4 py-2 text-xs text-muted">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  )
}
