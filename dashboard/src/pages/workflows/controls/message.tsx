// Controls for content: bodies, buttons and links of in-app messages, sender and layout of emails.
import { useQuery } from '@tanstack/react-query'
import { MousePointerClick, Plus, X } from 'lucide-react'
import { useState } from 'react'
import { layouts } from '../../../api/layouts.ts'
import { Button } from '../../../ui/base/button.tsx'
import { EmailEditor } from '../../../ui/email/email-editor.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { useConfirm } from '../../../ui/frame/dialog.tsx'
import type { ControlValues } from '../draft/draft.ts'
import type { SchemaField } from '../draft/schema-fields.ts'
import { issuesAt, objectOf, textOf, useStep } from '../draft/step-context.ts'
import { ChoiceControl, JsonControl, TextControl } from './basic.tsx'

interface OfField {
  field: SchemaField
}

export function SubjectControl({ field }: OfField) {
  const { values, set, step } = useStep()
  return (
    <TextControl
      path={field.name}
      label={step.type === 'push' ? 'Title' : 'Subject'}
      optional={!field.isRequired || step.type === 'in_app'}
      placeholder={step.type === 'email' ? 'What the recipient sees first' : ''}
      value={values[field.name]}
      onValue={(text) => set({ [field.name]: text || undefined })}
    />
  )
}

const bodyHints: Record<string, string> = {
  sms: 'One SMS holds 160 characters, or 70 with emoji.',
  chat: 'Plain text; each service has its own formatting.',
  in_app: 'The inbox shows **bold** as bold.',
}

export function BodyControl({ field }: OfField) {
  const { values, set, step } = useStep()
  return (
    <TextControl
      path={field.name}
      label="Body"
      isLong
      hint={bodyHints[step.type]}
      placeholder="Hello {{subscriber.firstName}}"
      value={values[field.name]}
      onValue={(text) => set({ [field.name]: text || undefined })}
    />
  )
}

export function AvatarControl({ field }: OfField) {
  const { values, set } = useStep()
  return (
    <TextControl
      path={field.name}
      label="Picture"
      optional
      placeholder="https://… or {{payload.avatar}}"
      value={values[field.name]}
      onValue={(text) => set({ [field.name]: text || undefined })}
    />
  )
}

const targets = [
  { value: '_self', label: 'the same tab' },
  { value: '_blank', label: 'a new tab' },
  { value: '_parent', label: 'the parent frame' },
  { value: '_top', label: 'the whole window' },
  { value: '_unfencedTop', label: 'the window outside fenced frames' },
]

function Redirect({
  path,
  label,
  value,
  onValue,
}: {
  path: string
  label: string
  value: ControlValues
  onValue: (value: ControlValues | undefined) => void
}) {
  const url = textOf(value.url)
  return (
    <div className="grid gap-3 sm:grid-cols-[1fr_160px]">
      <TextControl
        path={`${path}.url`}
        label={label}
        optional
        placeholder="/orders/{{payload.id}}"
        value={url}
        onValue={(next) => onValue(next === '' ? undefined : { target: '_self', ...value, url: next })}
      />
      <ChoiceControl
        path={`${path}.target`}
        label="Opens in"
        value={textOf(value.target) || '_self'}
        onValue={(target) => url !== '' && onValue({ ...value, target })}
        options={targets}
      />
    </div>
  )
}

export function RedirectControl({ field }: OfField) {
  const { values, set } = useStep()
  return (
    <Redirect
      path={field.name}
      label="Link"
      value={objectOf(values[field.name])}
      onValue={(redirect) => set({ [field.name]: redirect })}
    />
  )
}

const buttonNames: Record<string, string> = { primaryAction: 'Primary button', secondaryAction: 'Secondary button' }

