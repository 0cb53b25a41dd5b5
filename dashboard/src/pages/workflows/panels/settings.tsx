// The settings of a workflow: name, preferences and payload schema.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useAction } from '../../../api/cache.ts'
import { environments } from '../../../api/environments.ts'
import { type Workflow, workflows } from '../../../api/workflows.ts'
import { useEnvironment } from '../../../shell/environment.ts'
import { Button } from '../../../ui/base/button.tsx'
import { Id } from '../../../ui/base/copy.tsx'
import { counted } from '../../../ui/base/counted.ts'
import { channels, lookOf, StepIcon } from '../../../ui/domain/step-kind.tsx'
import { MultiCombobox } from '../../../ui/form/combobox.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input, Textarea } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { useConfirm } from '../../../ui/frame/dialog.tsx'
import { Sheet } from '../../../ui/frame/sheet.tsx'
import { JsonField } from '../controls/basic.tsx'
import type { Draft } from '../draft/draft.ts'
import { objectOf } from '../draft/step-context.ts'
import { ConsentSettings } from './consent.tsx'
import { JourneySettings } from './journey.tsx'
import { TrackingSettings } from './tracking.tsx'

interface SettingsProps {
  open: boolean
  onClose: () => void
  workflow: Workflow
  draft: Draft
  readOnly: boolean
  /** Saves first; true if saved. */
  saving: ReactNode
  onChange: (patch: Partial<Draft>) => void
}

