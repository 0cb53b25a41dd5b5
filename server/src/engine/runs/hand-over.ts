// A digest whose run ends before its window does: one of the runs merged into it goes on with what was collected.
import { statement, type Transaction } from '../../db/core/transaction.ts'
import type { Group } from '../../steps/contract/need.ts'
import { priorities } from '../core/fair-share.ts'
import type { Memory } from '../core/memory.ts'
import { lockDigests, saveDigests } from '../core/window-statements.ts'
import { inherit } from './canceling.ts'
import { byGroup, type DigestRow } from './groups.ts'
import { lockRuns } from './load.ts'
import { storeRuns } from './store.ts'
import { handOn, heirOf } from './windows.ts'

/** The steps merged into the digests of these runs. */
const findMergedSteps = statement(
  'find_merged_steps',
  `SELECT j.merged_into, j.notification_id, j.position, j.id, j.created_at FROM jobs j
   WHERE j.environment_id = $1 AND j.merged_into = ANY ($2::text[]) AND j.status = 'merged' AND j.digest IS NOT NULL`,
)

/** The other events of a digest follow it to the run that inherits it. */
const followHeirs = statement(
  'follow_heirs',
  `WITH given AS (
     SELECT * FROM unnest($2::text[], $3::text[]) AS t (main, heir)
   ), their_runs AS (
     UPDATE notifications n SET digested_into = g.heir FROM given g
     WHERE n.environment_id = $1 AND n.digested_into = g.main AND n.id <> g.heir
       AND n.id IN (SELECT j.notification_id FROM jobs j
                    WHERE j.environment_id = $1 AND j.merged_into = g.main AND j.status = 'merged')
   )
   UPDATE jobs j SET merged_into = g.heir FROM given g
   WHERE j.environment_id = $1 AND j.merged_into = g.main AND j.notification_id <> g.heir AND j.status = 'merged'`,
)

/** A digest whose run was canceled, or has met its goal, while it collected. */
export interface LeftDigest {
  runId: string
  group: Group
  dueAt: Date
}

/**
 * Such a digest hands its events to one of the runs merged into it. The window is locked first, so that no run joins a digest
 * that is gone. The run itself is locked, so no other cancel takes an event out of it meanwhile.
 */
export async function handOver(
  transaction: Transaction,
  memory: Memory,
  environmentId: string,
  digests: LeftDigest[],
  now: Date,
): Promise<void> {
  const ids = digests.map(({ runId }) => runId)
  const windows = await transaction.run<DigestRow>(lockDigests, byGroup(digests).columns)
  const merged = await transaction.run<MergedRow>(findMergedSteps, [environmentId, ids])
  const heirs = new Map(
    digests.flatMap(({ runId, dueAt }) => {
      const heir = heirOf(merged.filter(({ merged_into }) => merged_into === runId))
      return heir ? [[runId, { id: heir.notification_id, position: heir.position, dueAt }] as const] : []
    }),
  )
  const handed = windows
    .filter(({ notification_id }) => ids.includes(notification_id ?? ''))
    .map((row) => ({ ...row, ...handOn(row, heirs.get(row.notification_id ?? '')) }))
  if (handed.length > 0) await transaction.run(saveDigests, [JSON.stringify(handed)])
  if (heirs.size === 0) return
  const keys = [...heirs.values()].map(({ id }) => ({ environmentId, id }))
  const runs = await lockRuns(transaction, memory, keys, now)
  for (const [from, { id, position, dueAt }] of heirs) {
    const run = runs.find((each) => each.id === id)
    if (run) inherit(run, { from, position, dueAt }, now)
  }
  await transaction.run(followHeirs, [environmentId, [...heirs.keys()], keys.map(({ id }) => id)])
  await storeRuns(transaction, runs, { now, priority: priorities.single })
}

interface MergedRow {
  merged_into: string
  notification_id: string
  position: number
  id: string
  created_at: Date
}
