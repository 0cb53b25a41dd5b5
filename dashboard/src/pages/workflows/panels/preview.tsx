// A live preview of what the selected step would deliver.
import { useQuery } from '@tanstack/react-query'
import { Plus, RotateCcw, Send } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { useCan } from '../../../api/auth.ts'
import { useAction } from '../../../api/cache.ts'
import { api } from '../../../api/client.ts'
import { consent } from '../../../api/consent.ts'
import { nameOf } from '../../../api/subscribers.ts'
import { translations } from '../../../api/translations.ts'
import { type Workflow, workflows } from '../../../api/workflows.ts'
import { useEnvironment } from '../../../shell/environment.ts'
import { Button } from '../../../ui/base/button.tsx'
import { counted } from '../../../ui/base/counted.ts'
import { localeName } from '../../../ui/base/locales.ts'
import { ErrorState, Skeleton } from '../../../ui/base/states.tsx'
import { Status } from '../../../ui/base/status.tsx'
import { duration } from '../../../ui/base/time.tsx'
import { CodeBlock } from '../../../ui/code/code-block.tsx'
import { JsonView } from '../../../ui/code/json-view.tsx'
import { ChatFrame, EmailFrame, InAppFrame, PushFrame, SmsFrame } from '../../../ui/domain/message-frames.tsx'
import { Seen, type Sight, sights } from '../../../ui/domain/sight.tsx'
import { SubscriberPicker } from '../../../ui/domain/subscriber-picker.tsx'
import { type EmailWidth, WidthSwitch } from '../../../ui/email/width-switch.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { JsonField } from '../controls/basic.tsx'
import { Fold } from '../controls/fold.tsx'
import type { DraftStep } from '../draft/draft.ts'
import { mostExampleEvents, type PreviewData, previewPayloadOf } from '../draft/preview-data.ts'
import { objectOf, textOf } from '../draft/step-context.ts'
import { amountOf, cronInWords } from '../draft/steps.ts'
import { useDebounced } from '../draft/use-debounced.ts'

interface PreviewProps {
  workflow: Workflow
  step: DraftStep
  /** Whether the step reads what a digest has collected, or is one. */
  hasDigest: boolean
  data: PreviewData
}

export function Preview({ workflow, step, hasDigest, data }: PreviewProps) {
  const { payload, subscriber, set } = data
  const [sight, setSight] = useState<Sight>('usual')
  const request = useDebounced({ controlValues: step.controlValues, previewPayload: previewPayloadOf(data) }, 250)
  const preview = useQuery({
    // When it was last saved: the results of earlier steps may have changed.
    ...workflows.preview(workflow.workflowId, step.stepId, request, workflow.updatedAt),
    enabled: step._id !== undefined,
  })
  const answer = preview.data
  const example = objectOf(answer?.previewPayloadExample)
  const shown = objectOf(answer?.result.preview)
  const error = answer?.result.error
  const isOwn = Object.values({ ...data, digests: undefined, set: undefined }).some((value) => value !== undefined)
  return (
    <div className="space-y-4" data-preview aria-busy={preview.isFetching}>
      <div className="flex flex-wrap items-center gap-2">
        <SubscriberPicker
          aria-label="Preview for"
          placeholder="Example subscriber"
          className="min-w-40 flex-1"
          value={data.subscriberId}
          onValue={(subscriberId) => set({ subscriberId })}
        />
        {workflow.isTranslationEnabled && <Language value={data.locale} onValue={(locale) => set({ locale })} />}
        {messages.has(step.type) && (
          <Select aria-label="Seen" className="w-36" value={sight} onValue={setSight} options={sights} />
        )}
        {isOwn && (
          <Button
            variant="ghost"
            size="icon"
            hint="Back to the example"
            onClick={() => set({ subscriberId: undefined, payload: undefined, locale: undefined, events: undefined })}
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
        <Seen sight={sight}>
          <Shown
            step={step}
            preview={shown}
            example={example}
            to={subscriber ? nameOf(subscriber) : 'John Doe'}
            sight={sight}
          />
        </Seen>
      )}
      {step.type === 'email' && workflow.messageClass === 'commercial' && answer && !error && (
        <FooterNote step={step} html={textOf(shown.body)} />
      )}
      {step.type === 'http_request' && <TryRequest step={step} data={data} />}
      <Fold title="Example payload" aside={payload ? 'yours' : 'from the variables in your templates'}>
        <JsonField
          label="Payload"
          value={payload ?? example.payload ?? {}}
          onValue={(next) => set({ payload: next === undefined ? undefined : objectOf(next) })}
          hint="Test runs use it too."
        />
      </Fold>
      {hasDigest && <ExampleEvents data={data} payload={payload ?? objectOf(example.payload)} />}
    </div>
  )
}

