// The windows of digests and throttles in a simulation: the engine's rules over maps, and what became of each window.
import { askPlace, withPlace } from '../../steps/contract/caps.ts'
import type {
  Answer,
  CloseDigest,
  FindCopies,
  FindEvents,
  FindOnDuty,
  FindPeople,
  FindTopicMembers,
  Group,
  HandDigestOn,
  HeardEvent,
  JoinDigest,
  MessageFacts,
  Need,
  PassThrottle,
  PlaceAnswer,
  StartWorkflow,
  TakePlace,
  ThrottlePass,
  UpdateSubscriber,
} from '../../steps/contract/need.ts'
import { inherit } from '../runs/canceling.ts'
import { factsOf, newMessagesOf } from '../runs/message-facts.ts'
import type { JobState, RunState } from '../runs/run-state.ts'
import {
  byAge,
  closeDigest,
  collect,
  type DigestState,
  handOn,
  heirOf,
  joinDigest,
  noDigest,
  noThrottle,
  openUntil,
  passThrottle,
  type ThrottleState,
} from '../runs/windows.ts'
import type { PlayRecord, Window } from './record.ts'
import type { Members } from './scenario.ts'

/** Windows that are open before anything is played. */
export interface OpenWindows {
  digests: Array<{ group: Group; state: DigestState }>
  throttles: Array<{ group: Group; state: ThrottleState }>
  /** Events that those digests have taken. */
  merged: Array<{ into: string; id: string; created_at: Date; payload: Members }>
  /** Places in caps. */
  places: Array<{ subscriberRowId: string; capId: string; times: Date[] }>
}

export const noWindows = (): OpenWindows => ({ digests: [], throttles: [], merged: [], places: [] })

export class Windows {
  readonly #record: PlayRecord
  readonly #now: () => Date
  readonly #digests: Map<string, DigestState>
  readonly #throttles: Map<string, ThrottleState>
  readonly #merged: OpenWindows['merged']
  /** By person and cap. */
  readonly #places: Map<string, readonly number[]>
  /** Events that were posted, oldest first. */
  readonly posted: HeardEvent[] = []
  /** The window that is open in a group. */
  readonly #open = new Map<string, Window>()
  /** What throttles said, by run and step. */
  readonly passes = new Map<string, ThrottlePass & { threshold: number }>()
  /** What caps said, by run and step. */
  readonly capped = new Map<string, PlaceAnswer>()

