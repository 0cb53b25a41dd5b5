// Explains a run, and each step, in one sentence built from the typed reasons, with a link to the setting that caused it.
import { type Run, subscriberIdOf, whoOf, workflowIdOf } from '../../api/runs.ts'
import type { Tone } from '../../ui/base/status.tsx'
import { duration } from '../../ui/base/time.tsx'
import { hasBounced, hasFailed, wasSent } from '../../ui/domain/outcomes.tsx'
import { reasonLabel } from '../../ui/domain/reasons.ts'
import { channels, lookOf } from '../../ui/domain/step-kind.tsx'

export type Job = Run['jobs'][number]

/** A link to the setting that caused the outcome. */
export interface Cause {
  label: string
  to: string
  search?: Record<string, string>
}

export interface Why {
  tone: Tone
  sentence: string
  cause?: Cause
}

export interface RunWhy extends Why {
  /** For lists, which already name the subscriber: "SMS: no phone number". */
  brief: string
}

interface Words {
  /** Formats a time. */
  moment: (iso: string) => string
  /** A provider's name. */
  provider: (id: string) => string
}

const short = new Intl.DateTimeFormat('en', {
  ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  hourCycle: 'h23',
})
const words: Words = { moment: (iso) => short.format(new Date(iso)), provider: (id) => id }

const nouns: Record<string, string> = {
  in_app: 'in-app message',
  email: 'email',
  sms: 'SMS',
  chat: 'chat message',
  push: 'push notification',
  digest: 'digest',
  delay: 'delay',
  throttle: 'throttle',
  custom: 'custom step',
  http_request: 'HTTP request',
  branch: 'branch',
  exit: 'exit',
  wait_for_event: 'wait for an event',
  start_workflow: 'start of a workflow',
  ask: 'question',
  update_subscriber: 'update of the subscriber',
}

const isChannel = ({ type }: Pick<Job, 'type'>) => (channels as readonly string[]).includes(type)
const isOpen = ({ status }: Job) => ['pending', 'queued', 'running', 'delayed'].includes(status)

/** "the email"; with the step name if the workflow has several of this kind. */
function nounOf(job: Job, run: Run): string {
  const noun = nouns[job.type] ?? `step ${lookOf(job.type).label}`
  const isAlone = run.jobs.filter(({ type }) => type === job.type).length === 1
  return isAlone ? `the ${noun}` : `the ${noun} “${job.step.name ?? job.step.stepId}”`
}

