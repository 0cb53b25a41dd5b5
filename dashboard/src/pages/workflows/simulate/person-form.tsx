// Edits one person of a scenario: a stored subscriber, or somebody invented.
import { toast } from 'sonner'
import { cache } from '../../../api/cache.ts'
import { nameOf, type Schedule, subscribers } from '../../../api/subscribers.ts'
import { SubscriberPicker } from '../../../ui/domain/subscriber-picker.tsx'
import { Combobox } from '../../../ui/form/combobox.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { FormEnd } from './form-end.tsx'
import type { Person } from './scenario.ts'

interface PersonFormProps {
  person: Person
  canRemove: boolean
  onChange: (person: Person) => void
  onRemove: () => void
  onDone: () => void
}

/** A subscriber as they are stored, with the hours that the axis shades. */
export async function storedPerson(subscriberId: string): Promise<Person> {
  const [found, preferences] = await Promise.all([
    cache.fetchQuery(subscribers.list({ subscriberId, limit: 1 })),
    cache.fetchQuery(subscribers.preferences(subscriberId, 'nonCritical')).catch(() => undefined),
  ])
  const [row] = found.data
  const { schedule } = (preferences?.global ?? {}) as { schedule?: Schedule }
  return {
    ...{ subscriberId, firstName: row ? nameOf(row) : subscriberId, isStored: true, schedule },
    timezone: row?.timezone ?? 'UTC',
  }
}

export function PersonForm({ person, canRemove, onChange, onRemove, onDone }: PersonFormProps) {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  return (
    <section aria-label="Recipient" className="space-y-4 p-4">
      <h3 className="text-sm font-semibold">{person.firstName}</h3>
      <FieldFrame
        label="Subscriber"
        hint={person.isStored ? 'As they are stored now.' : 'Invented. Choose somebody who is stored instead.'}
      >
        {(control) => (
          <SubscriberPicker
            id={control.id}
            aria-label="Subscriber"
            placeholder={`${person.firstName} (invented)`}
            value={person.isStored ? person.subscriberId : undefined}
            onValue={(subscriberId) =>
              void storedPerson(subscriberId).then(onChange, (error: unknown) => toast.error((error as Error).message))
            }
          />
        )}
      </FieldFrame>
      {!person.isStored && (
        <>
          <FieldFrame label="Email" optional>
            {(control) => (
              <Input
                {...control}
                value={person.email ?? ''}
                onValue={(email) => onChange({ ...person, email: email === '' ? undefined : email })}
              />
            )}
          </FieldFrame>
          <FieldFrame label="Phone" optional>
            {(control) => (
              <Input
                {...control}
                value={person.phone ?? ''}
                onValue={(phone) => onChange({ ...person, phone: phone === '' ? undefined : phone })}
              />
            )}
          </FieldFrame>
          <FieldFrame label="Time zone">
            {(control) => (
              <Combobox
                id={control.id}
                aria-label="Time zone"
                value={person.timezone}
                options={zones.map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
                onValue={(timezone) => onChange({ ...person, timezone })}
              />
            )}
          </FieldFrame>
        </>
      )}
      <FormEnd onRemove={canRemove ? onRemove : undefined} onDone={onDone} />
    </section>
  )
}
