// Posts an event by hand: for the page of events, and for a run that waits for one.
import { events, type NewEvent } from '../../api/events.ts'
import { JsonEditor, jsonText, readJsonObject } from '../code/json-editor.tsx'
import { Field, Form, FormFooter, useForm } from '../form/form.tsx'
import { Input } from '../form/input.tsx'
import { Dialog } from '../frame/dialog.tsx'
import { SubscriberPicker } from './subscriber-picker.tsx'

interface PostEventProps {
  open: boolean
  onClose: () => void
  /** Filled in at first. */
  event?: Partial<NewEvent>
  /** What else to refetch, such as the run that it ends a wait of. */
  refresh?: readonly string[]
  onPosted?: (id: string) => void
}

export const PostEvent = ({ open, onClose, ...rest }: PostEventProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Post an event"
    description="It ends every wait that it matches, as if your program had posted it."
  >
    {open && <PostForm onClose={onClose} {...rest} />}
  </Dialog>
)

function PostForm({ onClose, event = {}, refresh = [], onPosted }: Omit<PostEventProps, 'open'>) {
  const form = useForm({
    initial: {
      name: event.name ?? '',
      subscriberId: event.subscriberId ?? '',
      key: event.key ?? '',
      payload: jsonText(event.payload),
    },
    submit: ({ name, subscriberId, key, payload }) =>
      events.post({
        name: name.trim(),
        ...(subscriberId === '' ? {} : { subscriberId }),
        ...(key.trim() === '' ? {} : { key: key.trim() }),
        payload: readJsonObject(payload).value ?? {},
      }),
    refresh: ['events', ...refresh],
    done: 'Event posted',
    onDone: ({ id }) => {
      onPosted?.(id)
      onClose()
    },
  })
  const { name, subscriberId, key, payload } = form.values
  const isForSomebody = subscriberId !== '' || key.trim() !== ''
  const isReady = name.trim() !== '' && isForSomebody && readJsonObject(payload).problem === undefined
  return (
    <Form form={form}>
      <Field form={form} name="name" label="Name">
        {(control) => (
          <Input
            {...control}
            autoFocus
            maxLength={128}
            spellCheck={false}
            autoComplete="off"
            placeholder="cart.paid"
            className="font-mono text-code"
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          form={form}
          name="subscriberId"
          label="Subscriber"
          hint={isForSomebody ? undefined : 'It needs a subscriber, a key, or both.'}
        >
          {({ name: _, 'aria-invalid': __, 'aria-describedby': ___, value, ...control }) => (
            <SubscriberPicker {...control} value={value === '' ? undefined : value} allowNew placeholder="Nobody" />
          )}
        </Field>
        <Field
          form={form}
          name="key"
          label="Key"
          hint="A cart or an order, say: a word that the waiting step knows too."
        >
          {(control) => (
            <Input
              {...control}
              maxLength={255}
              spellCheck={false}
              autoComplete="off"
              placeholder="cart-7"
              className="font-mono text-code"
            />
          )}
        </Field>
      </div>
      <Field form={form} name="payload" label="Payload">
        {({ name: _, 'aria-invalid': __, ...control }) => <JsonEditor {...control} aria-label="Payload" />}
      </Field>
      <FormFooter form={form} onClose={onClose} disabled={!isReady}>
        Post event
      </FormFooter>
    </Form>
  )
}
