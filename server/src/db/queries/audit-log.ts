// Writes the audit log: who did what, to what, and from where.
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'

export const actorTypes = ['person', 'api-key', 'system'] as const

export interface Actor {
  type: (typeof actorTypes)[number]
  id: string | null
  name: string
  email: string | null
}

export interface Act {
  organizationId: string
  actor: Actor
  /** `<resource>.<action>` */
  action: string
  target?: { type?: string; id?: string | null; name?: string | null }
  environmentId?: string
  address?: string
  details?: Record<string, unknown>
}

export async function recordAct(db: Db | Tx, act: Act, now: Date): Promise<void> {
  const { actor, target = {} } = act
  await db
    .insertInto('audit_log')
    .values({
      id: newId(now),
      organization_id: act.organizationId,
      action: act.action,
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      actor_email: actor.email,
      target_type: target.type ?? act.action.split('.', 1)[0] ?? '',
      target_id: target.id ?? null,
      target_name: target.name ?? null,
      acted_in: act.environmentId ?? null,
      address: act.address ?? null,
      details: JSON.stringify(act.details ?? {}),
      created_at: now,
    })
    .execute()
}
