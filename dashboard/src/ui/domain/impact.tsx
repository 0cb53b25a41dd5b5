// What a save or a publish would do, before its button: three lines with numbers, and examples with the message of before and of
// after side by side.
import { Braces, Hourglass, Users } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useAction } from '../../api/cache.ts'
import { type Impact, type ImpactExample, impact } from '../../api/impact.ts'
import { Button } from '../base/button.tsx'
import { counted, number } from '../base/counted.ts'
import { ProgressBar, Skeleton } from '../base/states.tsx'
import { Badge } from '../base/status.tsx'
import { absoluteTime } from '../base/time.tsx'
import { useConfirm } from '../frame/dialog.tsx'
import { DisclosureRow } from '../list/disclosure-row.tsx'
import { reasonLabel } from './reasons.ts'
import { type SimulatedContent, SimulatedFrame } from './simulated-message.tsx'

export const ImpactSkeleton = () => (
  <div className="space-y-2" role="status" aria-label="Playing the last triggers">
    <Skeleton className="w-3/4" />
    <Skeleton className="w-1/2" />
    <Skeleton className="w-2/3" />
  </div>
)

interface ImpactViewProps {
  impacts: readonly Impact[]
  /** Where the workflows are, if not in the current environment. */
  environmentId?: string | undefined
  /** Whether the person may cancel runs there. */
  canCancel: boolean
  /** Called when runs were canceled: the numbers are others now. */
  onCanceled: () => void
}

const sum = (impacts: readonly Impact[], of: (impact: Impact) => number) =>
  impacts.reduce((total, each) => total + of(each), 0)

