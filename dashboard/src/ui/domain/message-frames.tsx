// Messages as recipients see them: an inbox row, a mail client, a chat bubble, a lock screen.
import { Bell } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { cn } from '../base/class-names.ts'

interface InAppFrameProps {
  subject?: ReactNode
  body: ReactNode
  avatar?: string | null | undefined
  primary?: string | undefined
  secondary?: string | undefined
  when?: ReactNode
  isRead?: boolean
}

export function InAppFrame({
  subject,
  body,
  avatar,
  primary,
  secondary,
  when = 'now',
  isRead = false,
}: InAppFrameProps) {
  return (
    <article className="flex gap-3 rounded-surface border bg-page p-4 text-left">
      {avatar ? (
        <img src={avatar} alt="" className="size-8 shrink-0 rounded-full object-cover" />
      ) : (
        <span aria-hidden className="grid size-8 shrink-0 place-items-center rounded-full bg-accent/15 text-accent">
          <Bell className="size-4" />
        </span>
      )}
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          {subject && (
            <h4 className="min-w-0 text-base font-semibold break-words" dir="auto">
              {subject}
            </h4>
          )}
          <span className="ml-auto shrink-0 text-xs text-muted">{when}</span>
          {!isRead && <span role="img" aria-label="unread" className="size-2 shrink-0 rounded-full bg-accent" />}
        </div>
        <p className="mt-0.5 text-base break-words whitespace-pre-wrap text-muted" dir="auto">
          {body}
        </p>
        {(primary || secondary) && (
          <div className="mt-3 flex flex-wrap gap-2">
            {primary && (
              <span className="inline-flex h-7 items-center rounded-control bg-accent px-2.5 text-xs font-medium text-on-accent">
                {primary}
              </span>
            )}
            {secondary && (
              <span className="inline-flex h-7 items-center rounded-control border border-line-strong px-2.5 text-xs font-medium">
                {secondary}
              </span>
            )}
          </div>
        )}
      </div>
    </article>
  )
}

interface EmailFrameProps {
  from?: ReactNode
  to?: ReactNode
  subject: ReactNode
  when?: ReactNode
  html: string
  /** As on a phone, or on a small one of 320 pixels. */
  narrow?: boolean | 'phone' | 'small'
  isDark?: boolean
  className?: string
}

export function EmailFrame(props: EmailFrameProps) {
  const { from, to, subject, when, html, narrow = false, isDark = false, className } = props
  return (
    <article
      className={cn(
        'overflow-hidden rounded-surface border bg-page text-left',
        narrow && 'mx-auto w-full',
        narrow && (narrow === 'small' ? 'max-w-80' : 'max-w-94'),
        className,
      )}
    >
      <header className="border-b px-4 py-3">
        <h4 className="text-lg leading-6 font-semibold break-words" dir="auto">
          {subject}
        </h4>
        <div className="mt-1 flex flex-wrap gap-x-4 text-xs text-muted">
          {from && <span>From {from}</span>}
          {to && <span>To {to}</span>}
          {when && <span className="ml-auto">{when}</span>}
        </div>
      </header>
      <EmailBody html={html} title={typeof subject === 'string' ? subject : 'Email'} isDark={isDark} />
    </article>
  )
}

const light = ':root{color-scheme:light}'
/** An email with styles of its own for dark clients gets them; of all others most clients invert the colours, not the pictures. */
const dark = (html: string) =>
  /prefers-color-scheme/i.test(html)
    ? ':root{color-scheme:dark}'
    : `${light}html{background:#fff;filter:invert(1) hue-rotate(180deg)}img,video{filter:invert(1) hue-rotate(180deg)}`

/**
 * Email HTML in a sandboxed frame without scripts or our styles, as high as its content. Emails are designed for a white
 * background, so it stays white in the dark theme.
 * @param isDark as a mail client in dark mode shows it
 */
export function EmailBody({ html, title, isDark = false }: { html: string; title: string; isDark?: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, setHeight] = useState(160)
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const measure = () => {
      const needed = Math.min(2_000, element.contentDocument?.documentElement?.scrollHeight ?? 160)
      // Zoom loses a pixel in rounding; following it would let the frame grow forever.
      setHeight((before) => (Math.abs(before - needed) > 2 ? needed : before))
    }
    element.addEventListener('load', measure)
    const resizing = new ResizeObserver(measure)
    resizing.observe(element)
    return () => {
      element.removeEventListener('load', measure)
      resizing.disconnect()
    }
  }, [])
  return (
    <iframe
      ref={frame}
      title={title}
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      srcDoc={`<base target="_blank"><style>${isDark ? dark(html) : light}body{margin:16px}</style>${html}`}
      className={cn('block w-full', isDark ? 'bg-[#000]' : 'bg-[#fff]')}
      style={{ height, colorScheme: isDark ? 'dark' : 'light' }}
    />
  )
}

const Phone = ({ children, className }: { children: ReactNode; className?: string }) => (
  <div className={cn('rounded-surface border bg-sunken p-4 text-left', className)}>{children}</div>
)

export function SmsFrame({ from, body, when }: { from?: ReactNode; body: ReactNode; when?: ReactNode }) {
  return (
    <Phone>
      {(from || when) && (
        <div className="mb-2 text-center text-xs text-muted">
          {from} {when}
        </div>
      )}
      <p
        dir="auto"
        className="w-fit max-w-[85%] rounded-[18px] rounded-bl-sm border bg-page px-3.5 py-2 text-base break-words whitespace-pre-wrap"
      >
        {body}
      </p>
    </Phone>
  )
}

interface ChatFrameProps {
  author?: string
  body: ReactNode
  when?: ReactNode
}

export function ChatFrame({ author = 'Belfry', body, when = 'now' }: ChatFrameProps) {
  return (
    <div className="flex gap-3 rounded-surface border bg-page p-4 text-left">
      <span
        aria-hidden
        className="grid size-9 shrink-0 place-items-center rounded-control bg-accent/15 font-semibold text-accent"
      >
        {[...author][0]}
      </span>
      <div className="min-w-0">
        <div className="flex items-baseline gap-2">
          <span className="font-semibold">{author}</span>
          <span className="rounded-sm bg-sunken px-1 text-2xs text-muted">APP</span>
          <span className="text-xs text-muted">{when}</span>
        </div>
        <p dir="auto" className="text-base break-words whitespace-pre-wrap">
          {body}
        </p>
      </div>
    </div>
  )
}

export function PushFrame({ subject, body, when = 'now' }: { subject?: ReactNode; body: ReactNode; when?: ReactNode }) {
  return (
    <Phone className="bg-[linear-gradient(160deg,color-mix(in_oklab,var(--accent)_18%,var(--sunken)),var(--sunken))]">
      <div className="flex gap-3 rounded-[14px] bg-page/90 p-3 shadow-float">
        <span aria-hidden className="size-9 shrink-0 rounded-surface bg-accent" />
        <div className="min-w-0 flex-1">
          <div className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 truncate font-semibold" dir="auto">
              {subject}
            </span>
            <span className="text-xs text-muted">{when}</span>
          </div>
          <p dir="auto" className="line-clamp-4 text-base break-words whitespace-pre-wrap">
            {body}
          </p>
        </div>
      </div>
    </Phone>
  )
}
