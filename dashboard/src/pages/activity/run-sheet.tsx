// One run: its outcome and why, its timeline and its payload. It has its own URL.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleX,
  Contact,
  DoorOpen,
  Hourglass,
  RotateCw,
  Workflow,
} from 'lucide-react'
import { useId, useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { explain } from '../../api/explain.ts'
import { useProviderNames } from '../../api/integrations.ts'
import { type Run, runs, subscriberIdOf, whoOf, workflowIdOf } from '../../api/runs.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { Id } from '../../ui/base/copy.tsx'
import { ErrorState, Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge, type Tone } from '../../ui/base/status.tsx'
import { absoluteTime, duration, Time, timeNow } from '../../ui/base/time.tsx'
import { JsonView } from '../../ui/code/json-view.tsx'
import { Explained } from '../../ui/domain/doors.tsx'
import { RunStatus } from '../../ui/domain/outcomes.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { Timeline } from './run-timeline.tsx'
import { whyOf } from './why.ts'

export function RunSheet({ runId, onClose }: { runId: string | undefined; onClose: () => void }) {
  const query = useQuery({
    ...runs.one(runId ?? ''),
    enabled: runId !== undefined,
    // Poll while the run is in progress; never from a hidden tab.
    refetchInterval: ({ state }) => (state.data?.status === 'processing' ? pauseOf(state.data) : false),
  })
  const run = query.data
  const name = run?.template?.name ?? 'Deleted workflow'
  return (
    <Sheet
      open={runId !== undefined}
      onClose={onClose}
      wide
      label={run ? `Run of ${name}` : 'Run'}
      title={run ? <bdi>{name}</bdi> : 'Run'}
      subtitle={
        run && (
          <>
            <bdi>{whoOf(run)}</bdi> · <Time at={run.triggeredAt ?? run.createdAt} />
          </>
        )
      }
      actions={run && <Actions run={run} />}
    >
      {run ? (
        <Whole run={run} />
      ) : query.error ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <SkeletonText lines={8} />
      )}
    </Sheet>
  )
}

/** Poll often while a step is running, rarely while it waits for a known time. An event may come any moment. */
function pauseOf({ jobs }: Run): number {
  const waiting = jobs.find(({ status, dueAt }) => status === 'delayed' && dueAt)
  if (waiting?.dueAt === undefined) return 2_000
  const longest = waiting.type === 'wait_for_event' ? 5_000 : 30_000
  return Math.max(2_000, Math.min(longest, (Date.parse(waiting.dueAt) - timeNow()) / 2))
}

function Actions({ run }: { run: Run }) {
  const navigate = useNavigate()
  const canEdit = useCan('editor')
  const ask = useConfirm()
  const who = whoOf(run)
  const replay = useAction({
    do: () => runs.replay(run._id),
    onDone: ({ status, transactionId, error }) => {
      if (status !== 'processed' || transactionId === undefined)
        throw new Error(error?.join(' ') ?? `The trigger was refused: ${status.replaceAll('_', ' ')}.`)
      void navigate({ to: '/activity/{-$runId}', params: { runId: undefined }, search: { transactionId } as never })
    },
    done: 'Triggered again',
  })
  const cancel = useAction({
    do: () => runs.cancel(run.transactionId),
    refresh: ['runs'],
    done: (isCanceled) => (isCanceled ? 'Cancelled' : 'There was nothing left to cancel'),
  })
  const onReplay = async () => {
    const yes = await ask({
      title: 'Replay this run?',
      body: `“${run.template?.name}” is triggered again for ${who}, with the current version of the workflow and the same payload. What it sends cannot be unsent.`,
      confirm: 'Replay',
      danger: false,
    })
    if (yes) replay.mutate()
  }
  const onCancel = async () => {
    const yes = await ask({
      title: 'Cancel the remaining steps?',
      body: `All remaining steps of transaction ${run.transactionId} are cancelled, for every recipient and not only for ${who}. What was sent stays sent.`,
      confirm: 'Cancel steps',
    })
    if (yes) cancel.mutate()
  }
  const onlyEditors = canEdit ? undefined : 'Viewers cannot do this'
  return (
    <>
      {run.status === 'processing' && (
        <Button
          size="sm"
          disabled={!canEdit}
          pending={cancel.isPending}
          onClick={() => void onCancel()}
          {...(onlyEditors ? { hint: onlyEditors } : {})}
        >
          Cancel
        </Button>
      )}
      <Button
        size="sm"
        icon={<RotateCw />}
        disabled={!canEdit || !run.template || !run.subscriber}
        pending={replay.isPending}
        onClick={() => void onReplay()}
        hint={
          onlyEditors ??
          (run.template
            ? run.subscriber
              ? 'Trigger it again'
              : 'The subscriber was deleted'
            : 'The workflow was deleted')
        }
      >
        Replay
      </Button>
    </>
  )
}

const tones: Record<Tone, { icon: typeof CircleCheck; look: string }> = {
  good: { icon: CircleCheck, look: 'border-good/30 bg-good/8 [&>svg]:text-good' },
  warn: { icon: CircleAlert, look: 'border-warn/30 bg-warn/8 [&>svg]:text-warn' },
  bad: { icon: CircleX, look: 'border-bad/30 bg-bad/8 [&>svg]:text-bad' },
  info: { icon: Hourglass, look: 'border-info/30 bg-info/8 [&>svg]:text-info' },
  neutral: { icon: CircleDashed, look: 'bg-raised [&>svg]:text-muted' },
}