  constructor(record: PlayRecord, now: () => Date, { digests, throttles, merged, places }: OpenWindows) {
    this.#record = record
    this.#now = now
    this.#digests = new Map(digests.map(({ group, state }) => [keyOf(group), state]))
    this.#throttles = new Map(throttles.map(({ group, state }) => [keyOf(group), state]))
    this.#merged = merged
    this.#places = new Map(
      places.map(({ subscriberRowId, capId, times }) => [
        placesKey(subscriberRowId, capId),
        times.map((at) => at.getTime()),
      ]),
    )
  }

  /** A run that collected before anything was played. */
  resume(run: RunState, job: JobState): void {
    const found = [...this.#digests].find(([, { notification_id }]) => notification_id === run.id)
    if (!found) return
    const group = { stepRowId: job.step._id, value: String(job.digest?.digestValue ?? '') }
    const window = this.#openWindow(run, group, 'digest', job.dueAt)
    window.eventCount += this.#merged.filter(({ into }) => into === run.id).length
    this.#open.set(found[0], window)
    this.#stepAt(run, group).windowId = window.id
  }

  /** A canceled event is taken out of the digest it was merged into. */
  leave(run: RunState): void {
    for (const window of this.#windowsOf(run)) takeOut(window, run.id)
  }

  /** Who goes on with a canceled digest; without anybody, its window closes. */
  handOver({ run, job, dueAt }: { run: RunState; job: JobState; dueAt: Date | null }, now: Date): RunState | undefined {
    const [window] = this.#windowsOf(run, job)
    if (window) takeOut(window, run.id)
    const merged = this.#mergedInto(run.id, window)
    const heir = heirOf(merged)
    const [key, state] = [...this.#digests].find(([, { notification_id }]) => notification_id === run.id) ?? []
    const next = heir && { id: heir.run.id, position: heir.step.position }
    if (key !== undefined && state) this.#digests.set(key, handOn(state, next))
    if (!heir) {
      if (window) this.#close(window, 'cancel')
      if (key !== undefined) this.#open.delete(key)
      return undefined
    }
    inherit(heir.run, { from: run.id, position: heir.step.position, dueAt: dueAt ?? now }, now)
    for (const { run: other } of merged) {
      if (other === heir.run) continue
      for (const each of other.jobs) if (each.mergedInto === run.id) each.mergedInto = heir.run.id
      other.digestedInto = heir.run.id
    }
    return heir.run
  }

  /** The run that collects ends without closing its window: its subscriber is gone. */
  abandon(run: RunState): void {
    for (const [key, { notification_id }] of this.#digests) {
      if (notification_id !== run.id) continue
      const window = this.#open.get(key)
      if (window) this.#close(window, 'time')
      this.#open.delete(key)
      this.#digests.delete(key)
    }
  }

  /** The steps whose events this run's digest has taken. */
  #mergedInto(id: string, window: Window | undefined) {
    return (window?.runIds ?? []).flatMap((runId) => {
      const run = this.#record.runs.get(runId)?.run
      const steps = run?.jobs.filter(
        ({ mergedInto, status, digest }) => mergedInto === id && status === 'merged' && digest,
      )
      return run ? (steps ?? []).map((step) => ({ id: step.id, created_at: step.createdAt, run, step })) : []
    })
  }

  #windowsOf(run: RunState, of?: JobState): Window[] {
    const jobs = of ? [of] : run.jobs
    const ids = new Set(jobs.map(({ position }) => this.#record.stepOf(run, position).windowId))
    return [...ids].flatMap((id) => this.#record.windowOf(id) ?? []).filter(({ kind }) => kind === 'digest')
  }

  answer(
    run: RunState,
    need: Exclude<
      Need,
      StartWorkflow | UpdateSubscriber | HandDigestOn | FindPeople | FindCopies | FindTopicMembers | FindOnDuty
    >,
  ): Answer {
    switch (need.need) {
      case 'join digest':
        return this.#join(run, need)
      case 'close digest':
        return this.#collect(need)
      case 'pass throttle':
        return this.#pass(run, need)
      case 'take place':
        return this.#takePlace(run, need)
      case 'find schedule':
        return { schedule: run.preferences?.schedule ?? null, timezone: run.subscriber.timezone }
      case 'find events':
        return { heard: this.posted.filter((heard) => isAsked(heard, need)), isMore: false }
      case 'find messages':
        return { messages: this.#messagesOf(run, need.stepIds) }
    }
  }

  #messagesOf(run: RunState, stepIds: string[]): MessageFacts[] {
    const stored = this.#record
      .messagesOf(run)
      .filter(({ job }) => stepIds.includes(job.step.stepId))
      .map(({ row, job, at, marks }) =>
        factsOf({
          ...{ id: row.id, step_id: job.step.stepId, channel: row.channel, status: row.status, cta: row.cta },
          ...{ seen: marks.seen, read: marks.read, archived: marks.archived, archived_at: null, reports: null },
          ...{ first_seen_at: marks.firstSeenAt, last_read_at: marks.lastReadAt, delivered_at: null },
          ...{ created_at: at, updated_at: marks.changedAt ?? at },
        }),
      )
    return [...stored, ...newMessagesOf(run, stepIds, stored, this.#now())]
  }

  #join(run: RunState, need: JoinDigest): Answer {
    const key = keyOf(need.group)
    const { places, after } = joinDigest(this.#digests.get(key) ?? noDigest(), [need], this.#now())
    if (after) this.#digests.set(key, after)
    const [place] = places
    if (!place) throw new Error('A digest gave no place.')
    const about = { at: this.#record.iso(this.#now()), runId: run.id }
    if (place.place === 'main') {
      const window = this.#openWindow(run, need.group, 'digest', null)
      this.#open.set(key, window)
      this.#record.note({ ...about, kind: 'window_opened', windowId: window.id })
    }
    const window = this.#open.get(key)
    if (place.place === 'merged' && window) {
      window.runIds.push(run.id)
      window.eventCount += 1
      this.#record.note({ ...about, kind: 'window_joined', windowId: window.id })
      if (place.endsAt !== undefined) {
        this.#close(window, 'time')
        this.#open.delete(key)
      }
    }
    if (window && place.place !== 'first') this.#stepAt(run, need.group).windowId = window.id
    return place
  }

  #collect(need: CloseDigest): Answer {
    const key = keyOf(need.group)
    const state = this.#digests.get(key) ?? noDigest()
    const until = openUntil(state, need, this.#now())
    if (until) return { until }
    const after = closeDigest(state, [need])
    const main = this.#record.runs.get(need.notificationId)?.run
    const window = main && this.#record.windowOf(this.#stepAt(main, need.group).windowId)
    if (after) {
      this.#digests.set(key, after)
      this.#open.delete(key)
      if (window) this.#close(window, 'time')
    }
    const merged = [
      ...this.#mergedInto(need.notificationId, window).map(({ id, created_at, run }) => ({
        ...{ id, created_at, payload: run.event.payload },
      })),
      ...this.#merged.filter(({ into }) => into === need.notificationId),
    ].sort(byAge)
    if (need.newestFirst) merged.reverse()
    const events = collect(
      merged.map(({ id, created_at, payload }) => ({
        ...{ id, time: created_at.toISOString(), payload },
        bytes: Buffer.byteLength(JSON.stringify(payload)),
      })),
    )
    return {
      events: events.map(({ id, time, payload }) => ({ id, time, payload })),
      left: merged.length - events.length,
    }
  }

  #pass(run: RunState, need: PassThrottle): Answer {
    const key = keyOf(need.group)
    const { passes, after } = passThrottle(this.#throttles.get(key) ?? noThrottle(this.#now()), [need], this.#now())
    if (after) this.#throttles.set(key, after)
    const [pass] = passes
    if (!pass) throw new Error('A throttle gave no answer.')
    this.passes.set(`${run.id} ${need.group.stepRowId}`, { ...pass, threshold: need.threshold })
    const known = this.#open.get(key)
    const isNew =
      known?.openedAt.getTime() !== pass.startedAt.getTime() || known.endsAt?.getTime() !== pass.endsAt.getTime()
    const window = isNew || !known ? this.#openWindow(run, need.group, 'throttle', pass.endsAt) : known
    this.#open.set(key, window)
    if (window === known) window.eventCount += 1
    else window.runIds = []
    if (pass.isThrottled) window.heldBack.push(run.id)
    else window.runIds.push(run.id)
    this.#stepAt(run, need.group).windowId = window.id
    return pass
  }

  #takePlace(run: RunState, need: TakePlace): Answer {
    const answer = this.askPlace(need)
    const job = run.jobs.find(({ status }) => status === 'pending' || status === 'delayed' || status === 'running')
    if (job) this.capped.set(`${run.id} ${job.step._id}`, answer)
    if (!answer.isTaken) return answer
    for (const cap of need.caps) {
      const key = placesKey(need.subscriberRowId, cap.id)
      this.#places.set(key, withPlace(cap, this.#places.get(key) ?? [], this.#now()))
    }
    return answer
  }

  /** Whether there would be a place now. */
  askPlace({ subscriberRowId, caps }: Pick<TakePlace, 'subscriberRowId' | 'caps'>): PlaceAnswer {
    return askPlace(caps, ({ id }) => this.#places.get(placesKey(subscriberRowId, id)) ?? [], this.#now())
  }

  #openWindow(
    run: RunState,
    group: Pick<Group, 'stepRowId' | 'value'>,
    kind: Window['kind'],
    endsAt: Date | null,
  ): Window {
    const step = run.jobs.find((job) => job.step._id === group.stepRowId)?.step
    return this.#record.openWindow({
      kind,
      workflowId: run.workflow.identifier,
      stepId: step?.stepId ?? '',
      subscriberId: run.subscriber.subscriber_id,
      key: group.value === '' || group.value === 'No-Value-Provided' ? null : group.value,
      openedAt: this.#now(),
      endsAt,
      closedAt: null,
      closedBy: null,
      runIds: [run.id],
      heldBack: [],
      eventCount: 1,
    })
  }

  #close(window: Window, closedBy: 'time' | 'cancel'): void {
    Object.assign(window, { closedAt: this.#now(), closedBy })
    this.#record.note({ at: this.#record.iso(this.#now()), kind: 'window_closed', windowId: window.id })
  }

  #stepAt(run: RunState, { stepRowId }: Pick<Group, 'stepRowId'>) {
    const job = run.jobs.find(({ step }) => step._id === stepRowId)
    return this.#record.stepOf(run, job?.position ?? 0)
  }
}

const keyOf = (group: Group) => JSON.stringify(Object.values(group))
const placesKey = (subscriberRowId: string, capId: string) => `${subscriberRowId} ${capId}`

/** As the engine finds them; the step asks the rest. */
const isAsked = ({ event }: HeardEvent, { entries, since, until, subscriberId }: FindEvents): boolean =>
  event.createdAt >= since.toISOString() &&
  event.createdAt <= until.toISOString() &&
  (event.subscriberId === null || event.subscriberId === subscriberId) &&
  entries.some(
    ({ kind, name, value }) => event.name === name && (kind === 'key' ? event.key : event.subscriberId) === value,
  )

function takeOut(window: Window, runId: string): void {
  window.runIds = window.runIds.filter((id) => id !== runId)
  window.eventCount = window.runIds.length
}