export function ImpactView({ impacts, environmentId, canCancel, onCanceled }: ImpactViewProps) {
  const examples = impacts.flatMap((each) =>
    each.replay.examples.map((example) => ({ ...example, workflowId: each.workflowId })),
  )
  return (
    <div className="space-y-4">
      <ul aria-label="What would change" className="space-y-2 text-sm">
        <Line icon={<Users />}>{replayText(impacts)}</Line>
        <Line icon={<Hourglass />}>
          <WaitingLine impacts={impacts} environmentId={environmentId} canCancel={canCancel} onCanceled={onCanceled} />
        </Line>
        <Line icon={<Braces />}>{variablesText(impacts)}</Line>
      </ul>
      {examples.length > 0 && (
        <section aria-label="Examples">
          <h3 className="mb-2 text-sm font-semibold">Examples</h3>
          <ul className="divide-y rounded-surface border">
            {examples.map((example, index) => (
              <Example
                key={`${example.transactionId} ${example.subscriberId}`}
                example={example}
                workflowId={impacts.length > 1 ? example.workflowId : undefined}
                startsOpen={index === 0}
              />
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

const Line = ({ icon, children }: { icon: ReactNode; children: ReactNode }) => (
  <li className="flex items-start gap-2.5 [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted">
    {icon}
    <div className="min-w-0 flex-1 text-pretty">{children}</div>
  </li>
)

const kindWords: Record<string, (count: number) => string> = {
  more: (count) => `${number(count)} get more`,
  fewer: (count) => `${number(count)} get fewer`,
  content: (count) => `${number(count)} with other content`,
  time: (count) => `${number(count)} at another time`,
  reason: (count) => `${number(count)} held back for another reason`,
}

export function replayText(impacts: readonly Impact[]): string {
  const triggers = sum(impacts, ({ replay }) => replay.triggers)
  const runs = sum(impacts, ({ replay }) => replay.runs)
  const different = sum(impacts, ({ replay }) => replay.different)
  if (runs === 0) return 'There are no earlier triggers to compare with.'
  const of = triggers === 1 ? 'the last trigger' : `the last ${number(triggers)} triggers`
  if (different === 0) return `Nothing changes for anybody: ${counted(runs, 'notification')} of ${of} stay the same.`
  const kinds = Object.entries(kindWords).flatMap(([kind, words]) => {
    const count = sum(impacts, ({ replay }) => (replay.kinds as Record<string, number>)[kind] ?? 0)
    return count === 0 ? [] : [words(count)]
  })
  return `${number(different)} of ${counted(runs, 'notification')} of ${of} would differ: ${kinds.join(', ')}.`
}

export function variablesText(impacts: readonly Impact[]): string {
  const all = impacts.flatMap(({ variables }) => variables).sort((a, b) => b.missingIn - a.missingIn)
  const [most, ...others] = all
  if (!most) return 'No variable would be empty.'
  const more =
    others.length === 0 ? '' : ` So ${others.length === 1 ? 'is another one' : `are ${others.length} others`}.`
  return `${most.name} in “${most.stepId}” would be empty in ${number(most.missingIn)} of ${counted(most.of, 'trigger')}.${more}`
}

function WaitingLine({ impacts, environmentId, canCancel, onCanceled }: ImpactViewProps) {
  const ask = useConfirm()
  const [done, setDone] = useState<number>()
  const runs = sum(impacts, ({ waiting }) => waiting.runs)
  const cancel = useAction({
    do: () =>
      impact.cancelWaiting(
        impacts.filter(({ waiting }) => waiting.runs > 0).map(({ workflowId }) => workflowId),
        { environmentId, onDone: setDone },
      ),
    refresh: ['runs', 'impact'],
    done: (count) => `${counted(count, 'trigger')} canceled`,
    onDone: onCanceled,
  })
  const askAndCancel = async () => {
    const isSure = await ask({
      title: `Cancel ${counted(runs, 'waiting run')}?`,
      body: 'Their messages are not sent, and they cannot be resumed. Nothing else is changed.',
      confirm: `Cancel ${counted(runs, 'run')}`,
    })
    if (isSure) cancel.mutate()
  }
  if (runs === 0) return 'No run waits.'
  const steps = impacts.flatMap(({ waiting }) => waiting.steps)
  const at = (change: string) =>
    steps.filter((step) => step.change === change).reduce((total, step) => total + step.runs, 0)
  const parts = [
    ...(at('removed') > 0 ? [`${number(at('removed'))} at a step that is removed`] : []),
    ...(at('changed') > 0 ? [`${number(at('changed'))} at a step that changes`] : []),
  ]
  const where = parts.length === 0 ? '' : ` (${parts.join(', ')})`
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span>
        {counted(runs, 'run')} {runs === 1 ? 'waits' : 'wait'} and {runs === 1 ? 'goes' : 'go'} on as{' '}
        {runs === 1 ? 'it' : 'they'} began{where}.
      </span>
      {canCancel && !cancel.isPending && (
        <Button size="sm" onClick={() => void askAndCancel()}>
          Cancel {runs === 1 ? 'it' : 'them'}
        </Button>
      )}
      {cancel.isPending && (
        <span className="w-48">
          <ProgressBar done={done ?? 0} label="Canceling…" />
        </span>
      )}
    </span>
  )
}

const kindTitles: Record<string, string> = {
  more: 'One more',
  fewer: 'One fewer',
  content: 'Other content',
  time: 'Another time',
  reason: 'Another reason',
}

interface ExampleProps {
  example: ImpactExample
  /** Named where there are several. */
  workflowId: string | undefined
  startsOpen: boolean
}

function Example({ example, workflowId, startsOpen }: ExampleProps) {
  const { transactionId, subscriberId, kind, changes, messages } = example
  const members = [...new Set(changes.map(({ member }) => member))].join(', ')
  return (
    <DisclosureRow
      startsOpen={startsOpen}
      className="grid gap-4 sm:grid-cols-2"
      summary={
        <>
          <Badge>{kindTitles[kind] ?? kind}</Badge>
          <span className="min-w-0 flex-1 truncate">
            {subscriberId}
            {workflowId && <span className="text-muted"> · {workflowId}</span>}
            {kind === 'content' && <span className="text-muted"> · {members}</span>}
          </span>
          <span className="max-w-40 truncate font-mono text-xs text-muted max-sm:hidden">{transactionId}</span>
        </>
      }
    >
      <Side title="Now" message={messages.before} changes={changes} side="before" />
      <Side title="After" message={messages.after} changes={changes} side="after" />
    </DisclosureRow>
  )
}

interface SideProps {
  title: string
  message: Record<string, unknown> | null
  changes: ImpactExample['changes']
  side: 'before' | 'after'
}

function Side({ title, message, changes, side }: SideProps) {
  const reason = changes.find(({ member }) => member === 'reason')?.[side]
  return (
    <section aria-label={title} className="min-w-0 space-y-2">
      <h4 className="text-xs font-medium text-muted">{title}</h4>
      {message ? (
        <SimulatedFrame message={message as unknown as SimulatedContent} when={absoluteTime(String(message.at))} />
      ) : (
        <p className="rounded-surface border border-dashed p-4 text-center text-sm text-muted">
          Nothing is sent{typeof reason === 'string' ? `: ${reasonLabel(reason).toLowerCase()}` : ''}.
        </p>
      )}
    </section>
  )
}
