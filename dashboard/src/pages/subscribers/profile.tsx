// The profile of a subscriber: everything that templates and channels can use.
import { useCan } from '../../api/auth.ts'
import { type Subscriber, subscribers } from '../../api/subscribers.ts'
import { Button } from '../../ui/base/button.tsx'
import { Time } from '../../ui/base/time.tsx'
import { JsonEditor, jsonText, readJsonObject } from '../../ui/code/json-editor.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { Field, Form, FormError, SubmitButton, useForm, useUnsavedGuard } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { timeZoneOptions } from './time-zones.ts'

const valuesOf = (subscriber: Subscriber) => ({
  firstName: subscriber.firstName ?? '',
  lastName: subscriber.lastName ?? '',
  email: subscriber.email ?? '',
  phone: subscriber.phone ?? '',
  avatar: subscriber.avatar ?? '',
  locale: subscriber.locale ?? '',
  timezone: subscriber.timezone ?? '',
  data: jsonText(subscriber.data),
})

export function Profile({ subscriber }: { subscriber: Subscriber }) {
  const canEdit = useCan('editor')
  const form = useForm({
    initial: valuesOf(subscriber),
    submit: ({ data, ...texts }) => {
      const fields = Object.entries(texts).map(([name, value]) => [name, value.trim() === '' ? null : value.trim()])
      return subscribers.change(subscriber.subscriberId, {
        ...Object.fromEntries(fields),
        data: readJsonObject(data).value ?? {},
      })
    },
    refresh: ['subscribers'],
    done: 'Profile saved',
    onDone: (saved) => form.reset(valuesOf(saved)),
  })
  useUnsavedGuard(form.isDirty && canEdit)
  const isBroken = readJsonObject(form.values.data).problem !== undefined
  const text = { disabled: !canEdit }
  return (
    <Form form={form}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field form={form} name="firstName" label="First name">
          {(control) => <Input {...control} {...text} dir="auto" />}
        </Field>
        <Field form={form} name="lastName" label="Last name">
          {(control) => <Input {...control} {...text} dir="auto" />}
        </Field>
        <Field form={form} name="email" label="Email">
          {(control) => <Input {...control} {...text} type="email" />}
        </Field>
        <Field form={form} name="phone" label="Phone">
          {(control) => <Input {...control} {...text} type="tel" />}
        </Field>
        <Field form={form} name="locale" label="Locale" hint="The language of their messages, such as de_CH.">
          {(control) => <Input {...control} {...text} placeholder="The default locale" />}
        </Field>
        <Field
          form={form}
          name="timezone"
          label="Time zone"
          hint="For their schedule, and for delays until a time of day."
        >
          {({ name: _, ...control }) => (
            <Combobox {...control} {...text} options={timeZoneOptions()} placeholder="UTC" />
          )}
        </Field>
        <Field form={form} name="avatar" label="Picture" className="sm:col-span-2">
          {(control) => <Input {...control} {...text} type="url" placeholder="https://…" />}
        </Field>
      </div>
      <Field
        form={form}
        name="data"
        label="Data"
        hint={
          <>
            Anything else your templates and conditions use: <code>{'{{subscriber.data.plan}}'}</code>
          </>
        }
      >
        {({ name: _, 'aria-invalid': __, ...control }) => (
          <JsonEditor {...control} aria-label="Data" readOnly={!canEdit} className="min-h-32" />
        )}
      </Field>
      <FormError form={form} />
      {canEdit && (
        <div className="flex gap-2">
          <SubmitButton form={form} disabled={!form.isDirty || isBroken}>
            Save profile
          </SubmitButton>
          {form.isDirty && <Button onClick={() => form.reset()}>Discard</Button>}
        </div>
      )}
      <div className="border-t pt-4">
        <Facts
          facts={[
            ['Created', <Time key="created" at={subscriber.createdAt} />],
            ['Updated', <Time key="updated" at={subscriber.updatedAt} />],
            ['Last online', subscriber.isOnline ? 'Now' : <Time key="online" at={subscriber.lastOnlineAt} />],
          ]}
        />
      </div>
    </Form>
  )
}
