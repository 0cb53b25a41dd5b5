// The save state at the top of the editor, with buttons to retry, save or discard.
import { CircleAlert, Cloud, LoaderCircle, RotateCw } from 'lucide-react'
import { Button } from '../../../ui/base/button.tsx'
import { Tooltip } from '../../../ui/base/tooltip.tsx'
import type { DraftState } from '../draft/use-draft.ts'

interface SaveStatusProps {
  state: DraftState
  autosaves: boolean
  /** Shows what the change would do before it is saved. */
  onSave: () => void
}

export function SaveStatus({ state, autosaves, onSave }: SaveStatusProps) {
  const { save, isDirty, conflict, flush, discard } = state
  if (conflict)
    return (
      <span role="status" className="text-sm text-warn">
        Not saved: choose below
      </span>
    )
  if (save.state === 'failed')
    return (
      <span role="status" className="flex items-center gap-1.5 text-sm text-bad">
        <Tooltip text={save.error.message}>
          <span className="inline-flex max-w-64 items-center gap-1.5">
            <CircleAlert className="size-4 shrink-0" aria-hidden />
            <span className="truncate">Not saved: {save.error.message}</span>
          </span>
        </Tooltip>
        <Button size="sm" icon={<RotateCw />} onClick={() => void flush()}>
          Try again
        </Button>
      </span>
    )
  if (!autosaves && isDirty)
    return (
      <span className="flex items-center gap-2">
        <Button size="sm" variant="ghost" onClick={discard}>
          Discard
        </Button>
        <Button size="sm" variant="primary" pending={save.state === 'saving'} onClick={onSave}>
          Save changes
        </Button>
      </span>
    )
  const isBusy = save.state === 'saving' || isDirty
  return (
    <span role="status" className="inline-flex items-center gap-1.5 text-sm text-muted">
      {isBusy ? <LoaderCircle className="size-4 animate-spin" aria-hidden /> : <Cloud className="size-4" aria-hidden />}
      <span className="max-sm:sr-only">{isBusy ? 'Saving…' : 'Saved'}</span>
    </span>
  )
}
