// Shown instead of a page that does not exist or crashed.
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { ApiError } from '../api/client.ts'
import { Button, ButtonLink } from '../ui/base/button.tsx'
import { EmptyState, ErrorState, SkeletonText } from '../ui/base/states.tsx'

export function NotFound() {
  return (
    <EmptyState
      icon={<Compass />}
      title="Page not found"
      isPage
      className="py-32"
      action={
        <ButtonLink to="/" variant="primary">
          Go home
        </ButtonLink>
      }
    >
      Check the address, or the item may have been deleted.
    </EmptyState>
  )
}

/** A page that could not be loaded (an update removed its old file) or that crashed. The frame around it stays. */
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
      title={isOutdated ? 'Belfry was updated' : 'This page crashed'}
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
