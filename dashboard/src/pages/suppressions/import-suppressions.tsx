// Importing a CSV file: the server reads it, and reports what it took and what not.
import { CircleCheck, FileUp } from 'lucide-react'
import { useRef, useState } from 'react'
import { useAction } from '../../api/cache.ts'
import { type ImportReport, suppressions } from '../../api/suppressions.ts'
import { Button } from '../../ui/base/button.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'

const count = (number: number, noun: string) => `${number.toLocaleString('en')} ${noun}`

export function ImportSuppressions({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [report, setReport] = useState<ImportReport>()
  const input = useRef<HTMLInputElement>(null)
  const send = useAction({ do: suppressions.import, refresh: ['suppressions'], onDone: setReport })
  const close = () => {
    setReport(undefined)
    onClose()
  }
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Import addresses"
      description="A CSV file of up to 100,000 rows. Only the column address is needed; an export from elsewhere fits as it is."
    >
      {report ? (
        <Report report={report} />
      ) : (
        <div className="rounded-surface border border-dashed p-6 text-center">
          <Button variant="primary" icon={<FileUp />} pending={send.isPending} onClick={() => input.current?.click()}>
            Choose a file
          </Button>
          <input
            ref={input}
            type="file"
            aria-label="File to import"
            accept=".csv,text/csv"
            className="sr-only"
            tabIndex={-1}
            onChange={({ target }) => {
              const [file] = target.files ?? []
              target.value = ''
              if (file) send.mutate(file)
            }}
          />
        </div>
      )}
      <DialogFooter>
        <Button onClick={close}>{report ? 'Done' : 'Cancel'}</Button>
      </DialogFooter>
    </Dialog>
  )
}

function Report({ report }: { report: ImportReport }) {
  const { imported, existing, rejected, errors } = report
  return (
    <div className="space-y-3" role="status">
      <p className="flex items-center gap-2">
        <CircleCheck className="size-4 text-good" aria-hidden />
        {count(imported, 'added')}, {count(existing, 'there before')}, {count(rejected, 'rejected')}
      </p>
      {errors.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        <section aria-label="Rejected rows" tabIndex={0} className="max-h-60 overflow-auto">
          <ul className="space-y-1 text-muted">
            {errors.map(({ line, problem }) => (
              <li key={line}>
                Line {line}: {problem}
              </li>
            ))}
          </ul>
        </section>
      )}
      {rejected > errors.length && (
        <p>…and {count(rejected - errors.length, 'more')}. Correct these, and import the file again.</p>
      )}
    </div>
  )
}
