// The end of a form in the Simulate panel. Changes hold at once, so it has nothing to save.
import { Trash2 } from 'lucide-react'
import { Button } from '../../../ui/base/button.tsx'

/** @param onRemove absent where the thing must stay */
export function FormEnd({ onRemove, onDone }: { onRemove?: (() => void) | undefined; onDone: () => void }) {
  return (
    <div className="flex gap-2">
      {onRemove && (
        <Button icon={<Trash2 />} onClick={onRemove}>
          Remove
        </Button>
      )}
      <Button variant="primary" className="ml-auto" onClick={onDone}>
        Done
      </Button>
    </div>
  )
}
