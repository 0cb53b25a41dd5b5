// A message that a simulation made, as its recipient would see it.
import { ChatFrame, EmailFrame, InAppFrame, PushFrame, SmsFrame } from './message-frames.tsx'
import { lookOf } from './step-kind.tsx'

export interface SimulatedContent {
  channel: string
  to?: string[]
  subject?: string | null
  text?: string | null
  html?: string | null
  inApp?: { avatar?: string | null; cta?: Record<string, unknown> | null } | undefined
}

interface SimulatedFrameProps {
  message: SimulatedContent
  when: string
  isRead?: boolean
}

export function SimulatedFrame({ message, when, isRead = false }: SimulatedFrameProps) {
  const { channel, subject, text, html, to = [], inApp } = message
  switch (channel) {
    case 'in_app':
      return (
        <InAppFrame
          subject={subject ?? undefined}
          body={text ?? ''}
          avatar={inApp?.avatar}
          when={when}
          isRead={isRead}
          {...buttonsOf(inApp?.cta ?? null)}
        />
      )
    case 'email':
      return <EmailFrame subject={subject ?? ''} html={html ?? text ?? ''} to={to.join(', ')} when={when} />
    case 'sms':
      return <SmsFrame from={when} body={text ?? ''} />
    case 'push':
      return <PushFrame subject={subject ?? ''} body={text ?? ''} when={when} />
    case 'chat':
      return <ChatFrame author="Your app" body={text ?? ''} when={when} />
    default:
      return <p className="text-sm">{lookOf(channel).label}</p>
  }
}

function buttonsOf(cta: Record<string, unknown> | null): { primary?: string; secondary?: string } {
  const { buttons } = (cta?.action ?? {}) as { buttons?: Array<{ type?: string; content?: string }> }
  const label = (type: string) => buttons?.find((each) => each.type === type)?.content
  const [primary, secondary] = [label('primary'), label('secondary')]
  return { ...(primary ? { primary } : {}), ...(secondary ? { secondary } : {}) }
}
