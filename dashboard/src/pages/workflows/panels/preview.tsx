// A live preview of what the selected step would deliver.
import { useQuery } from '@tanstack/react-query'
import { RotateCcw, Send } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useCan } from '../../../api/auth.ts'
import { useAction } from '../../../api/cache.ts'
import { api } from '../../../api/client.ts'
import { nameOf } from '../../../api/subscribers.ts'
import { workflows } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { ErrorState, Skeleton } from '../../../ui/base/states.tsx'
import { Status } from '../../../ui/base/status.tsx'
import { duration } from '../../../ui/base/time.tsx'
import { CodeBlock } from '../../../ui/code/code-block.tsx'
import { JsonView } from '../../../ui/code/json-view.tsx'
import { ChatFrame, EmailFrame, InAppFrame, PushFrame, SmsFrame } from '../../../ui/domain/message-frames.tsx'
import { type EmailWidth, WidthSwitch } from '../../../ui/email/width-switch.tsx'
import { JsonField } from '../controls/basic.tsx'
import { Fold } from '../controls/fold.tsx'
import { SubscriberPicker } from '../controls/subscriber-picker.tsx'
import type { DraftStep } from '../draft/draft.ts'
import { type PreviewData, previewPayloadOf } from '../draft/preview-data.ts'
import { objectOf, textOf } from '../draft/step-context.ts'
import { amountOf, cronInWords } from '../draft/steps.ts'
import { useDebounced } from '../draft/use-debounced.ts'

interface PreviewProps {
  workflowId: string
  step: DraftStep
  /** When the workflow was last saved: the results of earlier steps may have changed. */
  version: string
  data: PreviewData
}

export function Preview({ workflowId, step, version, data }: PreviewProps) {
  const { payload, subscriber } = data
  const request = useDebounced({ controlValues: step.controlValues, previewPayload: previewPayloadOf(data) }, 250)
  const preview = useQuery({
    ...workflows.preview(workflowId, step.stepId, request, version),
    enabled: step._id !== undefined,
  })
  const answer = preview.data
  const example = objectOf(answer?.previewPayloadExample)
  const shown = objectOf(answer?.result.preview)
  const error = answer?.result.error
  return (
    <div className="space-y-4" data-preview aria-busy={preview.isFetching}>
      <div className="flex items-center gap-2">
        <SubscriberPicker
          aria-label="Preview for"
          placeholder="Example subscriber"
          className="min-w-0 flex-1"
          value={data.subscriberId}
          onValue={data.setSubscriberId}
        />
        {(data.subscriberId !== undefined || payload !== undefined) && (
          <Button
            variant="ghost"
            size="icon"
            hint="Back to the example"
            onClick={() => {
              data.setSubscriberId(undefined)
              data.setPayload(undefined)
            }}
          >
            <RotateCcw />
          </Button>
        )}
      </div>
      {preview.error && !answer ? (
        <ErrorState error={preview.error} onRetry={() => void preview.refetch()} className="py-6" />
      ) : !answer ? (
        <Skeleton className="h-40 w-full rounded-surface" />
      ) : error ? (
        <div role="alert" className="rounded-surface border border-bad/30 bg-bad/8 p-3 text-sm">
          <p className="font-medium text-bad">{error.message}</p>
          {error.hint && <p className="mt-1 text-muted">{error.hint}</p>}
        </div>
      ) : (
        <Shown step={step} preview={shown} example={example} to={subscriber ? nameOf(subscriber) : 'John Doe'} />
      )}
      {step.type === 'http_request' && <TryRequest step={step} data={data} />}
      <Fold title="Example payload" aside={payload ? 'yours' : 'from the variables in your templates'}>
        <JsonField
          label="Payload"
          value={payload ?? example.payload ?? {}}
          onValue={(next) => data.setPayload(next === undefined ? undefined : objectOf(next))}
          hint="Test runs use it too."
        />
      </Fold>
    </div>
  )
}

interface ShownProps {
  step: DraftStep
  preview: Record<string, unknown>
  example: Record<string, unknown>
  to: string
}

function Shown({ step, preview, example, to }: ShownProps) {
  const subject = textOf(preview.subject)
  const body = textOf(preview.body)
  const nothing = <span className="text-muted">Nothing yet</span>
  switch (step.type) {
    case 'in_app': {
      const primary = textOf(objectOf(preview.primaryAction).label)
      const secondary = textOf(objectOf(preview.secondaryAction).label)
      return (
        <InAppFrame
          subject={subject || undefined}
          body={body || (subject ? '' : nothing)}
          avatar={textOf(preview.avatar) || undefined}
          primary={primary || undefined}
          secondary={secondary || undefined}
        />
      )
    }
    case 'email':
      return (
        <EmailPreview subject={subject} html={body} to={to} from={textOf(objectOf(step.controlValues.from).name)} />
      )
    case 'sms':
      return (
        <Sized text={body}>
          <SmsFrame from="Today" body={body || nothing} />
        </Sized>
      )
    case 'chat':
      return <ChatFrame author="Your app" body={body || nothing} />
    case 'push':
      return <PushFrame subject={subject || 'No title yet'} body={body || nothing} />
    default:
      return <Explained step={step} preview={preview} example={example} />
  }
}

