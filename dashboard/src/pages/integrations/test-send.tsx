// Sends one test message through this integration and shows the provider's answer.
import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, Send } from 'lucide-react'
import { useCan, useSession } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Integration, integrations, type Provider, type TestOutcome } from '../../api/integrations.ts'
import { Button } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { duration } from '../../ui/base/time.tsx'
import { Field, Form, FormError, useForm } from '../../ui/form/form.tsx'
import { Input, Textarea } from '../../ui/form/input.tsx'
import { isSandbox } from './providers.tsx'

const targets: Record<string, { label: string; placeholder: string }> = {
  email: { label: 'Email address', placeholder: 'ada@example.com' },
  sms: { label: 'Phone number', placeholder: '+44 20 7946 0958' },
  push: { label: 'Device token', placeholder: 'The token the provider gave the device' },
  chat: { label: 'Webhook URL or phone number', placeholder: 'https://…' },
}

const remedies: Record<string, string> = {
  credentials: 'Check the credentials, save them, and send again.',
  address: 'The provider does not deliver to this address. Try another one.',
  later: 'Try again in a while; workflow messages are retried automatically.',
  failover: 'The provider does not take this message. Workflow messages go to the next integration.',
  never: 'The provider refuses this message for good. Change it and send again.',
}

/** Where the code says more than its kind. */
const remediesByCode: Record<string, string> = {
  host_unknown: 'Check the spelling of the host in the settings, save it, and send again.',
  connection_failed: 'Check host and port in the settings, and that a firewall lets Belfry out.',
  certificate_refused: 'Its certificate is not valid for this host, or its issuer is unknown here.',
  connection_lost: 'Check the port, and whether the server expects TLS from the start.',
  timeout: 'The server did not answer. Check host and port, and that a firewall lets Belfry out.',
  rate_limited: 'The provider is rate limiting. Try again later; workflow messages are retried automatically.',
  quota_exhausted: 'The quota of your account is used up. Raise it with the provider.',
}
const neverAnswered = new Set([
  'host_unknown',
  'connection_failed',
  'certificate_refused',
  'connection_lost',
  'timeout',
])

export function TestSend({ integration, provider }: { integration: Integration; provider: Provider | undefined }) {
  const { user } = useSession()
  const canTest = useCan('admin')
  const target = targets[integration.channel]
  const send = useAction({
    do: (body: { to: string; subject?: string; content?: string }) => integrations.test(integration._id, body),
    refresh: ['integrations', 'sandbox'],
    quiet: true,
  })
  const form = useForm({
    initial: { to: integration.channel === 'email' ? user.email : '', subject: '', content: '' },
    submit: ({ to, subject, content }) =>
      send.mutateAsync({ to: to.trim(), ...(subject ? { subject } : {}), ...(content ? { content } : {}) }),
  })
  if (!target)
    return (
      <p className="text-sm text-muted">
        In-app messages need no provider. Trigger a workflow with an in-app step to see one.
      </p>
    )
  const hasSubject = integration.channel === 'email' || integration.channel === 'push'
  return (
    <Form form={form}>
      <p className="text-sm text-pretty text-muted">
        Sends through this integration only{integration.active ? '' : ', even though it is inactive'}, with the saved
        credentials. Tests do not appear in the activity.
      </p>
      <Field form={form} name="to" label={target.label}>
        {(control) => <Input {...control} placeholder={target.placeholder} disabled={!canTest} spellCheck={false} />}
      </Field>
      {hasSubject && (
        <Field form={form} name="subject" label={integration.channel === 'push' ? 'Title' : 'Subject'} optional>
          {(control) => <Input {...control} placeholder={`A test of ${integration.name}`} disabled={!canTest} />}
        </Field>
      )}
      <Field form={form} name="content" label="Text" optional>
        {(control) => (
          <Textarea
            {...control}
            placeholder={`This message shows that ${integration.name} delivers.`}
            disabled={!canTest}
          />
        )}
      </Field>
      <FormError form={form} />
      <Button
        type="submit"
        variant="primary"
        icon={<Send />}
        pending={form.isPending}
        disabled={!canTest || form.values.to.trim() === ''}
        {...(canTest ? {} : { hint: 'Only admins and owners can send tests' })}
      >
        Send a test
      </Button>
      {!canTest && <p className="text-xs text-muted">Only admins and owners can send tests.</p>}
      <div aria-live="polite">
        {send.data && !form.isPending && <Outcome outcome={send.data} provider={provider} />}
      </div>
    </Form>
  )
}

function Outcome({ outcome, provider }: { outcome: TestOutcome; provider: Provider | undefined }) {
  const { success, providerMessageId, error, durationMs } = outcome
  const name = provider?.name ?? 'The provider'
  if (success)
    return (
      <div className="rounded-surface border border-good/30 bg-good/8 p-3 text-sm">
        <p className="flex items-center gap-2 font-medium">
          <CircleCheck className="size-4 text-good" aria-hidden />
          {name} accepted the message {duration(durationMs)}
        </p>
        {providerMessageId && (
          <p className="mt-1 flex min-w-0 items-center gap-1.5 pl-6 text-muted">
            Message id: <Id value={providerMessageId} />
          </p>
        )}
        {provider && isSandbox(provider) && (
          <p className="mt-1 pl-6">
            <Link to={'/sandbox' as '/'} className="text-accent underline underline-offset-2">
              Open it in the sandbox
            </Link>
          </p>
        )}
      </div>
    )
  return (
    <div role="alert" className="rounded-surface border border-bad/30 bg-bad/8 p-3 text-sm">
      <p className="flex items-center gap-2 font-medium">
        <CircleAlert className="size-4 shrink-0 text-bad" aria-hidden />
        {name} {neverAnswered.has(error?.code ?? '') ? 'could not be reached' : 'refused the message'}
      </p>
      <div className="mt-1 space-y-1 pl-6">
        <p className="break-words">{error?.message}</p>
        <p className="text-muted">{remediesByCode[error?.code ?? ''] ?? remedies[error?.kind ?? '']}</p>
        <p className="font-mono text-xs text-muted">
          {[error?.code, error?.status && `HTTP ${error.status}`, duration(durationMs)].filter(Boolean).join(' · ')}
        </p>
      </div>
    </div>
  )
}
