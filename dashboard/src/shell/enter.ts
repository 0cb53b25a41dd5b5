import { useRouter } from '@tanstack/react-router'
import { useCallback } from 'react'
import { auth, type Session } from '../api/auth.ts'
import { cache } from '../api/cache.ts'

/** After any kind of sign-in: clears the cache and continues. */
export function useEnter(): (session: Session, to?: string) => void {
  const router = useRouter()
  return useCallback(
    (session, to = '/') => {
      cache.clear()
      cache.setQueryData(auth.session().queryKey, session)
      router.history.push(to)
    },
    [router],
  )
}