/** Commercial mail needs a link to unsubscribe. In previews all links of ours lead to one place. */
function FooterNote({ step, html }: { step: DraftStep; html: string }) {
  const environment = useEnvironment()
  const { data } = useQuery(consent.of(environment._id))
  const own = JSON.stringify(step.controlValues)
  const isNamed = /\b(unsubscribe_url|preferences_url)\b/.test(own)
  const isLinked = isNamed || (html.includes('/l/preview') && !own.includes('view_in_browser_url'))
  if (isLinked || !data) return null
  return (
    <p className="rounded-control border bg-raised px-3 py-2 text-sm text-muted" role="note">
      {data.footer
        ? 'It has no link to unsubscribe: the footer will be added, with your name, your postal address and the links.'
        : 'It has no link to unsubscribe, and the footer is switched off. Write {{unsubscribe_url}} into it.'}
    </p>
  )
}

/** The payloads of what a digest has collected. */
function ExampleEvents({ data, payload }: { data: PreviewData; payload: Record<string, unknown> }) {
  const events = data.events ?? [payload, payload, payload]
  return (
    <Fold title="Example events" aside={`${events.length} collected`}>
      <div className="space-y-2">
        <JsonField
          label="Events"
          value={events}
          onValue={(next) => data.set({ events: Array.isArray(next) ? next.map(objectOf) : undefined })}
          hint="The payload of each event that the digest has collected. Test runs send them one after another."
        />
        <Button
          size="sm"
          icon={<Plus />}
          disabled={events.length >= mostExampleEvents}
          onClick={() => data.set({ events: [...events, events.at(-1) ?? payload] })}
        >
          Add an event
        </Button>
      </div>
    </Fold>
  )
}

/** The languages of the organization. */
function Language({ value, onValue }: { value: string | undefined; onValue: (locale: string | undefined) => void }) {
  const { data: settings } = useQuery(translations.locales())
  const locales = settings ? [...new Set([settings.defaultLocale, ...settings.targetLocales])] : []
  return (
    <Select
      aria-label="Language"
      className="w-40"
      value={value ?? 'own'}
      onValue={(locale) => onValue(locale === 'own' ? undefined : locale)}
      options={[
        { value: 'own', label: 'Their language' },
        ...[...new Set([...locales, ...(value ? [value] : [])])].map((locale) => ({
          value: locale,
          label: localeName(locale),
        })),
      ]}
    />
  )
}

interface ShownProps {
  step: DraftStep
  preview: Record<string, unknown>
  example: Record<string, unknown>
  to: string
  sight: Sight
}

/** Steps whose result is a message. */
const messages: ReadonlySet<string> = new Set(['in_app', 'email', 'sms', 'chat', 'push'])

function Shown({ step, preview, example, to, sight }: ShownProps) {
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
        <EmailPreview
          subject={subject}
          html={body}
          to={to}
          from={textOf(objectOf(step.controlValues.from).name)}
          isDark={sight === 'dark'}
        />
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

interface EmailPreviewProps {
  subject: string
  html: string
  to: string
  from: string
  isDark: boolean
}

function EmailPreview({ subject, html, to, from, isDark }: EmailPreviewProps) {
  const outer = useRef<HTMLDivElement>(null)
  const room = useRoom(outer)
  const [chosen, setChosen] = useState<EmailWidth>()
  // Scaled to less than three quarters, a desktop's email cannot be read.
  const width = chosen ?? (room > 0 && room < desktopPx * 0.75 ? 'phone' : 'desktop')
  return (
    <div ref={outer}>
      <div className="mb-2 flex justify-end">
        <WidthSwitch value={width} onValue={setChosen} hasSmall />
      </div>
      <AtWidth px={width === 'desktop' ? desktopPx : undefined}>
        <EmailFrame
          key={width}
          from={from || 'your app'}
          to={to}
          subject={subject || <span className="text-muted">No subject yet</span>}
          html={html}
          isDark={isDark}
          {...(width === 'desktop' ? {} : { narrow: width })}
        />
      </AtWidth>
    </div>
  )
}

const desktopPx = 640

/** The width of an element; 0 until it is known. */
function useRoom(element: RefObject<HTMLElement | null>): number {
  const [room, setRoom] = useState(0)
  useEffect(() => {
    if (!element.current) return
    const resizing = new ResizeObserver(([entry]) => setRoom(entry?.contentRect.width ?? 0))
    resizing.observe(element.current)
    return () => resizing.disconnect()
  }, [element])
  return room
}

/** Renders at the given width and scales down to fit: a narrow column must not turn a desktop preview into a phone. */
function AtWidth({ px, children }: { px: number | undefined; children: ReactNode }) {
  const outer = useRef<HTMLDivElement>(null)
  const room = useRoom(outer)
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
        {counted(text.length, 'character')}, {count === 1 ? 'one message' : `${count} messages`}
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
