// Which workflows of the target a publish touches, also those that only use a layout it changes; and the tokens that stand for
// exactly this publish onto exactly these versions.
import { createHash } from 'node:crypto'
import type { WorkflowRow } from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { layoutsUsedBy } from './environment-diff.ts'
import type { Contents } from './publish.ts'
import { isDone, type Outcome } from './publish-plan.ts'
import { reviewed } from './publish-review.ts'

export interface Affected {
  workflowId: string
  /** As the target has it; undefined for a new one. */
  before: WorkflowRow | undefined
  isDeleted: boolean
  token: string
}

/** By identifier. */
export function affectedBy(plan: Outcome[], { target }: Contents): Affected[] {
  const changed = reviewed(plan)
  const layouts = changed.filter(({ resourceType }) => resourceType === 'layout')
  const layoutsOf = (workflow: WorkflowRow | undefined) =>
    layouts.filter(({ resourceId }) => workflow && isUser(workflow, resourceId, target))
  const own = changed.filter(({ resourceType }) => resourceType === 'workflow')
  const others = target.workflows.filter(
    (row) => layoutsOf(row).length > 0 && !own.some(({ resourceId }) => resourceId === row.identifier),
  )
  const names = [...own.map(({ resourceId }) => resourceId), ...others.map(({ identifier }) => identifier)]
  return names.sort().map((workflowId) => {
    const before = target.workflows.find(({ identifier }) => identifier === workflowId)
    const hashes = [...own.filter(({ resourceId }) => resourceId === workflowId), ...layoutsOf(before)].map(
      ({ resourceId, action, hash }) => [resourceId, action, hash],
    )
    const isDeleted = plan.some(
      ({ type, identifier, verdict }) => type === 'workflow' && identifier === workflowId && isDone(verdict, 'deleted'),
    )
    return { workflowId, before, isDeleted, token: hashOf([before?.id, before?.version, hashes]) }
  })
}

/** A step that names no layout uses the default. */
function isUser(workflow: WorkflowRow, identifier: string, { layouts }: Contents['target']): boolean {
  const layout = layouts.find((each) => each.identifier === identifier)
  if (!layout) return false
  if (layoutsUsedBy(workflow, [layout]).length > 0) return true
  return (
    layout.is_default &&
    workflow.steps.some(
      ({ type, controlValues }) =>
        stepKinds[type as keyof typeof stepKinds]?.usesLayout && controlValues?.layoutId === undefined,
    )
  )
}

/** Stands for the whole publish. */
export const publishToken = (plan: Outcome[], contents: Contents, targetId: string): string =>
  hashOf([
    targetId,
    affectedBy(plan, contents).map(({ token }) => token),
    reviewed(plan).map(({ resourceType, resourceId, action, hash }) => [resourceType, resourceId, action, hash]),
  ])

/** Takes the token of the whole publish, or those of all workflows that it touches, with commas between them. */
export function refuseUnseenPublish(given: string, plan: Outcome[], contents: Contents, targetId: string): void {
  if (given === publishToken(plan, contents, targetId)) return
  const [seen, now] = [
    given.split(',').map((each) => each.trim()),
    affectedBy(plan, contents).map(({ token }) => token),
  ]
  if (String(seen.sort()) !== String(now.sort())) throw fail('impact_stale')
}

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')