function EmailPreview({ subject, html, to, from }: { subject: string; html: string; to: string; from: string }) {
  const [width, setWidth] = useState<EmailWidth>('desktop')
  return (
    <div>
      <div className="mb-2 flex justify-end">
        <WidthSwitch value={width} onValue={setWidth} />
      </div>
      <AtWidth px={width === 'desktop' ? 640 : undefined}>
        <EmailFrame
          key={width}
          from={from || 'your app'}
          to={to}
          subject={subject || <span className="text-muted">No subject yet</span>}
          html={html}
          narrow={width === 'phone'}
        />
      </AtWidth>
    </div>
  )
}

/** Renders at the given width and scales down to fit: a narrow column must not turn a desktop preview into a phone. */
function AtWidth({ px, children }: { px: number | undefined; children: ReactNode }) {
  const outer = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState(px ?? 0)
  useEffect(() => {
    const element = outer.current
    if (!element) return
    const resizing = new ResizeObserver(([entry]) => setRoom(entry?.contentRect.width ?? 0))
    resizing.observe(element)
    return () => resizing.disconnect()
  }, [])
  const isTight = px !== undefined && room > 0 && room < px
  return (
    <div ref={outer} className="overflow-hidden">
      <div style={isTight ? { width: px, zoom: room / px } : undefined}>{children}</div>
    </div>
  )
}

/** The number of SMS a text needs; characters outside the GSM alphabet reduce the size of each. */
function Sized({ text, children }: { text: string; children: ReactNode }) {
  const isPlain = /^[\n\r\x20-\x7e£¥èéùìòÇØøÅåΔÆæßÉ¤¡ÄÖÑÜ§¿äöñüà€]*$/.test(text)
  const [one, many] = isPlain ? [160, 153] : [70, 67]
  const count = text.length <= one ? 1 : Math.ceil(text.length / many)
  return (
    <div>
      {children}
      <p className="mt-1.5 text-xs text-muted">
        {text.length} characters, {count === 1 ? 'one message' : `${count} messages`}
        {!isPlain && ', because of special characters'}
      </p>
    </div>
  )
}

function Explained({
  step,
  preview,
  example,
}: {
  step: DraftStep
  preview: Record<string, unknown>
  example: Record<string, unknown>
}) {
  const { controlValues: values, stepId } = step
  if (step.type === 'http_request') {
    const { method, url, headers, body } = preview
    const lines = [
      `${textOf(method) || 'POST'} ${textOf(url)}`,
      ...(Array.isArray(headers)
        ? headers.map(objectOf).map(({ key, value }) => `${textOf(key)}: ${textOf(value)}`)
        : []),
      ...(body === undefined ? [] : ['', typeof body === 'string' ? body : JSON.stringify(body, undefined, 2)]),
    ]
    return <CodeBlock title="The request" code={lines.join('\n')} />
  }
  const time = typeof values.cron === 'string' ? cronInWords(values.cron) : (amountOf(values) ?? '…')
  const sentences: Record<string, ReactNode> = {
    digest: (
      <>
        Events for the same subscriber
        {values.digestKey ? (
          <>
            {' '}
            and <code>{textOf(values.digestKey)}</code>
          </>
        ) : null}{' '}
        are collected ({time}). The run then continues once, and later steps can use them as{' '}
        <code>{`steps.${stepId}.events`}</code>.
      </>
    ),
    delay: (
      <>The run waits here ({values.type === 'dynamic' ? textOf(values.dynamicKey) || '…' : time}), then continues.</>
    ),
    throttle: (
      <>
        The first {Number(values.threshold) || 1} in each window of {time} continue. Further runs end here.
      </>
    ),
    custom: <>This step runs in your own code.</>,
  }
  const result = { [stepId]: objectOf(example.steps)[stepId] ?? preview }
  return (
    <div className="space-y-3">
      <p className="text-sm text-pretty text-muted">{sentences[step.type]}</p>
      {step.type !== 'delay' && Object.keys(objectOf(result[stepId])).length > 0 && (
        <JsonView title="Result" value={result[stepId]} open={1} />
      )}
    </div>
  )
}

/** Sends the real request and shows the response. */
function TryRequest({ step, data }: { step: DraftStep; data: PreviewData }) {
  const canTry = useCan('editor')
  const attempt = useAction({
    do: () =>
      api('POST /v2/workflows/steps/test-http-request', {
        body: {
          controlValues: step.controlValues,
          previewPayload: previewPayloadOf(data),
        },
      }),
  })
  const answer = attempt.data
  return (
    <div className="space-y-3">
      <Button
        icon={<Send />}
        pending={attempt.isPending}
        disabled={!canTry}
        hint={canTry ? 'Sends the real request now' : 'Viewers cannot send requests'}
        onClick={() => attempt.mutate()}
      >
        Try the request
      </Button>
      {answer && (
        <div className="space-y-2">
          <p className="text-sm">
            <Status tone={answer.statusCode < 400 ? 'good' : 'bad'}>Status {answer.statusCode}</Status>{' '}
            <span className="text-muted">after {duration(answer.durationMs)}</span>
          </p>
          <JsonView title="Answer" value={answer.body} />
        </div>
      )}
    </div>
  )
}
