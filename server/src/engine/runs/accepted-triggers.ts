// Triggers that passed the checks: how they are stored together, and what became of them.
import { notePassedOver } from '../core/walk-statements.ts'
import type { Attachment } from './attachments.ts'
import { PassedOver } from './passed-over.ts'
import type { LockedEvent } from './start-runs.ts'
import { passedOverColumns } from './store.ts'
import type { TriggerRequest } from './trigger-request.ts'

type Members = Record<string, unknown>

/** Enough of an invalid recipient to recognize it. */
const longestName = 255
/** Runs that one queue job starts together. */
const recipientsPerJob = 200

/** A trigger that passed the checks, as it will be stored. */
export interface AcceptedTrigger {
  request: TriggerRequest
  revision: string
  id: string
  transactionId: string
  workflowId: string
  workflowVersion: number
  recipients: string | null
  payload: string
  attachments: Attachment[]
  createdAt: Date
  /** The same payload, not as text. */
  values: Members
  /** Whether its runs can start with it: few recipients, and no step that other runs could lock. */
  isImmediate: boolean
  /** Whether nothing but its own rows is likely to be written: no step calls or waits, and it says nothing about anybody. */
  isPlain: boolean
  /** Null: only its transaction id. */
  cancellationKey: string | null
}

/** Triggers accepted together. */
export interface Group {
  triggers: AcceptedTrigger[]
  /** The distinct environments and revisions they were judged by. */
  bases: Array<{ environmentId: string; revision: string }>
  /** Each trigger's index in `bases`, from one. */
  places: number[]
}

export function groupOf(triggers: AcceptedTrigger[]): Group {
  const known = new Map<string, number>()
  const bases: Group['bases'] = []
  const places = triggers.map(({ request: { environmentId }, revision }) => {
    const key = `${environmentId} ${revision}`
    const place = known.get(key) ?? bases.push({ environmentId, revision })
    known.set(key, place)
    return place
  })
  return { triggers, bases, places }
}

/** The outcome of a group. */
export interface TakenRow {
  /** The places whose revision is still current. */
  fresh: number[]
  /** The ids of the first triggers with their transaction ids; null means all. */
  accepted: string[] | null
  /** How many jobs were queued for them. */
  queued?: string
}

export interface Taken {
  isFresh(trigger: AcceptedTrigger): boolean
  isAccepted(trigger: AcceptedTrigger): boolean
}

export function takenOf({ triggers, places }: Group, [row]: TakenRow[]): Taken {
  const current = new Set(row?.fresh)
  const fresh = new Set(triggers.filter((_, index) => current.has(places[index] as number)).map(({ id }) => id))
  const accepted = row?.accepted && new Set(row.accepted)
  return { isFresh: ({ id }) => fresh.has(id), isAccepted: ({ id }) => accepted?.has(id) ?? true }
}

export const eventOf = (trigger: AcceptedTrigger, startedAt: Date): LockedEvent => ({
  environment_id: trigger.request.environmentId,
  id: trigger.id,
  transaction_id: trigger.transactionId,
  workflow_id: trigger.workflowId,
  workflow_version: trigger.workflowVersion,
  recipients: trigger.request.recipients,
  payload: trigger.values,
  overrides: trigger.request.overrides,
  actor: trigger.request.actor ?? null,
  tenant: trigger.request.tenant ?? null,
  context: trigger.request.context ?? null,
  started_at: startedAt,
  created_at: trigger.createdAt,
  trace: trigger.request.trace ?? null,
  cancellation_key: trigger.cancellationKey,
  started_by: null,
  revision: trigger.revision,
})

export function passedOverOf(
  { id, request, createdAt }: AcceptedTrigger,
  invalid: string[],
): { text: string; values: unknown[] } {
  const passedOver = new PassedOver()
  for (const each of invalid) passedOver.addNamed('invalid_recipient', each.slice(0, longestName).toWellFormed())
  const place = { environmentId: request.environmentId, eventId: id, now: createdAt }
  return { text: notePassedOver.text, values: passedOverColumns(passedOver, place) }
}

/** A trigger with what it gets before it is judged. */
export type GivenTrigger = Pick<AcceptedTrigger, 'id' | 'transactionId' | 'createdAt' | 'request'>

export const keyOfTrigger = ({ request, transactionId }: GivenTrigger) => `${request.environmentId} ${transactionId}`

/** The first trigger of each transaction id. */
export function firstOfEach(given: GivenTrigger[]): GivenTrigger[] {
  const seen = new Set<string>()
  return given.filter((each) => seen.size < seen.add(keyOfTrigger(each)).size)
}

/** Groups triggers into queue jobs. */
export function jobsOf(
  triggers: AcceptedTrigger[],
  priorityOf: (environmentId: string, count: number) => number,
): Array<{ events: Array<[environmentId: string, id: string]>; priority: number }> {
  const open = new Map<number, { events: Array<[string, string]>; priority: number; size: number }>()
  const jobs: Array<{ events: Array<[string, string]>; priority: number }> = []
  for (const { request, id } of triggers) {
    const recipients = request.recipients?.length ?? 1
    const priority = priorityOf(request.environmentId, recipients)
    let job = open.get(priority)
    if (!job || job.size + recipients > recipientsPerJob) {
      job = { events: [], priority, size: 0 }
      jobs.push(job)
      open.set(priority, job)
    }
    job.events.push([request.environmentId, id])
    job.size += recipients
  }
  return jobs
}
