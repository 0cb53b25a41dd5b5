// Saving a layout: what a change in Production is for, and both sides where somebody else saved it meanwhile.
import { useEffect, useState } from 'react'
import { Button } from '../../ui/base/button.tsx'
import { Time } from '../../ui/base/time.tsx'
import { Marked } from '../../ui/domain/marked.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

interface SaveLayoutProps {
  open: boolean
  isPending: boolean
  onClose: () => void
  onSave: (message: string) => void
}

export function SaveLayout({ open, isPending, onClose, onSave }: SaveLayoutProps) {
  const [message, setMessage] = useState('')
  useEffect(() => {
    if (open) setMessage('')
  }, [open])
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Save the layout"
      description="Emails use it from the next message on."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" pending={isPending} onClick={() => onSave(message.trim())}>
            Save
          </Button>
        </>
      }
    >
      <FieldFrame label="What changes, and why" hint="It names this version in the history.">
        {(control) => (
          <Input
            {...control}
            dir="auto"
            value={message}
            onValue={setMessage}
            maxLength={500}
            placeholder="New footer"
          />
        )}
      </FieldFrame>
    </Dialog>
  )
}

interface Sides {
  name: string
  body: string
}

interface StaleLayoutProps {
  mine: Sides
  /** Undefined while nothing is stale. */
  theirs: Sides | undefined
  savedAt: string | undefined
  isPending: boolean
  onClose: () => void
  onMine: () => void
  onTheirs: () => void
}

export function StaleLayout({ mine, theirs, savedAt, isPending, onClose, onMine, onTheirs }: StaleLayoutProps) {
  return (
    <Dialog
      open={theirs !== undefined}
      onClose={onClose}
      size="lg"
      title="Somebody else saved this layout"
      description={
        <>It was changed {savedAt ? <Time at={savedAt} /> : 'since'}. Your changes are kept here until you choose.</>
      }
      footer={
        <>
          <Button onClick={onClose}>Decide later</Button>
          <Button onClick={onTheirs}>Take theirs</Button>
          <Button variant="primary" pending={isPending} onClick={onMine}>
            Keep mine
          </Button>
        </>
      }
    >
      {theirs && (
        <div className="grid gap-4 md:grid-cols-2">
          <SideOf title="Yours" own={mine} other={theirs} />
          <SideOf title="Theirs" own={theirs} other={mine} />
        </div>
      )}
    </Dialog>
  )
}

function SideOf({ title, own, other }: { title: string; own: Sides; other: Sides }) {
  return (
    <section aria-label={title} className="min-w-0 space-y-2">
      <h3 className="text-xs font-medium text-muted">{title}</h3>
      <p className="font-medium" dir="auto">
        <Marked before={other.name} after={own.name} side="after" />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre className="max-h-80 overflow-auto rounded-surface border p-3 text-code whitespace-pre-wrap" tabIndex={0}>
        <Marked before={other.body} after={own.body} side="after" />
      </pre>
    </section>
  )
}
