import { useQuery } from '@tanstack/react-query'
import { ExternalLink, Star, Trash2 } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import {
  type Integration,
  type IntegrationChanges,
  integrations,
  type Provider,
  providerOf,
} from '../../api/integrations.ts'
import { Button } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { EmptyState, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { Field, FieldFrame, Form, FormError, SubmitButton, useForm, useUnsavedGuard } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Checkbox, Switch } from '../../ui/form/switch.tsx'
import { Menu, MenuItem } from '../../ui/frame/menu.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { TabPanel, Tabs } from '../../ui/frame/tabs.tsx'
import { oneOf, useUrlState } from '../../ui/list/url-state.ts'
import { hasPrimary, useIntegrationActions } from './actions.ts'
import { ConditionsEditor } from './conditions.tsx'
import { CredentialFields, type Credentials } from './credentials.tsx'
import { DeliveryReports } from './delivery-reports.tsx'
import { DomainTab } from './domain.tsx'
import { HealthNote } from './health.tsx'
import { isSandbox } from './providers.tsx'
import { TestSend } from './test-send.tsx'

const schema = { tab: oneOf(['settings', 'test', 'domain', 'reports'], 'settings') }

interface IntegrationSheetProps {
  integrationId: string | undefined
  onClose: () => void
}

export function IntegrationSheet({ integrationId, onClose }: IntegrationSheetProps) {
  const list = useQuery(integrations.list())
  const providers = useQuery(integrations.providers())
  const integration = list.data?.find(({ _id }) => _id === integrationId)
  const provider = integration && providerOf(providers.data, integration.providerId)
  if (integrationId === undefined) return null
  if (!integration || !list.data || !providers.data)
    return (
      <Sheet open onClose={onClose} title="Integration">
        {list.data && providers.data ? (
          <EmptyState title="Integration not found" action={<Button onClick={onClose}>Show all</Button>}>
            It was deleted, or it belongs to another environment.
          </EmptyState>
        ) : (
          <SkeletonText lines={6} />
        )}
      </Sheet>
    )
  return <OpenSheet key={integrationId} {...{ integration, provider, onClose }} all={list.data} />
}

interface OpenSheetProps {
  integration: Integration
  provider: Provider | undefined
  all: readonly Integration[]
  onClose: () => void
}

function OpenSheet({ integration, provider, all, onClose }: OpenSheetProps) {
  const canChange = useCan('admin')
  const [{ tab }, setUrl] = useUrlState(schema)
  const { setActive, makePrimary, askRemove } = useIntegrationActions(integration, all)
  const reports = provider?.reportsDeliveries ?? false
  const tabs = [
    { value: 'settings' as const, label: 'Settings' },
    ...(integration.channel === 'in_app' ? [] : [{ value: 'test' as const, label: 'Test' }]),
    ...(integration.channel === 'email' ? [{ value: 'domain' as const, label: 'Domain' }] : []),
    ...(reports ? [{ value: 'reports' as const, label: 'Delivery reports' }] : []),
  ]
  const shown = tabs.some(({ value }) => value === tab) ? tab : 'settings'
  return (
    <Sheet
      open
      onClose={onClose}
      label={integration.name}
      title={
        <span className="flex items-center gap-2">
          <span className="truncate" dir="auto">
            {integration.name}
          </span>
          {integration.primary && <Badge tone="info">Primary</Badge>}
        </span>
      }
      subtitle={provider?.name ?? integration.providerId}
      actions={
        <>
          <span aria-hidden className="text-xs text-muted max-sm:hidden">
            {integration.active ? 'Active' : 'Inactive'}
          </span>
          <Switch
            aria-label="Active"
            value={integration.active}
            onValue={(active) => setActive.mutate(active)}
            disabled={!canChange || setActive.isPending}
          />
          {canChange && (
            <Menu label="More actions">
              {hasPrimary(integration) && (
                <MenuItem icon={<Star />} disabled={integration.primary} onSelect={() => makePrimary.mutate()}>
                  {integration.primary ? 'Already primary' : 'Make primary'}
                </MenuItem>
              )}
              <MenuItem icon={<Trash2 />} danger onSelect={() => void askRemove()}>
                Delete…
              </MenuItem>
            </Menu>
          )}
        </>
      }
    >
      <HealthNote integration={integration} />
      {!integration.active && (
        <p className="mb-4 rounded-surface border bg-raised px-3 py-2 text-sm text-muted">
          Inactive: it sends no messages, only tests.
        </p>
      )}
      <Tabs label="Integration" value={shown} onValue={(next) => setUrl({ tab: next })} tabs={tabs}>
        <TabPanel value="settings">
          <Settings integration={integration} provider={provider} />
        </TabPanel>
        <TabPanel value="test">
          <TestSend integration={integration} provider={provider} />
        </TabPanel>
        {shown === 'domain' && (
          <TabPanel value="domain">
            <DomainTab integration={integration} />
          </TabPanel>
        )}
        {provider && reports && (
          <TabPanel value="reports">
            <DeliveryReports integration={integration} provider={provider} />
          </TabPanel>
        )}
      </Tabs>
    </Sheet>
  )
}

const badgeCounts = [
  { value: 'none', label: 'No count' },
  { value: 'unread', label: 'Unread in-app messages' },
  { value: 'unseen', label: 'Unseen in-app messages' },
] as const

