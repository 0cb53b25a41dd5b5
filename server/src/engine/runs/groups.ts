// Digests and throttles by group, as rows have them.
import type { Group } from '../../steps/contract/need.ts'
import type { DigestState } from './windows.ts'

export interface GroupRow {
  environment_id: string
  workflow_id: string
  step_row_id: string
  subscriber_row_id: string
  value: string
}

const keyOf = (group: Group) =>
  JSON.stringify([group.environmentId, group.workflowId, group.stepRowId, group.subscriberRowId, group.value])
export const rowKey = (row: GroupRow) =>
  JSON.stringify([row.environment_id, row.workflow_id, row.step_row_id, row.subscriber_row_id, row.value])

/** Needs by group, in their order, and the groups as columns. */
export function byGroup<T extends { group: Group }>(needs: T[]): { groups: Map<string, T[]>; columns: string[][] } {
  const groups = new Map<string, T[]>()
  for (const need of needs) {
    const key = keyOf(need.group)
    const known = groups.get(key)
    if (known) known.push(need)
    else groups.set(key, [need])
  }
  const firsts = [...groups.values()].flatMap(([first]) => (first ? [first.group] : []))
  const columns = [
    firsts.map((group) => group.environmentId),
    firsts.map((group) => group.workflowId),
    firsts.map((group) => group.stepRowId),
    firsts.map((group) => group.subscriberRowId),
    firsts.map((group) => group.value),
  ]
  return { groups, columns }
}

export type DigestRow = GroupRow & DigestState

export const groupRowOf = ({
  environment_id,
  workflow_id,
  step_row_id,
  subscriber_row_id,
  value,
}: GroupRow): GroupRow => ({
  environment_id,
  workflow_id,
  step_row_id,
  subscriber_row_id,
  value,
})
