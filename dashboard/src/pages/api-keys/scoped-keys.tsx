// The named keys of this environment and of the organization: create one, whose secret is shown once, and revoke it.
import { useQuery } from '@tanstack/react-query'
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type ApiKey, apiKeys, type NewApiKey } from '../../api/api-keys.ts'
import { useCanInOrganization, useSession } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { CopyButton } from '../../ui/base/copy.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { absoluteTime, Time } from '../../ui/base/time.tsx'
import { Field, FieldFrame, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { Dialog, useConfirm } from '../../ui/frame/dialog.tsx'
import { Section } from '../../ui/frame/page.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'

export function ScopedKeys() {
  const environment = useEnvironment()
  const query = useQuery(apiKeys.list())
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<NewApiKey>()
  const ask = useConfirm()
  const revoke = useAction({ do: apiKeys.revoke, refresh: ['api-keys', 'environments'], done: 'Key revoked' })
  const askRevoke = async (key: ApiKey) => {
    const yes = await ask({
      title: `Revoke the key “${key.name}”?`,
      body: 'It is refused at once. Programs that use it stop working until you give them another key.',
      confirm: 'Revoke',
    })
    if (yes) revoke.mutate(key._id)
  }
  return (
    <Section
      title="Named keys"
      description={`Give each program a key that may do just what it needs, in ${environment.name} or in all environments.`}
    >
      <Loaded query={query}>
        {(keys) => (
          <ul aria-label="Named keys" className="divide-y rounded-surface border">
            {keys.map((key) => (
              <Row key={key._id} apiKey={key} onRevoke={() => void askRevoke(key)} />
            ))}
          </ul>
        )}
      </Loaded>
      <div className="mt-4">
        <Button icon={<Plus />} onClick={() => setCreating(true)}>
          New key…
        </Button>
      </div>
      {isCreating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onMade={(key) => {
            setCreating(false)
            setMade(key)
          }}
        />
      )}
      {made && <ShownOnce made={made} onClose={() => setMade(undefined)} />}
    </Section>
  )
}

function Row({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }) {
  const { name, hint, scopes, isOrganizationWide, isCompatible, allowedAddresses, expiresAt, lastUsedAt } = apiKey
  const nameOf = useScopeNames()
  return (
    <li className="flex items-center gap-3 px-3 py-2.5">
      <KeyRound className="size-4 shrink-0 text-muted max-sm:hidden" aria-hidden />
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
          <span className="truncate font-medium" dir="auto">
            {name}
          </span>
          <code className="text-xs text-muted">{hint}</code>
          {isOrganizationWide && <Badge>All environments</Badge>}
          {isCompatible && <Badge>Compatible</Badge>}
        </div>
        <div className="mt-0.5 flex flex-wrap gap-x-3 text-xs text-muted">
          <span>{scopes.map(nameOf).join(', ')}</span>
          {allowedAddresses && <span>from {allowedAddresses.join(', ')}</span>}
          {expiresAt && (
            <span>
              until <time dateTime={expiresAt}>{absoluteTime(expiresAt)}</time>
            </span>
          )}
          <span>
            {lastUsedAt ? (
              <>
                last used <Time at={lastUsedAt} />
              </>
            ) : (
              'never used'
            )}
          </span>
        </div>
      </div>
      {/* The compatible key is rotated or replaced below. */}
      {!isCompatible && (
        <Button variant="ghost" size="icon" hint={`Revoke ${name}`} onClick={onRevoke}>
          <Trash2 />
        </Button>
      )}
    </li>
  )
}

const writable: Record<string, string> = {
  workflows: 'workflows',
  layouts: 'layouts',
  translations: 'translations',
  subscribers: 'subscribers',
  topics: 'topics',
  contexts: 'contexts',
  integrations: 'integrations and credentials',
  messages: 'messages and runs',
  webhooks: 'webhooks',
}
const scopeNames: Record<string, string> = {
  send: 'Send',
  read: 'Read',
  administer: 'Administer',
  ...Object.fromEntries(Object.entries(writable).map(([scope, label]) => [`write:${scope}`, `Change ${label}`])),
}

