import { type EventType, type WebhookEndpoint, webhooks } from '../../api/webhooks.ts'
import { Button } from '../../ui/base/button.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { Field, FieldFrame, Form, FormFooter, type FormState, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'

/** Typed, so that the compiler reports a missing event type. */
const meanings: Record<EventType, string> = {
  'message.sent': 'A provider accepted it, or it is in the inbox',
  'message.failed': 'It failed for good',
  'message.delivered': 'It arrived',
  'message.seen': 'Seen in the inbox, or opened',
  'message.read': 'Read, or clicked',
  'message.clicked': 'A link in an email was clicked',
  'message.unread': 'Marked as unread',
  'message.archived': 'Archived in the inbox',
  'message.unarchived': 'Unarchived',
  'message.snoozed': 'Snoozed',
  'message.unsnoozed': 'Unsnoozed',
  'message.deleted': 'Deleted',
  'workflow.created': 'Created',
  'workflow.updated': 'Changed',
  'workflow.deleted': 'Deleted',
  'workflow.published': 'Published from another environment',
  'workflow.braked': 'Its email bounced or was complained about too often, and is stopped',
  'workflow.brake-released': 'Its email is sent again',
  'subscriber.created': 'Created',
  'subscriber.updated': 'Changed',
  'subscriber.deleted': 'Deleted',
  'preference.updated': 'A subscriber changed a preference',
  'suppression.created': 'An address is held back',
  'suppression.removed': 'An address is written to again',
  'question.asked': 'A step asks somebody',
  'question.escalated': 'The next level is asked',
  'question.answered': 'Answered',
  'question.expired': 'Nobody answered in time',
  'question.canceled': 'Its run was canceled',
  'run.goal-met': 'A goal was met, which ended the run',
  'sms.received': 'Somebody sent a text message to one of your numbers',
  'publish.requested': 'Somebody asks for the approval of a publish',
  'publish.approved': 'Approved, and published',
  'publish.declined': 'Declined',
  'publish.withdrawn': 'Withdrawn by whoever asked',
  'audit.recorded': 'Somebody administered something; never sent unless chosen here',
}
const eventTypes = Object.keys(meanings) as EventType[]
const groups = [
  { label: 'Messages', prefix: 'message.' },
  { label: 'Workflows', prefix: 'workflow.' },
  { label: 'Subscribers', prefix: 'subscriber.' },
  { label: 'Preferences', prefix: 'preference.' },
  { label: 'Suppressions', prefix: 'suppression.' },
  { label: 'Questions', prefix: 'question.' },
  { label: 'Runs', prefix: 'run.' },
  { label: 'Text messages', prefix: 'sms.' },
  { label: 'Publish requests', prefix: 'publish.' },
  { label: 'Audit log', prefix: 'audit.' },
]

export interface EndpointValues {
  url: string
  description: string
  /** Null for all event types. */
  eventTypes: string[] | null
}

export const toBody = ({ url, description, eventTypes: wanted }: EndpointValues) => ({
  url: url.trim(),
  description: description.trim() === '' ? null : description.trim(),
  eventTypes: wanted as EventType[] | null,
})

interface CreateEndpointProps {
  onClose: () => void
  onMade: (endpoint: WebhookEndpoint & { secret: string }) => void
}

export function CreateEndpoint({ onClose, onMade }: CreateEndpointProps) {
  const form = useForm({
    initial: { url: '', description: '', eventTypes: null } as EndpointValues,
    submit: (values) => webhooks.create(toBody(values)),
    refresh: ['webhooks'],
    onDone: onMade,
  })
  return (
    <Dialog open onClose={onClose} size="md" title="New endpoint">
      <Form form={form}>
        <EndpointFields form={form} disabled={false} />
        <FormFooter
          form={form}
          onClose={onClose}
          disabled={form.values.url.trim() === '' || form.values.eventTypes?.length === 0}
        >
          Create endpoint
        </FormFooter>
      </Form>
    </Dialog>
  )
}

export function EndpointFields({ form, disabled }: { form: FormState<EndpointValues>; disabled: boolean }) {
  const { eventTypes: wanted } = form.values
  const set = (types: string[], isOn: boolean) => {
    const others = (wanted ?? []).filter((type) => !types.includes(type))
    form.set({ eventTypes: isOn ? [...others, ...types] : others })
  }
  return (
    <>
      <Field form={form} name="url" label="URL" hint="Belfry sends it a signed POST for every event.">
        {(control) => (
          <Input
            {...control}
            type="url"
            placeholder="https://example.com/hooks"
            disabled={disabled}
            spellCheck={false}
            autoComplete="off"
            className="font-mono text-code"
          />
        )}
      </Field>
      <Field form={form} name="description" label="Description" optional>
        {(control) => <Input {...control} disabled={disabled} dir="auto" placeholder="What this endpoint is for" />}
      </Field>
      <FieldFrame label="Events" errors={form.errors.eventTypes ?? []}>
        {({ id, ...control }) => (
          <div id={id} {...control}>
            <Segments
              label="Which events"
              value={wanted === null ? 'all' : 'some'}
              onValue={(choice) =>
                !disabled &&
                form.set({ eventTypes: choice === 'all' ? null : (wanted ?? ['message.sent', 'message.failed']) })
              }
              options={[
                { value: 'all', label: 'All events' },
                { value: 'some', label: 'Selected events' },
              ]}
            />
            {wanted !== null && (
              <div className="mt-3 space-y-3">
                {groups.map(({ label, prefix }) => {
                  const types = eventTypes.filter((type) => type.startsWith(prefix))
                  const count = types.filter((type) => wanted.includes(type)).length
                  return (
                    <fieldset key={prefix} className="rounded-surface border">
                      <legend className="sr-only">{label}</legend>
                      <div className="flex h-9 items-center gap-2.5 border-b bg-raised px-3 text-xs font-medium">
                        <Checkbox
                          aria-label={`All ${label}`}
                          value={count === types.length ? true : count > 0 ? 'indeterminate' : false}
                          onValue={() => set(types, count !== types.length)}
                          disabled={disabled}
                        />
                        {label}
                      </div>
                      <ul className="grid sm:grid-cols-2">
                        {types.map((type) => (
                          <li key={type} className="flex items-center gap-2.5 px-3 py-1.5">
                            <Checkbox
                              id={`${id}-${type}`}
                              value={wanted.includes(type)}
                              onValue={(isOn) => set([type], isOn)}
                              disabled={disabled}
                            />
                            <label htmlFor={`${id}-${type}`} className="min-w-0 text-xs">
                              <code className="block truncate">{type}</code>
                              <span className="block truncate text-muted">{meanings[type]}</span>
                            </label>
                          </li>
                        ))}
                      </ul>
                    </fieldset>
                  )
                })}
              </div>
            )}
          </div>
        )}
      </FieldFrame>
    </>
  )
}

export function SecretDialog({ secret, isNew, onClose }: { secret: string; isNew: boolean; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={isNew ? 'Endpoint created' : 'New secret created'}
      description="Use it to verify that requests come from Belfry. Copy it now: it is not shown again."
      footer={
        <Button variant="primary" onClick={onClose}>
          I have saved it
        </Button>
      }
    >
      <CodeBlock code={secret} title="Signing secret" className="[&_pre]:break-all [&_pre]:whitespace-pre-wrap" />
    </Dialog>
  )
}
