// What a check of a domain says.

export const checkIds = ['spf', 'dkim', 'dmarc', 'mx', 'ptr', 'tls', 'bimi', 'one_click'] as const
export type CheckId = (typeof checkIds)[number]
/** From good to bad. */
export const checkStatuses = ['skip', 'pass', 'warn', 'fail'] as const
export type CheckStatus = (typeof checkStatuses)[number]

/** A record that would make it better. */
export interface Publish {
  type: 'TXT' | 'MX'
  name: string
  value: string
}

export interface Verdict {
  status: CheckStatus
  summary: string
  records?: string[]
  details?: Record<string, unknown>
  publish?: Publish | undefined
}

export interface Check extends Verdict {
  id: CheckId
  records: string[]
  details: Record<string, unknown>
}
