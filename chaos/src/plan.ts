// The plan, derived from the seed alone: who gets which triggers when, and which faults are played.
import { createHash } from 'node:crypto'
import { Random } from './random.ts'

export const throttleThreshold = 2
/** Notes of the workflow `capped` that one person gets. */
export const capLimit = 3
/** How often each workflow of workflows.ts is triggered. */
const shares = {
  inbox: 14,
  channels: 16,
  delayed: 10,
  later: 3,
  digested: 22,
  slid: 8,
  flushed: 8,
  throttled: 12,
  asking: 8,
  retried: 6,
  computed: 4,
  branched: 8,
  awaited: 5,
  questioned: 5,
  paid: 6,
  answered: 6,
  paged: 5,
  reached: 5,
  capped: 6,
  starting: 4,
  coded: 6,
  sandboxed: 5,
  offered: 10,
}
export type WorkflowName = keyof typeof shares
export const workflowNames = Object.keys(shares) as WorkflowName[]
/** Workflows whose waits can be cancelled. */
const cancellable = new Set<WorkflowName>([
  ...(['delayed', 'later', 'digested', 'slid', 'branched', 'awaited', 'reached', 'questioned'] as const),
])
/** Workflows whose runs wait for longer than the plan: one of these follows each of their triggers, and ends its runs. */
const endings: Partial<Record<WorkflowName, FollowUp['kind']>> = { paid: 'event', answered: 'answer' }
/** Workflows whose notes list the events of a digest. */
export const digesting: ReadonlySet<WorkflowName> = new Set<WorkflowName>(['digested', 'slid', 'flushed'])
/** How often a request of the workflow `retried` is tried. */
export const mostTries = 3
/** Workflows sent to topics and broadcasts. */
const wide = ['inbox', 'computed', 'throttled', 'digested'] as const

export interface Trigger {
  /** Its number, which appears in everything it leads to. */
  n: number
  transactionId: string
  workflow: WorkflowName
  to: { people: string[] } | { topic: string } | 'everyone'
  /** The digest and throttle key. */
  key: string
  /** Extra letters in the payload. */
  ballast: number
}

export interface Sending {
  atMs: number
  kind: 'single' | 'bulk' | 'topic' | 'broadcast'
  triggers: Trigger[]
  /** Sent twice at the same moment, as by an impatient client. */
  isDoubled: boolean
}

export interface Cancelling {
  atMs: number
  transactionId: string
}

/** What ends the runs of a trigger, once that is accepted. */
export interface FollowUp {
  atMs: number
  kind: 'event' | 'answer' | 'cancel by key'
  n: number
  transactionId: string
  people: string[]
  /** Done twice at the same moment. */
  isDoubled: boolean
}

/** Of the runs of a trigger. */
export const cancellationKeyOf = (n: number): string => `k-${n}`
/** Of the event that ends the waits of a trigger. */
export const eventIdOf = (n: number): string => `e-${n}`

export const faultKinds = [
  'kill a worker',
  'kill an API process',
  'kill between two statements',
  'kill after a call, before its record',
  'kill during a call',
  'kill after a commit, before its answer',
  'restart PostgreSQL',
  'kill PostgreSQL',
  'cut connections',
  'end sessions',
  'silence connections',
  'pause a process',
  'fill the disk',
  'step the clocks',
  'bad weather at the provider',
  'take locks in the wrong order',
  'make transactions serializable',
  'leave little memory',
] as const
export type FaultKind = (typeof faultKinds)[number]

export const weathers = ['refusing', 'limiting', 'slow', 'hanging', 'breaking'] as const
export type Weather = (typeof weathers)[number]

export interface Fault {
  kind: FaultKind
  /** Pause before the fault. */
  pauseMs: number
  /** How long it lasts, or a killed process stays down. */
  forMs: number
  /** Selects one of the eligible processes, from 0 to 1. */
  which: number
  /** Statements that pass first. */
  statements: number
  side: 'before' | 'after'
  /** How far clocks are moved. */
  hours: number
  weather: Weather
}

export interface Plan {
  seed: string
  minutes: number
  people: string[]
  topics: Record<string, string[]>
  sendings: Sending[]
  cancellings: Cancelling[]
  followUps: FollowUp[]
  faults: Fault[]
}

export interface PlanOptions {
  seed: string
  minutes: number
  perSecond: number
  people: number
  /** Average time between faults. */
  pauseMs: number
  /** The longest a fault lasts. */
  mostMs?: number
  /** All faults, unless --only selects some. */
  kinds?: readonly FaultKind[]
}

