// What a second person reviews before a publish: each workflow and layout that would change, with a hash of exactly that change.
// At the approval the plan is made anew, and its hashes must be the same.
import { createHash } from 'node:crypto'
import type { ReviewedResource } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'
import type { Pair } from './environment-diff.ts'
import type { NamedResource, Outcome } from './publish-plan.ts'

export const reviewed = (plan: Outcome[]): ReviewedResource[] =>
  changedIn(plan).map(({ type, identifier, name, verdict, pair }) => ({
    resourceType: type,
    resourceId: identifier,
    resourceName: name,
    action: verdict.done,
    hash: hashOf(pair),
  }))

/** In the order of `reviewed`. */
export const reviewedPairs = (plan: Outcome[]): Pair[] => changedIn(plan).map(({ pair }) => pair)

/** Exactly these are published, whatever else has changed in the source. */
export const namesOf = (resources: ReviewedResource[]): NamedResource[] =>
  resources.map(({ resourceType, resourceId }) => ({ resourceType, resourceId, rowId: undefined }))

/** Names what is not as it was reviewed: changed, gone, or new to the plan. */
export function changedSince(before: ReviewedResource[], plan: Outcome[]): string[] {
  const now = reviewed(plan)
  const keyOf = ({ resourceType, resourceId, action, hash }: ReviewedResource) =>
    `${resourceType} ${resourceId} ${action} ${hash}`
  const [keysBefore, keysNow] = [before, now].map((list) => new Set(list.map(keyOf)))
  const changed = [
    ...before.filter((one) => !keysNow?.has(keyOf(one))),
    ...now.filter((one) => !keysBefore?.has(keyOf(one))),
  ]
  // A renamed one is on both sides: it is named as it was reviewed.
  const names = new Map<string, string>()
  for (const { resourceType, resourceId, resourceName } of changed) {
    const id = `${resourceType} ${resourceId}`
    if (!names.has(id)) names.set(id, resourceName)
  }
  return [...names.values()]
}

export function refuseChanged(before: ReviewedResource[], plan: Outcome[]): void {
  const changed = changedSince(before, plan)
  if (changed.length > 0) throw fail('publish_request_outdated', { names: changed.join(', ') }, { ctx: { changed } })
}

type Changed = Outcome & { verdict: { done: ReviewedResource['action'] }; pair: Pair }

const changedIn = (plan: Outcome[]): Changed[] =>
  plan.filter((outcome): outcome is Changed => 'done' in outcome.verdict && outcome.pair !== undefined)

/** Of the differences themselves, not of who made them and when. */
function hashOf({ changes }: Pair): string {
  const contents = changes.map(({ sourceResource, targetResource, ...change }) => ({
    ...change,
    id: (sourceResource ?? targetResource)?.id,
  }))
  return createHash('sha256').update(JSON.stringify(contents, sorted)).digest('hex')
}

/** The same text for the same members in another order. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
