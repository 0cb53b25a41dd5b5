// "Why?" in one sentence: of a run, and of each of its steps, from the typed reasons; with the setting that caused it.
import { type Run, subscriberIdOf, whoOf, workflowIdOf } from '../../api/runs.ts'
import type { Tone } from '../../ui/base/status.tsx'
import { duration } from '../../ui/base/time.tsx'
import { reasonLabel } from '../../ui/domain/reasons.ts'
import { channels, lookOf } from '../../ui/domain/step-kind.tsx'

export type Job = Run['jobs'][number]

/** Where the setting is that led to it. */
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
  /** For a list, which names the person beside it: "SMS: no phone number". */
  brief: string
}

interface Words {
  /** How a moment is written. */
  moment: (iso: string) => string
  /** How a provider is called. */
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
}

const isChannel = ({ type }: Pick<Job, 'type'>) => (channels as readonly string[]).includes(type)
const isOpen = ({ status }: Job) => ['pending', 'queued', 'running', 'delayed'].includes(status)
/** Sent, and not come back since. */
const wasSent = (job: Job) => job.status === 'completed' && !hasComeBack(job)
const hasComeBack = ({ status, messages }: Job) =>
  status === 'completed' && messages.length > 0 && messages.every((message) => message.status === 'error')
const hasFailed = (job: Job) => job.status === 'failed' || hasComeBack(job)

/** "the email"; with its name where the workflow has several of the kind. */
function nounOf(job: Job, run: Run): string {
  const noun = nouns[job.type] ?? `step ${lookOf(job.type).label}`
  const isAlone = run.jobs.filter(({ type }) => type === job.type).length === 1
  return isAlone ? `the ${noun}` : `the ${noun} “${job.step.name ?? job.step.stepId}”`
}

