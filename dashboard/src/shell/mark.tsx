import { cn } from '../ui/base/class-names.ts'

/** The bell. */
export const Mark = ({ className }: { className?: string }) => (
  <svg viewBox="0 0 32 32" aria-hidden className={cn('size-7 shrink-0', className)}>
    <rect width="32" height="32" rx="8" fill="#b45309" />
    <path
      d="M16 6.5c-3.9 0-6.6 2.9-6.6 6.9 0 4.6-1.4 6-2.3 7.1-.5.6-.1 1.6.7 1.6h16.4c.8 0 1.2-1 .7-1.6-.9-1.1-2.3-2.5-2.3-7.1 0-4-2.7-6.9-6.6-6.9Z"
      fill="#fff"
    />
    <path d="M13.2 23.8a2.9 2.9 0 0 0 5.6 0Z" fill="#fde68a" />
  </svg>
)
