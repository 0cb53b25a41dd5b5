// Adding an integration: choose a provider, then fill in its credentials.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ArrowLeft, ExternalLink } from 'lucide-react'
import { useMemo } from 'react'
import { type Integration, integrations, type Provider } from '../../api/integrations.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState, Loaded } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { type Channel, channels, lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input, SearchInput } from '../../ui/form/input.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'
import { oneOf, text, useUrlState } from '../../ui/list/url-state.ts'
import { CredentialFields, type Credentials } from './credentials.tsx'
import { isSandbox, ProviderTile } from './providers.tsx'

/** `?add=catalogue`, or `?add=` with a provider. */
const schema = { add: text(), find: text(), channel: oneOf(['all', ...channels], 'all') }

export function useAdding() {
  const [{ add }, setUrl] = useUrlState(schema)
  return {
    isOpen: add !== '',
    open: (channel: Channel | 'all' = 'all') => setUrl({ add: 'catalogue', channel }, { push: true }),
    close: () => setUrl({ add: '', find: '', channel: 'all' }),
  }
}

export function AddIntegration({ all }: { all: readonly Integration[] }) {
  const [{ add }, setUrl] = useUrlState(schema)
  const { close } = useAdding()
  const query = useQuery(integrations.providers())
  const provider = query.data?.find(({ id }) => id === add)
  if (add === '') return null
  return (
    <Dialog
      open
      onClose={close}
      size={provider ? 'md' : 'lg'}
      title={provider ? `Add ${provider.name}` : 'Add an integration'}
      description={provider ? undefined : 'Choose who delivers your messages. You add the credentials next.'}
    >
      {provider ? (
        <NewIntegration key={provider.id} provider={provider} onBack={() => setUrl({ add: 'catalogue' })} />
      ) : (
        <Loaded query={query}>{(providers) => <Catalogue providers={providers} all={all} />}</Loaded>
      )}
    </Dialog>
  )
}

