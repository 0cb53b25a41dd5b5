// What has become of a message, for steps that wait for it. Nothing here does I/O; needs.ts reads rows, a simulation has the
// messages in memory.
import type { Happening, MessageFacts } from '../../steps/contract/need.ts'
import type { RunState } from './run-state.ts'

/** As much of a message as it takes. */
export interface FactRow {
  id: string
  step_id: string
  channel: string
  status: string
  created_at: Date
  updated_at: Date
  seen: boolean
  read: boolean
  archived: boolean
  first_seen_at: Date | null
  last_read_at: Date | null
  archived_at: Date | null
  cta: unknown
  delivered_at: Date[] | null
  /** The first report of each kind, as its provider dated it. */
  reports: Partial<Record<string, string>> | null
}

export function factsOf(row: FactRow): MessageFacts {
  const reported = (name: string) => (row.reports?.[name] === undefined ? null : new Date(row.reports[name]))
  const changedAt = row.updated_at
  // An in-app message is delivered once it exists.
  const delivered = row.channel === 'in_app' && row.status === 'sent' ? row.created_at : null
  const times: Record<Happening, Date | null> = {
    seen: row.seen ? (row.first_seen_at ?? changedAt) : null,
    read: row.read ? (row.last_read_at ?? changedAt) : null,
    archived: row.archived ? (row.archived_at ?? changedAt) : null,
    acted: isActed(row.cta) ? changedAt : null,
    delivered: delivered ?? reported('delivered') ?? row.delivered_at?.[0] ?? null,
    opened: reported('opened'),
    clicked: reported('clicked'),
    bounced: reported('bounced'),
  }
  const facts: MessageFacts['facts'] = {}
  for (const [name, at] of Object.entries(times)) if (at) facts[name as Happening] = at
  return { id: row.id, stepId: row.step_id, channel: row.channel, facts }
}

const isActed = (cta: unknown): boolean =>
  (cta as { action?: { status?: unknown } | null } | null)?.action?.status === 'done'

const newFacts = (
  { id, channel, status }: Pick<FactRow, 'id' | 'channel' | 'status'>,
  stepId: string,
  now: Date,
): MessageFacts => ({
  ...{ id, stepId, channel },
  facts: channel === 'in_app' && status === 'sent' ? { delivered: now } : {},
})

/** Messages that are about to be stored. */
export const newMessagesOf = (run: RunState, stepIds: string[], known: MessageFacts[], now: Date): MessageFacts[] =>
  run.effects.messages
    .filter(({ job, id }) => stepIds.includes(job.step.stepId) && known.every((each) => each.id !== id))
    .map(({ job, ...message }) => newFacts(message, job.step.stepId, now))