function Settings({ integration, provider }: { integration: Integration; provider: Provider | undefined }) {
  const canChange = useCan('admin')
  const { name, identifier, conditions, configurations, channel } = integration
  const stored = integration.credentials as Credentials
  const initial = { name, identifier, credentials: stored, conditions, configurations, check: channel === 'email' }
  const form = useForm({
    initial,
    submit: async (values) => {
      const changed = (field: 'name' | 'identifier' | 'credentials' | 'conditions' | 'configurations') =>
        JSON.stringify(values[field]) === JSON.stringify(integration[field]) ? {} : { [field]: values[field] }
      const isNew = JSON.stringify(values.credentials) !== JSON.stringify(stored)
      const body = {
        ...{ ...changed('name'), ...changed('identifier'), ...changed('credentials') },
        ...{ ...changed('conditions'), ...changed('configurations') },
        ...(isNew && values.check && !isOwn ? { check: true } : {}),
      } as IntegrationChanges
      return integrations.change(integration._id, body)
    },
    refresh: ['integrations'],
    done: 'Saved. It applies from the next message on',
  })
  const isOwn = provider !== undefined && isSandbox(provider)
  const isDirty = JSON.stringify({ ...form.values, check: 0 }) !== JSON.stringify({ ...initial, check: 0 })
  const isChanged = JSON.stringify(form.values.credentials) !== JSON.stringify(stored)
  useUnsavedGuard(isDirty && !form.isPending && form.isDirty)
  return (
    <Form form={form} className="space-y-6">
      {!canChange && (
        <p className="rounded-surface border bg-raised px-3 py-2 text-sm text-muted">
          You can view this. Only admins and owners can change integrations and see secrets.
        </p>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field form={form} name="name" label="Name">
          {(control) => <Input {...control} disabled={!canChange} dir="auto" />}
        </Field>
        <Field form={form} name="identifier" label="Identifier" hint="Use it in a trigger to choose this integration.">
          {(control) => <Input {...control} disabled={!canChange} className="font-mono text-code" spellCheck={false} />}
        </Field>
      </div>
      {provider && (
        <section aria-label="Credentials">
          <div className="mb-3 flex items-center justify-between gap-2 border-b pb-2">
            <h3 className="text-sm font-semibold">{channel === 'in_app' ? 'Security' : 'Credentials'}</h3>
            {provider.docs && (
              <a
                href={provider.docs}
                target="_blank"
                rel="noreferrer"
                className="inline-flex items-center gap-1 text-xs text-muted underline-offset-2 hover:text-ink hover:underline"
              >
                Where to find them <ExternalLink className="size-3" aria-hidden />
              </a>
            )}
          </div>
          <CredentialFields
            fields={provider.credentials}
            value={form.values.credentials}
            onValue={(credentials) => form.set({ credentials })}
            stored={stored}
            disabled={!canChange}
          />
          {channel === 'email' && !isOwn && canChange && isChanged && (
            <div className="mt-4">
              <Field
                form={form}
                name="check"
                label="Check the credentials before saving"
                hint="Belfry contacts the provider but sends no message."
                inline
              >
                {(control) => <Checkbox {...control} />}
              </Field>
            </div>
          )}
        </section>
      )}
      {hasPrimary(integration) && (
        <section aria-label="Conditions">
          <h3 className="mb-1 text-sm font-semibold">Conditions</h3>
          <p className="mb-3 text-xs text-pretty text-muted">
            {integration.primary
              ? 'The primary integration serves every tenant. If you add conditions, it stops being primary.'
              : 'Triggers with a matching tenant use this integration before the primary one.'}
          </p>
          <ConditionsEditor
            value={form.values.conditions}
            onValue={(next) => form.set({ conditions: next })}
            disabled={!canChange}
          />
        </section>
      )}
      {channel === 'push' && (
        <FieldFrame label="Badge count" hint="The number on the app icon.">
          {(control) => (
            <Select
              {...control}
              value={form.values.configurations.inboxCount ?? 'none'}
              onValue={(inboxCount) => form.set({ configurations: { ...form.values.configurations, inboxCount } })}
              options={badgeCounts}
              disabled={!canChange}
            />
          )}
        </FieldFrame>
      )}
      {integration.providerId === 'ses' && (
        <FieldFrame label="Configuration set" hint="AWS reports its events to Belfry." optional>
          {(control) => (
            <Input
              {...control}
              value={form.values.configurations.configurationSetName ?? ''}
              onValue={(configurationSetName) =>
                form.set({ configurations: { ...form.values.configurations, configurationSetName } })
              }
              disabled={!canChange}
            />
          )}
        </FieldFrame>
      )}
      {channel !== 'in_app' && !isOwn && (
        <FieldFrame
          label="Never send twice"
          hint="After a crash or timeout a message may have arrived. Then it fails instead of being sent again. A step can decide otherwise."
          inline
        >
          {(control) => (
            <Switch
              {...control}
              value={form.values.configurations.onUnknown === 'hold'}
              onValue={(isHeld) =>
                form.set({ configurations: { ...form.values.configurations, onUnknown: isHeld ? 'hold' : 'retry' } })
              }
              disabled={!canChange}
            />
          )}
        </FieldFrame>
      )}
      <FormError form={form} />
      {canChange && (
        <div className="flex gap-2">
          <SubmitButton form={form} disabled={!isDirty}>
            Save
          </SubmitButton>
          {isDirty && <Button onClick={() => form.reset(initial)}>Discard</Button>}
        </div>
      )}
      <div className="border-t pt-4">
        <Facts
          facts={[
            ['Id', <Id key="id" value={integration._id} />],
            ['Created', <Time key="created" at={integration.createdAt} />],
            ['Changed', <Time key="changed" at={integration.updatedAt} />],
          ]}
        />
      </div>
    </Form>
  )
}