function Catalogue({ providers, all }: { providers: readonly Provider[]; all: readonly Integration[] }) {
  const [{ find, channel }, setUrl] = useUrlState(schema)
  const offered = useMemo(() => {
    // Each environment already has one of each sandbox integration; nobody can add the one for chat.
    const isThere = ({ id }: Provider) => all.some(({ providerId }) => providerId === id)
    return providers.filter(
      (one) =>
        !((one.channel === 'in_app' || isSandbox(one)) && isThere(one)) && !(isSandbox(one) && one.channel === 'chat'),
    )
  }, [providers, all])
  const words = find.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ id, name, channel: own }: Provider) =>
    (channel === 'all' || own === channel) &&
    words.every((word) => `${id} ${name} ${lookOf(own).label}`.toLowerCase().includes(word))
  const shown = offered.filter(fits).toSorted((one, other) => one.name.localeCompare(other.name))
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-2">
        <SearchInput
          value={find}
          onValue={(next) => setUrl({ find: next })}
          label="Search providers"
          placeholder="SendGrid, Twilio, Slack…"
          autoFocus
          className="min-w-56 flex-1"
        />
        <div className="max-w-full overflow-x-auto">
          <Segments
            label="Channel"
            value={channel}
            onValue={(next) => setUrl({ channel: next })}
            options={[
              { value: 'all', label: 'All' },
              ...channels
                .filter((one) => offered.some((provider) => provider.channel === one))
                .map((one) => ({ value: one, label: lookOf(one).label })),
            ]}
          />
        </div>
      </div>
      {shown.length === 0 && (
        <EmptyState
          title={`No provider matches “${find}”`}
          className="py-10"
          action={<Button onClick={() => setUrl({ find: '', channel: 'all' })}>Show all</Button>}
        >
          For your own service, choose Email Webhook, Generic SMS, Chat Webhook or Push Webhook: they post every message
          to a URL.
        </EmptyState>
      )}
      {channels.map((one) => {
        const ofChannel = shown.filter((provider) => provider.channel === one)
        if (ofChannel.length === 0) return null
        return (
          <section key={one} aria-label={lookOf(one).label}>
            <h3 className="mb-2 flex items-center gap-2 text-xs font-medium text-muted">
              <StepIcon kind={one} className="size-3.5" />
              {lookOf(one).label}
              <span className="font-normal">{ofChannel.length}</span>
            </h3>
            <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
              {ofChannel.map((provider) => (
                <li key={provider.id}>
                  <button
                    type="button"
                    onClick={() => setUrl({ add: provider.id }, { push: true })}
                    className="flex h-11 w-full items-center gap-2.5 rounded-surface border px-2 text-left text-sm transition-colors duration-120 hover:border-line-strong hover:bg-hover"
                  >
                    <ProviderTile providerId={provider.id} name={provider.name} channel={one} />
                    <span className="min-w-0 flex-1 truncate font-medium">{provider.name}</span>
                    {isSandbox(provider) && <Badge>Sandbox</Badge>}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

function NewIntegration({ provider, onBack }: { provider: Provider; onBack: () => void }) {
  const navigate = useNavigate()
  const canCheck = provider.channel === 'email' && !isSandbox(provider)
  const flags = provider.credentials.filter(({ type }) => type === 'flag').map(({ name }) => [name, false])
  const form = useForm({
    initial: {
      name: provider.name,
      credentials: Object.fromEntries(flags) as Credentials,
      active: true,
      check: canCheck,
    },
    submit: ({ check, credentials, ...values }) =>
      integrations.create({
        ...values,
        credentials: Object.fromEntries(Object.entries(credentials).filter(([, value]) => value !== '')),
        providerId: provider.id as Parameters<typeof integrations.create>[0]['providerId'],
        channel: provider.channel,
        ...(check ? { check } : {}),
      }),
    refresh: ['integrations'],
    done: ({ name }) => `“${name}” added`,
    onDone: ({ _id }) =>
      void navigate({
        to: '/integrations/{-$integrationId}',
        params: { integrationId: _id },
        search: provider.channel === 'in_app' ? {} : { tab: 'test' },
      }),
  })
  const missing = provider.credentials.filter(
    ({ name, required }) => required && [undefined, ''].includes(form.values.credentials[name] as string | undefined),
  )
  return (
    <Form form={form}>
      <div className="flex items-center gap-3 rounded-surface border bg-raised px-3 py-2.5">
        <ProviderTile providerId={provider.id} name={provider.name} channel={provider.channel} />
        <span className="min-w-0 flex-1 text-sm">
          <span className="block truncate font-medium">{provider.name}</span>
          <span className="block truncate text-xs text-muted">{lookOf(provider.channel).label}</span>
        </span>
        {provider.docs && (
          <a
            href={provider.docs}
            target="_blank"
            rel="noreferrer"
            className="inline-flex items-center gap-1 text-xs text-muted underline-offset-2 hover:text-ink hover:underline"
          >
            Documentation <ExternalLink className="size-3" aria-hidden />
          </a>
        )}
      </div>
      <Field form={form} name="name" label="Name" hint="The name your colleagues see in lists.">
        {(control) => <Input {...control} dir="auto" />}
      </Field>
      <CredentialFields
        fields={provider.credentials}
        value={form.values.credentials}
        onValue={(credentials) => form.set({ credentials })}
      />
      <Field
        form={form}
        name="active"
        label="Active"
        hint={
          provider.channel === 'email' || provider.channel === 'sms'
            ? 'The first active integration of a channel becomes primary.'
            : undefined
        }
        inline
      >
        {(control) => <Checkbox {...control} />}
      </Field>
      {canCheck && (
        <Field
          form={form}
          name="check"
          label="Check the credentials before saving"
          hint="Belfry contacts the provider but sends no message."
          inline
        >
          {(control) => <Checkbox {...control} />}
        </Field>
      )}
      <FormError form={form} />
      {missing.length > 0 && (
        <p className="text-xs text-muted">
          It cannot deliver without {missing.map(({ label }) => label).join(', ')}. You can add this later.
        </p>
      )}
      <DialogFooter>
        <Button variant="ghost" icon={<ArrowLeft />} onClick={onBack} className="mr-auto">
          All providers
        </Button>
        <SubmitButton form={form} disabled={form.values.name.trim() === ''}>
          Add integration
        </SubmitButton>
      </DialogFooter>
    </Form>
  )
}