function Whole({ run }: { run: Run }) {
  const { tone, sentence, cause } = whyOf(run, { provider: useProviderNames() })
  const { icon: Icon, look } = tones[tone]
  const subscriberId = subscriberIdOf(run)
  const workflowId = workflowIdOf(run)
  const ended = run.status === 'processing' ? undefined : Date.parse(run.updatedAt)
  return (
    <>
      <section
        aria-label="Why"
        aria-live="polite"
        className={cn('flex items-start gap-2.5 rounded-surface border px-3.5 py-3', look)}
      >
        <Icon className="mt-0.5 size-4 shrink-0" aria-hidden />
        <p className="min-w-0 flex-1 text-base font-medium break-words">
          {sentence}{' '}
          {cause && (
            <Link
              to={cause.to as never}
              search={(cause.search ?? {}) as never}
              className="font-normal whitespace-nowrap text-accent underline underline-offset-2"
            >
              {cause.label}
            </Link>
          )}
        </p>
      </section>
      <WhyNot run={run} />
      <div className="mt-5 grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_280px]">
        <Timeline run={run} />
        <div className="min-w-0 space-y-5">
          <Facts
            facts={[
              ['Status', <RunStatus key="status" run={run} />],
              [
                'Subscriber',
                run.subscriber ? (
                  <Link
                    key="subscriber"
                    to={`/subscribers/${encodeURIComponent(subscriberId)}` as never}
                    className="underline decoration-line-strong underline-offset-2 hover:decoration-current"
                  >
                    <bdi>{whoOf(run)}</bdi>
                  </Link>
                ) : (
                  <span key="subscriber">{subscriberId} (deleted)</span>
                ),
              ],
              [
                'Workflow',
                workflowId ? (
                  <Link
                    key="workflow"
                    to={`/workflows/${encodeURIComponent(workflowId)}` as never}
                    className="underline decoration-line-strong underline-offset-2 hover:decoration-current"
                  >
                    <bdi>{run.template?.name}</bdi>
                  </Link>
                ) : (
                  'Deleted'
                ),
              ],
              ['Version', run.workflowVersion],
              ...(run.startedBy
                ? [
                    [
                      'Started by',
                      <Link
                        key="startedBy"
                        to={`/activity/${run.startedBy.notificationId}` as never}
                        className="underline decoration-line-strong underline-offset-2 hover:decoration-current"
                      >
                        <bdi>{run.startedBy.workflowId}</bdi>
                      </Link>,
                    ] as const,
                  ]
                : []),
              ...(run.goal ? [['Goal met', <bdi key="goal">{run.goal.name}</bdi>] as const] : []),
              ['Triggered', absoluteTime(run.triggeredAt ?? run.createdAt)],
              ...(ended === undefined
                ? []
                : [['Took', duration(Math.max(0, ended - Date.parse(run.triggeredAt ?? run.createdAt)))] as const]),
              ['Transaction', <Id key="transaction" value={run.transactionId} />],
              ...(run.severity === 'none' ? [] : [['Severity', run.severity] as const]),
              ...(run.topics?.length
                ? [['Topics', run.topics.map(({ topicKey }) => topicKey).join(', ')] as const]
                : []),
              ...(run.contextKeys.length > 0 ? [['Contexts', run.contextKeys.join(', ')] as const] : []),
              ...(run.tags.length > 0
                ? [
                    [
                      'Tags',
                      <span key="tags" className="flex flex-wrap gap-1">
                        {run.tags.map((tag) => (
                          <Badge key={tag}>{tag}</Badge>
                        ))}
                      </span>,
                    ] as const,
                  ]
                : []),
            ]}
          />
          <div className="flex flex-wrap gap-2">
            {run.subscriber && (
              <ButtonLink size="sm" icon={<Contact />} to={`/subscribers/${encodeURIComponent(subscriberId)}` as never}>
                Open subscriber
              </ButtonLink>
            )}
            {workflowId && (
              <ButtonLink size="sm" icon={<Workflow />} to={`/workflows/${encodeURIComponent(workflowId)}` as never}>
                Open workflow
              </ButtonLink>
            )}
          </div>
          <JsonView title="Payload" value={run.payload ?? {}} />
          {run.overrides && Object.keys(run.overrides).length > 0 && (
            <JsonView title="Overrides" value={run.overrides} />
          )}
        </div>
      </div>
    </>
  )
}

/** The gates of every message, from the record. Loaded when somebody asks. */
function WhyNot({ run }: { run: Run }) {
  const [isOpen, setOpen] = useState(false)
  const subscriberId = subscriberIdOf(run)
  const query = useQuery({ ...explain.back(run.transactionId, subscriberId), enabled: isOpen })
  const id = useId()
  return (
    <section aria-label="Why not?" className="mt-3">
      <Button
        size="sm"
        icon={<DoorOpen />}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen((before) => !before)}
      >
        {isOpen ? 'Hide the gates' : 'Why not?'}
      </Button>
      <div id={id} className="@container">
        {isOpen && (
          <div className="mt-3">
            <Loaded query={query} skeleton={<SkeletonText lines={5} />}>
              {(explanation) => <Explained explanation={explanation} who={whoOf(run)} />}
            </Loaded>
          </div>
        )}
      </div>
    </section>
  )
}
