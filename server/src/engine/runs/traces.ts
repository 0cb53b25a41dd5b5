// Spans of triggers and their runs. A trigger's trace is stored with it, so that any process continues it, even days later.
// Triggers accepted without tracing stay untraced.
import type { Attributes } from '@opentelemetry/api'
import type { StepOutcome } from '../../steps/contract/outcome.ts'
import { type Tracing, traceparentOf } from '../../tracing.ts'
import type { PreparedEvent } from './compose.ts'
import type { JobState, RunState } from './run-state.ts'

/** The name of an unknown workflow may be anything. */
const longestName = 255

/** From the request to the commit. */
export function traceTrigger<
  Request extends { environmentId: string; name: string },
  Result extends { transactionId: string; status: string },
>(
  tracing: Tracing,
  request: Request,
  accept: (request: Request & { trace: string }) => Promise<Result>,
): Promise<Result> {
  const span = tracing.begin('accept', {
    kind: 'producer',
    attributes: {
      'belfry.environment_id': request.environmentId,
      'belfry.workflow': request.name.slice(0, longestName),
    },
  })
  return tracing.during(span, async () => {
    const result = await accept({ ...request, trace: traceparentOf(span) })
    span.setAttributes({ 'belfry.transaction_id': result.transactionId, 'belfry.outcome': result.status })
    return result
  })
}

/** Triggers expanded to runs, between `since` and now. */
export function traceStarts(tracing: Tracing, events: PreparedEvent[], runs: RunState[], since: Date): void {
  for (const { row, definition } of events) {
    if (row.trace === null) continue
    const attributes = {
      'belfry.environment_id': row.environment_id,
      'belfry.workflow': definition.identifier,
      'belfry.transaction_id': row.transaction_id,
      'belfry.runs': runs.filter(({ event }) => event.id === row.id).length,
    }
    tracing.begin('start', { kind: 'consumer', parent: row.trace, attributes, since }).end()
  }
}

/** Steps that finished without a call; those with one have a span of their own. */
export function traceSteps(tracing: Tracing, runs: RunState[], since: Date): void {
  for (const run of runs) {
    const { trace } = run.event
    if (trace === null) continue
    for (const job of run.jobs) {
      if (!job.isChanged || job.attempts > 0 || job.status === 'pending' || job.status === 'queued') continue
      const attributes = {
        ...aboutStep(run, job),
        'belfry.outcome': job.status,
        ...(job.reason === null ? {} : { 'belfry.reason': job.reason }),
      }
      const links = job.type === 'digest' ? run.digestedTraces : undefined
      const span = tracing.begin(`step ${job.type}`, { parent: trace, links, attributes, since })
      if (job.status === 'failed') tracing.fail(span, job.reason ?? 'failed')
      span.end()
    }
  }
}

/** A step that calls the outside: every span inside belongs to it. */
export function traceCall<T extends { outcome?: StepOutcome } | object>(
  tracing: Tracing,
  { run, job }: { run: RunState; job: JobState },
  call: () => Promise<T>,
): Promise<T> {
  const { trace } = run.event
  if (trace === null) return call()
  const attributes = { ...aboutStep(run, job), 'belfry.attempt': job.attempts }
  const span = tracing.begin(`deliver ${job.type}`, { kind: 'consumer', parent: trace, attributes })
  return tracing.during(span, async () => {
    const result = await call()
    const outcome = 'outcome' in result ? result.outcome : undefined
    if (outcome) span.setAttributes(aboutOutcome(outcome))
    if (outcome?.kind === 'fail') tracing.fail(span, outcome.reason)
    return result
  })
}

const aboutStep = (run: RunState, job: JobState): Attributes => ({
  'belfry.environment_id': run.environment.id,
  'belfry.workflow': run.workflow.identifier,
  'belfry.transaction_id': run.transactionId,
  'belfry.notification_id': run.id,
  'belfry.step': job.step.stepId,
})

const aboutOutcome = (outcome: StepOutcome): Attributes => ({
  'belfry.outcome': outcome.kind,
  ...('reason' in outcome && outcome.reason !== undefined ? { 'belfry.reason': outcome.reason } : {}),
  ...('providerId' in outcome && outcome.providerId !== undefined ? { 'belfry.provider': outcome.providerId } : {}),
})
