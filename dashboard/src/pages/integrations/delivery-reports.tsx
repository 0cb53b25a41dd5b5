// Delivery reports from the provider: the URL it calls and the key it signs with.
import { ExternalLink, TriangleAlert, Wand2 } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Integration, integrations, type Provider } from '../../api/integrations.ts'
import { Button, buttonClass } from '../../ui/base/button.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { FieldFrame, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { SecretInput } from './credentials.tsx'

export function DeliveryReports({ integration, provider }: { integration: Integration; provider: Provider }) {
  const canChange = useCan('admin')
  const { configurations, _id, _environmentId } = integration
  const url = `${window.location.origin}/v2/inbound-webhooks/delivery-providers/${_environmentId}/${_id}`
  const hasCredential = (name: string) => Boolean((integration.credentials as Record<string, unknown>)[name])
  const isChecked =
    (configurations.inboundWebhookSigningKey ?? '') !== '' || provider.reportsCheckedBy.some(hasCredential)
  const form = useForm({
    initial: {
      inboundWebhookEnabled: configurations.inboundWebhookEnabled ?? false,
      inboundWebhookSigningKey: configurations.inboundWebhookSigningKey ?? '',
    },
    submit: (values) => integrations.change(_id, { configurations: { ...configurations, ...values } }),
    refresh: ['integrations'],
    done: 'Saved',
  })
  const configure = useAction({
    do: () => integrations.configure(_id),
    refresh: ['integrations'],
    onDone: ({ integration: after }) => {
      if (after)
        form.reset({
          inboundWebhookEnabled: after.configurations.inboundWebhookEnabled ?? false,
          inboundWebhookSigningKey: after.configurations.inboundWebhookSigningKey ?? '',
        })
    },
  })
  return (
    <div className="space-y-5">
      <p className="text-sm text-pretty text-muted">
        {provider.name} can report to Belfry when a message is delivered, opened or bounced. Give it this URL.
      </p>
      <CodeBlock code={url} title="Inbound webhook URL" className="[&_pre]:break-all [&_pre]:whitespace-pre-wrap" />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          icon={<Wand2 />}
          pending={configure.isPending}
          disabled={!canChange}
          onClick={() => configure.mutate()}
          {...(canChange ? {} : { hint: 'Only admins and owners can change integrations' })}
        >
          Set it up at {provider.name}
        </Button>
        {provider.docs && (
          <a href={provider.docs} target="_blank" rel="noreferrer" className={buttonClass({ variant: 'ghost' })}>
            <ExternalLink /> Their documentation
          </a>
        )}
      </div>
      {configure.data && (
        <p role="status" className={`text-sm ${configure.data.success ? 'text-good' : 'text-bad'}`}>
          {configure.data.success ? `${provider.name} now reports to this URL.` : configure.data.message}
        </p>
      )}
      {configurations.inboundWebhookEnabled && !isChecked && (
        <p className="flex gap-2 rounded-surface border border-warn/30 bg-warn/8 px-3 py-2 text-sm">
          <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
          <span>
            A signing key is missing. Anybody who knows the URL can report messages as delivered or bounced, and Belfry
            believes it.
          </span>
        </p>
      )}
      <Form form={form}>
        <FieldFrame label="Accept reports" hint="While this is off, Belfry refuses reports." inline>
          {(control) => (
            <Checkbox
              {...control}
              value={form.values.inboundWebhookEnabled}
              onValue={(inboundWebhookEnabled) => form.set({ inboundWebhookEnabled })}
              disabled={!canChange}
            />
          )}
        </FieldFrame>
        <FieldFrame
          label="Signing key"
          hint="Copy it from the provider. If the provider does not sign, choose a secret and add it to the URL as ?token=…. Belfry then refuses forged reports."
          optional
        >
          {(control) => (
            <SecretInput
              {...control}
              label="Signing key"
              value={form.values.inboundWebhookSigningKey}
              onValue={(inboundWebhookSigningKey) => form.set({ inboundWebhookSigningKey })}
              isStored={(configurations.inboundWebhookSigningKey ?? '') !== ''}
              isKept={form.values.inboundWebhookSigningKey === configurations.inboundWebhookSigningKey}
              onKeep={() => form.set({ inboundWebhookSigningKey: configurations.inboundWebhookSigningKey ?? '' })}
              disabled={!canChange}
              isLong
            />
          )}
        </FieldFrame>
        <FormError form={form} />
        {canChange && (
          <SubmitButton form={form} disabled={!form.isDirty}>
            Save
          </SubmitButton>
        )}
      </Form>
    </div>
  )
}