function together(parts: string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Ends as a sentence does, whatever the server's words end with. */
const quoted = (text: string | undefined) => (text ? `: ${text.trim().replace(/(?<![.\s])[.\s]+$/, '')}` : '')

function providerOf({ messages, executionDetails }: Job, { provider }: Words): string {
  const id = messages.at(-1)?.providerId ?? executionDetails.findLast(({ providerId }) => providerId)?.providerId
  return id === undefined ? 'the provider' : provider(id)
}

/** What the line of the log says about the preference: which layer decided. */
function decidedBy({ executionDetails }: Job): string | undefined {
  for (const { raw } of executionDetails.toReversed()) {
    const found = /"decidedBy":"(\w+)"/.exec(raw ?? '')
    if (found) return found[1]
  }
  return undefined
}

/** What stands behind "because". */
function clauseOf(job: Job, run: Run, said: Words): string {
  const who = whoOf(run)
  const channel = lookOf(job.type).label
  const name = channel === 'SMS' ? channel : channel.toLowerCase()
  const error = quoted(job.error ?? job.messages.at(-1)?.errorText)
  switch (job.reason) {
    case 'preference':
      switch (decidedBy(job)) {
        case 'subscriberGlobal':
          return `${who} has switched ${name} off`
        case 'subscriberWorkflow':
          return `${who} has switched ${name} off for this workflow`
        case 'tenant':
          return `the tenant has switched ${name} off for this workflow`
        case 'workflow':
        case 'user':
          return `the preferences of the workflow switch ${name} off`
        default:
          return `a preference switches ${name} off`
      }
    case 'step_condition':
      return job.status === 'failed' ? `its condition could not be evaluated${error}` : 'its condition does not hold'
    case 'outside_schedule':
      return `the schedule of ${who} was closed at that moment`
    case 'throttled':
      return 'a throttle had let enough pass already'
    case 'merged_into_digest':
      return 'its event went into the digest of another run'
    case 'first_of_digest':
      return 'the first event after a silence passes at once'
    case 'canceled_by_user':
      return 'somebody cancelled the trigger'
    case 'previous_step_failed':
      return 'an earlier step failed'
    case 'subscriber_gone':
      return 'the subscriber or the workflow was deleted meanwhile'
    case 'missing_email':
      return `${who} has no email address`
    case 'missing_phone':
      return `${who} has no phone number`
    case 'missing_push_token':
      return `${who} has no device`
    case 'missing_webhook_url':
      return `the chat of ${who} has no webhook`
    case 'some_channels_missing_credentials':
      return `${who} has no chat that could be used here`
    case 'no_integration':
      return `there is no active ${name} integration for it`
    case 'invalid_settings':
      return `its settings are not valid${error}`
    case 'over_limit':
      return 'it would take longer than 180 days'
    case 'content_failed':
      return `its content could not be rendered${error}`
    case 'layout_not_found':
      return 'its layout does not exist'
    case 'filter_failed':
      return `an address that its filter asks did not answer${error}`
    case 'bridge_failed':
      return `your application did not say what to do${error}`
    case 'http_request_failed':
      return `the address did not answer as it should${error}`
    case 'failure_allowed':
      return `it was not taken, which this step allows${error}`
    case 'provider_failed':
      return `${providerOf(job, said)} was out of order for too long${error}`
    case 'provider_refused':
      return `${providerOf(job, said)} refused it${error}`
    case 'outcome_unknown':
      return `the answer of ${providerOf(job, said)} is missing, and it may have been sent`
    case 'internal':
      return 'of a fault of the service, whose log says more'
    default:
      if (hasComeBack(job)) return `${providerOf(job, said)} reported that it came back${error}`
      return error === '' ? 'of something that is not known here' : error.slice(2)
  }
}

/** Where the setting is. */
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

/** Until when a step waits and what for; undefined unless it does. */
function waitOf(job: Job, run: Run, said: Words): string | undefined {
  const until = job.dueAt === undefined ? undefined : said.moment(job.dueAt)
  if (until === undefined) return undefined
  const isExtended = job.scheduleExtensionsCount > 0
  if (job.status === 'delayed' && isExtended) return `waits until ${until}, when the schedule of ${whoOf(run)} is open`
  if (job.status === 'delayed') return job.type === 'digest' ? `collects events until ${until}` : `waits until ${until}`
  if (job.status !== 'queued') return undefined
  const isAgain = job.executionDetails.some(
    ({ isRetry, detail }) => isRetry || detail.endsWith('it will be tried again'),
  )
  return isAgain ? `is tried again at ${until}, because ${providerOf(job, said)} could not take it` : undefined
}

function briefOf(run: Run): string {
  const parts = run.jobs.flatMap((job) => {
    if (wasSent(job) || isOpen(job) || job.reason === 'previous_step_failed') return []
    if (job.reason === undefined && !hasFailed(job)) return []
    const label = hasComeBack(job) ? 'came back' : lowered(reasonLabel(job.reason ?? 'failed'))
    const error = hasFailed(job) ? quoted(job.error ?? job.messages.at(-1)?.errorText) : ''
    return `${lookOf(job.type).label}: ${label}${error && ` (${error.slice(2)})`}`
  })
  if (parts.length > 0) return parts.join('; ')
  const sent = run.jobs.filter((job) => isChannel(job) && wasSent(job))
  return capital(together(sent.map(({ type }) => nouns[type] ?? type)))
}

const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** The whole run in one sentence. */
export function whyOf(run: Run, said: Partial<Words> = {}): RunWhy {
  const why = whole(run, { ...words, ...said })
  return { ...why, brief: (run.status === 'processing' ? undefined : briefOf(run)) || why.sentence }
}

function whole(run: Run, said: Words): Why {
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
      return { tone: 'info', sentence: sentText ? `${sentText}; it is about to end.` : 'It is about to begin.' }
    const noun = nounOf(next, run)
    const what = waitOf(next, run, said) ?? (next.status === 'running' ? 'is being sent' : 'is next')
    return { tone: 'info', sentence: sentText ? `${sentText}, and ${noun} ${what}.` : `${capital(noun)} ${what}.` }
  }

  const failed = run.jobs.filter(hasFailed)
  // A failed digest is why nothing behind it was sent; what was only held back tells less than what failed.
  const held = sending.filter((job) => !wasSent(job) && !hasFailed(job) && job.status !== 'merged')
  const heldBy = held.find(({ reason }) => reason !== undefined && reason === run.deliveryLifecycle.detail) ?? held[0]
  const told = failed[0] ?? heldBy
  const others = sending.filter((job) => !wasSent(job) && job !== told && job.reason !== 'previous_step_failed').length
  const rest = others === 0 ? '' : `; ${others} more ${others === 1 ? 'step was' : 'steps were'} not sent`

  const merged = run.jobs.find(({ status }) => status === 'merged')
  if (sent.length > 0) {
    const isSeen = run.deliveryLifecycle.status === 'interacted' && sent.some(({ type }) => type === 'in_app')
    const done = `${sentText}${isSeen ? ' and has been seen' : ''}`
    if (!told && merged) {
      const sentence = `${done}; what comes after it went into the digest of another run.`
      return because('good', sentence, merged, run)
    }
    if (!told) return { tone: 'good', sentence: `${done}.` }
    const verb = hasFailed(told) ? 'failed' : 'was held back'
    const sentence = `${sentText}, but ${nounOf(told, run)} ${verb} because ${clauseOf(told, run, said)}${rest}.`
    return because(hasFailed(told) ? 'warn' : 'good', sentence, told, run)
  }
  if (sending.length === 0 && !told)
    return { tone: 'neutral', sentence: 'Nothing could be sent: the workflow has no step that sends.' }
  if (failed[0]) {
    const start = isChannel(failed[0])
      ? `${capital(nounOf(failed[0], run))} was not sent to ${who}`
      : `Nothing was sent to ${who}: ${nounOf(failed[0], run)} failed`
    return because('bad', `${start} because ${clauseOf(failed[0], run, said)}${rest}.`, failed[0], run)
  }
  if (merged) {
    const sentence = 'Nothing was sent by this run itself: its event went into the digest of another run.'
    return because('neutral', sentence, merged, run)
  }
  if (!told) return { tone: 'neutral', sentence: `Nothing was sent to ${who}.` }
  const sentence = `Nothing was sent to ${who}: ${nounOf(told, run)} was held back because ${clauseOf(told, run, said)}${rest}.`
  return because('neutral', sentence, told, run)
}

