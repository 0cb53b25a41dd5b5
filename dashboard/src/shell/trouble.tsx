// What stands in for a page that is not there, or that broke.
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { ApiError } from '../api/client.ts'
import { Button, ButtonLink } from '../ui/base/button.tsx'
import { EmptyState, ErrorState, SkeletonText } from '../ui/base/states.tsx'

export function NotFound() {
  return (
    <EmptyState
      icon={<Compass />}
      title="There is no such page"
      isPage
      className="py-32"
      action={
        <ButtonLink to="/" variant="primary">
          Go home
        </ButtonLink>
      }
    >
      The address may be mistyped, or what it led to has been deleted.
    </EmptyState>
  )
}

/** A page that could not be loaded (after an update, its old file is gone) or that has a bug. The frame around it stays. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof ApiError) return <ErrorState error={error} onRetry={retry} className="py-32" />
  const isOutdated = /dynamically imported module|module script|preload/i.test(message)
  return (
    <EmptyState
      title={isOutdated ? 'Belfry was updated' : 'This page broke'}
      isPage
      className="py-32"
      action={
        <>
          <Button variant="primary" onClick={() => window.location.reload()}>
            Reload
          </Button>
          {!isOutdated && <Button onClick={retry}>Try again</Button>}
        </>
      }
    >
      {isOutdated ? 'Reload to get the new version.' : message}
    </EmptyState>
  )
}

export const PagePending = () => (
  <div className="px-4 py-6 sm:px-6">
    <SkeletonText lines={5} />
  </div>
)
