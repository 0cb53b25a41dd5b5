// A sandbox message as the recipient would see it, and everything the provider would have received.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft, Download, Monitor, Smartphone } from 'lucide-react'
import { type SandboxMessage, sandbox } from '../../api/sandbox.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { ErrorState, SkeletonText } from '../../ui/base/states.tsx'
import { absoluteTime } from '../../ui/base/time.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { JsonView } from '../../ui/code/json-view.tsx'
import { ChatFrame, EmailFrame, PushFrame, SmsFrame } from '../../ui/domain/message-frames.tsx'
import { lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { Segments, TabPanel, Tabs } from '../../ui/frame/tabs.tsx'
import { oneOf, useUrlState } from '../../ui/list/url-state.ts'

const views = ['message', 'text', 'headers', 'attachments', 'source'] as const
type View = (typeof views)[number]

const schema = { view: oneOf(views, 'message'), width: oneOf(['desktop', 'phone'], 'desktop') }

export function MessageView({ messageId }: { messageId: string }) {
  const query = useQuery(sandbox.one(messageId))
  return (
    <article aria-label="Message" className="p-4 sm:p-6">
      <ButtonLink
        to={'/sandbox/{-$messageId}' as never}
        params={{ messageId: undefined } as never}
        search={true as never}
        variant="ghost"
        size="sm"
        icon={<ArrowLeft />}
        className="mb-3 -ml-2 lg:hidden"
      >
        All messages
      </ButtonLink>
      {query.data ? (
        <Whole message={query.data} />
      ) : query.error ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <SkeletonText lines={8} />
      )}
    </article>
  )
}

