// The guided start: three real sends, each message as it arrives, and the code to send them from your own program.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowRight, Bell, Check, CircleAlert, LoaderCircle, Plug, Send, Workflow } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useCan, useSession } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { environments } from '../../api/environments.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { CopyButton } from '../../ui/base/copy.tsx'
import { RequestCode } from '../../ui/code/code-block.tsx'
import {
  type Arrival,
  arrival,
  type FirstChannel,
  firstSends,
  type Recipient,
  sendFirst,
  triggerOf,
} from '../../ui/domain/first-sends.ts'
import { EmailFrame, InAppFrame, SmsFrame } from '../../ui/domain/message-frames.tsx'
import { StepIcon } from '../../ui/domain/step-kind.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'

const order: FirstChannel[] = ['in_app', 'email', 'sms']

export function Page() {
  const { user } = useSession()
  const environment = useEnvironment()
  const [sent, remember] = useSent(environment._id)
  const [active, setActive] = useState<FirstChannel>(() => order.find((channel) => !sent[channel]) ?? 'in_app')
  const recipient: Recipient = {
    // The prefix avoids overwriting the address of a real subscriber with this id.
    subscriberId: `start-${user.email.split('@', 1)[0]}`,
    firstName: user.name.split(' ', 1)[0] ?? user.name,
    email: user.email,
    phone: '+12025550143',
  }
  const isAllDone = order.every((channel) => sent[channel])
  return (
    <Frame
      title="Send your first notifications"
      width="content"
      description={`Three real sends in ${environment.name}, to yourself. Each takes about a second.`}
    >
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-2">
        <ol className="min-w-0 space-y-3">
          {order.map((channel, index) => (
            <SendStep
              key={channel}
              channel={channel}
              number={index + 1}
              recipient={recipient}
              transactionId={sent[channel]}
              isActive={channel === active}
              onOpen={() => setActive(channel)}
              onSent={(transactionId) => {
                setActive(channel)
                remember(channel, transactionId)
              }}
            />
          ))}
          {isAllDone && <NextSteps />}
        </ol>
        <div className="min-w-0 space-y-6 lg:sticky lg:top-6">
          <FromYourProgram channel={active} recipient={recipient} isSent={sent[active] !== undefined} />
          <ForYourInbox identifier={environment.identifier} />
        </div>
      </div>
    </Frame>
  )
}

/** The transactions sent from here, so that they stay checked after a reload. */
function useSent(environmentId: string) {
  const place = `belfry-start-${environmentId}`
  const [sent, setSent] = useState<Partial<Record<FirstChannel, string>>>(() => {
    try {
      return JSON.parse(localStorage.getItem(place) ?? '{}')
    } catch {
      return {}
    }
  })
  const remember = (channel: FirstChannel, transactionId: string) =>
    setSent((before) => {
      const after = { ...before, [channel]: transactionId }
      localStorage.setItem(place, JSON.stringify(after))
      return after
    })
  return [sent, remember] as const
}

interface SendStepProps {
  channel: FirstChannel
  number: number
  recipient: Recipient
  transactionId: string | undefined
  isActive: boolean
  onOpen: () => void
  onSent: (transactionId: string) => void
}

function SendStep(props: SendStepProps) {
  const { channel, number, recipient, transactionId, isActive, onOpen, onSent } = props
  const { title, explanation } = firstSends[channel]
  const canSend = useCan('editor')
  const send = useAction({
    do: () => sendFirst(channel, recipient),
    refresh: ['runs', 'workflows', 'subscribers', 'sandbox'],
    onDone: onSent,
  })
  const { data, error } = useQuery({
    ...arrival(channel, transactionId ?? '', recipient.subscriberId),
    enabled: transactionId !== undefined,
  })
  const hasArrived = data?.message !== undefined
  const isSending = send.isPending || (transactionId !== undefined && !hasArrived && !data?.trouble && !error)
  return (
    <li
      className={cn(
        'rounded-surface border transition-colors duration-120',
        isActive ? 'border-line-strong bg-raised' : 'bg-page',
      )}
    >
      <div className="flex items-center gap-3 p-4">
        <StepMark number={number} isDone={hasArrived} />
        <button type="button" onClick={onOpen} aria-expanded={isActive} className="min-w-0 flex-1 text-left">
          <span className="flex items-center gap-2 text-base font-semibold">
            <StepIcon kind={channel} />
            {title}
          </span>
          <span className="mt-0.5 block text-sm text-pretty text-muted">{explanation}</span>
        </button>
        <Button
          variant={hasArrived || !isActive ? 'secondary' : 'primary'}
          pending={isSending}
          disabled={!canSend}
          {...(canSend ? {} : { hint: 'Viewers cannot send. Ask an admin to make you an editor.' })}
          icon={<Send />}
          onClick={() => send.mutate()}
        >
          {hasArrived ? 'Again' : 'Send'}
        </Button>
      </div>
      {(data?.message || data?.trouble || isSending) && (
        <div className="px-4 pb-4 sm:pl-14" aria-live="polite">
          {data?.message ? (
            <div className="animate-rise">
              <ArrivedMessage channel={channel} message={data.message} />
              <ArrivedNote runId={data.runId} />
            </div>
          ) : data?.trouble ? (
            <p className="flex gap-2 rounded-control bg-bad/8 px-3 py-2 text-sm text-bad">
              <CircleAlert className="mt-0.5 size-4 shrink-0" />
              {data.trouble}
            </p>
          ) : (
            <p className="flex animate-late items-center gap-2 text-sm text-muted">
              <LoaderCircle className="size-4 animate-spin" />
              Sending…
            </p>
          )}
        </div>
      )}
    </li>
  )
}

