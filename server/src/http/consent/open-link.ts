// Reads the token of a link: what it is about.
import { type Link, type LinkPurpose, readLink } from '../../db/core/link-tokens.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { fail } from '../../errors.ts'

export function openLink(secrets: Secrets, purpose: LinkPurpose, token: string, url?: string): Link {
  const link = readLink(secrets, purpose, token, url)
  if (!link) throw fail('link_unknown')
  return link
}
