// Which entry of the suppression list holds a message back. It does no I/O.
import type { SuppressionReason, SuppressionRow } from '../../db/queries/suppressions.ts'
import type { HeldBack, Sender, SuppressionScope } from '../../steps/contract/suppression.ts'

type Entry = Pick<SuppressionRow, 'reason' | 'scope' | 'scope_id' | 'exceptions'>

/** Nothing gets through to these: the address is dead, or each further message costs the sender's reputation. */
const absolute: ReadonlySet<string> = new Set<SuppressionReason>(['hard_bounce', 'complaint'])
/** Of several entries the first of these decides; among equals, the wider scope. */
const reasons: readonly string[] = ['complaint', 'hard_bounce', 'stop', 'unsubscribe', 'manual', 'soft_bounces']
const scopes: readonly string[] = ['all', 'commercial', 'category', 'workflow']

export type Asking = Omit<Sender, 'environmentId' | 'workflowId'> & { workflowId: string | undefined }

export function holdsBack({ reason, scope, scope_id: of, exceptions }: Entry, asking: Asking): boolean {
  if (absolute.has(reason)) return true
  if (asking.isCritical) return false
  const { workflowId, category } = asking
  const isCommercial = asking.messageClass === 'commercial'
  switch (scope) {
    case 'all':
      return true
    case 'commercial':
      return isCommercial
    case 'workflow':
      // Named outright, so its class does not matter.
      return of === workflowId
    case 'category':
      return isCommercial && of === category && !exceptions.includes(workflowId ?? '')
    default:
      return false
  }
}

/** The entry that decides; undefined if none holds it back. */
export function decidingEntry<E extends Entry & Pick<SuppressionRow, 'id'>>(
  entries: readonly E[],
  asking: Asking,
): E | undefined {
  const rank = ({ reason, scope }: Entry) => reasons.indexOf(reason) * scopes.length + scopes.indexOf(scope)
  return entries
    .filter((entry) => holdsBack(entry, asking))
    .sort((one, other) => rank(one) - rank(other) || (one.id < other.id ? -1 : 1))[0]
}

/** The scope as callers see it. */
export function scopeOf({
  scope,
  scope_id: of,
  exceptions,
}: Pick<Entry, 'scope' | 'scope_id' | 'exceptions'>): SuppressionScope {
  if (scope === 'workflow') return { type: scope, workflowId: of }
  if (scope === 'category') return { type: scope, category: of, except: exceptions }
  return { type: scope === 'commercial' ? scope : 'all' }
}

type Found = Entry & Pick<SuppressionRow, 'id'> & { created_at: Date | string }

/** The address, if one of the entries about it holds it back. */
export function heldBackBy(address: string, entries: readonly Found[], sender: Sender): HeldBack[] {
  const entry = decidingEntry(entries, sender)
  if (!entry) return []
  const { id, reason, created_at: since } = entry
  return [{ address, suppressionId: id, reason, scope: scopeOf(entry), since: new Date(since) }]
}
