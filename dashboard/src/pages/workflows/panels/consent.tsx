// Whether people may refuse what the workflow sends, and what they refuse together.
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import type { Draft } from '../draft/draft.ts'

const classes = [
  { value: 'transactional', label: 'Transactional' },
  { value: 'commercial', label: 'Commercial' },
] as const

const meanings: Record<Draft['messageClass'], string> = {
  transactional: 'Receipts, codes, what people asked for. It has no link to unsubscribe.',
  commercial: 'Offers and news: people can refuse it in one click, and its emails say how.',
}

interface ConsentProps {
  draft: Draft
  readOnly: boolean
  onChange: (patch: Partial<Draft>) => void
}

export function ConsentSettings({ draft, readOnly, onChange }: ConsentProps) {
  const { messageClass, consentCategory, preferences } = draft
  const isCritical = preferences.default.all.readOnly || preferences.user?.all.readOnly === true
  return (
    <fieldset className="rounded-surface border">
      <legend className="ml-3 px-1 text-sm font-medium">Consent</legend>
      <div className="space-y-4 p-4 pt-2">
        <FieldFrame
          label="Class"
          hint={
            isCritical && messageClass === 'transactional'
              ? 'A critical workflow is always transactional: people cannot refuse it.'
              : meanings[messageClass]
          }
          errors={
            isCritical && messageClass === 'commercial'
              ? ['A critical workflow cannot be commercial: people could not refuse it.']
              : []
          }
        >
          {(control) => (
            <Select
              {...control}
              aria-label="Class"
              disabled={readOnly || (isCritical && messageClass === 'transactional')}
              value={messageClass}
              onValue={(next) => onChange({ messageClass: next })}
              options={classes}
            />
          )}
        </FieldFrame>
        {(messageClass === 'commercial' || consentCategory !== null) && (
          <FieldFrame
            label="Category"
            optional
            hint="Workflows of one category are unsubscribed together. Without one, people refuse this workflow alone."
            errors={isCategory(consentCategory) ? [] : ['Small letters, digits, hyphens and underscores, up to 64.']}
          >
            {(control) => (
              <Input
                {...control}
                maxLength={64}
                spellCheck={false}
                placeholder="offers"
                className="font-mono text-code"
                disabled={readOnly}
                value={consentCategory ?? ''}
                onValue={(text) => onChange({ consentCategory: text === '' ? null : text })}
              />
            )}
          </FieldFrame>
        )}
      </div>
    </fieldset>
  )
}

const isCategory = (text: string | null) => text === null || /^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)
