// What becomes of a refusal on the suppression list when its person wants a workflow again. It does no I/O.

interface Refusal {
  reason: string
  scope: string
  scope_id: string
}

/** A refusal of the workflow ends; one of its category makes an exception for it; any other stays. */
export function afterWish(
  { reason, scope, scope_id: of }: Refusal,
  wanted: { workflowId: string; category: string | null },
): 'ends' | 'makes an exception' | 'stays' {
  if (reason !== 'unsubscribe') return 'stays'
  if (scope === 'workflow' && of === wanted.workflowId) return 'ends'
  return scope === 'category' && of === wanted.category ? 'makes an exception' : 'stays'
}
