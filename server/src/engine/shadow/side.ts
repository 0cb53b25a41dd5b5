// What one side made of a trigger, in a form that both sides have: runs by subscriber, their steps, the messages of each.
import { shownAddress } from '../../providers/masking.ts'

export type Status = 'completed' | 'failed' | 'skipped' | 'merged' | 'waiting'

export interface SeenMessage {
  channel: string
  /** Email addresses, phone numbers, device tokens, or the origins of chat addresses; none for the inbox. */
  addresses: string[]
  /** By the name of the field; undefined where this side does not keep it. */
  content: Record<string, string | undefined>
  at: Date
}

export interface SeenStep {
  stepId: string
  type: string
  status: Status
  messages: SeenMessage[]
}

export interface SeenRun {
  subscriberId: string
  startedAt: Date
  steps: SeenStep[]
}

export interface Side {
  runs: Map<string, SeenRun>
  /** False if there are more runs than are compared. */
  isWhole: boolean
  /** Whether nothing more will happen. */
  hasEnded: boolean
}

/** Of one trigger; of a larger one, the newest. */
export const mostRuns = 10_000

/** A step that a condition or a preference skips is canceled in older services. */
const statuses: Record<string, Status> = {
  completed: 'completed',
  failed: 'failed',
  skipped: 'skipped',
  canceled: 'skipped',
  merged: 'merged',
}

export const statusOf = (word: string): Status => statuses[word] ?? 'waiting'

export const isWaiting = ({ steps }: SeenRun): boolean => steps.some(({ status }) => status === 'waiting')

export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The inbox keeps what it shows, though that may be empty; on other channels an empty text was not kept. */
export function contentIn(channel: string, value: unknown): string | undefined {
  const text = typeof value === 'string' ? textIn(value) : orderedJson(value)
  return text ?? (channel === 'in_app' ? '' : undefined)
}

export function groupedBy<Item>(items: Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const known = groups.get(keyOf(item))
    if (known) known.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/** Where a message went, in order. Of a chat's address the path is a secret. */
export function addressesOf(
  channel: string,
  email: unknown,
  phone: unknown,
  deviceTokens: unknown,
  webhookUrl: unknown,
): string[] {
  const chat = textIn(webhookUrl)
  const given: unknown[] =
    {
      ...{ email: [email], sms: [phone], push: Array.isArray(deviceTokens) ? (deviceTokens as unknown[]) : [] },
      chat: [chat && shownAddress(chat), phone],
    }[channel] ?? []
  return given.flatMap((each) => textIn(each) ?? []).sort()
}

/** The link and buttons of an inbox message, without what was pressed. */
export function buttonsIn(cta: unknown): unknown {
  const { data, action } = (cta ?? {}) as { data?: { url?: unknown } | null; action?: { buttons?: unknown } | null }
  return { url: data?.url ?? null, buttons: action?.buttons ?? null }
}

/** JSON with its members in order, so that equal values have equal texts. Empty ones count as none. */
export function orderedJson(value: unknown): string | undefined {
  const ordered = inOrder(value)
  return ordered === undefined ? undefined : JSON.stringify(ordered)
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((each) => inOrder(each) ?? null)
  if (value === null || value === '') return undefined
  if (typeof value !== 'object') return value
  const members = Object.entries(value as object)
    .map(([name, inner]) => [name, inOrder(inner)] as const)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return members.length === 0 ? undefined : Object.fromEntries(members)
}
