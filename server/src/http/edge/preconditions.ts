// Conditional writes (RFC 9110): the entity tag of a workflow or layout is its revision.
import type { IncomingHttpHeaders } from 'node:http'

/** In a change: the token of the impact that was looked at. */
export const impactTokenHeader = 'belfry-impact-token'

export const entityTag = (revision: string) => `"${revision}"`

/** Whether a write may go on, where this revision is stored, or nothing. */
export function isExpected(headers: IncomingHttpHeaders, revision: string | undefined): boolean {
  const match = headers['if-match']
  if (match !== undefined && !names(match, revision)) return false
  const none = headers['if-none-match']
  return none === undefined || !names(none, revision)
}

/** `*` names whatever is there. A weak tag never matches a write. */
function names(header: string, revision: string | undefined): boolean {
  if (revision === undefined) return false
  const tags = header.split(',').map((tag) => tag.trim())
  return tags.includes('*') || tags.includes(entityTag(revision))
}
