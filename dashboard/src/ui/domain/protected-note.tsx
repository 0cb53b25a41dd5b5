// Says on pages with content why it cannot be changed here.
import { Link } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import { useIsProtected } from '../../api/auth.ts'

export function ProtectedNote() {
  const isProtected = useIsProtected()
  if (!isProtected) return null
  return (
    <p className="flex items-start gap-2 border-b bg-raised px-4 py-2.5 text-sm text-pretty sm:px-6">
      <ShieldCheck className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden />
      <span>
        This environment is protected. Make changes in another one and{' '}
        <Link to="/environments" className="underline underline-offset-2">
          ask for approval
        </Link>{' '}
        to publish them here.
      </span>
    </p>
  )
}
