// Makes an environment in front of another service, and shows what servers have to be given.
import { useState } from 'react'
import { useSession } from '../../api/auth.ts'
import { environments, refreshSession } from '../../api/environments.ts'
import { useSwitchEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'

const colour = '#64748b'

export function NewShadow({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<{ id: string; key: string }>()
  return (
    <Dialog
      open
      onClose={onClose}
      title="New shadow environment"
      description="It passes requests on to the service that you use now. Nothing is sent from here until you switch a workflow over."
    >
      {made ? <Made made={made} onClose={onClose} /> : <Fields onMade={setMade} onClose={onClose} />}
    </Dialog>
  )
}

function Fields({ onMade, onClose }: { onMade: (made: { id: string; key: string }) => void; onClose: () => void }) {
  const form = useForm({
    initial: { name: 'Shadow', upstreamUrl: 'https://api.novu.co', upstreamKey: '', settleMinutes: '10' },
    submit: ({ name, upstreamUrl, upstreamKey, settleMinutes }) =>
      environments.create({
        ...{ name, color: colour },
        shadow: { upstreamUrl, upstreamKey, settleMinutes: Number(settleMinutes) },
      }),
    refresh: ['environments'],
    done: ({ name }) => `“${name}” created`,
    onDone: ({ _id, apiKeys }) => {
      void refreshSession()
      onMade({ id: _id, key: apiKeys[0]?.key ?? '' })
    },
  })
  const { name, upstreamUrl, upstreamKey, settleMinutes } = form.values
  const isReady = [name, upstreamUrl, upstreamKey, settleMinutes].every((each) => each.trim() !== '')
  return (
    <Form form={form}>
      <Field form={form} name="name" label="Name">
        {(control) => <Input {...control} autoFocus dir="auto" />}
      </Field>
      <Field form={form} name="upstreamUrl" label="Address of the old service" hint="Requests keep their path.">
        {(control) => <Input {...control} type="url" />}
      </Field>
      <Field form={form} name="upstreamKey" label="Its API key" hint="Kept encrypted, and never shown again.">
        {(control) => <Input {...control} type="password" autoComplete="off" />}
      </Field>
      <Field
        form={form}
        name="settleMinutes"
        label="Minutes until a trigger is compared at the latest"
        hint="Up to 1,440. Waits that take longer are compared as they are then."
      >
        {(control) => <Input {...control} type="number" min={0} max={1440} />}
      </Field>
      <FormError form={form} />
      <DialogFooter>
        <Button onClick={onClose}>Cancel</Button>
        <SubmitButton form={form} disabled={!isReady}>
          Create environment
        </SubmitButton>
      </DialogFooter>
    </Form>
  )
}

function Made({ made: { id, key }, onClose }: { made: { id: string; key: string }; onClose: () => void }) {
  const switchTo = useSwitchEnvironment()
  const { environments: all } = useSession()
  const environment = all.find(({ _id }) => _id === id)
  return (
    <div className="grid gap-4 text-sm">
      <p>
        Bring the definitions and people along, then give your servers this address and key. Browsers stay where they
        are.
      </p>
      <CodeBlock title="For your servers" code={`NOVU_API_URL=${window.location.origin}\nNOVU_SECRET_KEY=${key}`} />
      <DialogFooter>
        <Button
          variant="primary"
          disabled={!environment}
          onClick={() => {
            if (environment) switchTo(environment)
            onClose()
          }}
        >
          Open it
        </Button>
      </DialogFooter>
    </div>
  )
}
