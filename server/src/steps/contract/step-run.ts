// What a step sees when it runs: its own settings, its run, and the results of earlier steps.

import type { Signing } from '../../db/core/signing.ts'
import type { Brake, ChannelChoices, Guards, StartedBy, Tracking } from '../../db/core/tables.ts'
import type { ConsentSettings } from '../../db/queries/consent.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import type { EventType } from '../../db/queries/webhook-events.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { renderTemplate, type Situation, situation } from '../../render/liquid.ts'
import type { Translator } from '../../render/translations.ts'
import { type ConditionResult, evaluateCondition, templatesIn } from '../conditions/conditions.ts'
import type { CopyState } from './question.ts'

type Members = Record<string, unknown>

/** The recipient, the event and the workflow. */
export interface RunFacts {
  id: string
  transactionId: string
  contextKeys: string[]
  severity: string
  critical: boolean
  event: EventFacts
  subscriber: SubscriberRow
  workflow: WorkflowFacts
  /** The version of the workflow whose texts and layouts its messages have. */
  contentOf: { id: string; version: number }
  environment: EnvironmentFacts
  /** For the workflow's texts, in the subscriber's language. */
  translator: Translator
  /** Results of earlier steps, by their ids. */
  results: Members
  /** Makes the ids of its messages. */
  newId(now: Date): string
  /** In a copy of a question: what its templates read. */
  question?: Members
}

export interface EventFacts {
  id: string
  payload: Members
  overrides: Members
  /** The subscriber who is the actor, if any. */
  actor: SubscriberRow | undefined
  tenant: { identifier: string; name?: string | null; data?: Members | null } | undefined
  /** As in the trigger; the tenant may have been deleted since. */
  tenantIdentifier: string | undefined
  /** Channels that the tenant has set for the workflow. */
  tenantChannels: ChannelChoices | undefined
  /** By type: `{id, data}`. */
  context: Members
  createdAt: Date
  /** A `traceparent`, if the trigger was traced. */
  trace: string | null
  /** The step that started it; undefined for a trigger from outside. */
  startedBy?: StartedBy | undefined
}

export interface WorkflowFacts {
  id: string
  identifier: string
  name: string
  description: string
  tags: string[]
  severity: string
  origin: string
  /** Versions stored before there were classes have none: transactional. */
  message_class?: string
  consent_category?: string | null
  /** Pulled at this moment, whatever the version of the run. */
  brake?: Brake | null
  tracking?: Tracking | null
}

export interface EnvironmentFacts {
  id: string
  organizationId: string
  type: 'dev' | 'prod'
  /** For requests to the user's own addresses. */
  signing: Pick<Signing, 'keysFor'>
  bridgeUrl: string | undefined
  /** What templates read under `env`, secrets included. */
  env: Record<string, string>
  /** Of secret variables, to mask them in responses. */
  secretValues: string[]
  /** Where replies to emails arrive, as far as that is set up. */
  dns: { mxRecordConfigured?: boolean; inboundParseDomain?: string }
  consent: ConsentSettings
  guards: Guards
  /** How long it keeps activity; 0 is forever. */
  activityDays: number
  /** Only active ones. */
  integrations: IntegrationRow[]
  /** The event types that webhook endpoints subscribe to. */
  webhooks: ReadonlySet<EventType>
  /** Where somebody answers a question. */
  answerLink(questionId: string, subscriberRowId: string): string
  /** Set where the clock is held. */
  clock?: { seed: number } | undefined
  /**
   * Set where the environment stands in front of another service. `mirrored`: the trigger was passed on, so nothing of its runs
   * leaves. `live`: it was not.
   */
  shadow?: 'mirrored' | 'live' | undefined
}

/** Shows after a crash that the request of a call may have gone out. */
export interface Beginning {
  readonly isWritten: boolean
  /** Resolves once it is written down; rejects if the request must not go out now. */
  begin(): Promise<void>
}

