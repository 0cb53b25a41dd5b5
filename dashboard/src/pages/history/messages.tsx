// The messages that two versions make, side by side, as their recipient sees them. What differs is marked.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { type Rendered, type Subject, versions } from '../../api/versions.ts'
import { ErrorState, Skeleton } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Marked, markHtml, type Side } from '../../ui/domain/marked.tsx'
import { ChatFrame, EmailFrame, InAppFrame, PushFrame, SmsFrame } from '../../ui/domain/message-frames.tsx'
import { StepIcon } from '../../ui/domain/step-kind.tsx'
import { SubscriberPicker } from '../../ui/domain/subscriber-picker.tsx'

interface MessagesProps {
  subject: Subject
  from: number
  to: number
  subscriberId: string | undefined
  onSubscriber: (subscriberId: string) => void
}

export function Messages({ subject, from, to, subscriberId, onSubscriber }: MessagesProps) {
  const query = useQuery(versions.rendered(subject, { from, to, subscriberId }))
  const { data } = query
  return (
    <section aria-label="Messages" className="space-y-4">
      <header className="flex flex-wrap items-center gap-2">
        <h3 className="mr-auto font-semibold">Messages</h3>
        <SubscriberPicker
          aria-label="Rendered for"
          placeholder="The last recipient"
          className="w-60"
          value={subscriberId}
          onValue={onSubscriber}
        />
      </header>
      {data ? (
        <Rendering renders={data.renders} hasMore={data.hasMore} from={from} to={to} kind={subject.kind} />
      ) : query.error ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} className="py-4" />
      ) : (
        <div className="grid gap-4 sm:grid-cols-2" role="status" aria-label="Rendering">
          <Skeleton className="h-40 rounded-surface" />
          <Skeleton className="h-40 rounded-surface" />
        </div>
      )}
    </section>
  )
}

interface RenderingProps {
  renders: Rendered[]
  hasMore: boolean
  from: number
  to: number
  kind: Subject['kind']
}

function Rendering({ renders, hasMore, from, to, kind }: RenderingProps) {
  const different = renders.filter(({ same }) => !same)
  if (renders.length === 0)
    return (
      <p className="text-sm text-muted">
        {kind === 'layout' ? 'No email uses this layout.' : 'These versions send no messages.'}
      </p>
    )
  if (different.length === 0)
    return (
      <p className="text-sm text-muted">
        {renders.length === 1 ? 'The message is' : `All ${renders.length} messages are`} the same in both versions.
      </p>
    )
  const same = renders.length - different.length
  return (
    <>
      {different.map((render) => (
        <Pair
          key={`${render.workflowId} ${render.stepId} ${render.subscriberId} ${render.transactionId}`}
          render={render}
          from={from}
          to={to}
          isNamed={kind === 'layout'}
        />
      ))}
      {(same > 0 || hasMore) && (
        <p className="text-sm text-muted">
          {same > 0 && `${same} ${same === 1 ? 'message is' : 'messages are'} the same. `}
          {hasMore && 'There are more; these are the first.'}
        </p>
      )}
    </>
  )
}

interface PairProps {
  render: Rendered
  from: number
  to: number
  /** Whether to say which workflow it is. */
  isNamed: boolean
}

function Pair({ render, from, to, isNamed }: PairProps) {
  const { workflowId, stepId, channel, subscriberId, before, after, error } = render
  const html = useMemo(() => markHtml(text(before?.html), text(after?.html)), [before, after])
  const isHidden = channel === 'email' && before && after && !html.hasMarks && before.html !== after.html
  return (
    <article className="space-y-2">
      <h4 className="flex flex-wrap items-center gap-2 text-sm font-medium">
        <StepIcon kind={channel} />
        {isNamed && `${workflowId} · `}
        {stepId}
        <span className="font-normal text-muted">{subscriberId ? `for ${subscriberId}` : 'with example data'}</span>
        {isHidden && <Badge>Same words, other HTML</Badge>}
      </h4>
      {error && (
        <p role="alert" className="rounded-control border border-bad/30 bg-bad/8 px-3 py-2 text-sm">
          {error}
        </p>
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 md:grid-cols-2">
        <Framed title={`Version ${from}`}>
          {before ? <Frame render={render} side="before" html={html.before} /> : nothing}
        </Framed>
        <Framed title={`Version ${to}`}>
          {after ? <Frame render={render} side="after" html={html.after} /> : nothing}
        </Framed>
      </div>
    </article>
  )
}

const nothing = (
  <p className="rounded-surface border border-dashed p-6 text-center text-sm text-muted">No message here.</p>
)

const Framed = ({ title, children }: { title: string; children: ReactNode }) => (
  <figure aria-label={title} className="min-w-0 space-y-1.5">
    <figcaption className="text-xs font-medium text-muted">{title}</figcaption>
    {children}
  </figure>
)

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

function Frame({ render, side, html }: { render: Rendered; side: Side; html: string }) {
  const { channel, before, after } = render
  // Where one side has no message, the whole other one is new: marks would only be in the way.
  const other = side === 'before' ? after : before
  const own = (side === 'before' ? before : after) ?? {}
  const marked = (member: string) => {
    const mine = text(own[member])
    if (!other || mine === '') return mine
    return <Marked before={text(before?.[member])} after={text(after?.[member])} side={side} />
  }
  switch (channel) {
    case 'email':
      return <EmailFrame subject={marked('subject')} html={html} />
    case 'in_app':
      return (
        <InAppFrame
          subject={marked('subject') || undefined}
          body={marked('body')}
          avatar={text(own.avatar) || undefined}
          {...labels(own)}
        />
      )
    case 'sms':
      return <SmsFrame body={marked('body')} />
    case 'push':
      return <PushFrame subject={marked('subject')} body={marked('body')} />
    default:
      return <ChatFrame author="Your app" body={marked('body')} />
  }
}

function labels(message: Record<string, unknown>): { primary?: string; secondary?: string } {
  const label = (name: string) => text((message[name] as { label?: unknown } | null | undefined)?.label)
  const [primary, secondary] = [label('primaryAction'), label('secondaryAction')]
  return { ...(primary ? { primary } : {}), ...(secondary ? { secondary } : {}) }
}
