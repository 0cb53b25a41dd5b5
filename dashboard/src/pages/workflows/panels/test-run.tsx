// A test run: choose a subscriber and payload, send a real trigger, and watch the run.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowRight, FastForward, Play, Power } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useSession } from '../../../api/auth.ts'
import { useAction } from '../../../api/cache.ts'
import { api } from '../../../api/client.ts'
import { runs } from '../../../api/runs.ts'
import type { Workflow } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { Status } from '../../../ui/base/status.tsx'
import { Time, timeNow } from '../../../ui/base/time.tsx'
import { RequestCode } from '../../../ui/code/code-block.tsx'
import { runOutcome, stepOutcome } from '../../../ui/domain/outcomes.tsx'
import { lookOf, StepIcon } from '../../../ui/domain/step-kind.tsx'
import { SubscriberPicker } from '../../../ui/domain/subscriber-picker.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { Dialog } from '../../../ui/frame/dialog.tsx'
import { JsonField } from '../controls/basic.tsx'
import { Fold } from '../controls/fold.tsx'
import { mostExampleEvents, type PreviewData, useExamplePayload } from '../draft/preview-data.ts'
import { objectOf } from '../draft/step-context.ts'

interface TestRunProps {
  open: boolean
  onClose: () => void
  workflow: Workflow
  data: PreviewData
  isActive: boolean
  onActivate: () => void
  /** Saves first, so that the run uses what is on the screen. */
  flush: () => Promise<boolean>
}

export function TestRun({ open, onClose, ...rest }: TestRunProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="md"
      title="Test run"
      description="A test run is a real trigger: it sends real messages through the integrations of this environment."
    >
      {open && <Inner {...rest} />}
    </Dialog>
  )
}

function Inner({ workflow, data, isActive, onActivate, flush }: Omit<TestRunProps, 'open' | 'onClose'>) {
  const { user } = useSession()
  const own = { subscriberId: user.email, email: user.email, firstName: user.name.split(' ', 1)[0] ?? user.name }
  const [subscriberId, setSubscriberId] = useState(data.subscriberId)
  const [written, setWritten] = useState(data.payload)
  const example = useExamplePayload(workflow)
  const payload = written ?? example
  const to = subscriberId ?? own
  const body = { name: workflow.workflowId, to, payload }
  const waits = workflow.steps.some(({ type }) => type === 'digest' || type === 'delay')
  const hasDigest = data.digests.length > 0
  const [skips, setSkips] = useState(false)
  const [count, setCount] = useState<number>()
  const events = count ?? (hasDigest ? (data.events?.length ?? 1) : 1)
  const run = useAction({
    do: async () => {
      if (!(await flush())) throw new Error('The latest changes could not be saved, so nothing was run.')
      let first: string | undefined
      for (let index = 0; index < events; index += 1) {
        const event = hasDigest && events > 1 ? (data.events?.[index] ?? payload) : payload
        const answer = await api('POST /v1/events/trigger', { body: { ...body, payload: event } })
        if (answer.status !== 'processed')
          throw new Error(
            answer.error?.join(' ') ?? refusals[answer.status] ?? `The trigger was refused: ${answer.status}.`,
          )
        first ??= answer.transactionId
      }
      return { transactionId: first, events, skips }
    },
    refresh: ['runs', 'workflows'],
  })
  return (
    <div className="space-y-4">
      <FieldFrame label="Subscriber" hint={subscriberId === undefined ? `You (${user.email}).` : undefined}>
        {(control) => (
          <SubscriberPicker
            id={control.id}
            aria-label="Subscriber"
            placeholder={`${user.name} (you)`}
            allowNew
            value={subscriberId}
            onValue={setSubscriberId}
          />
        )}
      </FieldFrame>
      <JsonField label="Payload" className="max-h-56" value={payload} onValue={(next) => setWritten(objectOf(next))} />
      {!isActive && (
        <div className="flex flex-wrap items-center gap-2 rounded-control border border-warn/30 bg-warn/8 px-3 py-2 text-sm">
          <span className="flex-1">The workflow is inactive: triggers do nothing.</span>
          <Button size="sm" icon={<Power />} onClick={onActivate}>
            Activate it
          </Button>
        </div>
      )}
      <div className="flex flex-wrap items-center justify-end gap-x-5 gap-y-2">
        {hasDigest && (
          <label className="flex items-center gap-2 text-sm" htmlFor="test-events">
            Events
            <Input
              id="test-events"
              type="number"
              min={1}
              max={mostExampleEvents}
              className="w-16"
              value={events}
              onValue={(text) => setCount(Math.max(1, Math.min(mostExampleEvents, Math.round(Number(text)) || 1)))}
            />
          </label>
        )}
        {waits && (
          <label className="flex items-center gap-2 text-sm" htmlFor="test-skip-waits">
            <Switch id="test-skip-waits" value={skips} onValue={setSkips} />
            Skip waits
          </label>
        )}
        <Button
          variant="primary"
          icon={<Play />}
          pending={run.isPending}
          disabled={!isActive}
          onClick={() => run.mutate()}
        >
          {run.data ? 'Run again' : 'Run'}
        </Button>
      </div>
      {run.data?.transactionId && (
        <Outcome
          key={run.data.transactionId}
          transactionId={run.data.transactionId}
          events={run.data.events}
          skips={run.data.skips}
        />
      )}
      <Fold title="As code">
        <RequestCode request={{ method: 'POST', path: '/v1/events/trigger', body }} maxHeight={240} />
      </Fold>
    </div>
  )
}

