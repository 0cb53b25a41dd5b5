// What is counted of the e-mails of a workflow: opens and clicks.
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import type { Draft } from '../draft/draft.ts'
import { allSteps } from '../draft/tree.ts'

interface TrackingProps {
  draft: Draft
  readOnly: boolean
  onChange: (patch: Partial<Draft>) => void
}

const nothing = { opens: false, clicks: false }

/** Only e-mails can be counted. */
export function TrackingSettings({ draft, readOnly, onChange }: TrackingProps) {
  const tracking = draft.tracking ?? nothing
  if (!allSteps(draft.steps).some(({ type }) => type === 'email')) return null
  const row = (name: keyof typeof nothing, label: string, hint: string) => (
    <FieldFrame label={label} hint={hint} inline>
      {(control) => (
        <Switch
          {...control}
          disabled={readOnly}
          value={tracking[name]}
          onValue={(value) => onChange({ tracking: { ...tracking, [name]: value } })}
        />
      )}
    </FieldFrame>
  )
  return (
    <fieldset className="rounded-surface border">
      <legend className="ml-3 px-1 text-sm font-medium">Tracking of emails</legend>
      <div className="space-y-3 p-4 pt-2">
        {row('opens', 'Count opens', 'An invisible image tells when an email is opened.')}
        {row('clicks', 'Count clicks', 'Links lead through Belfry, which counts the click and sends the reader on.')}
        <p className="text-xs text-pretty text-muted">
          In the EU and the UK, ask people for their consent before you turn this on.
        </p>
      </div>
    </fieldset>
  )
}
