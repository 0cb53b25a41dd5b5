// The check of a sender's domain: what the DNS says, check by check, and the record to publish.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { type DomainCheck, type Integration, integrations } from '../../api/integrations.ts'
import { Button } from '../../ui/base/button.tsx'
import { CopyButton } from '../../ui/base/copy.tsx'
import { ErrorState, SkeletonText } from '../../ui/base/states.tsx'
import { Status, type Tone } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'

const looks: Record<DomainCheck['status'], { tone: Tone; word: string }> = {
  pass: { tone: 'good', word: 'Good' },
  warn: { tone: 'warn', word: 'Could be better' },
  fail: { tone: 'bad', word: 'Needs work' },
  skip: { tone: 'neutral', word: 'Not checked' },
}

const titles: Record<DomainCheck['id'], { title: string; about: string }> = {
  spf: { title: 'SPF', about: 'Which servers may send mail for the domain.' },
  dkim: { title: 'DKIM', about: 'The key with which receivers check the signature.' },
  dmarc: { title: 'DMARC', about: 'What receivers do with mail that is forged.' },
  mx: { title: 'MX', about: 'Where answers and bounces arrive.' },
  ptr: { title: 'Reverse DNS', about: 'Whether the mail server has a name that leads back to it.' },
  tls: { title: 'Encryption', about: 'Whether the mail server encrypts.' },
  bimi: { title: 'BIMI', about: 'A logo beside the mail; optional.' },
  one_click: { title: 'One-click unsubscribe', about: 'What large mail providers ask of commercial mail.' },
}

export function DomainTab({ integration }: { integration: Integration }) {
  const from = (integration.credentials as Record<string, unknown>).from
  const own = typeof from === 'string' ? (from.split('@').at(-1)?.replace('>', '').trim() ?? '') : ''
  const [asked, setAsked] = useState({ domain: own, selector: '' })
  const [form, setForm] = useState(asked)
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const options = integrations.deliverability(integration._id, asked)
  const report = useQuery({ ...options, enabled: asked.domain !== '' })
  const again = async () => {
    setAsking(true)
    setAsked(form)
    const next = integrations.deliverability(integration._id, form, { fresh: true })
    // What went wrong is shown by the query itself.
    await client.fetchQuery({ ...next, staleTime: 0, retry: false }).catch(() => undefined)
    setAsking(false)
  }
  const isBusy = isAsking || report.isFetching
  return (
    <div className="space-y-5">
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          if (form.domain.trim() !== '') void again()
        }}
      >
        <FieldFrame label="Domain" className="min-w-48 flex-1">
          {(control) => (
            <Input
              {...control}
              value={form.domain}
              onValue={(domain) => setForm({ ...form, domain })}
              placeholder="acme.com"
              spellCheck={false}
            />
          )}
        </FieldFrame>
        <FieldFrame label="DKIM selector" optional className="min-w-36 flex-1">
          {(control) => (
            <Input
              {...control}
              value={form.selector}
              onValue={(selector) => setForm({ ...form, selector })}
              spellCheck={false}
            />
          )}
        </FieldFrame>
        <Button type="submit" icon={<RotateCw />} pending={isBusy} disabled={form.domain.trim() === ''}>
          {report.data ? 'Check again' : 'Check'}
        </Button>
      </form>
      {asked.domain === '' ? (
        <p className="text-sm text-muted">The integration has no From address. Name the domain that you send from.</p>
      ) : report.data ? (
        <Report report={report.data} />
      ) : report.error ? (
        <ErrorState error={report.error} onRetry={() => void again()} />
      ) : (
        <SkeletonText lines={8} />
      )}
    </div>
  )
}

type DomainReport = NonNullable<
  Awaited<ReturnType<NonNullable<ReturnType<typeof integrations.deliverability>['queryFn']>>>
>

function Report({ report }: { report: DomainReport }) {
  const { tone, word } = looks[report.status]
  return (
    <section aria-label={`Checks of ${report.domain}`} className="space-y-3">
      <p role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <span className="font-medium">{report.domain}</span>
        <Status tone={tone}>{word}</Status>
        <span className="text-xs text-muted">
          Checked <Time at={report.checkedAt} />
        </span>
      </p>
      <ul className="divide-y rounded-surface border">
        {report.checks.map((check) => (
          <li key={check.id} className="space-y-2 px-3 py-3">
            <CheckRow check={check} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function CheckRow({ check }: { check: DomainCheck }) {
  const { title, about } = titles[check.id]
  const { tone, word } = looks[check.status]
  return (
    <>
      <div className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h3 className="text-sm font-semibold">{title}</h3>
          <p className="text-xs text-muted">{about}</p>
        </div>
        <span className="text-xs">
          <Status tone={tone}>{word}</Status>
        </span>
      </div>
      <p className="text-sm text-pretty break-words">{check.summary}</p>
      {check.records.map((record) => (
        <code key={record} className="block rounded-control bg-sunken px-2 py-1 text-code break-all">
          {record}
        </code>
      ))}
      {check.publish && (
        <div className="rounded-control border bg-raised px-3 py-2">
          <p className="text-xs font-medium">Publish this {check.publish.type} record</p>
          <Line label="Name" text={check.publish.name} />
          <Line label="Value" text={check.publish.value} />
        </div>
      )}
    </>
  )
}

function Line({ label, text }: { label: string; text: string }) {
  return (
    <div className="flex items-start gap-2">
      <span className="w-12 shrink-0 pt-1 text-xs text-muted">{label}</span>
      <code className="min-w-0 flex-1 pt-1 text-code break-all">{text}</code>
      <CopyButton text={text} label={`Copy the ${label.toLowerCase()}`} />
    </div>
  )
}
