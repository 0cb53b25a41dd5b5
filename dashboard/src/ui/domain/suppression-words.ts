// The words of the suppression list.
import type { Suppression } from '../../api/suppressions.ts'

export const reasons: Record<Suppression['reason'], string> = {
  hard_bounce: 'Hard bounce',
  soft_bounces: 'Soft bounces',
  complaint: 'Complaint',
  unsubscribe: 'Unsubscribed',
  manual: 'Added by hand',
  stop: 'Answered STOP',
}

export const sources: Record<Suppression['source'], string> = {
  header: 'Mail program',
  page: 'Page',
  mailto: 'Email',
  provider: 'Provider',
  dsn: 'Bounce mail',
  feedback: 'Feedback report',
  sms: 'Text message',
  api: 'API',
  import: 'Import',
  dashboard: 'Dashboard',
}

export const channels: Record<Suppression['channel'], string> = {
  email: 'Email',
  sms: 'SMS',
  push: 'Push',
  chat: 'Chat',
}

/** What entries hold back, in short. */
export const scopes: Record<Suppression['scope']['type'], string> = {
  all: 'Everything',
  commercial: 'Commercial messages',
  workflow: 'One workflow',
  category: 'A category',
}

/** What the entry holds back. */
export function scopeText({ scope }: Suppression): string {
  switch (scope.type) {
    case 'all':
      return 'Everything'
    case 'commercial':
      return 'Commercial messages'
    case 'workflow':
      return `Workflow ${scope.workflowId ?? ''}`
    case 'category':
      return `Category ${scope.category ?? ''}${scope.except?.length ? `, except ${scope.except.join(', ')}` : ''}`
  }
}

export const addressText = ({ address }: Suppression): string => address ?? 'Erased'

export const optionsOf = <Value extends string>(words: Record<Value, string>) =>
  Object.entries<string>(words).map(([value, label]) => ({ value: value as Value, label }))
