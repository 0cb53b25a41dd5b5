// Importing a file: choose it, map its columns, see which rows would be refused, watch the progress, fix the rest.
import { CircleCheck, FileUp, TriangleAlert, Upload } from 'lucide-react'
import { type DragEvent, type ReactNode, useMemo, useRef, useState } from 'react'
import type { Environment } from '../../api/auth.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { counted, number } from '../../ui/base/counted.ts'
import { download } from '../../ui/base/download.ts'
import { ProgressBar } from '../../ui/base/states.tsx'
import { useJob } from '../../ui/domain/job.ts'
import { Select } from '../../ui/form/select.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'
import { fields, guessMeanings, type Meaning, type PeopleFile, readPeople, readRow } from './import-file.ts'
import { type ImportState, importJob, refusedAsCsv, resumeImport, startImport, stopImport } from './import-job.ts'

interface ImportDialogProps {
  open: boolean
  onClose: () => void
  environment: Environment
}

const isOver = ({ status }: ImportState) => status === 'done' || status === 'stopped'

export function ImportDialog({ open, onClose, environment }: ImportDialogProps) {
  const job = useJob(importJob)
  const [file, setFile] = useState<PeopleFile>()
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="lg"
      title={job ? `Import of ${job.file.name}` : 'Import subscribers'}
      description={
        job
          ? `Into ${job.environment.name}`
          : `New ids are created in ${environment.name}. Existing subscribers get the fields in the file.`
      }
    >
      {job ? (
        <Running job={job} onClose={onClose} />
      ) : file ? (
        <Mapping
          key={file.name}
          file={file}
          onBack={() => setFile(undefined)}
          onStart={(meanings) => {
            startImport(file, meanings, environment)
            setFile(undefined)
          }}
        />
      ) : (
        <ChooseFile onFile={setFile} />
      )}
    </Dialog>
  )
}

const sample = [
  'subscriberId,firstName,lastName,email,phone,locale,timezone,plan',
  'ada,Ada,Lovelace,ada@example.com,+441632960000,en_GB,Europe/London,pro',
  'grace,Grace,Hopper,grace@example.com,,en_US,America/New_York,free',
  '',
].join('\r\n')

function ChooseFile({ onFile }: { onFile: (file: PeopleFile) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const [isReading, setReading] = useState(false)
  const [problem, setProblem] = useState<string>()
  const take = async (file: File | undefined) => {
    if (!file) return
    setReading(true)
    setProblem(undefined)
    try {
      onFile(await readPeople(file))
    } catch (error) {
      setProblem(`${file.name}: ${(error as Error).message}`)
    }
    setReading(false)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void take(event.dataTransfer.files[0])
  }
  return (
    <div className="space-y-4">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same */}
      <div
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        className={cn(
          'flex flex-col items-center rounded-surface border border-dashed border-line-strong px-4 py-12 text-center transition-colors duration-120',
          isOver && 'border-accent bg-accent/8',
        )}
      >
        <FileUp className="mb-3 size-6 text-muted" aria-hidden />
        <p className="text-sm">Drop a CSV or JSON file here</p>
        <p className="mt-1 text-xs text-muted">One row or object for each subscriber. You map the columns next.</p>
        <Button className="mt-4" icon={<Upload />} pending={isReading} onClick={() => input.current?.click()}>
          Choose a file
        </Button>
        <input
          ref={input}
          type="file"
          aria-label="File to import"
          accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson,text/csv,application/json"
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            void take(event.target.files?.[0])
            event.target.value = ''
          }}
        />
      </div>
      {problem && <Notice tone="bad">{problem}</Notice>}
      <Button variant="ghost" size="sm" onClick={() => download('subscribers.csv', sample, 'text/csv')}>
        Download a sample file
      </Button>
    </div>
  )
}

