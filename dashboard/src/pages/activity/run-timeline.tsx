// The timeline of a run: the trigger, then each step with the time between them. A step opens to show all its details.

import { Link } from '@tanstack/react-router'
import { ChevronRight, CornerDownRight, Send } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { deliveries, undelivered } from '../../api/deliveries.ts'
import { useProviderNames } from '../../api/integrations.ts'
import type { Run } from '../../api/runs.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { Status } from '../../ui/base/status.tsx'
import { Countdown, duration } from '../../ui/base/time.tsx'
import { stepOutcome } from '../../ui/domain/outcomes.tsx'
import { lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'
import { AwaitedEvents } from './awaited-events.tsx'
import { Attempts, DigestEvents, Log, RenderedMessages } from './step-parts.tsx'
import { StepQuestion } from './step-question.tsx'
import { type Job, spanOf, whyOfStep } from './why.ts'

/** Ids of the open steps, separated by commas. Empty: the steps that explain the outcome. */
const schema = { steps: text() }
const none = '-'

const clock = new Intl.DateTimeFormat('en', {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  hourCycle: 'h23',
})

/** Copies of a question have the step of that. */
const keyOf = (job: Job): string => (job.of === undefined ? job.step.stepId : job._id)

/** Open at first: a wait or a question that something can end; the steps that explain the outcome; if all went well, the last step that sent something. */
function openAtFirst({ jobs }: Run): string[] {
  const waiting = jobs.filter(
    ({ type, status }) => (type === 'wait_for_event' || type === 'ask') && status === 'delayed',
  )
  if (waiting.length > 0) return waiting.map(keyOf)
  const telling = jobs.filter(({ reason, status }) => reason !== undefined && status !== 'completed')
  const last = jobs.findLast(({ messages }) => messages.length > 0)
  return (telling.length > 0 ? telling.slice(0, 2) : last ? [last] : []).map(keyOf)
}

export function Timeline({ run }: { run: Run }) {
  const [{ steps }, setState] = useUrlState(schema)
  const open = steps === '' ? openAtFirst(run) : steps.split(',')
  const toggle = (stepId: string) => {
    const next = open.includes(stepId)
      ? open.filter((one) => one !== stepId && one !== none)
      : [...open.filter((one) => one !== none), stepId]
    setState({ steps: next.join(',') || none })
  }
  const triggered = Date.parse(run.triggeredAt ?? run.createdAt)
  let before = triggered
  return (
    <ol aria-label="Timeline" className="min-w-0">
      <li className="flex items-center gap-3 pb-1">
        <StepIcon kind="trigger" tile />
        <span className="font-medium">Triggered</span>
        <time className="ml-auto text-xs text-muted" dateTime={new Date(triggered).toISOString()}>
          {clock.format(triggered)}
        </time>
      </li>
      {run.jobs.map((job) => {
        const isReached = job.status !== 'pending'
        const { from, to } = spanOf(job)
        const gap = isReached ? Math.max(0, from - before) : undefined
        if (isReached) before = Math.max(before, to)
        return (
          <Step
            key={job._id}
            run={run}
            job={job}
            gap={gap}
            startedAt={isReached ? from : undefined}
            isOpen={open.includes(keyOf(job))}
            onToggle={() => toggle(keyOf(job))}
          />
        )
      })}
    </ol>
  )
}

interface StepProps {
  run: Run
  job: Job
  /** Time since the previous step ended. */
  gap: number | undefined
  startedAt: number | undefined
  isOpen: boolean
  onToggle: () => void
}

function Step({ run, job, gap, startedAt, isOpen, onToggle }: StepProps) {
  const { word, tone, live = false } = stepOutcome(job)
  const why = whyOfStep(job, run, { provider: useProviderNames() })
  const { from, to } = spanOf(job)
  const name = job.step.name ?? job.step.stepId
  const panel = `step-${job._id}`
  return (
    <li style={job.path ? { marginInlineStart: `${job.path.length * 1.25}rem` } : undefined}>
      <div className="flex h-8 items-center gap-3" aria-hidden={gap === undefined}>
        <span className="ml-3.5 h-full w-px bg-line" />
        {gap !== undefined && gap >= 1 && <span className="text-2xs text-muted">{duration(gap)} later</span>}
      </div>
      <div className="rounded-surface border bg-page">
        <h3>
          <button
            type="button"
            aria-expanded={isOpen}
            {...(isOpen ? { 'aria-controls': panel } : {})}
            onClick={onToggle}
            className="flex w-full items-center gap-3 rounded-surface p-2 pr-3 text-left hover:bg-hover"
          >
            <StepIcon kind={job.type} tone={tone} tile />
            <span className="min-w-0 flex-1">
              <span className="flex items-center gap-2">
                <bdi className="truncate font-medium" title={name}>
                  {name}
                </bdi>
                {name !== lookOf(job.type).label && (
                  <span className="text-xs text-muted max-sm:hidden">{lookOf(job.type).label}</span>
                )}
                {job.asked !== undefined && (
                  <span className="truncate text-xs text-muted">
                    to <bdi>{job.asked}</bdi>
                  </span>
                )}
              </span>
              <span className={cn('block truncate text-xs text-muted', isOpen && 'sr-only')}>{why.sentence}</span>
            </span>
            <span className="flex shrink-0 flex-col items-end text-xs">
              <Status tone={tone} live={live}>
                {word}
              </Status>
              {job.status === 'delayed' && job.dueAt !== undefined ? (
                <Countdown until={job.dueAt} className="text-2xs text-muted" />
              ) : (
                startedAt !== undefined && (
                  <span className="text-2xs text-muted">
                    {clock.format(startedAt)}
                    {to - from >= 1 && ` · ${duration(to - from)}`}
                  </span>
                )
              )}
            </span>
            <ChevronRight
              aria-hidden
              className={cn('size-4 shrink-0 text-faint transition-transform duration-120', isOpen && 'rotate-90')}
            />
          </button>
        </h3>
        {isOpen && (
          <div id={panel} className="space-y-4 border-t p-3">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
              <p className="min-w-48 flex-1 text-sm break-words">
                {why.sentence}{' '}
                {why.cause && (
                  <Link
                    to={why.cause.to as never}
                    search={(why.cause.search ?? {}) as never}
                    className="whitespace-nowrap text-accent underline underline-offset-2"
                  >
                    {why.cause.label}
                  </Link>
                )}
              </p>
              <SendAgain job={job} name={name} />
            </div>
            <AwaitedEvents job={job} run={run} />
            <StepQuestion job={job} />
            <DigestEvents job={job} />
            <RenderedMessages job={job} />
            <Attempts job={job} />
            <Log job={job} />
          </div>
        )}
      </div>
      <ArmsOf job={job} />
    </li>
  )
}

interface AskedArm {
  name: string
  held: boolean | null
  read: Record<string, unknown>
}

/** Of a branch the arm that was taken, whose steps follow, and one line for each of the others. */
function ArmsOf({ job }: { job: Job }) {
  const { arm, arms } = (job.outcome ?? {}) as { arm?: string | null; arms?: AskedArm[] }
  if (!arms) return null
  return (
    <ul aria-label="Arms" className="mt-1.5 ml-3.5 space-y-0.5 border-l border-dashed border-line-strong pl-4 text-xs">
      {arms
        .filter(({ name }) => name !== arm)
        .map((other) => (
          <li key={other.name} className="truncate text-muted" dir="auto">
            {other.name}: {notTaken(other)}
          </li>
        ))}
      {arm && (
        <li className="flex items-center gap-1 font-medium" dir="auto">
          <CornerDownRight className="size-3.5 shrink-0 text-muted" aria-hidden />
          {arm}
        </li>
      )}
    </ul>
  )
}

/** "payload.total was 40". */
function notTaken({ held, read }: AskedArm): string {
  if (held === null) return 'not asked any more'
  const values = Object.entries(read).map(
    ([name, value]) => `${name} was ${value === null ? 'missing' : textOf(value)}`,
  )
  return values.length > 0 ? values.join(', ') : 'its condition did not hold'
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function SendAgain({ job, name }: { job: Job; name: string }) {
  const canEdit = useCan('editor')
  const ask = useConfirm()
  const redrive = useAction({
    do: () => deliveries.redrive(job._id),
    refresh: ['runs', 'deliveries'],
    done: 'Sending again',
  })
  const isGivenUp = job.status === 'failed' && (undelivered as readonly string[]).includes(job.reason ?? '')
  const isHeldBack = job.status === 'canceled' && job.reason === 'suppressed'
  if (!isGivenUp && !isHeldBack) return null
  const onClick = async () => {
    const yes = await ask({
      title: 'Send it again?',
      body:
        job.reason === 'outcome_unknown'
          ? `The step “${name}” runs again. It may already have been sent, and would then arrive twice.`
          : `The step “${name}” runs again. Devices and chats that already got the message do not get it twice. What is sent cannot be unsent.`,
      confirm: 'Send again',
      danger: false,
    })
    if (yes) redrive.mutate()
  }
  return (
    <Button
      size="sm"
      icon={<Send />}
      disabled={!canEdit}
      pending={redrive.isPending}
      onClick={() => void onClick()}
      {...(canEdit ? {} : { hint: 'Viewers cannot do this' })}
    >
      Send again
    </Button>
  )
}
