// What differed for one workflow, newest first: where, and what each side has.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type ShadowDifference, shadow } from '../../api/shadow.ts'
import { Button } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'

const sentences: Record<ShadowDifference['kind'], string> = {
  missing: 'Happened there, and not here',
  extra: 'Happened here, and not there',
  status: 'Ended differently',
  recipient: 'Went to another address',
  content: 'Has other content',
  time: 'Was sent more than two minutes apart',
}

export function Differences({ workflowId, onClose }: { workflowId: string; onClose: () => void }) {
  return (
    <Sheet
      open={workflowId !== ''}
      onClose={onClose}
      label="Differences"
      title={<bdi className="font-mono">{workflowId}</bdi>}
      subtitle="Differences of the last 30 days, newest first"
      wide
    >
      {workflowId !== '' && <List key={workflowId} workflowId={workflowId} />}
    </Sheet>
  )
}

function List({ workflowId }: { workflowId: string }) {
  const [after, setAfter] = useState<string>()
  const query = useQuery(shadow.differences(workflowId, after))
  return (
    <Loaded query={query}>
      {({ data, next }) => (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          <ul aria-label="Differences" className="grid grid-cols-[minmax(0,1fr)] gap-3">
            {data.map((each) => (
              <Difference key={each._id} of={each} />
            ))}
          </ul>
          <div className="flex gap-2">
            {after !== undefined && <Button onClick={() => setAfter(undefined)}>Newest</Button>}
            {next !== null && <Button onClick={() => setAfter(next)}>Older</Button>}
          </div>
        </div>
      )}
    </Loaded>
  )
}

function Difference({ of }: { of: ShadowDifference }) {
  const { kind, path, stepId, subscriberId, transactionId, upstream, here, createdAt } = of
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-2 rounded-surface border p-3 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone="bad">{kind}</Badge>
        <span>{sentences[kind]}</span>
        <Time at={createdAt} className="ml-auto text-xs text-muted" />
      </div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
        <code className="break-all">{path}</code>
        {stepId !== null && <span>Step {stepId}</span>}
        {subscriberId !== null && (
          <span>
            For <bdi>{subscriberId}</bdi>
          </span>
        )}
        {transactionId !== null && <Id value={transactionId} />}
      </p>
      <div className="grid gap-2 sm:grid-cols-2">
        <Side label="There" value={upstream} />
        <Side label="Here" value={here} />
      </div>
    </li>
  )
}

function Side({ label, value }: { label: string; value: unknown }) {
  const words =
    value === null || value === '' ? '—' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <div className="min-w-0">
      <p className="text-xs font-medium text-muted">{label}</p>
      <pre
        className="mt-1 max-h-40 overflow-auto rounded-control bg-sunken p-2 text-xs break-words whitespace-pre-wrap"
        dir="auto"
      >
        {words}
      </pre>
    </div>
  )
}
