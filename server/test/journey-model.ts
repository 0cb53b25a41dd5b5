// A small model of journeys: what a run does with branches, waits, questions, exits and goals, told apart from the engine. It is
// a walk through the tree that pauses where a step waits, and knows nothing of rows, jobs and queues. Times are minutes.

export type Condition = { flag: number } | { stepId: string; member: 'outcome' | 'answer'; is: string }

export interface Entry {
  event: string
  /** Whether it asks for the key of the run; otherwise for its subscriber. */
  isByKey: boolean
  /** What `n` of the event has to be more than. */
  above: number | null
}

export type Node =
  | { kind: 'say'; stepId: string }
  | { kind: 'delay'; stepId: string; minutes: number }
  | { kind: 'exit'; stepId: string; only: Condition | null }
  | { kind: 'wait'; stepId: string; for: Entry[]; minutes: number; looksBack: boolean }
  | { kind: 'ask'; stepId: string; minutes: number; chain: string[] | null; patience: number }
  | { kind: 'branch'; stepId: string; arms: Arm[]; otherwise: Omit<Arm, 'condition'> | null }

export interface Arm {
  condition: Condition
  end: boolean
  steps: Node[]
}

export type Goal = { name: string; entry: Entry } | { name: string; condition: Condition }

export interface PostedEvent {
  id: string
  name: string
  key?: string
  subscriberId?: string
  n: number
  at: number
}

export interface Person {
  subscriberId: string
  key: string
  flags: boolean[]
}

/** Where a run waits: until when, and what may end it before. */
interface Pause {
  until: number
  /** The wait is over by its time. @returns false if it goes on, with another `until` */
  end(at: number): boolean
  hear?(event: PostedEvent): boolean
  answer?(by: string, answer: string): boolean
}

interface State {
  stepId: string
  status: string
  result: Record<string, unknown>
}

/** Somebody whom a chain names and nobody knows. */
export const stranger = 'nobody-knows'

export class ModelRun {
  readonly states: State[] = []
  readonly said: string[] = []
  /** Ids of the events that have ended something. */
  readonly heard: string[] = []
  goal: string | null = null
  isOver = false
  readonly #person: Person
  readonly #goals: Goal[]
  readonly #events: PostedEvent[]
  readonly #beganAt: number
  readonly #walk: Generator<Pause, unknown>
  #now: number
  #pause: Pause | undefined

  constructor(nodes: Node[], goals: Goal[], person: Person, at: number, events: PostedEvent[]) {
    this.#person = person
    this.#goals = goals
    this.#events = events
    this.#beganAt = at
    this.#now = at
    this.#make(nodes, 0)
    this.#walk = this.#steps(nodes)
    this.#goOn()
  }

  /** Everything that is due until then happens. */
  pass(to: number): void {
    for (let pause = this.#pause; pause && pause.until <= to; pause = this.#pause) {
      this.#now = pause.until
      if (pause.end(this.#now)) this.#goOn()
    }
    this.#now = to
  }

  hear(event: PostedEvent): void {
    if (this.isOver) return
    const met = this.#goals.find((goal) => 'entry' in goal && this.#takes(goal.entry, event))
    if (met) {
      this.heard.push(event.id)
      this.#meet(met)
    } else if (this.#pause?.hear?.(event)) this.#goOn()
  }

  /** @returns whether it counts */
  answer(by: string, answer: string): boolean {
    const isTaken = this.#pause?.answer?.(by, answer) ?? false
    if (isTaken) this.#goOn()
    return isTaken
  }

  /** @returns whether there was anything to cancel */
  cancel(): boolean {
    if (this.isOver) return false
    this.#leave('canceled canceled_by_user')
    return true
  }

  #goOn(): void {
    const { value, done } = this.#walk.next()
    if (this.isOver) return
    this.#pause = done ? undefined : (value as Pause)
    this.isOver = done === true
  }

  #meet({ name }: Goal): void {
    this.goal = name
    this.#leave('canceled goal_met')
  }

  #leave(how: string): void {
    for (const state of this.states) if (state.status === 'pending' || state.status === 'delayed') state.status = how
    this.#pause = undefined
    this.isOver = true
  }