/** One step in one sentence. */
export function whyOfStep(job: Job, run: Run, changed: Partial<Words> = {}): Why {
  const said = { ...words, ...changed }
  switch (job.status) {
    case 'pending':
      return { tone: 'neutral', sentence: 'Its turn has not come.' }
    case 'queued':
    case 'delayed': {
      const wait = waitOf(job, run, said)
      return { tone: 'info', sentence: wait ? `It ${wait}.` : 'It is about to run.' }
    }
    case 'running':
      return { tone: 'info', sentence: 'It is being sent.' }
    case 'merged':
      return because('neutral', 'Its event went into the digest of another run.', job, run)
    case 'canceled':
    case 'skipped':
      return because('neutral', `Held back because ${clauseOf(job, run, said)}.`, job, run)
    case 'failed':
      return because('bad', `Failed because ${clauseOf(job, run, said)}.`, job, run)
    default:
      if (hasComeBack(job)) return because('bad', `Sent, but ${clauseOf(job, run, said)}.`, job, run)
      if (job.reason !== undefined)
        return because('warn', `Sent in part, because ${clauseOf(job, run, said)}.`, job, run)
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
      return to - from < 1 ? 'Let it go on at once.' : `Waited ${duration(to - from)}.`
    }
    case 'throttle':
      return 'Let it pass.'
    case 'http_request':
      return 'The address answered.'
    default:
      return 'Done.'
  }
}

/** From the first line of its log to the last; of a step that has none, when it was changed. */
export function spanOf({ executionDetails, updatedAt }: Pick<Job, 'executionDetails' | 'updatedAt'>): {
  from: number
  to: number
} {
  const first = executionDetails[0]
  const last = executionDetails.at(-1)
  if (!first || !last) return { from: Date.parse(updatedAt), to: Date.parse(updatedAt) }
  return { from: Date.parse(first.createdAt), to: Date.parse(last.createdAt) }
}
