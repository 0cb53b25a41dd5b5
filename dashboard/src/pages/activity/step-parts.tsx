// The details of a step: the message as rendered, the provider exchange, the events of a digest, and the log.
import { useState } from 'react'
import { useProviderNames } from '../../api/integrations.ts'
import { Badge, Status, type Tone } from '../../ui/base/status.tsx'
import { absoluteTime, duration, Time } from '../../ui/base/time.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { JsonView } from '../../ui/code/json-view.tsx'
import { ChatFrame, EmailFrame, InAppFrame, PushFrame, SmsFrame } from '../../ui/domain/message-frames.tsx'
import { lookOf } from '../../ui/domain/step-kind.tsx'
import type { Job } from './why.ts'

type Message = Job['messages'][number]
type Line = Job['executionDetails'][number]

/** Several steps may be open, so each label names its step, and a copy of a question also to whom and when it went. */
const nameOf = ({ step, type, asked, executionDetails: [first] }: Job) => {
  const name = `${step.name ?? lookOf(type).label} (${step.stepId})`
  const when = first === undefined ? '' : `, ${absoluteTime(first.createdAt)}`
  return asked === undefined ? name : `${name}, ${lookOf(type).label} to ${asked}${when}`
}

export function RenderedMessages({ job }: { job: Job }) {
  const nameOfProvider = useProviderNames()
  const said = job.messages.filter(({ content, subject }) => content !== undefined || subject !== undefined)
  if (said.length === 0) return null
  return (
    <section aria-label={`Message of ${nameOf(job)}`} className="space-y-3">
      {said.map((message) => (
        <div key={message._id}>
          <MessageInFrame message={message} />
          <p className="mt-1.5 flex flex-wrap gap-x-3 text-xs text-muted">
            {message.recipient && <span>To {message.recipient}</span>}
            {message.providerId && <span>through {nameOfProvider(message.providerId)}</span>}
            {message.providerMessageId && <code className="truncate">{message.providerMessageId}</code>}
            {message.errorText && <span className="text-bad">{message.errorText}</span>}
          </p>
        </div>
      ))}
    </section>
  )
}

/** The label of a button of an in-app message. */
function labelOf(cta: Message['cta'], place: number): string | undefined {
  const action = cta?.action as { buttons?: Array<{ content?: string }> } | undefined
  return action?.buttons?.[place]?.content
}

function MessageInFrame({ message }: { message: Message }) {
  const { channel, subject, content = '', avatar, cta, createdAt, recipient } = message
  const when = <Time at={createdAt} />
  switch (channel) {
    case 'in_app':
      return (
        <InAppFrame
          subject={subject}
          body={content}
          avatar={avatar}
          primary={labelOf(cta, 0)}
          secondary={labelOf(cta, 1)}
          when={when}
        />
      )
    case 'email':
      return <EmailFrame subject={subject ?? '(no subject)'} html={content} to={recipient} when={when} />
    case 'sms':
      return <SmsFrame body={content} when={when} />
    case 'chat':
      return <ChatFrame body={content} when={when} />
    case 'push':
      return <PushFrame subject={subject} body={content} when={when} />
  }
}

interface Exchange {
  request: { method: string; url: string; body?: unknown }
  response?: { status: number; body?: unknown }
}

function rawOf({ raw }: Line): unknown {
  if (raw === undefined) return undefined
  try {
    return JSON.parse(raw)
  } catch {
    // Truncated JSON cannot be parsed.
    return raw
  }
}

function exchangeOf(line: Line): Exchange | undefined {
  const raw = rawOf(line)
  const exchange = typeof raw === 'object' && raw !== null && 'exchange' in raw ? raw.exchange : undefined
  return typeof exchange === 'object' && exchange !== null && 'request' in exchange ? (exchange as Exchange) : undefined
}

const asText = (body: unknown): string => {
  if (typeof body !== 'string') return JSON.stringify(body, undefined, 2)
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2)
  } catch {
    return body
  }
}

/** A log line that ends an attempt: sent, refused, or to be retried. */
const isAttempt = (line: Line): boolean =>
  exchangeOf(line) !== undefined ||
  ['Message sent', 'Unexpected provider error', 'The message goes on to the next integration'].includes(line.detail) ||
  line.detail.endsWith('it will be tried again')

/** Every call to a provider, with request and response. The server masks secrets. */
export function Attempts({ job }: { job: Job }) {
  const attempts = job.executionDetails.filter(isAttempt)
  const hasExchange = attempts.some((line) => exchangeOf(line))
  if (job.type === 'in_app' || (attempts.length < 2 && !hasExchange)) return null
  return (
    <section aria-label={`Provider exchange of ${nameOf(job)}`}>
      <h4 className="mb-1.5 text-xs font-medium text-muted">
        {attempts.length === 1 ? 'Provider exchange' : `${attempts.length} attempts`}
      </h4>
      <ol className="space-y-2">
        {attempts.map((line, index) => (
          <Attempt key={line._id} line={line} isOpen={index === attempts.length - 1 && line.status === 'Failed'} />
        ))}
      </ol>
    </section>
  )
}

