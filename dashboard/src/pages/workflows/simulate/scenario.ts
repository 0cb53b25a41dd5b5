// The scenario of the Simulate panel: people, what happens to them when, presets, and the request and the file made of it.
import type { Simulation, SimulationRequest } from '../../../api/simulations.ts'
import type { Schedule } from '../../../api/subscribers.ts'
import { atWall, nextJump, offsetMs } from './zones.ts'

type Members = Record<string, unknown>

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const longestHorizonMs = 366 * dayMs
const usualHorizonMs = 30 * dayMs

export interface Person {
  subscriberId: string
  firstName: string
  email?: string | undefined
  phone?: string | undefined
  timezone: string
  schedule?: Schedule | undefined
  /** As they are stored; the rest is only shown. */
  isStored?: boolean
  /** Before a preset gave them hours or another zone. */
  before?: Person
}

export const faults = {
  outage: 'No connection',
  server_error: 'Server error',
  rate_limited: 'Rate limited',
  timeout: 'Timeout',
  reset: 'Connection lost',
  hang: 'Hangs for 30 seconds',
  rejected: 'Rejects the message',
  bounce: 'Bounces',
  unauthorized: 'Credentials refused',
} as const
export type Fault = keyof typeof faults

export type Pin = { id: string /** Milliseconds from the start. */; at: number } & (
  | { type: 'trigger'; to: string[]; payload: Members }
  | { type: 'read' | 'seen'; subscriberId: string }
  | { type: 'cancel'; transactionId: string }
  | { type: 'fault'; fault: Fault; channel: string | undefined; lastsMs: number | undefined }
)
export type PinType = Pin['type']

export const pinLabels: Record<PinType, string> = {
  trigger: 'Trigger',
  read: 'Read in the inbox',
  seen: 'Seen in the inbox',
  cancel: 'Cancel',
  fault: 'Provider fails',
}

export interface Scenario {
  name: string
  startAt: number
  people: Person[]
  pins: Pin[]
}

/** The zone in which the axis is labeled. */
export const zoneOf = ({ people }: Scenario): string => people[0]?.timezone ?? 'UTC'

const names = ['Ada', 'Bo', 'Cy', 'Dee', 'Eva', 'Finn', 'Gus', 'Hana']

/** Somebody who is not there yet. */
export function inventPerson(others: readonly Person[], timezone: string): Person {
  const isTaken = (id: string) => others.some(({ subscriberId }) => subscriberId === id)
  const firstName = names.find((name) => !isTaken(name.toLowerCase())) ?? `Person ${others.length + 1}`
  const subscriberId = firstName.toLowerCase().replaceAll(' ', '-')
  const phone = `+4917012345${String(10 + others.length)}`
  return { subscriberId, firstName, email: `${subscriberId}@example.com`, phone, timezone }
}

let pins = 0
export const newPinId = (): string => {
  pins += 1
  return `event-${pins}`
}

const triggerPin = (at: number, people: readonly Person[], payload: Members): Pin => ({
  ...{ id: newPinId(), at, type: 'trigger', payload },
  to: people.map(({ subscriberId }) => subscriberId),
})

export function startScenario(person: Person, payload: Members, now: number): Scenario {
  // A round minute reads better.
  const startAt = Math.ceil(now / minuteMs) * minuteMs
  return { name: 'One event', startAt, people: [person], pins: [triggerPin(0, [person], payload)] }
}

const office = { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] }
const officeHours: Schedule = {
  isEnabled: true,
  weeklySchedule: { monday: office, tuesday: office, wednesday: office, thursday: office, friday: office },
}

export interface Preset {
  name: string
  about: string
  /** From the present scenario, whose people and payload it keeps. */
  make: (scenario: Scenario, payload: Members) => Scenario
}

/** Without what an earlier preset gave them. */
const asBefore = ({ people, ...scenario }: Scenario): Scenario => ({
  ...scenario,
  people: people.map((person) => person.before ?? person),
})

/** Invented, with this person's name: only those can be given a schedule or a zone. */
const invented = (before: Person, changes: Partial<Person>): Person => {
  const { isStored: _, ...person } = before
  return { ...person, email: person.email ?? `${person.subscriberId}@example.com`, ...changes, before }
}

const dstZone = 'Europe/Berlin'

export const presets: Preset[] = presetsFrom([
  {
    name: 'A burst of twenty',
    about: 'Twenty events, half a minute apart',
    make: (scenario, payload) => ({
      ...scenario,
      name: 'A burst of twenty',
      pins: Array.from({ length: 20 }, (_, place) =>
        triggerPin(place * 30 * secondMs, scenario.people, { ...payload, number: place + 1 }),
      ),
    }),
  },
  {
    name: 'Quiet hours',
    about: 'Friday evening, for somebody with office hours',
    make: (scenario, payload) => {
      const people = scenario.people.map((person) => invented(person, { schedule: officeHours }))
      const zone = people[0]?.timezone ?? 'UTC'
      const wall = scenario.startAt + offsetMs(zone, scenario.startAt)
      const midnight = Math.floor(wall / dayMs) * dayMs
      const friday = midnight + ((5 - new Date(midnight).getUTCDay() + 7) % 7) * dayMs
      const startAt = atWall(zone, friday + 20 * hourMs)
      return { name: 'Quiet hours', startAt, people, pins: [triggerPin(0, people, payload)] }
    },
  },
  {
    name: 'The night the clocks change',
    about: 'Two events just before the clock jumps in Berlin',
    make: (scenario, payload) => {
      const people = scenario.people.map((person) => invented(person, { timezone: dstZone }))
      const jump = nextJump(dstZone, scenario.startAt)?.at ?? scenario.startAt
      return {
        ...{ name: 'The night the clocks change', startAt: jump - 5 * minuteMs, people },
        pins: [triggerPin(0, people, payload), triggerPin(4 * minuteMs, people, payload)],
      }
    },
  },
  {
    name: 'A provider out for two hours',
    about: 'Nobody answers; retries and failover',
    make: (scenario, payload) => ({
      ...scenario,
      name: 'A provider out for two hours',
      pins: [
        { id: newPinId(), at: 0, type: 'fault', fault: 'outage', channel: undefined, lastsMs: 2 * hourMs },
        triggerPin(0, scenario.people, payload),
      ],
    }),
  },
  {
    name: 'Never reads',
    about: 'One event, and nobody opens the inbox',
    make: (scenario, payload) => ({
      ...scenario,
      name: 'Never reads',
      pins: [triggerPin(0, scenario.people, payload)],
    }),
  },
])