/** Only an Add button until there is an action. */
export function ActionControl({ field }: OfField) {
  const { values, set, readOnly } = useStep()
  const action = objectOf(values[field.name])
  const [isOpen, setOpen] = useState(false)
  const name = buttonNames[field.name] ?? field.name
  const isThere = isOpen || Object.keys(action).length > 0
  if (!isThere)
    return readOnly ? null : (
      <Button size="sm" icon={<Plus />} className="mr-2" onClick={() => setOpen(true)}>
        {name}
      </Button>
    )
  return (
    <fieldset className="space-y-3 rounded-surface border p-3">
      <legend className="sr-only">{name}</legend>
      <div className="flex items-center gap-2 text-sm font-medium">
        <MousePointerClick className="size-4 text-muted" aria-hidden />
        <span className="flex-1">{name}</span>
        {!readOnly && (
          <Button
            variant="ghost"
            size="icon-sm"
            hint={`Remove the ${name.toLowerCase()}`}
            onClick={() => {
              setOpen(false)
              set({ [field.name]: undefined })
            }}
          >
            <X />
          </Button>
        )}
      </div>
      <TextControl
        path={`${field.name}.label`}
        label={`${name}: label`}
        placeholder="Open"
        value={action.label}
        onValue={(label) => set({ [field.name]: { ...action, label } })}
      />
      <Redirect
        path={`${field.name}.redirect`}
        label={`${name}: link`}
        value={objectOf(action.redirect)}
        onValue={(redirect) => {
          const { redirect: _, ...rest } = action
          set({ [field.name]: redirect ? { ...rest, redirect } : rest })
        }}
      />
    </fieldset>
  )
}

export function DataControl({ field }: OfField) {
  const { values, set } = useStep()
  return (
    <JsonControl
      path={field.name}
      label="Data"
      optional
      hint="Sent with the message, for your own inbox to use."
      placeholder={'{ "orderId": "{{payload.id}}" }'}
      value={values[field.name]}
      onValue={(data) => set({ [field.name]: data })}
    />
  )
}

const byDefault = '(default)'
const without = '(none)'

export function LayoutControl({ field }: OfField) {
  const { values, set, readOnly, issues } = useStep()
  const found = useQuery(layouts.list({ limit: 100, orderBy: 'name', orderDirection: 'ASC' }))
  const value = values[field.name]
  const standard = found.data?.layouts.find(({ isDefault }) => isDefault)
  return (
    <FieldFrame label="Layout" errors={issuesAt(issues, field.name).map(({ message }) => message)}>
      {(control) => (
        <Select
          {...control}
          aria-label="Layout"
          disabled={readOnly}
          value={value === null ? without : typeof value === 'string' && value !== '' ? value : byDefault}
          onValue={(next) => set({ [field.name]: next === without ? null : next === byDefault ? undefined : next })}
          options={[
            { value: byDefault, label: standard ? `Default (${standard.name})` : 'Default layout' },
            ...(found.data?.layouts ?? []).map(({ layoutId, name }) => ({ value: layoutId, label: name })),
            { value: without, label: 'No layout' },
          ]}
        />
      )}
    </FieldFrame>
  )
}

export function SenderControl({ field }: OfField) {
  const { values, set } = useStep()
  const from = objectOf(values[field.name])
  const change = (patch: ControlValues) => {
    const next = Object.fromEntries(Object.entries({ ...from, ...patch }).filter(([, value]) => value !== ''))
    set({ [field.name]: Object.keys(next).length > 0 ? next : undefined })
  }
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <TextControl
        path={`${field.name}.name`}
        label="Sender name"
        optional
        placeholder="From the integration"
        value={from.name}
        onValue={(name) => change({ name })}
      />
      <TextControl
        path={`${field.name}.email`}
        label="Sender address"
        optional
        placeholder="From the integration"
        value={from.email}
        onValue={(email) => change({ email })}
      />
    </div>
  )
}

export function EmailBodyControl({ field }: OfField) {
  const { values, set, readOnly, issues, variables, variablesInLists, digests } = useStep()
  const digest = digests.at(-1)
  const ask = useConfirm()
  const own = issuesAt(issues, field.name)
  const type = values.editorType === 'html' ? 'html' : 'block'
  const switchTo = async (next: 'block' | 'html') => {
    const body = textOf(values[field.name])
    if (next === 'html') {
      const yes = await ask({
        title: 'Continue in HTML?',
        body: 'The blocks become HTML. They cannot become blocks again; the HTML would be one block.',
        confirm: 'Continue in HTML',
        danger: false,
      })
      // The server converts the blocks to HTML when it stores them.
      if (yes) set({ editorType: 'html' })
    } else {
      const content =
        body.trim() === ''
          ? [{ type: 'paragraph' }]
          : [{ type: 'htmlCodeBlock', content: [{ type: 'text', text: body }] }]
      set({ editorType: 'block', [field.name]: JSON.stringify({ type: 'doc', content }) })
    }
  }
  return (
    <EmailEditor
      type={type}
      onType={(next) => void switchTo(next)}
      value={textOf(values[field.name])}
      onValue={(body) => set({ [field.name]: body })}
      variables={variables}
      variablesInLists={variablesInLists}
      issues={own}
      repeatOver={digest === undefined ? undefined : `steps.${digest}.events`}
      readOnly={readOnly}
    />
  )
}