const toneOf: Record<Line['status'], Tone> = {
  ...{ Success: 'good', Warning: 'warn', Failed: 'bad', Pending: 'neutral', Queued: 'neutral' },
  ReadConfirmation: 'good',
}

function Attempt({ line, isOpen }: { line: Line; isOpen: boolean }) {
  const nameOfProvider = useProviderNames()
  const [isShown, setShown] = useState(isOpen)
  const exchange = exchangeOf(line)
  const status = exchange?.response?.status
  return (
    <li className="rounded-control border">
      <button
        type="button"
        disabled={!exchange}
        aria-expanded={isShown}
        onClick={() => setShown(!isShown)}
        className="flex min-h-8 w-full items-center gap-2 px-2.5 py-1 text-left text-xs disabled:cursor-default"
      >
        <Status tone={line.detail.endsWith('it will be tried again') ? 'warn' : toneOf[line.status]}>
          <span className="whitespace-normal">{line.detail}</span>
        </Status>
        {line.providerId && <span className="text-muted">{nameOfProvider(line.providerId)}</span>}
        {status !== undefined && <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>}
        <span className="ml-auto shrink-0 text-muted">{clock.format(new Date(line.createdAt))}</span>
      </button>
      {isShown && exchange && (
        <div className="space-y-2 border-t p-2">
          <CodeBlock
            title={
              <span className="truncate font-mono">
                {exchange.request.method} {exchange.request.url}
              </span>
            }
            code={exchange.request.body === undefined ? '(no body)' : asText(exchange.request.body)}
            maxHeight={240}
          />
          <CodeBlock
            title={exchange.response ? `Answer ${exchange.response.status}` : 'No answer'}
            code={exchange.response?.body === undefined ? '(no body)' : asText(exchange.response.body)}
            maxHeight={240}
          />
        </div>
      )}
    </li>
  )
}

export function DigestEvents({ job }: { job: Job }) {
  const events = job.digest?.events
  if (job.type !== 'digest' || !Array.isArray(events) || events.length === 0) return null
  return (
    <section aria-label={`Collected events of ${nameOf(job)}`}>
      <h4 className="mb-1.5 text-xs font-medium text-muted">
        {events.length} collected {events.length === 1 ? 'event' : 'events'}
      </h4>
      <JsonView value={events} open={events.length > 5 ? 1 : 3} />
    </section>
  )
}

const clock = new Intl.DateTimeFormat('en', {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  hourCycle: 'h23',
})

export function Log({ job }: { job: Job }) {
  const lines = job.executionDetails
  if (lines.length === 0) return null
  const start = Date.parse(lines[0]?.createdAt ?? '')
  return (
    <section aria-label={`Log of ${nameOf(job)}`}>
      <h4 className="mb-1 text-xs font-medium text-muted">Log</h4>
      <ol className="text-xs">
        {lines.map((line) => (
          <LogLine key={line._id} line={line} since={Date.parse(line.createdAt) - start} />
        ))}
      </ol>
    </section>
  )
}

function LogLine({ line, since }: { line: Line; since: number }) {
  const [isShown, setShown] = useState(false)
  const raw = rawOf(line)
  const content = (
    <>
      <span className="w-16 shrink-0 text-right text-muted tabular-nums" title={absoluteTime(line.createdAt)}>
        {since < 1 ? '0 ms' : `+${duration(since)}`}
      </span>
      <Status tone={toneOf[line.status]}>
        <span className="text-left whitespace-normal">{line.detail.trim()}</span>
      </Status>
      {line.isRetry && <Badge>retry</Badge>}
      {line.source === 'Webhook' && <Badge tone="info">{line.webhookStatus ?? 'reported'}</Badge>}
    </>
  )
  return (
    <li>
      {raw === undefined ? (
        <div className="flex min-h-7 items-center gap-3">{content}</div>
      ) : (
        <button
          type="button"
          aria-expanded={isShown}
          onClick={() => setShown(!isShown)}
          className="flex min-h-7 w-full items-center gap-3 rounded-sm text-left hover:bg-hover"
        >
          {content}
          <span className="ml-auto pr-1 text-2xs text-muted">{isShown ? 'less' : 'more'}</span>
        </button>
      )}
      {isShown && (typeof raw === 'string' ? <CodeBlock code={raw} maxHeight={240} /> : <JsonView value={raw} />)}
    </li>
  )
}
