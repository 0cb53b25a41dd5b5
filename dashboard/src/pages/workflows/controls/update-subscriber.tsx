// The step that changes the subscriber of the run: each field is set to a template, cleared, or left as it is.
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../ui/base/button.tsx'
import { Menu, MenuItem } from '../../../ui/frame/menu.tsx'
import { Segments } from '../../../ui/frame/tabs.tsx'
import { objectOf, useStep } from '../draft/step-context.ts'
import { JsonControl, TextControl } from './basic.tsx'

const subscriberFields = {
  firstName: { label: 'First name', placeholder: '{{payload.firstName}}' },
  lastName: { label: 'Last name', placeholder: '{{payload.lastName}}' },
  email: { label: 'Email', placeholder: '{{payload.email}}' },
  phone: { label: 'Phone', placeholder: '{{payload.phone}}' },
  avatar: { label: 'Picture', placeholder: 'https://example.com/ada.png' },
  locale: { label: 'Locale', placeholder: 'de-DE' },
  timezone: { label: 'Time zone', placeholder: 'Europe/Berlin' },
} as const

type Name = keyof typeof subscriberFields

const names = Object.keys(subscriberFields) as Name[]

export function UpdateSubscriberControls() {
  const { values, set, readOnly } = useStep()
  // An empty text is not kept: a field that was just added stays until something is written.
  const [added, setAdded] = useState<readonly Name[]>([])
  const changed = names.filter((name) => values[name] !== undefined || added.includes(name))
  const left = names.filter((name) => !changed.includes(name))
  const hasData = values.data !== undefined
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">What is not listed stays as it is. Later steps see the change.</p>
      {changed.map((name) => (
        <ChangedField key={name} name={name} onLeave={() => setAdded(added.filter((each) => each !== name))} />
      ))}
      {hasData && (
        <div className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <JsonControl
              path="data"
              label="Data"
              hint="Merged into the data one level deep. A text that is exactly one variable keeps its type; null removes a member."
              value={values.data}
              onValue={(data) => set({ data: objectOf(data) })}
            />
          </div>
          {!readOnly && <Leave label="Data" onLeave={() => set({ data: undefined })} />}
        </div>
      )}
      {!readOnly && (left.length > 0 || !hasData) && (
        <Menu
          align="start"
          trigger={
            <Button size="sm" icon={<Plus />}>
              Change a field
            </Button>
          }
        >
          {left.map((name) => (
            <MenuItem key={name} onSelect={() => setAdded([...added, name])}>
              {subscriberFields[name].label}
            </MenuItem>
          ))}
          {!hasData && <MenuItem onSelect={() => set({ data: {} })}>Data</MenuItem>}
        </Menu>
      )}
    </div>
  )
}

const Leave = ({ label, onLeave }: { label: string; onLeave: () => void }) => (
  <Button variant="ghost" size="icon" className="mt-6.5" hint={`Leave ${label} as it is`} onClick={onLeave}>
    <X />
  </Button>
)

function ChangedField({ name, onLeave }: { name: Name; onLeave: () => void }) {
  const { values, set, readOnly } = useStep()
  const { label, placeholder } = subscriberFields[name]
  const isCleared = values[name] === null
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 flex-1">
        {isCleared ? (
          <>
            <p className="mb-1.5 text-sm font-medium">{label}</p>
            <p className="flex h-8 items-center text-sm text-muted">Is cleared</p>
          </>
        ) : (
          <TextControl
            path={name}
            label={label}
            placeholder={placeholder}
            value={values[name]}
            onValue={(value) => set({ [name]: value || undefined })}
          />
        )}
      </div>
      {!readOnly && (
        <>
          <div className="mt-6.5">
            <Segments
              label={`What happens to ${label}`}
              value={isCleared ? 'clear' : 'set'}
              onValue={(next) => set({ [name]: next === 'clear' ? null : undefined })}
              options={[
                { value: 'set', label: 'Set' },
                { value: 'clear', label: 'Clear' },
              ]}
            />
          </div>
          <Leave
            label={label}
            onLeave={() => {
              onLeave()
              set({ [name]: undefined })
            }}
          />
        </>
      )}
    </div>
  )
}