const Notice = ({ tone, children }: { tone: 'bad' | 'warn' | 'good'; children: ReactNode }) => (
  <p
    role={tone === 'good' ? 'status' : 'alert'}
    className={cn(
      'flex items-start gap-2 rounded-control border px-3 py-2 text-sm [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0',
      tone === 'bad' && 'border-bad/30 bg-bad/8 [&_svg]:text-bad',
      tone === 'warn' && 'border-warn/30 bg-warn/8 [&_svg]:text-warn',
      tone === 'good' && 'border-good/30 bg-good/8 [&_svg]:text-good',
    )}
  >
    {tone === 'good' ? <CircleCheck aria-hidden /> : <TriangleAlert aria-hidden />}
    <span className="min-w-0 break-words">{children}</span>
  </p>
)

const text = (cell: unknown) =>
  typeof cell === 'object' && cell !== null ? JSON.stringify(cell) : String(cell ?? '').trim()

interface MappingProps {
  file: PeopleFile
  onBack: () => void
  onStart: (meanings: Meaning[]) => void
}

function Mapping({ file, onBack, onStart }: MappingProps) {
  const { columns, rows } = file
  const [meanings, setMeanings] = useState(() => guessMeanings(columns))
  const read = useMemo(() => rows.map((row) => readRow(row, columns, meanings)), [rows, columns, meanings])
  const wrong = read.flatMap((row) => (row.problems ? [row] : []))
  const ids = read.flatMap((row) => (row.problems ? [] : [row.subscriber.subscriberId]))
  const repeated = ids.length - new Set(ids).size
  const hasId = meanings.includes('subscriberId')
  const set = (index: number, meaning: Meaning) =>
    setMeanings(
      meanings.map((before, place) => {
        if (place === index) return meaning
        // A field has one column: clear the other one.
        return before === meaning && meaning !== 'nothing' && meaning !== 'own-data' ? 'own-data' : before
      }),
    )
  return (
    <div className="space-y-4">
      <div className="max-h-[45vh] overflow-y-auto rounded-surface border">
        <table className="w-full table-fixed text-sm" aria-label="Map the columns">
          <thead className="sticky top-0 z-1 bg-raised text-left text-xs text-muted">
            <tr>
              <th scope="col" className="h-9 w-2/5 px-3 font-medium sm:w-1/4">
                Column
              </th>
              <th scope="col" className="px-3 font-medium max-sm:hidden">
                First values
              </th>
              <th scope="col" className="w-3/5 px-3 font-medium sm:w-56">
                Becomes
              </th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns may have the same name
              <tr key={index} className="border-t">
                <th scope="row" className="h-11 truncate px-3 text-left font-medium">
                  {column || <span className="text-muted">Column {index + 1}</span>}
                </th>
                <td className="truncate px-3 text-muted max-sm:hidden" dir="auto">
                  {rows
                    .slice(0, 3)
                    .map(({ cells }) => text(cells[index]))
                    .filter(Boolean)
                    .join(' · ') || '—'}
                </td>
                <td className="px-3">
                  <Select<Meaning>
                    aria-label={`${column || `Column ${index + 1}`} becomes`}
                    value={meanings[index]}
                    onValue={(meaning) => set(index, meaning)}
                    options={[
                      ...fields.map(({ value, label }) => ({ value, label })),
                      { value: 'own-data', label: `Data: ${column || `column ${index + 1}`}` },
                      { value: 'nothing', label: 'Leave out' },
                    ]}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!hasId ? (
        <Notice tone="bad">Choose the column with the id of each subscriber. Triggers use it.</Notice>
      ) : wrong.length === 0 ? (
        <Notice tone="good">
          {rows.length === 1 ? 'The row' : `All ${counted(rows.length, 'row')}`} can be imported.
        </Notice>
      ) : (
        <div className="space-y-2">
          <Notice tone="warn">
            {counted(rows.length - wrong.length, 'row')} can be imported, {number(wrong.length)} will be refused. You
            can download those and fix them.
          </Notice>
          <RefusedList
            refused={wrong.map(({ line, subscriberId, problems }) => ({
              line,
              subscriberId,
              reason: problems.join('; '),
            }))}
          />
        </div>
      )}
      {repeated > 0 && (
        <p className="text-xs text-muted">
          {number(repeated)} {repeated === 1 ? 'id comes' : 'ids come'} more than once; the last row wins.
        </p>
      )}
      <DialogFooter>
        <Button onClick={onBack}>Choose another file</Button>
        <Button variant="primary" disabled={!hasId || wrong.length === rows.length} onClick={() => onStart(meanings)}>
          Import {counted(rows.length - wrong.length, 'row')}
        </Button>
      </DialogFooter>
    </div>
  )
}

