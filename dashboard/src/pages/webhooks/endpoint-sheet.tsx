import { useQuery } from '@tanstack/react-query'
import { KeyRound, RotateCcw, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type WebhookEndpoint, webhooks } from '../../api/webhooks.ts'
import { Button } from '../../ui/base/button.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { absoluteTime, Time } from '../../ui/base/time.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { FieldFrame, Form, FormError, SubmitButton, useForm, useUnsavedGuard } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Checkbox, Switch } from '../../ui/form/switch.tsx'
import { Dialog, useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { TabPanel, Tabs } from '../../ui/frame/tabs.tsx'
import { oneOf, useUrlState } from '../../ui/list/url-state.ts'
import { Deliveries } from './deliveries.tsx'
import { EndpointFields, toBody } from './forms.tsx'

const schema = { tab: oneOf(['deliveries', 'settings', 'signing'], 'deliveries') }

interface EndpointSheetProps {
  endpointId: string | undefined
  onClose: () => void
  onSecret: (secret: string) => void
}

export function EndpointSheet({ endpointId, onClose, onSecret }: EndpointSheetProps) {
  const query = useQuery({ ...webhooks.endpoint(endpointId ?? ''), enabled: endpointId !== undefined })
  if (endpointId === undefined) return null
  if (!query.data)
    return (
      <Sheet open onClose={onClose} title="Endpoint">
        <Loaded query={query}>{() => null}</Loaded>
      </Sheet>
    )
  return <OpenSheet key={endpointId} endpoint={query.data} onClose={onClose} onSecret={onSecret} />
}

interface OpenSheetProps {
  endpoint: WebhookEndpoint
  onClose: () => void
  onSecret: (secret: string) => void
}

function OpenSheet({ endpoint, onClose, onSecret }: OpenSheetProps) {
  const { _id: id, url, active } = endpoint
  const canChange = useCan('admin')
  const ask = useConfirm()
  const [{ tab }, setUrl] = useUrlState(schema)
  const [isReplaying, setReplaying] = useState(false)
  const setActive = useAction({
    do: (isOn: boolean) => webhooks.change(id, { active: isOn }),
    refresh: ['webhooks'],
    done: (_, isOn) =>
      isOn ? 'Endpoint turned on. You can replay what it missed' : 'Endpoint turned off. It gets no events',
    undo: (_, isOn) => webhooks.change(id, { active: !isOn }),
  })
  const test = useAction({
    do: () => webhooks.test(id),
    refresh: ['webhooks'],
    done: 'Sending a test event',
    onDone: () => setUrl({ tab: 'deliveries' }),
  })
  const remove = useAction({
    do: () => webhooks.remove(id),
    refresh: ['webhooks'],
    done: 'Endpoint deleted',
    onDone: onClose,
  })
  const askRemove = async () => {
    const yes = await ask({
      title: 'Delete this endpoint?',
      body: `${url} gets no more events. Its secret, its waiting events and its log are deleted. This cannot be undone.`,
      confirm: 'Delete endpoint',
    })
    if (yes) remove.mutate()
  }
  return (
    <Sheet
      open
      wide
      onClose={onClose}
      label={url}
      title={<code className="text-base">{url}</code>}
      subtitle={endpoint.description}
      actions={
        canChange && (
          <>
            <Button
              icon={<Send />}
              pending={test.isPending}
              disabled={!active}
              hint={active ? 'Sends one signed event' : 'Turn it on first'}
              onClick={() => test.mutate()}
            >
              Test
            </Button>
            <Switch
              aria-label="On"
              value={active}
              onValue={(isOn) => setActive.mutate(isOn)}
              disabled={setActive.isPending}
            />
            <Menu label="More actions">
              <MenuItem icon={<RotateCcw />} disabled={!active} onSelect={() => setReplaying(true)}>
                Replay…
              </MenuItem>
              <MenuSeparator />
              <MenuItem icon={<Trash2 />} danger onSelect={() => void askRemove()}>
                Delete…
              </MenuItem>
            </Menu>
          </>
        )
      }
    >
      <Trouble endpoint={endpoint} />
      <Tabs
        label="Endpoint"
        value={tab}
        onValue={(next) => setUrl({ tab: next })}
        tabs={[
          { value: 'deliveries', label: 'Deliveries' },
          { value: 'settings', label: 'Settings' },
          { value: 'signing', label: 'Signing' },
        ]}
      >
        <TabPanel value="deliveries">
          <Deliveries endpoint={endpoint} />
        </TabPanel>
        <TabPanel value="settings">
          <Settings endpoint={endpoint} canChange={canChange} />
        </TabPanel>
        <TabPanel value="signing">
          <Signing endpoint={endpoint} canChange={canChange} onSecret={onSecret} />
        </TabPanel>
      </Tabs>
      {isReplaying && <Replay endpointId={id} onClose={() => setReplaying(false)} />}
    </Sheet>
  )
}

function Trouble({ endpoint: { disabledAt, failingSince, active } }: { endpoint: WebhookEndpoint }) {
  if (disabledAt)
    return (
      <p role="status" className="mb-4 rounded-surface border border-bad/30 bg-bad/8 px-3 py-2 text-sm">
        Belfry turned it off <Time at={disabledAt} />, because all deliveries failed for five days. Fix your endpoint,
        turn it on, and replay what it missed.
      </p>
    )
  if (active && failingSince)
    return (
      <p role="status" className="mb-4 rounded-surface border border-warn/30 bg-warn/8 px-3 py-2 text-sm">
        All deliveries have failed since {absoluteTime(failingSince)}. Belfry keeps trying, and turns it off after five
        days.
      </p>
    )
  return null
}

function Settings({ endpoint, canChange }: { endpoint: WebhookEndpoint; canChange: boolean }) {
  const form = useForm({
    initial: { url: endpoint.url, description: endpoint.description ?? '', eventTypes: endpoint.eventTypes },
    submit: (values) => webhooks.change(endpoint._id, toBody(values)),
    refresh: ['webhooks'],
    done: 'Saved',
  })
  useUnsavedGuard(form.isDirty && !form.isPending)
  return (
    <Form form={form}>
      {!canChange && (
        <p className="rounded-surface border bg-raised px-3 py-2 text-sm text-muted">
          You can view this. Only admins and owners can change webhooks.
        </p>
      )}
      <EndpointFields form={form} disabled={!canChange} />
      <FormError form={form} />
      {canChange && (
        <div className="flex gap-2">
          <SubmitButton form={form} disabled={!form.isDirty || form.values.eventTypes?.length === 0}>
            Save
          </SubmitButton>
          {form.isDirty && <Button onClick={() => form.reset()}>Discard</Button>}
        </div>
      )}
    </Form>
  )
}

const overlaps = [
  { value: '0', label: 'At once' },
  { value: '1', label: 'After one hour' },
  { value: '24', label: 'After one day' },
  { value: '168', label: 'After one week' },
]

/** Verification code for users without a Standard Webhooks library. */
const verification = `import { createHmac, timingSafeEqual } from 'node:crypto'

export function readEvent(secret, headers, body) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) throw new Error('too old')
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\${body}\`).digest()
  const isGenuine = headers['webhook-signature'].split(' ').some((signature) => {
    const given = Buffer.from(signature.replace('v1,', ''), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!isGenuine) throw new Error('wrong signature')
  return JSON.parse(body)
}`

interface SigningProps {
  endpoint: WebhookEndpoint
  canChange: boolean
  onSecret: (secret: string) => void
}

function Signing({ endpoint, canChange, onSecret }: SigningProps) {
  const [overlap, setOverlap] = useState('24')
  const rotate = useAction({
    do: () => webhooks.rotateSecret(endpoint._id, Number(overlap)),
    refresh: ['webhooks'],
    onDone: ({ secret }) => onSecret(secret),
  })
  const { previousSecretExpiresAt } = endpoint
  return (
    <div className="space-y-6">
      <section aria-label="Secret" className="space-y-3">
        <div className="flex items-center gap-2 rounded-surface border px-3 py-2.5 text-sm">
          <KeyRound className="size-4 shrink-0 text-muted" aria-hidden />
          <code className="flex-1 truncate">whsec_••••••••••••••••••••</code>
          <span className="text-xs text-muted">shown only when created</span>
        </div>
        {previousSecretExpiresAt && (
          <p className="text-sm text-muted">
            The previous secret also signs until {absoluteTime(previousSecretExpiresAt)}.
          </p>
        )}
        {canChange && (
          <div className="flex flex-wrap items-end gap-2">
            <FieldFrame label="The old secret stops signing" className="w-52">
              {(control) => <Select {...control} value={overlap} onValue={setOverlap} options={overlaps} />}
            </FieldFrame>
            <Button icon={<RotateCcw />} pending={rotate.isPending} onClick={() => rotate.mutate()}>
              New secret
            </Button>
          </div>
        )}
      </section>
      <section aria-label="Verification" className="space-y-2">
        <p className="text-sm text-pretty text-muted">
          Requests are signed according to Standard Webhooks; any of its libraries can verify them. To verify by hand,
          use the raw body:
        </p>
        <CodeBlock code={verification} title="Node.js" maxHeight={360} />
      </section>
    </div>
  )
}

function Replay({ endpointId, onClose }: { endpointId: string; onClose: () => void }) {
  const dayAgo = new Date(Date.now() - 86_400_000)
  const local = new Date(dayAgo.getTime() - dayAgo.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
  const form = useForm({
    initial: { since: local, all: false },
    submit: ({ since, all }) =>
      webhooks.replay(endpointId, { since: new Date(since).toISOString(), status: all ? 'all' : 'missed' }),
    refresh: ['webhooks'],
    done: ({ count }) =>
      count === 0 ? 'It has missed nothing' : count === 1 ? 'Sending one event' : `Sending ${count} events`,
    onDone: onClose,
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title="Replay events"
      description="Sends the events since a time that it has not received, for its event types."
    >
      <Form form={form}>
        <FieldFrame label="Since">
          {(control) => (
            <Input
              {...control}
              type="datetime-local"
              value={form.values.since}
              onValue={(since) => form.set({ since })}
            />
          )}
        </FieldFrame>
        <FieldFrame label="Also events it has received" hint="It gets those again, with the same ids." inline>
          {(control) => <Checkbox {...control} value={form.values.all} onValue={(all) => form.set({ all })} />}
        </FieldFrame>
        <FormError form={form} />
        <div className="flex justify-end gap-2 pt-2">
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton form={form} disabled={form.values.since === ''}>
            Replay
          </SubmitButton>
        </div>
      </Form>
    </Dialog>
  )
}
