import type { PublishRequest } from '../../api/approvals.ts'
import type { Tone } from '../../ui/base/status.tsx'

export const statuses: Record<PublishRequest['status'], { word: string; tone: Tone }> = {
  pending: { word: 'Waiting', tone: 'warn' },
  approved: { word: 'Published', tone: 'good' },
  declined: { word: 'Declined', tone: 'bad' },
  withdrawn: { word: 'Withdrawn', tone: 'neutral' },
  expired: { word: 'Expired', tone: 'neutral' },
}

/** Above the differences. */
export const headings: Record<PublishRequest['status'], string> = {
  pending: 'What will be published',
  approved: 'What was published',
  declined: 'What was asked for',
  withdrawn: 'What was asked for',
  expired: 'What was asked for',
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