function presetsFrom(given: Preset[]): Preset[] {
  return given.map((preset) => ({ ...preset, make: (scenario, payload) => preset.make(asBefore(scenario), payload) }))
}

const units: Array<[unit: string, ms: number]> = [
  ['d', dayMs],
  ['h', hourMs],
  ['m', minuteMs],
  ['s', secondMs],
  ['ms', 1],
]

/** `1h30m`, as scenarios have it. */
export function durationText(ms: number): string {
  let left = Math.max(0, Math.round(ms))
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? [] : [`${count}${unit}`]
  })
  return parts.length === 0 ? '0s' : parts.join('')
}

/** Undefined if it is none. */
export function readDuration(text: string): number | undefined {
  const found = /^\+?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text.trim())
  if (!found || !/\d/.test(text)) return undefined
  const ms = units.reduce((sum, [, size], index) => sum + Number(found[index + 1] ?? 0) * size, 0)
  return ms <= longestHorizonMs ? ms : undefined
}

const momentText = (ms: number) => `+${durationText(ms)}`

function inputOf(pin: Pin): Members {
  const at = momentText(pin.at)
  switch (pin.type) {
    case 'trigger': {
      const [only] = pin.to
      const to = pin.to.length === 1 ? only : pin.to
      return { at, type: 'trigger', transactionId: pin.id, to, payload: pin.payload }
    }
    case 'read':
    case 'seen':
      return { at, type: pin.type, subscriberId: pin.subscriberId }
    case 'cancel':
      return { at, type: 'cancel', transactionId: pin.transactionId }
    case 'fault':
      return {
        ...{ at, type: 'fault', fault: pin.fault },
        ...(pin.channel === undefined ? {} : { channel: pin.channel }),
        ...(pin.lastsMs === undefined ? {} : { until: momentText(pin.at + pin.lastsMs) }),
      }
  }
}

function subscriberOf({ subscriberId, firstName, email, phone, timezone, schedule }: Person): Members {
  return {
    ...{ subscriberId, firstName, timezone },
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone }),
    ...(schedule === undefined ? {} : { preferences: { schedule } }),
  }
}

/** What the answers count inputs by: their order in time, as the pins stand. */
export const ordered = (scenario: Scenario): Pin[] => [...scenario.pins].sort((a, b) => a.at - b.at)

type WorkflowOf = SimulationRequest['workflow']

export function requestOf(scenario: Scenario, workflow: WorkflowOf): SimulationRequest {
  const inputs = ordered(scenario)
  const last = inputs.at(-1)?.at ?? 0
  return {
    workflow,
    startAt: new Date(scenario.startAt).toISOString(),
    horizon: durationText(Math.min(longestHorizonMs, last + usualHorizonMs)),
    subscribers: scenario.people.filter(({ isStored }) => !isStored).map(subscriberOf),
    inputs: inputs.map(inputOf),
  } as unknown as SimulationRequest
}

/** A scenario file, with what was sent as its expectation. */
export function fileOf(scenario: Scenario, workflow: WorkflowOf, played: Simulation | undefined): string {
  const { startAt, horizon, subscribers = [], inputs } = requestOf(scenario, workflow)
  const sent = (played?.messages ?? []).filter(({ status }) => status === 'sent')
  const messages = sent.map(({ channel, subscriberId, at, subject }) => ({
    ...{ channel, subscriberId, at: momentText(Date.parse(at) - scenario.startAt) },
    ...(subject ? { subject } : {}),
  }))
  const list = (name: string, entries: readonly unknown[]) =>
    entries.length === 0 ? [] : [`${name}:`, ...entries.map((entry) => `  - ${flow(entry)}`)]
  return [
    `name: ${flow(scenario.name)}`,
    `workflow: ${flow(workflow)}`,
    `startAt: ${flow(startAt)}`,
    `horizon: ${flow(horizon)}`,
    ...list('subscribers', subscribers),
    ...list('inputs', inputs),
    ...(played
      ? [
          'expect:',
          ...(messages.length === 0
            ? ['  - messages: []']
            : ['  - messages:', ...messages.map((each) => `      - ${flow(each)}`)]),
        ]
      : []),
    '',
  ].join('\n')
}

/** YAML in flow style: JSON, whose plain words go without quotes. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined)
    if (entries.length === 0) return '{}'
    return `{ ${entries.map(([name, each]) => `${flow(name)}: ${flow(each)}`).join(', ')} }`
  }
  if (typeof value !== 'string') return JSON.stringify(value)
  const isPlain =
    /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][\w-]*$/i.test(value) || /^\+[0-9a-z]+[a-z]$/.test(value)
  return isPlain ? value : JSON.stringify(value)
}

/** The step by which keys move something, so that times stay round. */
export function niceStep(spanMs: number): number {
  const nice = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400].map(
    (each) => each * secondMs,
  )
  return nice.find((each) => each >= spanMs / 200) ?? dayMs
}
