// The history as people read it: saves of one person in one sitting are one entry.
import type { VersionRow } from '../../db/queries/versions.ts'

const longestPauseMs = 10 * 60_000

/**
 * The given versions are newest first, and so are the entries: each is the last of saves in the dashboard by one person, none
 * later than ten minutes after the one before. What was named, published, restored or pushed stands alone.
 */
export function foldSaves(versions: VersionRow[]): VersionRow[] {
  const entries: VersionRow[] = []
  let older: VersionRow | undefined
  for (const version of versions) {
    const entry = entries.at(-1)
    if (entry && older && isOneSitting(older, version)) entry.saves += version.saves
    else entries.push({ ...version })
    older = version
  }
  return entries
}

function isOneSitting(later: VersionRow, earlier: VersionRow): boolean {
  const areSaves = [later, earlier].every(({ source, author }) => source?.kind === 'dashboard' && author?.id !== null)
  return (
    areSaves &&
    later.author?.id === earlier.author?.id &&
    later.message === null &&
    earlier.message === null &&
    earlier.published_at === null &&
    later.created_at.getTime() - earlier.created_at.getTime() <= longestPauseMs
  )
}
