// The page behind a link with a token. It looks the token up first, to show what the link is for or that it has expired.
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { auth } from '../../api/auth.ts'
import type { Answer } from '../../api/client.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { ButtonLink } from '../../ui/base/button.tsx'
import { SkeletonText } from '../../ui/base/states.tsx'

export type LinkDetails = Answer<'POST /v1/auth/links/look-up'>

interface LinkPageProps {
  kind: LinkDetails['kind']
  children: (link: LinkDetails, token: string) => ReactNode
}

export function LinkPage({ kind, children }: LinkPageProps) {
  // Browsers do not send the part after the # to a server, so the token is in no log.
  const token = useLocation({ select: ({ hash }) => hash })
  const query = useQuery({ ...auth.link(token), enabled: token !== '' })
  if (query.data?.kind === kind) return children(query.data, token)
  if (query.isLoading)
    return (
      <BarePage title="One moment…">
        <SkeletonText lines={4} />
      </BarePage>
    )
  return (
    <BarePage title="This link does not work">
      <p className="mb-5 text-base text-pretty text-muted">
        {query.error?.message ?? 'Part of the link is missing. Copy the whole link.'}
      </p>
      <ButtonLink to="/sign-in" search={{}}>
        Go to sign in
      </ButtonLink>
    </BarePage>
  )
}