function Whole({ message }: { message: SandboxMessage }) {
  const [{ view, width }, setState] = useUrlState(schema)
  const isEmail = message.channel === 'email'
  const headers = headersOf(message)
  const tabs: Array<{ value: View; label: string; count?: number }> = [
    { value: 'message', label: isEmail ? 'HTML' : lookOf(message.channel).label },
    ...(isEmail
      ? ([
          { value: 'text', label: 'Text' },
          { value: 'headers', label: 'Headers' },
          { value: 'attachments', label: 'Attachments', count: message.attachments.length },
        ] as const)
      : []),
    { value: 'source', label: 'Source' },
  ]
  const shown = tabs.some(({ value }) => value === view) ? view : 'message'
  return (
    <>
      <header className="mb-4 flex gap-3">
        <StepIcon kind={message.channel} tile />
        <div className="min-w-0 flex-1">
          <h2 className="text-lg font-semibold break-words" dir="auto">
            {message.subject ?? `${lookOf(message.channel).label} to ${message.to[0] ?? 'nobody'}`}
          </h2>
          <p className="text-xs break-words text-muted">
            To {message.to.join(', ')} · {absoluteTime(message.createdAt)}
          </p>
          <p className="mt-1.5 flex flex-wrap gap-x-3 gap-y-1 text-xs">
            <Facet to="/activity" search={{ transactionId: message.transactionId }}>
              Open the run
            </Facet>
            <Facet to={`/workflows/${encodeURIComponent(message.workflowId)}`} search={{ step: message.stepId }}>
              {message.workflowId}
            </Facet>
            <Facet to={`/subscribers/${encodeURIComponent(message.subscriberId)}`}>{message.subscriberId}</Facet>
          </p>
        </div>
      </header>
      <Tabs
        label="Parts of the message"
        value={shown}
        onValue={(view) => setState({ view })}
        tabs={tabs}
        actions={
          isEmail &&
          shown === 'message' && (
            <span className="pb-1 max-sm:hidden">
              <Segments
                label="Width"
                value={width}
                onValue={(width) => setState({ width })}
                options={[
                  {
                    value: 'desktop',
                    label: (
                      <>
                        <Monitor aria-hidden /> Desktop
                      </>
                    ),
                  },
                  {
                    value: 'phone',
                    label: (
                      <>
                        <Smartphone aria-hidden /> Phone
                      </>
                    ),
                  },
                ]}
              />
            </span>
          )
        }
      >
        <TabPanel value="message">
          <h3 className="sr-only">As sent</h3>
          <InFrame message={message} isNarrow={width === 'phone'} />
        </TabPanel>
        <TabPanel value="text">
          {message.text ? <CodeBlock code={message.text} /> : <Nothing>No text version.</Nothing>}
        </TabPanel>
        <TabPanel value="headers">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
          <section aria-label="Headers" tabIndex={0} className="overflow-x-auto rounded-surface border bg-page">
            <table className="w-full text-sm">
              <tbody>
                {headers.map(([name, value]) => (
                  <tr key={name} className="border-b last:border-b-0">
                    <th scope="row" className="w-40 px-3 py-2 text-left align-top font-medium text-muted">
                      {name}
                    </th>
                    <td className="px-3 py-2 font-mono text-code break-all">{value}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </TabPanel>
        <TabPanel value="attachments">
          {message.attachments.length === 0 ? (
            <Nothing>No attachments.</Nothing>
          ) : (
            <ul className="divide-y divide-line rounded-surface border bg-page">
              {message.attachments.map((file, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name, and the order is fixed
                <li key={index} className="flex items-center gap-3 px-3 py-2 text-sm">
                  <span className="min-w-0 flex-1">
                    <bdi className="block truncate font-medium">{file.name}</bdi>
                    <span className="text-xs text-muted">
                      {file.mime} · {sizeOf(file.content)}
                      {file.cid ? ' · inline' : ''}
                    </span>
                  </span>
                  <Button size="sm" icon={<Download />} onClick={() => download(file)}>
                    Download <span className="sr-only">{file.name}</span>
                  </Button>
                </li>
              ))}
            </ul>
          )}
        </TabPanel>
        <TabPanel value="source" className="space-y-4">
          {message.html !== null && <CodeBlock title="HTML" code={message.html} maxHeight={420} />}
          <JsonView title="What the provider would have received" value={message.message} />
        </TabPanel>
      </Tabs>
    </>
  )
}

const Facet = ({ to, search = {}, children }: { to: string; search?: Record<string, string>; children: string }) => (
  <Link
    to={to as never}
    search={search as never}
    className="max-w-full truncate text-muted underline decoration-line-strong underline-offset-2 hover:text-ink"
  >
    {children}
  </Link>
)

const Nothing = ({ children }: { children: string }) => (
  <p className="rounded-surface border bg-page p-6 text-center text-sm text-muted">{children}</p>
)

function InFrame({ message, isNarrow }: { message: SandboxMessage; isNarrow: boolean }) {
  const text = message.text ?? ''
  switch (message.channel) {
    case 'email':
      return (
        <EmailFrame
          subject={message.subject ?? '(no subject)'}
          from={textOf(message.message.from)}
          to={message.to.join(', ')}
          html={withPictures(message)}
          narrow={isNarrow}
        />
      )
    case 'sms':
      return <SmsFrame from={textOf(message.message.from)} body={text} />
    case 'chat':
      return <ChatFrame body={text} />
    case 'push':
      return <PushFrame subject={message.subject} body={text} />
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : Array.isArray(value) && value.length > 0 ? value.join(', ') : undefined

/** Replaces cid: links by the inline images of the email. */
function withPictures({ html, text, attachments }: SandboxMessage): string {
  if (html === null) {
    const safe = (text ?? '').replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    return `<pre style="white-space:pre-wrap;font:inherit">${safe}</pre>`
  }
  return attachments.reduce(
    (whole, { cid, mime, content }) => (cid ? whole.replaceAll(`cid:${cid}`, `data:${mime};base64,${content}`) : whole),
    html,
  )
}

function headersOf({ message, subject, headers }: SandboxMessage): Array<[name: string, value: string]> {
  const named: Array<[string, unknown]> = [
    ['From', message.from],
    ['Sender name', message.senderName],
    ['To', message.to],
    ['Cc', message.cc],
    ['Bcc', message.bcc],
    ['Reply-To', message.replyTo],
    ['Subject', subject],
    ...Object.entries(headers),
  ]
  return named.flatMap(([name, value]) => {
    const said = textOf(value)
    return said ? [[name, said] as [string, string]] : []
  })
}

function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4)
  return bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${Math.round(bytes / 1024)} KB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`
}

function download({ name, mime, content }: SandboxMessage['attachments'][number]): void {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))
  const url = URL.createObjectURL(new Blob([bytes], { type: mime }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