const severities = [
  { value: 'none', label: 'None' },
  { value: 'low', label: 'Low' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
] as const

export function Settings({ open, onClose, workflow, draft, readOnly, saving, onChange }: SettingsProps) {
  const environment = useEnvironment()
  const tags = useQuery({ ...environments.tags(environment._id), enabled: open })
  return (
    <Sheet open={open} onClose={onClose} title="Settings" subtitle={workflow.workflowId} actions={saving}>
      <div className="space-y-5">
        <Row
          label="Active"
          hint="While it is off, triggers are accepted but do nothing."
          value={draft.active}
          onValue={(active) => onChange({ active })}
          readOnly={readOnly}
        />
        <FieldFrame label="Name" errors={draft.name.trim() === '' ? ['A workflow needs a name.'] : []}>
          {(control) => (
            <Input
              {...control}
              dir="auto"
              maxLength={128}
              disabled={readOnly}
              value={draft.name}
              onValue={(name) => onChange({ name })}
            />
          )}
        </FieldFrame>
        <div>
          <p className="mb-1.5 text-sm font-medium">Identifier</p>
          <Id value={workflow.workflowId} />
          <p className="mt-1 text-xs text-muted">Triggers use it, so it cannot be changed.</p>
        </div>
        <FieldFrame label="Description" optional>
          {(control) => (
            <Textarea
              {...control}
              dir="auto"
              maxLength={256}
              disabled={readOnly}
              value={draft.description}
              onValue={(description) => onChange({ description })}
            />
          )}
        </FieldFrame>
        <div className="grid gap-4 sm:grid-cols-2">
          <FieldFrame label="Tags" optional hint="Inboxes can show tabs by tag.">
            {(control) => (
              <MultiCombobox
                {...control}
                allowNew
                disabled={readOnly}
                placeholder="No tags"
                value={draft.tags}
                onValue={(next) => onChange({ tags: next })}
                options={[...new Set([...(tags.data ?? []).map(({ name }) => name), ...draft.tags])].map((name) => ({
                  value: name,
                  label: name,
                }))}
              />
            )}
          </FieldFrame>
          <FieldFrame label="Severity" hint="Inboxes show severe messages differently.">
            {(control) => (
              <Select
                {...control}
                aria-label="Severity"
                disabled={readOnly}
                value={draft.severity}
                onValue={(severity) => onChange({ severity })}
                options={severities}
              />
            )}
          </FieldFrame>
        </div>
        <Preferences draft={draft} readOnly={readOnly} onChange={onChange} />
        <ConsentSettings draft={draft} readOnly={readOnly} onChange={onChange} />
        <TrackingSettings draft={draft} readOnly={readOnly} onChange={onChange} />
        {workflow.origin !== 'external' && (
          <JourneySettings workflow={workflow} draft={draft} readOnly={readOnly} onChange={onChange} />
        )}
        <PayloadSchema draft={draft} workflow={workflow} readOnly={readOnly} onChange={onChange} />
        <Row
          label="Translations"
          hint="Texts such as {{t.title}} appear in the language of the subscriber."
          value={draft.isTranslationEnabled}
          onValue={(isTranslationEnabled) => onChange({ isTranslationEnabled })}
          readOnly={readOnly}
        />
        {!readOnly && <Delete workflow={workflow} />}
      </div>
    </Sheet>
  )
}

interface RowProps {
  label: string
  hint?: string | undefined
  value: boolean
  onValue: (value: boolean) => void
  readOnly: boolean
}

function Row({ label, hint, value, onValue, readOnly }: RowProps) {
  return (
    <FieldFrame label={label} hint={hint} inline>
      {(control) => <Switch {...control} value={value} onValue={onValue} disabled={readOnly} />}
    </FieldFrame>
  )
}

type Part = Pick<SettingsProps, 'draft' | 'readOnly' | 'onChange'>

function Preferences({ draft, readOnly, onChange }: Part) {
  const { user, default: fallback } = draft.preferences
  const current = user ?? fallback
  const write = (next: typeof current) => onChange({ preferences: { ...draft.preferences, user: next } })
  // Either preference can make it critical, so turning critical off must clear both.
  const isCritical = current.all.readOnly || fallback.all.readOnly
  const setCritical = (readOnly: boolean) =>
    onChange({
      preferences: {
        user: { ...current, all: { ...current.all, readOnly } },
        default: { ...fallback, all: { ...fallback.all, readOnly } },
      },
    })
  return (
    <fieldset className="rounded-surface border">
      <legend className="ml-3 px-1 text-sm font-medium">Preferences</legend>
      <div className="space-y-3 p-4 pt-2">
        <Row
          label="Critical"
          hint="Subscribers cannot turn it off, and it ignores their schedule."
          value={isCritical}
          onValue={setCritical}
          readOnly={readOnly}
        />
        <Row
          label="On by default"
          hint={isCritical ? undefined : 'For subscribers without their own setting.'}
          value={current.all.enabled}
          onValue={(enabled) => write({ ...current, all: { ...current.all, enabled } })}
          readOnly={readOnly}
        />
        <ul className="divide-y rounded-control border">
          {channels.map((channel) => (
            <li key={channel} className="flex h-10 items-center gap-2.5 px-3 text-sm">
              <StepIcon kind={channel} />
              <span className="flex-1">{lookOf(channel).label}</span>
              <Switch
                aria-label={`${lookOf(channel).label} on by default`}
                disabled={readOnly}
                value={current.channels[channel].enabled}
                onValue={(enabled) => write({ ...current, channels: { ...current.channels, [channel]: { enabled } } })}
              />
            </li>
          ))}
        </ul>
      </div>
    </fieldset>
  )
}

function PayloadSchema({ draft, workflow, readOnly, onChange }: Part & { workflow: Workflow }) {
  const [isShown, setShown] = useState(false)
  const used = payloadNames(workflow)
  return (
    <fieldset className="rounded-surface border">
      <legend className="ml-3 px-1 text-sm font-medium">Payload</legend>
      <div className="space-y-3 p-4 pt-2">
        <Row
          label="Refuse invalid payloads"
          hint="A trigger whose payload does not match the schema gets an error."
          value={draft.validatePayload}
          onValue={(validatePayload) => onChange({ validatePayload })}
          readOnly={readOnly}
        />
        <JsonField
          label="Schema"
          hint="A JSON Schema of the payload. Templates are checked against it, and editors suggest its fields."
          value={draft.payloadSchema}
          readOnly={readOnly}
          className="max-h-80"
          onValue={(schema) => onChange({ payloadSchema: schema === undefined ? null : objectOf(schema) })}
        />
        {!readOnly && used.length > 0 && (
          <Button
            size="sm"
            disabled={isShown}
            onClick={() => {
              const properties = objectOf(draft.payloadSchema?.properties)
              const missing = used.filter((name) => !(name in properties))
              setShown(true)
              onChange({
                payloadSchema: {
                  type: 'object',
                  additionalProperties: true,
                  ...draft.payloadSchema,
                  properties: {
                    ...properties,
                    ...Object.fromEntries(missing.map((name) => [name, { type: 'string' }])),
                  },
                },
              })
            }}
          >
            Add variables from templates
          </Button>
        )}
      </div>
    </fieldset>
  )
}

/** The top-level payload fields that the templates of all steps use. */
function payloadNames({ steps }: Workflow): string[] {
  const text = JSON.stringify(steps.map(({ controlValues }) => controlValues))
  return [...new Set([...text.matchAll(/\bpayload\.(\w+)/g)].map(([, name = '']) => name))]
}

function Delete({ workflow: { workflowId, name, steps } }: { workflow: Workflow }) {
  const ask = useConfirm()
  const navigate = useNavigate()
  const remove = useAction({
    do: () => workflows.remove(workflowId),
    done: 'Workflow deleted',
    refresh: ['workflows'],
    onDone: () => void navigate({ to: '/workflows', search: {} }),
  })
  const confirm = async () => {
    const yes = await ask({
      title: `Delete “${name}”?`,
      body: `Its ${counted(steps.length, 'step')}, translations and all subscribers’ preferences are deleted. Triggers for “${workflowId}” will be refused. Its history is kept for 30 days.`,
      confirm: 'Delete workflow',
    })
    if (yes) remove.mutate()
  }
  return (
    <div className="border-t pt-5">
      <Button icon={<Trash2 />} className="text-bad" pending={remove.isPending} onClick={() => void confirm()}>
        Delete workflow…
      </Button>
    </div>
  )
}
