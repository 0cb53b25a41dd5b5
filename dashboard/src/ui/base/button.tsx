import { Link, type LinkComponentProps } from '@tanstack/react-router'
import { LoaderCircle } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { cn } from './class-names.ts'
import { Tooltip } from './tooltip.tsx'

const variants = {
  primary: 'bg-accent text-on-accent hover:brightness-110 active:brightness-95',
  secondary: 'border border-line-strong bg-page text-ink hover:bg-hover',
  ghost: 'text-muted hover:bg-hover hover:text-ink',
  danger: 'bg-bad text-page hover:brightness-110',
}

const sizes = {
  md: 'h-8 px-3 text-sm pointer-coarse:h-10',
  sm: 'h-7 px-2 text-xs pointer-coarse:h-9',
  lg: 'h-10 px-4 text-base',
  icon: 'size-8 pointer-coarse:size-10',
  'icon-sm': 'size-6 pointer-coarse:size-9',
}

interface Look {
  variant?: keyof typeof variants
  size?: keyof typeof sizes
}

export const buttonClass = ({ variant = 'secondary', size = 'md' }: Look = {}) =>
  cn(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-control font-medium whitespace-nowrap transition-[background,filter,color] duration-120 select-none',
    'disabled:pointer-events-none disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0',
    variants[variant],
    sizes[size],
  )

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'title'>, Look {
  /** Shows a spinner and ignores clicks. */
  pending?: boolean
  /** A tooltip. Required for icon buttons, where it is also the accessible name. */
  hint?: string
  /** Shown after the hint; the page handles it with useShortcut. */
  shortcut?: string
  icon?: ReactNode
}

export function Button(props: ButtonProps) {
  const { variant, size, pending = false, hint, shortcut, icon, className, children, disabled, ...rest } = props
  const isIconOnly = size === 'icon' || size === 'icon-sm'
  const button = (
    <button
      type="button"
      {...(isIconOnly && hint ? { 'aria-label': hint } : {})}
      {...rest}
      disabled={disabled || pending}
      aria-busy={pending || undefined}
      className={cn(
        buttonClass({ ...(variant ? { variant } : {}), ...(size ? { size } : {}) }),
        // Classes that tailwind-merge does not know: a pending button keeps its width.
        className,
      )}
    >
      {pending ? <LoaderCircle className="animate-spin" aria-hidden /> : icon}
      {isIconOnly && pending ? undefined : children}
    </button>
  )
  if (!hint && !shortcut) return button
  return (
    <Tooltip text={hint} shortcut={shortcut}>
      {button}
    </Tooltip>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  variant,
  size,
  icon,
  className,
  children,
  ...rest
}: LinkComponentProps & Look & { icon?: ReactNode }) {
  return (
    <Link
      {...rest}
      className={cn(buttonClass({ ...(variant ? { variant } : {}), ...(size ? { size } : {}) }), className as string)}
    >
      {icon}
      {children as ReactNode}
    </Link>
  )
}
