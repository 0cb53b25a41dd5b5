import type { PublishRequest } from '../../api/approvals.ts'
import type { Tone } from '../../ui/base/status.tsx'

export const statuses: Record<PublishRequest['status'], { word: string; tone: Tone }> = {
  pending: { word: 'Waiting', tone: 'warn' },
  approved: { word: 'Published', tone: 'good' },
  declined: { word: 'Declined', tone: 'bad' },
  withdrawn: { word: 'Withdrawn', tone: 'neutral' },
  expired: { word: 'Expired', tone: 'neutral' },
}

/** Such as `2 new, 1 changed`. */
export function countOf(resources: PublishRequest['resources']): string {
  const words = { created: 'new', updated: 'changed', deleted: 'deleted' } as const
  return (['created', 'updated', 'deleted'] as const)
    .map((action) => [resources.filter((one) => one.action === action).length, words[action]] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ')
}