const refusals: Record<string, string> = {
  trigger_not_active: 'The workflow is inactive. Activate it, then run it again.',
  no_workflow_steps_defined: 'The workflow has no steps. Add one, then run it again.',
  no_workflow_active_steps_defined: 'All steps of the workflow are off. Turn one on, then run it again.',
  no_tenant_found: 'The tenant does not exist.',
  invalid_recipients: 'This subscriber cannot receive messages.',
}

/** How long a skipped digest waits for the other events of its test. */
const patienceMs = 5_000

interface OutcomeProps {
  transactionId: string
  /** How many events were sent. */
  events: number
  /** Whether each wait is ended as soon as it begins. */
  skips: boolean
}

/** Polls while the run is in progress. An event that joined an open digest shows the run that collects. */
function Outcome({ transactionId, events, skips }: OutcomeProps) {
  const refetchInterval = skips ? 300 : 1_000
  const found = useQuery({
    ...runs.list({ transactionId: [transactionId], limit: 1 }),
    staleTime: 0,
    // Until it is there, and as long as a later step of it may still join a digest.
    refetchInterval: ({ state }) => {
      const [it] = state.data?.data ?? []
      return it && (it._digestedNotificationId || it.status !== 'processing') ? false : refetchInterval
    },
  })
  const own = found.data?.data[0]
  const id = own?._digestedNotificationId ?? own?._id ?? ''
  const collecting = useQuery({
    ...runs.one(id),
    enabled: id !== '',
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'processing' ? false : refetchInterval),
  })
  const run = collecting.data
  const waiting = run?.jobs.find(({ status }) => status === 'delayed')
  const end = useAction({ do: () => runs.endWait(id), refresh: ['runs'] })
  const { mutate } = end
  // Other events of this test may still be on their way into the digest; after a while they no longer count.
  const isComplete = waiting?.collectedEvents === undefined || waiting.collectedEvents >= events
  const isLate = timeNow() - Date.parse(waiting?.updatedAt ?? '') > patienceMs
  const skipped = useRef(new Set<string>())
  useEffect(() => {
    if (!skips || !waiting || skipped.current.has(waiting._id) || !(isComplete || isLate)) return
    skipped.current.add(waiting._id)
    mutate()
  }, [skips, waiting, isComplete, isLate, mutate])
  return (
    <section aria-label="Outcome" className="rounded-surface border">
      <header className="flex items-center justify-between gap-3 border-b px-3 py-2 text-sm">
        {run ? (
          <Status tone={runOutcome(run).tone} live={run.status === 'processing'}>
            {run.status === 'completed'
              ? 'The run is done'
              : run.status === 'error'
                ? 'The run failed'
                : 'The run is in progress'}
          </Status>
        ) : (
          <Status tone="info" live>
            Accepted
          </Status>
        )}
        <Link
          to={(run ? `/activity/${run._id}` : '/activity') as '/'}
          search={run ? {} : { transactionId }}
          className="inline-flex items-center gap-1 font-medium underline-offset-2 hover:underline"
        >
          Open in activity
          <ArrowRight className="size-4" aria-hidden />
        </Link>
      </header>
      {waiting && !skips && (
        <div className="flex flex-wrap items-center gap-2 border-b bg-raised px-3 py-2 text-sm">
          <span className="flex-1" role="status">
            {waiting.collectedEvents === undefined
              ? 'The run waits.'
              : `${waiting.collectedEvents} ${waiting.collectedEvents === 1 ? 'event' : 'events'} collected so far.`}
          </span>
          <Button size="sm" icon={<FastForward />} pending={end.isPending} onClick={() => mutate()}>
            {waiting.collectedEvents === undefined ? 'Go on now' : 'Send what is collected now'}
          </Button>
        </div>
      )}
      <ol className="divide-y">
        {run?.jobs
          .filter(({ type }) => type !== 'trigger')
          .map((job) => {
            const { word, tone, live = false } = stepOutcome(job)
            return (
              <li key={job._id} className="flex min-h-10 items-center gap-2.5 px-3 py-1.5 text-sm">
                <StepIcon kind={job.type} />
                <span className="min-w-0 flex-1 truncate">{job.step.name ?? lookOf(job.type).label}</span>
                {job.dueAt && job.status === 'delayed' && (
                  <Time at={job.dueAt} isAhead className="text-xs text-muted" />
                )}
                {(job.error || job.reason) && (
                  <span className="max-w-56 truncate text-xs text-muted" title={job.error ?? job.reason}>
                    {job.error ?? job.reason?.replaceAll('_', ' ')}
                  </span>
                )}
                <Status tone={tone} live={live}>
                  {word}
                </Status>
              </li>
            )
          })}
      </ol>
    </section>
  )
}