const shownRefused = 100

function RefusedList({ refused }: { refused: ImportState['refused'] }) {
  return (
    <section
      aria-label="Rows that were refused"
      className="max-h-48 overflow-y-auto rounded-surface border"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
    >
      <ul>
        {refused.slice(0, shownRefused).map(({ line, subscriberId, reason }) => (
          <li key={line} className="flex items-baseline gap-3 border-b px-3 py-1.5 text-sm last:border-b-0">
            <span className="w-16 shrink-0 text-xs text-muted">Line {line}</span>
            <code className="w-40 shrink-0 truncate max-sm:hidden">{subscriberId || '—'}</code>
            <span className="min-w-0 flex-1 break-words">{reason}</span>
          </li>
        ))}
      </ul>
      {refused.length > shownRefused && (
        <p className="px-3 py-2 text-xs text-muted">
          and {number(refused.length - shownRefused)} more, all in the file
        </p>
      )}
    </section>
  )
}

function Running({ job, onClose }: { job: ImportState; onClose: () => void }) {
  const { status, done, total, created, updated, refused, error } = job
  const saveRefused = async () =>
    download(`refused-${job.file.name.replace(/\.\w+$/, '')}.csv`, await refusedAsCsv(job), 'text/csv')
  const dismiss = () => {
    importJob.set(undefined)
    onClose()
  }
  return (
    <div className="space-y-4">
      {status === 'done' ? (
        <Notice tone="good">
          {number(created)} created, {number(updated)} updated
          {refused.length > 0 && `, ${number(refused.length)} refused`}.
        </Notice>
      ) : (
        <>
          <ProgressBar
            done={done}
            total={total}
            label={status === 'stopped' ? 'Stopped' : status === 'stopping' ? 'Stopping…' : 'Importing…'}
          />
          <p className="text-sm text-muted">
            {number(created)} created, {number(updated)} updated, {number(refused.length)} refused so far.
          </p>
        </>
      )}
      {error && <Notice tone="bad">{error}</Notice>}
      {status === 'running' && (
        <p className="text-xs text-muted">
          You can close this and visit other pages. The import continues while this window is open; its progress is
          shown above the list.
        </p>
      )}
      {refused.length > 0 && isOver(job) && <RefusedList refused={refused} />}
      <DialogFooter>
        {isOver(job) && refused.length > 0 && (
          <Button className="mr-auto" onClick={() => void saveRefused()}>
            Download refused rows
          </Button>
        )}
        {status === 'running' && <Button onClick={stopImport}>Stop</Button>}
        {status === 'stopped' && <Button onClick={resumeImport}>Continue</Button>}
        {isOver(job) ? (
          <Button variant="primary" onClick={dismiss}>
            Done
          </Button>
        ) : (
          <Button variant="primary" onClick={onClose}>
            Continue in the background
          </Button>
        )}
      </DialogFooter>
    </div>
  )
}

/** Shown above the list after the dialog is closed. */
export function ImportStrip({ onOpen }: { onOpen: () => void }) {
  const job = useJob(importJob)
  if (!job) return null
  const { file, done, total, refused } = job
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b bg-raised px-4 py-2.5 text-sm sm:px-6">
      {isOver(job) ? (
        <span className="min-w-0 flex-1 truncate">
          {job.status === 'done' ? 'Imported' : 'Stopped importing'} {file.name}: {number(done - refused.length)}{' '}
          stored, {number(refused.length)} refused
        </span>
      ) : (
        <div className="min-w-48 flex-1">
          <ProgressBar done={done} total={total} label={`Importing ${file.name}`} />
        </div>
      )}
      <span className="flex gap-2">
        <Button size="sm" onClick={onOpen}>
          Show import
        </Button>
        {isOver(job) && (
          <Button size="sm" variant="ghost" onClick={() => importJob.set(undefined)}>
            Dismiss
          </Button>
        )}
      </span>
    </div>
  )
}