function StepMark({ number, isDone }: { number: number; isDone: boolean }) {
  return (
    <span
      className={cn(
        'grid size-7 shrink-0 place-items-center rounded-full border text-xs font-semibold transition-colors duration-180',
        isDone ? 'border-good bg-good text-page' : 'border-line-strong text-muted',
      )}
    >
      {isDone ? <Check role="img" aria-label="done" className="size-4 animate-appear" strokeWidth={3} /> : number}
    </span>
  )
}

function ArrivedMessage({ channel, message }: { channel: FirstChannel; message: NonNullable<Arrival['message']> }) {
  switch (channel) {
    case 'in_app':
      return <InAppFrame subject={message.subject} body={message.text} />
    case 'email':
      return (
        <EmailFrame subject={message.subject ?? ''} to={message.to.join(', ')} html={message.html ?? message.text} />
      )
    case 'sms':
      return <SmsFrame from={message.to.join(', ')} body={message.text} />
    default:
      return null
  }
}

const ArrivedNote = ({ runId }: { runId: string | undefined }) => (
  <p className="mt-2 flex items-center gap-1.5 text-xs text-muted">
    Arrived.
    {runId && (
      <Link to={`/activity/${runId}` as '/'} className="font-medium text-ink underline underline-offset-2">
        See every step it took
      </Link>
    )}
  </p>
)

interface FromYourProgramProps {
  channel: FirstChannel
  recipient: Recipient
  /** Whether its workflow exists for sure. */
  isSent: boolean
}

function FromYourProgram({ channel, recipient, isSent }: FromYourProgramProps) {
  const canSeeKeys = useCan('owner')
  const { data: keys } = useQuery({ ...environments.apiKeys(), enabled: canSeeKeys })
  const key = keys?.[0]?.key
  return (
    <section>
      <h2 className="text-base font-semibold">Send it from your program</h2>
      <p className="mt-0.5 mb-3 text-sm text-pretty text-muted">
        {key
          ? 'The API key of this environment is filled in. Keep it on your servers.'
          : 'Fill in the API key of this environment. An owner can find it under API keys.'}
        {isSent ? '' : ' Press Send first: that creates the workflow it names.'}
      </p>
      <RequestCode
        request={{ method: 'POST', path: '/v1/events/trigger', body: triggerOf(channel, recipient) }}
        {...(key ? { apiKey: key } : {})}
        maxHeight={480}
      />
      <p className="mt-3 text-sm text-muted">
        Find everything else in the{' '}
        <a href="/docs" className="font-medium text-ink underline underline-offset-2">
          API reference
        </a>
        .
      </p>
    </section>
  )
}

const ForYourInbox = ({ identifier }: { identifier: string }) => (
  <section>
    <h2 className="text-base font-semibold">Application identifier</h2>
    <p className="mt-0.5 mb-3 text-sm text-pretty text-muted">
      The inbox in your page needs it to find this environment; it is not secret.
    </p>
    <div className="flex h-10 items-center justify-between gap-2 rounded-surface border bg-sunken pr-1.5 pl-3">
      <code className="truncate">{identifier}</code>
      <CopyButton text={identifier} label="Copy the application identifier" />
    </div>
    <p className="mt-3 text-sm text-muted">
      Put the inbox into your product:{' '}
      <Link to={'/inbox' as '/'} className="font-medium text-ink underline underline-offset-2">
        the code for your page
      </Link>
      .
    </p>
  </section>
)

function NextSteps() {
  return (
    <li className="animate-rise pt-3">
      <h2 className="mb-2 text-base font-semibold">Next steps</h2>
      <ul className="divide-y rounded-surface border">
        <NextStep to="/workflows" icon={<Workflow />} title="Build your own workflow">
          Several steps, digests, delays and conditions
        </NextStep>
        <NextStep to="/inbox" icon={<Bell />} title="Put the inbox into your product">
          A bell in your page, in HTML, React, Vue or Next.js
        </NextStep>
        <NextStep to="/integrations" icon={<Plug />} title="Connect a real provider">
          Leave the sandbox for the channels you need
        </NextStep>
      </ul>
    </li>
  )
}

function NextStep({ to, icon, title, children }: { to: string; icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <li>
      <Link
        to={to as '/'}
        className="flex items-center gap-3 px-4 py-3 transition-colors duration-120 hover:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted"
      >
        {icon}
        <span className="min-w-0 flex-1">
          <span className="block text-sm font-medium">{title}</span>
          <span className="block text-xs text-muted">{children}</span>
        </span>
        <ArrowRight />
      </Link>
    </li>
  )
}
