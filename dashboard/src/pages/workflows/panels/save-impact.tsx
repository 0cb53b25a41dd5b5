// Before a workflow of Production is saved: what the change would do, and what it is for. What is saved is exactly what was looked at.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useCan } from '../../../api/auth.ts'
import { impact } from '../../../api/impact.ts'
import { Button } from '../../../ui/base/button.tsx'
import { ErrorState } from '../../../ui/base/states.tsx'
import { ImpactSkeleton, ImpactView } from '../../../ui/domain/impact.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Dialog, DialogFooter } from '../../../ui/frame/dialog.tsx'
import { changeOf } from '../draft/draft.ts'
import type { DraftState } from '../draft/use-draft.ts'

interface SaveImpactProps {
  open: boolean
  onClose: () => void
  state: DraftState
}

export function SaveImpact({ open, onClose, state }: SaveImpactProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="lg"
      title="Save changes"
      description="The last triggers, played with the workflow as it is and as it would be. Nothing is sent."
    >
      {open && <Inner onClose={onClose} state={state} />}
    </Dialog>
  )
}

function Inner({ onClose, state }: Omit<SaveImpactProps, 'open'>) {
  const { draft, saved, flush } = state
  const canCancel = useCan('editor')
  const body = useMemo(() => changeOf(draft, saved.origin), [draft, saved.origin])
  const query = useQuery(impact.ofDraft(saved.workflowId, body, saved.version))
  const [tries, setTries] = useState(0)
  const [isSaving, setSaving] = useState(false)
  const [message, setMessage] = useState('')
  // Somebody else saved what collides with it: that is chosen first.
  const hasConflict = state.conflict !== undefined
  useEffect(() => {
    if (hasConflict) onClose()
  }, [hasConflict, onClose])
  const save = async () => {
    setSaving(true)
    const isSaved = await flush({ impactToken: query.data?.impactToken, message: message.trim() })
    setSaving(false)
    if (isSaved) onClose()
    else setTries((before) => before + 1)
  }
  const failure = state.save.state === 'failed' ? state.save.error : undefined
  const isStale = tries > 0 && failure === undefined
  const { refetch } = query
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is looked at again after each try
  useEffect(() => {
    if (isStale) void refetch()
  }, [tries, isStale, refetch])
  return (
    <div className="space-y-4">
      {tries > 0 && (
        <p role="alert" className="rounded-control border border-warn/30 bg-warn/8 px-3 py-2 text-sm">
          {failure
            ? `It was not saved. ${failure.message}`
            : 'It was not saved: something has changed since. Look again.'}
        </p>
      )}
      {query.data ? (
        <ImpactView impacts={[query.data]} canCancel={canCancel} onCanceled={() => void query.refetch()} />
      ) : query.error ? (
        // The change can be saved all the same: nothing is checked then.
        <ErrorState error={query.error} onRetry={() => void query.refetch()} className="py-4" />
      ) : (
        <ImpactSkeleton />
      )}
      <FieldFrame label="What changes, and why" hint="It names this version in the history.">
        {(control) => (
          <Input
            {...control}
            dir="auto"
            placeholder="Shorter subject"
            value={message}
            onValue={setMessage}
            maxLength={500}
          />
        )}
      </FieldFrame>
      <DialogFooter>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          pending={isSaving}
          disabled={query.isLoading || query.isFetching}
          onClick={() => void save()}
        >
          Save
        </Button>
      </DialogFooter>
    </div>
  )
}