function together(parts: string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** The server's message without its full stop: the caller's sentence adds one. */
const quoted = (text: string | undefined) => (text ? `: ${text.trim().replace(/(?<![.\s])[.\s]+$/, '')}` : '')

function providerOf({ messages, executionDetails }: Job, { provider }: Words): string {
  const id = messages.at(-1)?.providerId ?? executionDetails.findLast(({ providerId }) => providerId)?.providerId
  return id === undefined ? 'the provider' : provider(id)
}

/** Which preference layer decided, according to the log. */
function decidedBy({ executionDetails }: Job): string | undefined {
  for (const { raw } of executionDetails.toReversed()) {
    const found = /"decidedBy":"(\w+)"/.exec(raw ?? '')
    if (found) return found[1]
  }
  return undefined
}

/** The entry that held it back, according to the log. */
function suppressionOf({ executionDetails }: Job): { suppressionId?: string; reason?: string } {
  const raw = executionDetails.findLast((line) => line.raw?.includes('"suppressionId"'))?.raw
  return raw ? (JSON.parse(raw) as { suppressionId?: string; reason?: string }) : {}
}

const suppressionReasons: Record<string, string> = {
  hard_bounce: ', since mail to them bounced',
  soft_bounces: ', since mail to them bounced several times',
  complaint: ', since they complained',
  unsubscribe: ', since they unsubscribed',
  stop: ', since they answered STOP',
}
const suppressedBecause = (job: Job) => suppressionReasons[suppressionOf(job).reason ?? ''] ?? ''

/** The clause after "because". */
function clauseOf(job: Job, run: Run, said: Words): string {
  const who = whoOf(run)
  const channel = lookOf(job.type).label
  const name = channel === 'SMS' ? channel : channel.toLowerCase()
  const error = quoted(job.error ?? job.messages.at(-1)?.errorText)
  switch (job.reason) {
    case 'preference':
      switch (decidedBy(job)) {
        case 'subscriberGlobal':
          return `${who} turned ${name} off`
        case 'subscriberWorkflow':
          return `${who} turned ${name} off for this workflow`
        case 'tenant':
          return `the tenant turned ${name} off for this workflow`
        case 'workflow':
        case 'user':
          return `the workflow’s preferences turn ${name} off`
        default:
          return `a preference turns ${name} off`
      }
    case 'step_condition':
      return job.status === 'failed' ? `its condition could not be evaluated${error}` : 'its condition is not met'
    case 'outside_schedule':
      return `it was outside ${who}’s schedule`
    case 'throttled':
      return 'the throttle limit was reached'
    case 'capped':
      return `${who} has had as many messages as a cap allows`
    case 'goal_met':
      return 'the goal of the workflow was met'
    case 'workflow_unavailable':
      return `the other workflow could not be started${error}`
    case 'too_deep':
      return 'workflows start each other more than five deep'
    case 'merged_into_digest':
      return 'its event joined the digest of another run'
    case 'first_of_digest':
      return 'the first event after a quiet period is sent at once'
    case 'canceled_by_user':
      return 'somebody cancelled the trigger'
    case 'previous_step_failed':
      return 'an earlier step failed'
    case 'exited':
      return 'the workflow ended the run before it'
    case 'nothing_to_wait_for':
      return 'the messages that it waits for were never made'
    case 'nobody_to_ask':
      return 'nobody could be asked'
    case 'suppressed':
      return `${who} is on the suppression list${suppressedBecause(job)}`
    case 'snoozed':
      return `${who} has paused commercial messages`
    case 'braked':
      return 'too much of the workflow’s email bounced or was complained about, so it is braked'
    case 'subscriber_gone':
      return 'the subscriber or the workflow was deleted'
    case 'missing_email':
      return `${who} has no email address`
    case 'missing_phone':
      return `${who} has no phone number`
    case 'missing_push_token':
      return `${who} has no device`
    case 'missing_webhook_url':
      return `${who} has no chat webhook`
    case 'some_channels_missing_credentials':
      return `${who} has no chat connected`
    case 'no_integration':
      return `there is no active ${name} integration`
    case 'invalid_settings':
      return `its settings are not valid${error}`
    case 'over_limit':
      return 'it would take longer than 180 days'
    case 'content_failed':
      return `its content could not be rendered${error}`
    case 'layout_not_found':
      return 'its layout does not exist'
    case 'filter_failed':
      return `the webhook of its filter did not answer${error}`
    case 'bridge_failed':
      return `your application did not answer${error}`
    case 'http_request_failed':
      return `the HTTP request failed${error}`
    case 'failure_allowed':
      return `the delivery failed, which this step allows${error}`
    case 'provider_failed':
      return `${providerOf(job, said)} was unavailable for too long${error}`
    case 'provider_refused':
      return `${providerOf(job, said)} refused it${error}`
    case 'outcome_unknown':
      return `${providerOf(job, said)} did not answer, so it may have been sent`
    case 'internal':
      return 'of an internal error; see the server log'
    default:
      if (hasBounced(job)) return `${providerOf(job, said)} reported a bounce${error}`
      return error === '' ? 'of an unknown reason' : error.slice(2)
  }
}

/** The setting that caused the outcome. */
function causeOf(job: Job, run: Run): Cause | undefined {
  const subscriberId = run.subscriber ? subscriberIdOf(run) : undefined
  const workflowId = workflowIdOf(run)
  const subscriber = (label: string, tab?: string): Cause | undefined =>
    subscriberId === undefined
      ? undefined
      : { label, to: `/subscribers/${encodeURIComponent(subscriberId)}`, ...(tab ? { search: { tab } } : {}) }
  const workflow = (label: string, search?: Record<string, string>): Cause | undefined =>
    workflowId === undefined
      ? undefined
      : { label, to: `/workflows/${encodeURIComponent(workflowId)}`, ...(search ? { search } : {}) }
  const step = (label: string) => workflow(label, { step: job.step.stepId })
  switch (job.reason) {
    case 'preference': {
      const layer = decidedBy(job)
      return layer === 'workflow' || layer === 'user' || layer === 'tenant'
        ? workflow('Open the workflow’s preferences', { panel: 'preferences' })
        : subscriber('Open the preferences', 'preferences')
    }
    case 'capped':
      return { label: 'Open the guards', to: '/settings' }
    case 'goal_met':
      return workflow('Open the goals', { settings: 'true' })
    case 'workflow_unavailable':
    case 'too_deep':
      return step('Open the step')
    case 'suppressed': {
      const { suppressionId } = suppressionOf(job)
      return suppressionId === undefined
        ? undefined
        : { label: 'Open the entry', to: `/suppressions/${encodeURIComponent(suppressionId)}` }
    }
    case 'snoozed':
      return subscriber('Open the preferences', 'preferences')
    case 'braked':
      return workflow('Open the workflow')
    case 'outside_schedule':
      return subscriber('Open the schedule', 'preferences')
    case 'step_condition':
      return step('Open the condition')
    case 'throttled':
    case 'first_of_digest':
    case 'invalid_settings':
    case 'over_limit':
    case 'filter_failed':
    case 'http_request_failed':
    case 'failure_allowed':
      return step('Open the step')
    case 'content_failed':
      return step('Open the content')
    case 'layout_not_found':
      return { label: 'Open the layouts', to: '/layouts' }
    case 'merged_into_digest': {
      const other = run._digestedNotificationId
      return other === undefined ? undefined : { label: 'Open the run with the digest', to: `/activity/${other}` }
    }
    case 'missing_email':
    case 'missing_phone':
    case 'missing_push_token':
    case 'missing_webhook_url':
    case 'some_channels_missing_credentials':
      return subscriber('Open the subscriber')
    case 'no_integration':
      return { label: 'Open the integrations', to: '/integrations' }
    case 'provider_failed':
    case 'provider_refused':
    case 'outcome_unknown': {
      const integration = job.messages.at(-1)?.integrationId
      return {
        label: 'Open the integration',
        to: integration === undefined ? '/integrations' : `/integrations/${integration}`,
      }
    }
    case 'bridge_failed':
      return { label: 'Open the environments', to: '/environments' }
    default:
      return undefined
  }
}

const because = (tone: Tone, sentence: string, job: Job, run: Run): Why => {
  const cause = causeOf(job, run)
  return { tone, sentence, ...(cause ? { cause } : {}) }
}

/** What a waiting step waits for, and until when; undefined for other steps. */
function waitOf(job: Job, run: Run, said: Words): string | undefined {
  const until = job.dueAt === undefined ? undefined : said.moment(job.dueAt)
  if (until === undefined) return undefined
  const isExtended = job.scheduleExtensionsCount > 0
  if (job.status === 'delayed' && isExtended) return `waits until ${until}, when ${whoOf(run)}’s schedule opens`
  if (job.status === 'delayed' && job.type === 'ask') return `waits for an answer until ${until}`
  if (job.status === 'delayed') return job.type === 'digest' ? `collects events until ${until}` : `waits until ${until}`
  if (job.status !== 'queued') return undefined
  const isAgain = job.executionDetails.some(
    ({ isRetry, detail }) => isRetry || detail.endsWith('it will be tried again'),
  )
  return isAgain ? `is retried at ${until} because ${providerOf(job, said)} failed` : undefined
}

function briefOf(run: Run): string {
  const parts = run.jobs.flatMap((job) => {
    if (wasSent(job) || isOpen(job) || job.reason === 'previous_step_failed') return []
    if (job.reason === undefined && !hasFailed(job)) return []
    const label = hasBounced(job) ? 'bounced' : lowered(reasonLabel(job.reason ?? 'failed'))
    const error = hasFailed(job) ? quoted(job.error ?? job.messages.at(-1)?.errorText) : ''
    return `${lookOf(job.type).label}: ${label}${error && ` (${error.slice(2)})`}`
  })
  if (parts.length > 0) return parts.join('; ')
  const sent = run.jobs.filter((job) => isChannel(job) && wasSent(job))
  return capital(together(sent.map(({ type }) => nouns[type] ?? type)))
}

const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** Explains the run in one sentence. */
export function whyOf(run: Run, said: Partial<Words> = {}): RunWhy {
  const why = explain(run, { ...words, ...said })
  return { ...why, brief: (run.status === 'processing' ? undefined : briefOf(run)) || why.sentence }
}

function explain(run: Run, said: Words): Why {
  const who = whoOf(run)
  const sending = run.jobs.filter(isChannel)
  const sent = sending.filter(wasSent)
  const sentText =
    sent.length === 0
      ? ''
      : `${capital(together(sent.map((job) => nounOf(job, run))))} ${sent.length === 1 ? 'was' : 'were'} sent to ${who}`

  if (run.status === 'processing') {
    const next = run.jobs.find((job) => job.status === 'running' || job.status === 'delayed') ?? run.jobs.find(isOpen)
    if (!next)
      return {
        tone: 'info',
        sentence: sentText ? `${sentText}; the run is about to end.` : 'The run is about to start.',
      }
    const noun = nounOf(next, run)
    const what = waitOf(next, run, said) ?? (next.status === 'running' ? 'is being sent' : 'is next')
    return { tone: 'info', sentence: sentText ? `${sentText}, and ${noun} ${what}.` : `${capital(noun)} ${what}.` }
  }

  const failed = run.jobs.filter(hasFailed)
  // A failure explains more than a skipped step: after a failed digest nothing is sent.
  const skipped = sending.filter((job) => !wasSent(job) && !hasFailed(job) && job.status !== 'merged')
  const skippedStep =
    skipped.find(({ reason }) => reason !== undefined && reason === run.deliveryLifecycle.detail) ?? skipped[0]
  const told = failed[0] ?? skippedStep
  const others = sending.filter((job) => !wasSent(job) && job !== told && job.reason !== 'previous_step_failed').length
  const rest = others === 0 ? '' : `; ${others} more ${others === 1 ? 'step was' : 'steps were'} not sent`

  const merged = run.jobs.find(({ status }) => status === 'merged')
  if (sent.length > 0) {
    const isSeen = run.deliveryLifecycle.status === 'interacted' && sent.some(({ type }) => type === 'in_app')
    const done = `${sentText}${isSeen ? ' and has been seen' : ''}`
    if (!told && merged) {
      const sentence = `${done}; the rest joined the digest of another run.`
      return because('good', sentence, merged, run)
    }
    if (!told) return { tone: 'good', sentence: `${done}.` }
    const verb = hasFailed(told) ? 'failed' : 'was skipped'
    const sentence = `${sentText}, but ${nounOf(told, run)} ${verb} because ${clauseOf(told, run, said)}${rest}.`
    return because(hasFailed(told) ? 'warn' : 'good', sentence, told, run)
  }
  if (sending.length === 0 && !told && run.jobs.some(({ type }) => type === 'branch'))
    return { tone: 'neutral', sentence: `Nothing was sent to ${who}: the path that the run took sends nothing.` }
  if (sending.length === 0 && !told)
    return { tone: 'neutral', sentence: 'Nothing was sent: the workflow has no channel steps.' }
  if (failed[0]) {
    const start = isChannel(failed[0])
      ? `${capital(nounOf(failed[0], run))} was not sent to ${who}`
      : `Nothing was sent to ${who}: ${nounOf(failed[0], run)} failed`
    return because('bad', `${start} because ${clauseOf(failed[0], run, said)}${rest}.`, failed[0], run)
  }
  if (merged) {
    const sentence = 'This run sent nothing itself: its event joined the digest of another run.'
    return because('neutral', sentence, merged, run)
  }
  if (!told) return { tone: 'neutral', sentence: `Nothing was sent to ${who}.` }
  const sentence = `Nothing was sent to ${who}: ${nounOf(told, run)} was skipped because ${clauseOf(told, run, said)}${rest}.`
  return because('neutral', sentence, told, run)
}

/** Explains a step in one sentence. */
export function whyOfStep(job: Job, run: Run, changed: Partial<Words> = {}): Why {
  const said = { ...words, ...changed }
  switch (job.status) {
    case 'pending':
      return { tone: 'neutral', sentence: 'It has not run yet.' }
    case 'queued':
    case 'delayed': {
      const wait = waitOf(job, run, said)
      return { tone: 'info', sentence: wait ? `It ${wait}.` : 'It is about to run.' }
    }
    case 'running':
      return { tone: 'info', sentence: 'It is being sent.' }
    case 'merged':
      return because('neutral', 'Its event joined the digest of another run.', job, run)
    case 'canceled':
    case 'skipped':
      return because('neutral', `Skipped because ${clauseOf(job, run, said)}.`, job, run)
    case 'failed':
      return because('bad', `Failed because ${clauseOf(job, run, said)}.`, job, run)
    default:
      if (hasBounced(job)) return because('bad', `Sent, but ${clauseOf(job, run, said)}.`, job, run)
      if (job.reason !== undefined)
        return because('warn', `Partly sent, because ${clauseOf(job, run, said)}.`, job, run)
      return { tone: 'good', sentence: doneText(job, said) }
  }
}

function doneText(job: Job, said: Words): string {
  if (isChannel(job)) {
    const message = job.messages.at(-1)
    const to = message?.recipient ? ` to ${message.recipient}` : ''
    return job.type === 'in_app' ? 'It is in the inbox.' : `Sent${to} through ${providerOf(job, said)}.`
  }
  const events = job.digest?.events
  switch (job.type) {
    case 'digest':
      return Array.isArray(events)
        ? `Collected ${events.length} ${events.length === 1 ? 'event' : 'events'}.`
        : 'Collected its events.'
    case 'delay': {
      const { from, to } = spanOf(job)
      return to - from < 1 ? 'Did not wait.' : `Waited ${duration(to - from)}.`
    }
    case 'throttle':
      return 'Let the run continue.'
    case 'http_request':
      return 'The request succeeded.'
    case 'branch': {
      const { arm, ended } = (job.outcome ?? {}) as { arm?: string; ended?: boolean }
      return `Took the arm “${arm}”${ended ? ', which ends the run' : ''}.`
    }
    case 'wait_for_event': {
      const { event } = (job.outcome ?? {}) as { event?: { name?: string } | null }
      return event?.name === undefined ? 'Nothing happened in time.' : `The event “${event.name}” ended the wait.`
    }
    case 'ask': {
      const { answer, answeredBy } = (job.outcome ?? {}) as {
        answer?: string | null
        answeredBy?: { name?: string | null; subscriberId?: string | null } | null
      }
      const who = answeredBy?.name ?? answeredBy?.subscriberId
      return answer ? `${who ?? 'Somebody'} answered “${labelOf(job, answer)}”.` : 'Nobody answered in time.'
    }
    case 'start_workflow': {
      const { workflowId } = (job.outcome ?? {}) as { workflowId?: string | null }
      return `Started the workflow “${workflowId}”.`
    }
    case 'update_subscriber': {
      const { changed = [] } = (job.outcome ?? {}) as { changed?: string[] }
      return changed.length === 0 ? 'Nothing had to be changed.' : `Changed ${together(changed)}.`
    }
    case 'exit':
      return 'Ended the run.'
    default:
      return 'Done.'
  }
}

/** What the answer is called. Where that is a template, the text of this run is in the question itself. */
function labelOf({ step }: Job, id: string): string {
  const { answers } = (step.controlVariables ?? {}) as { answers?: Array<{ id?: unknown; label?: unknown }> }
  const label = Array.isArray(answers) ? answers.find((each) => each?.id === id)?.label : undefined
  return typeof label === 'string' && label.trim() !== '' && !/\{[{%]/.test(label) ? label : id
}

/** From the first log line to the last; without a log, the time of the last update. */
export function spanOf({ executionDetails, updatedAt }: Pick<Job, 'executionDetails' | 'updatedAt'>): {
  from: number
  to: number
} {
  const first = executionDetails[0]
  const last = executionDetails.at(-1)
  if (!first || !last) return { from: Date.parse(updatedAt), to: Date.parse(updatedAt) }
  return { from: Date.parse(first.createdAt), to: Date.parse(last.createdAt) }
}
