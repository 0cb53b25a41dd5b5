import { useQuery } from '@tanstack/react-query'
import { Navigate, useRouter } from '@tanstack/react-router'
import { runs } from '../../api/runs.ts'
import { ErrorState } from '../../ui/base/states.tsx'

/** Opens the guided start until something has been sent, then the activity. */
export function Page() {
  const router = useRouter()
  const { data, error, refetch } = useQuery(runs.list({ limit: 1 }))
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} className="py-32" />
  // A link that was followed meanwhile counts: this page stays until that one has loaded.
  if (!data || router.latestLocation.pathname !== '/') return null
  const isEmpty = data.data.length === 0
  return <Navigate to={(isEmpty ? '/start' : '/activity') as '/start'} replace />
}