/** A scope in words; the name of an environment comes from the session. */
function useScopeNames(): (scope: string) => string {
  const { environments } = useSession()
  return (scope) => {
    const target = environments.find(({ _id }) => scope === `publish:${_id}`)
    return target ? `Publish to ${target.name}` : (scopeNames[scope] ?? scope)
  }
}

const lifetimes = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

function CreateKey({ onClose, onMade }: { onClose: () => void; onMade: (key: NewApiKey) => void }) {
  const environment = useEnvironment()
  const { environments } = useSession()
  const nameOf = useScopeNames()
  const form = useForm({
    initial: { name: '', scopes: ['send'], isOrganizationWide: false, allowedAddresses: '', days: '' },
    submit: ({ name, scopes, isOrganizationWide, allowedAddresses, days }) =>
      apiKeys.create({
        name: name.trim(),
        scopes,
        isOrganizationWide,
        ...(allowedAddresses.trim() === '' ? {} : { allowedAddresses: allowedAddresses.trim().split(/[\s,]+/) }),
        ...(days === '' ? {} : { expiresAt: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }),
      }),
    refresh: ['api-keys'],
    onDone: onMade,
  })
  const { scopes, isOrganizationWide } = form.values
  // An admin of one environment makes keys of that one.
  const reachesFurther = useCanInOrganization('admin')
  const targets = environments.filter(({ _id }) => reachesFurther && (isOrganizationWide || _id !== environment._id))
  const choices = [...Object.keys(scopeNames), ...targets.map(({ _id }) => `publish:${_id}`)]
  const isAdministrator = scopes.includes('administer')
  const toggle = (scope: string, isOn: boolean) =>
    form.set({ scopes: isOn ? [...scopes, scope] : scopes.filter((each) => each !== scope) })
  return (
    <Dialog open onClose={onClose} size="md" title="New API key">
      <Form form={form}>
        <Field form={form} name="name" label="Name">
          {(control) => <Input {...control} dir="auto" placeholder="The program that uses it" autoComplete="off" />}
        </Field>
        <FieldFrame label="Where">
          {({ id, ...control }) => (
            <div id={id} {...control}>
              <Segments
                label="Where it works"
                value={isOrganizationWide ? 'all' : 'one'}
                onValue={(where) =>
                  form.set({
                    isOrganizationWide: where === 'all',
                    scopes: scopes.filter((scope) => scope !== `publish:${environment._id}`),
                  })
                }
                options={[
                  { value: 'one', label: `In ${environment.name}` },
                  ...(reachesFurther ? [{ value: 'all' as const, label: 'In all environments' }] : []),
                ]}
              />
            </div>
          )}
        </FieldFrame>
        <fieldset>
          <legend className="mb-1.5 text-sm font-medium">It may</legend>
          <div className="grid gap-1.5 sm:grid-cols-2">
            {choices.map((scope) => (
              <label key={scope} htmlFor={`scope-${scope}`} className="flex items-center gap-2 text-sm">
                <Checkbox
                  id={`scope-${scope}`}
                  value={isAdministrator || scopes.includes(scope)}
                  disabled={isAdministrator && scope !== 'administer'}
                  onValue={(isOn) => toggle(scope, isOn)}
                />
                {nameOf(scope)}
              </label>
            ))}
          </div>
        </fieldset>
        <Field
          form={form}
          name="allowedAddresses"
          label="Only from these addresses"
          optional
          hint="Such as 192.0.2.0/24."
        >
          {(control) => <Input {...control} className="font-mono text-code" autoComplete="off" spellCheck={false} />}
        </Field>
        <FieldFrame label="Expires">
          {(control) => (
            <Select {...control} value={form.values.days} onValue={(days) => form.set({ days })} options={lifetimes} />
          )}
        </FieldFrame>
        <FormFooter form={form} onClose={onClose} disabled={form.values.name.trim() === '' || scopes.length === 0}>
          Create key
        </FormFooter>
      </Form>
    </Dialog>
  )
}

function ShownOnce({ made, onClose }: { made: NewApiKey; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`The key “${made.name}”`}
      description="Copy it into your program now. Belfry keeps only a hash of it, so nobody can see it again."
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="flex items-center gap-2 rounded-surface border px-3 py-2">
        <code className="min-w-0 flex-1 break-all">{made.key}</code>
        <CopyButton text={made.key} label="Copy the new key" />
      </div>
    </Dialog>
  )
}
