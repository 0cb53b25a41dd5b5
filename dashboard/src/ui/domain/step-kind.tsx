// One icon and one hue for each channel and kind of step, the same in lists, on the canvas, in timelines and in charts.
import {
  AlarmClock,
  Bell,
  Braces,
  CircleHelp,
  Gauge,
  Globe,
  Hourglass,
  Layers,
  type LucideIcon,
  Mail,
  MessageSquareText,
  MessagesSquare,
  OctagonX,
  Rocket,
  Smartphone,
  Split,
  UserPen,
  Zap,
} from 'lucide-react'
import { cn } from '../base/class-names.ts'
import type { Tone } from '../base/status.tsx'

interface KindLook {
  label: string
  icon: LucideIcon
  /** A CSS colour, for charts and lines too. */
  hue: string
}

export const stepKinds = {
  in_app: { label: 'In-app', icon: Bell, hue: 'var(--hue-in-app)' },
  email: { label: 'Email', icon: Mail, hue: 'var(--hue-email)' },
  sms: { label: 'SMS', icon: MessageSquareText, hue: 'var(--hue-sms)' },
  chat: { label: 'Chat', icon: MessagesSquare, hue: 'var(--hue-chat)' },
  push: { label: 'Push', icon: Smartphone, hue: 'var(--hue-push)' },
  digest: { label: 'Digest', icon: Layers, hue: 'var(--hue-digest)' },
  delay: { label: 'Delay', icon: AlarmClock, hue: 'var(--hue-delay)' },
  throttle: { label: 'Throttle', icon: Gauge, hue: 'var(--hue-throttle)' },
  custom: { label: 'Custom', icon: Braces, hue: 'var(--hue-custom)' },
  http_request: { label: 'HTTP request', icon: Globe, hue: 'var(--hue-http)' },
  branch: { label: 'Branch', icon: Split, hue: 'var(--hue-throttle)' },
  wait_for_event: { label: 'Wait for an event', icon: Hourglass, hue: 'var(--hue-delay)' },
  ask: { label: 'Ask', icon: CircleHelp, hue: 'var(--hue-chat)' },
  start_workflow: { label: 'Start a workflow', icon: Rocket, hue: 'var(--hue-trigger)' },
  update_subscriber: { label: 'Update the subscriber', icon: UserPen, hue: 'var(--hue-custom)' },
  exit: { label: 'Exit', icon: OctagonX, hue: 'var(--hue-trigger)' },
  trigger: { label: 'Trigger', icon: Zap, hue: 'var(--hue-trigger)' },
} satisfies Record<string, KindLook>

export type StepKind = keyof typeof stepKinds
export const channels = ['in_app', 'email', 'sms', 'chat', 'push'] as const satisfies StepKind[]
export type Channel = (typeof channels)[number]

/** The look of a kind; unknown kinds of a newer server get a plain one. */
export const lookOf = (kind: string): KindLook =>
  (stepKinds as Record<string, KindLook>)[kind] ?? { label: kind, icon: Braces, hue: 'var(--muted)' }

/** Its label within a sentence: "email", but "SMS". */
export const wordOf = (kind: string): string =>
  lookOf(kind).label.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())

interface StepIconProps {
  kind: string
  /** A tile with a tinted background, or only the icon. */
  tile?: boolean
  /** The outcome of the step, where it has one: it takes the place of the hue. */
  tone?: Tone | undefined
  className?: string
}

const toneHues: Record<Tone, string> = {
  good: 'var(--good)',
  warn: 'var(--warn)',
  bad: 'var(--bad)',
  info: 'var(--info)',
  neutral: 'var(--muted)',
}

export function StepIcon({ kind, tile = false, tone, className }: StepIconProps) {
  const { icon: Icon, hue: own, label } = lookOf(kind)
  const hue = tone ? toneHues[tone] : own
  if (!tile)
    return <Icon role="img" aria-label={label} className={cn('size-4 shrink-0', className)} style={{ color: hue }} />
  return (
    <span
      className={cn('grid size-7 shrink-0 place-items-center rounded-control', className)}
      style={{ color: hue, background: `color-mix(in oklab, ${hue} 12%, transparent)` }}
    >
      <Icon role="img" aria-label={label} className="size-4" />
    </span>
  )
}

interface StepIconsProps {
  kinds: readonly string[]
  /** Their outcomes, in the same order. */
  tones?: readonly Tone[]
  limit?: number
}

/** The icons of all steps of a workflow, in order. */
export function StepIcons({ kinds, tones = [], limit = 6 }: StepIconsProps) {
  const shown = kinds.slice(0, limit)
  return (
    <span className="inline-flex items-center gap-1.5 align-middle">
      {shown.map((kind, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a kind may appear twice
        <StepIcon key={index} kind={kind} tone={tones[index]} />
      ))}
      {kinds.length > limit && <span className="text-xs text-muted">+{kinds.length - limit}</span>}
    </span>
  )
}