export function makePlan(options: PlanOptions): Plan {
  const { seed, minutes, perSecond, people: count, pauseMs, mostMs = 4_000, kinds = faultKinds } = options
  const random = new Random(seed)
  const people = Array.from({ length: count }, (_, number) => `person-${number}`)
  const topics = {
    half: random.of('half').some(people, Math.ceil(count / 3)),
    few: random.of('few').some(people, Math.min(count, 7)),
  }
  const lengthMs = minutes * 60_000
  return {
    ...{ seed, minutes, people, topics },
    ...workload(random.of('workload'), { lengthMs, perSecond, people, topics: Object.keys(topics) }),
    faults: faults(random.of('faults'), { lengthMs, pauseMs, mostMs, kinds }),
  }
}

interface Crowd {
  lengthMs: number
  perSecond: number
  people: string[]
  topics: string[]
}

/** Weights of each kind of sending. Broadcasts have their own times. */
const kinds = { single: 70, bulk: 18, topic: 4 }
const broadcastEveryMs = 45_000

function workload(random: Random, crowd: Crowd): Pick<Plan, 'sendings' | 'cancellings' | 'followUps'> {
  const { lengthMs, perSecond, people, topics } = crowd
  const sendings: Sending[] = []
  const cancellings: Cancelling[] = []
  const followUps: FollowUp[] = []
  let n = 0
  const trigger = (workflow: WorkflowName, to: Trigger['to']): Trigger => {
    n += 1
    const ballast = random.chance(0.03) ? random.int(20_000, 200_000) : 0
    return { n, transactionId: `t-${n}`, workflow, to, key: random.pick(['red', 'green']), ballast }
  }
  const single = () => {
    const ids = random.some(people, random.weighted({ one: 8, three: 2 }) === 'one' ? 1 : 3)
    return trigger(random.weighted(shares), { people: ids })
  }
  for (let atMs = 0; atMs < lengthMs; atMs += (2_000 * random.next()) / perSecond) {
    const kind = random.weighted(kinds)
    const triggers =
      kind === 'topic'
        ? [trigger(random.pick([...wide, 'channels', 'delayed']), { topic: random.pick(topics) })]
        : Array.from({ length: kind === 'bulk' ? random.int(2, 8) : 1 }, single)
    sendings.push({ atMs: Math.round(atMs), kind, triggers, isDoubled: random.chance(0.06) })
    // Who of a topic has been reached would depend on timing.
    for (const { workflow, transactionId } of kind === 'topic' ? [] : triggers)
      if (cancellable.has(workflow) && random.chance(0.12))
        cancellings.push({ atMs: Math.round(atMs + random.int(0, 5_000)), transactionId })
    for (const each of triggers) {
      const ending = endings[each.workflow]
      if (!ending || each.to === 'everyone' || 'topic' in each.to) continue
      followUps.push({
        ...{ atMs: Math.round(atMs + random.int(0, 5_000)), kind: random.chance(0.25) ? 'cancel by key' : ending },
        ...{ n: each.n, transactionId: each.transactionId, people: each.to.people, isDoubled: random.chance(0.3) },
      })
    }
  }
  for (let atMs = 5_000; atMs < lengthMs; atMs += broadcastEveryMs)
    sendings.push({ atMs, kind: 'broadcast', triggers: [trigger(random.pick(wide), 'everyone')], isDoubled: false })
  sendings.sort((one, other) => one.atMs - other.atMs)
  return { sendings, cancellings, followUps }
}

/** The clocks stay within these limits, relative to the start. */
const [leastHours, mostHours] = [-4, 12]

/** Every kind is played once before any is repeated. There are enough of them even if none takes longer than its pause. */
function faults(
  random: Random,
  {
    lengthMs,
    pauseMs,
    mostMs,
    kinds,
  }: { lengthMs: number; pauseMs: number; mostMs: number; kinds: readonly FaultKind[] },
): Fault[] {
  const drawn: Fault[] = []
  let [atMs, hoursAhead] = [0, 0]
  let bag: FaultKind[] = []
  while (atMs < lengthMs) {
    if (bag.length === 0) bag = random.shuffled(kinds)
    const step = random.pick([-3, -2, -1, 1, 2, 3, 5])
    const hours = hoursAhead + step < leastHours || hoursAhead + step > mostHours ? -step : step
    const kind = bag.pop() as FaultKind
    const fault: Fault = {
      kind,
      pauseMs: Math.round(pauseMs * (0.5 + random.next())),
      forMs: random.int(500, mostMs),
      which: random.next(),
      statements: random.int(0, 60),
      side: random.pick(['before', 'after']),
      hours,
      weather: random.pick(weathers),
    }
    if (kind === 'step the clocks') hoursAhead += hours
    drawn.push(fault)
    atMs += fault.pauseMs
  }
  return drawn
}

/** Identifies the plan. */
export const fingerprint = (plan: Plan): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex').slice(0, 12)
