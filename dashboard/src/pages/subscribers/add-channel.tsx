// Dialogs to add push or chat credentials and endpoints to a subscriber.
import { useQuery } from '@tanstack/react-query'
import { api, type Body } from '../../api/client.ts'
import { type ChannelEndpoint, subscribers } from '../../api/subscribers.ts'
import { ButtonLink } from '../../ui/base/button.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { StepIcon } from '../../ui/domain/step-kind.tsx'
import { Field, FieldFrame, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input, Textarea } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

type EndpointType = ChannelEndpoint['type']

export const endpointTypes: Record<EndpointType, { label: string; fields: Record<string, string> }> = {
  slack_user: { label: 'Slack person', fields: { userId: 'User id' } },
  slack_channel: { label: 'Slack channel', fields: { channelId: 'Channel id' } },
  ms_teams_user: { label: 'Teams person', fields: { userId: 'User id' } },
  ms_teams_channel: { label: 'Teams channel', fields: { teamId: 'Team id', channelId: 'Channel id' } },
  webhook: { label: 'Webhook', fields: { url: 'URL', channel: 'Channel' } },
  phone: { label: 'Phone number', fields: { phoneNumber: 'Number' } },
}

interface AddProps {
  open: boolean
  subscriberId: string
  onClose: () => void
}

export const AddCredentials = ({ open, subscriberId, onClose }: AddProps) => (
  <Dialog open={open} onClose={onClose} title="Add credentials">
    {open && <CredentialsForm subscriberId={subscriberId} onClose={onClose} />}
  </Dialog>
)

type FormProps = Omit<AddProps, 'open'>

const NoIntegration = () => (
  <EmptyState
    title="No push or chat integration is active"
    className="py-6"
    action={<ButtonLink to={'/integrations' as '/'}>Open integrations</ButtonLink>}
  >
    Credentials belong to an integration. Add one first.
  </EmptyState>
)

function useIntegrations() {
  const query = useQuery(subscribers.integrations())
  const options = (query.data ?? []).map(({ identifier, name, channel }) => ({
    value: identifier,
    label: name,
    icon: <StepIcon kind={channel} />,
    hint: identifier,
  }))
  return { all: query.data, options }
}

function CredentialsForm({ subscriberId, onClose }: FormProps) {
  const { all, options } = useIntegrations()
  const form = useForm({
    initial: { integration: '', deviceTokens: '', webhookUrl: '', channel: '' },
    submit: ({ integration, deviceTokens, webhookUrl, channel }) => {
      const tokens = deviceTokens.split(/\s+/).filter(Boolean)
      return api('PATCH /v1/subscribers/{subscriberId}/credentials', {
        path: { subscriberId },
        body: {
          providerId: all?.find(({ identifier }) => identifier === integration)?.providerId ?? '',
          integrationIdentifier: integration,
          credentials: {
            ...(tokens.length > 0 ? { deviceTokens: tokens } : {}),
            ...(webhookUrl ? { webhookUrl } : {}),
            ...(channel ? { channel } : {}),
          },
        } as Body<'PATCH /v1/subscribers/{subscriberId}/credentials'>,
      })
    },
    refresh: ['subscribers'],
    done: 'Credentials added',
    onDone: onClose,
  })
  const chosen = all?.find(({ identifier }) => identifier === form.values.integration)
  if (all?.length === 0) return <NoIntegration />
  return (
    <Form form={form}>
      <Field form={form} name="integration" label="Integration">
        {({ name: _, ...control }) => <Select {...control} options={options} />}
      </Field>
      {chosen?.channel === 'push' && (
        <Field
          form={form}
          name="deviceTokens"
          label="Device tokens"
          hint="One per line. They are added to the existing ones."
        >
          {(control) => <Textarea {...control} spellCheck={false} className="font-mono text-code" />}
        </Field>
      )}
      {chosen?.channel === 'chat' && (
        <>
          <Field form={form} name="webhookUrl" label="Webhook">
            {(control) => <Input {...control} type="url" placeholder="https://…" />}
          </Field>
          <Field form={form} name="channel" label="Channel" optional>
            {(control) => <Input {...control} />}
          </Field>
        </>
      )}
      <FormFooter form={form} onClose={onClose} disabled={!chosen}>
        Add credentials
      </FormFooter>
    </Form>
  )
}

export const AddEndpoint = ({ open, subscriberId, onClose }: AddProps) => (
  <Dialog open={open} onClose={onClose} title="Add endpoint">
    {open && <EndpointForm subscriberId={subscriberId} onClose={onClose} />}
  </Dialog>
)

function EndpointForm({ subscriberId, onClose }: FormProps) {
  const { all, options } = useIntegrations()
  const form = useForm({
    initial: { type: 'slack_user' as EndpointType, integrationIdentifier: '', endpoint: {} as Record<string, string> },
    submit: (values) => api('POST /v1/channel-endpoints', { body: { ...values, subscriberId } }),
    refresh: ['subscribers'],
    done: 'Endpoint added',
    onDone: onClose,
  })
  const { type, endpoint } = form.values
  if (all?.length === 0) return <NoIntegration />
  return (
    <Form form={form}>
      <Field form={form} name="type" label="Kind">
        {({ name: _, ...control }) => (
          <Select
            {...control}
            options={Object.entries(endpointTypes).map(([value, { label }]) => ({
              value: value as EndpointType,
              label,
            }))}
            onValue={(type) => form.set({ type, endpoint: {} })}
          />
        )}
      </Field>
      <Field form={form} name="integrationIdentifier" label="Integration">
        {({ name: _, ...control }) => <Select {...control} options={options} />}
      </Field>
      {Object.entries(endpointTypes[type].fields).map(([name, label]) => (
        <FieldFrame key={`${type} ${name}`} label={label} optional={type === 'webhook' && name === 'channel'}>
          {(control) => (
            <Input
              {...control}
              spellCheck={false}
              value={endpoint[name] ?? ''}
              onValue={(value) => {
                const { [name]: _, ...others } = endpoint
                form.set({ endpoint: value === '' ? others : { ...others, [name]: value } })
              }}
            />
          )}
        </FieldFrame>
      ))}
      {form.errors.endpoint && <p className="text-xs text-bad">{form.errors.endpoint.join(' ')}</p>}
      <FormFooter form={form} onClose={onClose} disabled={form.values.integrationIdentifier === ''}>
        Add endpoint
      </FormFooter>
    </Form>
  )
}