  #make(nodes: Node[], place: number): void {
    this.states.splice(place, 0, ...nodes.map(({ stepId }) => ({ stepId, status: 'pending', result: {} })))
  }

  #stateOf(stepId: string): State {
    const found = this.states.find((state) => state.stepId === stepId)
    if (!found) throw new Error(`the model has no step ${stepId}`)
    return found
  }

  #holds(condition: Condition): boolean {
    if ('flag' in condition) return this.#person.flags[condition.flag] === true
    const read = this.states.find(({ stepId }) => stepId === condition.stepId)?.result[condition.member]
    return read === condition.is
  }

  #takes({ event: name, isByKey, above }: Entry, event: PostedEvent): boolean {
    const { subscriberId, key } = this.#person
    const isAbout = isByKey
      ? event.key === key && (event.subscriberId === undefined || event.subscriberId === subscriberId)
      : event.subscriberId === subscriberId
    return event.name === name && isAbout && (above === null || event.n > above)
  }

  /** @returns whether the run is to end */
  *#steps(nodes: Node[]): Generator<Pause, boolean> {
    for (const node of nodes) {
      const early = this.#goals.find((goal) => 'condition' in goal && this.#holds(goal.condition))
      if (early) {
        this.#meet(early)
        return true
      }
      const state = this.#stateOf(node.stepId)
      switch (node.kind) {
        case 'say':
          this.said.push(node.stepId)
          break
        case 'exit':
          if (node.only && !this.#holds(node.only)) {
            state.status = 'skipped step_condition'
            continue
          }
          state.status = 'completed'
          return this.#exit()
        case 'delay':
          state.status = 'delayed'
          yield { until: this.#now + node.minutes, end: () => true }
          break
        case 'wait':
          yield* this.#wait(node, state)
          break
        case 'ask':
          yield* this.#ask(node, state)
          if (state.result.outcome !== 'nobody') break
          state.status = 'skipped nobody_to_ask'
          continue
        case 'branch': {
          const arm = node.arms.find(({ condition }) => this.#holds(condition)) ?? node.otherwise
          state.status = 'completed'
          if (!arm) continue
          this.#make(arm.steps, this.states.indexOf(state) + 1)
          if (yield* this.#steps(arm.steps)) return true
          if (arm.end) return this.#exit()
          continue
        }
      }
      state.status = 'completed'
    }
    return false
  }

  #exit(): true {
    for (const state of this.states) if (state.status === 'pending') state.status = 'skipped exited'
    return true
  }

  *#wait(node: Extract<Node, { kind: 'wait' }>, state: State): Generator<Pause, void> {
    const beganAt = this.#now
    const since = node.looksBack ? this.#beganAt : beganAt
    const take = (event: PostedEvent): boolean => {
      const matched = node.for.findIndex((entry) => this.#takes(entry, event))
      if (matched === -1 || this.heard.includes(event.id)) return false
      state.result = { outcome: 'event', matched, event: event.id }
      this.heard.push(event.id)
      return true
    }
    if (this.#events.some((event) => event.at >= since && take(event))) return
    state.status = 'delayed'
    yield {
      until: beganAt + node.minutes,
      end: () => {
        state.result = { outcome: 'timeout', matched: null, event: null }
        return true
      },
      hear: take,
    }
  }

  *#ask(node: Extract<Node, { kind: 'ask' }>, state: State): Generator<Pause, void> {
    const levels = node.chain ?? [this.#person.subscriberId]
    const deadline = this.#now + node.minutes
    const asked = new Map<string, number>()
    let level = 0
    /** Goes on to the first level at which somebody can be asked. @returns when the next is due */
    const reach = (): number => {
      while (levels[level] === stranger && level + 1 < levels.length) level += 1
      const who = levels[level] ?? stranger
      if (who !== stranger) asked.set(who, level)
      return who !== stranger && level + 1 < levels.length ? this.#now + node.patience : deadline
    }
    const next = reach()
    if (asked.size === 0) {
      state.result = { outcome: 'nobody', answer: null, level: null }
      return
    }
    state.status = 'delayed'
    const pause: Pause = {
      until: Math.min(next, deadline),
      end: (at) => {
        if (at < deadline) {
          level += 1
          pause.until = Math.min(reach(), deadline)
          return false
        }
        state.result = { outcome: 'timeout', answer: null, level: null }
        return true
      },
      answer: (by, answer) => {
        if (!asked.has(by) || (answer !== 'yes' && answer !== 'no')) return false
        state.result = { outcome: 'answered', answer, level: asked.get(by) }
        return true
      },
    }
    yield pause
  }
}