export interface StepRun {
  now: Date
  run: RunFacts
  step: WorkflowStep
  /** As the kind normalises them; or as the user's code returned them, with nothing left to render. */
  values: Members
  isRendered?: boolean
  /** What the user's code adds to provider requests, by provider id. */
  providerData?: Record<string, Record<string, unknown>>
  /** The last attempt began and its end is unknown: it may have succeeded. */
  isRepeated?: boolean
  /** To be written down before the first request that must not be repeated unnoticed. */
  beginning?: Beginning
  job: JobFacts
  /** What has become of the copies of its question, if it asks one. */
  copies?: CopyState[]
  /** How many more its run can have. */
  room?: number
}

export interface JobFacts {
  id: string
  position: number
  createdAt: Date
  scheduleExtensions: number
  /** Calls begun so far, this one included. */
  attempts: number
  /** State left by earlier attempts. */
  delivery: Members | null
  digest: Members | null
}

const situations = new WeakMap<StepRun, Situation>()

/** Everything that its templates and conditions can read. */
export function situationOf(stepRun: StepRun): Situation {
  const known = situations.get(stepRun)
  if (known) return known
  const made = situation(variablesOf(stepRun.run), stepRun.now)
  situations.set(stepRun, made)
  return made
}

export function variablesOf({ event, subscriber, workflow, environment, results, question }: RunFacts): Members {
  const { payload, actor, tenant, context } = event
  // No spread among the members: V8 would make a hidden class per object.
  const variables: Members = {
    payload,
    subscriber: subscriberVariablesOf(subscriber),
    context,
    env: environment.env,
    steps: results,
    workflow: {
      workflowId: workflow.identifier,
      name: workflow.name,
      description: workflow.description,
      tags: workflow.tags,
      severity: workflow.severity,
    },
  }
  if (actor) variables.actor = subscriberVariablesOf(actor)
  if (tenant) variables.tenant = tenant
  if (question) variables.question = question
  return variables
}

export const subscriberVariablesOf = (row: SubscriberRow): Members => ({
  _id: row.id,
  subscriberId: row.subscriber_id,
  firstName: row.first_name,
  lastName: row.last_name,
  email: row.email,
  phone: row.phone,
  avatar: row.avatar,
  locale: row.locale,
  timezone: row.timezone,
  data: row.data ?? {},
  isOnline: row.is_online,
  lastOnlineAt: row.last_online_at?.toISOString() ?? null,
})

/** What the last digest collected, in the form that older apps and templates read under `step`: payloads, and how many. */
export function digestOf(results: Members): { digest: boolean; events: unknown[]; total_count: number } {
  const last = Object.values(results).findLast(isDigest)
  if (!last) return { digest: false, events: [], total_count: 0 }
  const { events, eventCount } = last
  return { digest: true, events: events.map((event) => event?.payload), total_count: eventCount ?? events.length }
}

const isDigest = (result: unknown): result is { events: Array<Members | null>; eventCount?: number } =>
  Array.isArray((result as Members | null | undefined)?.events)

/** A value with its template rendered, unless the user's code did that. */
export const textOf = (stepRun: StepRun, value: unknown): string =>
  stepRun.isRendered ? String(value) : renderTemplate(String(value), situationOf(stepRun))

/** Whether the step's own condition lets it run. */
export function conditionOf(stepRun: StepRun): ConditionResult {
  const { skip } = stepRun.values
  if (skip === undefined || skip === null || Object.keys(skip).length === 0) return { holds: true, value: true }
  return ruleIn(skip, situationOf(stepRun))
}

/** A condition, or one row of it. */
export function ruleIn(rule: unknown, of: Situation): ConditionResult {
  const rendered = new Map(templatesIn(rule).map((template) => [template, renderTemplate(template, of)]))
  return evaluateCondition(rule, { data: of.data, now: of.now, rendered })
}
