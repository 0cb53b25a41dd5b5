// The send guards of an environment. Without any, nothing is capped, and what falls outside a schedule is skipped.
import type { Guards } from '../core/tables.ts'

export const guardsOf = (stored: Partial<Guards> | null | undefined): Guards => ({
  quietHours: stored?.quietHours ?? 'skip',
  caps: stored?.caps ?? [],
})
